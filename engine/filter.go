package engine

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// removes says which of the filters takes the route out, if one does.
func (f *PlanFacts) removes(r *catalog.Route, policy *catalog.Policy) Why {
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
	case len(f.Request.AnyTags) > 0 && !carriesAny(r, f.Request.AnyTags):
		return WhyTags
	case f.Request.Strict && f.Request.lost(r.Vendor) != "":
		return WhyParameters
	case policy != nil && policy.Limited() && !policy.Allows(f.card(r)):
		return WhyMaxPrice
	case f.Request.MaxPrice.Limited() && !f.Request.MaxPrice.Allows(f.card(r)):
		return WhyMaxPrice
	case r.Model.Context > 0 && f.Request.TextBytes/bytesPerTokenMost > r.Model.Context:
		return WhyContext
	case f.Request.Rules.OwnOnly && !f.Request.ownKey(vendor, ""):
		return WhyOwnKey
	case len(r.Vendor.Credentials) > 0 && !f.hasKey(r.Vendor, "") && !f.Request.ownKey(vendor, ""):
		return WhyCredential
	case len(f.bound) > 0 && !f.reads(r.Vendor):
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

// reads says whether some candidate of the vendor reaches the accounts that the
// request's content is bound to.
func (f *PlanFacts) reads(v *catalog.Vendor) bool {
	for i := range f.Request.OwnKeys {
		if k := &f.Request.OwnKeys[i]; k.Vendor == v.Name && f.open(v.Name, k.ID, GroupClient) {
			return true
		}
	}
	if f.Request.Rules.OwnOnly {
		return false
	}
	if len(v.Credentials) == 0 {
		return f.open(v.Name, "", GroupOperator)
	}
	for i := range v.Credentials {
		if c := &v.Credentials[i]; f.usable(c) && f.open(v.Name, c.ID, GroupOperator) {
			return true
		}
	}
	return false
}

// carriesAny says whether the route has one of these tags, its vendor's and its
// model's counted.
func carriesAny(r *catalog.Route, tags []string) bool {
	for i := range tags {
		if r.Carries(tags[i : i+1]) {
			return true
		}
	}
	return false
}

// lost is the first member of the request that the vendor would not be sent, because
// it refuses it; empty if it is sent all of them. Members that are the gateway's own
// say nothing to a vendor and do not count (design section 2).
func (r *Request) lost(v *catalog.Vendor) string {
	if r.Has == nil {
		return ""
	}
	for _, name := range v.Refuses {
		switch name {
		case "session_id", "sessionId", "providerOptions", "caching", "cache_ttl", "models", "provider":
			continue
		}
		if r.Has(name) || name == catalog.MarkerMember && r.Markers > 0 {
			return name
		}
	}
	return ""
}
