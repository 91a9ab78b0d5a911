package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// ErrFull means that so many turns wait to be written that no more are taken.
var ErrFull = errors.New("too many turns wait to be written")

// ErrLedgerClosed means that the ledger is closed, or about to be.
var ErrLedgerClosed = errors.New("the ledger is closed")

// MaxSync is the longest that what was written may wait to be synced to disk.
const MaxSync = 100 * time.Millisecond

// LedgerOptions say how a ledger works. The zero LedgerOptions are the ordinary
// ones.
type LedgerOptions struct {
	Retention time.Duration  // how long turns and sessions are kept; 0 means 30 days, less than 0 for ever
	Minutes   time.Duration  // how long roll-ups by the minute are kept; 0 means 7 days
	Hours     time.Duration  // by the hour; 0 means 90 days. Those by the day are kept for ever
	Queue     int            // turns that may wait to be written; 0 means 65,536
	Auditor   engine.Auditor // judges turns as they are written; nil: nobody does
	Sync      time.Duration  // how soon what was written is synced to disk; 0 means 50 ms, at most MaxSync
	Sweep     time.Duration  // how often what is past its time is forgotten; 0 means 10 minutes
	Wait      time.Duration  // how long Intend waits at most; 0 means 5 ms
	Abandoned time.Duration  // after how long a turn that never ended is booked as unsettled; 0 means 24 hours

	Reserve int64                           // bytes that must stay free; 0 means 64 MiB, less than 0 none
	Resume  time.Duration                   // how long twice the reserve must be free before writing goes on; as [Options].Resume
	Lock    time.Duration                   // how long a locked directory is waited for; 0 means 2 s
	Calls   int                             // queries at work at once, later ones wait; 0 means 64
	Now     func() time.Time                // nil means time.Now
	Free    func(dir string) (int64, error) // bytes free; nil asks the file system
	Log     *slog.Logger                    // nil: nothing is logged

	Probe func(ctx context.Context, dir string) error // as [Options].Probe, by [ProbeLedger]; nil: none

	// Settled is told of turns once they are written, with what the auditor said of
	// them; nil: nobody is. A turn is told of at most once, whatever it took to write
	// it: not if it is given up, was recorded before, or never ended. The writer waits
	// for it, and what it is given is the writer's.
	Settled func([]engine.Booked)
}

func (o *LedgerOptions) fill() {
	orDuration := func(d *time.Duration, ordinary time.Duration) {
		if *d == 0 {
			*d = ordinary
		}
	}
	orDuration(&o.Retention, 30*engine.Day)
	orDuration(&o.Minutes, 7*engine.Day)
	orDuration(&o.Hours, 90*engine.Day)
	orDuration(&o.Sync, MaxSync/2)
	orDuration(&o.Sweep, 10*time.Minute)
	orDuration(&o.Wait, 5*time.Millisecond)
	orDuration(&o.Abandoned, engine.Day)
	o.Sync = min(o.Sync, MaxSync)
	if o.Queue <= 0 {
		o.Queue = 1 << 16
	}
	if o.Calls <= 0 {
		o.Calls = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Ledger keeps the books of all turns in a Badger database of its own. It is an
// [engine.Ledger], [engine.Intents] and [engine.Books]; its methods may be called
// from several goroutines.
//
// A turn is written behind: Record puts it into a queue of fixed length and
// returns; one goroutine writes what waits there, records, roll-ups and sessions
// of a batch in one transaction, so that they agree whatever happens to the
// process. [Ledger.Flush] says when a turn is written. A turn recorded twice
// counts once.
type Ledger struct {
	dir     string
	options LedgerOptions
	files   *files
	db      *badger.DB
	queue   queue

	mu   sync.Mutex                // held while a transaction is committed
	open map[string]*engine.Booked // intents without a settlement, by their keys

	places  chan struct{} // one for each query at work; Close takes them all
	closing chan struct{}
	ending  atomic.Bool
	ended   chan struct{} // closed when the writer has
	synced  chan struct{} // closed when the syncing goroutine has ended
	dirty   chan struct{} // something was written since the last sync
	sweeps  chan chan error
	sweeper sweeper // of the writer alone
	figures figures
	trouble trouble // with the last write
}

// figures are what [LedgerStats] are made of.
type figures struct {
	recorded, dropped, twice, intents, unwritten, open, bad, batches, swept, syncs atomic.Int64
}

// LedgerStats are the figures of a ledger since it was opened.
type LedgerStats struct {
	Queued    int64 // turns that wait to be written
	Recorded  int64 // turns written and settled
	Dropped   int64 // turns given up: the queue was full, the disk nearly, or it failed
	Twice     int64 // turns that were recorded before, and not counted again
	Intents   int64 // intents written
	Unwritten int64 // intents given up
	Open      int64 // turns begun and not settled
	Bad       int64 // damaged values met
	Batches   int64 // transactions
	Swept     int64 // turns, sessions and roll-ups forgotten
	Syncs     int64 // times the disk has taken what was written
}

// OpenLedger opens the ledger in dir, which it makes, readable for its owner
// alone, if it is not there. Turns that an earlier process began and never ended
// are booked as unsettled. Errors are those of [Open]. A ledger that is open has
// two goroutines beside Badger's; [Ledger.Close] ends them.
func OpenLedger(dir string, o LedgerOptions) (*Ledger, error) {
	o.fill()
	disk := Options{Reserve: o.Reserve, Resume: o.Resume, Lock: o.Lock, Now: o.Now, Free: o.Free, Log: o.Log, Probe: o.Probe, tune: tuneLedger, holds: "the books so far"}
	disk.fill()
	f, err := openFiles(dir, disk)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l := &Ledger{
		dir: dir, options: o, files: f, db: f.db,
		queue:   queue{limit: o.Queue, wake: make(chan struct{}, 1)},
		open:    map[string]*engine.Booked{},
		places:  make(chan struct{}, o.Calls),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
		synced:  make(chan struct{}),
		dirty:   make(chan struct{}, 1),
		sweeps:  make(chan chan error),
	}
	if err := l.bookLeftovers(); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %s: %w", dir, err), f.close())
	}
	go l.run()
	go l.sync()
	return l, nil
}

// tuneLedger has values beside their keys, whatever their size: a day's roll-up
// of a large catalog is beyond the size at which pins would move to a log of
// their own.
func tuneLedger(o badger.Options) badger.Options {
	return o.WithMemTableSize(16 << 20).WithValueThreshold(1 << 20).WithIndexCacheSize(16 << 20)
}

// Record takes a turn that is over. It never waits for the disk: a turn for
// which there is no room is given up and counted. It implements [engine.Ledger].
func (l *Ledger) Record(turn engine.Turn) {
	for i := range turn.Attempts {
		if turn.Attempts[i].Reply != nil {
			turn.Attempts = withoutReplies(turn.Attempts)
			break
		}
	}
	if !l.queue.put(&turn) {
		l.figures.dropped.Add(1)
		l.complain("turns are not recorded", ErrFull)
	}
}

// withoutReplies is a copy of attempts that does not keep the vendors' bodies.
func withoutReplies(attempts []engine.Attempt) []engine.Attempt {
	kept := append([]engine.Attempt(nil), attempts...)
	for i := range kept {
		kept[i].Reply = nil
	}
	return kept
}

// Intend notes that next is about to be tried. It returns once the note would
// survive the end of the process, or when ctx or [LedgerOptions].Wait ends. It
// implements [engine.Intents].
func (l *Ledger) Intend(ctx context.Context, turn *engine.Turn, next engine.Candidate) error {
	b := engine.BookIntent(turn, next, l.options.Now())
	written := make(chan error, 1)
	if err := l.queue.intend(&b, written); err != nil {
		l.figures.unwritten.Add(1)
		return fmt.Errorf("note an attempt: %w", err)
	}
	limit := time.NewTimer(l.options.Wait)
	defer limit.Stop()
	var err error
	select {
	case err = <-written:
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit.C:
		err = context.DeadlineExceeded
	}
	if err != nil {
		return fmt.Errorf("note an attempt: %w", err)
	}
	return nil
}

// Flush returns once every turn recorded before is written, and so survives the
// end of the process, or given up and counted; or with ctx's error.
func (l *Ledger) Flush(ctx context.Context) error {
	done := l.queue.flushed()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush ledger: %w", ctx.Err())
	}
}

// Stats are the figures of now.
func (l *Ledger) Stats() LedgerStats {
	f := &l.figures
	return LedgerStats{
		Queued: l.queue.waiting(), Recorded: f.recorded.Load(), Dropped: f.dropped.Load(), Twice: f.twice.Load(),
		Intents: f.intents.Load(), Unwritten: f.unwritten.Load(), Bad: f.bad.Load(),
		Open: f.open.Load(), Batches: f.batches.Load(), Swept: f.swept.Load(), Syncs: f.syncs.Load(),
	}
}

// Dir is the directory the ledger lies in.
func (l *Ledger) Dir() string { return l.dir }

// Close writes what waits and closes the database. What is recorded afterwards
// is given up and counted. It returns when ctx ends, with an error; the database
// is then closed when the disk lets it. On a full disk it is left as by
// [Store.Close].
func (l *Ledger) Close(ctx context.Context) error {
	if !l.ending.CompareAndSwap(false, true) {
		return fmt.Errorf("close ledger: %w", ErrLedgerClosed)
	}
	l.queue.close()
	close(l.closing)
	closed := make(chan error, 1)
	go func() {
		<-l.ended
		<-l.synced
		for range cap(l.places) {
			l.places <- struct{}{}
		}
		closed <- l.files.close()
	}()
	var err error
	select {
	case err = <-closed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("close ledger in %s: %w", l.dir, err)
	}
	return nil
}

// sync has the disk take what was written, soon after it was.
func (l *Ledger) sync() {
	defer close(l.synced)
	for {
		select {
		case <-l.dirty:
		case <-l.ended:
			return // Close has Badger write it all
		}
		select {
		case <-time.After(l.options.Sync):
		case <-l.ended:
			return
		}
		if err := l.files.sync(); err != nil {
			l.complain("the books are not synced to disk", err)
			l.soil()
			continue
		}
		l.figures.syncs.Add(1)
	}
}

// soil has the disk synced soon.
func (l *Ledger) soil() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// complain keeps what goes wrong until something is written again, and logs it
// once.
func (l *Ledger) complain(what string, err error) {
	if l.files.guard.problem() != "" && !errors.Is(err, ErrFull) {
		return // said there
	}
	if l.trouble.note(fmt.Errorf("%s: %w", what, err), l.options.Now()) {
		l.options.Log.Error(what, "dir", l.dir, "dropped", l.figures.dropped.Load(), "err", err)
	}
}

// Problem is what is wrong with the ledger now, or was with the one before it that
// had to be set aside; empty if nothing is. It never waits for the disk.
func (l *Ledger) Problem() string {
	if p := l.trouble.problem(); p != "" && l.files.guard.problem() == "" {
		return p
	}
	return l.files.problem()
}
