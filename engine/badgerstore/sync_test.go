package badgerstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// Every log in the directory is synced, whatever else lies there; one that is gone by
// then is no error, and one that cannot be synced is.
func TestSyncTakesEveryLog(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	if err := s.files.sync(); err != nil {
		t.Errorf("sync: %v", err)
	}
	if err := syncFile(filepath.Join(dir, "99999.mem")); err != nil {
		t.Errorf("a log that is gone: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "99998.mem"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syncFile(filepath.Join(dir, "99998.mem")); err == nil {
		t.Error("what is no log was synced")
	}
	if err := os.Remove(filepath.Join(dir, "99998.mem")); err != nil {
		t.Fatal(err)
	}
}
