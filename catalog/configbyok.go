package catalog

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// OwnKeys are keys of a tenant's own for vendors, and whether more may come with its
// requests. The zero OwnKeys are none, and none may come.
type OwnKeys struct {
	Requests bool // keys may come with requests
	Only     bool // its requests are served with such keys only, never with the operator's
	Keys     []OwnKey
}

// OwnKey is a tenant's own key for a vendor, and where it is kept. Whether there is
// such a vendor, [Config.Check] says.
type OwnKey struct {
	Vendor string
	Credential
	name entryName
}

// byok reads a tenant's own keys: true or false, or a mapping. What is written in
// place of a key's place is never quoted: it may be the key itself.
func (c *configReader) byok(n *yaml.Node, where string) (own OwnKeys) {
	wary := c.wary
	c.wary = true
	defer func() { c.wary = wary }()
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		if looksLikeKey(n.Value) {
			c.fail(n, where, "%s", c.neverAKey())
			return own
		}
		own.Requests, _ = c.truth(n, where, "byok")
		return own
	}
	o, ok := c.fixed(n, where, "byok", keysIn[byokShape]()...)
	if !ok {
		return own
	}
	var requests, only Setting[bool]
	setting(&o, "requests", &requests, c.truth)
	setting(&o, "only", &only, c.truth)
	own.Requests, own.Only = requests.Or(false), only.Or(false)
	keys := o.get("keys")
	if keys != nil {
		own.Keys = c.ownKeys(keys, where)
	}
	switch {
	case o.partial || keys != nil:
	case own.Only && !own.Requests:
		c.fail(n, where, "only leaves no key at all: add requests: true, or keys")
	case len(o.entries) == 0:
		c.fail(n, where, "byok is empty; write byok: true, or {requests: true}")
	}
	return own
}

func (c *configReader) ownKeys(n *yaml.Node, where string) (all []OwnKey) {
	o, ok := c.mapping(n, where, "keys")
	if ok && len(o.entries) == 0 && !o.partial {
		c.fail(n, where, "keys is empty; name one, such as keys: {openai: {env: TEAM_OPENAI_KEY}}, or remove it")
	}
	for _, e := range o.entries {
		if isLiteralKey(e.key.Value) || mayBeKey(e.key.Value) {
			c.fail(e.key, where, "%s", c.neverAKey())
			continue
		}
		vendor, ok := c.name(e.key, where, "keys entry")
		if !ok {
			continue
		}
		at := where + ", key of " + c.quote(vendor)
		if e.value.Kind == yaml.ScalarNode && !isNull(e.value) {
			c.fail(e.value, at, "%s", c.neverAKey())
			continue
		}
		key, ok := c.fixed(e.value, at, "a key", keysIn[ownKeyShape]()...)
		if !ok {
			continue
		}
		own := OwnKey{Vendor: vendor, name: entryName{vendor, e.key}}
		if own.Credential, ok = c.whereKept(&key, at); !ok || !c.loadOwn(&own.Credential, e.value, at) {
			continue
		}
		all = append(all, own)
	}
	return all
}

// loadOwn looks a key up, if there is a look-up. One that is not there is a mistake:
// the operator would be billed for what the tenant meant to pay.
func (c *configReader) loadOwn(key *Credential, n *yaml.Node, where string) bool {
	if c.look == nil {
		return true
	}
	files := Environment("")
	secret, fault := Keys(func(k Credential) (string, bool) {
		if k.Env != "" {
			return c.look(k.Env)
		}
		return files(k)
	}).find(*key)
	if fault == "" {
		key.secret, key.loaded = secret, true
		return true
	}
	kept := showFile(key.File)
	if key.Env != "" {
		kept = showEnv(key.Env)
	}
	c.fail(n, where, "%s %s; put the key there before the gateway starts, or remove the entry", kept, fault)
	return false
}

// check says which vendors the catalog does not have, or the tenant may not use.
func (o *OwnKeys) check(r *reader, where string, with *Catalog, known, only []string) {
	for i := range o.Keys {
		k := &o.Keys[i]
		_, there := with.Vendor(k.Vendor)
		switch {
		case !there:
			r.fail(k.name.node, where, "keys: vendor %s is not in the catalog %s%s", r.quote(k.Vendor), with.Path, orAdd(k.Vendor, known, "vendors there"))
		case len(only) > 0 && !slices.Contains(only, k.Vendor):
			r.fail(k.name.node, where, "keys: the tenant may not use %s (only), so its key would never be used; remove one of them", r.quote(k.Vendor))
		}
	}
}
