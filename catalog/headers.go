package catalog

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// headers reads what is sent with every request.
func (b *builder) headers(n *yaml.Node, where string, auth Auth) []Header {
	var all []Header
	o, _ := b.mapping(n, where, "headers")
	seen := map[string]*yaml.Node{}
	for _, e := range o.entries {
		name := e.key.Value
		low := strings.ToLower(name)
		first, twice := seen[low]
		switch {
		case mayBeKey(name):
			b.fail(e.key, where, "headers: %s", b.neverAKey())
			continue
		case !isToken(name):
			b.fail(e.key, where, "headers: %s is not a header name", b.quote(name))
			continue
		case isReserved(name):
			b.fail(e.key, where, "headers: %s is set for every request and cannot be changed; remove it", name)
			continue
		case carriesKey(name, auth):
			b.fail(e.key, where, "headers: %s carries a key, which is never written into a catalog; use auth: {header: %s} and credentials", name, name)
			continue
		case twice:
			b.fail(e.key, where, "headers: %s stands twice, %s; capitals make no difference, so remove one", name, both(first, e.key))
			continue
		}
		seen[low] = e.key
		value, ok := b.text(e.value, where, "header "+name)
		if !ok {
			continue
		}
		switch {
		case !isHeaderValue(value):
			b.fail(e.value, where, "headers: the value of %s is too long or has a character that no header can carry", name)
			continue
		case valueIsKey(name, value):
			b.fail(e.value, where, "headers: the value of %s looks like a key, which is never written into a catalog; use auth: {header: %s} and credentials", name, name)
			continue
		}
		all = append(all, Header{name, value})
	}
	return all
}
