package engine

import (
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// ownPrefix begins the id of every key of a caller's own. No credential of a catalog
// can have such an id, since a colon may not stand in one, so the two never meet: not
// in a pin, not in the books, and not in what is known of a candidate's health.
const ownPrefix = "own:"

// OwnKeyID is what a key of a caller's own is known by: a hash of it, keyed and the
// tenant's, that the caller has made.
func OwnKeyID(hash string) string { return ownPrefix + hash }

// IsOwnKey says whether a credential's id is that of a caller's own key.
func IsOwnKey(credential string) bool { return strings.HasPrefix(credential, ownPrefix) }

// ownKey says whether the caller has a key of its own for the vendor: this one, or
// any if id is empty.
func (r *Request) ownKey(vendor, id string) bool {
	for i := range r.OwnKeys {
		if k := &r.OwnKeys[i]; k.Vendor == vendor && (id == "" || k.ID == id) {
			return true
		}
	}
	return false
}

// spreadOwn appends the ids of the caller's own keys for the vendor, in the order in
// which it gave them. Content that is bound to an account leaves only that one's.
func (f *PlanFacts) spreadOwn(ids []string, v *catalog.Vendor) []string {
	for i := range f.Request.OwnKeys {
		if k := &f.Request.OwnKeys[i]; k.Vendor == v.Name && f.open(v.Name, k.ID, GroupClient) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// ownFirst has the entries of the caller's own keys judged before the others: those
// candidates are tried first. Each part keeps its order.
func ownFirst(line []*Entry) {
	at := 0
	for i, e := range line {
		if e.Group != GroupClient {
			continue
		}
		copy(line[at+1:i+1], line[at:i])
		line[at] = e
		at++
	}
}
