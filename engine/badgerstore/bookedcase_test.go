package badgerstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/pricing"
)

// till is a gateway that books what it is told was used.
type till struct {
	t       *testing.T
	catalog *catalog.Catalog
	ledger  *badgerstore.Ledger
	now     time.Time
}

func newTill(t *testing.T, l *badgerstore.Ledger, text string) *till {
	t.Helper()
	c, err := catalog.Parse("till.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &till{t: t, catalog: c, ledger: l, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

// turn serves model m with these attempts, one after the other, and books it.
func (k *till) turn(attempts ...engine.Attempt) engine.Turn {
	k.t.Helper()
	g := engine.Gateway{Catalog: func() *catalog.Catalog { return k.catalog }, Ledger: k.ledger, Now: func() time.Time { return k.now }}
	turn, err := g.Serve(k.t.Context(), engine.Request{Tenant: catalog.DefaultTenant, API: catalog.Chat, Target: "m", BodyID: "skiff"}, func(_ context.Context, try engine.Try) engine.Attempt {
		try.Accepted()
		return attempts[try.Number-1]
	})
	if err != nil || len(turn.Attempts) != len(attempts) {
		k.t.Fatalf("%d attempts, %v", len(turn.Attempts), err)
	}
	return turn
}

func (k *till) total() engine.Sums {
	k.t.Helper()
	flush(k.t, k.ledger)
	o, err := k.ledger.Overview(k.t.Context(), engine.Query{}, engine.Day)
	if err != nil {
		k.t.Fatal(err)
	}
	return o.Total
}

func (k *till) kept(turn engine.Turn) engine.Booked {
	k.t.Helper()
	flush(k.t, k.ledger)
	b, found, err := k.ledger.Turn(k.t.Context(), catalog.DefaultTenant, turn.ID)
	if err != nil || !found {
		k.t.Fatalf("not on record: %v", err)
	}
	return b
}

func served(u pricing.Usage) engine.Attempt {
	return engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true, Quality: pricing.Authoritative, Usage: u}
}

const soldAt = `
version: 1
vendors:
  creek: {api: [chat], base_url: "https://creek.example/v1", cache: {family: implicit, ttl: 10m}}
  delta: {api: [chat], base_url: "https://delta.example/v1", cache: {family: implicit, ttl: 10m}}
models:
  m:
    routes:
      - {vendor: creek, model: m, price: PRICE}
      - {vendor: delta, model: m, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}}
`

// sold is the catalog with creek's price.
func sold(price string) string { return strings.Replace(soldAt, "PRICE", price, 1) }

var forEver = badgerstore.LedgerOptions{Retention: -1, Minutes: -1, Hours: -1, Reserve: -1, Wait: time.Minute}

// What was booked keeps its price when the catalog's changes, and over a restart.
func TestAChangeOfPriceTouchesNoRowOfThePast(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, forEver)
	k := newTill(t, l, sold("{input: 5, output: 1}"))
	k.now = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	first := k.turn(served(pricing.Usage{Input: 1_000_000}))
	if total := k.total(); total.Cost.String() != "5" {
		t.Errorf("before the change: %s", total.Cost)
	}
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	k = newTill(t, openLedger(t, dir, forEver), sold("[{valid_to: 2026-08-21, input: 5, output: 1}, {valid_from: 2026-08-21, input: 4, output: 1}]"))
	if b := k.kept(first); b.Attempts[0].Cost.Total.String() != "5" || b.Attempts[0].Card.Input.String() != "5" || b.Catalog != first.Catalog {
		t.Errorf("after the change: %+v", b.Attempts[0].Cost)
	}
	if total := k.total(); total.Cost.String() != "5" {
		t.Errorf("after the change: %s", total.Cost)
	}
	k.now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)
	k.turn(served(pricing.Usage{Input: 1_000_000}))
	if total := k.total(); total.Cost.String() != "9" {
		t.Errorf("with a turn at the new price: %s", total.Cost)
	}
}

// A thousand turns of 0.0000015 are 0.0015, in every sum that there is.
func TestSmallMoneyIsNotRoundedAway(t *testing.T) {
	k := newTill(t, openLedger(t, t.TempDir(), forEver), sold("{input: 0.50, output: 1.50}"))
	var last engine.Turn
	for range 1000 {
		k.now = k.now.Add(time.Second)
		last = k.turn(served(pricing.Usage{Input: 3}))
	}
	if b := k.kept(last); b.Attempts[0].Cost.Total.String() != "0.0000015" {
		t.Errorf("a turn costs %s", b.Attempts[0].Cost.Total)
	}
	want := decimal.RequireFromString("0.0015")
	for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
		o, err := k.ledger.Overview(t.Context(), engine.Query{}, width)
		if err != nil {
			t.Fatal(err)
		}
		var sum decimal.Decimal
		for _, slot := range o.Series {
			sum = sum.Add(slot.Sums.Cost)
		}
		if !o.Total.Cost.Equal(want) || !sum.Equal(want) || o.Total.CostKnown != 1000 {
			t.Errorf("by %s: %s, the slots %s, %d turns", width, o.Total.Cost, sum, o.Total.CostKnown)
		}
	}
	s, _, err := k.ledger.Session(t.Context(), catalog.DefaultTenant, engine.ClassExplicit, "skiff")
	if err != nil || !s.Sums.Cost.Equal(want) {
		t.Errorf("the session costs %s, %v", s.Sums.Cost, err)
	}
}

// Two attempts that were billed are two costs of one turn, each at its own vendor.
func TestTwoBilledAttemptsAreTwoCosts(t *testing.T) {
	k := newTill(t, openLedger(t, t.TempDir(), forEver), sold("{input: 2.50, output: 10, cache_read: 0.25}"))
	unusable := served(pricing.Usage{Input: 900, Output: 12})
	unusable.Stage, unusable.Failure, unusable.Committed = engine.StageBroken, engine.FailureServer, false
	b := k.kept(k.turn(unusable, served(pricing.Usage{Input: 920, Output: 80})))
	for i, want := range []struct{ vendor, cost string }{{"creek", "0.00237"}, {"delta", "0.00396"}} {
		if a := b.Attempts[i]; a.Vendor != want.vendor || !a.Cost.Known || a.Cost.Total.String() != want.cost {
			t.Errorf("attempt %d: %s %+v, want %+v", i+1, a.Vendor, a.Cost, want)
		}
	}
	if total := k.total(); total.Cost.String() != "0.00633" || total.Turns != 1 || total.Attempts != 2 || total.Billed != 2 || total.CostKnown != 2 {
		t.Errorf("%+v", total)
	}
	o, err := k.ledger.Overview(t.Context(), engine.Query{}, engine.Day)
	if err != nil || len(o.Routes) != 2 || o.Routes[0].Sums.Cost.String() != "0.00237" || o.Routes[1].Sums.Cost.String() != "0.00396" {
		t.Errorf("%+v, %v", o.Routes, err)
	}
}

// The hit rate is of tokens, over the whole prompt: 18,400 of 20,000. A turn that says
// nothing of its usage takes no part in it, and leaves every total a lower bound.
func TestTheHitRateIsOfTheTokensThatAreKnown(t *testing.T) {
	k := newTill(t, openLedger(t, t.TempDir(), forEver), sold("{input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}"))
	k.turn(served(pricing.Usage{Input: 12, CacheRead: 18400}))
	k.turn(served(pricing.Usage{Input: 988, CacheWrite5m: 600}))
	before := k.total()
	silent := served(pricing.Usage{})
	silent.Quality = pricing.Missing
	b := k.kept(k.turn(silent))
	if a := b.Attempts[0]; a.Cost.Known || a.Saving.Known {
		t.Errorf("cost %+v, saving %+v", a.Cost, a.Saving)
	}
	total := k.total()
	if total.Usage.CacheRead != 18400 || total.Usage.Prompt() != 20000 || total.Hits != 1 || total.UsageKnown != 2 || total.Billed != 3 || total.CostKnown != 2 || !total.Cost.Equal(before.Cost) {
		t.Errorf("%+v", total)
	}
	percent := decimal.NewFromInt(100*total.Usage.CacheRead).DivRound(decimal.NewFromInt(total.Usage.Prompt()), 2)
	if percent.StringFixed(2) != "92.00" {
		t.Errorf("%s %%", percent)
	}
}
