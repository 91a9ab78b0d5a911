package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
)

const pair = `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k, env: A}], cache: {family: implicit, ttl: 5m}}
  b: {api: [chat, messages], base_url: "https://b.example/v1", credentials: [{id: k, env: B}], cache: {family: implicit, ttl: 5m}}
models:
  m:
    routes:
      - {vendor: a, model: m, price: {input: 3, output: 15, cache_read: 0.3, service_tiers: {flex: {input: 1, output: 5, cache_read: 0.1}}}}
      - {vendor: b, model: m, price: {input: 2, output: 10, cache_read: 0.2}}
  n: {routes: [{vendor: a, model: n, price: {input: 1, output: 1}}]}
  o: {routes: [{vendor: b, model: o, price: {input: 1, output: 1}}]}
  p: {routes: [{vendor: b, model: p, price: {input: 1, output: 1}, disabled: "not yet"}]}
`

type ledger []engine.Turn

func (l *ledger) Record(turn engine.Turn) { *l = append(*l, turn) }

func newGateway(t testing.TB) (*engine.Gateway, *ledger) {
	c, l := parse(t, pair), &ledger{}
	return &engine.Gateway{
		Catalog: func() *catalog.Catalog { return c },
		Pins:    inmem.New(inmem.Options{}),
		Health:  engine.NewHealth(),
		Ledger:  l,
	}, l
}

func chat(change func(*engine.Request)) engine.Request {
	r := engine.Request{Tenant: "default", API: catalog.Chat, Target: "m", BodyID: "boat", TextBytes: 8000}
	if change != nil {
		change(&r)
	}
	return r
}

func serves(_ context.Context, try engine.Try) engine.Attempt {
	try.Accepted()
	return engine.Attempt{Stage: engine.StageServed, Committed: true, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 1000, CacheRead: 1000, Output: 100}}
}

func TestServeErrors(t *testing.T) {
	cases := []struct {
		name   string
		change func(*engine.Request)
		is     error
		says   string
	}{
		{"no such model", func(r *engine.Request) { r.Target = "nobody" }, engine.ErrUnknownTarget, `unknown model or policy "nobody"`},
		{"no target at all", func(r *engine.Request) { r.Target = "" }, engine.ErrUnknownTarget, `""`},
		{"no such fallback", func(r *engine.Request) { r.Models = []string{"nobody"} }, engine.ErrUnknownTarget, `"nobody"`},
		{"a weighted sort of what has no weights", func(r *engine.Request) { r.Sort = catalog.ByWeight }, engine.ErrSort, `sort "weighted": only a policy has weights to sort by`},
		{"an API no vendor of the model speaks", func(r *engine.Request) { r.Target, r.API = "n", catalog.Messages }, nil,
			"no route of n can serve this request: a does not speak the messages API. n can be reached through: /v1/chat/completions. Models that the messages API reaches: m, o"},
		{"filtered out", func(r *engine.Request) { r.Ignore = []string{"a", "b"} }, nil,
			"no route of m can serve this request: a is excluded (ignore); b is excluded (ignore). Models that the chat API reaches: n, o"},
		{"only vendors that there are not", func(r *engine.Request) { r.Only = []string{"aa", "acmee"} }, nil,
			"no route of m can serve this request: a is not among the vendors allowed (only); b is not among the vendors allowed (only). There is no vendor aa (did you mean a?). There is no vendor acmee. Models that"},
		{"no vendor keeps to what the request asks for", func(r *engine.Request) { r.Tags = []string{"zdr", "no_training"} }, nil,
			"no route of m can serve this request: a lacks the tag zdr, which the request requires; b lacks the tag zdr"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, l := newGateway(t)
			turn, err := g.Serve(context.Background(), chat(c.change), func(context.Context, engine.Try) engine.Attempt {
				t.Error("something was tried")
				return engine.Attempt{}
			})
			var none *engine.NoRouteError
			if c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &none) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("says %q\nwant %q", err, c.says)
			}
			if len(*l) != 0 {
				t.Error("the ledger was told of a turn that was not tried")
			}
			if turn.ID == "" || turn.Session.ID != "boat" {
				t.Errorf("turn %q of session %+v", turn.ID, turn.Session)
			}
		})
	}
}

func TestServeTellsTheLedger(t *testing.T) {
	g, l := newGateway(t)
	turn, err := g.Serve(context.Background(), chat(nil), serves)
	if err != nil || len(*l) != 1 {
		t.Fatal(err, len(*l))
	}
	told := (*l)[0]
	if told.ID == "" || told.ID != turn.ID || told.Target != "m" || told.Catalog == "" || told.Session.ID != "boat" || len(told.Attempts) != 1 {
		t.Errorf("told %+v", told)
	}
	a := told.Attempts[0]
	// 1000 × 3 + 1000 × 0.3 + 100 × 15, per million.
	if !a.Cost.Known || a.Cost.Total.String() != "0.0048" || a.Candidate.Route.Vendor.Name != "a" || a.AcceptedAt.IsZero() || a.Started.IsZero() {
		t.Errorf("attempt %+v", a)
	}
}

func TestCostIsOfTheTierThatServed(t *testing.T) {
	cases := []struct{ name, asked, served, want string }{
		{"neither named", "", "", "0.0048"},
		{"asked for, and not denied", "flex", "", "0.0016"},
		{"asked for, and served as standard", "flex", "default", "0.0048"},
		{"served, and not asked for", "", "flex", "0.0016"},
		{"served at a tier without prices", "", "priority", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, _ := newGateway(t)
			turn, _ := g.Serve(context.Background(), chat(func(r *engine.Request) { r.Service = c.asked }), func(ctx context.Context, try engine.Try) engine.Attempt {
				a := serves(ctx, try)
				a.ServedTier = c.served
				return a
			})
			got := ""
			if cost := turn.Attempts[0].Cost; cost.Known {
				got = cost.Total.String()
			}
			if got != c.want {
				t.Errorf("costs %q, want %q", got, c.want)
			}
		})
	}
}

func TestIncompleteUsageHasNoCost(t *testing.T) {
	g, _ := newGateway(t)
	turn, _ := g.Serve(context.Background(), chat(nil), func(ctx context.Context, try engine.Try) engine.Attempt {
		a := serves(ctx, try)
		a.Quality = pricing.Partial
		return a
	})
	if turn.Attempts[0].Cost.Known {
		t.Error("a lower bound was billed")
	}
}

// The pin stands when acceptance has been told, before anything is sent.
func TestPinIsKeptAtAcceptance(t *testing.T) {
	g, _ := newGateway(t)
	_, err := g.Serve(context.Background(), chat(nil), func(ctx context.Context, try engine.Try) engine.Attempt {
		key := try.Session.Key("")
		if r, _ := g.Pins.Recall(ctx, key); len(r.For("m")) != 0 {
			t.Error("pinned before acceptance")
		}
		try.Accepted()
		try.Accepted()
		r, _ := g.Pins.Recall(ctx, key)
		if warm := r.For("m"); len(warm) != 1 || warm[0].Vendor != "a" || warm[0].Reported {
			t.Errorf("at acceptance: %+v", warm)
		}
		return engine.Attempt{Stage: engine.StageServed, Committed: true}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The caller may have gone by the time a vendor accepts: the pin is kept all the same.
func TestPinOutlivesTheCaller(t *testing.T) {
	g, _ := newGateway(t)
	ctx, cancel := context.WithCancel(context.Background())
	turn, _ := g.Serve(ctx, chat(nil), func(_ context.Context, try engine.Try) engine.Attempt {
		cancel()
		try.Accepted()
		return engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft}
	})
	if r, _ := g.Pins.Recall(context.Background(), turn.Session.Key("")); len(r.For("m")) != 1 {
		t.Errorf("pins %+v", r)
	}
	if len(turn.Attempts) != 1 {
		t.Errorf("%d attempts for a caller who left", len(turn.Attempts))
	}
}

func TestNothingMoreIsTriedForACallerWhoLeft(t *testing.T) {
	g, _ := newGateway(t)
	ctx, cancel := context.WithCancel(context.Background())
	turn, _ := g.Serve(ctx, chat(nil), func(context.Context, engine.Try) engine.Attempt {
		cancel()
		return engine.Attempt{Failure: engine.FailureConnect}
	})
	if len(turn.Attempts) != 1 {
		t.Errorf("%d attempts", len(turn.Attempts))
	}
}

// hanging never answers by itself.
type hanging struct{ engine.Pins }

func (hanging) Recall(ctx context.Context, _ engine.PinKey) (engine.Record, error) {
	<-ctx.Done()
	return engine.Record{}, ctx.Err()
}

func (hanging) Keep(ctx context.Context, _ engine.PinKey, _ string, _ engine.Entry) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Update(ctx context.Context, _ engine.PinKey, _ string, _ engine.Entry) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestAStalledStoreCostsItsDeadlineAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGateway(t)
		g.Pins = hanging{}
		began := time.Now()
		turn, err := g.Serve(context.Background(), chat(nil), serves)
		if err != nil || turn.Decision.Models[0].Outcome != engine.StoreUnavailable {
			t.Fatal(err, turn.Decision)
		}
		// Recall, the acceptance and the report each wait once.
		if took := time.Since(began); took != 3*engine.DefaultDeadline {
			t.Errorf("took %v", took)
		}
	})
}

func TestDecideChangesNothing(t *testing.T) {
	g, l := newGateway(t)
	if _, err := g.Serve(context.Background(), chat(nil), serves); err != nil {
		t.Fatal(err)
	}
	turn, err := g.Decide(context.Background(), chat(nil))
	if err != nil || turn.Decision.Models[0].Outcome != engine.Confirmed || len(turn.Attempts) != 0 || len(*l) != 1 {
		t.Errorf("%v: %+v", err, turn.Decision)
	}
	before, _ := g.Pins.Recall(context.Background(), turn.Session.Key(""))
	if _, err := g.Decide(context.Background(), chat(nil)); err != nil {
		t.Fatal(err)
	}
	after, _ := g.Pins.Recall(context.Background(), turn.Session.Key(""))
	if before.For("m")[0] != after.For("m")[0] {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
}

// Explanations work without keys, pins, health and ledger.
func TestDecideWithoutKeys(t *testing.T) {
	c, err := catalog.Parse("test.yaml", []byte(pair))
	if err != nil {
		t.Fatal(err)
	}
	g := engine.Gateway{Catalog: func() *catalog.Catalog { return c }, AssumeKeys: true}
	turn, err := g.Decide(context.Background(), chat(nil))
	if err != nil || len(turn.Plan.Candidates) != 2 || turn.Decision.Models[0].Outcome != engine.NoPin {
		t.Error(err, turn.Decision)
	}
	g.AssumeKeys = false
	var none *engine.NoRouteError
	if _, err := g.Decide(context.Background(), chat(nil)); !errors.As(err, &none) || !strings.Contains(err.Error(), "a has no key (set A); b has no key (set B)") || !none.Keyless() {
		t.Errorf("error %v", err)
	}
}

// Reading an opening costs more than all the rest of a decision.
func TestTheOpeningIsReadOnce(t *testing.T) {
	g, _ := newGateway(t)
	read := 0
	_, err := g.Serve(context.Background(), chat(func(r *engine.Request) {
		r.BodyID, r.OptionID, r.Header = "", "", nil
		r.Opening = func() engine.Opening {
			read++
			return engine.Opening{First: [][]byte{[]byte("Which wood floats?")}}
		}
	}), serves)
	if err != nil || read != 1 {
		t.Errorf("the opening was read %d times, %v", read, err)
	}
}

// A title beside a conversation has another prompt in the vendor's cache, also where
// nobody asks or answers for pins.
func TestTheLedgerIsToldOfTheThreadWhateverBecameOfPins(t *testing.T) {
	half, err := engine.NewHoldout(decimal.New(5, -1))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*engine.Gateway){
			"affinity is on":        func(*engine.Gateway) {},
			"affinity is off":       func(g *engine.Gateway) { g.Off = true },
			"the session is drawn":  func(g *engine.Gateway) { g.Holdout = half },
			"there are no pins":     func(g *engine.Gateway) { g.Pins = nil },
			"the store is stalled":  func(g *engine.Gateway) { g.Pins = hanging{} },
			"the opening is silent": func(*engine.Gateway) {},
		} {
			g, l := newGateway(t)
			g.Prefixes = true
			change(g)
			words := engine.Opening{First: [][]byte{[]byte("Which wood floats?")}}
			if name == "the opening is silent" {
				words = engine.Opening{}
			}
			_, err := g.Serve(context.Background(), chat(func(r *engine.Request) { r.Words = func() engine.Opening { return words } }), serves)
			if err != nil || (*l)[0].Asked.Thread != engine.Thread(words) {
				t.Errorf("%s: thread %d, %v", name, (*l)[0].Asked.Thread, err)
			}
		}
	})
}

// The conversations that share a cache key share a pin, and not a prefix. A fingerprint
// is of one conversation.
func TestTheLedgerIsToldOfTheThreadsUnderACacheKey(t *testing.T) {
	for key, told := range map[string]bool{"shared": true, "": false} {
		g, l := newGateway(t)
		g.Prefixes = true
		words := func() engine.Opening { return engine.Opening{First: [][]byte{[]byte("Which wood floats?")}} }
		turn, err := g.Serve(context.Background(), chat(func(r *engine.Request) {
			r.BodyID, r.CacheKey, r.Words, r.Opening = "", key, words, words
		}), serves)
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(0)
		if told {
			want = engine.Thread(words())
		}
		if got := (*l)[0].Asked.Thread; got != want {
			t.Errorf("class %s: thread %d, want %d", turn.Session.Class, got, want)
		}
		if record, err := g.Pins.Recall(context.Background(), turn.Session.Key("")); err != nil || len(record.For("m")) != 1 || record.For("m")[0].Thread != 0 {
			t.Errorf("class %s: %+v, %v", turn.Session.Class, record, err)
		}
	}
}

// The boundaries of a prompt that nobody took cost time, and tell of no cache.
func TestBoundariesAreOfPromptsThatAVendorTook(t *testing.T) {
	refuses := func(context.Context, engine.Try) engine.Attempt {
		return engine.Attempt{Failure: engine.FailureRequest, Status: 400}
	}
	breaks := func(_ context.Context, try engine.Try) engine.Attempt {
		try.Accepted()
		return engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Committed: true}
	}
	for name, c := range map[string]struct {
		send engine.Send
		want int
	}{"served": {serves, 1}, "broken": {breaks, 1}, "refused": {refuses, 0}} {
		g, l := newGateway(t)
		g.Prefixes = true
		read := 0
		_, err := g.Serve(context.Background(), chat(func(r *engine.Request) {
			r.Prefix = func() engine.Prefix { read++; return engine.Prefix{{Bytes: 9}} }
		}), c.send)
		if err != nil || read != c.want || len((*l)[0].Asked.Prefix) != c.want {
			t.Errorf("%s: read %d times, told of %d boundaries, %v", name, read, len((*l)[0].Asked.Prefix), err)
		}
	}
}

// A vendor's refusal may repeat the prompt: the caller gets it, the ledger does not.
func TestTheLedgerIsNotToldWhatAVendorSaid(t *testing.T) {
	g, l := newGateway(t)
	refuses := func(context.Context, engine.Try) engine.Attempt {
		return engine.Attempt{Failure: engine.FailureRequest, Status: 400, Reply: &engine.Reply{Status: 400, Body: []byte("your prompt was: PROMPT")}}
	}
	turn, err := g.Serve(context.Background(), chat(nil), refuses)
	if err != nil || turn.Attempts[0].Reply == nil {
		t.Fatalf("the caller got %+v, %v", turn.Attempts, err)
	}
	if told := (*l)[0].Attempts[0]; told.Reply != nil || told.Status != 400 {
		t.Errorf("the ledger was told %+v", told)
	}
}

func TestTargetMayBeNamedByTheFallbacksAlone(t *testing.T) {
	g, _ := newGateway(t)
	turn, err := g.Serve(context.Background(), chat(func(r *engine.Request) { r.Target, r.Models = "", []string{"o", "m"} }), serves)
	if err != nil || turn.Target != "o" || len(turn.Plan.Models) != 2 {
		t.Error(err, turn.Target, turn.Plan.Models)
	}
}
