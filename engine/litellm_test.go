package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
)

// A group of two models, each with two deployments.
const deployments = `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k, env: A}], cache: {family: implicit, ttl: 5m}}
  b: {api: [chat], base_url: "https://b.example/v1", credentials: [{id: k, env: B}], cache: {family: implicit, ttl: 5m}}
models:
  small: {routes: [{vendor: a, model: s}, {vendor: b, model: s}]}
  large: {routes: [{vendor: a, model: l, cache: {min_prefix: 2048}}, {vendor: b, model: l, cache: {min_prefix: 2048}}]}
  plain: {routes: [{vendor: a, model: p, cache: {family: none}}, {vendor: b, model: p, cache: {family: none}}]}
policies:
  group: {models: [small, large]}
`

// router is a gateway with LiteLLM's checks, its clock, and what fails at it.
type router struct {
	t     *testing.T
	g     *engine.Gateway
	now   time.Time
	fails map[string]bool // "model/vendor" that refuse
	cuts  map[string]bool // that break after they accepted
	tried []string
	sees  func() // called before an attempt ends
}

func newRouter(t *testing.T, checks ...catalog.RoutingCheck) *router {
	profile, err := engine.ProfileOf(catalog.ProfileSettings{Profile: catalog.Set(catalog.ProfileLiteLLM), Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	r := &router{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), fails: map[string]bool{}, cuts: map[string]bool{}}
	c, clock := parse(t, deployments), func() time.Time { return r.now }
	r.g = &engine.Gateway{Catalog: func() *catalog.Catalog { return c }, Pins: inmem.New(inmem.Options{Now: clock}), Health: engine.NewHealth(), Profile: profile, Now: clock}
	return r
}

// ask plays one turn and says who served it.
func (r *router) ask(change func(*engine.Request)) (turn engine.Turn, served string) {
	r.t.Helper()
	request := engine.Request{Tenant: "default", API: catalog.Chat, Target: "group", TextBytes: 8000}
	if change != nil {
		change(&request)
	}
	r.tried = nil
	turn, err := r.g.Serve(context.Background(), request, func(_ context.Context, try engine.Try) engine.Attempt {
		route := try.Candidate.Route
		at := route.Model.Name + "/" + route.Vendor.Name
		r.tried = append(r.tried, at)
		defer func() { r.now = r.now.Add(time.Millisecond) }() // nothing is chosen twice in one moment
		if r.sees != nil {
			r.sees()
		}
		switch {
		case r.fails[at]:
			return engine.Attempt{Stage: engine.StageRefused, Status: 500, Failure: engine.FailureServer}
		case r.cuts[at]:
			try.Accepted()
			return engine.Attempt{Stage: engine.StageBroken, Committed: true, Failure: engine.FailureServer}
		}
		try.Accepted()
		served = at
		return engine.Attempt{Stage: engine.StageServed, Committed: true, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 2000, Output: 10}}
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return turn, served
}

func (r *router) wants(turn engine.Turn, served, wantServed string, want engine.Outcome, detail engine.Detail) {
	r.t.Helper()
	f := turn.Decision.Models[0]
	if served != wantServed || f.Outcome != want || f.Detail != detail {
		r.t.Errorf("served by %s, %s (%s); want %s, %s (%s)", served, f.Outcome, f.Detail, wantServed, want, detail)
	}
}

// session names the session in its header.
func session(id string) func(*engine.Request) {
	return func(r *engine.Request) { r.Header = map[string][]string{"X-Litellm-Session-Id": {id}} }
}

// marks is a request whose marked prefix has this hash and size.
func marks(hash string, tokens int64, markers, long int) func(*engine.Request) {
	return func(r *engine.Request) {
		r.Markers, r.LongMarkers = markers, long
		r.MarkedPrefix = func() (string, int64, bool) { return hash, tokens, markers > 0 }
	}
}

func both(changes ...func(*engine.Request)) func(*engine.Request) {
	return func(r *engine.Request) {
		for _, change := range changes {
			change(r)
		}
	}
}

func TestLiteLLMIsOffWithoutChecks(t *testing.T) {
	r := newRouter(t)
	for range 2 {
		turn, served := r.ask(session("boat"))
		r.wants(turn, served, "small/a", engine.SkippedModeOff, "")
	}
	r.fails["small/a"] = true
	r.ask(session("boat"))
	delete(r.fails, "small/a")
	turn, served := r.ask(session("boat"))
	r.wants(turn, served, "small/a", engine.SkippedModeOff, "")
}

func TestTheModelsPinKeepsTheModelAndNoDeployment(t *testing.T) {
	r := newRouter(t, catalog.CheckSession)
	r.fails["small/a"], r.fails["small/b"], r.fails["large/a"] = true, true, true
	_, served := r.ask(session("boat"))
	clear(r.fails)
	if served != "large/b" {
		t.Fatal(served)
	}
	r.now = r.now.Add(59 * time.Minute)
	turn, served := r.ask(session("boat"))
	r.wants(turn, served, "large/a", engine.NoPin, engine.DetailModelPinned)
	turn, served = r.ask(session("other"))
	r.wants(turn, served, "small/a", engine.NoPin, "")
	turn, served = r.ask(both(session("boat"), func(r *engine.Request) { r.Target = "small" }))
	r.wants(turn, served, "small/a", engine.NoPin, "")
	r.now = r.now.Add(time.Hour)
	turn, served = r.ask(session("boat"))
	r.wants(turn, served, "small/a", engine.NoPin, "")
	r.fails["small/a"], r.fails["small/b"] = true, true
	r.ask(session("boat"))
	clear(r.fails)
	turn, _ = r.ask(session("boat"))
	if got := len(turn.Plan.Models); got != 2 || turn.Plan.Models[0].Model.Name != "large" || turn.Plan.Models[1].Model.Name != "small" {
		t.Errorf("the plan is of %d models, first %s", got, turn.Plan.Models[0].Model.Name)
	}
	off := both(session("boat"), func(r *engine.Request) { r.AffinityOff = true })
	turn, served = r.ask(off)
	r.wants(turn, served, "small/a", engine.SkippedModeOff, "")
}

func TestTheDeploymentsPin(t *testing.T) {
	r := newRouter(t, catalog.CheckDeployment)
	caller := func(key string) func(*engine.Request) { return func(r *engine.Request) { r.Key = key } }
	r.fails["small/a"] = true
	r.ask(caller("k1"))
	r.ask(both(caller("k1"), session("boat")))
	clear(r.fails)
	for _, who := range []func(*engine.Request){caller("k1"), session("boat"), both(caller("k2"), session("boat"))} {
		turn, served := r.ask(who)
		r.wants(turn, served, "small/b", engine.Promoted, "")
	}
	for _, who := range []func(*engine.Request){caller("k2"), session("raft")} {
		turn, served := r.ask(who)
		r.wants(turn, served, "small/a", engine.NoPin, "")
	}
	turn, served := r.ask(nil)
	r.wants(turn, served, "small/a", engine.NoPin, engine.DetailNoSession)
	r.cuts["small/b"] = true // a pin outlives a failure: who is down is passed over anyway
	r.ask(session("boat"))
	clear(r.cuts)
	turn, served = r.ask(session("boat"))
	r.wants(turn, served, "small/b", engine.Promoted, "")
	r.now = r.now.Add(time.Hour)
	turn, served = r.ask(session("boat"))
	r.wants(turn, served, "small/a", engine.PinExpired, "")
}

func TestADeploymentIsPinnedBeforeItIsCalled(t *testing.T) {
	r := newRouter(t, catalog.CheckDeployment, catalog.CheckPrefix)
	pinned := 0
	r.sees = func() {
		for _, key := range []engine.PinKey{{Tenant: "default", Class: engine.ClassExplicit, ID: "boat", Scope: "group"}, engine.PrefixKey("default", "group", "h")} {
			record, err := r.g.Pins.Recall(context.Background(), key)
			if _, e, ok := record.Newest(); err == nil && ok && e.Vendor == "a" && e.Credential == "k" && e.AcceptedAt.Equal(r.now) {
				pinned++
			}
		}
	}
	r.ask(both(session("boat"), marks("h", 4096, 1, 0)))
	if pinned != 2 {
		t.Errorf("%d of two pins stood before the call", pinned)
	}
}

func TestAMarkedPrefixKeepsItsDeployment(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		first  func(*engine.Request)
		then   func(*engine.Request)
		after  time.Duration
		served string
		want   engine.Outcome
		detail engine.Detail
	}{
		"another session, the same prefix": {"small", both(session("boat"), marks("h", 1024, 2, 0)), both(session("raft"), marks("h", 1024, 2, 0)), 299 * time.Second, "small/b", engine.Promoted, ""},
		"no session at all":                {"small", marks("h", 1024, 2, 0), marks("h", 1024, 2, 0), time.Minute, "small/b", engine.Promoted, ""},
		"another prefix":                   {"small", marks("h", 1024, 1, 0), marks("g", 1024, 1, 0), time.Minute, "small/a", engine.NoPin, engine.DetailNoSession},
		"no marker any more":               {"small", marks("h", 1024, 1, 0), marks("h", 1024, 0, 0), time.Minute, "small/a", engine.NoPin, engine.DetailNoSession},
		"too short":                        {"small", marks("h", 1023, 1, 0), marks("h", 1023, 1, 0), time.Minute, "small/a", engine.NoPin, engine.DetailNoSession},
		"below the route's minimum":        {"large", marks("h", 2047, 1, 0), marks("h", 2047, 1, 0), time.Minute, "large/a", engine.NoPin, engine.DetailNoSession},
		"at the route's minimum":           {"large", marks("h", 2048, 1, 0), marks("h", 2048, 1, 0), time.Minute, "large/b", engine.Promoted, ""},
		"a route without a cache":          {"plain", marks("h", 9000, 1, 0), marks("h", 9000, 1, 0), time.Minute, "plain/a", engine.NoPin, engine.DetailNoSession},
		"five minutes":                     {"small", marks("h", 1024, 2, 1), marks("h", 1024, 2, 1), 5 * time.Minute, "small/a", engine.PinExpired, ""},
		"an hour where all markers ask":    {"small", marks("h", 1024, 2, 2), marks("h", 1024, 2, 2), 59 * time.Minute, "small/b", engine.Promoted, ""},
		"and no longer":                    {"small", marks("h", 1024, 2, 2), marks("h", 1024, 2, 2), time.Hour, "small/a", engine.PinExpired, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRouter(t, catalog.CheckPrefix)
			to := func(r *engine.Request) { r.Target = c.target }
			r.fails[c.target+"/a"] = true
			r.ask(both(c.first, to))
			clear(r.fails)
			r.now = r.now.Add(c.after)
			turn, served := r.ask(both(c.then, to))
			r.wants(turn, served, c.served, c.want, c.detail)
		})
	}
}

func TestTheMarkedPrefixIsAskedBeforeTheSession(t *testing.T) {
	r := newRouter(t, catalog.CheckPrefix, catalog.CheckDeployment)
	r.fails["small/a"] = true
	r.ask(marks("h", 4096, 1, 0)) // the prefix is at b
	clear(r.fails)
	turn, served := r.ask(session("boat")) // the session is at a
	r.wants(turn, served, "small/a", engine.NoPin, "")
	turn, served = r.ask(both(session("boat"), marks("h", 4096, 1, 0)))
	r.wants(turn, served, "small/b", engine.Promoted, "")
	r.now = r.now.Add(30 * time.Minute) // its own pin has longer than the prefix's
	turn, served = r.ask(both(session("boat"), marks("h", 4096, 1, 0)))
	r.wants(turn, served, "small/b", engine.Promoted, "")
	mine := engine.PrefixKey("default", "group", "h")
	if mine == engine.PrefixKey("other", "group", "h") || !mine.Aside() {
		t.Error("tenants share a prefix, or it is listed as a session's")
	}
}

// A clock that stands still while candidates of several models are tried does not
// hide which of them was chosen last.
func TestTheModelChosenLastIsTheNewestInOneMoment(t *testing.T) {
	r := newRouter(t, catalog.CheckSession)
	moment := r.now
	r.g.Now = func() time.Time { return moment }
	r.fails["small/a"], r.fails["small/b"] = true, true
	r.ask(session("boat"))
	clear(r.fails)
	turn, served := r.ask(session("boat"))
	r.wants(turn, served, "large/a", engine.NoPin, engine.DetailModelPinned)
}
