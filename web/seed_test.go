package web_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// now is when every page of these tests is made.
var now = time.Date(2026, 11, 29, 21, 4, 30, 0, time.UTC)

// prices is the catalog the seeded turns were billed by.
func prices(t testing.TB) *catalog.Catalog {
	t.Helper()
	text, err := os.ReadFile("testdata/catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse("catalog.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// story makes turns at the catalog's prices.
type story struct {
	catalog *catalog.Catalog
	turns   shelf
}

// scene is one turn in short.
type scene struct {
	session string
	class   engine.Class
	client  string
	ago     time.Duration
	model   string
	vendor  string
	outcome engine.Outcome
	detail  engine.Detail
	pinned  string
	moved   string // displaced
	usage   pricing.Usage
	quality pricing.Quality // zero: authoritative
	took    time.Duration
	before  []engine.BookedAttempt
}

func (s *story) route(model, vendor string) *catalog.Route {
	target, ok := s.catalog.Resolve(model)
	if !ok {
		panic("no model " + model)
	}
	for _, r := range target.Models[0].Routes {
		if r.Vendor.Name == vendor {
			return r
		}
	}
	panic("no route " + vendor)
}

// tell books a turn.
func (s *story) tell(x scene) *engine.Booked {
	if x.took == 0 {
		x.took = 1940 * time.Millisecond
	}
	if x.quality == "" {
		x.quality = pricing.Authoritative
	}
	if x.quality == "none" {
		x.quality = pricing.Missing
	}
	started := now.Add(-x.ago)
	target, _ := s.catalog.Resolve(x.model)
	b := engine.Booked{
		ID: fmt.Sprintf("turn-%04d", len(s.turns)+1), State: engine.Settled, Tenant: "default", Client: x.client, API: catalog.Messages, Stream: true,
		Session: x.session, Class: x.class, Target: x.model, Catalog: s.catalog.Digest, Started: started, Took: x.took, Model: x.model,
		Outcome: x.outcome, Detail: x.detail, Pinned: x.pinned, Displaced: x.moved, Gate: catalog.GateCacheRead,
		Prompt: engine.Estimate{Tokens: x.usage.Prompt() + 37, Basis: "reported+new_text"},
	}
	var rivals []pricing.Rival
	for _, r := range target.Models[0].Routes {
		b.Order = append(b.Order, engine.BookedCandidate{Model: x.model, Vendor: r.Vendor.Name, Credential: "main", Group: engine.GroupOperator})
		if r.Vendor.Name != x.pinned {
			rivals = append(rivals, pricing.Rival{Vendor: r.Vendor.Name, Input: r.Price.At(pricing.Terms{Prompt: x.usage.Prompt(), At: started}).Input})
		}
	}
	if x.pinned != "" {
		own := s.route(x.model, x.pinned).Price.At(pricing.Terms{Prompt: x.usage.Prompt(), At: started})
		b.Verdict = pricing.ReadPays(own, rivals)
	}
	if x.moved != "" && b.Order[0].Vendor != x.moved {
		b.Order[0], b.Order[1] = b.Order[1], b.Order[0]
	}
	b.Attempts = x.before
	last := engine.BookedAttempt{
		Model: x.model, Vendor: x.vendor, Credential: "main", Group: engine.GroupOperator, Stage: engine.StageServed, Status: 200, Started: started.Add(time.Duration(len(x.before)) * 210 * time.Millisecond),
		Accepted: true, FirstByte: 412 * time.Millisecond, Took: x.took, Usage: x.usage, Quality: x.quality, ServedModel: s.route(x.model, x.vendor).UpstreamModel,
	}
	if last.Quality.Complete() {
		last.Card = s.route(x.model, x.vendor).Price.At(pricing.Terms{Prompt: x.usage.Prompt(), At: started})
	}
	last.Price()
	b.Attempts = append(b.Attempts, last)
	s.turns = append(s.turns, b)
	return &s.turns[len(s.turns)-1]
}

const (
	sonnet = "anthropic/claude-sonnet-5"
	flash  = "deepseek/v4-flash"
	gpt    = "openai/gpt-5.6"
)

// refused is an attempt that a vendor turned down.
func refused(model, vendor string, failure engine.Failure, status int, at time.Time) engine.BookedAttempt {
	return engine.BookedAttempt{Model: model, Vendor: vendor, Credential: "main", Group: engine.GroupOperator, Failure: failure, Status: status, Started: at, Took: 204 * time.Millisecond}
}

// chapter is one agent's session: a prompt that grows, read from the vendor's
// cache from the second turn on.
func (s *story) chapter(id string, class engine.Class, client, model, vendor string, ago, gap time.Duration, turns int, prefix int64) {
	size := prefix
	for i := range turns {
		x := scene{session: id, class: class, client: client, ago: ago - time.Duration(i)*gap, model: model, vendor: vendor, pinned: vendor, outcome: engine.Confirmed,
			usage: pricing.Usage{Input: 20, CacheRead: size, Output: 260 + int64(i*37%400)}}
		fresh := 900 + int64(i*331%1400)
		if model == sonnet {
			x.usage.CacheWrite5m = fresh
		} else {
			x.usage.Input = fresh
		}
		if vendor == "bedrock" {
			x.outcome, x.moved = engine.Promoted, "anthropic"
		}
		if i == 0 {
			x.outcome, x.pinned, x.moved, x.usage.CacheRead = engine.NoPin, "", "", 0
			if model == sonnet {
				x.usage.CacheWrite5m = size
			} else {
				x.usage.Input = size
			}
		} else {
			size += fresh
		}
		s.tell(x)
	}
}

// seeded is a day of a small team's turns with every kind of figure in it.
func seeded(t testing.TB) (shelf, *catalog.Catalog) {
	s := &story{catalog: prices(t)}
	for hour := 23; hour >= 1; hour-- {
		if hour == 15 || hour == 16 {
			continue // nobody is awake
		}
		ago := time.Duration(hour)*time.Hour + 9*time.Minute
		vendor := "anthropic"
		if hour%5 == 2 {
			vendor = "bedrock" // anthropic was cooling when these began
		}
		s.chapter(fmt.Sprintf("build-%02d", hour), engine.ClassExplicit, "ci", sonnet, vendor, ago, 40*time.Second, 3+hour%7, 18_400+int64(hour)*731)
		if hour%3 == 0 {
			s.chapter(fmt.Sprintf("a4%014x9be1", hour*7919), engine.ClassFingerprint, "", gpt, "openai", ago-4*time.Minute, 3*time.Minute, 4, 6_100)
		}
		if hour%4 == 0 {
			s.chapter(fmt.Sprintf("review-%02d", hour), engine.ClassAgent, "claude-code", flash, "deepseek", ago-2*time.Minute, 50*time.Second, 6, 31_000)
		}
	}
	s.chapter("nightly-docs", engine.ClassExplicit, "ci", sonnet, "anthropic", 29*time.Minute, 27*time.Second, 64, 22_000)
	id := "0191f3b2-77aa-7c11-9d44-52b6f2a3c9e0"
	turns := 0
	turn := func(ago time.Duration, x scene) *engine.Booked {
		x.session, x.class, x.client, x.ago = id, engine.ClassAgent, "claude-code", ago
		if x.model == "" {
			x.model = sonnet
		}
		b := s.tell(x)
		turns++
		b.ID = fmt.Sprintf("agent-%02d", turns)
		return b
	}
	start := now.Add(-26 * time.Minute)
	turn(26*time.Minute, scene{vendor: "bedrock", outcome: engine.NoPin, usage: pricing.Usage{Input: 12, CacheWrite5m: 40_900, Output: 512}, took: 3100 * time.Millisecond,
		before: []engine.BookedAttempt{refused(sonnet, "anthropic", engine.FailureThrottled, 429, start)}})
	turn(25*time.Minute, scene{vendor: "bedrock", outcome: engine.Promoted, pinned: "bedrock", moved: "anthropic", usage: pricing.Usage{Input: 20, CacheRead: 40_900, CacheWrite5m: 1_280, Output: 410}})
	turn(24*time.Minute, scene{vendor: "bedrock", outcome: engine.Promoted, pinned: "bedrock", moved: "anthropic", usage: pricing.Usage{Input: 18, CacheRead: 42_180, CacheWrite5m: 640, Output: 266}})
	turn(16*time.Minute, scene{vendor: "anthropic", outcome: engine.PinExpired, pinned: "bedrock", usage: pricing.Usage{Input: 22, CacheWrite5m: 43_400, Output: 390}, took: 2840 * time.Millisecond})
	beside := turn(15*time.Minute, scene{vendor: "anthropic", outcome: engine.Confirmed, pinned: "anthropic", usage: pricing.Usage{Input: 22, CacheRead: 43_400, CacheWrite5m: 910, Output: 777}})
	beside.Attempts[0].Sides = []engine.BookedSide{{Kind: "advisor", Model: "gpt-5.6", Usage: pricing.Usage{Input: 900, Output: 40}, Card: s.route(gpt, "openai").Price.At(pricing.Terms{At: start})}}
	beside.Attempts[0].RawUsage, beside.Attempts[0].TierAssumed = []byte(`{"input_tokens":22,"cache_read_input_tokens":43400}`), true
	beside.Attempts[0].Price()
	beside.Attempts[0].Charged = pricing.Charge{Amount: decimal.RequireFromString("0.031"), Known: true}
	down := turn(13*time.Minute, scene{vendor: "bedrock", outcome: engine.SkippedHealthDown, pinned: "anthropic", usage: pricing.Usage{Input: 25, CacheWrite5m: 45_100, Output: 301}})
	down.Order[0].Down = true
	turn(12*time.Minute, scene{model: flash, vendor: "budgetx", outcome: engine.SkippedPriceUnknown, pinned: "budgetx", usage: pricing.Usage{Input: 9_000, CacheRead: 6_000, Output: 64}})
	turn(11*time.Minute, scene{model: gpt, vendor: "openai", outcome: engine.NoPin, detail: engine.DetailModelChanged, quality: "none", took: 620 * time.Millisecond})
	cut := turn(10*time.Minute, scene{vendor: "bedrock", outcome: engine.Confirmed, pinned: "bedrock", quality: pricing.Partial, usage: pricing.Usage{Input: 20, CacheRead: 45_100, Output: 12}})
	cut.Attempts[0].Stage, cut.Attempts[0].Failure = engine.StageAbandoned, engine.FailureClientLeft
	turn(4*time.Minute, scene{model: flash, vendor: "deepseek", outcome: engine.SkippedNotCheaper, detail: engine.DetailNotBelowRivalInput, pinned: "deepseek", usage: pricing.Usage{Input: 15_200, Output: 140}})
	open := turn(20*time.Second, scene{vendor: "anthropic", outcome: engine.NoPin})
	open.State, open.Took = engine.Unsettled, 0
	open.Attempts[0] = engine.BookedAttempt{Model: sonnet, Vendor: "anthropic", Credential: "main", Group: engine.GroupOperator, Stage: engine.StageBegun, Started: open.Started}
	s.turns.judge()
	return s.turns, s.catalog
}
