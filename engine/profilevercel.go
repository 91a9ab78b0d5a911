package engine

import "github.com/warmroute/warmroute/catalog"

// vercelProfile does as Vercel documents of its AI Gateway. Each rule names its
// section of the public page "AI Gateway Session Affinity".
//
// What the page leaves open: how conversations that share an id are told apart (they
// are not, so one pin a model serves them all) and what sub-agents inherit
// (nothing); whether a provider whose cache was never seen to be used stays pinned
// (it does); which account of a provider a cache key or a fingerprint gets (the
// session's own by its hash).
var vercelProfile = Profile{
	Name: catalog.ProfileVercel,
	// Identify a session: the table of six. The body's session_id sets the
	// provider option, which wins. Values beyond 256 characters are hashed.
	Sources: []Source{
		{In: InOption, Names: []string{"sessionId"}, Class: ClassExplicit},
		{In: InBody, Names: []string{"session_id"}, Class: ClassExplicit},
		{In: InHeader, Names: []string{sessionHeader}, Class: ClassExplicit},
		{In: InHeader, Names: []string{affinityHeader}, Class: ClassExplicit},
		{In: InCacheKey, Class: ClassCacheKey},
		{In: InAgent, Names: []string{claudeSession}, Class: ClassAgent},
		{In: InOpener, Class: ClassFingerprint},
	},
	// Fingerprint requests without a session ID: the first system or developer
	// message, the first other one, the set of tools; 4,096 characters of each text.
	Opener: Opener{Tools: true, Characters: MaxOpening},
	Apart:  true,
	// Keep caches warm across models: one pin for each model, for up to eight,
	// whatever the request was routed by.
	Scope:  ScopeNone,
	Models: 8,
	Warm:   1,
	// How it works: ids that are sent and Claude Code's name the credential, and a
	// cache key and a fingerprint the provider only (Identify a session).
	Credential: []Class{ClassExplicit, ClassAgent},
	// How it works: acceptance pins, and a failure after it removes the pin.
	Start: StartAccepted,
	// Minimum prompt size: only for sessions that the gateway identified itself.
	Minimum: true,
	// Pin lifetime: a default for each provider or what the request asks for, less
	// fifteen seconds, an hour at most.
	Window: Window{Margin: LifetimeMargin, Longest: MaxLifetime},
	// No price is asked anywhere on the page; Interaction with your routing
	// settings: the pin goes ahead of the request's order and of its sort.
	Gate: catalog.GateOff,
	// Identify a session: both headers go to the provider.
	Pass: []string{sessionHeader, affinityHeader},
}
