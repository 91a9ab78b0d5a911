package routes

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// OwnKeys say which keys of a tenant's own vendors are called with, ahead of the
// operator's. The zero OwnKeys are none, and none may come with a request.
type OwnKeys struct {
	Requests bool        // keys may come with requests
	Stored   []StoredKey // for vendors of which a request brings none; a vendor's in their order
}

// StoredKey is a tenant's own key for a vendor, kept by the operator for it.
type StoredKey struct {
	Vendor string
	Key    catalog.Secret
}

// ownKeyHeader begins the name of a header that holds a caller's own key for a
// vendor, in small letters.
const ownKeyHeader = "x-warmroute-key"

// The bounds of what one request may bring.
const (
	maxOwnKeys = 64
	maxOfOne   = 8       // keys of one vendor: each that is refused costs an attempt
	maxOwnKey  = 8 << 10 // bytes of one
)

// errOwnKeys means that keys came with a request of a tenant that may send none: to
// go on without them would put the bill on somebody else.
var errOwnKeys = errors.New("keys of your own for vendors are not accepted here; send the request without them, or ask the operator to allow them (byok)")

// ownKey is one key that a turn may use.
type ownKey struct {
	vendor, id string
	key        catalog.Secret
}

// keyring is the keys of its own that one request may use.
type keyring []ownKey

// find is the key of a vendor by its id, as [vendor.Call] asks for it.
func (k keyring) find(vendor, id string) (catalog.Secret, bool) {
	for i := range k {
		if k[i].vendor == vendor && k[i].id == id {
			return k[i].key, true
		}
	}
	return catalog.Secret{}, false
}

// of is how many keys are a vendor's.
func (k keyring) of(vendor string) (n int) {
	for i := range k {
		if k[i].vendor == vendor {
			n++
		}
	}
	return n
}

// ownKeys takes the keys of the caller's own off the request, in its header first and
// then in its body, and puts on the facts what they are known by. Those that its
// tenant has stored follow, for the vendors of which the request brings none. No
// error repeats anything of them.
func (s *service) ownKeys(h http.Header, body *wire.Request, t *Tenant, facts *engine.Request) (keyring, error) {
	brought := BroughtKeys(h, body)
	if len(brought) > 0 && !t.Own.Requests {
		return nil, errOwnKeys
	}
	if len(brought) > maxOwnKeys {
		return nil, &wire.RefusedError{Message: "The request brings too many keys for vendors."}
	}
	if len(brought) == 0 && len(t.Own.Stored) == 0 {
		return nil, nil
	}
	var ring keyring
	add := func(vendor string, key catalog.Secret) {
		id := s.Vendor.OwnKeyID(t.ID, vendor, key.Reveal())
		if _, twice := ring.find(vendor, id); twice {
			return
		}
		ring = append(ring, ownKey{vendor, id, key})
		facts.OwnKeys = append(facts.OwnKeys, engine.OwnKey{Vendor: vendor, ID: id})
	}
	now := s.Gateway.Catalog()
	for i := range brought {
		k := &brought[i]
		if k.Vendor == "" {
			return nil, &wire.RefusedError{Message: "A key came for no vendor; name the vendor, as in x-warmroute-key-<vendor>: " + haveKeys(now, t)}
		}
		v, ok := vendorNamed(now, k.Vendor)
		if !ok || !t.Rules.Allow(v.Name) {
			return nil, &wire.RefusedError{Message: "A key came for a vendor that this gateway does not have; " + haveKeys(now, t)}
		}
		if !isKey(k.Key.Reveal()) {
			return nil, &wire.RefusedError{Message: "The key that came for " + v.Name + " is empty, too long, or holds characters that no key has."}
		}
		add(v.Name, k.Key)
		if ring.of(v.Name) > maxOfOne {
			return nil, &wire.RefusedError{Message: fmt.Sprintf("The request brings more than %d keys for %s.", maxOfOne, v.Name)}
		}
	}
	own := len(ring)
	for _, stored := range t.Own.Stored {
		if !slices.ContainsFunc(ring[:own], func(k ownKey) bool { return k.vendor == stored.Vendor }) {
			add(stored.Vendor, stored.Key)
		}
	}
	return ring, nil
}

// BroughtKeys takes the keys of the caller's own off a request: those of its header,
// which are no more in it afterwards, and behind them those of its body. Whether there
// are such vendors has not been looked at.
func BroughtKeys(h http.Header, body *wire.Request) []wire.OwnKey {
	return append(takeOwnKeys(h), body.OwnKeys()...)
}

// takeOwnKeys takes the headers that hold keys away, in the order of their names. A
// name that almost says so counts as one, such as x_warmroute_key_openai: a key that
// was overlooked would put the bill on somebody else.
func takeOwnKeys(h http.Header) (brought []wire.OwnKey) {
	var names []string
	for name := range h {
		if _, ok := ownKeyVendor(name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		of, _ := ownKeyVendor(name)
		for _, value := range h[name] {
			brought = append(brought, wire.OwnKey{Vendor: of, Key: catalog.NewSecret(strings.TrimSpace(value))})
		}
		delete(h, name)
	}
	return brought
}

// ownKeyVendor is the vendor for which a header of this name holds a key, in small
// letters; empty where the name forgets it.
func ownKeyVendor(name string) (vendor string, ok bool) {
	name = strings.TrimSpace(name)
	if len(name) < len(ownKeyHeader) {
		return "", false
	}
	for i := range len(ownKeyHeader) {
		if c := name[i] | 0x20; c != ownKeyHeader[i] && (name[i] != '_' || ownKeyHeader[i] != '-') {
			return "", false
		}
	}
	switch rest := name[len(ownKeyHeader):]; {
	case rest == "":
		return "", true
	case rest[0] == '-' || rest[0] == '_':
		return strings.ToLower(rest[1:]), true
	}
	return "", false
}

// addOwnKeys adds to h the headers of from that hold keys.
func addOwnKeys(h, from http.Header) {
	for name, values := range from {
		if _, ok := ownKeyVendor(name); ok {
			h[name] = append(h[name], values...)
		}
	}
}

// vendorNamed is a vendor by its name; headers lose the case of theirs.
func vendorNamed(c *catalog.Catalog, name string) (*catalog.Vendor, bool) {
	if v, ok := c.Vendor(name); ok {
		return v, true
	}
	for _, v := range c.Vendors {
		if strings.EqualFold(v.Name, name) {
			return v, true
		}
	}
	return nil, false
}

// maxListed is how many vendors a message names.
const maxListed = 8

// haveKeys names vendors of which a key would be understood.
func haveKeys(c *catalog.Catalog, t *Tenant) string {
	var names []string
	for _, v := range c.Vendors {
		if t.Rules.Allow(v.Name) {
			names = append(names, v.Name)
		}
	}
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("it has %s and %d more.", strings.Join(names[:maxListed], ", "), more)
	}
	return "it has " + strings.Join(names, ", ") + "."
}

// isKey says whether a text may stand in a header as a key.
func isKey(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxOwnKey
}
