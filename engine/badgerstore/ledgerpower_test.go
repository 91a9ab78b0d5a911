package badgerstore

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
)

// synced waits until the disk was asked, from its beginning on, to take what was
// written before now.
func synced(t *testing.T, l *Ledger) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	tick, late := time.NewTicker(time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for start := l.Stats().Syncs; l.Stats().Syncs == start; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("not synced")
		}
	}
}

// image copies a ledger's directory as it stands, while it is open.
func image(t *testing.T, dir string) (copied string) {
	t.Helper()
	copied = t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		from, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(filepath.Join(copied, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		_ = from.Close()
	}
	return copied
}

// An image of the files, taken once a sync after Record is over, has the turn, and
// whatever was recorded before it; what is being written meanwhile does not harm it.
// With the ordinary options that is 50 ms after the turn is written, and what the
// disk itself takes.
func TestAnImageOfTheFilesHasWhatWasSynced(t *testing.T) {
	dir := t.TempDir()
	l := openFor(t, dir, LedgerOptions{Auditor: storetest.Counter{}})
	if l.options.Sync > MaxSync/2 {
		t.Fatalf("synced after %v", l.options.Sync)
	}
	turns := turnsOf(600, 11, time.Now())
	for round := range 4 {
		before := turns[round*100 : round*100+100]
		began := time.Now()
		for i := range before {
			l.Record(before[i])
		}
		synced(t, l)
		t.Logf("synced %v after the first of a hundred turns was recorded", time.Since(began).Round(time.Millisecond))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() { // the power fails in the middle of work
			defer close(stopped)
			for i := 400; i < len(turns); i++ {
				select {
				case <-stop:
					return
				default:
					l.Record(turns[i])
				}
			}
		}()
		copied := image(t, dir)
		close(stop)
		<-stopped
		again := openFor(t, copied, LedgerOptions{Auditor: storetest.Counter{}})
		for i := range turns[:(round+1)*100] {
			turn := &turns[i]
			b, found, err := again.Turn(context.Background(), turn.Tenant, turn.ID)
			if err != nil || !found || b.State != engine.Settled {
				t.Fatalf("round %d: turn %d is lost: %v, %v", round, i, found, err)
			}
		}
		o, err := again.Overview(context.Background(), engine.Query{}, time.Hour)
		if err != nil || o.Total.Turns < int64(round+1)*100 || again.Stats().Bad != 0 {
			t.Errorf("round %d: %d turns in the sums, %+v, %v", round, o.Total.Turns, again.Stats(), err)
		}
		if err := again.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
