package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// removes says which of the filters takes the route out, if one does.
func (f *PlanFacts) removes(r *catalog.Route, policy *catalog.Policy, origin Entry, bound bool) Why {
	vendor := r.Vendor.Name
	only := func(names []string) bool { return len(names) > 0 && !slices.Contains(names, vendor) }
	switch {
	case r.Disabled != "":
		return WhyDisabled
	case !r.Vendor.Speaks(f.Request.API):
		return WhyAPI
	case !f.Request.Rules.Allow(vendor) || only(f.Request.Only) || policy != nil && only(policy.Only):
		return WhyOnly
	case slices.Contains(f.Request.Ignore, vendor) || policy != nil && slices.Contains(policy.Ignore, vendor):
		return WhyIgnore
	case !r.Carries(f.Request.Tags) || policy != nil && !r.Carries(policy.Tags):
		return WhyTags
	case policy != nil && policy.Limited() && !policy.Allows(f.card(r)):
		return WhyMaxPrice
	case r.Model.Context > 0 && f.Request.TextBytes/bytesPerTokenMost > r.Model.Context:
		return WhyContext
	case len(r.Vendor.Credentials) > 0 && !f.hasKey(r.Vendor, ""):
		return WhyCredential
	case bound && !f.madeBy(r.Vendor, origin):
		return WhyOrigin
	}
	return ""
}

// usable says whether the credential can be used: its key was found.
func (f *PlanFacts) usable(c *catalog.Credential) bool {
	_, ok := c.Secret()
	return ok || f.AssumeKeys
}

// hasKey says whether the vendor has a credential that can be used: this one, or
// any if id is empty.
func (f *PlanFacts) hasKey(v *catalog.Vendor, id string) bool {
	for i := range v.Credentials {
		if (id == "" || v.Credentials[i].ID == id) && f.usable(&v.Credentials[i]) {
			return true
		}
	}
	return false
}
