package engine

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, like one of context.WithDeadline,
// but starts its timer only when somebody waits for it. A pin store that answers
// from memory never waits, and three timers a turn would cost more than its
// answers do.
//
// The caller calls stop when the work is done.
type deadline struct {
	context.Context // the parent
	until           time.Time

	once   sync.Once
	timed  context.Context // set once somebody waits
	cancel context.CancelFunc
}

// within returns a context that ends d from now, or with its parent.
func within(parent context.Context, d time.Duration) *deadline {
	return &deadline{Context: parent, until: time.Now().Add(d)}
}

// Deadline is the earlier of the context's own and its parent's.
func (d *deadline) Deadline() (until time.Time, ok bool) {
	if parent, ok := d.Context.Deadline(); ok && parent.Before(d.until) {
		return parent, true
	}
	return d.until, true
}

// Done starts the timer.
func (d *deadline) Done() <-chan struct{} {
	d.once.Do(func() { d.timed, d.cancel = context.WithDeadline(d.Context, d.until) })
	return d.timed.Done()
}

// Err says whether the time has come, timer or not.
func (d *deadline) Err() error {
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.until) {
		return context.DeadlineExceeded
	}
	return nil
}

// stop lets go of the timer, if there is one. Nobody may ask for Done afterwards.
func (d *deadline) stop() {
	d.once.Do(func() {})
	if d.cancel != nil {
		d.cancel()
	}
}
