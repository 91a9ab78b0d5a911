package badgerstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("WARMROUTE_TEST_WRITER"); dir != "" {
		writeForEver(dir)
	}
	if dir := os.Getenv(ledgerDir); dir != "" {
		recordForEver(dir, os.Getenv(ledgerRound))
	}
	if dir := os.Getenv(probeDir); dir != "" {
		probeAndEnd(dir, os.Getenv(probeKind))
	}
	if dir := os.Getenv(fullDir); dir != "" {
		fillAndEnd(dir, os.Getenv(fullWhen))
	}
	goleak.VerifyTestMain(m)
}

// open opens a store that the end of the test closes, unless the test did.
func open(t *testing.T, dir string, o badgerstore.Options) *badgerstore.Store {
	t.Helper()
	s, err := badgerstore.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil && !errors.Is(err, badgerstore.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func shut(t testing.TB, c interface{ Close(context.Context) error }) {
	t.Helper()
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func pinKey(id string) engine.PinKey {
	return engine.PinKey{Tenant: "t", Class: engine.ClassExplicit, ID: id}
}

func pinned(vendor string, turn uint64) engine.Record {
	return engine.Record{}.Keep("m", warm(vendor, turn))
}

func warm(vendor string, turn uint64) engine.Entry {
	now := time.Now().UTC().Truncate(time.Second)
	return engine.Entry{Vendor: vendor, Turn: turn, AcceptedAt: now, ExpiresAt: now.Add(time.Hour)}
}

func vendor(t *testing.T, p engine.Pins, id string) string {
	t.Helper()
	r, err := p.Recall(context.Background(), pinKey(id))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.For("m")) == 0 {
		return ""
	}
	return r.For("m")[0].Vendor
}

func TestBacking(t *testing.T) {
	storetest.Backing(t, func(t *testing.T) engine.PinBacking { return open(t, t.TempDir(), badgerstore.Options{}) })
}

func TestPinsOverBadger(t *testing.T) {
	for _, loaded := range []bool{true, false} {
		t.Run(fmt.Sprint("loaded ", loaded), func(t *testing.T) {
			storetest.Pins(t, func(t *testing.T) engine.Pins {
				p := inmem.New(inmem.Options{Backing: open(t, t.TempDir(), badgerstore.Options{})})
				t.Cleanup(func() { shut(t, p) })
				if loaded {
					if err := p.Load(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
				return p
			})
		})
	}
}

func TestPinsSurviveARestart(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := open(t, dir, badgerstore.Options{})
	pins := inmem.New(inmem.Options{Backing: store})
	for i := range 500 {
		if err := pins.Keep(ctx, pinKey(fmt.Sprint("s", i)), "m", warm(fmt.Sprint("v", i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := pins.Drop(ctx, pinKey("s7"), "m", warm("v7", 1)); err != nil {
		t.Fatal(err)
	}
	shut(t, pins)
	shut(t, store)

	store = open(t, dir, badgerstore.Options{})
	pins = inmem.New(inmem.Options{Backing: store})
	defer shut(t, pins)
	if got := vendor(t, pins, "s1"); got != "v1" || pins.Loaded() {
		t.Fatalf("before it is loaded: %q", got)
	}
	if err := pins.Keep(ctx, pinKey("s2"), "m", warm("later", 9)); err != nil {
		t.Fatal(err)
	}
	if err := pins.Load(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		want := fmt.Sprint("v", i)
		switch i {
		case 2:
			want = "later"
		case 7:
			want = ""
		}
		if got := vendor(t, pins, fmt.Sprint("s", i)); got != want {
			t.Fatalf("session %d: %q, want %q", i, got, want)
		}
	}
	r, err := pins.Recall(ctx, pinKey("s2"))
	if err != nil || len(r.For("m")) != 2 {
		t.Fatalf("the vendor of before is not beside the later one: %+v, %v", r, err)
	}
	if st := pins.Stats(); !st.Loaded || st.Records != 499 || store.Bad() != 0 {
		t.Fatalf("%+v, %d bad", st, store.Bad())
	}
}

// TestPinsOfBeforeSurviveAWriteBeforeTheLoad keeps a pin for a session whose
// stored record is not in memory yet: the write must not erase it.
func TestPinsOfBeforeSurviveAWriteBeforeTheLoad(t *testing.T) {
	ctx := context.Background()
	store := open(t, t.TempDir(), badgerstore.Options{})
	if err := store.Write(ctx, []engine.PinWrite{{Key: pinKey("s"), Record: pinned("before", 1)}}); err != nil {
		t.Fatal(err)
	}
	pins := inmem.New(inmem.Options{Backing: store})
	defer shut(t, pins)
	if err := pins.Keep(ctx, pinKey("s"), "m", warm("after", 2)); err != nil {
		t.Fatal(err)
	}
	if err := pins.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := store.Get(ctx, pinKey("s"))
	if err != nil || len(r.For("m")) != 2 {
		t.Fatalf("stored %+v, %v", r, err)
	}
}

func TestADirectoryInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pins")
	first := open(t, dir, badgerstore.Options{})
	_, err := badgerstore.Open(dir, badgerstore.Options{Lock: 50 * time.Millisecond})
	if !errors.Is(err, badgerstore.ErrLocked) {
		t.Fatalf("err %v", err)
	}
	t.Log(err)

	opened := make(chan error, 1)
	var second *badgerstore.Store
	go func() {
		var err error
		second, err = badgerstore.Open(dir, badgerstore.Options{})
		opened <- err
	}()
	shut(t, first)
	if err := <-opened; err != nil {
		t.Fatalf("not opened after the first one closed: %v", err)
	}
	shut(t, second)
}

func TestTheDirectoryIsItsOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "pins")
	open(t, dir, badgerstore.Options{})
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestAFullDisk(t *testing.T) {
	var left atomic.Int64
	left.Store(1 << 30)
	o := badgerstore.Options{Reserve: 100 << 20, Resume: -1, Free: func(string) (int64, error) { return left.Load(), nil }}
	store := open(t, t.TempDir(), o)
	ctx, writes := context.Background(), []engine.PinWrite{{Key: pinKey("s"), Record: pinned("a", 1)}}
	if err := store.Write(ctx, writes); err != nil {
		t.Fatal(err)
	}
	left.Store(100<<20 - 1)
	if err := store.Write(ctx, writes); !errors.Is(err, badgerstore.ErrNoSpace) {
		t.Fatalf("write: %v", err)
	}
	if r, err := store.Get(ctx, pinKey("s")); err != nil || len(r.Models) != 1 {
		t.Fatalf("a full disk can still be read: %+v, %v", r, err)
	}
	_, err := badgerstore.Open(t.TempDir(), o)
	if !errors.Is(err, badgerstore.ErrNoSpace) {
		t.Fatalf("open: %v", err)
	}
	t.Log(err)
	left.Store(100 << 20)
	if err := store.Write(ctx, writes); err != nil {
		t.Fatalf("with room again: %v", err)
	}
}

func TestAClosedStore(t *testing.T) {
	ctx := context.Background()
	store := open(t, t.TempDir(), badgerstore.Options{})
	shut(t, store)
	if _, err := store.Get(ctx, pinKey("s")); !errors.Is(err, badgerstore.ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if err := store.Write(ctx, nil); !errors.Is(err, badgerstore.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := store.Load(ctx, func(engine.PinKey, engine.Record) bool { return true }); !errors.Is(err, badgerstore.ErrClosed) {
		t.Errorf("load: %v", err)
	}
	if err := store.Close(ctx); !errors.Is(err, badgerstore.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}

func TestAFileInPlaceOfTheDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := badgerstore.Open(file, badgerstore.Options{}); err == nil {
		t.Fatal("opened a file")
	}
}

func TestADamagedDatabase(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir, badgerstore.Options{}))
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("not a manifest"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := badgerstore.Open(dir, badgerstore.Options{})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "move the directory away") {
		t.Fatalf("err %v", err)
	}
	t.Log(err)
}
