package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// ErrUnjudged is what a probe returns when it cannot tell whether a database is
// sound: it was stopped, or the trouble is not the files'.
var ErrUnjudged = errors.New("the database could not be judged")

// probeLimit is how long a probe may take.
const probeLimit = 10 * time.Second

// keptAside is how many damaged databases are kept for each directory.
const keptAside = 2

// ProbePins opens the pins in dir with Badger's checksums on and closes them. It
// is meant for a process of its own: some damage makes Badger panic where nobody
// can recover. The error is [ErrLocked], [ErrUnjudged], or what is damaged.
func ProbePins(dir string) error { return probe(dir, nil) }

// ProbeLedger does for a ledger what [ProbePins] does for pins.
func ProbeLedger(dir string) error { return probe(dir, tuneLedger) }

func probe(dir string, tune func(badger.Options) badger.Options) error {
	o := Options{tune: tune}
	o.fill()
	lock, err := lockDir(dir, o)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := openable(dir); err != nil {
		return err
	}
	o.tune = func(all badger.Options) badger.Options {
		if tune != nil {
			all = tune(all)
		}
		// Without compactors nothing but the log is written to tables, however many there are.
		return all.WithChecksumVerificationMode(options.OnTableAndBlockRead).WithNumCompactors(0).WithNumLevelZeroTablesStall(1 << 20)
	}
	db, err := openBadger(dir, o)
	if err != nil {
		return judge(err)
	}
	if err := db.Close(); err != nil {
		return judge(err)
	}
	return nil
}

// openable says whether Badger could get at its files. It would quietly remove the
// tables of a database whose list of them is gone: that is damage.
func openable(dir string) error {
	names, err := readNames(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnjudged, err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue // none of Badger's
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnjudged, err)
		}
		f.Close()
	}
	if slices.ContainsFunc(names, hasTable) && !slices.Contains(names, manifest) {
		return fmt.Errorf("%s: there are tables and no %s", dir, manifest)
	}
	return nil
}

// judge tells damage from trouble with the machine. Badger makes texts of the
// errors it meets, so the texts are looked at.
func judge(err error) error {
	for _, machine := range []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EACCES, syscall.EPERM, syscall.EROFS,
		syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN,
	} {
		if strings.Contains(err.Error(), machine.Error()) {
			return fmt.Errorf("%w: %w", ErrUnjudged, err)
		}
	}
	return err
}

// probed has the database in dir probed, if there is one, and sets it aside if it
// is damaged. A probe that cannot judge, or takes too long, decides nothing: the
// database is opened, its checksums unread.
func probed(dir string, o Options) (aside string, err error) {
	if o.Probe == nil {
		return "", nil
	}
	there, err := begun(dir)
	if err != nil || !there {
		return "", err
	}
	before, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.within)
	defer cancel()
	began := time.Now()
	verdict := o.Probe(ctx, dir)
	switch {
	case verdict == nil:
		return "", nil
	case errors.Is(verdict, ErrLocked):
		return "", verdict
	case ctx.Err() != nil || errors.Is(verdict, ErrUnjudged):
		o.Log.Warn("a database is opened unprobed", "dir", dir, "after", time.Since(began).Round(time.Millisecond).String(), "err", verdict)
		return "", nil
	}
	if _, err := enough(dir, o.Reserve, o.Free); err != nil {
		return "", err // a probe dies of a full disk as well
	}
	lock, err := lockDir(dir, o)
	if err != nil {
		return "", err
	}
	defer lock.Close() // of what was set aside
	if now, err := lock.Stat(); err != nil || !os.SameFile(before, now) {
		return "", err // somebody else has seen to it
	}
	aside, err = setAside(dir, o)
	if err != nil {
		return "", fmt.Errorf("%s is damaged (%w) and cannot be set aside: %w; move the directory away to start without %s", dir, verdict, err, o.holds)
	}
	o.Log.Error("a damaged database was set aside and a new one begun", "dir", dir, "holds", o.holds, "kept", aside, "err", verdict)
	return aside, nil
}

// setAside renames dir, makes an empty one, and removes all but the newest that
// were set aside.
func setAside(dir string, o Options) (aside string, err error) {
	base := dir + ".damaged-"
	aside = base + o.Now().UTC().Format("20060102T150405Z")
	for n, name := 2, aside; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", name, n)
	}
	if err := os.Rename(dir, aside); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	names, err := readNames(filepath.Dir(dir))
	if err != nil {
		return aside, nil // it is only about tidiness
	}
	slices.Sort(names)
	slices.Reverse(names)
	kept := 0
	for _, name := range names {
		path := filepath.Join(filepath.Dir(dir), name)
		if !strings.HasPrefix(path, base) {
			continue
		}
		if kept++; kept > keptAside {
			if err := os.RemoveAll(path); err != nil {
				o.Log.Warn("a damaged database of before is not removed", "dir", path, "err", err)
			}
		}
	}
	return aside, nil
}
