package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
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
	case !carries(r, f.Request.Tags) || policy != nil && !carries(r, policy.Tags):
		return WhyTags
	case policy != nil && limited(policy) && !f.within(r, policy):
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

// carries says whether the route or its vendor has all of these tags.
func carries(r *catalog.Route, tags []string) bool {
	for _, tag := range tags {
		if !slices.Contains(r.Tags, tag) && !slices.Contains(r.Vendor.Tags, tag) {
			return false
		}
	}
	return true
}

func limited(p *catalog.Policy) bool {
	return p.MaxInput.Known() || p.MaxRead.Known() || p.MaxOut.Known()
}

// within says whether the route's rates of this turn keep the policy's limits. A
// rate that is not known cannot be shown to keep one; only an unknown cache-read
// rate is judged by what would be billed in its place, the input rate.
func (f *PlanFacts) within(r *catalog.Route, p *catalog.Policy) bool {
	card := f.card(r)
	read := card.CacheRead
	if !read.Known() {
		read = card.Input
	}
	keeps := func(limit, rate pricing.Rate) bool {
		return !limit.Known() || rate.Known() && !limit.Below(rate)
	}
	return keeps(p.MaxInput, card.Input) && keeps(p.MaxRead, read) && keeps(p.MaxOut, card.Output)
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
