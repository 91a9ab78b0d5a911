package vendor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Drain is how far a vendor's answer is read on after its client has left, so that
// its usage is known: to its end, or to the first of the limits. Once the client has
// left, nothing is written and no other candidate is tried.
//
// The zero Drain does not read on: the vendor's request is cancelled at once, which
// most vendors take for the end of the bill. What they had reported by then is kept.
type Drain struct {
	Time  time.Duration // from when the client left
	Bytes int64         // of the answer, unpacked, from then on
}

// on says whether anything is read on.
func (d Drain) on() bool { return d.Time > 0 && d.Bytes > 0 }

// DrainFigures count the answers that are read on without a client.
type DrainFigures struct {
	Running int64 // now
	Begun   int64 // since the start
}

// drains is what a client's drains have in common.
type drains struct {
	ctx            context.Context // of all of them
	end            context.CancelFunc
	running, begun atomic.Int64
}

// Drains says how many answers are, and were, read on without a client.
func (c *Client) Drains() DrainFigures {
	return DrainFigures{Running: c.drains.running.Load(), Begun: c.drains.begun.Load()}
}

// EndDrains ends what is read on without a client, and has nothing read on any more:
// a vendor whose client leaves from now on is cancelled at once. It is for the
// gateway's end, and may be called more than once.
func (c *Client) EndDrains() { c.drains.end() }

// draining is the end of the time that one attempt may be read on.
type draining struct{ once sync.Once }

// begin starts the wait for the first byte, ended early when the client leaves: at
// once, or at the end of its drain.
func (a *attempt) begin() {
	if !a.call.Drain.on() {
		a.watch.init(a.ctx, a.c.o.FirstByte)
		return
	}
	a.watch.init(context.WithoutCancel(a.ctx), a.c.o.FirstByte)
	a.release = context.AfterFunc(a.ctx, a.drain)
}

// drain cancels the vendor when the time of the drain is over, or all drains end.
// It begins once, when the client is first known to be gone; it does not wait.
func (a *attempt) drain() {
	a.on.once.Do(func() {
		ctx, cancel, all := a.watch.ctx, a.watch.cancel, &a.c.drains
		if a.shut() {
			cancel(errClientLeft)
			return
		}
		all.begun.Add(1)
		all.running.Add(1)
		limit, done := context.WithTimeout(all.ctx, a.call.Drain.Time)
		go func() {
			defer all.running.Add(-1)
			defer done()
			select {
			case <-limit.Done():
				cancel(errClientLeft)
			case <-ctx.Done(): // the attempt is over
			}
		}()
	})
}

// more says whether the answer is read on, n bytes of it having been read since the
// client left.
func (a *attempt) more(n int) bool {
	if !a.call.Drain.on() {
		return false
	}
	a.drain()
	a.Drained += int64(n)
	return a.Drained <= a.call.Drain.Bytes
}

// left says whether the client is gone, or all clients are made to go.
func (a *attempt) left() bool { return a.ctx.Err() != nil }

// abandon notes that nobody waits for the answer any more, and whose doing it is.
func (a *attempt) abandon() {
	if a.shut() {
		a.fail(engine.StageAbandoned, engine.FailureShutdown, ErrShutdown.Error())
		return
	}
	a.fail(engine.StageAbandoned, engine.FailureClientLeft, errClientLeft.Error())
}

// shut says whether the gateway ends.
func (a *attempt) shut() bool { return errors.Is(context.Cause(a.ctx), ErrShutdown) }
