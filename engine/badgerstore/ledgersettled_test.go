package badgerstore

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
)

// TestWhoIsToldOfSettledTurnsHearsOfEachOnce has batches that must be split, turns
// recorded twice, turns given up for want of space and one that never ended.
func TestWhoIsToldOfSettledTurnsHearsOfEachOnce(t *testing.T) {
	var left atomic.Int64
	left.Store(1 << 40)
	told := map[string]engine.Booked{}
	times := 0
	l := openFor(t, t.TempDir(), LedgerOptions{
		Wait: time.Minute, Resume: -1, Auditor: storetest.Counter{},
		Free: func(string) (int64, error) { return left.Load(), nil },
		Settled: func(turns []engine.Booked) {
			for _, b := range turns {
				told[b.Tenant+"\x00"+b.ID] = b
				times++
			}
		},
	})
	ctx := context.Background()
	turns := turnsOf(230, 4, time.Now())
	for i := range turns {
		turns[i].Asked.Markers = 1
		if i < 200 {
			turns[i].Target = strings.Repeat(string(rune('a'+i%26)), 60_000)
		}
	}
	flushAll := func(turns []engine.Turn) {
		for _, turn := range turns {
			l.Record(turn)
		}
		if err := l.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Intend(ctx, &turns[210], turns[210].Plan.Candidates[0]); err != nil {
		t.Fatal(err)
	}
	flushAll(append(turns[:210:210], turns[3], turns[204]))
	left.Store(1 << 20)
	flushAll(turns[211:220])
	left.Store(1 << 40)
	flushAll(append(turns[220:230:230], turns[225]))
	if st := l.Stats(); st.Recorded != 220 || st.Twice != 3 || st.Dropped != 9 || st.Batches < 5 {
		t.Errorf("%+v", st)
	}
	if times != 220 || len(told) != 220 {
		t.Errorf("told %d times of %d turns, want 220 of 220", times, len(told))
	}
	for _, b := range told {
		kept, found, err := l.Turn(ctx, b.Tenant, b.ID)
		if err != nil || !found || b.State != engine.Settled || len(b.Audit) == 0 || string(kept.Audit) != string(b.Audit) || kept.Miss != b.Miss {
			t.Fatalf("told of %s as %s with %x; the books have %x (%v)", b.ID, b.State, b.Audit, kept.Audit, err)
		}
	}
}
