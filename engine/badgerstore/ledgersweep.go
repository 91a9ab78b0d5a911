package badgerstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// sweepBatch is how many things one step of a sweep forgets.
const sweepBatch = 256

// sweeper is how far a sweep has come. It is the writer's alone.
type sweeper struct {
	active  bool
	stage   int
	waiters []chan error
}

func (s *sweeper) begin(waiter chan error) {
	s.active, s.stage = true, 0
	if waiter != nil {
		s.waiters = append(s.waiters, waiter)
	}
}

func (s *sweeper) end(err error) {
	for _, w := range s.waiters {
		w <- err
	}
	*s = sweeper{}
}

// Sweep forgets what is past its time now, rather than at the next turn of the
// clock: turns that began longer ago than Retention, sessions whose last turn
// ended before that, and the finer roll-ups older than Minutes and Hours. Turns
// that began longer ago than Abandoned and did not end are booked as unsettled.
// It returns when that is done, or with ctx's error.
func (l *Ledger) Sweep(ctx context.Context) error {
	waiter := make(chan error, 1)
	select {
	case l.sweeps <- waiter:
	case <-l.closing:
		return fmt.Errorf("sweep ledger: %w", ErrLedgerClosed)
	case <-ctx.Done():
		return fmt.Errorf("sweep ledger: %w", ctx.Err())
	}
	var err error
	select {
	case err = <-waiter:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("sweep ledger: %w", err)
	}
	return nil
}

// sweepSome is one step of a sweep. A stage that finds nothing more is over.
func (l *Ledger) sweepSome() {
	stages := [...]func(now time.Time) (int, error){
		l.settleAbandoned, l.sweepTurns, l.sweepSessions,
		func(now time.Time) (int, error) { return l.sweepRollUps(kindRollUp, now) },
		func(now time.Time) (int, error) { return l.sweepRollUps(kindAccount, now) },
	}
	err := l.files.guard.check()
	n := 0
	if err == nil {
		n, err = stages[l.sweeper.stage](l.options.Now())
	}
	if err != nil {
		l.complain("what is past its time is not forgotten", err)
		l.sweeper.end(err)
		return
	}
	if n == 0 {
		l.sweeper.stage++
	}
	if l.sweeper.stage == len(stages) {
		l.sweeper.end(nil)
	}
}

// settleAbandoned books turns that never ended as unsettled.
func (l *Ledger) settleAbandoned(now time.Time) (int, error) {
	var left []engine.Booked
	for _, b := range l.open {
		if now.Sub(b.Started) > l.options.Abandoned && len(left) < sweepBatch {
			left = append(left, *b)
		}
	}
	if len(left) == 0 {
		return 0, nil
	}
	slices.SortFunc(left, func(a, b engine.Booked) int { return a.Place().Compare(b.Place()) })
	return len(left), l.store(left, nil)
}

// older are some keys of a list that runs from the newest to the oldest, of things
// before cutoff, and their places.
func (l *Ledger) older(kind byte, cutoff time.Time) (places []engine.Place, damaged [][]byte, err error) {
	err = l.db.View(func(txn *badger.Txn) error {
		from := engine.AppendNewest([]byte{kind}, cutoff)
		return each(txn, []byte{kind}, from, func(key []byte, _ *badger.Item) (bool, error) {
			p, ok := engine.ParsePlaceBytes(key[1:])
			if ok {
				places = append(places, p)
			} else {
				damaged = append(damaged, bytes.Clone(key))
			}
			return len(places)+len(damaged) < sweepBatch, nil
		})
	})
	return places, damaged, err
}

func (l *Ledger) sweepTurns(now time.Time) (int, error) {
	if l.options.Retention < 0 {
		return 0, nil
	}
	places, keys, err := l.older(kindAllTurns, now.Add(-l.options.Retention))
	if err != nil {
		return 0, err
	}
	err = l.db.View(func(txn *badger.Txn) error {
		for _, p := range places {
			b := engine.Booked{Tenant: p.Tenant, ID: p.ID, Started: p.At}
			key := turnKey(&b)
			value, err := get(txn, key)
			if err != nil {
				return err
			}
			if whole, ok := decodeBooked(key, value); ok {
				b = whole
			}
			keys = append(keys, keysOf(&b)...)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return l.forget(keys, len(places))
}

func (l *Ledger) sweepSessions(now time.Time) (int, error) {
	if l.options.Retention < 0 {
		return 0, nil
	}
	places, keys, err := l.older(kindAllRecent, now.Add(-l.options.Retention))
	if err != nil {
		return 0, err
	}
	for _, p := range places {
		s := engine.SessionBook{Tenant: p.Tenant, Class: p.Class, ID: p.ID, Last: p.At}
		keys = append(keys, sessionKey(p.Tenant, p.Class, p.ID), memoryKey(p.Tenant, p.Class, p.ID), recentKey(&s), allRecentKey(&s))
	}
	return l.forget(keys, len(places))
}

// sweepRollUps forgets the finer roll-ups. Cutoffs lie between two slots of the
// next coarser level, so that what goes is whole.
func (l *Ledger) sweepRollUps(kind byte, now time.Time) (int, error) {
	var keys [][]byte
	err := l.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte{kind}
		o.PrefetchValues = false
		all := txn.NewIterator(o)
		defer all.Close()
		for all.Seek(o.Prefix); all.Valid(); {
			scope, ok := scopeOf(all.Item().Key())
			if !ok {
				keys = append(keys, all.Item().KeyCopy(nil))
				all.Next()
				continue
			}
			for _, level := range [...]level{minutes, hours} {
				end := appendSlot(bytes.Clone(scope), level, l.keptFrom(level, now))
				for all.Seek(append(bytes.Clone(scope), byte(level))); all.Valid() && bytes.Compare(all.Item().Key(), end) < 0; all.Next() {
					keys = append(keys, all.Item().KeyCopy(nil))
					if len(keys) >= 4*sweepBatch {
						return nil
					}
				}
			}
			all.Seek(after(scope))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return l.forget(keys, len(keys))
}

// scopeOf is what begins a roll-up's key, up to its level.
func scopeOf(key []byte) (scope []byte, ok bool) {
	switch {
	case len(key) < 2:
		return nil, false
	case key[1] == 0:
		return bytes.Clone(key[:2]), true
	case key[1] != 1:
		return nil, false
	}
	in := input{b: key[2:]}
	in.string()
	return bytes.Clone(key[:len(key)-len(in.b)]), !in.bad
}

// forget removes the keys of so many things.
func (l *Ledger) forget(keys [][]byte, things int) (int, error) {
	for part := range slices.Chunk(keys, 4*sweepBatch) {
		if err := l.drop(part); err != nil {
			return 0, err
		}
	}
	l.figures.swept.Add(int64(things))
	return len(keys), nil
}

// keptFrom is the second from which the roll-ups of this level are kept: the
// start of a slot of the next coarser one.
func (l *Ledger) keptFrom(level level, now time.Time) int64 {
	switch {
	case level == minutes && l.options.Minutes > 0:
		return hours.up(now.Add(-l.options.Minutes).Unix())
	case level == hours && l.options.Hours > 0:
		return days.up(now.Add(-l.options.Hours).Unix())
	}
	return farPast
}

// farPast and farFuture stand for the seconds of a query without bounds.
const (
	farPast   = -(1 << 40)
	farFuture = 1 << 40
)
