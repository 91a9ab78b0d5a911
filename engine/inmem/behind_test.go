package inmem_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
)

// shelf is a backing in memory whose calls can be told to hang or to fail.
type shelf struct {
	mu      sync.Mutex
	records map[engine.PinKey]engine.Record
	batches [][]engine.PinWrite
	fail    error
	hang    chan struct{}       // calls wait until it is closed; nil: none does
	during  func(engine.PinKey) // called by Load before each record is handed over
	got     func(engine.PinKey) // called by Get between the reading and the answer
}

func newShelf() *shelf { return &shelf{records: map[engine.PinKey]engine.Record{}} }

func (s *shelf) wait() {
	s.mu.Lock()
	hang := s.hang
	s.mu.Unlock()
	if hang != nil {
		<-hang // whatever the context says, as a frozen disk does
	}
}

func (s *shelf) Get(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	s.wait()
	s.mu.Lock()
	r, err := s.records[key], s.fail
	s.mu.Unlock()
	if s.got != nil {
		s.got(key)
	}
	return r, errors.Join(err, ctx.Err())
}

func (s *shelf) Load(ctx context.Context, each func(engine.PinKey, engine.Record) bool) error {
	s.wait()
	s.mu.Lock()
	all := make(map[engine.PinKey]engine.Record, len(s.records))
	for k, r := range s.records {
		all[k] = r
	}
	err := s.fail
	s.mu.Unlock()
	for k, r := range all {
		if s.during != nil {
			s.during(k)
		}
		if !each(k, r) {
			break
		}
	}
	return errors.Join(err, ctx.Err())
}

func (s *shelf) Write(ctx context.Context, writes []engine.PinWrite) error {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(s.fail, ctx.Err()); err != nil {
		return err
	}
	s.batches = append(s.batches, writes)
	for _, w := range writes {
		if len(w.Record.Models) == 0 {
			delete(s.records, w.Key)
			continue
		}
		s.records[w.Key] = w.Record
	}
	return nil
}

func (s *shelf) set(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *shelf) vendors(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return vendorsOf(s.records[pinKey(id)])
}

func vendorsOf(r engine.Record) (all string) {
	for _, e := range r.For("m") {
		all += e.Vendor + " "
	}
	return all
}

func pinKey(id string) engine.PinKey {
	return engine.PinKey{Tenant: "t", Class: engine.ClassExplicit, ID: id}
}

func warm(vendor string, turn uint64) engine.Entry {
	at := time.Now().Add(time.Duration(turn) * time.Millisecond)
	return engine.Entry{Vendor: vendor, Turn: turn, AcceptedAt: at, ExpiresAt: at.Add(5 * time.Minute)}
}

func keep(t *testing.T, p *inmem.Pins, id string, e engine.Entry) {
	t.Helper()
	if err := p.Keep(context.Background(), pinKey(id), "m", e); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, p *inmem.Pins, id string, e engine.Entry) {
	t.Helper()
	if err := p.Drop(context.Background(), pinKey(id), "m", e); err != nil {
		t.Fatal(err)
	}
}

func recalled(t *testing.T, p *inmem.Pins, id string) string {
	t.Helper()
	r, err := p.Recall(context.Background(), pinKey(id))
	if err != nil {
		t.Fatal(err)
	}
	return vendorsOf(r)
}

func shut(t *testing.T, p *inmem.Pins) {
	t.Helper()
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func load(t *testing.T, p *inmem.Pins) {
	t.Helper()
	if err := p.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestTheShelfIsABacking(t *testing.T) {
	storetest.Backing(t, func(*testing.T) engine.PinBacking { return newShelf() })
}

func TestPinsOverAShelf(t *testing.T) {
	storetest.Pins(t, func(t *testing.T) engine.Pins {
		p := inmem.New(inmem.Options{Backing: newShelf()})
		t.Cleanup(func() { shut(t, p) })
		return p
	})
}

func TestWrittenWithin20ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		p := inmem.New(inmem.Options{Backing: s})
		load(t, p)
		for turn := range uint64(10) {
			keep(t, p, "s", warm("a", turn+1))
			keep(t, p, fmt.Sprint("s", turn), warm("a", turn+1))
		}
		if p.Unwritten() != 11 {
			t.Errorf("%d unwritten", p.Unwritten())
		}
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if p.Unwritten() != 0 || len(s.batches) != 1 || len(s.batches[0]) != 11 {
			t.Errorf("%d unwritten, %d batches", p.Unwritten(), len(s.batches))
		}
		if s.vendors("s") != "a " || s.records[pinKey("s")].For("m")[0].Turn != 10 {
			t.Errorf("stored %+v", s.records[pinKey("s")])
		}
		drop(t, p, "s", s.records[pinKey("s")].For("m")[0])
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if s.vendors("s") != "" || len(s.records) != 10 {
			t.Errorf("after the drop: %q, %d records", s.vendors("s"), len(s.records))
		}
		shut(t, p)
	})
}

func TestABackingThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.records[pinKey("stored")] = engine.Record{}.Keep("m", warm("a", 1))
		p := inmem.New(inmem.Options{Backing: s, Queue: 100, Asks: 4})
		hang := make(chan struct{})
		s.set(func(s *shelf) { s.hang = hang })

		began := time.Now()
		for i := range 150 {
			keep(t, p, fmt.Sprint("s", i), warm("a", 1))
			if recalled(t, p, fmt.Sprint("s", i)) != "a " {
				t.Fatal("a pin just kept is not recalled")
			}
			drop(t, p, fmt.Sprint("s", i), warm("b", 9))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("450 calls waited %v", took)
		}
		time.Sleep(time.Hour)
		if p.Unwritten() != 100 || p.Dropped() != 50 {
			t.Errorf("%d unwritten, %d dropped, want 100 and 50", p.Unwritten(), p.Dropped())
		}

		began = time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		_, err := p.Recall(ctx, pinKey("stored"))
		cancel()
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Millisecond {
			t.Errorf("a miss took %v: %v", took, err)
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			if _, err := p.Recall(ctx, pinKey("stored")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a miss: %v", err)
			}
			cancel()
		}
		if _, err := p.Recall(context.Background(), pinKey("stored")); !errors.Is(err, inmem.ErrBusy) {
			t.Errorf("a miss too many: %v", err)
		}
		if st := p.Stats(); st.Unanswered != 5 || st.Loaded {
			t.Errorf("%+v", st)
		}

		began = time.Now()
		ctx, cancel = context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush: %v", err)
		}
		ctx, cancel = context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err = p.Close(ctx)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
			t.Errorf("flush and close took %v: %v", took, err)
		}
		if recalled(t, p, "s149") != "a " {
			t.Error("a closed table does not answer from memory")
		}
		close(hang) // the writer sees that it is over
	})
}

func TestABackingThatFailsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		var lost []error
		p := inmem.New(inmem.Options{Backing: s, Lost: func(err error) { lost = append(lost, err) }})
		load(t, p)
		full := errors.New("no space")
		s.set(func(s *shelf) { s.fail = full })
		keep(t, p, "s1", warm("a", 1))
		keep(t, p, "s2", warm("a", 1))
		time.Sleep(time.Minute)
		keep(t, p, "s1", warm("b", 2))
		drop(t, p, "s2", warm("other", 1))
		if err := p.Flush(context.Background()); !errors.Is(err, full) {
			t.Errorf("flush: %v", err)
		}
		if st := p.Stats(); st.Unwritten != 2 || st.Dropped != 0 || st.Failed < 10 || int(st.Failed) != len(lost) {
			t.Errorf("%+v, told of %d", st, len(lost))
		}
		s.set(func(s *shelf) { s.fail = nil })
		time.Sleep(6 * time.Second)
		if p.Unwritten() != 0 || s.vendors("s1") != "b a " || s.vendors("s2") != "a " {
			t.Errorf("%d unwritten, stored %q and %q", p.Unwritten(), s.vendors("s1"), s.vendors("s2"))
		}
		s.set(func(s *shelf) { s.fail = full })
		keep(t, p, "s3", warm("a", 1))
		if err := p.Close(context.Background()); err == nil || p.Unwritten() != 1 {
			t.Errorf("close: %v, %d unwritten", err, p.Unwritten())
		}
		keep(t, p, "s4", warm("a", 1))
		if p.Dropped() != 1 {
			t.Errorf("%d dropped after the end", p.Dropped())
		}
		if err := p.Flush(context.Background()); err == nil {
			t.Error("flush after close")
		}
	})
}

func TestCloseWritesWhatIsWaiting(t *testing.T) {
	s := newShelf()
	p := inmem.New(inmem.Options{Backing: s, Delay: time.Hour})
	for i := range 2500 {
		keep(t, p, fmt.Sprint("s", i), warm("a", 1))
	}
	shut(t, p)
	shut(t, p)
	if len(s.records) != 2500 || p.Unwritten() != 0 {
		t.Errorf("%d stored, %d unwritten", len(s.records), p.Unwritten())
	}
	for _, b := range s.batches {
		if len(b) > 1000 {
			t.Errorf("a batch of %d", len(b))
		}
	}
}
