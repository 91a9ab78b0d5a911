package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// manifest is the file that every Badger database has.
const manifest = "MANIFEST"

// files is an open database in a directory that no other process uses.
type files struct {
	db    *badger.DB
	lock  *os.File // Badger's own lock, held here so that it can be let go without closing the database
	guard *guard
	aside string // where the damaged database of before lies now; empty: there was none

	stop    context.CancelFunc
	watched sync.WaitGroup
}

// openFiles opens the database in dir. One that the probe finds damaged is set
// aside first.
func openFiles(dir string, o Options) (*files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w; choose another --data directory or make this one writable", err)
	}
	if _, err := enough(dir, o.Reserve, o.Free); err != nil {
		return nil, err
	}
	if err := mayWrite(dir); err != nil {
		return nil, err
	}
	aside, err := probed(dir, o)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(dir, o)
	if err != nil {
		return nil, err
	}
	db, err := openBadger(dir, o)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: %w; move the directory away to start without %s", dir, err, o.holds)
	}
	itself, err := lock.Stat()
	if err != nil {
		return nil, errors.Join(err, db.Close(), lock.Close())
	}
	f := &files{db: db, lock: lock, aside: aside, guard: &guard{
		dir: dir, itself: itself, holds: o.holds, reserve: o.Reserve, resume: o.Resume, free: o.Free, now: time.Now, log: o.Log,
	}}
	var watching context.Context
	watching, f.stop = context.WithCancel(context.Background())
	f.watched.Go(func() { f.guard.watch(watching) })
	return f, nil
}

// lockDir takes Badger's lock on dir, waiting while another process holds it: the
// predecessor of this one may still be on its way out.
func lockDir(dir string, o Options) (*os.File, error) {
	const pause = 20 * time.Millisecond
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; make it readable for the user warmroute runs as", err)
	}
	for began := time.Now(); ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			f.Close()
			return nil, fmt.Errorf("%s: it cannot be locked: %w", dir, err)
		case time.Since(began) >= o.Lock:
			f.Close()
			return nil, fmt.Errorf("%s: %w after %v of waiting; stop the other warmroute or give this one another --data directory", dir, ErrLocked, o.Lock)
		}
		<-time.After(pause)
	}
}

// close closes the database or, where that would not end well, leaves it: what is
// in no table yet stays in the write-ahead log, and the next start reads it there.
// A database that was left still has its goroutines, which do nothing until the
// process ends.
func (f *files) close() error {
	f.stop()
	f.watched.Wait()
	if err := f.guard.closable(); err != nil {
		return errors.Join(
			fmt.Errorf("it is left as it is, for the next start to take up: %w", err),
			f.db.Sync(), f.lock.Close())
	}
	return errors.Join(f.db.Close(), f.lock.Close())
}

// problem is what is wrong with the directory; empty if nothing is.
func (f *files) problem() string {
	if p := f.guard.problem(); p != "" {
		return p
	}
	return f.setAside()
}

func (f *files) setAside() string {
	if f.aside == "" {
		return ""
	}
	return fmt.Sprintf("%s was damaged; it is kept as %s, and %s was begun anew", f.guard.dir, f.aside, f.guard.holds)
}

// begun says whether dir has a database in it, or what is left of one.
func begun(dir string) (bool, error) {
	names, err := readNames(dir)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		switch {
		case name == manifest, name == "KEYREGISTRY", hasTable(name), strings.HasSuffix(name, ".mem"), strings.HasSuffix(name, ".vlog"):
			return true, nil
		}
	}
	return false, nil
}

// dropUnbegun removes logs without a byte: a process ended while it was making
// them, and Badger refuses to open a database that has one.
func dropUnbegun(dir string) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if ext := filepath.Ext(name); ext != ".mem" && ext != ".vlog" {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func hasTable(name string) bool { return filepath.Ext(name) == ".sst" }

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
