package sim_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
)

// asked counts what its books are asked, and can be made to fail.
type asked struct {
	engine.Books
	queries int
	fails   error
}

func (a *asked) Accounts(ctx context.Context, q engine.Query, width time.Duration) (engine.Accounts, error) {
	a.queries++
	if a.fails != nil {
		return engine.Accounts{}, a.fails
	}
	return a.Books.Accounts(ctx, q, width)
}

func TestALearnerKnowsTheLastSevenDays(t *testing.T) {
	model := heron(t)
	ledger := &inmem.Ledger{Auditor: sim.Auditor{}}
	now := time.Date(2026, 11, 29, 13, 0, 0, 0, time.UTC)
	book := func(at time.Time, served int, input, read int64) {
		u := pricing.Usage{Input: input, CacheRead: read, Output: 10}
		ledger.Record(turnAt(model, at, served, false, u, nil))
	}
	for day := range 9 { // the last two are too long ago
		at := now.AddDate(0, 0, day-8)
		book(at, 0, 2000, 0)
		book(at.Add(time.Minute), 0, 500, 1500)
	}
	book(now.Add(2*time.Minute), 1, 4000, 0)
	books := &asked{Books: ledger}
	l := &sim.Learner{Books: books, Now: func() time.Time { return now.Add(time.Hour) }}
	if l.HitRate("heron", "north") != (engine.HitRate{}) || l.Survival("heron", "north").N != 0 {
		t.Error("it knows something before it has read")
	}
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := l.HitRate("heron", "north"), (engine.HitRate{Turns: 14, Read: 7 * 1500, Prompt: 7 * 4000}); got != want {
		t.Errorf("north: %+v, want %+v", got, want)
	}
	if got, want := l.HitRate("heron", "south"), (engine.HitRate{Turns: 1, Prompt: 4000}); got != want {
		t.Errorf("south: %+v, want %+v", got, want)
	}
	if l.HitRate("heron", "east") != (engine.HitRate{}) || l.HitRate("", "north") != (engine.HitRate{}) {
		t.Error("it knows of a route that nobody used")
	}
	young, old := l.Held("heron", "north", 30*time.Second, 5*time.Minute), l.Held("heron", "north", 2*time.Hour, 5*time.Minute)
	if young.N == 0 || young.P <= old.P || l.Survival("heron", "north").N != young.N {
		t.Errorf("held after half a minute %+v, after two hours %+v, alive %+v", young, old, l.Survival("heron", "north"))
	}

	// Of older days it asks once.
	asked := books.queries
	book(now.Add(30*time.Minute), 1, 1000, 3000)
	if err := l.Refresh(t.Context()); err != nil || books.queries-asked != 2 {
		t.Errorf("asked %d times more, %v", books.queries-asked, err)
	}
	if got, want := l.HitRate("heron", "south"), (engine.HitRate{Turns: 2, Read: 3000, Prompt: 8000}); got != want {
		t.Errorf("south, later: %+v, want %+v", got, want)
	}

	// A restart knows the same.
	again := &sim.Learner{Books: ledger, Now: l.Now}
	if err := again.Refresh(t.Context()); err != nil || again.HitRate("heron", "north") != l.HitRate("heron", "north") {
		t.Errorf("after a restart: %+v, %v", again.HitRate("heron", "north"), err)
	}

	// What was known stays known while the books do not answer.
	books.fails = errors.New("the disk is full")
	if err := l.Refresh(t.Context()); !errors.Is(err, books.fails) || l.HitRate("heron", "south").Turns != 2 {
		t.Errorf("%v, %+v", err, l.HitRate("heron", "south"))
	}

	// Days go by.
	books.fails = nil
	l.Now = func() time.Time { return now.AddDate(0, 0, 6) }
	if err := l.Refresh(t.Context()); err != nil || l.HitRate("heron", "north").Turns != 2 {
		t.Errorf("six days later: %+v, %v", l.HitRate("heron", "north"), err)
	}
}

// A machine that slept, or books that did not answer for days: a day that was read
// before it was over is read again.
func TestALearnerThatPausedReadsAgainWhatItHadReadInPart(t *testing.T) {
	model := heron(t)
	ledger := &inmem.Ledger{Auditor: sim.Auditor{}}
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	now := noon
	book := func(at time.Time) {
		ledger.Record(turnAt(model, at, 0, false, pricing.Usage{Input: 2000, Output: 10}, nil))
	}
	books := &asked{Books: ledger}
	l := &sim.Learner{Books: books, Now: func() time.Time { return now }}
	book(noon.Add(-time.Hour))
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	book(noon.Add(time.Hour))
	now = noon.AddDate(0, 0, 3)
	if err := l.Refresh(t.Context()); err != nil || l.HitRate("heron", "north").Turns != 2 {
		t.Errorf("%+v, %v", l.HitRate("heron", "north"), err)
	}
	before := books.queries
	if err := l.Refresh(t.Context()); err != nil || books.queries-before != 2 {
		t.Errorf("asked %d times more, %v", books.queries-before, err)
	}
}

func TestALearnerRunsUntilItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := &asked{Books: &inmem.Ledger{Auditor: sim.Auditor{}}, fails: errors.New("not yet")}
		l := &sim.Learner{Books: books}
		ctx, stop := context.WithCancel(t.Context())
		var complaints atomic.Int64
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx, time.Minute, func(error) { complaints.Add(1) }) }()
		synctest.Wait()
		if n := complaints.Load(); n != 1 {
			t.Errorf("%d complaints at the start", n)
		}
		time.Sleep(3*time.Minute + time.Second) // of the bubble's clock
		synctest.Wait()
		if n := complaints.Load(); n != 4 {
			t.Errorf("%d complaints after three minutes", n)
		}
		stop()
		<-done
	})
}
