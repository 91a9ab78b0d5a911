package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// portkeyProfile does as Portkey documents of sticky sessions, in the public page
// "Load Balancing". Its weighted targets are the weights of a policy here.
//
// It is off until the configuration enables it and nominates fields (see
// [Profile.With]).
//
// What the page leaves open: what makes the pin (acceptance, so that a target which
// refuses is not stuck to) and whether a broken answer ends it (it does); whether
// another turn renews it (it does); what a request is that has none of the fields
// (no session, so its weights are drawn anew); which health counts (a target that
// is down is passed over, and comes back while its time has not passed).
var portkeyProfile = Profile{
	Name: catalog.ProfilePortkey,
	Off:  true, // Load Balancing, Sticky sessions: off until they are enabled
	// Sticky sessions: a hash of the nominated fields; which ones, the
	// configuration says.
	Sources:    []Source{{In: InFields, Class: ClassExplicit}},
	Apart:      true,
	Scope:      ScopePolicy, // Sticky sessions: a setting of one strategy
	Models:     MaxModels,
	Warm:       1,
	Credential: []Class{ClassExplicit}, // a target is a provider with its key
	Start:      StartAccepted,
	Window:     Window{Fixed: time.Hour}, // Sticky sessions: ttl, an hour by default
	Gate:       catalog.GateOff,          // no price is asked
}
