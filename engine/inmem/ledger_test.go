package inmem_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
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
