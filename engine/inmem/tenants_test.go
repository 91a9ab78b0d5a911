package inmem_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

func ofTenant(tenant, id string) engine.PinKey {
	return engine.PinKey{Tenant: tenant, Class: engine.ClassExplicit, ID: id}
}

func keepOf(t *testing.T, p *inmem.Pins, tenant, id string) {
	t.Helper()
	if err := p.Keep(context.Background(), ofTenant(tenant, id), "m", warm("a", 1)); err != nil {
		t.Error(err)
	}
}

func has(t *testing.T, p *inmem.Pins, tenant, id string) bool {
	t.Helper()
	r, err := p.Recall(context.Background(), ofTenant(tenant, id))
	if err != nil {
		t.Error(err)
	}
	return len(r.Models) > 0
}

// A tenant that floods the table pushes its own longest idle out, one by one, and
// nothing of another's; in small tables and in those of many shards.
func TestATenantBeyondItsBoundLosesItsOwn(t *testing.T) {
	for _, share := range []int{1, 3, 500, 5000} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			p := inmem.New(inmem.Options{Max: 4 * share, PerTenant: func(tenant string) int { return share }})
			for i := range share {
				keepOf(t, p, "gull", fmt.Sprint("calm-", i))
				keepOf(t, p, "tern", fmt.Sprint("calm-", i))
			}
			for i := range 4*share + 9 {
				id := fmt.Sprint("gust-", i)
				keepOf(t, p, "heron", id)
				if !has(t, p, "heron", id) {
					t.Fatalf("new session %d was refused", i)
				}
				if share < 1000 && i >= share && has(t, p, "heron", fmt.Sprint("gust-", i-share)) {
					t.Fatalf("session %d is still there: it was not the idle longest that went", i-share)
				}
			}
			for i := range share {
				for _, tenant := range []string{"gull", "tern"} {
					if !has(t, p, tenant, fmt.Sprint("calm-", i)) {
						t.Fatalf("%s lost session %d to another tenant", tenant, i)
					}
				}
			}
			want := []inmem.TenantStats{{"gull", share, share, 0}, {"heron", share, share, int64(3*share + 9)}, {"tern", share, share, 0}}
			if got := p.Tenants(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if st := p.Stats(); st.Records != 3*share || st.Evicted != int64(3*share+9) {
				t.Errorf("%+v", st)
			}
		})
	}
}

// Of a tenant that lies in one shard the order of use is exact.
func TestATenantsLongestIdleIsTheOneThatGoes(t *testing.T) {
	p := inmem.New(inmem.Options{PerTenant: func(string) int { return 3 }})
	for _, id := range []string{"one", "two", "three"} {
		keepOf(t, p, "gull", id)
	}
	has(t, p, "gull", "one")
	keepOf(t, p, "gull", "four")
	if has(t, p, "gull", "two") || !has(t, p, "gull", "one") || !has(t, p, "gull", "three") || !has(t, p, "gull", "four") {
		t.Error("it was not the idle longest that was evicted")
	}
}

// Bounds that come to more than the table holds: the table's own bound is kept, and
// a new session of whoever comes last finds room, though all of it lies elsewhere.
func TestBoundsThatComeToMoreThanTheTable(t *testing.T) {
	const limit = 4096
	p := inmem.New(inmem.Options{Max: limit, PerTenant: func(tenant string) int { return limit / 2 }})
	for tenant := range 9 {
		for i := range limit {
			keepOf(t, p, fmt.Sprint("crew-", tenant), fmt.Sprint("s", i))
			if n := p.Len(); n > limit {
				t.Fatalf("%d records", n)
			}
		}
		if !has(t, p, fmt.Sprint("crew-", tenant), fmt.Sprint("s", limit-1)) {
			t.Fatalf("crew-%d's new session was refused", tenant)
		}
	}
	if p.Len() != limit {
		t.Errorf("%d records", p.Len())
	}
}

// More is stored than the tenants may have when the table is made anew.
func TestStoredRecordsAreHeldToTheBounds(t *testing.T) {
	s := newShelf()
	for i := range 300 {
		e := warm("a", uint64(i+1))
		e.AcceptedAt = e.AcceptedAt.Add(-time.Minute)
		s.records[ofTenant("gull", fmt.Sprint("s", i))] = stored(e)
		if i < 40 {
			s.records[ofTenant("tern", fmt.Sprint("s", i))] = stored(e)
		}
	}
	p := inmem.New(inmem.Options{Backing: s, Max: 200, PerTenant: func(string) int { return 100 }})
	keepOf(t, p, "gull", "new")
	if err := p.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := "[{gull 100 100 201} {tern 40 100 0}]"
	if got := fmt.Sprint(p.Tenants()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !has(t, p, "gull", "new") {
		t.Error("what was kept while loading made room for what was stored")
	}
	shut(t, p)
}

// TestTenantsAllAtOnce is for the race detector.
func TestTenantsAllAtOnce(t *testing.T) {
	p := inmem.New(inmem.Options{Max: 300, PerTenant: func(tenant string) int { return 120 }})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				tenant := fmt.Sprint("crew-", (i+g)%5)
				keepOf(t, p, tenant, fmt.Sprint("s", i%400))
				has(t, p, tenant, fmt.Sprint("s", i%300))
				if i%50 == 0 {
					if n := p.Len(); n > 300 {
						t.Errorf("%d records", n)
					}
					for _, st := range p.Tenants() {
						if st.Records > 120 {
							t.Errorf("%+v", st)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}
