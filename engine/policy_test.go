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

// yard has a vendor whose reads are dearer than the other's input, and prices
// that change at noon.
const yard = `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k, env: A}], cache: {family: implicit, ttl: 5m}}
  b: {api: [chat], base_url: "https://b.example/v1", credentials: [{id: k, env: B}], cache: {family: implicit, ttl: 5m}}
models:
  m:
    routes:
      - {vendor: a, model: m, price: {input: 1, output: 1, cache_read: 0.1}}
      - {vendor: b, model: m, price: {input: 4, output: 1, cache_read: 2}}
  tiered:
    routes:
      - {vendor: a, model: t, price: {input: 3, output: 15, cache_read: 0.3, service_tiers: {flex: {input: 1, output: 5, cache_read: 0.1}}}}
      - {vendor: b, model: t, price: {input: 2, output: 10, cache_read: 0.2}}
  noon:
    routes:
      - {vendor: a, model: h, price: {input: 1, output: 1, windows: [{from: "12:00", to: "18:00", zone: UTC, input: 10, output: 10}]}}
      - {vendor: b, model: h, price: {input: 2, output: 2, windows: [{from: "12:00", to: "18:00", zone: UTC, input: 20, output: 20}]}}
policies:
  own: {models: [m], affinity: {gate: own_price}}
  free: {models: [m], affinity: {gate: "off"}}
  none: {models: [m], affinity: {enabled: false}}
  ordered: {models: [tiered], order: [a], affinity: {gate: "off", precedence: order}}
`

func yardGateway(t *testing.T, now func() time.Time) *engine.Gateway {
	c := parse(t, yard)
	return &engine.Gateway{
		Catalog: func() *catalog.Catalog { return c },
		Pins:    inmem.New(inmem.Options{Now: now}),
		Health:  engine.NewHealth(),
		Now:     now,
	}
}

func ask(target string, change func(*engine.Request)) engine.Request {
	r := engine.Request{Tenant: "default", API: catalog.Chat, Target: target, BodyID: "boat", TextBytes: 8000}
	if change != nil {
		change(&r)
	}
	return r
}

// The policy's gate is asked, not the gateway's.
func TestAPolicysGateIsTheOneAsked(t *testing.T) {
	for target, want := range map[string]struct {
		outcome engine.Outcome
		gate    catalog.Gate
	}{
		"m":    {engine.SkippedNotCheaper, catalog.GateCacheRead},
		"own":  {engine.Promoted, catalog.GateOwnPrice},
		"free": {engine.Promoted, catalog.GateOff},
	} {
		g := yardGateway(t, nil)
		serveAt(t, g, "b", ask(target, nil))
		f := serveAt(t, g, "b", ask(target, nil)).Decision.Models[0]
		if f.Outcome != want.outcome || f.Gate != want.gate {
			t.Errorf("%s: %s by %s, want %s by %s", target, f.Outcome, f.Gate, want.outcome, want.gate)
		}
	}
}

func TestAPolicyMaySwitchAffinityOff(t *testing.T) {
	g := yardGateway(t, nil)
	turn := serveAt(t, g, "b", ask("none", nil))
	if f := turn.Decision.Models[0]; f.Outcome != engine.SkippedModeOff || turn.Session.ID != "boat" {
		t.Errorf("%s in session %q", f.Outcome, turn.Session.ID)
	}
	if r, _ := g.Pins.Recall(context.Background(), turn.Session.Key("none")); len(r.Models) != 0 {
		t.Errorf("pinned all the same: %+v", r)
	}
}

// The plan's prices are those of the service tier the request asks for.
func TestThePlanUsesTheServiceTierAskedFor(t *testing.T) {
	for tier, first := range map[string]string{"": "b", "flex": "a", "default": "b"} {
		turn, err := yardGateway(t, nil).Decide(context.Background(), ask("tiered", func(r *engine.Request) { r.Sort, r.Service = catalog.ByPrice, tier }))
		if err != nil {
			t.Fatal(err)
		}
		if got := turn.Plan.Candidates[0].Route.Vendor.Name; got != first {
			t.Errorf("tier %q: %s is cheapest, want %s", tier, got, first)
		}
	}
}

// A request's sort replaces its policy's order, and what that has precedence over.
func TestASortOfTheRequestReplacesThePolicysOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Request)
		want   engine.Outcome
	}{
		{"the policy's order goes first", nil, engine.SkippedOrder},
		{"the request's own order does too", func(r *engine.Request) { r.Order = []string{"a"} }, engine.SkippedOrder},
		{"a sort is no order", func(r *engine.Request) { r.Sort, r.Service = catalog.ByPrice, "flex" }, engine.Promoted},
	} {
		g := yardGateway(t, nil)
		serveAt(t, g, "b", ask("ordered", c.change))
		if f := serveAt(t, g, "b", ask("ordered", c.change)).Decision.Models[0]; f.Outcome != c.want {
			t.Errorf("%s: %s, want %s", c.name, f.Outcome, c.want)
		}
	}
}

// Prices that change while a turn is served: each attempt costs what held when it
// began, not when the turn did nor when it ended.
func TestAnAttemptCostsWhatHeldWhenItBegan(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		start time.Time
		times []time.Duration // how long each attempt takes; all but the last are refused
		want  string          // of 1,000,000 tokens
	}{
		{"begun and ended before noon", noon.Add(-time.Minute), []time.Duration{time.Second}, "1"},
		{"ended after noon", noon.Add(-time.Second), []time.Duration{2 * time.Second}, "1"},
		{"begun at noon", noon, []time.Duration{time.Second}, "10"},
		{"the second attempt begun after noon", noon.Add(-time.Second), []time.Duration{2 * time.Second, time.Second}, "20"},
		{"the second attempt begun before noon", noon.Add(-3 * time.Second), []time.Duration{time.Second, time.Minute}, "2"},
	} {
		now := c.start
		g := yardGateway(t, func() time.Time { return now })
		turn, err := g.Serve(context.Background(), ask("noon", nil), func(_ context.Context, try engine.Try) engine.Attempt {
			if try.Number < len(c.times) {
				now = now.Add(c.times[try.Number-1])
				return engine.Attempt{Failure: engine.FailureServer, Status: 503}
			}
			try.Accepted()
			now = now.Add(c.times[try.Number-1])
			return engine.Attempt{Stage: engine.StageServed, Committed: true, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 1_000_000}}
		})
		if err != nil {
			t.Fatal(err)
		}
		if last, _ := turn.Last(); last.Cost.Total.String() != c.want {
			t.Errorf("%s: costs %s, want %s", c.name, last.Cost.Total, c.want)
		}
	}
}
