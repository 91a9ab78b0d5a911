package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// openRouterProfile does as OpenRouter documents of its sticky routing, in the
// public page "Prompt Caching and Sticky Routing" and the parameters it refers to.
//
// What the page leaves open: what becomes of an id beyond 256 characters (it names
// nothing and the next source is asked); how much of the opening is hashed (all of
// it); which account of a provider is meant (the session's own by its hash);
// whether a request may ask for a longer window (it may not). It says of the start
// both that caching was used and that only a hit counts: the latter holds, so that
// a first turn which but writes makes no pin.
var openRouterProfile = Profile{
	Name: catalog.ProfileOpenRouter,
	// Sticky routing: the body's id wins over the header's, both of at most 256
	// characters; then the cache key, then the opening.
	Sources: []Source{
		{In: InBody, Names: []string{"session_id"}, Class: ClassExplicit, Most: MaxID},
		{In: InHeader, Names: []string{sessionHeader}, Class: ClassExplicit, Most: MaxID},
		{In: InCacheKey, Class: ClassCacheKey},
		{In: InOpener, Class: ClassFingerprint},
	},
	// Sticky routing: the first system or developer message and the first message
	// that is neither.
	Opener: Opener{},
	Apart:  true,
	// Sticky routing: tracked for each account, model and conversation.
	Scope:  ScopeNone,
	Models: MaxModels,
	Warm:   1,
	// Sticky routing: a conversation sticks once a turn of it read the cache; one
	// that has a session_id, which a cache key is not, from its first success on.
	Start: StartCached,
	// Sticky routing: a success renews, and a provider's error does not change what
	// is remembered: the next provider answers that request.
	Keeps: true,
	// Sticky routing: ten minutes without a request.
	Window: Window{Fixed: 10 * time.Minute},
	// Sticky routing: only where the provider's price for reading its cache is
	// below its price for the prompt.
	Gate: catalog.GateOwnPrice,
	// Provider routing: an order that the request gives wins.
	OrderFirst: true,
}
