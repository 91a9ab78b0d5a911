package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// Rules are what is set for every request of one tenant, and no request can
// undo. The zero Rules set nothing.
type Rules struct {
	Gate    catalog.Gate // counts after the policy's and before the gateway's; empty: the gateway's
	Off     bool         // affinity is off
	Profile *Profile     // nil: the gateway's
	Only    []string     // vendors the tenant may use; empty: all
	OwnOnly bool         // only keys of the caller's own are used, never the operator's

	// Apart: tenants who must not read each other share the vendors' accounts. A
	// response that the vendor has stored is then continued only where it is
	// remembered that this tenant was given it: its account would hand it to
	// anyone who knows the id.
	Apart bool
}

// Allow says whether the tenant may use the vendor.
func (r *Rules) Allow(vendor string) bool {
	return len(r.Only) == 0 || slices.Contains(r.Only, vendor)
}

// Leave says whether anything is left of a target under the rules: a route that
// is in use at a vendor the tenant may use. Without Only everything is left.
func (r *Rules) Leave(t catalog.Target) bool {
	if len(r.Only) == 0 {
		return true
	}
	models, policy := t.Models, t.Policy
	if policy != nil && len(models) == 0 {
		models = policy.Models
	}
	return slices.ContainsFunc(models, func(m *catalog.Model) bool {
		return slices.ContainsFunc(m.Routes, func(route *catalog.Route) bool {
			vendor := route.Vendor.Name
			return route.Disabled == "" && r.Allow(vendor) && (policy == nil ||
				(len(policy.Only) == 0 || slices.Contains(policy.Only, vendor)) && !slices.Contains(policy.Ignore, vendor))
		})
	})
}
