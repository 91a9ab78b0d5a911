package inmem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// ErrBusy means that a miss was not asked of the backing, because as many as
// may wait for it are waiting.
var ErrBusy = errors.New("the pin store is busy: too many look-ups wait for it while it is loaded")

// ahead is how far a clock may have been set back before a loaded acceptance,
// which then lies in the future, is taken for a mistake.
const ahead = time.Minute

// early is what a shard remembers until the backing is loaded: whose stored
// record memory has taken in, and what was dropped before it could.
type early struct {
	settled map[hash]struct{}
	buried  map[hash][]buried
}

type buried struct {
	model string
	entry engine.Entry
}

func newEarly() *early {
	return &early{settled: map[hash]struct{}{}, buried: map[hash][]buried{}}
}

// settled says whether memory alone knows what key holds.
func (s *shard) settled(key hash) bool {
	if s.early == nil {
		return true
	}
	_, ok := s.early.settled[key]
	return ok
}

// bury has was left out when key's stored record is taken in. It reports
// whether that is still to come. What is beyond the shard's limit is not
// remembered: one entry may then come back, which costs one promotion.
func (s *shard) bury(key hash, model string, was engine.Entry) (early bool) {
	if s.settled(key) {
		return false
	}
	list, known := s.early.buried[key]
	if !known && len(s.early.buried) >= s.max || len(list) >= engine.MaxModels*engine.MaxThreads*engine.MaxWarm {
		return true
	}
	s.early.buried[key] = append(list, buried{model, was})
	return true
}

// takeIn adds what the backing stored for key to what memory holds, which wins,
// unless that was done before. It returns what memory holds afterwards.
func (s *shard) takeIn(key hash, of *tenant, stored engine.Record, now time.Time, loading bool) (r engine.Record, added bool) {
	r, found := s.peek(key)
	if s.settled(key) {
		return r, false
	}
	merged := merge(r, s.early.unburied(key, stored), now)
	delete(s.early.buried, key)
	if len(s.early.settled) < s.max {
		s.early.settled[key] = struct{}{}
	}
	if len(merged.Models) == 0 {
		return merged, false
	}
	if loading && !found {
		_, newest, _ := merged.Newest()
		s.putLoaded(key, of, merged, second(newest.AcceptedAt))
		return merged, true
	}
	s.put(key, of, merged, second(now)) // one that finds no room is as good as evicted
	return merged, true
}

// unburied is stored without what was dropped meanwhile, and without what that
// had replaced: older acceptances of the same candidate and thread.
func (e *early) unburied(key hash, stored engine.Record) engine.Record {
	for _, b := range e.buried[key] {
		for _, old := range stored.For(b.model) {
			if old.Renews(b.entry) && !old.AcceptedAt.After(b.entry.AcceptedAt) {
				stored = stored.Drop(b.model, old)
			}
		}
	}
	return stored
}

// merge adds the entries of stored to r. Those that r has of the same
// acceptance stay, for they may know more.
func merge(r, stored engine.Record, now time.Time) engine.Record {
	for i := len(stored.Models) - 1; i >= 0; i-- {
		model := stored.Models[i].Model
		for j := len(stored.Models[i].Warm) - 1; j >= 0; j-- {
			e := stored.Models[i].Warm[j]
			if e.AcceptedAt.After(now.Add(ahead)) || holds(r.For(model), e.Turn) {
				continue
			}
			r = r.Keep(model, e)
		}
	}
	return r.Sweep(now)
}

func holds(warm []engine.Entry, turn uint64) bool {
	for i := range warm {
		if warm[i].Turn == turn {
			return true
		}
	}
	return false
}

// Load takes in everything the backing holds; call it once in the background
// when the process starts. After an error it may be called again: until it has
// succeeded, misses are asked of the backing one by one.
func (p *Pins) Load(ctx context.Context) error {
	p.loading.Lock()
	defer p.loading.Unlock()
	if p.loaded.Load() {
		return nil
	}
	err := p.options.Backing.Load(ctx, func(key engine.PinKey, r engine.Record) bool {
		h := p.hash(key)
		of := p.tenant(key.Tenant)
		s := p.shard(h, of)
		s.mu.Lock()
		_, added := s.takeIn(h, of, r, p.now(), true)
		s.mu.Unlock()
		if added {
			p.counts.loaded.Add(1)
		}
		return ctx.Err() == nil && !p.closed.Load()
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && p.closed.Load() {
		err = errClosed
	}
	if err != nil {
		return fmt.Errorf("load pins: %w", err)
	}
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		s.early = nil
		s.settleOrder()
		s.mu.Unlock()
	}
	p.loaded.Store(true)
	p.sweepLater()
	return nil
}

// Loaded says whether memory knows all that the backing holds. Without a
// backing it does from the start.
func (p *Pins) Loaded() bool { return p.loaded.Load() }

// ask has the backing answer a miss, in a goroutine of its own because a
// backing may hang; there are never more of them than Options.Asks.
func (p *Pins) ask(ctx context.Context, key engine.PinKey, h hash) (engine.Record, error) {
	if err := ctx.Err(); err != nil {
		p.counts.unanswered.Add(1)
		return engine.Record{}, err
	}
	select {
	case p.asking <- struct{}{}:
	default:
		p.counts.unanswered.Add(1)
		return engine.Record{}, ErrBusy
	}
	if p.closed.Load() { // looked at with a place in hand: Close takes them all
		<-p.asking
		return engine.Record{}, errClosed
	}
	answer := make(chan engine.Record, 1)
	refusal := make(chan error, 1)
	go func() {
		defer func() { <-p.asking }()
		r, err := p.fetch(ctx, key, h)
		if err != nil {
			refusal <- err
			return
		}
		answer <- r
	}()
	select {
	case r := <-answer:
		return r, nil
	case err := <-refusal:
		p.counts.unanswered.Add(1)
		return engine.Record{}, err
	case <-ctx.Done():
		p.counts.unanswered.Add(1)
		return engine.Record{}, ctx.Err()
	}
}

// fetch takes in what the backing holds for key.
func (p *Pins) fetch(ctx context.Context, key engine.PinKey, h hash) (engine.Record, error) {
	stored, err := p.options.Backing.Get(ctx, key)
	if err != nil {
		return engine.Record{}, err
	}
	of := p.tenant(key.Tenant)
	s := p.shard(h, of)
	s.mu.Lock()
	r, _ := s.takeIn(h, of, stored, p.now(), false)
	s.mu.Unlock()
	p.sweepLater()
	return r, nil
}
