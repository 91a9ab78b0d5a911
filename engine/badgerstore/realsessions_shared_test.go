package badgerstore_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
)

// The prices of late 2025, as the recorded client had them, and a change that came
// after the sessions: it must not touch them.
const pricesOfTheDay = `
version: 1
vendors:
  anthropic: {api: [messages], base_url: "https://anthropic.example/v1", cache: {family: explicit, ttl: 5m}}
  openai: {api: [responses], base_url: "https://openai.example/v1", cache: {family: implicit, ttl: 10m}}
models:
  claude-opus-4-5:
    routes:
      - vendor: anthropic
        model: claude-opus-4-5
        price:
          - {valid_to: 2026-06-01, input: 5, output: 25, cache_read: 0.50, cache_write: 6.25, cache_write_1h: 10}
          - {valid_from: 2026-06-01, input: 7, output: 35, cache_read: 0.70, cache_write: 8.75, cache_write_1h: 14}
  claude-sonnet-4-5:
    routes:
      - vendor: anthropic
        model: claude-sonnet-4-5
        price:
          - {valid_to: 2026-06-01, input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, cache_write_1h: 6}
          - {valid_from: 2026-06-01, input: 4, output: 20, cache_read: 0.40, cache_write: 5, cache_write_1h: 8}
  gpt-5.1-codex:
    routes:
      - {vendor: openai, model: gpt-5.1-codex, price: {input: 1.25, output: 10, cache_read: 0.125}}
`

// recordedTurn is one turn of two real coding sessions, with what the client that made
// it computed for it, in floats.
type recordedTurn struct {
	Session string `json:"session"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Started int64  `json:"started_ms"`
	Input   int64  `json:"input"`
	Output  int64  `json:"output"`
	Read    int64  `json:"cache_read"`
	Write   int64  `json:"cache_write"`
	Cost    *struct {
		Input  float64 `json:"input"`
		Output float64 `json:"output"`
		Read   float64 `json:"cacheRead"`
		Write  float64 `json:"cacheWrite"`
		Total  float64 `json:"total"`
	} `json:"cost_usd"`
}

func recordedTurns(t *testing.T) (turns []recordedTurn) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "traces", "pi-sessions-usage.jsonl.gz"))
	if os.IsNotExist(err) {
		t.Skip("the recorded sessions are not here; the cases hold the same arithmetic")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var one recordedTurn
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if one.Cost != nil { // else it is no request
			turns = append(turns, one)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return turns
}

// Two real sessions, booked at the prices of their day, cost what their client has
// computed for them: every turn to the precision of its floats, and the totals to the
// cent. Requests that ended without any usage, which the client has at 0, are unknown.
func TestSharedSessionsCostWhatTheirClientComputed(t *testing.T) {
	turns := recordedTurns(t)
	c, err := catalog.Parse("day.yaml", []byte(pricesOfTheDay))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	l := openLedger(t, t.TempDir(), badgerstore.LedgerOptions{Auditor: sim.Auditor{}, Retention: -1, Minutes: -1, Hours: -1, Reserve: -1, Now: func() time.Time { return now }})
	g := engine.Gateway{Catalog: func() *catalog.Catalog { return c }, Ledger: l, Now: func() time.Time { return now }}
	var ids []string
	silent := map[string]int64{}
	for i := range turns {
		one := &turns[i]
		api := catalog.Messages
		if one.API == "openai-responses" {
			api = catalog.Responses
		}
		now = time.UnixMilli(one.Started)
		request := engine.Request{Tenant: catalog.DefaultTenant, API: api, Target: one.Model, BodyID: one.Session, Markers: 3}
		turn, err := g.Serve(t.Context(), request, func(_ context.Context, try engine.Try) engine.Attempt {
			try.Accepted()
			a := engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true, AcceptedAt: now}
			if one.Input+one.Read+one.Write+one.Output == 0 {
				a.Stage, a.Failure = engine.StageAbandoned, engine.FailureClientLeft
				silent[one.Session]++
				return a
			}
			a.Quality = pricing.Authoritative
			a.Usage = pricing.Usage{Input: one.Input, CacheRead: one.Read, CacheWrite5m: one.Write, Output: one.Output}
			return a
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, turn.ID)
	}
	flush(t, l)
	now = time.Now()
	totals := map[string]decimal.Decimal{}
	for i, id := range ids {
		one := &turns[i]
		b, found, err := l.Turn(t.Context(), catalog.DefaultTenant, id)
		if err != nil || !found || len(b.Attempts) != 1 {
			t.Fatalf("turn %d is not on record: %v", i, err)
		}
		cost := b.Attempts[0].Cost
		if one.Input+one.Read+one.Write+one.Output == 0 {
			if cost.Known || one.Cost.Total != 0 {
				t.Errorf("turn %d said nothing, and its cost is %s; the client has %v", i, cost.Total, one.Cost.Total)
			}
			continue
		}
		for _, part := range []struct {
			name   string
			booked decimal.Decimal
			theirs float64
		}{
			{"input", cost.Input, one.Cost.Input}, {"output", cost.Output, one.Cost.Output},
			{"read", cost.CacheRead, one.Cost.Read}, {"write", cost.CacheWrite5m, one.Cost.Write}, {"total", cost.Total, one.Cost.Total},
		} {
			if booked := part.booked.InexactFloat64(); !cost.Known || math.Abs(booked-part.theirs) > 1e-14*math.Max(booked, 1e-6) {
				t.Errorf("turn %d of %s: %s %s, the client has %v", i, one.Session, part.name, part.booked, part.theirs)
			}
		}
		totals[one.Session] = totals[one.Session].Add(cost.Total)
	}
	for session, want := range map[string]struct {
		exact, cents string
		turns        int64
	}{
		"pi-before-compaction": {"42.5959075", "42.60", 484},
		"pi-large-session":     {"30.3301977", "30.33", 453},
	} {
		book, found, err := l.Session(t.Context(), catalog.DefaultTenant, engine.ClassExplicit, session)
		if err != nil || !found {
			t.Fatalf("%s is not on record: %v", session, err)
		}
		s := book.Sums
		if s.Cost.String() != want.exact || s.Cost.StringFixed(2) != want.cents || !totals[session].Equal(s.Cost) {
			t.Errorf("%s costs %s, its turns %s, want %s", session, s.Cost, totals[session], want.exact)
		}
		if s.Turns != want.turns || s.Billed != want.turns || s.CostKnown != want.turns-silent[session] {
			t.Errorf("%s: %d turns, %d billed, %d of known cost, %d without usage", session, s.Turns, s.Billed, s.CostKnown, silent[session])
		}
	}
	o, err := l.Overview(t.Context(), engine.Query{}, engine.Day)
	if err != nil {
		t.Fatal(err)
	}
	if o.Total.Cost.String() != "72.9261052" || len(o.Series) != 4 {
		t.Errorf("the overview says %s in %d days", o.Total.Cost, len(o.Series))
	}
	accounts, err := l.Accounts(t.Context(), engine.Query{}, engine.Day)
	if err != nil {
		t.Fatal(err)
	}
	var account sim.Account
	if err := account.UnmarshalBinary(accounts.Total); err != nil {
		t.Fatal(err)
	}
	// One vendor: without affinity all would have been the same.
	if tally := account.Tally; !tally.Cost.Equal(o.Total.Cost) || !tally.Saving.IsZero() || !tally.CostWithout.Equal(tally.Cost) {
		t.Errorf("the accounts say %s + %s = %s", tally.Cost, tally.Saving, tally.CostWithout)
	}
}
