package badgerstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// sync has the disk take what was written.
//
// Badger's own Sync holds a lock that every commit and every reader waits for, so
// that both would stand still for as long as a slow disk takes; and a process that
// is killed meanwhile would lose what waits. Linux writes a file's mapped pages with
// the file, whoever syncs it: there the logs are synced beside Badger. Other systems
// need not (POSIX leaves it open).
func (f *files) sync() error {
	if runtime.GOOS != "linux" {
		return f.db.Sync()
	}
	names, err := readNames(f.guard.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch filepath.Ext(name) {
		case ".mem", ".vlog":
			err = errors.Join(err, syncFile(filepath.Join(f.guard.dir, name)))
		}
	}
	return err
}

// syncFile syncs a file. One that is gone needs no sync: what a log held is in a
// table by then, which Badger synced before it removed the log.
func syncFile(path string) error {
	log, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(log.Sync(), log.Close())
}
