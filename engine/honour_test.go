package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// pinning is a profile that differs from the default in one respect.
func pinning(change func(*Profile)) *Profile {
	p := warmrouteProfile
	change(&p)
	return &p
}

// kept is what an attempt of candidate a/k1 leaves under a profile, in words: at its
// choice, at its acceptance and at its end.
func kept(f SettleFacts, a Attempt) string {
	accepted := a.Stage != StageRefused
	f.ChosenAt, f.AcceptedAt = pinEpoch.Add(-time.Second), time.Time{}
	var words []string
	say := func(when string, c PinChange) {
		what := "keep"
		if c.Drop {
			what = "drop"
		} else if c.Update {
			what = "update"
		}
		reported := ""
		if c.Entry.Reported {
			reported = " with usage"
		}
		words = append(words, fmt.Sprintf("%s: %s turn %d%s", when, what, c.Entry.Turn, reported))
	}
	if c, ok := Choose(f); ok {
		say("chosen", c)
	}
	if accepted {
		f.AcceptedAt = pinEpoch
		if c, ok := Accept(f); ok {
			say("accepted", c)
		}
	}
	for _, c := range Settle(f, a) {
		say("over", c)
	}
	return strings.Join(words, "; ")
}

func TestWhatMakesAPin(t *testing.T) {
	usage := func(read, write int64) pricing.Usage {
		return pricing.Usage{Input: 2000, CacheRead: read, CacheWrite5m: write, Output: 9}
	}
	served := Attempt{Stage: StageServed, Usage: usage(0, 0), Quality: pricing.Authoritative}
	uncounted := Attempt{Stage: StageServed}
	read := Attempt{Stage: StageServed, Usage: usage(1500, 0), Quality: pricing.Authoritative}
	wrote := Attempt{Stage: StageServed, Usage: usage(0, 1500), Quality: pricing.Authoritative}
	broken := Attempt{Stage: StageBroken, Failure: FailureCut}
	left := Attempt{Stage: StageAbandoned, Failure: FailureClientLeft}
	refused := Attempt{Failure: FailureServer}
	starting := func(s Start, keeps bool) *Profile {
		return pinning(func(p *Profile) { p.Start, p.Keeps = s, keeps })
	}
	cases := []struct {
		name    string
		profile *Profile
		class   Class
		before  time.Duration // how long ago turn 6 was accepted there; 0: never
		a       Attempt
		want    string
	}{
		{"the default, served", nil, ClassExplicit, 0, served, "accepted: keep turn 7; over: update turn 7 with usage"},
		{"the default, broken", nil, ClassExplicit, 0, broken, "accepted: keep turn 7; over: drop turn 7"},
		{"the default, refused", nil, ClassExplicit, time.Minute, refused, ""},
		{"a broken answer leaves the pin", starting(StartAccepted, true), ClassExplicit, 0, broken, "accepted: keep turn 7"},

		{"pinned when served", starting(StartServed, false), ClassExplicit, 0, served, "over: keep turn 7 with usage"},
		{"pinned when served, nothing reported", starting(StartServed, false), ClassExplicit, 0, uncounted, "over: keep turn 7"},
		{"pinned when served, the caller left", starting(StartServed, false), ClassExplicit, time.Minute, left, ""},
		{"pinned when served, the first answer breaks", starting(StartServed, false), ClassExplicit, 0, broken, ""},
		{"pinned when served, a later answer breaks", starting(StartServed, false), ClassExplicit, time.Minute, broken, "over: drop turn 6"},
		{"pinned when served, a later answer breaks and leaves the pin", starting(StartServed, true), ClassExplicit, time.Minute, broken, ""},
		{"pinned when served, refused", starting(StartServed, false), ClassExplicit, time.Minute, refused, ""},

		{"pinned when cached, nothing was", starting(StartCached, true), ClassFingerprint, 0, served, ""},
		{"pinned when cached, nothing is reported", starting(StartCached, true), ClassFingerprint, 0, uncounted, ""},
		{"pinned when cached, read", starting(StartCached, true), ClassFingerprint, 0, read, "over: keep turn 7 with usage"},
		{"pinned when cached, only written", starting(StartCached, true), ClassFingerprint, 0, wrote, ""},
		{"pinned when cached, and the caller named the conversation", starting(StartCached, true), ClassExplicit, 0, served, "over: keep turn 7 with usage"},
		{"pinned when cached, a cache key names a prefix", starting(StartCached, true), ClassCacheKey, 0, served, ""},
		{"pinned when cached, a pin that lives is renewed", starting(StartCached, true), ClassFingerprint, time.Minute, served, "over: keep turn 7 with usage"},
		{"pinned when cached, one that has expired is not", starting(StartCached, true), ClassFingerprint, 10 * time.Minute, served, ""},
		{"pinned when cached, broken", starting(StartCached, true), ClassExplicit, time.Minute, broken, ""},

		{"pinned when chosen", starting(StartChosen, true), ClassExplicit, 0, served, "chosen: keep turn 7; over: update turn 7 with usage"},
		{"pinned when chosen, refused", starting(StartChosen, true), ClassExplicit, 0, refused, "chosen: keep turn 7"},
		{"pinned when chosen, broken", starting(StartChosen, true), ClassExplicit, 0, broken, "chosen: keep turn 7"},
		{"pinned when chosen, broken, which drops it", starting(StartChosen, false), ClassExplicit, 0, broken, "chosen: keep turn 7; over: drop turn 7"},
		{"pinned when chosen, without a session", starting(StartChosen, true), "", 0, served, ""},

		{"no minimum, a small prompt of an agent", pinning(func(p *Profile) { p.Minimum = false }), ClassAgent, 0, Attempt{Stage: StageAbandoned}, "accepted: keep turn 7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := settleFacts(func(f *SettleFacts) {
				f.Profile, f.Session.Class = c.profile, c.class
				if c.class == "" {
					f.Session = Session{Tenant: "t"}
				}
				if strings.Contains(c.name, "small prompt") {
					f.Prompt.Tokens = 3
				}
			})
			if c.before > 0 {
				at := pinEpoch.Add(-c.before)
				e := Entry{Vendor: "a", Turn: 6, AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second), TextBytes: 8000}
				if c.class == ClassExplicit {
					e.Credential = "k1"
				}
				f.Record = f.Record.Keep("m", e)
			}
			if got := kept(f, c.a); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWhatAnEntryOfAProfileIs(t *testing.T) {
	cases := []struct {
		name    string
		profile *Profile
		class   Class
		want    string // credential, end, limits
	}{
		{"the default", nil, ClassExplicit, "k1 4m45s {0 0}"},
		{"the default names no credential for a cache key", nil, ClassCacheKey, " 4m45s {0 0}"},
		{"a profile that names it for cache keys only", pinning(func(p *Profile) { p.Credential = []Class{ClassCacheKey} }), ClassCacheKey, "k1 4m45s {0 0}"},
		{"and for no other", pinning(func(p *Profile) { p.Credential = []Class{ClassCacheKey} }), ClassExplicit, " 4m45s {0 0}"},
		{"one model, one warm vendor", pinning(func(p *Profile) { p.Models, p.Warm = 1, 1 }), ClassExplicit, "k1 4m45s {1 1}"},
		{"more than a record may hold", pinning(func(p *Profile) { p.Models, p.Warm = 99, 9 }), ClassExplicit, "k1 4m45s {0 0}"},
		{"none is one", pinning(func(p *Profile) { p.Models, p.Warm = 0, -1 }), ClassExplicit, "k1 4m45s {1 1}"},
		{"no margin", pinning(func(p *Profile) { p.Window.Margin = 0 }), ClassExplicit, "k1 5m0s {0 0}"},
		{"a shorter limit", pinning(func(p *Profile) { p.Window.Longest = time.Minute }), ClassExplicit, "k1 45s {0 0}"},
		{"from the choice", pinning(func(p *Profile) { p.Start = StartChosen }), ClassExplicit, "k1 4m44s {0 0}"},
	}
	for _, c := range cases {
		f := settleFacts(func(f *SettleFacts) { f.Profile, f.Session.Class = c.profile, c.class })
		f.ChosenAt = pinEpoch.Add(-time.Second)
		change, ok := f.entry()
		got := fmt.Sprintf("%s %v %v", change.Entry.Credential, change.Entry.ExpiresAt.Sub(pinEpoch), change.Entry.Most)
		if !ok || got != c.want {
			t.Errorf("%s: %v %q, want %q", c.name, ok, got, c.want)
		}
	}
}

func TestHowLongAPinLasts(t *testing.T) {
	day := Request{Retention: 24 * time.Hour, Markers: 1, MarkerTTL: time.Hour}
	route := func(vendor string, family catalog.Family, ttl time.Duration, stated bool) *catalog.Route {
		return &catalog.Route{Vendor: &catalog.Vendor{Name: vendor}, Cache: catalog.CacheRules{Family: family, TTL: ttl, Stated: stated}}
	}
	marked := route("anthropic", catalog.Explicit, 5*time.Minute, false)
	openai := route("openai", catalog.Implicit, 10*time.Minute, false)
	stated := route("rack", catalog.Implicit, 20*time.Minute, true)
	usual := Window{Usual: 10 * time.Minute, Unasked: true}
	house := warmrouteProfile.Window
	for _, c := range []struct {
		name   string
		window Window
		r      Request
		route  *catalog.Route
		want   time.Duration
	}{
		{"the catalog's table", house, Request{}, marked, 285 * time.Second},
		{"openai's in the table", house, Request{}, openai, 585 * time.Second},
		{"an hour asked for by a marker", house, day, marked, 3585 * time.Second},
		{"a day asked for of openai", house, day, openai, 3585 * time.Second},
		{"a day asked for of another", house, day, stated, 20*time.Minute - 15*time.Second},
		{"fixed, whatever is asked for", Window{Fixed: 10 * time.Minute}, day, openai, 10 * time.Minute},
		{"fixed, with a margin and a limit", Window{Fixed: 2 * time.Hour, Margin: time.Minute, Longest: time.Hour}, day, openai, 59 * time.Minute},
		{"the usual one where only the table says", usual, day, marked, 10 * time.Minute},
		{"what the catalog states", usual, day, stated, 20 * time.Minute},
		{"the usual one does not outdo what is asked for", Window{Usual: 10 * time.Minute}, day, marked, time.Hour},
		{"no limit", Window{}, day, openai, 24 * time.Hour},
		{"what is asked for does not count", Window{Unasked: true}, day, openai, 10 * time.Minute},
		{"a margin longer than the life", Window{Fixed: 10 * time.Second, Margin: 15 * time.Second}, Request{}, openai, 0},
	} {
		if got := c.window.Ends(pinEpoch, c.window.Lifetime(&c.r, c.route)).Sub(pinEpoch); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatASessionIsTrackedBy(t *testing.T) {
	m := &catalog.Model{Name: "m", Aliases: []string{"em"}}
	model := catalog.Target{Models: []*catalog.Model{m}}
	policy := catalog.Target{Policy: &catalog.Policy{Name: "thrifty"}, Models: []*catalog.Model{m}}
	for _, c := range []struct {
		scope         Scope
		model, policy string
	}{{ScopePolicy, "", "thrifty"}, {ScopeTarget, "m", "thrifty"}, {ScopeNone, "", ""}} {
		if a, b := c.scope.Of(model), c.scope.Of(policy); a != c.model || b != c.policy {
			t.Errorf("%q: %q and %q, want %q and %q", c.scope, a, b, c.model, c.policy)
		}
	}
}

// A record that was kept under wider limits is read under narrower ones.
func TestWhatOfARecordIsWithinLimits(t *testing.T) {
	var r Record
	for i, e := range []struct {
		model, vendor string
		thread        uint64
	}{{"n", "a", 0}, {"m", "a", 0}, {"m", "b", 0}, {"m", "c", 5}, {"m", "d", 5}} {
		at := entryAt(e.vendor, uint64(i+1), i)
		at.Thread = e.thread
		r = r.Keep(e.model, at)
	}
	for _, c := range []struct {
		most Limits
		want string
	}{
		{Limits{}, "m: d c b a; n: a; "},
		{Limits{Models: 9, Warm: 9}, "m: d c b a; n: a; "},
		{Limits{Warm: 1}, "m: d b; n: a; "},
		{Limits{Models: 1}, "m: d c b a; "},
		{Limits{Models: 1, Warm: 1}, "m: d b; "},
	} {
		got := ""
		for _, m := range r.Within(c.most).Models {
			got += m.Model + ":"
			for _, e := range m.Warm {
				got += " " + e.Vendor
			}
			got += "; "
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.most, got, c.want)
		}
	}
	if got := (Record{}).Within(Limits{Models: 1}); len(got.Models) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// The least that a prompt must have, and a vendor that never engages, are rungs of
// profiles that say so.
func TestRungsOfAProfile(t *testing.T) {
	silent := func(e *Entry) { e.Silent = 2 }
	for _, c := range []struct {
		name    string
		profile *Profile
		class   Class
		tokens  int64
		change  func(*Entry)
		want    Outcome
	}{
		{"the minimum", nil, ClassAgent, 3, nil, SkippedBelowMinPrefix},
		{"no minimum", pinning(func(p *Profile) { p.Minimum = false }), ClassAgent, 3, nil, Promoted},
		{"never engaged", nil, ClassExplicit, 3000, silent, NoPin},
		{"whether it engages does not matter", pinning(func(p *Profile) { p.Engages = false }), ClassExplicit, 3000, silent, Promoted},
	} {
		s := newScene(t, "m")
		if c.change == nil {
			c.change = func(*Entry) {}
		}
		s.pin("m", "b", 10, c.change)
		s.f.Profile, s.f.Session.Class, s.f.Prompt.Tokens, s.f.Gate = c.profile, c.class, c.tokens, catalog.GateOff
		if got := s.decide().Models[0].Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A new session beyond what its tenant may begin is served as one without a pin.
func TestANewSessionBeyondTheLimit(t *testing.T) {
	s := newScene(t, "m")
	s.f.Limited = true
	if f := s.decide().Models[0]; f.Outcome != NoPin || f.Detail != DetailSessionLimit {
		t.Errorf("%s, %s", f.Outcome, f.Detail)
	}
}
