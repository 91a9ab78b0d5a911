package catalog

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Live is the catalog in force and the file it follows.
//
// A reload builds the whole new catalog, then swaps one pointer; a turn that has
// read [Live.Current] keeps its prices to its end. A file that is not a valid
// catalog changes nothing but the status. Keys are read anew at every reload, and
// only then: after a key file alone has changed, call [Live.Reload]. Live is safe
// for concurrent use.
type Live struct {
	path      string
	current   atomic.Pointer[Catalog]
	reloading sync.Mutex // one reload at a time, so the last file read wins
	mu        sync.Mutex // guards status
	status    Status
}

// Status says which catalog is in force, and what was wrong with the newest file
// if that is another.
type Status struct {
	Path     string
	Digest   string    // of the catalog in force
	LoadedAt time.Time // when it was read; zero if it did not come from a file
	// Rejected is why the newest file is not in force, nil if it is: [Problems]
	// where it could be read. RejectedAt is zero then too.
	Rejected   error
	RejectedAt time.Time
	// Accepted and Refused count the reloads so far, those of an unchanged file too.
	Accepted, Refused int64
}

// NewLive follows path, beginning with c, which was loaded from it. It does
// nothing by itself: call [Live.Reload] or [Live.Watch].
func NewLive(path string, c *Catalog) *Live {
	l := &Live{path: path, status: Status{Path: path, Digest: c.Digest, LoadedAt: c.loaded}}
	l.current.Store(c)
	return l
}

// Current is the catalog in force. Read it once a turn.
func (l *Live) Current() *Catalog { return l.current.Load() }

// Status says what is in force and what was rejected.
func (l *Live) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Reload reads the file and the keys anew and puts them in force. On an error,
// which is [Problems] where the file could be read, the last good catalog stays
// and the status keeps the error.
func (l *Live) Reload(now time.Time) error {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	keys := l.Current().keys
	if keys == nil {
		keys = Environment(filepath.Dir(l.path))
	}
	c, err := LoadKeys(l.path, keys)
	l.swap(c, err, now)
	return err
}

// swap puts a catalog in force that was read, or keeps why it was not.
func (l *Live) swap(c *Catalog, err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.status.Rejected, l.status.RejectedAt = err, now
		l.status.Refused++
		return
	}
	l.current.Store(c)
	l.status = Status{Path: l.path, Digest: c.Digest, LoadedAt: now, Accepted: l.status.Accepted + 1, Refused: l.status.Refused}
}
