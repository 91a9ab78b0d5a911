package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// liteLLMProfile does as LiteLLM documents of its router, in the public pages
// "Prompt Caching", "Load Balancing" and "Router settings". What it calls a
// deployment is a vendor and a credential here, and a model group what was asked
// for.
//
// It is off until the configuration names checks (see [Profile.With]): of the two pins,
// session_affinity is the model's, and deployment_affinity and prompt_caching are
// the deployment's.
//
// What the pages leave open: whether another turn renews a pin (it does); what
// becomes of a pin whose deployment fails (it stays, and the deployment is not
// chosen while it is down); what a request without an id and without a key is
// pinned by (nothing but its marked prefix).
var liteLLMProfile = Profile{
	Name: catalog.ProfileLiteLLM,
	Off:  true, // Router settings: optional pre-call checks are a list, empty by default
	// Load Balancing: the session's id where one is sent, else the key of the
	// caller, as its hash.
	Sources: []Source{
		{In: InMetadata, Names: []string{"session_id"}, Class: ClassExplicit},
		{In: InHeader, Names: []string{"X-Litellm-Session-Id"}, Class: ClassExplicit},
		{In: InHeader, Names: []string{"X-Litellm-Trace-Id"}, Class: ClassExplicit},
		{In: InKey, Class: ClassCacheKey}, // a label that many conversations share
	},
	Apart: true,
	// Load Balancing: affinity holds inside one model group, to one deployment.
	Scope:      ScopeTarget,
	Models:     MaxModels,
	Warm:       1,
	Credential: []Class{ClassExplicit, ClassCacheKey},
	Start:      StartChosen, // Load Balancing: written when the deployment is chosen
	Keeps:      true,
	Window:     Window{Fixed: time.Hour}, // Router settings: deployment_affinity_ttl_seconds
	Gate:       catalog.GateOff,          // no price is asked
}
