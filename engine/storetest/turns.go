package storetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Market is what random turns are made of: some models at some vendors, with
// prices that are known, partly known and not known.
type Market struct {
	Models  []*catalog.Model
	Tenants []string
	// Sessions is how many of them a tenant has; 0 means 20.
	Sessions int
}

func rate(text string) pricing.Rate {
	if text == "" {
		return pricing.Rate{}
	}
	return pricing.PerMillion(decimal.RequireFromString(text))
}

func card(input, output, read, write string) pricing.Card {
	return pricing.Card{Input: rate(input), Output: rate(output), CacheRead: rate(read), CacheWrite5m: rate(write)}
}

// NewMarket is a market of three models at five vendors and of three tenants.
func NewMarket() *Market {
	vendors := map[string]*catalog.Vendor{}
	m := &Market{Tenants: []string{"t1", "t1|", "other team"}}
	for _, model := range []struct {
		name   string
		routes map[string]pricing.Card
		order  []string
	}{
		{"anthropic/claude-sonnet-5", map[string]pricing.Card{
			"anthropic": card("3", "15", "0.30", "3.75"),
			"bedrock":   card("3.3", "16.5", "0.33", "4.125"),
			"vertex":    card("3", "15", "", ""),
		}, []string{"anthropic", "bedrock", "vertex"}},
		{"deepseek/v4", map[string]pricing.Card{
			"deepseek": card("0.27", "1.10", "0.000000000000000007", ""), // finer than an integer of billionths
			"together": card("", "", "", ""),
		}, []string{"deepseek", "together"}},
		{"openai/gpt-5.6", map[string]pricing.Card{"openai": card("1.25", "10", "0.125", "0")}, []string{"openai"}},
	} {
		made := &catalog.Model{Name: model.name}
		for i, vendor := range model.order {
			if vendors[vendor] == nil {
				vendors[vendor] = &catalog.Vendor{Name: vendor}
			}
			band := pricing.Band{Card: model.routes[vendor]}
			if vendor == "anthropic" {
				band.Tiers = []pricing.Tier{{Above: 200_000, Card: card("6", "22.50", "0.60", "7.50")}}
			}
			made.Routes = append(made.Routes, &catalog.Route{
				Model: made, Vendor: vendors[vendor], Index: i, UpstreamModel: vendor + "-" + model.name,
				Price: pricing.Price{{Band: band, ServiceTiers: map[string]pricing.Band{"flex": {Card: card("0.5", "5", "", "")}}}},
			})
		}
		m.Models = append(m.Models, made)
	}
	return m
}

// Turn is a random turn that began at this time. Every field may have any of its
// values; failures, attempts that were billed and then failed, fallbacks to another
// model, missing usage and turns without a session are among them.
func (m *Market) Turn(r *rand.Rand, n int, began time.Time) engine.Turn {
	model := m.Models[r.IntN(len(m.Models))]
	sessions := m.Sessions
	if sessions == 0 {
		sessions = 20
	}
	t := engine.Turn{
		ID:      fmt.Sprintf("turn-%d", n),
		Tenant:  m.Tenants[r.IntN(len(m.Tenants))],
		API:     []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}[r.IntN(3)],
		Stream:  r.IntN(2) == 0,
		Target:  model.Name,
		Scope:   []string{"", "support-bot"}[r.IntN(2)],
		Catalog: "sha256:5f1c",
		Started: began,
		Took:    time.Duration(r.IntN(20_000)) * time.Millisecond,
	}
	t.Session = engine.Session{Tenant: t.Tenant, Client: []string{"", "codex", "claude-code"}[r.IntN(3)]}
	if r.IntN(8) > 0 {
		t.Session.Class = []engine.Class{engine.ClassExplicit, engine.ClassAgent, engine.ClassFingerprint}[r.IntN(3)]
		t.Session.ID = fmt.Sprintf("session-%d", r.IntN(sessions))
		t.Session.Parent = []string{"", "parent"}[r.IntN(2)]
	}
	t.Trial, t.Holdout = t.Session.Found(), sample.Holds(t.Session)
	planned(r, &t, model)
	if next := m.Models[r.IntN(len(m.Models))]; next != model && r.IntN(3) == 0 {
		planned(r, &t, next)
	}
	for range r.IntN(3) {
		t.Attempts = append(t.Attempts, attempt(r, &t, false))
	}
	if r.IntN(10) > 0 {
		t.Attempts = append(t.Attempts, attempt(r, &t, true))
	}
	return t
}

// sample is who is held out.
var sample, _ = engine.NewHoldout(decimal.New(3, -1))

// planned puts a model behind those of the turn's plan.
func planned(r *rand.Rand, t *engine.Turn, model *catalog.Model) {
	from := len(t.Plan.Candidates)
	for i, route := range model.Routes {
		t.Plan.Candidates = append(t.Plan.Candidates, engine.Candidate{
			Route: route, Credential: fmt.Sprint("account-", i), Card: route.Price[0].Card, Down: r.IntN(9) == 0,
			Group: []engine.Group{engine.GroupOperator, engine.GroupClient}[r.IntN(2)],
		})
	}
	t.Plan.Models = append(t.Plan.Models, engine.ModelPlan{Model: model, From: from, To: len(t.Plan.Candidates)})
	t.Decision.Models = append(t.Decision.Models, finding(r, model))
}

func finding(r *rand.Rand, model *catalog.Model) engine.Finding {
	ladder := engine.Ladder()
	f := engine.Finding{
		Model:   model,
		Outcome: ladder[r.IntN(len(ladder))],
		Detail:  []engine.Detail{"", engine.DetailSingleRoute, engine.DetailNotBelowRivalInput}[r.IntN(3)],
		Prompt:  engine.Estimate{Tokens: r.Int64N(1 << 20), Basis: engine.BasisReported},
	}
	if r.IntN(2) == 0 {
		f.Pinned, f.Gate = model.Routes[0].Vendor.Name, catalog.GateCacheRead
		f.Displaced = model.Routes[len(model.Routes)-1].Vendor.Name
		f.Verdict = pricing.ReadPays(model.Routes[0].Price[0].Card, []pricing.Rival{
			{Vendor: f.Displaced, Input: model.Routes[len(model.Routes)-1].Price[0].Card.Input},
			{Vendor: "one of no known price"},
		})
	}
	return f
}

// attempt is a try of a random candidate; last may be one that served, another one
// that was accepted and failed.
func attempt(r *rand.Rand, t *engine.Turn, last bool) engine.Attempt {
	at := r.IntN(len(t.Plan.Candidates))
	c := t.Plan.Candidates[at]
	a := engine.Attempt{
		Candidate: c, Started: t.Started.Add(time.Duration(r.IntN(100)) * time.Millisecond),
		Stage: engine.StageRefused, Failure: engine.FailureServer, Status: 503, Took: time.Duration(r.IntN(1e9)),
		Reply: &engine.Reply{Status: 503, Body: []byte(Secret)}, Cause: Secret,
	}
	for i := range t.Plan.Models {
		if t.Plan.Models[i].From <= at && at < t.Plan.Models[i].To {
			a.Finding = i
		}
	}
	if !last && r.IntN(3) > 0 {
		return a
	}
	a.Reply, a.Failure, a.Status, a.AcceptedAt = nil, engine.FailureNone, 200, a.Started.Add(time.Millisecond)
	a.FirstByte, a.Committed = time.Duration(r.IntN(1e9)), true
	a.Stage = []engine.Stage{engine.StageServed, engine.StageServed, engine.StageServed, engine.StageBroken, engine.StageAbandoned}[r.IntN(5)]
	if !last {
		a.Stage, a.Failure, a.Committed = engine.StageBroken, engine.FailureStream, false
	}
	a.Quality = []pricing.Quality{
		pricing.Authoritative, pricing.Authoritative, pricing.Derived, pricing.Partial, pricing.Invalid, pricing.Missing,
	}[r.IntN(6)]
	a.MarkersCut = max(0, r.IntN(8)-4)
	a.ServedModel, a.ServedTier = c.Route.UpstreamModel, []string{"", "default", "flex", "priority"}[r.IntN(4)]
	if a.Quality != pricing.Missing {
		a.Usage = pricing.Usage{Input: r.Int64N(300_000), Output: r.Int64N(9000)}
		a.Usage.CacheRead = []int64{0, r.Int64N(200_000)}[r.IntN(2)]
		a.Usage.CacheWrite5m = []int64{0, r.Int64N(9000)}[r.IntN(2)]
		a.Usage.CacheWrite1h = []int64{0, r.Int64N(900)}[r.IntN(2)]
		a.Usage.Reasoning = a.Usage.Output / 3
	}
	if !a.Quality.Complete() {
		return a
	}
	a.ReadUnknown = a.Usage.CacheRead == 0 && r.IntN(3) == 0
	a.Card = c.Route.Price.At(pricing.Terms{Prompt: a.Usage.Prompt(), At: a.Started, Tier: a.ServedTier})
	switch r.IntN(8) {
	case 0:
		a.Card.Request = pricing.PerMillion(decimal.NewFromInt(r.Int64N(9000)))
		a.Speed, a.Region, a.Implicit, a.TierAssumed, a.Priced = "fast", "us", true, true, "another/model"
	case 1:
		half := a.Usage.Prompt() / 2
		a.Card.Parts = []pricing.Part{{Tokens: half, Card: a.Card}, {Tokens: a.Usage.Prompt() - half, Card: card("4", "", "0.4", "5")}}
	case 2:
		a.Sides = []engine.Side{
			{Kind: "compaction", Usage: pricing.Usage{Input: r.Int64N(9000), Output: 40}, Card: a.Card},
			{Kind: "advisor", Model: "another-1", Usage: pricing.Usage{CacheRead: r.Int64N(9000)}, Card: card("4", "9", "0.4", "5")},
		}
	case 3:
		a.Charged = pricing.Charge{Known: true, Amount: decimal.New(r.Int64N(1e9), -10)}
		a.RawUsage = []byte(`{"prompt_tokens":12,"cost":0.1}`)
	}
	a.Cost = a.Card.Cost(a.Usage)
	for i := range a.Sides {
		a.Cost = a.Cost.Plus(a.Sides[i].Card.Cost(a.Sides[i].Usage))
	}
	return a
}

// Secret stands in random turns where a vendor's own words do: no store keeps it.
const Secret = "what the prompt said"
