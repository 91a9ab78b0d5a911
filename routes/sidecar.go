package routes

import (
	lists "container/list"
	"context"
	"sync"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The bounds of what is kept of turns that are carried out elsewhere, until they are
// reported. A tenant that exceeds them forgets its own oldest turn; those of others
// are never touched.
const (
	MaxPending      = 1 << 14          // turns of one tenant, reported ones that may be repeated among them
	MaxPendingBytes = 64 << 20         // of one tenant's turns
	PendingTime     = 15 * time.Minute // from the last that was heard of a turn
	OpenTime        = time.Hour        // the same, while a vendor works on it
)

// Sidecar keeps the turns that POST /v1/route has decided and POST /v1/outcomes has
// not heard the end of. It lies in memory and ends with the process: a report must
// come to the process that decided.
//
// The zero Sidecar is ready. Its methods may be called from several goroutines.
type Sidecar struct {
	mu      sync.Mutex
	tenants map[string]*desk
	figures SidecarFigures
}

// SidecarFigures are how turns that are carried out elsewhere stand.
type SidecarFigures struct {
	Pending   int64 // decided or begun, and not settled
	Bytes     int64 // of memory that they hold
	Unheard   int64 // forgotten since the start without a word; they are not in the books
	Abandoned int64 // forgotten since the start before their end was told; booked as far as it was known
}

// desk is one tenant's turns: those that wait, and those that a vendor works on, each
// in the order in which they were last heard of.
type desk struct {
	turns         map[string]*lists.Element // of either list, by id
	waiting, open *lists.List
	bytes         int64
}

// ticket is one turn at a desk.
type ticket struct {
	id      string
	pending *engine.Pending // nil once it is settled
	answer  []byte          // to its last report, and to whoever repeats it
	bytes   int64
	at      time.Time // when it was last heard of
	open    bool
}

// overhead is about what a ticket costs beside what it holds, in bytes.
const overhead = 512

// put keeps a turn until it is reported; expires is when it is forgotten unless
// something is heard of it.
func (s *Sidecar) put(tenant, id string, p *engine.Pending, now time.Time) (expires time.Time) {
	size := p.Size() + overhead
	s.mu.Lock()
	d := s.tenants[tenant]
	if d == nil {
		if s.tenants == nil {
			s.tenants = map[string]*desk{}
		}
		d = &desk{turns: map[string]*lists.Element{}, waiting: lists.New(), open: lists.New()}
		s.tenants[tenant] = d
	}
	d.turns[id] = d.waiting.PushBack(&ticket{id: id, pending: p, bytes: size, at: now})
	s.weigh(d, size)
	s.figures.Pending++
	gone := s.sweep(d, now)
	s.mu.Unlock()
	s.forget(gone)
	return now.Add(PendingTime)
}

// find is a tenant's turn: one that is pending, or the answer to the report that
// settled it. ok is false for a turn that is not there, and for another tenant's.
func (s *Sidecar) find(tenant, id string, now time.Time) (p *engine.Pending, answer []byte, ok bool) {
	s.mu.Lock()
	d := s.tenants[tenant]
	if d == nil {
		s.mu.Unlock()
		return nil, nil, false
	}
	gone := s.sweep(d, now)
	if e := d.turns[id]; e != nil {
		t := e.Value.(*ticket)
		p, answer, ok = t.pending, t.answer, true
	}
	s.mu.Unlock()
	s.forget(gone)
	return p, answer, ok
}

// heard notes that a turn was reported of; answer is that to its last report, nil
// where it is not settled. expires is when it is forgotten.
func (s *Sidecar) heard(tenant, id string, p *engine.Pending, answer []byte, now time.Time) (expires time.Time) {
	size, open := overhead+int64(len(answer)), false
	if answer == nil {
		size, open = overhead+p.Size(), p.Open()
	}
	s.mu.Lock()
	d := s.tenants[tenant]
	if d == nil {
		s.mu.Unlock()
		return now
	}
	var gone []*engine.Pending
	if e := d.turns[id]; e != nil && e.Value.(*ticket).pending != nil {
		t := e.Value.(*ticket)
		d.of(t).Remove(e)
		s.weigh(d, size-t.bytes)
		t.bytes, t.at, t.open = size, now, open
		if answer != nil {
			t.pending, t.answer = nil, answer
			s.figures.Pending--
		}
		d.turns[id] = d.of(t).PushBack(t)
		gone = s.sweep(d, now)
	}
	s.mu.Unlock()
	s.forget(gone)
	if open {
		return now.Add(OpenTime)
	}
	return now.Add(PendingTime)
}

// of is the list that a ticket stands in.
func (d *desk) of(t *ticket) *lists.List {
	if t.open {
		return d.open
	}
	return d.waiting
}

func (s *Sidecar) weigh(d *desk, bytes int64) {
	d.bytes += bytes
	s.figures.Bytes += bytes
}

// sweep takes away what is past its time or beyond the bounds. The turns that are
// returned are to be forgotten, once the lock is not held.
func (s *Sidecar) sweep(d *desk, now time.Time) (gone []*engine.Pending) {
	take := func(l *lists.List) {
		t := l.Remove(l.Front()).(*ticket)
		delete(d.turns, t.id)
		s.weigh(d, -t.bytes)
		if t.pending != nil {
			s.figures.Pending--
			gone = append(gone, t.pending)
		}
	}
	late := func(l *lists.List, limit time.Duration) bool {
		front := l.Front()
		return front != nil && now.Sub(front.Value.(*ticket).at) > limit
	}
	for late(d.waiting, PendingTime) {
		take(d.waiting)
	}
	for late(d.open, OpenTime) {
		take(d.open)
	}
	for len(d.turns) > 1 && (len(d.turns) > MaxPending || d.bytes > MaxPendingBytes) {
		if d.waiting.Len() > 0 {
			take(d.waiting)
		} else {
			take(d.open)
		}
	}
	return gone
}

// forget ends turns that nobody will tell of any more.
func (s *Sidecar) forget(gone []*engine.Pending) {
	for _, p := range gone {
		settled, booked := p.Forget(context.Background())
		s.mu.Lock()
		switch {
		case settled: // by a report that came at the same moment
		case booked:
			s.figures.Abandoned++
		default:
			s.figures.Unheard++
		}
		s.mu.Unlock()
	}
}

// Figures are those of this moment.
func (s *Sidecar) Figures(now time.Time) SidecarFigures {
	s.mu.Lock()
	var gone []*engine.Pending
	for _, d := range s.tenants {
		gone = append(gone, s.sweep(d, now)...)
	}
	s.mu.Unlock()
	s.forget(gone)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.figures
}
