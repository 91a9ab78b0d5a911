package inmem_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// TestManySessionsSeenOnce floods the table with sessions used once, beside
// some that stay in use.
func TestManySessionsSeenOnce(t *testing.T) {
	for _, limit := range []int{1, 7, 1000, 20_000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := inmem.New(inmem.Options{Max: limit})
			busy := min(limit/10, 50)
			for i := range busy {
				keep(t, p, fmt.Sprint("busy-", i), warm("b", 1))
			}
			for i := range 5*limit + 10 {
				id := fmt.Sprintf("gust-%06d", i)
				keep(t, p, id, warm("a", 1))
				if i%97 == 0 && recalled(t, p, id) != "a " {
					t.Fatalf("new session %d was refused", i)
				}
				if busy > 0 {
					recalled(t, p, fmt.Sprint("busy-", i%busy))
				}
				if limit <= 1000 || i%1000 == 0 {
					if n := p.Len(); n > limit {
						t.Fatalf("%d records after %d sessions", n, i+1)
					}
				}
			}
			for i := range busy {
				if recalled(t, p, fmt.Sprint("busy-", i)) != "b " {
					t.Errorf("busy session %d was evicted before the idle ones", i)
				}
			}
			if st := p.Stats(); st.Records != limit || st.Evicted != int64(4*limit+10+busy) {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestTheIdleLongestMakesRoom(t *testing.T) {
	p := inmem.New(inmem.Options{Max: 3})
	for _, id := range []string{"one", "two", "three"} {
		keep(t, p, id, warm("a", 1))
	}
	recalled(t, p, "one")
	keep(t, p, "four", warm("a", 1))
	if recalled(t, p, "two") != "" || recalled(t, p, "one") == "" || recalled(t, p, "three") == "" || recalled(t, p, "four") == "" {
		t.Error("it was not the idle longest that was evicted")
	}
}

func TestExpiredRecordsAreSweptWithoutBeingAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inmem.New(inmem.Options{})
		for i := range 100 {
			keep(t, p, fmt.Sprint("s", i), warm("a", 1))
		}
		time.Sleep(time.Hour)
		keep(t, p, "later", warm("a", 1))
		time.Sleep(23 * time.Hour)
		if recalled(t, p, "s1") != "a " {
			t.Error("an expired pin is readable for a day")
		}
		time.Sleep(7 * time.Minute)
		if p.Len() != 1 {
			t.Errorf("%d records a day after their end", p.Len())
		}
		time.Sleep(time.Hour)
		if st := p.Stats(); st.Records != 0 || st.Swept != 101 {
			t.Errorf("%+v", st)
		}
		keep(t, p, "again", warm("a", 1))
		time.Sleep(26 * time.Hour)
		if p.Len() != 0 {
			t.Error("an empty table sweeps no more")
		}
	})
}

// TestOneIDOfTwoTenants: a session belongs to its tenant, whatever others call
// theirs.
func TestOneIDOfTwoTenants(t *testing.T) {
	ctx, p := context.Background(), inmem.New(inmem.Options{})
	gull := engine.PinKey{Tenant: "crew-gull", Class: engine.ClassExplicit, ID: "dawn"}
	heron := engine.PinKey{Tenant: "crew-heron", Class: engine.ClassExplicit, ID: "dawn"}
	if err := p.Keep(ctx, gull, "schooner-1", warm("harbor-b", 1)); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Recall(ctx, heron); err != nil || len(r.Models) != 0 {
		t.Errorf("the other tenant's session has %+v, %v", r, err)
	}
	if r, err := p.Recall(ctx, gull); err != nil || r.For("schooner-1")[0].Vendor != "harbor-b" {
		t.Errorf("its own has %+v, %v", r, err)
	}
}

// TestEverythingAtOnce is for the race detector: a small table, loaded, flushed,
// swept and closed while it is in use.
func TestEverythingAtOnce(t *testing.T) {
	ctx, s := context.Background(), newShelf()
	for i := range 200 {
		s.records[pinKey(fmt.Sprint("s", i))] = stored(warm("stored", 1))
	}
	p := inmem.New(inmem.Options{Backing: s, Max: 150, Queue: 50, Delay: time.Microsecond})
	var wg sync.WaitGroup
	var turn atomic.Uint64
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				id := fmt.Sprint("s", (i*7+g)%300)
				e := warm(fmt.Sprint("v", g), turn.Add(1))
				if err := p.Keep(ctx, pinKey(id), "m", e); err != nil {
					t.Error(err)
				}
				if _, err := p.Recall(ctx, pinKey(fmt.Sprint("s", i%300))); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := p.Drop(ctx, pinKey(id), "m", e); err != nil {
						t.Error(err)
					}
				}
				if n := p.Len(); n > 150 {
					t.Errorf("%d records", n)
				}
			}
		})
	}
	wg.Go(func() {
		if err := p.Load(ctx); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		for range 20 {
			p.Sweep()
			_ = p.Stats()
			if err := p.Flush(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	shut(t, p)
	if p.Unwritten() != 0 {
		t.Errorf("%d unwritten", p.Unwritten())
	}
}
