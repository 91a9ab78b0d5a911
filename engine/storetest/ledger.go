package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Books is what the tests of [Ledger] need of a store.
type Books interface {
	engine.Ledger
	engine.Intents
	engine.Books
}

// Ledger runs what every store of turns must hold. open returns an empty store,
// which open itself cleans up after the test, and what waits until all that was
// recorded can be asked for.
//
// The store is opened with a [Counter] for its auditor.
func Ledger(t *testing.T, open func(t *testing.T) (store Books, flush func())) {
	tests := []struct {
		name string
		run  func(t *testing.T, l ledger)
	}{
		{"nothing is booked", nothingBooked},
		{"every field comes back as it was booked", everyField},
		{"a turn recorded twice counts once", twice},
		{"a turn in flight is unsettled until it settles", inFlight},
		{"overviews are the sums of the turns", overviews},
		{"what an attempt cost stands at its own vendor", ownVendor},
		{"slots and bounds", slots},
		{"pages make up the list", pages},
		{"turns of one instant keep their order", ties},
		{"a page that is not one of ours", strangePages},
		{"tenants that look alike are apart", tenantsApart},
		{"accounts are the sums of what an auditor said", accounts},
		{"sessions are the folds of their turns", sessionFolds},
		{"a query whose context is over", ledgerContextOver},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, flush := open(t)
			tt.run(t, ledger{t, store, flush})
		})
	}
}

// ledger fails the test where a store returns an error.
type ledger struct {
	t     *testing.T
	store Books
	flush func()
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (l ledger) record(turns ...engine.Turn) {
	for _, turn := range turns {
		l.store.Record(turn)
	}
	l.flush()
}

// all is the whole list of turns, page by page.
func (l ledger) all(q engine.Query, limit int) []engine.Booked {
	l.t.Helper()
	var all []engine.Booked
	for page := (engine.Page{Limit: limit}); ; {
		turns, next, err := l.store.Turns(context.Background(), q, page)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(turns) > page.Size() || next != "" && len(turns) != page.Size() {
			l.t.Fatalf("a page of %d turns, %d asked for, next %q", len(turns), page.Size(), next)
		}
		all = append(all, turns...)
		if next == "" {
			return all
		}
		page.After = next
	}
}

func (l ledger) sessions(q engine.Query, limit int) []engine.SessionBook {
	l.t.Helper()
	var all []engine.SessionBook
	for page := (engine.Page{Limit: limit}); ; {
		sessions, next, err := l.store.Sessions(context.Background(), q, page)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, sessions...)
		if next == "" {
			return all
		}
		page.After = next
	}
}

// text shows everything of a value; two that are the same show the same.
func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sameText(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := text(t, got), text(t, want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// some are n random turns that begin a few seconds apart.
func some(n int, seed uint64) []engine.Turn {
	r := rand.New(rand.NewPCG(seed, 1))
	market := NewMarket()
	at := start().Add(-3 * time.Hour)
	turns := make([]engine.Turn, n)
	for i := range turns {
		at = at.Add(time.Duration(r.IntN(int(3 * time.Hour / time.Duration(n)))))
		turns[i] = market.Turn(r, i, at)
	}
	r.Shuffle(n, func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	return turns
}

func booked(turns []engine.Turn) []engine.Booked {
	var all []engine.Booked
	for _, turn := range turns {
		all = append(all, engine.Book(turn))
	}
	return all
}

// listed are those that are meant, in the order of lists.
func listed(all []engine.Booked, q engine.Query) []engine.Booked {
	var out []engine.Booked
	for i := range all {
		if q.Matches(&all[i]) {
			out = append(out, all[i])
		}
	}
	slices.SortFunc(out, func(a, b engine.Booked) int { return a.Place().Compare(b.Place()) })
	return out
}

func nothingBooked(t *testing.T, l ledger) {
	ctx := context.Background()
	l.flush()
	o := must2(l.store.Overview(ctx, engine.Query{}, time.Hour))(t)
	if !o.Total.Equal(engine.Sums{}) || len(o.Outcomes)+len(o.Routes)+len(o.Series) != 0 || o.Width != time.Hour {
		t.Errorf("overview %+v", o)
	}
	if len(l.all(engine.Query{}, 0)) != 0 || len(l.sessions(engine.Query{}, 0)) != 0 {
		t.Error("something is listed")
	}
	if _, found, err := l.store.Turn(ctx, "t", "x"); found || err != nil {
		t.Errorf("turn: %v, %v", found, err)
	}
	if _, found, err := l.store.Session(ctx, "t", engine.ClassAgent, "x"); found || err != nil {
		t.Errorf("session: %v, %v", found, err)
	}
}

func must2[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T { t.Helper(); return must(t, v, err) }
}

func everyField(t *testing.T, l ledger) {
	turns := some(300, 2)
	l.record(turns...)
	for _, turn := range turns {
		got, found, err := l.store.Turn(context.Background(), turn.Tenant, turn.ID)
		if err != nil || !found {
			t.Fatalf("%s of %s: found %v, %v", turn.ID, turn.Tenant, found, err)
		}
		sameText(t, turn.ID, got, engine.Book(turn))
	}
}

func twice(t *testing.T, l ledger) {
	turns := some(50, 3)
	l.record(turns...)
	l.record(turns[20:]...)
	l.record(turns[0], turns[0])
	if all := l.all(engine.Query{}, 0); len(all) != 50 {
		t.Errorf("%d turns", len(all))
	}
	o := must2(l.store.Overview(context.Background(), engine.Query{}, time.Hour))(t)
	if o.Total.Turns != 50 {
		t.Errorf("%d turns in the overview", o.Total.Turns)
	}
	sums := int64(0)
	for _, s := range l.sessions(engine.Query{}, 0) {
		sums += s.Sums.Turns
	}
	want := int64(0)
	for _, turn := range turns {
		if turn.Session.ID != "" {
			want++
		}
	}
	if sums != want {
		t.Errorf("%d turns in sessions, want %d", sums, want)
	}
}

func inFlight(t *testing.T, l ledger) {
	ctx := context.Background()
	turn := some(1, 4)[0]
	done := turn
	first := turn.Plan.Candidates[0]
	turn.Attempts, turn.Took = nil, 0
	if err := l.store.Intend(ctx, &turn, first); err != nil {
		t.Fatal(err)
	}
	q := engine.Query{Tenant: turn.Tenant}
	look := func(when string, unsettled int64) {
		t.Helper()
		got, found, err := l.store.Turn(ctx, turn.Tenant, turn.ID)
		if err != nil || !found || (got.State == engine.Unsettled) != (unsettled == 1) {
			t.Fatalf("%s: %+v, %v, %v", when, got, found, err)
		}
		for _, q := range []engine.Query{q, {}} {
			all := l.all(q, 0)
			o := must2(l.store.Overview(ctx, q, time.Minute))(t)
			if len(all) != 1 || !o.Total.Equal(engine.Sum(got)) || o.Total.Turns != 1 || o.Total.Unsettled != unsettled {
				t.Errorf("%s: %d turns, total %+v", when, len(all), o.Total)
			}
			sameText(t, when, all[0], got)
		}
		if _, found, _ := l.store.Turn(ctx, turn.Tenant+"x", turn.ID); found {
			t.Errorf("%s: another tenant finds it", when)
		}
	}
	look("before the first attempt", 1)
	got, _, _ := l.store.Turn(ctx, turn.Tenant, turn.ID)
	if last, ok := got.Last(); !ok || last.Stage != engine.StageBegun || last.Vendor != first.Route.Vendor.Name || got.Model != first.Route.Model.Name {
		t.Errorf("the attempt that has begun: %+v", got)
	}
	turn.Attempts = []engine.Attempt{{Candidate: first, Failure: engine.FailureConnect, Started: turn.Started}}
	if err := l.store.Intend(ctx, &turn, turn.Plan.Candidates[len(turn.Plan.Candidates)-1]); err != nil {
		t.Fatal(err)
	}
	look("before the second attempt", 1)
	l.record(done)
	look("settled", 0)
	got, _, _ = l.store.Turn(ctx, turn.Tenant, turn.ID)
	sameText(t, "settled", got, engine.Book(done))
}

// added are the sums of these, one by one.
func added(turns []engine.Booked) (s engine.Sums) {
	for i := range turns {
		s = s.Add(engine.Sum(turns[i]))
	}
	return s
}

// Queries are queries that mean some of the random turns of a market.
func (m *Market) Queries() []engine.Query {
	q := []engine.Query{{}}
	for _, tenant := range append([]string{""}, m.Tenants...) {
		q = append(q,
			engine.Query{Tenant: tenant},
			engine.Query{Tenant: tenant, Model: m.Models[0].Name},
			engine.Query{Tenant: tenant, Vendor: "bedrock"},
			engine.Query{Tenant: tenant, Outcome: engine.Promoted},
			engine.Query{Tenant: tenant, Model: m.Models[1].Name, Vendor: "deepseek", Outcome: engine.NoPin},
			engine.Query{Tenant: tenant, Class: engine.ClassAgent},
			engine.Query{Tenant: tenant, Session: "session-3"},
			engine.Query{Tenant: tenant, Class: engine.ClassExplicit, Session: "session-3"},
			engine.Query{Tenant: tenant, Model: "none of this name"},
		)
	}
	return q
}

// byRoute is the overview of a query, turn by turn and attempt by attempt.
func byRoute(q engine.Query, width time.Duration, turns []engine.Booked) engine.Overview {
	var tally engine.Tally
	for _, turn := range listed(turns, q.EveryRoute()) {
		count := func(model, vendor string, s engine.Sums) {
			if q.Model != "" && q.Model != model || q.Vendor != "" && q.Vendor != vendor {
				return
			}
			tally.AddRoute(model, vendor, turn.Outcome, s)
			tally.AddSlot(engine.SlotStart(turn.Started, width), s)
		}
		whole := engine.Sum(turn)
		count(turn.Model, turn.Vendor(), engine.Sums{Turns: whole.Turns, Unsettled: whole.Unsettled, Failed: whole.Failed})
		for i, a := range turn.Attempts {
			one := turn
			one.Attempts = turn.Attempts[i : i+1]
			s := engine.Sum(one)
			s.Turns, s.Unsettled, s.Failed = 0, 0, 0
			count(a.Model, a.Vendor, s)
		}
	}
	return tally.Overview(q, width)
}

// SameOverview says where an overview is not what these turns come to, as far as
// its query means them.
func SameOverview(t testing.TB, o engine.Overview, turns []engine.Booked) {
	t.Helper()
	want := byRoute(o.Query, o.Width, turns)
	total := want.Total
	if o.Query.Model == "" && o.Query.Vendor == "" {
		total = added(listed(turns, o.Query))
	}
	if !o.Total.Equal(total) {
		t.Errorf("%+v: total\n got %+v\nwant %+v", o.Query, o.Total, total)
	}
	sameText(t, fmt.Sprintf("%+v: overview", o.Query), plain(o), plain(want))
	var outcomes, routes, series engine.Sums
	for i, part := range o.Outcomes {
		outcomes = outcomes.Add(part.Sums)
		if i > 0 && engine.CompareOutcomes(o.Outcomes[i-1].Outcome, part.Outcome) >= 0 {
			t.Errorf("%+v: outcomes out of order: %v", o.Query, o.Outcomes)
		}
	}
	for _, part := range o.Routes {
		routes = routes.Add(part.Sums)
	}
	for _, part := range o.Series {
		series = series.Add(part.Sums)
	}
	if !outcomes.Equal(total) || !routes.Equal(total) || !series.Equal(total) {
		t.Errorf("%+v: the parts do not add up to the total", o.Query)
	}
}

// plain is an overview without the zeros that decimals may end in.
func plain(o engine.Overview) engine.Overview {
	trim := func(s *engine.Sums) {
		s.Cost = decimal.RequireFromString(s.Cost.String())
		s.Saving = decimal.RequireFromString(s.Saving.String())
	}
	o.Hours, o.Minutes = time.Time{}, time.Time{} // how finely it keeps what is past is a store's own
	trim(&o.Total)
	o.Outcomes, o.Routes, o.Series = slices.Clone(o.Outcomes), slices.Clone(o.Routes), slices.Clone(o.Series)
	for i := range o.Outcomes {
		trim(&o.Outcomes[i].Sums)
	}
	for i := range o.Routes {
		trim(&o.Routes[i].Sums)
	}
	for i := range o.Series {
		trim(&o.Series[i].Sums)
	}
	return o
}

func overviews(t *testing.T, l ledger) {
	turns := some(900, 5)
	l.record(turns...)
	all := booked(turns)
	for _, q := range NewMarket().Queries() {
		for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
			o := must2(l.store.Overview(context.Background(), q, width))(t)
			SameOverview(t, o, all)
		}
		sameText(t, fmt.Sprintf("%+v", q), l.all(q, 100), listed(all, q))
	}
}

// ownVendor has one vendor accept a turn, bill it and fail, and another one serve
// it.
func ownVendor(t *testing.T, l ledger) {
	market := NewMarket()
	began := start().Add(-time.Minute)
	tried := func(model *catalog.Model, route int, input, output int64) engine.Attempt {
		return engine.Attempt{
			Candidate: engine.Candidate{Route: model.Routes[route]}, Stage: engine.StageBroken, Failure: engine.FailureCut, Status: 200,
			Started: began, AcceptedAt: began, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: input, Output: output},
			Card: card("3", "15", "0.30", "3.75"),
		}
	}
	first, last := tried(market.Models[2], 0, 690, 20), tried(market.Models[0], 0, 1220, 20)
	last.Stage, last.Failure = engine.StageServed, engine.FailureNone
	l.record(engine.Turn{
		ID: "two", Tenant: "t1", Started: began, Took: time.Second, Attempts: []engine.Attempt{first, last},
		Session:  engine.Session{Tenant: "t1", Class: engine.ClassExplicit, ID: "s"},
		Decision: engine.Decision{Models: []engine.Finding{{Model: market.Models[0], Outcome: engine.NoPin}}},
	})
	at := func(turns, attempts int64, cost, prompt string, u pricing.Usage) engine.Sums {
		return engine.Sums{
			Turns: turns, Attempts: attempts, Billed: attempts, UsageKnown: attempts, CostKnown: attempts, SavingKnown: attempts,
			Usage: u, Cost: decimal.RequireFromString(cost), PromptCost: decimal.RequireFromString(prompt), PricedPrompt: u.Prompt(),
		}
	}
	failed := engine.RouteSums{Vendor: "openai", Model: "openai/gpt-5.6", Sums: at(0, 1, "0.002370", "0.00207", first.Usage)}
	served := engine.RouteSums{Vendor: "anthropic", Model: "anthropic/claude-sonnet-5", Sums: at(1, 1, "0.003960", "0.00366", last.Usage)}
	both := at(1, 2, "0.006330", "0.00573", pricing.Usage{Input: 1910, Output: 40})
	for _, tt := range []struct {
		query engine.Query
		total engine.Sums
		rows  []engine.RouteSums
	}{
		{engine.Query{}, both, []engine.RouteSums{served, failed}},
		{engine.Query{Outcome: engine.NoPin}, both, []engine.RouteSums{served, failed}},
		{engine.Query{Vendor: "openai"}, failed.Sums, []engine.RouteSums{failed}},
		{engine.Query{Model: "openai/gpt-5.6"}, failed.Sums, []engine.RouteSums{failed}},
		{engine.Query{Vendor: "anthropic"}, served.Sums, []engine.RouteSums{served}},
		{engine.Query{Vendor: "anthropic", Model: "openai/gpt-5.6"}, engine.Sums{}, nil},
		{engine.Query{Vendor: "bedrock"}, engine.Sums{}, nil},
	} {
		for _, session := range []string{"", "s"} { // added up from roll-ups, and from records
			q := tt.query
			q.Session = session
			o := must2(l.store.Overview(context.Background(), q, time.Hour))(t)
			want := engine.Overview{Query: q, Total: tt.total, Width: time.Hour, Routes: tt.rows}
			if len(tt.rows) > 0 {
				want.Outcomes = []engine.OutcomeSums{{Outcome: engine.NoPin, Sums: tt.total}}
				want.Series = []engine.Slot{{Start: engine.SlotStart(began, time.Hour), Sums: tt.total}}
			}
			sameText(t, fmt.Sprintf("%+v", q), plain(o), plain(want))
		}
	}
	if turns := l.all(engine.Query{Vendor: "openai"}, 0); len(turns) != 0 {
		t.Errorf("%d turns are listed at the vendor that did not serve", len(turns))
	}
	s, found, err := l.store.Session(context.Background(), "t1", engine.ClassExplicit, "s")
	if err != nil || !found || !s.Sums.Equal(both) {
		t.Errorf("the session: %+v, %v, %v", s.Sums, found, err)
	}
}

func slots(t *testing.T, l ledger) {
	noon := start().Truncate(time.Hour).Add(-2 * time.Hour)
	market := NewMarket()
	r := rand.New(rand.NewPCG(6, 1))
	var turns []engine.Turn
	for i, at := range []time.Duration{-time.Nanosecond, 0, 59*time.Second + 999, time.Minute, 59 * time.Minute, time.Hour - 1, time.Hour} {
		turns = append(turns, market.Turn(r, i, noon.Add(at)))
	}
	l.record(turns...)
	all := booked(turns)
	for _, tt := range []struct {
		from, to time.Duration
		turns    int64
		slots    int
	}{
		{0, time.Hour, 5, 1},
		{0, time.Minute, 2, 1},
		{time.Minute, time.Hour, 3, 1},
		{-time.Minute, 2 * time.Hour, 7, 3},
		{-time.Minute, 0, 1, 1},
		{30 * time.Second, time.Minute, 2, 1}, // the whole minute
		{0, time.Minute + 1, 3, 1},
		{-time.Hour * 30, time.Hour, 6, 2},
	} {
		q := engine.Query{From: noon.Add(tt.from), To: noon.Add(tt.to)}
		o := must2(l.store.Overview(context.Background(), q, time.Hour))(t)
		if o.Total.Turns != tt.turns || len(o.Series) != tt.slots {
			t.Errorf("%v to %v: %d turns in %d slots, want %d in %d", tt.from, tt.to, o.Total.Turns, len(o.Series), tt.turns, tt.slots)
		}
		SameOverview(t, o, all)
		sameText(t, fmt.Sprintf("turns %v to %v", tt.from, tt.to), l.all(q, 0), listed(all, q))
	}
	if o := must2(l.store.Overview(context.Background(), engine.Query{}, 7*time.Minute))(t); o.Width != time.Hour {
		t.Errorf("a width that is none becomes %v", o.Width)
	}
}
