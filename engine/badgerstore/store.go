package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// prefix begins the key of every pin.
const prefix = 'p'

func dbKey(key engine.PinKey) []byte { return key.AppendBytes([]byte{prefix}) }

// Get returns the record at key, the zero Record if there is none or it is
// damaged. It returns when ctx ends, whatever the disk does.
func (s *Store) Get(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	type answer struct {
		record engine.Record
		err    error
	}
	answered := make(chan answer, 1)
	err := s.begin(ctx, func() {
		r, err := s.get(dbKey(key))
		answered <- answer{r, err}
	})
	if err != nil {
		return engine.Record{}, fmt.Errorf("get pin: %w", err)
	}
	select {
	case a := <-answered:
		if a.err != nil {
			return engine.Record{}, fmt.Errorf("get pin: %w", a.err)
		}
		return a.record, nil
	case <-ctx.Done():
		return engine.Record{}, fmt.Errorf("get pin: %w", ctx.Err())
	}
}

func (s *Store) get(key []byte) (r engine.Record, err error) {
	err = s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(value []byte) error {
			r = s.read(key, value)
			return nil
		})
	})
	return r, err
}

// read decodes a value and counts it if it is damaged.
func (s *Store) read(key, value []byte) engine.Record {
	r, ok := decode(key, value)
	if !ok {
		s.bad.Add(1)
	}
	return r
}

// Load calls each with every record that is stored and not damaged, in the
// order of their keys, until it returns false. It runs in the caller's
// goroutine, looks at ctx between two records, and so outlives it if the disk
// hangs. [Store.Close] ends it.
func (s *Store) Load(ctx context.Context, each func(engine.PinKey, engine.Record) bool) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("load pins: %w", err)
	}
	defer s.leave()
	err := s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte{prefix}
		o.PrefetchValues = false // they lie beside their keys: fetching ahead is a goroutine each, for nothing
		all := txn.NewIterator(o)
		defer all.Close()
		for all.Rewind(); all.Valid(); all.Next() {
			if err := s.stopped(ctx); err != nil {
				return err
			}
			more, err := s.loadItem(all.Item(), each)
			if err != nil || !more {
				return err
			}
		}
		return s.stopped(ctx)
	})
	if err != nil {
		return fmt.Errorf("load pins: %w", err)
	}
	return nil
}

func (s *Store) loadItem(item *badger.Item, each func(engine.PinKey, engine.Record) bool) (more bool, err error) {
	more = true
	err = item.Value(func(value []byte) error {
		key, ok := engine.ParsePinKey(item.Key()[1:])
		if !ok {
			s.bad.Add(1)
			return nil
		}
		if r := s.read(item.Key(), value); len(r.Models) > 0 {
			more = each(key, r)
		}
		return nil
	})
	return more, err
}

// Write stores all of writes. When it returns nil, they survive the end of the
// process, however it comes. It returns when ctx ends; a write that hangs may
// then still land, but before any later one. [ErrNoSpace] means that nothing
// was written because the disk is nearly full.
func (s *Store) Write(ctx context.Context, writes []engine.PinWrite) error {
	if err := s.stopped(ctx); err != nil {
		return fmt.Errorf("write pins: %w", err)
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("write pins: %w", ctx.Err())
	}
	entries := s.entries(writes)
	answered := make(chan error, 1)
	err := s.begin(ctx, func() {
		defer func() { <-s.writing }()
		answered <- s.write(entries)
	})
	if err != nil {
		<-s.writing
		return fmt.Errorf("write pins: %w", err)
	}
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("write pins: %w", err)
		if s.files.guard.problem() == "" && s.trouble.note(err, s.options.Now()) {
			s.options.Log.Error("pins could not be written; it is tried again", "dir", s.dir, "err", err)
		}
		return err
	}
	s.trouble.gone()
	return nil
}

// entries are writes in Badger's form. One without a value is a deletion, as is
// a record whose windows all passed a day ago. Where a key is written twice,
// the last one counts.
func (s *Store) entries(writes []engine.PinWrite) []*badger.Entry {
	now := s.options.Now()
	entries := make([]*badger.Entry, len(writes))
	for i, w := range writes {
		key := dbKey(w.Key)
		entries[i] = badger.NewEntry(key, nil)
		if left := lasts(w.Record, now); left > 0 {
			// Badger counts whole seconds of the wall clock; it may sweep late, never early.
			entries[i] = badger.NewEntry(key, encode(key, w.Record)).WithTTL(left + time.Second)
		}
	}
	return entries
}

// lasts is how long from now r is worth keeping.
func lasts(r engine.Record, now time.Time) time.Duration {
	var end time.Time
	for i := range r.Models {
		for j := range r.Models[i].Warm {
			if e := r.Models[i].Warm[j].ExpiresAt; e.After(end) {
				end = e
			}
		}
	}
	if end.IsZero() {
		return 0
	}
	return end.Add(engine.Readable).Sub(now)
}

func (s *Store) write(entries []*badger.Entry) error {
	if err := s.files.guard.check(); err != nil {
		return err
	}
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, e := range entries {
		var err error
		if e.Value == nil {
			err = batch.Delete(e.Key)
		} else {
			err = batch.SetEntry(e)
		}
		if err != nil {
			return err
		}
	}
	if err := batch.Flush(); err != nil {
		s.files.guard.failed(err)
		return err
	}
	s.dirty.Store(true)
	return nil
}

// Bad is the number of damaged records met since the store was opened; one
// that is met twice counts twice.
func (s *Store) Bad() int64 { return s.bad.Load() }

// Problem is what is wrong with the store now, or was with the one before it that
// had to be set aside; empty if nothing is. It never waits for the disk.
func (s *Store) Problem() string {
	if p := s.trouble.problem(); p != "" && s.files.guard.problem() == "" {
		return p
	}
	return s.files.problem()
}

// Dir is the directory the store lies in.
func (s *Store) Dir() string { return s.dir }

// enter takes a place for a call, waiting for one as long as ctx lasts.
func (s *Store) enter(ctx context.Context) error {
	if err := s.stopped(ctx); err != nil {
		return err
	}
	select {
	case s.places <- struct{}{}:
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	// Close takes every place after it has set closing: a call that got its
	// place before sees an open database, one that got it after sees this.
	if err := s.stopped(ctx); err != nil {
		s.leave()
		return err
	}
	return nil
}

func (s *Store) leave() { <-s.places }

// begin runs call in a goroutine with a place of its own.
func (s *Store) begin(ctx context.Context, call func()) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	go func() {
		defer s.leave()
		call()
	}()
	return nil
}

// stopped says why no call may go on, if so.
func (s *Store) stopped(ctx context.Context) error {
	select {
	case <-s.closing:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// sync has the disk take what was written, while the store is open.
func (s *Store) sync() {
	defer close(s.synced)
	tick := time.NewTicker(s.options.Sync)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		if !s.dirty.Swap(false) {
			continue
		}
		if err := s.files.sync(); err != nil {
			s.dirty.Store(true)
			s.options.Log.Error("pins are not synced to disk", "dir", s.dir, "err", err)
		}
	}
}

// Close waits for the calls at work and closes the database, so that its
// directory is free for the next process. It returns when ctx ends, with an
// error; the database is then closed when the disk lets it.
//
// On a disk that is nearly full, or in a directory that is gone, Badger could not
// write its tables: the error is then [ErrNoSpace], [ErrGone] or of that kind, the
// directory is free all the same, and what was written is found by the next start.
func (s *Store) Close(ctx context.Context) error {
	if !s.ending.CompareAndSwap(false, true) {
		return fmt.Errorf("close pin store: %w", ErrClosed)
	}
	close(s.closing)
	closed := make(chan error, 1)
	go func() {
		for range cap(s.places) {
			s.places <- struct{}{}
		}
		<-s.synced
		closed <- s.files.close()
	}()
	var err error
	select {
	case err = <-closed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("close pin store in %s: %w", s.dir, err)
	}
	return nil
}
