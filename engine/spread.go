package engine

import "github.com/warmroute/warmroute/catalog"

// spread appends the vendor's usable credentials to ids in the order in which the
// session tries them: by rendezvous hash, so that a session keeps its credential
// while it exists, another takes its place if it goes, and no other session moves.
// Requests without a session are shared out by f.Spread. Content that is bound to
// a credential leaves only that one.
func (f *PlanFacts) spread(ids []string, v *catalog.Vendor) []string {
	var space [8]uint64
	scores := space[:0]
	base := uint64(hashOffset)
	if len(v.Credentials) > 1 {
		base = f.spreadBase(v)
	}
	for i := range v.Credentials {
		c := &v.Credentials[i]
		if !f.usable(c) || !f.open(v.Name, c.ID, GroupOperator) {
			continue
		}
		score := mix(hashText(base, c.ID))
		at := len(ids)
		ids, scores = append(ids, c.ID), append(scores, score)
		for ; at > 0 && scores[at-1] < score; at-- {
			ids[at], scores[at] = ids[at-1], scores[at-1]
		}
		ids[at], scores[at] = c.ID, score
	}
	return ids
}

// spreadBase is the part of the hash that all credentials of a vendor share.
func (f *PlanFacts) spreadBase(v *catalog.Vendor) uint64 {
	h := hashText(hashOffset, v.Name)
	if !f.Session.Found() {
		return mix(h ^ f.Spread)
	}
	h = hashText(h, f.Session.Tenant)
	h = hashText(h, string(f.Session.Class))
	return hashText(h, f.Session.ID)
}

// FNV-1a, 64 bits.
const (
	hashOffset = 14695981039346656037
	hashPrime  = 1099511628211
)

// hashText adds text and its end to h.
func hashText(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * hashPrime
	}
	return (h ^ uint64(len(text))) * hashPrime
}

// mix spreads every bit of h over all of them (the finalizer of MurmurHash3):
// FNV alone leaves the high bits of short texts alike.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
