package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// mergeProfile does as Merge documents of its gateway in the public page
// "Cache-aware routing".
//
// What the page leaves open: how long an id may be (beyond 256 characters it
// becomes its hash) and how much of the opening counts (all of it); whether each
// turn renews (it does); whether a marker's lifetime counts (it does not: the
// window is the route's); what a broken answer does (it ends what is remembered);
// which account of a vendor is meant (the session's own by its hash).
var mergeProfile = Profile{
	Name: catalog.ProfileMerge,
	// How a session is identified: the header wins over the body; a cache key
	// counts where OpenAI's two endpoints are spoken; then the thread's header or
	// a coding agent's; then the opening.
	Sources: []Source{
		{In: InHeader, Names: []string{sessionHeader}, Class: ClassExplicit},
		{In: InBody, Names: []string{"session_id"}, Class: ClassExplicit},
		{In: InCacheKey, Class: ClassCacheKey, APIs: []catalog.API{catalog.Chat, catalog.Responses}},
		{In: InAgent, Names: []string{"X-Merge-Thread-Id", claudeSession, "Session-Id", "Session_id", affinityHeader}, Class: ClassAgent},
		{In: InOpener, Class: ClassFingerprint},
	},
	// How a session is identified: the first system and the first user message.
	Opener: Opener{User: true},
	Apart:  true,
	// How a session is identified: tracked for each model or policy asked for.
	// When affinity applies: one vendor is remembered, and no longer once the
	// session comes to another model.
	Scope:  ScopeTarget,
	Models: 1,
	Warm:   1,
	Start:  StartServed, // the vendor that served the session
	// When affinity applies: no effect where caching never engaged; a route of the
	// explicit family caches nothing without a marker.
	Engages: true,
	Certain: true,
	// When affinity applies: a window of the route, ten minutes by default.
	Window: Window{Usual: 10 * time.Minute, Unasked: true},
	// When affinity applies: not where reading is no cheaper than the route's own
	// input or the cheapest input of the model's other routes, nor where the price
	// of the cache is not known. The vendor is moved to the front of the order.
	Gate: catalog.GateCacheRead,
}
