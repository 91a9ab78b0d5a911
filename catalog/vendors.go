package catalog

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// ourMembers are the request members that are cut out of a body unless its
// vendor accepts them (design section 2). prompt_cache_key is cut out on the
// messages API only, whose vendors do not know it.
//
// prompt_cache_retention is cut out of no body: a vendor that accepts it honours
// the day of retention that it asks for. Nor is cache_control: a vendor that accepts it
// understands markers in all its APIs.
var ourMembers = []string{"session_id", "sessionId", "providerOptions", "caching", "cache_ttl", "models", "provider", "prompt_cache_key", "prompt_cache_retention", MarkerMember}

// vendors reads the section vendors.
func (b *builder) vendors(n *yaml.Node) {
	b.wary = true
	defer func() { b.wary = false }()
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
	where := "vendor " + b.quote(v.Name)
	switch {
	case looksLikeKey(v.Name):
		b.fail(e.key, where, "%s", b.neverAKey())
	case !isSlug(v.Name):
		b.fail(e.key, where, "a vendor's name is at most 64 small letters, digits, dots, dashes and underscores, because it stands in header names")
	}
	o, ok := b.fixed(e.value, where, "a vendor", keysIn[vendorShape]()...)
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
	v.Cache = CacheRules{Family: ordinaryFamily(v.Name, v.API), TTL: ordinaryTTL(v.Name)}
	if n := o.get("cache"); n != nil {
		v.Cache = b.cacheRules(n, where, v.Cache)
	}
	if n := o.get("usage"); n != nil {
		b.usage(n, where, v)
	}
	if n := o.get("tags"); n != nil {
		v.Tags = b.tagList(n, where)
	}
	if n := o.get("accepts"); n != nil {
		for _, m := range b.names(n, where, "accepts", "[provider, models]") {
			if !slices.Contains(ourMembers, m.text) {
				b.fail(m.node, where, "accepts: %s is not a request member of ours; they are %s", b.quote(m.text), orList(ourMembers))
			}
			v.Accepts = append(v.Accepts, m.text)
		}
	}
	if n := o.get("refuses"); n != nil {
		for _, m := range b.names(n, where, "refuses", "[stream_options, prompt_cache_key]") {
			switch {
			case !isMember(m.text):
				b.fail(m.node, where, "refuses: %s is not the name of a request member", b.quote(m.text))
			case slices.Contains([]string{"model", "messages", "input", "stream"}, m.text):
				b.fail(m.node, where, "refuses: no request can do without %s", m.text)
			case slices.Contains(v.Accepts, m.text):
				b.fail(m.node, where, "%s stands under accepts and under refuses; keep one", m.text)
			}
			v.Refuses = append(v.Refuses, m.text)
		}
	}
	if n := o.get("hints"); n != nil {
		v.Hints = b.hints(n, where, v)
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
			b.fail(a.node, where, "api %s is not known; use chat, responses or messages", b.quote(a.text))
		}
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		b.fail(n, where, "api is empty; say what the vendor speaks: chat, responses or messages")
	}
	return all
}

// hintMember is the one request member in which a hint is sent. The messages
// API does not know it.
const hintMember = "prompt_cache_key"

// hints reads what is sent to help a vendor's own routing.
func (b *builder) hints(n *yaml.Node, where string, v *Vendor) []Hint {
	var all []Hint
	seen := map[string]*yaml.Node{}
	for i, item := range b.list(n, where, "hints", "[{header: x-session-affinity, form: hashed}]") {
		at := fmt.Sprintf("%s, hint %d", where, i+1)
		o, ok := b.fixed(item, at, "a hint", keysIn[hintShape]()...)
		if !ok {
			continue
		}
		var h Hint
		header, member := o.get("header"), o.get("member")
		switch {
		case header != nil && member != nil:
			b.fail(member, at, "has both header and member; write two hints")
		case header != nil:
			if h.Header, ok = b.text(header, at, "header"); ok && (!isToken(h.Header) || isReserved(h.Header) || sendsKey(h.Header, v.Auth) || mayBeKey(h.Header)) {
				b.fail(header, at, "header %s cannot carry a session", b.quote(h.Header))
			}
		case member != nil:
			if h.Member, ok = b.text(member, at, "member"); ok {
				b.hintMember(member, at, h.Member, v)
			}
		case !o.partial:
			b.fail(item, at, "names neither header nor member; add one")
		}
		if form := o.get("form"); form != nil {
			word, _ := b.choice(form, at, "form", "hashed", "raw")
			h.Raw = word == "raw"
		}
		if apis := o.get("api"); apis != nil {
			h.API = b.apis(apis, at)
			for _, api := range h.API {
				if len(v.API) > 0 && !v.Speaks(api) {
					b.fail(apis, at, "api %s is none that this vendor speaks; name one that it does, or remove the key", api)
				}
			}
		}
		if target := strings.ToLower(h.Header) + " " + h.Member; target != " " {
			if first, twice := seen[target]; twice {
				b.fail(item, at, "is for %s, as another hint is, %s; remove one", b.show(h.Header+h.Member), both(first, item))
				continue
			}
			seen[target] = item
		}
		all = append(all, h)
	}
	return all
}

// hintMember refuses a member in which nothing would ever be sent.
func (b *builder) hintMember(n *yaml.Node, where, member string, v *Vendor) {
	switch {
	case member != hintMember:
		b.fail(n, where, "member %s is none that a hint is sent in; the one there is is %s", b.quote(member), hintMember)
	case slices.Contains(v.Refuses, member):
		b.fail(n, where, "member %s stands under refuses too, so it is never sent; keep one", member)
	case len(v.API) == 1 && v.API[0] == Messages:
		b.fail(n, where, "member %s is never sent on the messages API, the only one this vendor speaks; use a header, or remove the hint", member)
	}
}

// tagList reads tags, and remembers that something carries them.
func (b *builder) tagList(n *yaml.Node, where string) []string {
	tags := b.names(n, where, "tags", "[zdr]")
	if b.tags == nil {
		b.tags = map[string]bool{}
	}
	for _, tag := range tags {
		if looksLikeKey(tag.text) {
			b.fail(tag.node, where, "tags: %s", b.neverAKey())
		}
		b.tags[tag.text] = true
	}
	return texts(tags)
}
