package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// PinChange is what becomes of one entry: kept, which adds or renews it; updated
// with what was reported, if it is still there; or dropped.
type PinChange struct {
	Model  string
	Entry  Entry
	Update bool
	Drop   bool
}

// SettleFacts are what the pin of one attempt depends on.
type SettleFacts struct {
	Session    Session
	Profile    *Profile // nil: [Warmroute]
	Off        bool     // affinity is off for this request: nothing is renewed and nothing dropped
	Record     Record
	Thread     uint64 // of the request
	Turn       uint64
	Candidate  Candidate
	ChosenAt   time.Time     // when the candidate was, before it was called
	AcceptedAt time.Time     // zero until then
	Lifetime   time.Duration // of a pin there, for this request: see [Window.Lifetime]
	Prompt     Estimate      // before the vendor has counted
	TextBytes  int64         // of text in the prompt
	Unstored   bool          // the request asks the vendor not to store the response
	Marked     bool          // it carries cache markers
}

// Accept says which entry the acceptance of a candidate leaves; ok is false where
// the session is not pinned to it then: without a session, with affinity off, where
// the profile pins what is served and not what is accepted, and for sessions the
// gateway named itself where the route does not cache or the prompt does not reach
// its minimum.
//
// What the same candidate last reported of the thread's cache is carried over. The
// store has a later acceptance stay ahead.
func Accept(f SettleFacts) (change PinChange, ok bool) {
	if f.profile().Start != StartAccepted {
		return PinChange{}, false
	}
	return f.entry()
}

// Choose says which entry the choice of a candidate leaves, before it is called; ok
// is false where the profile pins what is accepted or served, and where [Accept]
// would pin nothing.
func Choose(f SettleFacts) (change PinChange, ok bool) {
	if f.profile().Start != StartChosen {
		return PinChange{}, false
	}
	return f.entry()
}

// entry is what pins the session to the candidate; ok is false where nothing does.
func (f *SettleFacts) entry() (change PinChange, ok bool) {
	route, p := f.Candidate.Route, f.profile()
	switch {
	case f.Off || !f.Session.Found():
		return PinChange{}, false
	case p.needsMinimum(f.Session) && (route.Cache.Family == catalog.None || f.Prompt.Tokens < route.Cache.Minimum()):
		return PinChange{}, false
	}
	from := f.AcceptedAt
	if p.Start == StartChosen {
		from = f.ChosenAt
	}
	e := Entry{
		Vendor:     route.Vendor.Name,
		Group:      f.Candidate.Group,
		Thread:     f.Thread,
		Turn:       f.Turn,
		AcceptedAt: from,
		ExpiresAt:  p.Window.Ends(from, f.Lifetime),
		TextBytes:  f.TextBytes,
		Most:       p.limits(),
	}
	if p.pinsCredential(f.Session) || f.Candidate.Group == GroupClient { // callers share no account
		e.Credential = f.Candidate.Credential
	}
	if before, ok := f.before(e); ok {
		e.Read, e.Write = before.Read, before.Write
		if e.continues(before) {
			e.Silent = before.Silent
		}
	}
	return PinChange{Model: route.Model.Name, Entry: e}, true
}

// profile is the one that holds.
func (f *SettleFacts) profile() *Profile { return f.Profile.or() }

// before is what the record held of e's candidate and thread.
func (f *SettleFacts) before(e Entry) (before Entry, ok bool) {
	for _, before := range f.Record.For(f.Candidate.Route.Model.Name) {
		if before.Renews(e) {
			return before, true
		}
	}
	return Entry{}, false
}

// continues says whether a vendor that caches should still have held what before,
// the thread's last entry there, left behind: its window had not passed, and the
// prompt is no shorter, which is what tells a continued conversation from a
// rewritten one without comparing texts.
func (e Entry) continues(before Entry) bool {
	return !before.ExpiredAt(e.AcceptedAt) && e.TextBytes >= before.TextBytes
}

// Revoked says which of the record's entries to drop because they name a
// credential that their vendor no longer has: its account cannot be reached any
// more. Where the route is gone or disabled nothing is dropped, for it may come
// back, and keys of the caller's own are not the catalog's to judge.
func Revoked(p Plan, r Record) []PinChange {
	var changes []PinChange
	for i := range p.Models {
		model := p.Models[i].Model
		for _, e := range r.For(model.Name) {
			if e.Credential == "" || e.Group != GroupOperator {
				continue
			}
			route := routeOf(model, e.Vendor)
			if route != nil && route.Disabled == "" && !hasCredential(route.Vendor, e.Credential) {
				changes = append(changes, PinChange{Model: model.Name, Entry: e, Drop: true})
			}
		}
	}
	return changes
}

// Settle says what becomes of the pin that [Accept] or [Choose] left, now that the
// attempt is over (design section 2): served adds what was reported, abandoned keeps
// it as it is, broken drops it unless the profile keeps it, and refused never had
// one. All are about this turn's own entry: the store leaves alone what a later turn
// has put in its place.
//
// Where the profile pins what is served, served is what makes the pin, and broken
// drops the one that an earlier turn made there.
func Settle(f SettleFacts, a Attempt) []PinChange {
	if f.AcceptedAt.IsZero() {
		return nil
	}
	change, pinned := f.entry()
	if !pinned {
		return nil
	}
	start := f.profile().Start
	early := start == StartAccepted || start == StartChosen
	switch {
	case a.Stage == StageBroken && f.profile().Keeps:
		return nil
	case a.Stage == StageBroken && early:
		change.Drop = true
	case a.Stage == StageBroken:
		before, ok := f.before(change.Entry)
		if !ok || before.after(change.Entry) { // a turn that was accepted later is not this one's to judge
			return nil
		}
		change.Entry, change.Drop = before, true
	case a.Stage != StageServed || early && !a.Quality.Complete() || !early && !f.starts(change.Entry, a):
		return nil
	case a.Quality.Complete():
		change.Entry, change.Update = f.reported(change.Entry, a), early
	}
	return []PinChange{change}
}

// starts says whether a complete answer pins the session to e, where the profile
// pins what is served. One that wants to see the cache read does so once: a pin
// that lives is renewed by every answer, and of ids that the caller chose for this
// conversation the first answer makes it.
func (f *SettleFacts) starts(e Entry, a Attempt) bool {
	if f.profile().Start != StartCached || f.Session.Class == ClassExplicit {
		return true
	}
	if a.Usage.CacheRead > 0 {
		return true
	}
	before, ok := f.before(e)
	return ok && !before.ExpiredAt(e.AcceptedAt)
}

// reported adds an attempt's usage to its entry, and counts the turns running in
// which the vendor did not cache though it should have (see [Entry.continues]) and
// the prompt reaches the minimum. Anything else starts the count again. Where the
// profile takes it that a vendor does not cache what it cannot, one such turn fills the
// count, unless something is still warm there, and one that it may have cached after
// all leaves it a last chance.
func (f *SettleFacts) reported(e Entry, a Attempt) Entry {
	e = e.counted(a)
	before, ok := f.before(e)
	live := ok && !before.ExpiredAt(e.AcceptedAt)
	certain, never := f.profile().Certain, !live || before.Silent >= neverEngaged
	switch {
	case e.Read > 0 || e.Write > 0:
		e.Silent = 0
	case certain && never && f.uncached(a):
		e.Silent = neverEngaged
	case certain && live && never:
		e.Silent = neverEngaged - 1
	case ok && e.continues(before) && a.Usage.Prompt() >= f.Candidate.Route.Cache.Minimum():
		e.Silent = before.Silent + 1
	}
	return e
}

// uncached says whether the vendor cannot have cached the attempt's prompt: it is below
// the minimum, or nothing of it was marked where that is needed.
func (f *SettleFacts) uncached(a Attempt) bool {
	return a.Usage.Prompt() < f.Candidate.Route.Cache.Minimum() || f.Candidate.unmarked(f.Marked, f.AcceptedAt)
}

// counted is the entry with what the vendor counted. Reasoning is not sent back,
// so it is no part of what the next prompt holds.
func (e Entry) counted(a Attempt) Entry {
	e.Reported = true
	e.Prompt = a.Usage.Prompt()
	e.Output = max(0, a.Usage.Output-a.Usage.Reasoning)
	e.Read = a.Usage.CacheRead
	e.Write = a.Usage.CacheWrite5m + a.Usage.CacheWrite1h
	return e
}
