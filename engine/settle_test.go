package engine

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// settleFacts are an accepted attempt of candidate a/k1 for an explicit session.
func settleFacts(change func(*SettleFacts)) SettleFacts {
	route := routeFor("m", "a")
	route.Cache = catalog.CacheRules{Family: catalog.Implicit, TTL: 5 * time.Minute, MinPrefix: 1024}
	f := SettleFacts{
		Session:    Session{Tenant: "t", Class: ClassExplicit, ID: "boat"},
		Turn:       7,
		Candidate:  Candidate{Route: route, Credential: "k1"},
		AcceptedAt: pinEpoch,
		Lifetime:   5 * time.Minute,
		Prompt:     Estimate{Tokens: 2000},
		TextBytes:  8000,
	}
	if change != nil {
		change(&f)
	}
	return f
}

func TestAccept(t *testing.T) {
	self := func(class Class, tokens int64, family catalog.Family) func(*SettleFacts) {
		return func(f *SettleFacts) {
			f.Session.Class, f.Prompt.Tokens, f.Candidate.Route.Cache.Family = class, tokens, family
		}
	}
	cases := []struct {
		name       string
		change     func(*SettleFacts)
		pinned     bool
		credential string
	}{
		{"an explicit session", nil, true, "k1"},
		{"an explicit session with a small prompt where nothing is cached", self(ClassExplicit, 1, catalog.None), true, "k1"},
		{"a cache key with a small prompt", self(ClassCacheKey, 1, catalog.Implicit), true, ""},
		{"an agent's session", self(ClassAgent, 1024, catalog.Implicit), true, "k1"},
		{"an agent's session below the minimum", self(ClassAgent, 1023, catalog.Implicit), false, ""},
		{"an agent's session where nothing is cached", self(ClassAgent, 5000, catalog.None), false, ""},
		{"a fingerprint", self(ClassFingerprint, 1024, catalog.Explicit), true, ""},
		{"a fingerprint below the minimum", self(ClassFingerprint, 1023, catalog.Explicit), false, ""},
		{"no session", func(f *SettleFacts) { f.Session = Session{} }, false, ""},
		{"affinity off", func(f *SettleFacts) { f.Off = true }, false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			change, ok := Accept(settleFacts(c.change))
			if ok != c.pinned || change.Entry.Credential != c.credential || change.Drop {
				t.Fatalf("pinned %v to %q", ok, change.Entry.Credential)
			}
			if !ok {
				return
			}
			e := change.Entry
			if change.Model != "m" || e.Vendor != "a" || e.Turn != 7 || !e.AcceptedAt.Equal(pinEpoch) || e.ExpiresAt.Sub(pinEpoch) != 285*time.Second || e.TextBytes != 8000 || e.Reported || e.Prompt != 0 {
				t.Errorf("entry %+v", e)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	usage := pricing.Usage{Input: 100, CacheRead: 1500, CacheWrite5m: 300, CacheWrite1h: 100, Output: 50, Reasoning: 30}
	served := Attempt{Stage: StageServed, Usage: usage, Quality: pricing.Authoritative}
	cases := []struct {
		name   string
		change func(*SettleFacts)
		a      Attempt
		want   string
	}{
		{"served adds what was reported", nil, served, "update"},
		{"served without a report changes nothing more", nil, Attempt{Stage: StageServed}, ""},
		{"served with a partial report changes nothing more", nil, Attempt{Stage: StageServed, Usage: usage, Quality: pricing.Partial}, ""},
		{"broken drops", nil, Attempt{Stage: StageBroken, Failure: FailureCut}, "drop"},
		{"abandoned keeps as it is", nil, Attempt{Stage: StageAbandoned, Failure: FailureClientLeft}, ""},
		{"refused touches nothing", func(f *SettleFacts) { f.AcceptedAt = time.Time{} }, Attempt{Failure: FailureServer}, ""},
		{"broken with affinity off touches nothing", func(f *SettleFacts) { f.Off = true }, Attempt{Stage: StageBroken}, ""},
		{"served without a session", func(f *SettleFacts) { f.Session = Session{} }, served, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, change := range Settle(settleFacts(c.change), c.a) {
				switch {
				case change.Drop:
					got += "drop"
				case change.Update:
					got += "update"
				default:
					got += "keep"
				}
				e := change.Entry
				if !change.Drop && (!e.Reported || e.Prompt != 2000 || e.Output != 20 || e.Read != 1500 || e.Write != 400 || e.Turn != 7) {
					t.Errorf("entry %+v", e)
				}
			}
			if got != c.want {
				t.Errorf("did %q, want %q", got, c.want)
			}
		})
	}
}

func TestSilentTurns(t *testing.T) {
	before := func(silent int, ago time.Duration, bytes int64) Record {
		at := pinEpoch.Add(-ago)
		return Record{}.Keep("m", Entry{Vendor: "a", Credential: "k1", Turn: 6, AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second), TextBytes: bytes, Silent: silent, Read: 9})
	}
	quiet := pricing.Usage{Input: 2000, Output: 10}
	cases := []struct {
		name   string
		record Record
		usage  pricing.Usage
		want   int
	}{
		{"first turn has nothing to read", Record{}, quiet, 0},
		{"second turn reads nothing", before(0, time.Minute, 7000), quiet, 1},
		{"third turn reads nothing", before(1, time.Minute, 7000), quiet, 2},
		{"a read ends it", before(2, time.Minute, 7000), pricing.Usage{Input: 1000, CacheRead: 1000}, 0},
		{"a write ends it", before(2, time.Minute, 7000), pricing.Usage{Input: 1000, CacheWrite1h: 1000}, 0},
		{"after the window the count starts again", before(1, 285*time.Second, 7000), quiet, 0},
		{"the last moment of the window", before(1, 285*time.Second-1, 7000), quiet, 2},
		{"below the minimum nothing is expected", before(1, time.Minute, 7000), pricing.Usage{Input: 1023}, 1},
		{"as much text as before", before(1, time.Minute, 8000), quiet, 2},
		{"a shorter prompt was rewritten", before(1, time.Minute, 8001), quiet, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := settleFacts(func(f *SettleFacts) { f.Record = c.record })
			changes := Settle(f, Attempt{Stage: StageServed, Usage: c.usage, Quality: pricing.Derived})
			if len(changes) != 1 || changes[0].Entry.Silent != c.want {
				t.Errorf("%+v, want %d silent turns", changes, c.want)
			}
		})
	}
	other := settleFacts(func(f *SettleFacts) { f.Record, f.Thread = before(1, time.Minute, 7000), 9 })
	if changes := Settle(other, Attempt{Stage: StageServed, Usage: quiet, Quality: pricing.Derived}); changes[0].Entry.Silent != 0 || changes[0].Entry.Thread != 9 {
		t.Errorf("another thread's turns were counted: %+v", changes[0].Entry)
	}
	expired, _ := Accept(settleFacts(func(f *SettleFacts) { f.Record = before(2, 5*time.Minute, 7000) }))
	if expired.Entry.Silent != 0 || expired.Entry.Read != 9 {
		t.Errorf("acceptance after the window: %+v", expired.Entry)
	}
	accepted, _ := Accept(settleFacts(func(f *SettleFacts) { f.Record = before(1, time.Minute, 7000) }))
	if accepted.Entry.Silent != 1 || accepted.Entry.Read != 9 {
		t.Errorf("acceptance forgets what was last reported: %+v", accepted.Entry)
	}
}

// Under a profile that is certain of it, one turn that cannot have been cached says as
// much as two that were not.
func TestTurnsThatCannotBeCached(t *testing.T) {
	earlier := func(silent int, ago time.Duration, bytes int64) Record {
		at := pinEpoch.Add(-ago)
		return Record{}.Keep("m", Entry{Vendor: "a", Credential: "k1", Turn: 6, AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second), TextBytes: bytes, Silent: silent, Read: 9})
	}
	before := func(silent int) Record { return earlier(silent, time.Minute, 7000) }
	quiet, short := pricing.Usage{Input: 2000}, pricing.Usage{Input: 1023}
	for _, c := range []struct {
		name   string
		family catalog.Family
		marked bool
		record Record
		usage  pricing.Usage
		want   int
		others int // under a profile that is not
	}{
		{"the first turn, long enough", catalog.Implicit, false, Record{}, quiet, 0, 0},
		{"the first turn, too short", catalog.Implicit, false, Record{}, short, 2, 0},
		{"too short again", catalog.Implicit, false, before(2), short, 2, 2},
		{"too short after it had engaged", catalog.Implicit, false, before(0), short, 0, 0},
		{"a short side call beside what is warm", catalog.Implicit, false, earlier(0, time.Minute, 90000), short, 0, 0},
		{"a short side call beside what was warm", catalog.Implicit, false, earlier(0, 285*time.Second, 90000), short, 2, 0},
		{"a short side call beside what never was", catalog.Implicit, false, earlier(2, time.Minute, 90000), short, 2, 0},
		{"long enough at last", catalog.Implicit, false, before(2), quiet, 1, 3},
		{"long enough, and nothing read", catalog.Implicit, false, before(1), quiet, 2, 2},
		{"the first turn, unmarked", catalog.Explicit, false, Record{}, quiet, 2, 0},
		{"unmarked again", catalog.Explicit, false, before(2), quiet, 2, 3},
		{"unmarked after it had engaged", catalog.Explicit, false, before(0), quiet, 1, 1},
		{"the first turn, marked, and no write is told", catalog.Explicit, true, Record{}, quiet, 0, 0},
		{"marked at last", catalog.Explicit, true, before(2), quiet, 1, 3},
		{"marked, and written", catalog.Explicit, true, before(2), pricing.Usage{Input: 1000, CacheWrite5m: 1000}, 0, 0},
	} {
		for profile, want := range map[*Profile]int{pinning(func(p *Profile) { p.Certain = true }): c.want, nil: c.others} {
			f := settleFacts(func(f *SettleFacts) {
				f.Profile, f.Marked, f.Record = profile, c.marked, c.record
				f.Candidate.Route.Cache.Family = c.family
			})
			changes := Settle(f, Attempt{Stage: StageServed, Usage: c.usage, Quality: pricing.Derived})
			if len(changes) != 1 || changes[0].Entry.Silent != want {
				t.Errorf("%s, certain %v: %+v, want %d", c.name, profile != nil, changes, want)
			}
		}
	}
}

func TestRevokedCredentials(t *testing.T) {
	c := parse(t, house)
	target, _ := c.Resolve("m")
	model := target.Models[0]
	p := Plan{Models: []ModelPlan{{Model: model}}}
	entry := func(vendor, credential string, group Group) Entry {
		e := entryAt(vendor, 1, 0)
		e.Credential, e.Group = credential, group
		return e
	}
	cases := []struct {
		name string
		e    Entry
		gone bool
	}{
		{"the credential is there", entry("a", "k2", GroupOperator), false},
		{"the credential is gone", entry("a", "k3", GroupOperator), true},
		{"the vendor has no credentials any more", entry("c", "k", GroupOperator), true},
		{"the entry names none", entry("a", "", GroupOperator), false},
		{"the route is gone, the vendor is not", entry("u", "k", GroupOperator), false},
		{"the vendor is gone", entry("z", "k", GroupOperator), false},
		{"the caller's own key", entry("a", "hash", GroupClient), false},
	}
	for _, c := range cases {
		changes := Revoked(p, Record{}.Keep("m", c.e))
		if gone := len(changes) == 1 && changes[0].Drop && changes[0].Model == "m" && changes[0].Entry.Is(c.e); gone != c.gone || len(changes) > 1 {
			t.Errorf("%s: %+v", c.name, changes)
		}
	}
	model.Routes[0].Disabled = "for now"
	if changes := Revoked(p, Record{}.Keep("m", entry("a", "k3", GroupOperator))); changes != nil {
		t.Errorf("a disabled route dropped %+v", changes)
	}
}

func TestMadeBy(t *testing.T) {
	served := Attempt{Stage: StageServed, ResponseID: "resp_1", Usage: pricing.Usage{Input: 2000, Output: 100, Reasoning: 60}, Quality: pricing.Authoritative}
	f := settleFacts(func(f *SettleFacts) { f.Thread, f.Session, f.Off = 5, Session{Tenant: "t"}, true })
	e, ok := MadeBy(f, served)
	want := Entry{Vendor: "a", Credential: "k1", Thread: 5, Turn: 7, AcceptedAt: pinEpoch, ExpiresAt: pinEpoch, Prompt: 2000, Output: 40, TextBytes: 8000, Reported: true}
	if !ok || e != want {
		t.Errorf("without a session and with affinity off: %+v, %v", e, ok)
	}
	early, ok := MadeBy(f, Attempt{ResponseID: "resp_1"})
	want.Prompt, want.Output, want.Reported = 0, 0, false
	if !ok || early != want {
		t.Errorf("before it has served: %+v, %v", early, ok)
	}
	nameless := served
	nameless.ResponseID = ""
	unstored := f
	unstored.Unstored = true
	for name, got := range map[string]func() (Entry, bool){
		"without id": func() (Entry, bool) { return MadeBy(f, nameless) },
		"not stored": func() (Entry, bool) { return MadeBy(unstored, served) },
	} {
		if _, ok := got(); ok {
			t.Errorf("%s: kept", name)
		}
	}
}
