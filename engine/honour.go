package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// or is the profile that holds where none may be named: the default one.
func (p *Profile) or() *Profile {
	if p == nil {
		return &warmrouteProfile
	}
	return p
}

// pinsCredential says whether the session's pins name the credential too.
func (p *Profile) pinsCredential(s Session) bool { return slices.Contains(p.Credential, s.Class) }

// needsMinimum says whether the session is pinned only where the model caches and
// the prompt reaches the minimum: the caller did not ask for it.
func (p *Profile) needsMinimum(s Session) bool { return p.Minimum && s.SelfNamed() }

// limits are how much of a session is kept.
func (p *Profile) limits() Limits {
	within := func(n, most int) uint8 {
		if n >= most {
			return 0
		}
		return uint8(max(n, 1))
	}
	return Limits{Models: within(p.Models, MaxModels), Warm: within(p.Warm, MaxWarm)}
}

// Of is what a session is tracked by that asks for the target. Policies and models
// are one namespace, so a name is enough; a model's alias is the model.
func (s Scope) Of(t catalog.Target) string {
	switch {
	case s == ScopeNone:
		return ""
	case s == ScopeTarget && t.Policy == nil && len(t.Models) > 0:
		return t.Models[0].Name
	}
	return t.Scope()
}
