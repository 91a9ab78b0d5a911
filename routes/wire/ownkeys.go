package wire

import "github.com/warmroute/warmroute/catalog"

// OwnKey is a caller's own key for a vendor, as its body gives it.
type OwnKey struct {
	Vendor string
	Key    catalog.Secret
}

// The bounds of what a body may bring.
const (
	maxOwnVendors = 32
	maxOwnKeys    = 8 // of one vendor
)

// OwnKeys are the keys in providerOptions.gateway.byok, a vendor's in their order.
func (r *Request) OwnKeys() []OwnKey { return r.own }

// readOwnKeys reads {"anthropic": [{"apiKey": "…"}], …}, as Vercel has it. No message
// repeats anything that stands in it: a key may stand anywhere by mistake.
func (r *Request) readOwnKeys(m *member) error {
	const where = "providerOptions.gateway.byok"
	r.byok = cutting(r.Body, m)
	if r.Body[m.from] != '{' {
		return refused(`%q must be an object such as {"anthropic": [{"apiKey": "…"}]}`, where)
	}
	seen := map[string]bool{}
	for w := walk(r.Body, m.from); w.next(); {
		name := string(w.name())
		switch {
		case w.isNull():
			continue
		case seen[name]:
			return refused("%q names a vendor twice; give it all its keys in one list", where)
		case len(seen) == maxOwnVendors:
			return refused("%q names more than %d vendors", where, maxOwnVendors)
		case r.Body[w.from] != '[':
			return refused(`%q: each vendor needs a list of keys, such as [{"apiKey": "…"}]`, where)
		}
		seen[name] = true
		if err := r.readKeysOf(name, w.from, where); err != nil {
			return err
		}
	}
	return nil
}

// readKeysOf reads the list of one vendor's keys at i.
func (r *Request) readKeysOf(vendor string, i int, where string) error {
	s := scanner{b: r.Body}
	n := 0
	for e := each(&s, i, 1, false); e.next(); n++ {
		if n == maxOwnKeys {
			return refused("%q has more than %d keys of one vendor", where, maxOwnKeys)
		}
		if r.Body[e.from] != '{' {
			return refused(`%q: a key must be an object such as {"apiKey": "…"}`, where)
		}
		found := false
		for w := walk(r.Body, e.from); w.next(); {
			text, isText := textOf(r.Body, w.span())
			switch {
			case !w.is("apiKey") || found:
				return refused(`%q: of a key exactly one apiKey is understood; other credentials of a vendor's cannot be sent through this gateway`, where)
			case !isText || len(text) == 0:
				return refused(`%q: apiKey must be a text that is not empty`, where)
			}
			found = true
			r.own = append(r.own, OwnKey{vendor, catalog.NewSecret(string(text))})
		}
		if !found {
			return refused(`%q: a key needs an apiKey`, where)
		}
	}
	return nil
}

// cutting is what to cut so that a member goes, with the comma that parts it from the
// others.
func cutting(b []byte, m *member) span {
	if b[m.before-1] != '{' {
		return span{m.before, m.to}
	}
	cut := span{m.key, m.to}
	if next := space(b, m.to); next < len(b) && b[next] == ',' {
		cut.to = space(b, next+1)
	}
	return cut
}
