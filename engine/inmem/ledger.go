package inmem

import (
	"context"
	"sync"

	"github.com/warmroute/warmroute/engine"
)

// Ledger remembers the last turns it was told of, and answers for those. It
// implements [engine.Ledger], [engine.Intents] and [engine.Books]; the zero Ledger
// remembers 1,000. Its methods may be called from several goroutines.
type Ledger struct {
	Max     int            // turns remembered; 0 means 1,000. Not to be changed after first use
	Auditor engine.Auditor // judges turns as they are recorded; nil: nobody does. Not to be changed either

	// Settled is told of turns once they are in the books, with what the auditor said
	// of them, each once; nil: nobody is. Not to be changed either. What it is given is
	// the ledger's.
	Settled func([]engine.Booked)

	mu     sync.Mutex
	turns  []engine.Turn // a ring once it is full
	oldest int
	count  int64
	told   chan struct{} // closed by the next Record; nil while nobody waits

	books []*engine.Booked           // in the order in which they were told; each turn once
	known map[turnKey]*engine.Booked // the same
	open  map[turnKey]*engine.Booked // turns in flight

	accounts map[turnKey][]byte    // what the auditor said of the turns in known
	memories map[sessionKey][]byte // and what it remembers of their sessions
	held     map[sessionKey]int    // turns in known of each session
}

// Record remembers turn, forgetting the oldest if there are too many.
func (l *Ledger) Record(turn engine.Turn) {
	if b := l.record(turn); b != nil && l.Settled != nil {
		l.Settled([]engine.Booked{*b})
	}
}

// record is what was booked; nil if the turn was booked before.
func (l *Ledger) record(turn engine.Turn) *engine.Booked {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.Max
	if limit <= 0 {
		limit = 1000
	}
	if len(l.turns) < limit {
		l.turns = append(l.turns, turn)
	} else {
		l.turns[l.oldest] = turn
		l.oldest = (l.oldest + 1) % limit
	}
	b := l.book(turn, limit)
	l.count++
	if l.told != nil {
		close(l.told)
		l.told = nil
	}
	return b
}

// Recorded are the turns remembered as they were told, oldest first.
func (l *Ledger) Recorded() []engine.Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	turns := make([]engine.Turn, 0, len(l.turns))
	turns = append(turns, l.turns[l.oldest:]...)
	return append(turns, l.turns[:l.oldest]...)
}

// Count is the number of turns recorded, forgotten ones included, and a
// channel that is closed when another is: a caller that waits for the nth turn
// reads count, and waits for next while it is too low.
func (l *Ledger) Count() (count int64, next <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == nil {
		l.told = make(chan struct{})
	}
	return l.count, l.told
}

// Wait returns once n turns are recorded, or with ctx's error.
func (l *Ledger) Wait(ctx context.Context, n int64) error {
	for {
		count, next := l.Count()
		if count >= n {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
