package catalog

import "slices"

// MarkerMember is the member of a block that marks the end of a prefix to be cached.
// Under a vendor's accepts it says that the vendor understands it in every API it
// speaks, under refuses that it must never be sent.
const MarkerMember = "cache_control"

// TakesMarkers says whether the vendor understands cache markers in this API: all
// vendors of the messages API do unless they refuse them, of the others those that say
// so.
func (v *Vendor) TakesMarkers(api API) bool {
	if slices.Contains(v.Refuses, MarkerMember) {
		return false
	}
	return api == Messages || slices.Contains(v.Accepts, MarkerMember)
}

// CacheTTL is how long the prefixes live that automatic cache markers write.
//
// The zero CacheTTL leaves the choice to what pays.
type CacheTTL string

// The lifetimes a policy may ask for.
const (
	CacheTTLAuto CacheTTL = ""
	CacheTTL5m   CacheTTL = "5m"
	CacheTTL1h   CacheTTL = "1h"
)

// cacheTTLs are the words of a catalog for them.
var cacheTTLs = []string{string(CacheTTL5m), string(CacheTTL1h), "auto"}
