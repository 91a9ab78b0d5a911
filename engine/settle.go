package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// PinChange is what becomes of one entry: kept, which adds or renews it, or
// dropped.
type PinChange struct {
	Model string
	Entry Entry
	Drop  bool
}

// SettleFacts are what the pin of one attempt depends on.
type SettleFacts struct {
	Session    Session
	Off        bool // affinity is off for this request: nothing is renewed and nothing dropped
	Record     Record
	Turn       uint64
	Candidate  Candidate
	AcceptedAt time.Time
	Lifetime   time.Duration // of the route's cache for this request: see [Lifetime]
	Prompt     Estimate      // before the vendor has counted
	TextBytes  int64         // of text in the prompt
}

// Accept says which entry the acceptance of a candidate leaves; ok is false where
// the session is not pinned to it: without a session, with affinity off, and for
// sessions the gateway named itself where the route does not cache or the prompt
// does not reach its minimum.
//
// What the same candidate last reported of the cache is carried over. The store
// has a later acceptance stay ahead.
func Accept(f SettleFacts) (change PinChange, ok bool) {
	route := f.Candidate.Route
	switch {
	case f.Off || !f.Session.Found():
		return PinChange{}, false
	case f.Session.SelfNamed() && (route.Cache.Family == catalog.None || f.Prompt.Tokens < route.Cache.Minimum()):
		return PinChange{}, false
	}
	e := Entry{
		Vendor:     route.Vendor.Name,
		Group:      f.Candidate.Group,
		Turn:       f.Turn,
		AcceptedAt: f.AcceptedAt,
		ExpiresAt:  ExpiryOf(f.AcceptedAt, f.Lifetime),
		TextBytes:  f.TextBytes,
	}
	if f.Session.PinsCredential() {
		e.Credential = f.Candidate.Credential
	}
	if before, ok := f.before(e); ok {
		e.Read, e.Write, e.Silent = before.Read, before.Write, before.Silent
	}
	return PinChange{Model: route.Model.Name, Entry: e}, true
}

// before is what the record held of e's candidate.
func (f *SettleFacts) before(e Entry) (before Entry, ok bool) {
	for _, before := range f.Record.For(f.Candidate.Route.Model.Name) {
		if before.SameCandidate(e) {
			return before, true
		}
	}
	return Entry{}, false
}

// Settle says what becomes of the pin that [Accept] left, now that the attempt is
// over (design section 2): served adds what was reported, abandoned keeps it as it
// is, broken drops it, and refused never had one. Both are about this turn's own
// entry: the store leaves alone what a later turn has put in its place.
func Settle(f SettleFacts, a Attempt) []PinChange {
	if f.AcceptedAt.IsZero() {
		return nil
	}
	change, pinned := Accept(f)
	if !pinned {
		return nil
	}
	switch {
	case a.Stage == StageBroken:
		change.Drop = true
	case a.Stage == StageServed && a.Quality.Complete():
		change.Entry = f.reported(change.Entry, a)
	default:
		return nil
	}
	return []PinChange{change}
}

// reported adds an attempt's usage to its entry, and counts the turns in which
// the vendor did not cache though it should have: in the window of the last one,
// with a prompt that reaches the minimum and is no shorter than the last, which
// is what tells a continued conversation from a side call without comparing texts.
func (f *SettleFacts) reported(e Entry, a Attempt) Entry {
	e.Reported = true
	e.Prompt = a.Usage.Prompt() + a.Usage.Output
	e.Read = a.Usage.CacheRead
	e.Write = a.Usage.CacheWrite5m + a.Usage.CacheWrite1h
	before, ok := f.before(e)
	switch {
	case e.Read > 0 || e.Write > 0:
		e.Silent = 0
	case ok && !before.ExpiredAt(e.AcceptedAt) && e.TextBytes >= before.TextBytes &&
		a.Usage.Prompt() >= f.Candidate.Route.Cache.Minimum():
		e.Silent = before.Silent + 1
	}
	return e
}
