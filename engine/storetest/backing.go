package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Backing runs what every implementation of [engine.PinBacking] must hold.
// open returns an empty store, which open itself cleans up after the test.
func Backing(t *testing.T, open func(t *testing.T) engine.PinBacking) {
	tests := []struct {
		name string
		run  func(t *testing.T, b backing)
	}{
		{"an empty store", nothing},
		{"what is written is read and loaded", written},
		{"a later write replaces, a record without models deletes", replaced},
		{"every field and a full record come back", whole},
		{"keys that look alike are apart", apartBehind},
		{"an expired record is stored for a day", storedForADay},
		{"more records than fit one batch", thousands},
		{"a load ends when it is told to", loadEnds},
		{"a context that is over", contextOver},
		{"many goroutines", crowdBehind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, backing{t, open(t)}) })
	}
}

// backing fails the test where a store returns an error.
type backing struct {
	t     *testing.T
	store engine.PinBacking
}

func (b backing) write(writes ...engine.PinWrite) {
	b.t.Helper()
	if err := b.store.Write(context.Background(), writes); err != nil {
		b.t.Errorf("write: %v", err)
	}
}

func (b backing) get(k engine.PinKey) engine.Record {
	b.t.Helper()
	r, err := b.store.Get(context.Background(), k)
	if err != nil {
		b.t.Errorf("get: %v", err)
	}
	return r
}

func (b backing) load() map[engine.PinKey]engine.Record {
	b.t.Helper()
	all := map[engine.PinKey]engine.Record{}
	err := b.store.Load(context.Background(), func(k engine.PinKey, r engine.Record) bool {
		if _, twice := all[k]; twice {
			b.t.Errorf("%+q was loaded twice", k)
		}
		all[k] = r
		return true
	})
	if err != nil {
		b.t.Fatalf("load: %v", err)
	}
	return all
}

func one(id, vendor string, turn uint64, accepted time.Time) engine.PinWrite {
	return engine.PinWrite{Key: key(id), Record: engine.Record{}.Keep("m", entry(vendor, turn, accepted))}
}

func nothing(t *testing.T, b backing) {
	same(t, "get", b.get(key("s")), engine.Record{})
	if all := b.load(); len(all) != 0 {
		t.Fatalf("loaded %d records", len(all))
	}
	b.write()
	b.write(engine.PinWrite{Key: key("s")})
	if all := b.load(); len(all) != 0 {
		t.Fatalf("loaded %d records after the deletion of nothing", len(all))
	}
}

func written(t *testing.T, b backing) {
	now := start()
	writes := []engine.PinWrite{one("s1", "a", 1, now), one("s2", "b", 2, now), one("s3", "c", 3, now)}
	b.write(writes...)
	all := b.load()
	if len(all) != len(writes) {
		t.Fatalf("loaded %d records", len(all))
	}
	for _, w := range writes {
		same(t, "get", b.get(w.Key), w.Record)
		same(t, "load", all[w.Key], w.Record)
	}
}

func replaced(t *testing.T, b backing) {
	now := start()
	b.write(one("s1", "a", 1, now), one("s2", "b", 2, now))
	later := one("s1", "c", 3, now.Add(time.Second))
	b.write(later, engine.PinWrite{Key: key("s2")})
	same(t, "replaced", b.get(key("s1")), later.Record)
	same(t, "deleted", b.get(key("s2")), engine.Record{})
	if all := b.load(); len(all) != 1 {
		t.Fatalf("loaded %d records", len(all))
	}
	b.write(one("s3", "d", 4, now), later, engine.PinWrite{Key: key("s3")})
	same(t, "written and deleted at once", b.get(key("s3")), engine.Record{})
}

func whole(t *testing.T, b backing) {
	now := start()
	strange := engine.Record{}
	for _, e := range odd(now) {
		strange = strange.Keep("m|\x00é", e)
	}
	b.write(engine.PinWrite{Key: key("odd"), Record: strange}, engine.PinWrite{Key: key("full"), Record: full(now)})
	same(t, "odd", b.get(key("odd")), strange)
	same(t, "full", b.get(key("full")), full(now))
}

func apartBehind(t *testing.T, b backing) {
	now := start()
	for i, k := range twins() {
		b.write(engine.PinWrite{Key: k, Record: engine.Record{}.Keep("m", entry(fmt.Sprint(i), uint64(i), now))})
	}
	all := b.load()
	for i, k := range twins() {
		if got := vendors(b.get(k).For("m")); got != fmt.Sprint(i)+" " {
			t.Errorf("%+q holds the vendors %q, want %d", k, got, i)
		}
		if got := vendors(all[k].For("m")); got != fmt.Sprint(i)+" " {
			t.Errorf("%+q was loaded with the vendors %q, want %d", k, got, i)
		}
	}
}

func storedForADay(t *testing.T, b backing) {
	now := start()
	fresh := one("fresh", "a", 1, now.Add(-23*time.Hour))
	b.write(fresh, one("stale", "b", 2, now.Add(-25*time.Hour)))
	same(t, "expired 23 hours ago", b.get(key("fresh")), fresh.Record)
}

func thousands(t *testing.T, b backing) {
	const n = 5000
	now := start()
	writes := make([]engine.PinWrite, n)
	for i := range writes {
		writes[i] = one(fmt.Sprint("s", i), fmt.Sprint("v", i%7), uint64(i), now)
	}
	b.write(writes...)
	all := b.load()
	if len(all) != n {
		t.Fatalf("loaded %d records, want %d", len(all), n)
	}
	for _, w := range writes {
		same(t, "load", all[w.Key], w.Record)
	}
}

func loadEnds(t *testing.T, b backing) {
	now := start()
	for i := range 10 {
		b.write(one(fmt.Sprint("s", i), "a", uint64(i), now))
	}
	seen := 0
	err := b.store.Load(context.Background(), func(engine.PinKey, engine.Record) bool { seen++; return seen < 3 })
	if err != nil || seen != 3 {
		t.Fatalf("saw %d records, err %v", seen, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = b.store.Load(ctx, func(engine.PinKey, engine.Record) bool { cancel(); return true })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err %v", err)
	}
}

func contextOver(t *testing.T, b backing) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.store.Get(ctx, key("s")); !errors.Is(err, context.Canceled) {
		t.Errorf("get: err %v", err)
	}
	if err := b.store.Write(ctx, []engine.PinWrite{one("s", "a", 1, start())}); !errors.Is(err, context.Canceled) {
		t.Errorf("write: err %v", err)
	}
	if err := b.store.Load(ctx, func(engine.PinKey, engine.Record) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("load: err %v", err)
	}
}

func crowdBehind(t *testing.T, b backing) {
	now := start()
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 30 {
				w := one(fmt.Sprint("s", g), "a", uint64(i), now.Add(time.Duration(i)*time.Second))
				b.write(w, one("shared", fmt.Sprint(g), uint64(g), now))
				same(t, "get", b.get(w.Key), w.Record)
			}
		})
	}
	wg.Wait()
	if all := b.load(); len(all) != 7 {
		t.Errorf("loaded %d records", len(all))
	}
}
