package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// leastKey is the shortest key of a tenant that is accepted, in bytes: shorter
// ones can be guessed.
const leastKey = 16

// keyPlace is where a key stands.
type keyPlace struct {
	where string // such as `tenant "a", key 1`
	node  *yaml.Node
}

// tenants reads who may use the gateway.
func (c *configReader) tenants(n *yaml.Node) {
	c.wary = true
	defer func() { c.wary = false }()
	c.ids, c.keys = map[string]entryName{}, map[[32]byte]keyPlace{}
	items := c.list(n, "", "tenants", "[{id: desk, keys: [{env: DESK_KEY}]}]")
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		c.fail(n, "", "tenants is an empty list; name at least one, or remove the key to run without tenants")
	}
	for i, item := range items {
		if t := c.tenant(i, item); t != nil {
			t.Index = len(c.config.Tenants)
			c.config.Tenants = append(c.config.Tenants, t)
		}
	}
}

func (c *configReader) tenant(i int, item *yaml.Node) *Tenant {
	where := fmt.Sprintf("tenant %d", i+1)
	if n := valueOf(item, "id"); n != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
		where = "tenant " + c.quote(n.Value)
	}
	if item.Kind == yaml.ScalarNode && looksLikeKey(item.Value) {
		c.fail(item, where, "%s", c.neverAKey())
		return nil
	}
	o, ok := c.fixed(item, where, "a tenant", keysIn[tenantShape]()...)
	if !ok {
		return nil
	}
	t := &Tenant{Line: item.Line}
	if n := c.need(&o, "id", "give it a short name such as desk"); n != nil {
		t.ID = c.tenantID(n, where)
	}
	if n := c.need(&o, "keys", "name at least one, such as keys: [{env: DESK_KEY}]"); n != nil {
		t.Keys = c.tenantKeys(n, where)
	}
	c.tenantAffinity(t, &o)
	setting(&o, "metadata", &t.Metadata, c.metadata)
	setting(&o, "on_client_left", &t.Left, c.clientLeft)
	if n := o.get("byok"); n != nil {
		t.Byok = Set(c.byok(n, where+", byok"))
	}
	if n := o.get("limits"); n != nil {
		c.tenantLimits(t, n, where+", limits")
	}
	if n := o.get("only"); n != nil {
		t.only = c.names(n, where, "only", "[vendor-name]")
		t.Only = texts(t.only)
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			c.fail(n, where, "only is an empty list, which would leave no vendor; remove the key to allow all")
		}
	}
	return t
}

// valueOf is the value of a key of a mapping, nil if it is none or has it not.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// tenantID reads the id of a tenant; each stands once.
func (c *configReader) tenantID(n *yaml.Node, where string) string {
	id, ok := c.name(n, where, "id")
	if !ok {
		return ""
	}
	first, twice := c.ids[id]
	switch {
	case looksLikeKey(id):
		c.fail(n, where, "id is a short name such as desk, and this looks like a key; %s", c.neverAKey())
	case !isSlug(id):
		c.fail(n, where, "id must be at most 64 small letters, digits, dots, dashes and underscores, and begin with a letter or a digit")
	case id == DefaultTenant:
		c.fail(n, where, "id default is the name of the tenant there is when none is configured; choose another")
	case twice:
		c.fail(n, where, "two tenants have the id %s, %s; rename one", c.quote(id), both(first.node, n))
	default:
		c.ids[id] = entryName{id, n}
	}
	return id
}

// tenantKeys reads the keys of a tenant: where each is kept, or its hash. What
// is written in place of either is never quoted: it may be the key itself.
func (c *configReader) tenantKeys(n *yaml.Node, tenant string) []TenantKey {
	items := c.list(n, tenant, "keys", "[{env: DESK_KEY}]")
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		c.fail(n, tenant, "keys is an empty list, so nobody could use this tenant; name at least one, such as keys: [{env: DESK_KEY}]")
	}
	var all []TenantKey
	for i, item := range items {
		where := fmt.Sprintf("%s, key %d", tenant, i+1)
		if item.Kind == yaml.ScalarNode && !isNull(item) {
			c.fail(item, where, "%s", c.neverAKey())
			continue
		}
		o, ok := c.fixed(item, where, "a key", keysIn[keyShape]()...)
		if !ok {
			continue
		}
		if key, ok := c.tenantKey(&o, where); ok {
			all = append(all, key)
		}
	}
	return all
}

func (c *configReader) tenantKey(o *object, where string) (key TenantKey, ok bool) {
	env, hash := o.get("env"), o.get("sha256")
	switch {
	case env != nil && hash != nil:
		c.fail(hash, where, "has both env and sha256; keep one")
		return key, false
	case env != nil:
		text, readable := c.text(env, where, "env")
		switch {
		case !readable:
			return key, false
		case !isEnvName(text) || looksLikeKey(text):
			c.fail(env, where, "env must be the name of an environment variable, such as DESK_KEY, never a key")
			return key, false
		}
		key.Env = text
		return c.fromEnvironment(env, where, key)
	case hash != nil:
		text, readable := c.text(hash, where, "sha256")
		if !readable {
			return key, false
		}
		sum, err := hex.DecodeString(text)
		if err != nil || len(sum) != len(key.SHA256) {
			c.fail(hash, where, "sha256 must be the 64 hexadecimal digits of the key's SHA-256, as printed by: printf %%s \"$KEY\" | sha256sum")
			return key, false
		}
		key.SHA256 = [32]byte(sum)
		if key.SHA256 == sha256.Sum256(nil) || key.SHA256 == sha256.Sum256([]byte("\n")) {
			c.fail(hash, where, "sha256 is that of an empty text, so the key was not in the variable that was hashed; hash it anew")
			return key, false
		}
		return key, c.once(hash, where, key)
	case !o.partial:
		c.fail(o.node, where, "says not which key; add env: NAME, or sha256: the SHA-256 of the key")
	}
	return key, false
}

// fromEnvironment hashes the key that a variable holds.
func (c *configReader) fromEnvironment(n *yaml.Node, where string, key TenantKey) (TenantKey, bool) {
	if c.look == nil {
		return key, true
	}
	value, _ := c.look(key.Env)
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		c.fail(n, where, "%s is not set, or blank; put the key there before the gateway starts, or remove the entry", showEnv(key.Env))
		return key, false
	case strings.IndexFunc(value, func(r rune) bool { return r > '~' || unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0:
		c.fail(n, where, "%s holds a text with spaces or characters that no header can carry, which is no key", showEnv(key.Env))
		return key, false
	case len(value) < leastKey:
		c.fail(n, where, "%s holds a key shorter than %d characters, which can be guessed; make a longer one, such as by: openssl rand -hex 32", showEnv(key.Env), leastKey)
		return key, false
	}
	key.SHA256 = sha256.Sum256([]byte(value))
	return key, c.once(n, where, key)
}

// once refuses a key that stands elsewhere already: it would not say which tenant
// presents it.
func (c *configReader) once(n *yaml.Node, where string, key TenantKey) bool {
	if first, twice := c.keys[key.SHA256]; twice {
		c.fail(n, where, "is the same key as %s, %s; give every tenant keys of its own, each once", first.where, both(first.node, n))
		return false
	}
	c.keys[key.SHA256] = keyPlace{where, n}
	return true
}
