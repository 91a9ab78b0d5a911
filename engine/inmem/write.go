package inmem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/warmroute/warmroute/engine"
)

var errClosed = errors.New("the pin table is closed")

// batch is how many records are written at once; the waits are those after a
// write that failed.
const (
	batch     = 1000
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// flush asks the writer to write all that is waiting now.
type flush struct{ answer chan error }

// write is the one goroutine that talks to the backing. After a change it
// waits Options.Delay for others to go with it, after a failure longer.
func (p *Pins) write() {
	defer close(p.done)
	wait := p.options.Delay
	for {
		select {
		case <-p.queue.wake:
		case f := <-p.flushes:
			f.answer <- p.drain()
			continue
		case <-p.stop:
			_ = p.drain() // what is left is counted and reported by Close
			return
		}
		timer := time.NewTimer(wait)
		var f flush
		select {
		case <-timer.C:
		case f = <-p.flushes:
		case <-p.stop:
			timer.Stop()
			_ = p.drain()
			return
		}
		timer.Stop()
		err := p.drain()
		if f.answer != nil {
			f.answer <- err
		}
		switch {
		case err == nil:
			wait = p.options.Delay
		default:
			wait = min(max(2*wait, firstWait), lastWait)
		}
	}
}

// drain writes all that is waiting now, up to the first failure.
func (p *Pins) drain() error {
	last := p.queue.last()
	for {
		items := p.queue.take(batch, last)
		if len(items) == 0 {
			return nil
		}
		if err := p.writeItems(items); err != nil {
			p.queue.putBack(items)
			p.counts.failed.Add(1)
			p.options.Lost(err)
			return err
		}
		p.queue.written(items)
	}
}

func (p *Pins) writeItems(items []*item) error {
	ctx, cancel := context.WithTimeout(p.life, p.options.Write)
	defer cancel()
	writes := make([]engine.PinWrite, 0, len(items))
	for _, it := range items {
		w, ok, err := p.latest(ctx, it)
		if err != nil {
			return fmt.Errorf("write pins: %w", err)
		}
		if ok {
			writes = append(writes, w)
		}
	}
	if len(writes) == 0 {
		return nil
	}
	if err := p.options.Backing.Write(ctx, writes); err != nil {
		return fmt.Errorf("write pins: %w", err)
	}
	p.counts.written.Add(int64(len(writes)))
	return nil
}

// latest is what is to be written for an item. What was stored before and is
// not yet loaded is taken in first, else the write would erase it. ok is false
// if the record was evicted meanwhile.
func (p *Pins) latest(ctx context.Context, it *item) (w engine.PinWrite, ok bool, err error) {
	s := p.shard(it.hash, p.tenant(it.key.Tenant))
	s.mu.Lock()
	r, found := s.peek(it.hash)
	settled := s.settled(it.hash)
	s.mu.Unlock()
	if !settled {
		if r, err = p.fetch(ctx, it.key, it.hash); err != nil {
			return engine.PinWrite{}, false, err
		}
		found = len(r.Models) > 0
	}
	if !found && !it.gone {
		p.counts.unwritable.Add(1)
		return engine.PinWrite{}, false, nil
	}
	return engine.PinWrite{Key: it.key, Record: r}, true, nil
}

// Flush writes all that was accepted before it was called. The error is that
// of the backing, which is tried once, or of ctx.
func (p *Pins) Flush(ctx context.Context) error {
	if p.options.Backing == nil {
		return nil
	}
	f := flush{answer: make(chan error, 1)}
	select {
	case p.flushes <- f:
	case <-p.done:
		return fmt.Errorf("flush pins: %w", errClosed)
	case <-ctx.Done():
		return fmt.Errorf("flush pins: %w", ctx.Err())
	}
	select {
	case err := <-f.answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("flush pins: %w", ctx.Err())
	}
}

// Close writes what is waiting and ends the table's goroutines; the backing
// stays open. It returns when ctx ends even if the backing hangs, and then,
// as whenever something could not be written, with an error. A closed table
// still answers from memory, but writes nothing more.
func (p *Pins) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.queue.close()
		close(p.stop)
	}
	defer p.end()
	select {
	case <-p.done:
	case <-ctx.Done():
		return p.unfinished(ctx.Err())
	}
	for held := 0; held < cap(p.asking); held++ {
		select {
		case p.asking <- struct{}{}:
			defer func() { <-p.asking }()
		case <-ctx.Done():
			return p.unfinished(ctx.Err())
		}
	}
	if p.Unwritten() > 0 {
		return p.unfinished(errors.New("the store refused them"))
	}
	return nil
}

func (p *Pins) unfinished(why error) error {
	return fmt.Errorf("close pins: %d records are not written: %w", p.Unwritten(), why)
}
