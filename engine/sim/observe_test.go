package sim

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

const market = `
version: 1
vendors:
  near: {api: [chat], base_url: "https://near.example/v1", credentials: [{id: a, env: A}, {id: b, env: B}], cache: {family: explicit, ttl: 5m, min_prefix: 1024}}
  openai-east: {api: [chat], base_url: "https://east.example/v1", credentials: [{id: k, env: K}], cache: {family: implicit, ttl: 10m, min_prefix: 1024}}
  gone: {api: [chat], base_url: "https://gone.example/v1", credentials: [{id: k, env: K}]}
models:
  acme/wren:
    routes:
      - vendor: near
        model: w
        price: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6, tiers: [{above: 200000, input: 6, output: 22.5, cache_read: 0.6, cache_write: 7.5}]}
      - {vendor: openai-east, model: w, price: {input: 2.5, output: 10, cache_read: 0.25, service_tiers: {flex: {input: 1.25, output: 5, cache_read: 0.125}}}}
      - {vendor: gone, model: w, price: {input: 1, output: 2}}
`

func TestFactOf(t *testing.T) {
	cat, err := catalog.Parse("market.yaml", []byte(market))
	if err != nil {
		t.Fatal(err)
	}
	target, _ := cat.Resolve("acme/wren")
	req := &engine.Request{API: catalog.Chat, Target: "acme/wren", Ignore: []string{"gone"}}
	plan, err := engine.BuildPlan(engine.PlanFacts{Now: start, Request: req, Targets: []catalog.Target{target}, AssumeKeys: true, Prompt: engine.Estimate{Tokens: 9000}})
	if err != nil {
		t.Fatal(err)
	}
	decision := engine.Decide(engine.Facts{Now: start, Plan: plan, Prompt: engine.Estimate{Tokens: 9000}})
	served := plan.Candidates[2]
	turn := engine.Turn{Scope: "policy", Started: start, Plan: plan, Decision: decision, Attempts: []engine.Attempt{
		{Candidate: plan.Candidates[0], Started: start, Failure: engine.FailureTimeout},
		{Candidate: served, Started: after(2), AcceptedAt: after(3), Stage: engine.StageServed, ServedTier: "flex", Quality: pricing.Authoritative,
			Usage: pricing.Usage{Input: 210_000, Output: 10}, ReadUnknown: true},
	}}
	last := &turn.Attempts[1]
	last.Card = served.Route.Price.At(pricing.Terms{Prompt: 210_000, At: last.Started, Tier: "flex"})
	last.Sides = []engine.Side{{Kind: "advice", Usage: pricing.Usage{Input: 1000}, Card: last.Card}}
	last.Cost = last.Card.Cost(last.Usage).Plus(last.Card.Cost(last.Sides[0].Usage))

	f := FactOf(&turn, Request{Thread: 5, Kept: Kept{Known: true, Tokens: 8000}, Markers: 2, Longest: time.Hour,
		Lifetime: func(*catalog.Route) time.Duration { return 24 * time.Hour }})
	if len(f.Offers) != 3 || len(f.Removed) != 1 || len(f.Tries) != 2 || f.Thread != 5 || f.Scope != "policy" || !f.At.Equal(start) || !f.Accepted.Equal(after(3)) {
		t.Fatalf("%+v", f)
	}
	if f.Marks != (Marks{Any: true, Hour: Whole}) || f.Kept.Tokens != 8000 || f.Outcome != engine.NoPin || f.Detail != engine.DetailNoSession || f.Prompt != 9000 {
		t.Errorf("%+v", f)
	}
	near, east := f.Offers[0], f.Offers[2]
	if near.ID == f.Offers[1].ID || !near.ID.SameVendor(f.Offers[1].ID) || near.ID.SameVendor(east.ID) {
		t.Errorf("%x, %x, %x", near.ID, f.Offers[1].ID, east.ID)
	}
	if near.ID != Name("near", plan.Candidates[0].Credential, engine.GroupOperator) || near.Rules != (Rules{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024, Block: 1, Writes: true}) {
		t.Errorf("%+v", near)
	}
	if near.Card.Input.Known() {
		t.Errorf("a tier that the vendor has no price for costs %s", near.Card.Input)
	}
	if east.Rules != (Rules{Family: catalog.Implicit, TTL: 24 * time.Hour, MinPrefix: 1024, Block: 128}) || east.Card.Input.String() != "1.25" {
		t.Errorf("%+v", east)
	}
	if f.Removed[0].Model != "acme/wren" || !f.Removed[0].ID.SameVendor(Name("gone", "k", "")) {
		t.Errorf("%+v", f.Removed)
	}
	if first := f.Tries[0]; first.Offer != 0 || first.Taken || !first.Billed || first.Cost.Known {
		t.Errorf("%+v", first)
	}
	try := f.Tries[1]
	if try.Offer != 2 || !try.Taken || !try.Billed || !try.Silent || !try.Beside.Equal(dec("0.00125")) {
		t.Errorf("%+v", try)
	}
	wants(t, "all of it", try.Cost, "0.2638")

	turn.Attempts[1].ServedTier, turn.Attempts[1].ReadUnknown = "", false
	f = FactOf(&turn, Request{})
	if got := f.Offers[0].Card.Input.String(); got != "6" {
		t.Errorf("a prompt of 210,000 tokens costs %s", got)
	}
	if f.Marks.Any || f.Tries[1].Silent || f.Offers[2].Rules.TTL != 10*time.Minute {
		t.Errorf("%+v", f)
	}
	failed := turn
	failed.Decision.Models = append(failed.Decision.Models, engine.Finding{Outcome: engine.SkippedHealthDown})
	failed.Attempts = []engine.Attempt{turn.Attempts[0], {Candidate: served, Finding: 1}}
	if f = FactOf(&failed, Request{}); f.Outcome != engine.SkippedHealthDown || f.Tries[1].Taken {
		t.Errorf("of a turn that nobody took: %+v", f)
	}
	turn.Attempts[1].Candidate.Credential = "another"
	if f = FactOf(&turn, Request{}); f.Tries[1].Offer != -1 {
		t.Errorf("%+v", f.Tries[1])
	}
	var s Session
	res := s.Step(&f)
	if res.Saving.Known || res.Cost.Known {
		t.Errorf("%+v", res)
	}
}

// A vendor that has two prices for reads caches what is marked and, at the other
// price, what is not.
func TestARouteWithTwoReadPricesCachesUnmarkedPromptsToo(t *testing.T) {
	c, err := catalog.Parse("catalog.yaml", []byte(`version: 1
vendors: {quay: {api: [chat], base_url: https://quay.example/v1, cache: {family: explicit, ttl: 5m, min_prefix: 256}}}
models:
  plover: {routes: [{vendor: quay, model: plover, price: {input: 1, output: 3, cache_read: 0.10, cache_read_implicit: 0.20, cache_write: 1.25}}]}
  dunlin: {routes: [{vendor: quay, model: dunlin, price: {input: 1, output: 3, cache_read: 0.10, cache_write: 1.25}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		model   int
		markers int
		family  catalog.Family
		writes  bool
		read    string
	}{
		{0, 1, catalog.Explicit, true, "0.1"},
		{0, 0, catalog.Implicit, false, "0.2"},
		{1, 0, catalog.Explicit, true, "0.1"},
	} {
		turn := engine.Turn{Started: start}
		turn.Plan.Candidates = []engine.Candidate{{Route: c.Models[x.model].Routes[0]}}
		o := FactOf(&turn, Request{Markers: x.markers}).Offers[0]
		if o.Rules.Family != x.family || o.Rules.Writes != x.writes || o.Card.CacheRead.String() != x.read {
			t.Errorf("%s with %d markers: %+v at %s", c.Models[x.model].Name, x.markers, o.Rules, o.Card.CacheRead)
		}
	}
}
