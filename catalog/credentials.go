package catalog

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// auth reads where the key goes.
func (b *builder) auth(n *yaml.Node, where string) Auth {
	o, ok := b.fixed(n, where, "auth", keysIn[authShape]()...)
	if !ok {
		return Auth{}
	}
	header, bearer := o.get("header"), o.get("bearer")
	switch {
	case header != nil && bearer != nil:
		b.fail(bearer, where, "auth has both header and bearer; keep one")
	case header != nil:
		if text, ok := b.text(header, where, "auth header"); ok {
			switch {
			case mayBeKey(text):
				b.fail(header, where, "%s", b.neverAKey())
				return Auth{}
			case !isToken(text) || isReserved(text):
				b.fail(header, where, "auth header %s cannot carry a key; use a header name such as x-api-key", b.quote(text))
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

// credentials reads the keys of a vendor: their ids and where each is kept.
// What is written in place of a name is never quoted: it may be the key itself.
func (b *builder) credentials(n *yaml.Node, where string) []Credential {
	var all []Credential
	seen := map[string]*yaml.Node{}
	for i, item := range b.list(n, where, "credentials", "[{id: main, env: NAME}]") {
		at := fmt.Sprintf("%s, credential %d", where, i+1)
		if item.Kind == yaml.ScalarNode && !isNull(item) {
			b.fail(item, at, "%s", b.neverAKey())
			continue
		}
		o, ok := b.fixed(item, at, "a credential", keysIn[credentialShape]()...)
		if !ok {
			continue
		}
		c, ok := b.credential(&o, at)
		if !ok {
			continue
		}
		if first, twice := seen[c.ID]; twice {
			b.fail(o.get("id"), where, "credential %s stands twice, %s; rename one", b.quote(c.ID), both(first, o.get("id")))
			continue
		}
		seen[c.ID] = o.get("id")
		b.load(&c, item, where)
		all = append(all, c)
	}
	return all
}

func (b *builder) credential(o *object, where string) (c Credential, ok bool) {
	if n := b.need(o, "id", "give it a short name such as main"); n != nil {
		switch c.ID, ok = b.text(n, where, "id"); {
		case ok && looksLikeKey(c.ID):
			b.fail(n, where, "id is a short name such as main, and this looks like a key; name where the key is kept with env: NAME or file: PATH, and replace it if this file was shared")
			ok = false
		case ok && !isSlug(c.ID):
			b.fail(n, where, "id must be at most 64 small letters, digits, dots, dashes and underscores")
			ok = false
		}
	}
	kept, found := b.whereKept(o, where)
	c.Env, c.File = kept.Env, kept.File
	return c, ok && found
}

// whereKept reads where a key is kept: an environment variable or a file. What is written
// in place of either is never quoted: it may be the key itself.
func (r *reader) whereKept(o *object, where string) (c Credential, ok bool) {
	env, file := o.get("env"), o.get("file")
	switch {
	case env != nil && file != nil:
		r.fail(file, where, "has both env and file; keep one")
		return c, false
	case env != nil:
		text, readable := r.text(env, where, "env")
		if inner, ok := strings.CutPrefix(text, "$"); readable && ok {
			if inner = strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}"); isEnvName(inner) && !looksLikeKey(inner) {
				r.fail(env, where, "env is the name of an environment variable, which is not put in here; write the name alone: env: %s", inner)
				return c, false
			}
		}
		if readable && (!isEnvName(text) || looksLikeKey(text)) {
			r.fail(env, where, "env must be the name of an environment variable, such as VENDOR_API_KEY, never a key")
			return c, false
		}
		c.Env = text
		return c, readable
	case file != nil:
		text, readable := r.text(file, where, "file")
		switch {
		case readable && (len(text) > 4096 || strings.ContainsAny(text, "\n\r\x00")):
			r.fail(file, where, "file must be the path of a file that holds the key")
			return c, false
		case readable && mayBeKey(text) && !isPath(text):
			r.fail(file, where, "file must be the path of a file that holds the key, never the key; write ./ before a file's name that looks like one")
			return c, false
		}
		c.File = text
		return c, readable
	case !o.partial:
		r.fail(o.node, where, "says not where the key is kept; add env: NAME or file: PATH")
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
	kept := showFile(c.File)
	if c.Env != "" {
		kept = showEnv(c.Env)
	}
	b.warn(n, where, "%s %s; credential %s is left out of every plan", kept, fault, b.quote(c.ID))
}

// isPath says whether a text is meant as a path, whatever it looks like.
func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}
