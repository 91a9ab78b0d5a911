package engine

import (
	"github.com/warmroute/warmroute/catalog"
)

// classOrigin is the class of the records that say who made a response. They are
// kept beside the pins and are none: affinity neither reads nor drops them.
const classOrigin Class = "origin"

// OriginKey is where it is kept who made a response of the API responses, by the
// id its vendor gave it. Tenants do not see each other's.
func OriginKey(tenant, response string) PinKey {
	return PinKey{Tenant: tenant, Class: classOrigin, ID: bounded(response)}
}

// Origin says whether the key is of a record that says who made a response, made
// by [OriginKey]. Such a record lies beside the pins and is none.
func (k PinKey) Origin() bool { return k.Class == classOrigin }

// MadeBy is what is kept of a response's maker: its vendor and credential, whose
// account alone knows the response, and, once an attempt has served it, what the
// conversation measures up to there. It can be read for [Readable], and promises
// nothing of a cache. ok is false where there is no response to go back to.
func MadeBy(f SettleFacts, a Attempt) (e Entry, ok bool) {
	if a.ResponseID == "" || f.AcceptedAt.IsZero() || f.Unstored {
		return Entry{}, false
	}
	e = Entry{
		Vendor:     f.Candidate.Route.Vendor.Name,
		Credential: f.Candidate.Credential,
		Group:      f.Candidate.Group,
		Thread:     f.Thread,
		Turn:       f.Turn,
		AcceptedAt: f.AcceptedAt,
		ExpiresAt:  f.AcceptedAt,
		TextBytes:  f.TextBytes,
	}
	if a.Stage == StageServed && a.Quality.Complete() {
		e = e.counted(a)
	}
	return e, true
}

// origin is the candidate that made what only its maker can read: the one that is
// remembered for the response the request continues, else the one that served
// this model last in the session, or else any model. It counts though its cache
// may be long cold. bound is false where nothing is remembered.
func (f *PlanFacts) origin(m *catalog.Model) (e Entry, bound bool) {
	switch {
	case f.Request.Origin == "":
		return Entry{}, false
	case f.Made:
		return f.Maker, true
	}
	if warm := f.Record.For(m.Name); len(warm) > 0 {
		return warm[0], true
	}
	_, e, bound = f.Record.Newest()
	return e, bound
}

// madeBy says whether the vendor, and the credential if the entry names one, is
// where origin was served.
func (f *PlanFacts) madeBy(v *catalog.Vendor, origin Entry) bool {
	return v.Name == origin.Vendor && (origin.Credential == "" || f.hasKey(v, origin.Credential))
}

// vendors is how many vendors the plan's candidates have.
func (p *Plan) vendors() int {
	n := 0
	for i := range p.Candidates {
		met := false
		for j := range i {
			met = met || p.Candidates[j].Route.Vendor == p.Candidates[i].Route.Vendor
		}
		if !met {
			n++
		}
	}
	return n
}
