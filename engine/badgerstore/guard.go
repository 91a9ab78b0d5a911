package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrGone means that the directory is no longer the one that was opened, or that
// its files were removed.
var ErrGone = errors.New("the directory was removed or replaced while it was in use")

// ErrBroken means that Badger failed in a way that it does not survive twice.
var ErrBroken = errors.New("the database cannot go on until the next start")

// look is how often a guard looks at its directory.
const look = 50 * time.Millisecond

// guard keeps batches from Badger while they would end the process: it writes
// through mapped files, where a full disk is a signal and not an error, and it
// fails an assertion when it is used after it could not make a file.
//
// A guard that has shut because the disk is nearly full opens again once twice the
// reserve has been free for a while; one that has shut for another reason, once
// that is gone.
type guard struct {
	dir     string
	itself  os.FileInfo // of the directory that was opened
	holds   string
	reserve int64
	resume  time.Duration
	free    func(dir string) (int64, error)
	now     func() time.Time
	log     *slog.Logger
	why     atomic.Pointer[error] // why it is shut, for those who must not wait

	mu     sync.Mutex
	shut   error
	roomy  time.Time // since when there is twice the reserve; zero: there is not
	broken error
}

// check says why nothing may be written now. It is asked before each batch.
func (g *guard) check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	left, err := g.look()
	switch {
	case err == nil && errors.Is(g.shut, ErrNoSpace) && !g.roomAgain(left):
		return g.shut
	case err == nil:
		if g.shut != nil {
			g.log.Info("writing goes on", "dir", g.dir)
		}
		g.set(nil)
		return nil
	case g.shut != nil && sameReason(g.shut, err):
		g.roomy = time.Time{}
		return g.shut // with the figures of then: one reason is one text
	}
	g.log.Error("nothing is written for now", "dir", g.dir, "holds", g.holds, "err", err)
	g.set(err)
	return err
}

func sameReason(a, b error) bool {
	return errors.Is(a, ErrNoSpace) && errors.Is(b, ErrNoSpace) || a.Error() == b.Error()
}

func (g *guard) set(err error) {
	g.shut, g.roomy = err, time.Time{}
	if err == nil {
		g.why.Store(nil)
		return
	}
	g.why.Store(&err)
}

func (g *guard) roomAgain(left int64) bool {
	if g.resume < 0 {
		return true
	}
	if left < 2*g.reserve {
		g.roomy = time.Time{}
		return false
	}
	now := g.now()
	if g.roomy.IsZero() {
		g.roomy = now
	}
	return now.Sub(g.roomy) >= g.resume
}

// look says what is in the way at this moment, and the bytes that are free.
func (g *guard) look() (left int64, err error) {
	if g.broken != nil {
		return 0, g.broken
	}
	left, err = enough(g.dir, g.reserve, g.free)
	if err != nil && errors.Is(err, ErrNoSpace) {
		return left, err
	}
	now, statErr := os.Stat(g.dir)
	if statErr != nil || !os.SameFile(now, g.itself) {
		return left, fmt.Errorf("%s: %w; start warmroute again to begin a new one", g.dir, ErrGone)
	}
	if _, err := os.Stat(filepath.Join(g.dir, manifest)); err != nil && !errors.Is(err, os.ErrPermission) {
		return left, fmt.Errorf("%s: %w; start warmroute again to begin a new one", g.dir, ErrGone)
	}
	if err := mayWrite(g.dir); err != nil {
		return left, err
	}
	return left, err
}

// closable says why a database should be left as it is rather than closed: at the
// moment only, however long ago there was room.
func (g *guard) closable() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.look()
	return err
}

// failed looks at an error of Badger's. After some it must not be used again.
func (g *guard) failed(err error) {
	if err == nil || !strings.Contains(err.Error(), "cannot create new mem table") {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken == nil {
		g.broken = fmt.Errorf("%s: %w: %w; see to the disk, then start warmroute again", g.dir, ErrBroken, err)
	}
}

// problem is why nothing is written; empty if it is. It never waits.
func (g *guard) problem() string {
	if err := g.why.Load(); err != nil {
		return (*err).Error()
	}
	return ""
}

// watch looks at the directory until ctx ends.
func (g *guard) watch(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = g.check() // kept there
		case <-ctx.Done():
			return
		}
	}
}

// enough says whether dir's file system has the reserve free; less than 0 is no
// reserve.
func enough(dir string, reserve int64, free func(string) (int64, error)) (left int64, err error) {
	if reserve < 0 {
		return 0, nil
	}
	left, err = free(dir)
	if err != nil {
		return 0, fmt.Errorf("%s: free space is not known: %w", dir, err)
	}
	if left < reserve {
		return left, fmt.Errorf("%s: %w: %d MiB left, %d MiB must stay free; make room or choose another --data directory", dir, ErrNoSpace, left>>20, reserve>>20)
	}
	return left, nil
}

// mayWrite says whether this process may make and remove files in dir.
func mayWrite(dir string) error {
	const writable = 2 | 1 // W_OK|X_OK of access(2)
	if err := syscall.Access(dir, writable); err != nil {
		return fmt.Errorf("%s: it cannot be written to: %w; make it writable for the user warmroute runs as", dir, err)
	}
	return nil
}

// free is what the file system has left for an ordinary user: nothing if it has
// no room for more files.
func free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	const files = 16
	if st.Files > 0 && st.Ffree < files {
		return 0, nil
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// trouble is what went wrong when something was last written. Its zero value is
// that nothing did. It may be used from several goroutines.
type trouble struct {
	mu   sync.Mutex
	text string
	said map[string]time.Time // what the log has heard, and when
}

// note keeps err as what is wrong now, and says whether the log should hear of it:
// once for each reason, and again when it has come back after a while.
func (t *trouble) note(err error, now time.Time) (say bool) {
	text := err.Error()
	t.mu.Lock()
	defer t.mu.Unlock()
	last, heard := t.said[text]
	say = !heard || t.text != text && now.Sub(last) >= 10*time.Second
	if say {
		if len(t.said) >= 64 {
			clear(t.said)
		}
		if t.said == nil {
			t.said = map[string]time.Time{}
		}
		t.said[text] = now
	}
	t.text = text
	return say
}

// gone says that what is written now is written.
func (t *trouble) gone() {
	t.mu.Lock()
	t.text = ""
	t.mu.Unlock()
}

func (t *trouble) problem() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text
}
