package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// MaxIgnored is how many ignored members are named, and MaxIgnoredName how many bytes of each.
const (
	MaxIgnored     = 8
	MaxIgnoredName = 64
)

// Disregard notes that a member of where means nothing here, so that the client can be
// told: once, cut to a length, with question marks for what no header may hold. name is
// the client's and is not kept.
func (r *Request) Disregard(where string, name []byte) {
	if len(r.Ignored) == MaxIgnored {
		return
	}
	full := make([]byte, 0, MaxIgnoredName)
	full = append(append(full, where...), '.')
	full = append(full, name[:min(len(name), MaxIgnoredName-len(full))]...)
	for i, c := range full {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		default:
			full[i] = '?'
		}
	}
	if text := string(full); !slices.Contains(r.Ignored, text) {
		r.Ignored = append(r.Ignored, text)
	}
}

// DisregardStrangers notes the vendors that the request names and the catalog does not
// have, as order.acme: whoever misspells one learns of it, though others serve.
func (r *Request) DisregardStrangers(c *catalog.Catalog) {
	for _, list := range [...]struct {
		where string
		names []string
	}{{"only", r.Only}, {"ignore", r.Ignore}, {"order", r.Order}} {
		for _, name := range list.names {
			if len(r.Ignored) == MaxIgnored {
				return
			}
			if _, ok := c.Vendor(name); !ok {
				r.Disregard(list.where, []byte(name))
			}
		}
	}
}
