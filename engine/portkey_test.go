package engine_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// Two targets, one of which is to have three times the traffic of the other.
const weighedTargets = `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k, env: A}]}
  b: {api: [chat], base_url: "https://b.example/v1", credentials: [{id: k, env: B}]}
models:
  m: {routes: [{vendor: a, model: m}, {vendor: b, model: m}]}
policies:
  shared: {models: [m], sort: weighted, weights: {a: 1, b: 3}}
`

func TestPortkeysSessionsStickToATargetDrawnByWeight(t *testing.T) {
	c, now, turns := parse(t, weighedTargets), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), uint64(0)
	clock := func() time.Time { return now }
	profile, err := engine.ProfileOf(catalog.ProfileSettings{Profile: catalog.Set(catalog.ProfilePortkey), Sticky: catalog.StickySettings{
		Enabled: catalog.Set(true), HashFields: []string{"metadata.user", "metadata.app"}, TTL: catalog.Set(10 * time.Minute)}})
	if err != nil {
		t.Fatal(err)
	}
	g := &engine.Gateway{Catalog: func() *catalog.Catalog { return c }, Pins: inmem.New(inmem.Options{Now: clock}), Profile: profile, Now: clock,
		TurnID: func() (string, uint64) { turns++; return strconv.FormatUint(turns, 10), turns }}
	ask := func(user string) (vendor string, outcome engine.Outcome) {
		turn, err := g.Serve(context.Background(), engine.Request{Tenant: "default", API: catalog.Chat, Target: "shared",
			Field: func(path string) (string, bool) { return user, path == "metadata.user" && user != "" }}, serves)
		if err != nil {
			t.Fatal(err)
		}
		return turn.Attempts[0].Candidate.Route.Vendor.Name, turn.Decision.Models[0].Outcome
	}
	const users = 400
	first, at := map[string]int{}, map[string]string{}
	for i := range users {
		user := strconv.Itoa(i)
		at[user], _ = ask(user)
		first[at[user]]++
	}
	if first["a"] < users/6 || first["a"] > users/3 {
		t.Errorf("of %d users %d went to a, whose weight is a quarter", users, first["a"])
	}
	now = now.Add(9 * time.Minute)
	for user, vendor := range at {
		if again, outcome := ask(user); again != vendor || outcome != engine.Promoted && outcome != engine.Confirmed {
			t.Fatalf("user %s was at %s and comes to %s, %s", user, vendor, again, outcome)
		}
	}
	now = now.Add(10 * time.Minute)
	moved := 0
	for user, vendor := range at {
		again, outcome := ask(user)
		if outcome != engine.PinExpired {
			t.Fatalf("user %s after the ttl: %s", user, outcome)
		}
		if again != vendor {
			moved++
		}
	}
	if moved == 0 {
		t.Error("nobody was drawn anew")
	}
	if _, outcome := ask(""); outcome != engine.NoPin {
		t.Errorf("without any field it is %s", outcome)
	}
}
