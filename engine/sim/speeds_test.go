package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
)

// paging is books whose turns can be made to fail, and that count the pages asked for.
type paging struct {
	engine.Books
	pages int
	fails error
}

func (p *paging) Turns(ctx context.Context, q engine.Query, page engine.Page) ([]engine.Booked, string, error) {
	p.pages++
	if p.fails != nil {
		return nil, "", p.fails
	}
	return p.Books.Turns(ctx, q, page)
}

func TestALearnerKnowsHowFastRoutesAnswered(t *testing.T) {
	model := heron(t)
	ledger := &inmem.Ledger{Auditor: sim.Auditor{}}
	now := time.Date(2026, 11, 29, 13, 0, 0, 0, time.UTC)
	n := 0
	book := func(before time.Duration, served int, output int64, change func(*engine.Turn)) {
		turn := turnAt(model, now.Add(-before), served, false, pricing.Usage{Input: 10, Output: output}, nil)
		n++
		turn.ID, turn.Stream = fmt.Sprint("turn-", n), true
		a := &turn.Attempts[len(turn.Attempts)-1]
		a.FirstByte, a.Took = 400*time.Millisecond, 2*time.Second
		if change != nil {
			change(&turn)
		}
		ledger.Record(turn)
	}
	last := func(change func(*engine.Attempt)) func(*engine.Turn) {
		return func(turn *engine.Turn) { change(&turn.Attempts[len(turn.Attempts)-1]) }
	}
	book(7*time.Hour, 0, 1000, nil) // too long ago
	book(5*time.Hour, 0, 100, nil)
	book(4*time.Hour, 0, 300, last(func(a *engine.Attempt) { a.FirstByte = 100 * time.Millisecond }))
	book(3*time.Hour, 0, 200, last(func(a *engine.Attempt) { a.FirstByte = time.Minute }))
	book(2*time.Hour, 0, 20, nil)                                                           // too short for its rate
	book(time.Hour, 0, 800, func(turn *engine.Turn) { turn.Stream = false })                // its first byte comes with its last
	book(time.Hour, 0, 800, last(func(a *engine.Attempt) { a.Quality = pricing.Partial }))  // nobody knows how long it was
	book(time.Hour, 0, 800, last(func(a *engine.Attempt) { a.Stage = engine.StageBroken })) // it was not served
	book(time.Minute, 1, 64, nil)
	books := &paging{Books: ledger}
	l := &sim.Learner{Books: books, Now: func() time.Time { return now }}
	if l.Speed("heron", "north") != (engine.Speed{}) {
		t.Error("it knows something before it has read")
	}
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	// First bytes: 100, 400, 400, 400 ms and a minute; rates: 50, 100, 150 and 400 tokens a second.
	if got, want := l.Speed("heron", "north"), (engine.Speed{Firsts: 5, FirstByte: 400 * time.Millisecond, Rates: 4, Rate: 100_000}); got != want {
		t.Errorf("north: %+v, want %+v", got, want)
	}
	if got, want := l.Speed("heron", "south"), (engine.Speed{Firsts: 1, FirstByte: 400 * time.Millisecond, Rates: 1, Rate: 32_000}); got != want {
		t.Errorf("south: %+v, want %+v", got, want)
	}

	// A turn is booked once, however often it is read, and where it began though it ended later.
	book(10*time.Minute, 1, 640, last(func(a *engine.Attempt) { a.FirstByte = 300 * time.Millisecond }))
	for range 3 {
		if err := l.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := l.Speed("heron", "south"), (engine.Speed{Firsts: 2, FirstByte: 300 * time.Millisecond, Rates: 2, Rate: 32_000}); got != want {
		t.Errorf("south, later: %+v, want %+v", got, want)
	}

	// What was known stays known while the books do not answer; what is old is forgotten.
	books.fails = errors.New("the disk is full")
	if err := l.Refresh(t.Context()); !errors.Is(err, books.fails) || l.Speed("heron", "south").Firsts != 2 {
		t.Errorf("%v, %+v", err, l.Speed("heron", "south"))
	}
	books.fails = nil
	l.Now = func() time.Time { return now.Add(150 * time.Minute) }
	if err := l.Refresh(t.Context()); err != nil || l.Speed("heron", "north").Firsts != 3 {
		t.Errorf("later: %+v, %v", l.Speed("heron", "north"), err)
	}
	l.Now = func() time.Time { return now.Add(24 * time.Hour) }
	if err := l.Refresh(t.Context()); err != nil || l.Speed("heron", "north") != (engine.Speed{}) || l.Speed("heron", "south") != (engine.Speed{}) {
		t.Errorf("a day later: %+v, %v", l.Speed("heron", "north"), err)
	}
}

// The slow twin: the newest 255 answers of all, sorted. The learner reads them bit by bit.
func TestMediansAreThoseOfTheNewestAnswers(t *testing.T) {
	model := heron(t)
	ledger := &inmem.Ledger{Auditor: sim.Auditor{}}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	now := time.Date(2026, 11, 29, 13, 0, 0, 0, time.UTC)
	books := &paging{Books: ledger}
	l := &sim.Learner{Books: books, Now: func() time.Time { return now }}
	type seen struct {
		at    time.Time
		first time.Duration
	}
	var all []seen
	for step := range 40 {
		for i := range r.IntN(60) {
			s := seen{now.Add(-time.Duration(r.IntN(14*60*1000)) * time.Millisecond), time.Duration(1 + r.IntN(1e9))}
			turn := turnAt(model, s.at, 0, false, pricing.Usage{Input: 10, Output: 1}, nil)
			turn.ID, turn.Stream = fmt.Sprintf("%d-%d", step, i), true
			turn.Attempts[0].FirstByte, turn.Attempts[0].Took = s.first, 2*time.Second
			ledger.Record(turn)
			all = append(all, s)
		}
		if err := l.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b seen) int { return b.at.Compare(a.at) })
		var firsts []time.Duration
		for _, s := range all {
			if now.Sub(s.at) <= 6*time.Hour && len(firsts) < 255 {
				firsts = append(firsts, s.first)
			}
		}
		slices.Sort(firsts)
		want := engine.Speed{Firsts: int64(len(firsts))}
		if len(firsts) > 0 {
			want.FirstByte = firsts[(len(firsts)-1)/2]
		}
		if got := l.Speed("heron", "north"); got != want {
			t.Fatalf("step %d: %+v, want %+v", step, got, want)
		}
		now = now.Add(time.Duration(r.IntN(30)) * time.Minute)
	}
	if books.pages < 40 || books.pages > 45 {
		t.Errorf("%d pages were read in 40 looks", books.pages)
	}
}
