package inmem

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// at is a record whose last acceptance was at the given second after noon.
func at(n int, models int) engine.Record {
	r := engine.Record{}
	for m := range models {
		accepted := noon.Add(time.Duration(n) * time.Second)
		r = r.Keep(fmt.Sprint("model-", m), engine.Entry{
			Vendor: fmt.Sprint("vendor-", n%5), Credential: "main", Turn: uint64(n*100 + m),
			AcceptedAt: accepted, ExpiresAt: accepted.Add(285 * time.Second), Prompt: int64(n) * 977,
		})
	}
	return r
}

// hashOf gives keys few homes in the index, so that they meet often.
func hashOf(n int) (h hash) {
	binary.LittleEndian.PutUint32(h[:], uint32(n%7))
	binary.LittleEndian.PutUint32(h[4:], uint32(n))
	return h
}

// slow is what a shard must do, in the plainest way: a list, latest used first.
type slow struct {
	max  int
	keys []hash
	has  map[hash]engine.Record
	of   map[hash]*tenant
}

// evict forgets the longest idle of those that a tenant has, or of all for nil.
func (s *slow) evict(of *tenant) {
	for i := len(s.keys) - 1; i >= 0; i-- {
		if h := s.keys[i]; of == nil || s.of[h] == of {
			s.forget(h)
			delete(s.has, h)
			return
		}
	}
}

func (s *slow) count(of *tenant) (n int) {
	for _, h := range s.keys {
		if s.of[h] == of {
			n++
		}
	}
	return n
}

func (s *slow) touch(h hash) {
	s.forget(h)
	s.keys = append([]hash{h}, s.keys...)
}

func (s *slow) forget(h hash) {
	for i := range s.keys {
		if s.keys[i] == h {
			s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
			return
		}
	}
}

func (s *slow) put(h hash, of *tenant, r engine.Record) {
	_, known := s.has[h]
	if len(r.Models) == 0 {
		s.forget(h)
		delete(s.has, h)
		return
	}
	switch {
	case known:
	case of.most > 0 && s.count(of) == int(of.most):
		s.evict(of)
	case len(s.keys) == s.max:
		s.evict(nil)
	}
	s.has[h], s.of[h] = r, of
	s.touch(h)
}

func (s *slow) sweep(now time.Time) {
	for h, r := range s.has {
		if len(r.Sweep(now).Models) == 0 {
			s.forget(h)
			delete(s.has, h)
		}
	}
}

func TestShardAgreesWithItsSlowTwin(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + rnd.IntN(60)
		var s shard
		var total atomic.Int64
		s.init(1, limit, &total, newNames())
		crews := []*tenant{{name: "a", count: 1}, {name: "b", count: 1, most: int64(1 + limit/3)}, {name: "c", count: 1, most: int64(1 + rnd.IntN(limit))}}
		twin := &slow{max: limit, has: map[hash]engine.Record{}, of: map[hash]*tenant{}}
		for step := range 4000 {
			n := rnd.IntN(2 * limit)
			h, of := hashOf(n), crews[n%3]
			switch rnd.IntN(10) {
			case 0:
				s.put(h, of, engine.Record{}, 0)
				twin.put(h, of, engine.Record{})
			case 1, 2, 3:
				got, ok := s.get(h, 0)
				want, known := twin.has[h]
				if known {
					twin.touch(h)
				}
				if ok != known || !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d, step %d: get %d: %+v, want %+v", seed, step, n, got, want)
				}
			case 4:
				if rnd.IntN(20) > 0 {
					continue
				}
				now := noon.Add(25*time.Hour + time.Duration(rnd.IntN(step+1))*time.Second)
				s.sweep(now)
				twin.sweep(now)
			default:
				r := at(rnd.IntN(step+1), 1+rnd.IntN(engine.MaxModels))
				s.put(h, of, r, 0)
				twin.put(h, of, r)
			}
			if len(s.slots) > limit || total.Load() != int64(len(s.slots)) {
				t.Fatalf("seed %d, step %d: %d records, counted %d, limit %d", seed, step, len(s.slots), total.Load(), limit)
			}
		}
		var order []hash
		for i := s.ends.head; i != none; i = s.slots[i].all.next {
			order = append(order, s.slots[i].key)
		}
		for _, o := range s.owners {
			if want := twin.count(o.of); int(o.records) != want || o.of.records.Load() != int64(want) || o.of.most > 0 && want > int(o.of.most) {
				t.Fatalf("seed %d: tenant %s has %d records, counted %d, of %d", seed, o.of.name, want, o.records, o.of.most)
			}
			if o.of.most == 0 {
				continue
			}
			var own, want []hash
			for i := o.ends.head; i != none; i = s.slots[i].own.next {
				own = append(own, s.slots[i].key)
			}
			for _, h := range twin.keys {
				if twin.of[h] == o.of {
					want = append(want, h)
				}
			}
			if !reflect.DeepEqual(own, want) {
				t.Fatalf("seed %d: tenant %s's order of use %v, want %v", seed, o.of.name, own, want)
			}
		}
		if len(order) != len(twin.keys) || len(order) > 0 && !reflect.DeepEqual(order, twin.keys) {
			t.Fatalf("seed %d: order of use %v, want %v", seed, order, twin.keys)
		}
		live := 0
		for i := range s.slots {
			live += int(s.slots[i].size)
			if got, _ := s.peek(s.slots[i].key); !reflect.DeepEqual(got, twin.has[s.slots[i].key]) {
				t.Fatalf("seed %d: slot %d holds %+v", seed, i, got)
			}
		}
		if live != s.live || s.live > len(s.data) {
			t.Fatalf("seed %d: %d bytes live, counted %d of %d", seed, live, s.live, len(s.data))
		}
	}
}

func TestALoadBeyondTheLimitKeepsTheLatest(t *testing.T) {
	var s shard
	var total atomic.Int64
	s.init(1, 100, &total, newNames())
	crew := &tenant{name: "a", count: 1}
	for _, n := range rand.New(rand.NewPCG(1, 1)).Perm(1000) {
		s.putLoaded(hashOf(n), crew, at(n, 1), uint32(n))
		if len(s.slots) > 100 {
			t.Fatal("beyond the limit")
		}
	}
	s.settleOrder()
	sum, last := 0, uint32(1000)
	for i := s.ends.head; i != none; i = s.slots[i].all.next {
		if s.slots[i].used > last {
			t.Fatal("the order of use is not that of acceptance")
		}
		last = s.slots[i].used
		sum += int(last)
	}
	if mean := sum / 100; mean < 850 {
		t.Errorf("of 1,000 records the latest 100 should stay, near 950 in the mean; it is %d", mean)
	}
}

// A tenant that stored more than it may have now keeps its latest, and takes nothing
// of another's.
func TestALoadHoldsEachTenantToItsBound(t *testing.T) {
	var s shard
	var total atomic.Int64
	s.init(1, 1000, &total, newNames())
	crews := []*tenant{{name: "a", count: 1, most: 100}, {name: "b", count: 1, most: 300}}
	for _, n := range rand.New(rand.NewPCG(1, 1)).Perm(1200) {
		s.putLoaded(hashOf(n), crews[n%4/3], at(n, 1), uint32(n))
	}
	s.settleOrder()
	a, b := &s.owners[s.places[crews[0]]], &s.owners[s.places[crews[1]]]
	if a.records != 100 || a.evicted != 800 || b.records != 300 || b.evicted != 0 || total.Load() != 400 {
		t.Errorf("a holds %d and gave up %d, b holds %d and gave up %d", a.records, a.evicted, b.records, b.evicted)
	}
	sum := 0
	for i := a.ends.head; i != none; i = s.slots[i].own.next {
		sum += int(s.slots[i].used)
	}
	if mean := sum / 100; mean < 1000 {
		t.Errorf("of 900 records the latest 100 should stay, near 1130 in the mean; it is %d", mean)
	}
}

func TestARecordComesBackFromItsBlock(t *testing.T) {
	n := newNames()
	records := []engine.Record{
		{},
		at(1, 1),
		at(2, engine.MaxModels),
		{Models: []engine.ModelPins{{Model: "", Warm: []engine.Entry{{AcceptedAt: time.Unix(0, 0).UTC(), ExpiresAt: time.Unix(0, 0).UTC()}}}}},
		{Models: []engine.ModelPins{{Model: "zero times", Warm: []engine.Entry{{}}}}},
		{Models: []engine.ModelPins{{Model: "m", Warm: []engine.Entry{
			{Vendor: "v", Credential: "k", Group: engine.GroupClient, Turn: 1<<64 - 1, AcceptedAt: noon, ExpiresAt: noon.Add(1), Read: -1, Write: 1 << 62, Silent: 3, Reported: true},
			{Vendor: "v", Group: "other", AcceptedAt: noon.Add(-1), ExpiresAt: noon.Add(-time.Hour)},
		}}}},
	}
	for range 2 { // the second time the names have numbers
		for i, want := range records {
			block := n.appendRecord(nil, want)
			got := n.record(block)
			if len(want.Models) == 0 {
				want.Models = got.Models[:0]
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("record %d: got %+v, want %+v", i, got, want)
			}
		}
	}
}

func TestNamesBeyondTheirBoundStandInTheRecord(t *testing.T) {
	n := newNames()
	for i := range maxNames + 10 {
		word := fmt.Sprint("model-", i)
		b := n.appendName(nil, word, true)
		got, rest := n.words.Load().readName(b)
		if got != word || len(rest) != 0 {
			t.Fatalf("%q came back as %q", word, got)
		}
	}
	if len(*n.words.Load()) != maxNames {
		t.Errorf("%d names", len(*n.words.Load()))
	}
	b := n.appendName(nil, "a-key-of-the-caller", false)
	if _, ok := n.numbers["a-key-of-the-caller"]; ok || len(b) < 10 {
		t.Error("a caller's own credential takes a number")
	}
}
