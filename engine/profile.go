package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Profile is how affinity behaves: what names a session, when it is pinned and for
// how long, and which test a pin must pass. One value of it reproduces what one
// known gateway documents; [Warmroute] is the ordinary one.
//
// A Profile is data: it does not change once a gateway uses it, and may be shared.
// The zero Profile names no session and so never pins anything.
type Profile struct {
	Name catalog.Profile

	// Who is asking
	Sources  []Source // the first that yields a valid value names the session
	Reserved []string // <name>s of x-<name>-session-id that name no session, beside those of known agents
	Opener   Opener   // what a fingerprint is made of
	Labels   []string // headers that label the client, in canonical form, asked before [ClientHeader]
	Apart    bool     // sub-agents are sessions of their own: nothing of their parent's pins or cache key is theirs
	Threads  bool     // the conversations that share a session's id are told apart, each with its own pins

	// What is pinned
	Scope      Scope
	Models     int     // models a record keeps
	Warm       int     // warm entries a thread keeps
	Credential []Class // classes whose pins name the credential too; the others' name the vendor
	Start      Start   // what makes the pin
	Keeps      bool    // a broken answer leaves the pin alone; else it drops it
	Minimum    bool    // sessions the gateway named itself are pinned only where the model caches and the prompt reaches the minimum
	Engages    bool    // a vendor that neither reads nor writes for two turns running counts as cold
	Certain    bool    // beside Engages: one turn that its vendor cannot have cached, short or unmarked, is enough
	Window     Window

	// What a pin does
	Gate       catalog.Gate
	OrderFirst bool // an explicit order goes ahead of the pin
	Loose      bool // the session's own pins move no vendor: they are there for ModelPin only
	ModelPin   bool // the model that served the session last is tried first, among those of the target
	Marked     bool // the prefix up to the last cache marker is pinned beside the session, and asked first

	// Pass are the client's own headers that the vendor is sent as they came, in
	// canonical form, beside what its catalog entry hints.
	Pass []string
	// Off: affinity is off until something is configured that switches it on.
	Off bool
}

// Where is where in a request a session may be named.
type Where string

// Where it may be.
const (
	InOption   Where = "option"      // body providerOptions.gateway
	InBody     Where = "body"        // a member of the body
	InMetadata Where = "metadata"    // a member of the body's metadata
	InHeader   Where = "header"      // a header
	InOwn      Where = "own_header"  // a header x-<name>-session-id
	InCacheKey Where = "cache_key"   // body prompt_cache_key
	InAgent    Where = "agent"       // what coding agents send: their headers, and metadata.user_id
	InChain    Where = "chain"       // the assistant turn that this gateway served before
	InOpener   Where = "fingerprint" // how the conversation begins
	InKey      Where = "api_key"     // the gateway key that was presented
	InFields   Where = "hash_fields" // fields that the configuration nominates
)

// Source is one place where a session may be named, and what a value there must be like.
type Source struct {
	In    Where
	Names []string      // members, headers in canonical form, or dotted paths, in the order in which they are asked; empty where the place has one name, and for all agents
	Class Class         // of a session that is named here
	APIs  []catalog.API // only requests of these; empty: all
	Least int           // characters; a shorter value names nothing
	Most  int           // characters; a longer value names nothing; 0: it becomes its SHA-256 beyond [MaxID]
	Lower bool          // the value is taken in small letters
}

// Opener is what of a conversation's beginning makes its fingerprint. The tenant
// always does.
type Opener struct {
	User       bool // the first message of a user, not the first that is not the system's
	Tools      bool // the set of tools
	Characters int  // of each text; 0: all
}

// Scope says what sessions are tracked by beside their own name.
//
// The zero Scope is by policy.
type Scope string

// The scopes.
const (
	ScopePolicy Scope = ""       // the policy's name; models asked for directly share one
	ScopeTarget Scope = "target" // what was asked for: each policy and each model starts fresh
	ScopeNone   Scope = "none"   // nothing: one record for the session
)

// Start is what makes a pin.
//
// The zero Start is the vendor's acceptance.
type Start string

// The starts.
const (
	StartAccepted Start = ""       // 2xx headers
	StartServed   Start = "served" // a complete answer
	StartCached   Start = "cached" // a complete answer that read the cache; of explicit ids any complete answer
	StartChosen   Start = "chosen" // the choice itself, before the vendor is called
)

// Window is how long a pin lasts from its acceptance.
//
// The zero Window is as long as the route's cache, without a margin and a limit.
type Window struct {
	Fixed   time.Duration // counts whatever the catalog and the request say; 0: they count
	Usual   time.Duration // where neither the request nor the catalog's own text states one; 0: the catalog's table of vendors
	Margin  time.Duration // taken off
	Longest time.Duration // before the margin; 0: no limit
	Unasked bool          // what the request asks for does not count
}
