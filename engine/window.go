package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Lifetime is how long a pin of this request at this route lasts from its
// acceptance, before limit and margin: what is fixed, else what the request asks
// for where the route honours it and the profile has it count, else what the
// catalog's text states, else the profile's usual one, else the catalog's table of
// vendors. Where all of that counts and nothing is fixed it is [Lifetime].
func (w *Window) Lifetime(r *Request, route *catalog.Route) time.Duration {
	if w.Fixed > 0 {
		return w.Fixed
	}
	if asked := askedLifetime(r, route); asked > 0 && !w.Unasked {
		return asked
	}
	if w.Usual > 0 && !route.Cache.Stated {
		return w.Usual
	}
	return catalogLifetime(route)
}

// Ends is when a pin of this lifetime ends that was accepted at this time. One
// that the margin leaves nothing of ends as it begins.
func (w *Window) Ends(acceptedAt time.Time, lifetime time.Duration) time.Time {
	if w.Longest > 0 {
		lifetime = min(lifetime, w.Longest)
	}
	return acceptedAt.Add(max(0, lifetime-w.Margin))
}
