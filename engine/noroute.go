package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// maxNamed is how many other models an error names.
const maxNamed = 8

// NoRouteError means that every route of the target was filtered out, or that it
// cannot be told which of them is the one the request needs.
type NoRouteError struct {
	Target  string
	API     catalog.API
	Plan    Plan     // its Removed lists say why
	Tags    []string // that the request itself asked for: all of them
	AnyTags []string // and one of these
	Rules   Rules    // the tenant's: it is told of no vendor that it may not use
	Others  []string // models of the catalog that this API reaches and whose vendors have keys, at most eight

	// Unknown are the vendors that the request allows (only) and the catalog does not
	// have, each with the name that was perhaps meant.
	Unknown []UnknownVendor

	// Forgotten is a kind of content in the request of which nobody knows which vendor
	// made it. Plan then has candidates. Empty: there is none.
	Forgotten Kind
	// Bound is content of the request that binds it to vendors that cannot serve it,
	// each kind once.
	Bound []Bound
	// Own are the keys of its own that the caller has brought.
	Own []OwnKey
}

// UnknownVendor is a name that no vendor of the catalog has. Near is one that it has
// and that was perhaps meant; empty: none is like it.
type UnknownVendor struct{ Name, Near string }

// unknownVendors are those of a request's names that the catalog does not have. Only
// vendors that the tenant may use are suggested.
func unknownVendors(c *catalog.Catalog, names []string, rules *Rules) (all []UnknownVendor) {
	var known []string
	for _, v := range c.Vendors {
		if rules.Allow(v.Name) {
			known = append(known, v.Name)
		}
	}
	for _, name := range names {
		if _, ok := c.Vendor(name); ok || len(all) == maxNamed || len(name) > maxVendorName {
			continue
		}
		near, _ := catalog.Nearest(name, known)
		all = append(all, UnknownVendor{name, near})
	}
	return all
}

// maxVendorName is the longest name of a vendor that is repeated to a client.
const maxVendorName = 64

// noRoute says what would have worked instead. With assumeKeys keys are not looked at.
func noRoute(c *catalog.Catalog, r *Request, t *Turn, assumeKeys bool) *NoRouteError {
	e := &NoRouteError{Own: r.OwnKeys, Target: t.Target, API: r.API, Plan: t.Plan, Tags: r.Tags, AnyTags: r.AnyTags, Rules: r.Rules, Unknown: unknownVendors(c, r.Only, &r.Rules)}
	for _, m := range c.Models {
		if len(e.Others) < maxNamed && !t.Plan.has(m) && reaches(m, r.API, &r.Rules, assumeKeys) {
			e.Others = append(e.Others, m.Name)
		}
	}
	return e
}

func reaches(m *catalog.Model, api catalog.API, rules *Rules, assumeKeys bool) bool {
	facts := PlanFacts{AssumeKeys: assumeKeys}
	return slices.ContainsFunc(m.Routes, func(r *catalog.Route) bool {
		return r.Disabled == "" && r.Vendor.Speaks(api) && rules.Allow(r.Vendor.Name) &&
			(len(r.Vendor.Credentials) == 0 || facts.hasKey(r.Vendor, ""))
	})
}

// APIs are the other client APIs by which the target can be reached, if the API
// asked through is what is wrong.
func (e *NoRouteError) APIs() []catalog.API {
	var apis []catalog.API
	for _, m := range e.Plan.Models {
		for _, removed := range m.Removed {
			if removed.Why != WhyAPI || !e.Rules.Allow(removed.Route.Vendor.Name) {
				continue
			}
			for _, api := range removed.Route.Vendor.API {
				if !slices.Contains(apis, api) {
					apis = append(apis, api)
				}
			}
		}
	}
	return apis
}

// Error says, for the client, which target has no route left, why each of them
// was taken out, and which APIs and models would work.
func (e *NoRouteError) Error() string {
	if e.Forgotten != "" {
		return e.forgotten()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "no route of %s can serve this request", e.Target)
	separator := ": "
	for _, m := range e.Plan.Models {
		for _, removed := range m.Removed {
			if !e.Rules.Allow(removed.Route.Vendor.Name) {
				continue
			}
			fmt.Fprintf(&b, "%s%s %s", separator, removed.Route.Vendor.Name, e.reason(removed))
			separator = "; "
		}
	}
	if separator == ": " && len(e.Rules.Only) > 0 {
		b.WriteString(": none of its vendors is open to this tenant")
	}
	for _, u := range e.Unknown {
		fmt.Fprintf(&b, ". There is no vendor %s", u.Name)
		if u.Near != "" {
			fmt.Fprintf(&b, " (did you mean %s?)", u.Near)
		}
	}
	b.WriteString(e.bound())
	if apis := e.APIs(); len(apis) > 0 {
		fmt.Fprintf(&b, ". %s can be reached through: %s", e.Target, joined(apis))
	}
	if len(e.Others) > 0 && e.API != "" {
		fmt.Fprintf(&b, ". Models that the %s API reaches: %s", e.API, strings.Join(e.Others, ", "))
	}
	return b.String()
}

// Keyless says whether it is the operator's doing: some route would serve, had
// its vendor a key.
func (e *NoRouteError) Keyless() bool {
	if e.Forgotten != "" || len(e.Bound) > 0 {
		return false
	}
	for _, m := range e.Plan.Models {
		for _, removed := range m.Removed {
			if removed.Why == WhyCredential {
				return true
			}
		}
	}
	return false
}

func (e *NoRouteError) reason(r Removed) string {
	switch r.Why {
	case WhyAPI:
		return "does not speak the " + string(e.API) + " API"
	case WhyOnly:
		return "is not among the vendors allowed (only)"
	case WhyIgnore:
		return "is excluded (ignore)"
	case WhyContext:
		return "cannot hold a prompt of this size"
	case WhyDisabled:
		return "is disabled in the catalog"
	case WhyTags:
		if missing := e.lacks(r.Route); missing != "" {
			return "lacks the tag " + missing + ", which the request requires"
		}
		if len(e.AnyTags) > 0 && !carriesAny(r.Route, e.AnyTags) {
			return "carries none of the tags that the request requires one of: " + strings.Join(e.AnyTags, ", ")
		}
		return "lacks a required tag"
	case WhyParameters:
		return "is never sent " + r.Member + ", which the request has, and the request requires that nothing is lost"
	case WhyMaxPrice:
		return "is above the price limit (max_price), or its price is not known"
	case WhyBackup:
		return "is not in the order, and the request allows no other vendors"
	case WhyCredential:
		return "has no key" + e.wanted(r.Route.Vendor)
	case WhyOwnKey:
		return "needs a key of your own (x-warmroute-key-" + r.Route.Vendor.Name + ")"
	case WhyOrigin:
		return "did not make the content that this request refers to"
	}
	return string(r.Why)
}

// wanted says where the vendor's key is looked for, such as " (set DEEPSEEK_API_KEY)".
// Tenants who are kept apart are not told: it is not theirs to set.
func (e *NoRouteError) wanted(v *catalog.Vendor) string {
	var names []string
	for i := range v.Credentials {
		if env := v.Credentials[i].Env; env != "" && !slices.Contains(names, env) {
			names = append(names, env)
		}
	}
	if len(names) == 0 || e.Rules.Apart {
		return ""
	}
	return " (set " + strings.Join(names, " or ") + ")"
}

// lacks is the first tag of the request that the route does not carry; empty if
// it carries them all.
func (e *NoRouteError) lacks(r *catalog.Route) string {
	for i := range e.Tags {
		if !r.Carries(e.Tags[i : i+1]) {
			return e.Tags[i]
		}
	}
	return ""
}

func joined(apis []catalog.API) string {
	paths := make([]string, len(apis))
	for i, api := range apis {
		paths[i] = "/v1" + api.Path()
	}
	return strings.Join(paths, ", ")
}
