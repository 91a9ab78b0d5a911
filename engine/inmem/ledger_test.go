package inmem_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
)

var _ engine.Ledger = (*inmem.Ledger)(nil)

func TestTheLedgerKeepsTheLastTurns(t *testing.T) {
	l := &inmem.Ledger{Max: 3}
	for i := range 8 {
		l.Record(engine.Turn{ID: fmt.Sprint(i)})
		turns := l.Recorded()
		if len(turns) != min(i+1, 3) || turns[len(turns)-1].ID != fmt.Sprint(i) || turns[0].ID != fmt.Sprint(max(0, i-2)) {
			t.Fatalf("after turn %d: %+v", i, turns)
		}
	}
	if count, _ := l.Count(); count != 8 {
		t.Errorf("%d counted", count)
	}
}

func TestWaitingForATurn(t *testing.T) {
	var l inmem.Ledger
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := l.Wait(context.Background(), 100); err != nil {
				t.Error(err)
			}
		})
	}
	for range 100 {
		l.Record(engine.Turn{})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Wait(ctx, 101); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestWhoIsToldOfSettledTurnsHearsOfEachOnce(t *testing.T) {
	told := map[string]int{}
	l := &inmem.Ledger{Auditor: storetest.Counter{}, Settled: func(turns []engine.Booked) {
		for _, b := range turns {
			told[b.ID]++
			if b.State != engine.Settled || len(b.Audit) == 0 {
				t.Errorf("told of %s as %q with %x", b.ID, b.State, b.Audit)
			}
		}
	}}
	for _, id := range []string{"a", "b", "a", "c", "b"} {
		l.Record(engine.Turn{ID: id, Asked: engine.Asked{Markers: 1}})
	}
	if len(told) != 3 || told["a"] != 1 || told["b"] != 1 || told["c"] != 1 {
		t.Errorf("told %v", told)
	}
}
