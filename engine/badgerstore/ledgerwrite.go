package badgerstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// The sizes of batches: small ones while intents may come in, whose callers wait;
// large ones where many turns wait, so that writing catches up.
const (
	smallBatch = 64
	largeBatch = 512
	manyTurns  = 2048

	pace = 5 * time.Millisecond // between two batches of turns that are small
)

// run writes what waits in the queue, until it is closed. Turns that come one by
// one are written at once; while they keep coming, those of a few milliseconds
// together.
func (l *Ledger) run() {
	defer close(l.ended)
	tick := time.NewTicker(l.options.Sweep)
	defer tick.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var last time.Time // when turns were written
	for {
		wait := pace - time.Since(last)
		t := l.queue.take(wait > 0)
		l.writeIntents(t.intents)
		l.writeTurns(t.turns)
		switch {
		case len(t.turns) > 0:
			last = time.Now()
			continue
		case len(t.intents) > 0:
			continue
		case t.closed:
			l.sweeper.end(ErrLedgerClosed)
			return
		case l.sweeper.active:
			l.sweepSome()
			continue
		case t.left:
			pause.Reset(wait)
		}
		select {
		case <-l.queue.wake:
		case <-pause.C:
		case <-tick.C:
			l.sweeper.begin(nil)
		case waiter := <-l.sweeps:
			l.sweeper.begin(waiter)
		}
	}
}

// writeIntents writes notes of attempts and tells those who wait.
func (l *Ledger) writeIntents(intents []intent) {
	for len(intents) > 0 {
		n := min(len(intents), largeBatch)
		err := l.storeIntents(intents[:n])
		if err != nil {
			l.figures.unwritten.Add(int64(n))
			l.complain("attempts are not noted", err)
		}
		for _, in := range intents[:n] {
			in.written <- err
		}
		intents = intents[n:]
	}
}

func (l *Ledger) storeIntents(intents []intent) error {
	if err := l.files.guard.check(); err != nil {
		return err
	}
	txn := l.db.NewTransaction(true)
	defer txn.Discard()
	keys := make([][]byte, len(intents))
	for i, in := range intents {
		keys[i] = intentKey(in.booked.Tenant, in.booked.ID)
		err := txn.Set(keys[i], encodeBooked(keys[i], in.booked))
		if errors.Is(err, badger.ErrTxnTooBig) && len(intents) > 1 {
			txn.Discard()
			half := len(intents) / 2
			return errors.Join(l.storeIntents(intents[:half]), l.storeIntents(intents[half:]))
		}
		if err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.commit(txn); err != nil {
		return err
	}
	for i, in := range intents {
		l.open[string(keys[i])] = in.booked
	}
	l.figures.intents.Add(int64(len(intents)))
	l.figures.open.Store(int64(len(l.open)))
	return nil
}

func (l *Ledger) commit(txn *badger.Txn) error {
	if err := txn.Commit(); err != nil {
		l.files.guard.failed(err)
		return err
	}
	l.trouble.gone()
	l.figures.batches.Add(1)
	l.soil()
	return nil
}

// writeTurns writes turns in batches; between them, the notes that came in.
func (l *Ledger) writeTurns(turns []*engine.Turn) {
	size := smallBatch
	if len(turns) > manyTurns {
		size = largeBatch
	}
	books := make([]engine.Booked, 0, min(len(turns), size))
	for at := 0; at < len(turns); at += size {
		if at > 0 {
			l.writeIntents(l.queue.takeIntents())
		}
		books = books[:0]
		for i := at; i < min(at+size, len(turns)); i++ {
			books = append(books, engine.Book(*turns[i]))
		}
		l.writeBooks(books, turns[at:at+len(books)])
		l.queue.finish(len(books))
	}
	if len(turns) > 0 {
		l.queue.reuse(turns)
	}
}

// writeBooks writes a batch, or gives it up.
func (l *Ledger) writeBooks(books []engine.Booked, turns []*engine.Turn) {
	err := l.files.guard.check()
	if err == nil {
		err = l.store(books, turns)
	} else {
		l.figures.dropped.Add(int64(len(books)))
	}
	if err != nil {
		l.complain("turns are not recorded", err)
	}
}

// store writes a batch in one transaction, or in several, each whole, where it is
// too big for one. What cannot be written is counted as dropped. turns are what the
// books were made of, for the auditor; nil where there is nothing to judge.
func (l *Ledger) store(books []engine.Booked, turns []*engine.Turn) error {
	p := l.newPosting()
	defer p.txn.Discard()
	for i := range books {
		var turn *engine.Turn
		if turns != nil {
			turn = turns[i]
		}
		if err := p.post(&books[i], turn); err != nil {
			return l.split(p, books, turns, err)
		}
	}
	if err := p.finish(); err != nil {
		return l.split(p, books, turns, err)
	}
	if err := l.settle(p); err != nil {
		l.figures.dropped.Add(int64(len(books)))
		return err
	}
	if len(p.fresh) > 0 {
		l.options.Settled(p.fresh)
	}
	return nil
}

// settle commits a posting.
func (l *Ledger) settle(p *posting) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.commit(p.txn); err != nil {
		return err
	}
	for _, key := range p.settled {
		delete(l.open, key)
	}
	l.figures.open.Store(int64(len(l.open)))
	l.figures.recorded.Add(p.recorded)
	l.figures.twice.Add(p.twice)
	return nil
}

// split tries again with half as many, if the batch was only too big.
func (l *Ledger) split(p *posting, books []engine.Booked, turns []*engine.Turn, err error) error {
	p.txn.Discard()
	if errors.Is(err, badger.ErrTxnTooBig) && len(books) > 1 {
		half := len(books) / 2
		if turns == nil {
			return errors.Join(l.store(books[:half], nil), l.store(books[half:], nil))
		}
		return errors.Join(l.store(books[:half], turns[:half]), l.store(books[half:], turns[half:]))
	}
	l.figures.dropped.Add(int64(len(books)))
	return err
}

// bookLeftovers books the turns that an earlier process began and never ended.
func (l *Ledger) bookLeftovers() error {
	for {
		left, bad, err := l.leftovers(smallBatch)
		if err != nil {
			return fmt.Errorf("look for unfinished turns: %w", err)
		}
		if len(left) == 0 && len(bad) == 0 {
			return nil
		}
		if err := l.drop(bad); err != nil {
			return fmt.Errorf("forget damaged notes: %w", err)
		}
		if err := l.store(left, nil); err != nil {
			return fmt.Errorf("book unfinished turns: %w", err)
		}
	}
}

// leftovers are some notes of attempts in the database, and the keys of damaged
// ones.
func (l *Ledger) leftovers(limit int) (left []engine.Booked, bad [][]byte, err error) {
	err = l.db.View(func(txn *badger.Txn) error {
		return each(txn, []byte{kindIntent}, nil, func(key []byte, item *badger.Item) (bool, error) {
			err := item.Value(func(value []byte) error {
				b, ok := decodeBooked(key, value)
				if !ok || string(intentKey(b.Tenant, b.ID)) != string(key) {
					l.figures.bad.Add(1)
					bad = append(bad, append([]byte(nil), key...))
					return nil
				}
				left = append(left, b)
				return nil
			})
			return len(left)+len(bad) < limit, err
		})
	})
	return left, bad, err
}

// drop removes keys.
func (l *Ledger) drop(keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	txn := l.db.NewTransaction(true)
	defer txn.Discard()
	for _, key := range keys {
		if err := txn.Delete(key); err != nil {
			return err
		}
	}
	return l.commit(txn)
}
