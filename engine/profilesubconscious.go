package engine

import "github.com/warmroute/warmroute/catalog"

// subconsciousProfile does as Subconscious documents in its public page "Session
// affinity". What it calls a worker of its own fleet is a vendor here.
//
// What the page leaves open: how long a binding lasts (as long as the cache, as
// with [Warmroute]); whether an answer that broke ends it (it does); which of two
// names of one row counts (the one that it names first); in which row a coding
// agent's own header stands (in that of an application's own, whose form Claude
// Code's has, and after it); what a request is that its own gateways forward, or its
// own coding client sends (their two headers name nothing). Where a worker is
// overloaded the page tries another; here that is a vendor which is down.
var subconsciousProfile = Profile{
	Name: catalog.ProfileSubconscious,
	// Identify your session: the five rows. Your own session header: 8 to 256
	// characters, in small letters.
	Sources: []Source{
		{In: InBody, Names: []string{"session_id", "sessionId"}, Class: ClassExplicit},
		{In: InOption, Names: []string{"sessionId"}, Class: ClassExplicit},
		{In: InHeader, Names: []string{sessionHeader, affinityHeader}, Class: ClassExplicit},
		{In: InOwn, Class: ClassExplicit, Least: MinOwnID, Most: MaxID, Lower: true},
		{In: InAgent, Class: ClassAgent}, // Coding agents: they name their sessions themselves, and nothing needs to be set
		{In: InCacheKey, Class: ClassCacheKey},
		{In: InChain, Class: ClassChain}, // Sessions without a session signal
	},
	// Headers to avoid: reserved for its own forwarding and for a client of its own.
	// Claude Code's, which it reserves too, is an agent's and no application's.
	Reserved: []string{"subconscious", "subconscious-code"},
	// Pick your path: a label of the client that goes before the header's name.
	Labels: []string{"X-Subconscious-Client"},
	// Identify your session: sub-agents name their parent; its worker is theirs.
	Apart: false,
	// How the gateway does it: a session is bound to a worker, whatever it is asked.
	Scope:      ScopeNone,
	Models:     MaxModels,
	Warm:       1,
	Credential: []Class{ClassExplicit, ClassAgent},
	// How the gateway does it: the worker that served, renewed by each success.
	Start:  StartServed,
	Window: Window{Margin: LifetimeMargin, Longest: MaxLifetime},
	Gate:   catalog.GateOff, // no price is asked
}
