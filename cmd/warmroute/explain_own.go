package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// broughtKeys are the keys of its caller's own that a request brings, by their number:
// of the keys themselves nothing is kept. One that comes twice counts once.
func broughtKeys(keys []wire.OwnKey) (own []engine.OwnKey) {
	for i, k := range keys {
		same := func(o wire.OwnKey) bool {
			return strings.EqualFold(o.Vendor, k.Vendor) && o.Key.Reveal() == k.Key.Reveal()
		}
		if !slices.ContainsFunc(keys[:i], same) {
			own = append(own, engine.OwnKey{Vendor: strings.ToLower(k.Vendor), ID: engine.OwnKeyID(strconv.Itoa(i + 1))})
		}
	}
	return own
}

// owns puts behind the keys that the request brings those that the configuration has
// for it, for vendors of which it brings none. The error is that the gateway would
// refuse it. Without a configuration file keys are supposed to be accepted.
func (h *holding) owns(r *engine.Request, cat *catalog.Catalog) error {
	brought := r.OwnKeys
	if len(brought) > 0 && h.configured && !h.own.Requests {
		return invalid(errors.New("the gateway refuses this request with a 403: it brings keys of its caller's own, which byok of the configuration does not allow"))
	}
	for _, k := range brought {
		if _, ok := cat.Vendor(k.Vendor); !ok || !h.rules.Allow(k.Vendor) {
			return invalid(fmt.Errorf("the gateway refuses this request with a 400: it brings a key for %q, which is no vendor of it", k.Vendor))
		}
	}
	for _, k := range h.own.Keys {
		if !slices.ContainsFunc(brought, func(b engine.OwnKey) bool { return b.Vendor == k.Vendor }) {
			r.OwnKeys = append(r.OwnKeys, engine.OwnKey{Vendor: k.Vendor, ID: engine.OwnKeyID("configured")})
		}
	}
	return nil
}

// noteOwn says whose key an order's ids of own keys stand for.
func (e *explanation) noteOwn(h *holding, r *engine.Request) {
	switch {
	case len(r.OwnKeys) == 0:
	case h.configured:
		e.Notes = append(e.Notes, "own:1 and so on are the keys of the caller's own that the request brings, own:configured those of byok; the gateway tells them by a hash")
	default:
		e.Notes = append(e.Notes, "own:1 and so on are the keys of the caller's own that the request brings; explain supposes that the gateway accepts them (byok: true)")
	}
}
