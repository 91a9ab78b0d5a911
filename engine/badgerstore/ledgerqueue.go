package badgerstore

import (
	"sync"

	"github.com/warmroute/warmroute/engine"
)

// queue is what waits to be written. Callers never wait for its reader.
type queue struct {
	limit int
	wake  chan struct{} // one place: there is something to do

	mu      sync.Mutex
	turns   []*engine.Turn
	spare   []*engine.Turn // an emptied list to use again
	intents []intent
	closed  bool
	count   uint64 // turns ever taken in
	done    uint64 // turns written or given up, oldest first
	waiters []waiter
}

// intent is the note of an attempt, and where to say that it is written.
type intent struct {
	booked  *engine.Booked
	written chan<- error
}

// waiter waits until so many turns are done.
type waiter struct {
	done  uint64
	ready chan struct{}
}

// put adds a turn, if there is room.
func (q *queue) put(turn *engine.Turn) bool {
	q.mu.Lock()
	if q.closed || int(q.count-q.done) >= q.limit {
		q.mu.Unlock()
		return false
	}
	q.turns = append(q.turns, turn)
	q.count++
	n := len(q.turns)
	q.mu.Unlock()
	if n == 1 || n == smallBatch {
		q.ring()
	}
	return true
}

// intend adds an intent, if there is room.
func (q *queue) intend(b *engine.Booked, written chan<- error) error {
	q.mu.Lock()
	switch {
	case q.closed:
		q.mu.Unlock()
		return ErrLedgerClosed
	case len(q.intents) >= q.limit:
		q.mu.Unlock()
		return ErrFull
	}
	q.intents = append(q.intents, intent{b, written})
	q.mu.Unlock()
	q.ring()
	return nil
}

func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// taken is what take returns.
type taken struct {
	intents []intent
	turns   []*engine.Turn
	left    bool // turns wait, for which it is early
	closed  bool // nothing will follow
}

// take returns all intents and, if it is not early for them, all turns. It is
// never early for a batch, nor when somebody waits for the turns. Intents are to
// be written first: the settlement of one may be among the turns, which are to be
// given back with finish.
func (q *queue) take(early bool) (t taken) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.intents, q.intents, t.closed = q.intents, nil, q.closed
	if early && !q.closed && len(q.waiters) == 0 && len(q.turns) < smallBatch {
		t.left = len(q.turns) > 0
		return t
	}
	t.turns, q.turns, q.spare = q.turns, q.spare[:0], nil
	return t
}

// takeIntents returns all intents.
func (q *queue) takeIntents() (intents []intent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	intents, q.intents = q.intents, nil
	return intents
}

// finish says that n more turns are written or given up.
func (q *queue) finish(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done += uint64(n)
	kept := q.waiters[:0]
	for _, w := range q.waiters {
		if w.done <= q.done {
			close(w.ready)
			continue
		}
		kept = append(kept, w)
	}
	q.waiters = kept
}

// reuse takes back a list of turns whose members are done.
func (q *queue) reuse(turns []*engine.Turn) {
	clear(turns)
	if cap(turns) > 4096 {
		return
	}
	q.mu.Lock()
	q.spare = turns[:0]
	q.mu.Unlock()
}

// flushed is closed once every turn put so far is done.
func (q *queue) flushed() <-chan struct{} {
	defer q.ring()
	ready := make(chan struct{})
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done >= q.count {
		close(ready)
		return ready
	}
	q.waiters = append(q.waiters, waiter{q.count, ready})
	return ready
}

func (q *queue) waiting() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(q.count - q.done)
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ring()
}
