package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// ErrLocked means that another process uses the directory.
var ErrLocked = errors.New("the directory is in use by another process")

// ErrNoSpace means that the file system of the directory has less free space
// than the reserve.
var ErrNoSpace = errors.New("too little free space")

// ErrClosed means that the store is closed, or about to be.
var ErrClosed = errors.New("the pin store is closed")

// Options say how the store works. The zero Options are the ordinary ones.
type Options struct {
	Reserve int64                           // bytes that must stay free; 0 means 64 MiB, less than 0 none
	Resume  time.Duration                   // how long twice the reserve must be free before writing goes on; 0 means 3 s, less than 0 that the reserve is enough, at once
	Lock    time.Duration                   // how long a locked directory is waited for; 0 means 2 s
	Sync    time.Duration                   // how often what was written is synced to disk; 0 means 1 s
	Calls   int                             // calls at work at once, later ones wait; 0 means 64
	Now     func() time.Time                // nil means time.Now
	Free    func(dir string) (int64, error) // bytes free; nil asks the file system
	Log     *slog.Logger                    // nil: nothing is logged

	// Probe judges a directory that has a database in it before this process opens
	// it: in another process, as by [ProbePins]. An error other than [ErrLocked] and
	// [ErrUnjudged] means that it is damaged; it is then renamed to
	// <dir>.damaged-<time>, of which the last two are kept, and an empty one opened.
	// After ten seconds ctx ends, and the database is opened as it is. nil: none.
	Probe func(ctx context.Context, dir string) error

	tune   func(badger.Options) badger.Options // nil: as for pins
	within time.Duration                       // how long a probe may take; 0 means 10 s
	holds  string                              // what the directory holds, for messages; empty: remembered pins
}

func (o *Options) fill() {
	if o.holds == "" {
		o.holds = "remembered pins"
	}
	if o.within <= 0 {
		o.within = probeLimit
	}
	if o.Reserve == 0 {
		o.Reserve = 64 << 20
	}
	if o.Resume == 0 {
		o.Resume = 3 * time.Second
	}
	if o.Lock <= 0 {
		o.Lock = 2 * time.Second
	}
	if o.Sync <= 0 {
		o.Sync = time.Second
	}
	if o.Calls <= 0 {
		o.Calls = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Free == nil {
		o.Free = free
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Store is an open pin store. Its methods may be called from several
// goroutines.
type Store struct {
	dir     string
	options Options
	files   *files
	db      *badger.DB

	places  chan struct{} // one for each call at work; Close takes them all
	writing chan struct{} // held by the write at work, so that writes land in their order
	dirty   atomic.Bool   // something was written since the last sync
	closing chan struct{}
	ending  atomic.Bool
	synced  chan struct{} // closed when the syncing goroutine has ended
	bad     atomic.Int64
	trouble trouble // with the last write
}

// Open opens the store in dir, which it makes, readable for its owner alone,
// if it is not there. The error is [ErrLocked] if another process still uses it
// after Options.Lock, [ErrNoSpace] if the disk is nearly full, or what Badger
// said. A store that is open has two goroutines of its own beside Badger's;
// [Store.Close] ends them.
func Open(dir string, o Options) (*Store, error) {
	o.fill()
	f, err := openFiles(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open pin store: %w", err)
	}
	s := &Store{
		dir: dir, options: o, files: f, db: f.db,
		places:  make(chan struct{}, o.Calls),
		writing: make(chan struct{}, 1),
		closing: make(chan struct{}),
		synced:  make(chan struct{}),
	}
	go s.sync()
	return s, nil
}

// openBadger opens with little memory: a million pins must not cost hundreds
// of megabytes. Values stay in the tables, so there is no value log to collect.
func openBadger(dir string, o Options) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("the database is damaged: %v", p)
		}
	}()
	if err := dropUnbegun(dir); err != nil {
		return nil, err
	}
	all := badger.DefaultOptions(dir).
		WithLogger(logger{o.Log}).
		WithSyncWrites(false).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithValueThreshold(32 << 10).
		WithValueLogFileSize(16 << 20).
		WithBaseTableSize(4 << 20).
		WithBaseLevelSize(16 << 20).
		WithBlockCacheSize(0). // blocks are read from mapped files, uncompressed
		WithIndexCacheSize(8 << 20).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(6).
		WithNumCompactors(2).
		WithNumVersionsToKeep(1).
		WithBypassLockGuard(true). // lockDir holds the lock
		WithCompression(options.None).
		WithChecksumVerificationMode(options.NoVerification).
		WithDetectConflicts(false). // there is one writer
		WithMetricsEnabled(false)
	if o.tune != nil {
		all = o.tune(all)
	}
	return badger.Open(all)
}

// logger passes Badger's words on; what it says of its ordinary work is for
// debugging.
type logger struct{ log *slog.Logger }

func (l logger) Errorf(format string, args ...any)   { l.log.Error("badger: " + line(format, args)) }
func (l logger) Warningf(format string, args ...any) { l.log.Warn("badger: " + line(format, args)) }
func (l logger) Infof(format string, args ...any)    { l.log.Debug("badger: " + line(format, args)) }
func (l logger) Debugf(string, ...any)               {}

func line(format string, args []any) string {
	text := fmt.Sprintf(format, args...)
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	return text
}
