package engine

import "github.com/warmroute/warmroute/catalog"

// warmrouteProfile is the default: design sections 3 to 6.
var warmrouteProfile = Profile{
	Name: catalog.ProfileWarmroute,
	Sources: []Source{
		{In: InOption, Names: []string{"sessionId"}, Class: ClassExplicit},
		{In: InBody, Names: []string{"session_id", "sessionId"}, Class: ClassExplicit},
		{In: InHeader, Names: []string{sessionHeader}, Class: ClassExplicit},
		{In: InHeader, Names: []string{affinityHeader}, Class: ClassExplicit},
		{In: InOwn, Class: ClassExplicit, Least: MinOwnID, Most: MaxID, Lower: true},
		{In: InCacheKey, Class: ClassCacheKey},
		{In: InAgent, Class: ClassAgent},
		{In: InOpener, Class: ClassFingerprint},
	},
	Reserved:   []string{"warmroute"},
	Opener:     Opener{Tools: true, Characters: MaxOpening},
	Threads:    true,
	Models:     MaxModels,
	Warm:       MaxWarm,
	Credential: []Class{ClassExplicit, ClassAgent},
	Minimum:    true,
	Engages:    true,
	Window:     Window{Margin: LifetimeMargin, Longest: MaxLifetime},
	Gate:       catalog.GateCacheRead,
}
