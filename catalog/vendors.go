package catalog

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// conventions are the known ways of reporting usage.
var conventions = []string{"openai", "anthropic", "deepseek", "moonshot", "bedrock", "gemini", "xai", "mistral"}

// ourMembers are the request members that are cut out of a body unless its
// vendor accepts them (design section 2). prompt_cache_key is cut out on the
// messages API only, whose vendors do not know it.
var ourMembers = []string{"session_id", "sessionId", "providerOptions", "caching", "cache_ttl", "models", "provider", "prompt_cache_key"}

// vendors reads the section vendors.
func (b *builder) vendors(n *yaml.Node) {
	o, ok := b.mapping(n, "", "vendors")
	if ok && len(o.entries) == 0 && !o.partial {
		b.fail(n, "", "vendors is empty; name at least one vendor")
	}
	for _, e := range o.entries {
		v := b.vendor(e)
		v.Index = len(b.catalog.Vendors)
		b.catalog.Vendors = append(b.catalog.Vendors, v)
		b.catalog.vendors[v.Name] = v
	}
}

func (b *builder) vendor(e entry) *Vendor {
	v := &Vendor{Name: e.key.Value, Line: e.key.Line}
	where := "vendor " + quote(v.Name)
	if !isSlug(v.Name) {
		b.fail(e.key, where, "a vendor's name is at most 64 small letters, digits, dots, dashes and underscores, because it stands in header names")
	}
	o, ok := b.fixed(e.value, where, "a vendor", "api", "base_url", "auth", "credentials", "headers", "cache", "hints",
		"usage", "tags", "accepts", "refuses", "allow_private")
	if !ok {
		return v
	}
	if n := b.need(&o, "api", "say what the vendor speaks: chat, responses or messages"); n != nil {
		v.API = b.apis(n, where)
	}
	if n := o.get("allow_private"); n != nil {
		v.AllowPrivate, _ = b.truth(n, where, "allow_private")
	}
	if n := b.need(&o, "base_url", "give the address up to /chat/completions, /responses or /messages"); n != nil {
		v.BaseURL = b.baseURL(n, where, v.AllowPrivate)
	}
	if n := o.get("auth"); n != nil {
		v.Auth = b.auth(n, where)
	}
	if n := o.get("credentials"); n != nil {
		v.Credentials = b.credentials(n, where)
	}
	if n := o.get("headers"); n != nil {
		v.Headers = b.headers(n, where, v.Auth)
	}
	v.Cache = CacheRules{Family: Implicit, TTL: ordinaryTTL(v.Name)}
	if len(v.API) == 1 && v.API[0] == Messages {
		v.Cache.Family = Explicit
	}
	if n := o.get("cache"); n != nil {
		v.Cache = b.cacheRules(n, where, v.Cache)
	}
	if n := o.get("hints"); n != nil {
		v.Hints = b.hints(n, where, v.Auth)
	}
	if n := o.get("usage"); n != nil {
		v.Usage, _ = b.choice(n, where, "usage", conventions...)
	}
	if n := o.get("tags"); n != nil {
		v.Tags = b.tagList(n, where)
	}
	if n := o.get("accepts"); n != nil {
		for _, m := range b.names(n, where, "accepts", "[provider, models]") {
			if !slices.Contains(ourMembers, m.text) {
				b.fail(m.node, where, "accepts: %s is not a request member of ours; they are %s", quote(m.text), orList(ourMembers))
			}
			v.Accepts = append(v.Accepts, m.text)
		}
	}
	if n := o.get("refuses"); n != nil {
		for _, m := range b.names(n, where, "refuses", "[stream_options, prompt_cache_key]") {
			switch {
			case !isMember(m.text):
				b.fail(m.node, where, "refuses: %s is not the name of a request member", quote(m.text))
			case slices.Contains([]string{"model", "messages", "input", "stream"}, m.text):
				b.fail(m.node, where, "refuses: no request can do without %s", m.text)
			case slices.Contains(v.Accepts, m.text):
				b.fail(m.node, where, "%s stands under accepts and under refuses; keep one", m.text)
			}
			v.Refuses = append(v.Refuses, m.text)
		}
	}
	return v
}

// apis reads what a vendor speaks.
func (b *builder) apis(n *yaml.Node, where string) []API {
	var all []API
	for _, a := range b.names(n, where, "api", "[chat]") {
		switch api := API(a.text); api {
		case Chat, Responses, Messages:
			all = append(all, api)
		default:
			b.fail(a.node, where, "api %s is not known; use chat, responses or messages", quote(a.text))
		}
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		b.fail(n, where, "api is empty; say what the vendor speaks: chat, responses or messages")
	}
	return all
}

// baseURL reads an address. It is never quoted: it may hold a password.
func (b *builder) baseURL(n *yaml.Node, where string, allowPrivate bool) *url.URL {
	text, ok := b.text(n, where, "base_url")
	if !ok {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme == "", u.Opaque != "", u.Hostname() == "", len(text) > 2048:
		b.fail(n, where, "base_url is not an address such as https://api.example.com/v1")
		return nil
	case u.Scheme != "https" && u.Scheme != "http":
		b.fail(n, where, "base_url must begin with https:// (or http:// for a private address)")
		return nil
	case u.User != nil:
		b.fail(n, where, "base_url holds a user name; name the key under credentials instead")
		return nil
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#"):
		b.fail(n, where, "base_url has a query or a fragment; end it before the ? or #")
		return nil
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
			b.fail(n, where, "base_url has a port that is none; use 1 to 65535")
			return nil
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	for _, api := range []API{Chat, Responses, Messages} {
		if strings.HasSuffix(u.Path, api.Path()) {
			b.fail(n, where, "base_url goes too far; end it before %s", api.Path())
			return nil
		}
	}
	private, literal := privateHost(u.Hostname())
	switch {
	case u.Scheme == "http" && !allowPrivate:
		b.fail(n, where, "base_url is plain http, which would send the key unencrypted; use https, or add allow_private: true if the vendor runs on a private address")
	case u.Scheme == "http" && literal && !private:
		b.fail(n, where, "base_url is plain http to a public address, which would send the key unencrypted; use https")
	case private && !allowPrivate:
		b.fail(n, where, "base_url is a private address; add allow_private: true if that is meant")
	}
	return u
}

// privateHost says whether a host is known to be private from its text alone;
// literal is false for a name that only a look-up could tell.
func privateHost(host string) (private, literal bool) {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true, true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false, net.ParseIP(host) != nil
	}
	address = address.Unmap().WithZone("")
	return address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() || address.IsUnspecified(), true
}

// auth reads where the key goes.
func (b *builder) auth(n *yaml.Node, where string) Auth {
	o, ok := b.fixed(n, where, "auth", "header", "bearer")
	if !ok {
		return Auth{}
	}
	header, bearer := o.get("header"), o.get("bearer")
	switch {
	case header != nil && bearer != nil:
		b.fail(bearer, where, "auth has both header and bearer; keep one")
	case header != nil:
		if text, ok := b.text(header, where, "auth header"); ok {
			if !isToken(text) || isReserved(text) {
				b.fail(header, where, "auth header %s cannot carry a key; use a header name such as x-api-key", quote(text))
			}
			return Auth{Header: text}
		}
	case bearer != nil:
		if on, ok := b.truth(bearer, where, "bearer"); ok && !on {
			b.fail(bearer, where, "bearer: false says nothing; name the header with header: x-api-key")
		}
	case !o.partial:
		b.fail(n, where, "auth is empty; use {bearer: true} or {header: x-api-key}")
	}
	return Auth{}
}

// isReserved says whether a header is the connection's or the body's own.
func isReserved(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
		"te", "trailer", "upgrade", "accept-encoding", "expect", "proxy-connection":
		return true
	}
	return false
}

// carriesKey says whether a header is one that carries a key.
func carriesKey(name string, auth Auth) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", strings.ToLower(auth.Header):
		return true
	}
	return false
}

// credentials reads the keys of a vendor: their ids and where each is kept.
// What is written in place of a name is never quoted: it may be the key itself.
func (b *builder) credentials(n *yaml.Node, where string) []Credential {
	var all []Credential
	lines := map[string]int{}
	for i, item := range b.list(n, where, "credentials", "[{id: main, env: NAME}]") {
		at := fmt.Sprintf("%s, credential %d", where, i+1)
		if item.Kind == yaml.ScalarNode && !isNull(item) {
			b.fail(item, at, "a key is never written into a catalog; name where it is kept with {id: main, env: NAME} or {id: main, file: PATH}, and replace it if this file was shared")
			continue
		}
		o, ok := b.fixed(item, at, "a credential", "id", "env", "file")
		if !ok {
			continue
		}
		c, ok := b.credential(&o, at)
		if !ok {
			continue
		}
		if first, twice := lines[c.ID]; twice {
			b.fail(o.get("id"), where, "credential %s stands twice, on lines %d and %d; rename one", quote(c.ID), first, o.get("id").Line)
			continue
		}
		lines[c.ID] = o.get("id").Line
		b.load(&c, item, where)
		all = append(all, c)
	}
	return all
}

func (b *builder) credential(o *object, where string) (c Credential, ok bool) {
	if n := b.need(o, "id", "give it a short name such as main"); n != nil {
		if c.ID, ok = b.text(n, where, "id"); ok && !isSlug(c.ID) {
			b.fail(n, where, "id must be at most 64 small letters, digits, dots, dashes and underscores")
			ok = false
		}
	}
	env, file := o.get("env"), o.get("file")
	switch {
	case env != nil && file != nil:
		b.fail(file, where, "has both env and file; keep one")
		return c, false
	case env != nil:
		text, readable := b.text(env, where, "env")
		if readable && !isEnvName(text) {
			b.fail(env, where, "env must be the name of an environment variable, such as VENDOR_API_KEY, never a key")
			return c, false
		}
		c.Env = text
		return c, ok && readable
	case file != nil:
		text, readable := b.text(file, where, "file")
		if readable && (len(text) > 4096 || strings.ContainsAny(text, "\n\r")) {
			b.fail(file, where, "file must be the path of a file that holds the key")
			return c, false
		}
		c.File = text
		return c, ok && readable
	case !o.partial:
		b.fail(o.node, where, "says not where the key is kept; add env: NAME or file: PATH")
	}
	return c, false
}

// load looks a credential's key up, if there is a look-up.
func (b *builder) load(c *Credential, n *yaml.Node, where string) {
	if b.keys == nil {
		return
	}
	secret, fault := b.keys.find(*c)
	if fault == "" {
		c.secret, c.loaded = secret, true
		return
	}
	kept := "key file " + quote(c.File)
	if c.Env != "" {
		kept = showEnv(c.Env)
	}
	b.warn(n, where, "%s %s; credential %s is left out of every plan", kept, fault, quote(c.ID))
}

// headers reads what is sent with every request.
func (b *builder) headers(n *yaml.Node, where string, auth Auth) []Header {
	var all []Header
	o, _ := b.mapping(n, where, "headers")
	lines := map[string]int{}
	for _, e := range o.entries {
		name := e.key.Value
		low := strings.ToLower(name)
		first, twice := lines[low]
		switch {
		case !isToken(name):
			b.fail(e.key, where, "headers: %s is not a header name", quote(name))
			continue
		case isReserved(name):
			b.fail(e.key, where, "headers: %s is set for every request and cannot be changed; remove it", name)
			continue
		case carriesKey(name, auth):
			b.fail(e.key, where, "headers: %s carries a key, which is never written into a catalog; use auth: {header: %s} and credentials", name, name)
			continue
		case twice:
			b.fail(e.key, where, "headers: %s stands twice, on lines %d and %d; capitals make no difference, so remove one", name, first, e.key.Line)
			continue
		}
		lines[low] = e.key.Line
		value, ok := b.text(e.value, where, "header "+name)
		if !ok {
			continue
		}
		if !isHeaderValue(value) {
			b.fail(e.value, where, "headers: the value of %s is too long or has a character that no header can carry", name)
			continue
		}
		all = append(all, Header{name, value})
	}
	return all
}

// hints reads what is sent to help a vendor's own routing.
func (b *builder) hints(n *yaml.Node, where string, auth Auth) []Hint {
	var all []Hint
	for i, item := range b.list(n, where, "hints", "[{header: x-session-affinity, form: hashed}]") {
		at := fmt.Sprintf("%s, hint %d", where, i+1)
		o, ok := b.fixed(item, at, "a hint", "header", "member", "form")
		if !ok {
			continue
		}
		var h Hint
		header, member := o.get("header"), o.get("member")
		switch {
		case header != nil && member != nil:
			b.fail(member, at, "has both header and member; write two hints")
		case header != nil:
			if h.Header, ok = b.text(header, at, "header"); ok && (!isToken(h.Header) || isReserved(h.Header) || carriesKey(h.Header, auth)) {
				b.fail(header, at, "header %s cannot carry a session", quote(h.Header))
			}
		case member != nil:
			if h.Member, ok = b.text(member, at, "member"); ok && !isMember(h.Member) {
				b.fail(member, at, "member %s is not the name of a request member, such as prompt_cache_key", quote(h.Member))
			}
		case !o.partial:
			b.fail(item, at, "names neither header nor member; add one")
		}
		if form := o.get("form"); form != nil {
			word, _ := b.choice(form, at, "form", "hashed", "raw")
			h.Raw = word == "raw"
		}
		all = append(all, h)
	}
	return all
}

// tagList reads tags, and remembers that something carries them.
func (b *builder) tagList(n *yaml.Node, where string) []string {
	tags := texts(b.names(n, where, "tags", "[zdr]"))
	if b.tags == nil {
		b.tags = map[string]bool{}
	}
	for _, tag := range tags {
		b.tags[tag] = true
	}
	return tags
}
