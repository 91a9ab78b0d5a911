package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Auditor judges turns beyond their bill: what affinity saved, and whose doing a
// miss was. Its answers are bytes of its own form, so that a store keeps them and
// adds them up without knowing what they say. Package engine/sim has one.
//
// An Auditor may be used from several goroutines, the turns of one session one after
// the other.
type Auditor interface {
	// Audit judges a turn that has ended. memory is what it said for the session's turn
	// before; nil for the first, and for a turn without a session. Memory that it cannot
	// read counts as none.
	Audit(t *Turn, memory []byte) Audit
	// Sum begins a sum of accounts.
	Sum() AccountSum
}

// Audit is what an [Auditor] says of a turn. The zero Audit says nothing.
type Audit struct {
	Verdict []byte // of the turn, kept with its record
	Account []byte // what it adds to its route, day and tenant
	Memory  []byte // of the session from here on; nil where there is nothing to remember
	Miss    string // why it read less than it could have, such as "vendor_switched"; empty: it did not
}

// AccountSum adds accounts up.
type AccountSum interface {
	// Add takes over an account or a sum of some. It returns false, and adds nothing,
	// for bytes that are neither.
	Add(account []byte) bool
	// Account is the sum as an account.
	Account() []byte
}

// RouteAccount is the account of the turns whose last attempt was of one model at one
// vendor.
type RouteAccount struct {
	Vendor, Model string
	Account       []byte
}

// SlotAccount is the account of one stretch of time.
type SlotAccount struct {
	Start   time.Time
	Account []byte
}

// Accounts are an auditor's accounts of a query. Total is the sum of Routes, and of
// Series; all of them hold settled turns only.
type Accounts struct {
	Query  Query // as answered, as that of an [Overview] is
	Total  []byte
	Routes []RouteAccount // by model, then vendor
	Width  time.Duration
	Series []SlotAccount // oldest first; slots without a turn are left out
}

// Asked is what a request said that an [Auditor] needs to know of it.
type Asked struct {
	Thread    uint64
	Markers   int           // cache_control markers in the body
	MarkerTTL time.Duration // longest lifetime a marker asks for; 0 where none names one
	Retention time.Duration // asked of OpenAI and Azure; 0 if none
	Service   string        // service tier
	Speed     string        // such as "fast"
	Region    string        // where it is to be computed
	Prefix    Prefix        // boundaries of the prompt; nil where they were not asked for, or no vendor took it
}

// asked is what the request said.
func (r *Request) asked(thread uint64) Asked {
	return Asked{Thread: thread, Markers: r.Markers, MarkerTTL: r.MarkerTTL, Retention: r.Retention, Service: r.Service, Speed: r.Speed, Region: r.Region}
}

// Lifetime is how long a route's cache keeps what the request put there, as
// [Lifetime] says.
func (a *Asked) Lifetime(route *catalog.Route) time.Duration {
	return Lifetime(&Request{Markers: a.Markers, MarkerTTL: a.MarkerTTL, Retention: a.Retention}, route)
}
