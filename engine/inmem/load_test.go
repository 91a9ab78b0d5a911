package inmem_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

func stored(entries ...engine.Entry) (r engine.Record) {
	for _, e := range entries {
		r = r.Keep("m", e)
	}
	return r
}

// over is a table over a shelf that holds records, and is not loaded.
func over(t *testing.T, records map[string]engine.Record) (*inmem.Pins, *shelf) {
	s := newShelf()
	for id, r := range records {
		s.records[pinKey(id)] = r
	}
	p := inmem.New(inmem.Options{Backing: s, Delay: time.Hour})
	t.Cleanup(func() { shut(t, p) })
	return p, s
}

func TestAMissBeforeTheLoadAsksTheBacking(t *testing.T) {
	p, _ := over(t, map[string]engine.Record{"s": stored(warm("a", 1))})
	if p.Loaded() || recalled(t, p, "s") != "a " || recalled(t, p, "other") != "" {
		t.Error("not answered by the backing")
	}
	load(t, p)
	if !p.Loaded() || recalled(t, p, "s") != "a " || p.Len() != 1 {
		t.Error("not answered from memory")
	}
	load(t, p)
}

func TestWhatIsKeptWhileLoadingWins(t *testing.T) {
	was := warm("a", 1)
	reported := was
	reported.Reported, reported.Read = true, 900
	p, s := over(t, map[string]engine.Record{"s": stored(was, warm("b", 2)), "same": stored(was)})
	s.during = func(key engine.PinKey) {
		if key == pinKey("s") {
			keep(t, p, "s", warm("a", 3))
		}
		if key == pinKey("same") {
			keep(t, p, "same", reported)
		}
	}
	load(t, p)
	r, err := p.Recall(context.Background(), pinKey("s"))
	if err != nil || vendorsOf(r) != "a b " || r.For("m")[0].Turn != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, _ = p.Recall(context.Background(), pinKey("same")); len(r.For("m")) != 1 || !r.For("m")[0].Reported {
		t.Errorf("what was reported is lost: %+v", r)
	}
}

func TestWhatIsDroppedWhileLoadingStaysDropped(t *testing.T) {
	for _, recall := range []bool{true, false} {
		t.Run(fmt.Sprint("recalled before ", recall), func(t *testing.T) {
			a, b := warm("a", 1), warm("b", 2)
			p, s := over(t, map[string]engine.Record{"s": stored(a, b), "alone": stored(a)})
			if recall && recalled(t, p, "s")+recalled(t, p, "alone") != "b a a " {
				t.Fatal("not answered by the backing")
			}
			drop(t, p, "s", b)
			drop(t, p, "alone", a)
			load(t, p)
			if got := recalled(t, p, "s") + recalled(t, p, "alone"); got != "a " {
				t.Errorf("recalled %q", got)
			}
			if err := p.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := s.vendors("s") + s.vendors("alone"); got != "a " {
				t.Errorf("stored %q", got)
			}
		})
	}
}

func TestAWriteBeforeTheLoadKeepsWhatIsStored(t *testing.T) {
	a, b := warm("a", 1), warm("b", 2)
	p, s := over(t, map[string]engine.Record{"s": stored(a), "dropped": stored(a, b)})
	keep(t, p, "s", b)
	drop(t, p, "dropped", b)
	keep(t, p, "broken", b)
	drop(t, p, "broken", b)
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.vendors("s") != "b a " || s.vendors("dropped") != "a " || s.vendors("broken") != "" {
		t.Errorf("stored %q, %q, %q", s.vendors("s"), s.vendors("dropped"), s.vendors("broken"))
	}
	if recalled(t, p, "s") != "b a " || recalled(t, p, "dropped") != "a " {
		t.Errorf("recalled %q, %q", recalled(t, p, "s"), recalled(t, p, "dropped"))
	}
}

// TestALateAnswerResurrectsNothing has the backing answer a miss after the
// load, and a drop, have overtaken it.
func TestALateAnswerResurrectsNothing(t *testing.T) {
	a := warm("a", 1)
	p, s := over(t, map[string]engine.Record{"s": stored(a)})
	s.got = func(engine.PinKey) {
		load(t, p)
		drop(t, p, "s", a)
	}
	if got := recalled(t, p, "s"); got != "" {
		t.Errorf("recalled %q", got)
	}
	if got := recalled(t, p, "s"); got != "" {
		t.Errorf("recalled %q afterwards", got)
	}
}

func TestALoadThatFailsMayBeTriedAgain(t *testing.T) {
	p, s := over(t, map[string]engine.Record{"s": stored(warm("a", 1))})
	broken := errors.New("broken")
	s.set(func(s *shelf) { s.fail = broken })
	if err := p.Load(context.Background()); !errors.Is(err, broken) || p.Loaded() {
		t.Fatalf("err %v, loaded %v", err, p.Loaded())
	}
	if _, err := p.Recall(context.Background(), pinKey("other")); !errors.Is(err, broken) {
		t.Errorf("a miss: %v", err)
	}
	s.set(func(s *shelf) { s.fail = nil })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Load(ctx); !errors.Is(err, context.Canceled) || p.Loaded() {
		t.Fatalf("err %v", err)
	}
	load(t, p)
	if recalled(t, p, "s") != "a " {
		t.Error("not loaded")
	}
}

func TestWhatIsTooOldOrOfTheFutureIsNotLoaded(t *testing.T) {
	old, future := warm("old", 1), warm("future", 2)
	old.AcceptedAt, old.ExpiresAt = old.AcceptedAt.Add(-26*time.Hour), old.ExpiresAt.Add(-26*time.Hour)
	future.AcceptedAt, future.ExpiresAt = future.AcceptedAt.Add(time.Hour), future.ExpiresAt.Add(time.Hour)
	p, _ := over(t, map[string]engine.Record{"s": {Models: []engine.ModelPins{{Model: "m", Warm: []engine.Entry{future, warm("a", 3), old}}}}, "old": stored(old)})
	load(t, p)
	if got := recalled(t, p, "s"); got != "a " || p.Len() != 1 {
		t.Errorf("recalled %q, %d records", got, p.Len())
	}
}

func TestALoadOfMoreThanTheLimit(t *testing.T) {
	s := newShelf()
	for i := range 5000 {
		s.records[pinKey(fmt.Sprint("s", i))] = stored(warm("a", uint64(i)))
	}
	p := inmem.New(inmem.Options{Backing: s, Max: 300})
	load(t, p)
	if p.Len() != 300 {
		t.Errorf("%d records", p.Len())
	}
	keep(t, p, "new", warm("a", 1))
	if p.Len() != 300 || recalled(t, p, "new") != "a " {
		t.Error("a new session is refused")
	}
	shut(t, p)
}

func TestWhatADroppedEntryReplacedIsNotLoaded(t *testing.T) {
	p, _ := over(t, map[string]engine.Record{"s": stored(warm("a", 1), warm("b", 2))})
	keep(t, p, "s", warm("a", 3))
	drop(t, p, "s", warm("a", 3))
	load(t, p)
	if got := recalled(t, p, "s"); got != "b " {
		t.Errorf("recalled %q", got)
	}
}

// TestAnyOrderOfLoadingEndsTheSame keeps, drops, recalls and flushes at random
// before and while the stored records are loaded. Memory and backing must end
// as they would have, had everything been in memory from the start.
func TestAnyOrderOfLoadingEndsTheSame(t *testing.T) {
	const sessions = 6
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		turn, began := uint64(0), time.Now().UTC().Round(0)
		next := func() engine.Entry {
			turn++
			at := began.Add(time.Duration(turn) * time.Millisecond)
			return engine.Entry{Vendor: fmt.Sprint("v", rnd.IntN(engine.MaxWarm)), Thread: uint64(rnd.IntN(2)), Turn: turn, AcceptedAt: at, ExpiresAt: at.Add(5 * time.Minute)}
		}
		s, twin := newShelf(), map[engine.PinKey]engine.Record{}
		for i := range sessions {
			for range rnd.IntN(4) {
				key := pinKey(fmt.Sprint("s", i))
				twin[key] = twin[key].Keep("m", next())
				s.records[key] = twin[key]
			}
		}
		ctx := context.Background()
		p := inmem.New(inmem.Options{Backing: s, Delay: time.Hour})
		kept := map[engine.PinKey][]engine.Entry{}
		step := func() {
			key := pinKey(fmt.Sprint("s", rnd.IntN(sessions)))
			var err error
			switch rnd.IntN(7) {
			case 0:
				_, err = p.Recall(ctx, key)
			case 6:
				if len(kept[key]) > 0 {
					e := kept[key][rnd.IntN(len(kept[key]))]
					e.Reported, e.Prompt = true, 1000
					err = p.Update(ctx, key, "m", e)
					twin[key] = twin[key].Update("m", e)
				}
			case 1:
				err = p.Flush(ctx)
			case 2, 3:
				if len(kept[key]) > 0 {
					e := kept[key][rnd.IntN(len(kept[key]))]
					err = p.Drop(ctx, key, "m", e)
					twin[key] = twin[key].Drop("m", e)
				}
			default:
				e := next()
				kept[key] = append(kept[key], e)
				err = p.Keep(ctx, key, "m", e)
				twin[key] = twin[key].Keep("m", e)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for range rnd.IntN(20) {
			step()
		}
		s.during = func(engine.PinKey) {
			for range rnd.IntN(4) {
				step()
			}
		}
		load(t, p)
		s.during = nil
		for range rnd.IntN(5) {
			step()
		}
		shut(t, p)
		for i := range sessions {
			key := pinKey(fmt.Sprint("s", i))
			r, err := p.Recall(ctx, key)
			if err != nil || !reflect.DeepEqual(r.For("m"), twin[key].For("m")) {
				t.Fatalf("seed %d, session %d: memory holds %+v, want %+v (%v)", seed, i, r, twin[key], err)
			}
			if !reflect.DeepEqual(s.records[key].For("m"), twin[key].For("m")) {
				t.Fatalf("seed %d, session %d: stored is %+v, want %+v", seed, i, s.records[key], twin[key])
			}
		}
	}
}
