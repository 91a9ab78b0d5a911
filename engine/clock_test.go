package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// A machine that starts with a wrong clock remembers acceptances of years to come. Once
// the clock is right they are no longer warm, and sessions are pinned anew.
func TestAClockThatIsSetBackEndsThePinsOfItsFuture(t *testing.T) {
	c, err := catalog.ParseKeys("test.yaml", []byte(`
version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", credentials: [{id: main, env: K}]}
  quay: {api: [chat], base_url: "https://quay.example/v1", credentials: [{id: main, env: K}]}
models:
  m: {routes: [{vendor: pier, model: x, price: {input: 1, output: 1}}, {vendor: quay, model: x, price: {input: 1, output: 1}}]}
`), func(catalog.Credential) (string, bool) { return "key", true })
	if err != nil {
		t.Fatal(err)
	}
	right := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := right.AddDate(10, 0, 0)
	clock := func() time.Time { return now }
	g := &engine.Gateway{
		Catalog: func() *catalog.Catalog { return c }, Gate: catalog.GateOff, Now: clock,
		Pins: inmem.New(inmem.Options{Now: clock}), Sessions: engine.NewSessionRates(func(string) int { return 2 }),
	}
	ask := func(session string, order ...string) (outcome engine.Outcome, vendor string) {
		t.Helper()
		turn, err := g.Serve(t.Context(), engine.Request{API: catalog.Chat, Tenant: "t", Target: "m", BodyID: session, Order: order},
			func(_ context.Context, try engine.Try) engine.Attempt {
				try.Accepted()
				return engine.Attempt{Stage: engine.StageServed, Status: 200}
			})
		if err != nil {
			t.Fatal(err)
		}
		return turn.Decision.Models[0].Outcome, turn.Attempts[0].Candidate.Route.Vendor.Name
	}
	expect := func(session string, order string, outcome engine.Outcome, vendor string) {
		t.Helper()
		if o, v := ask(session, order); o != outcome || v != vendor {
			t.Errorf("%s at %v: %s at %s, want %s at %s", session, now, o, v, outcome, vendor)
		}
	}
	expect("ebb", "pier", engine.NoPin, "pier")
	expect("neap", "pier", engine.NoPin, "pier") // and with it the minute's new sessions are used up
	now = right
	expect("ebb", "quay", engine.NoPin, "quay") // there is no room yet
	now = now.Add(time.Minute)
	expect("ebb", "quay", engine.NoPin, "quay") // and now there is
	now = now.Add(time.Second)
	expect("ebb", "pier", engine.Promoted, "quay")
}
