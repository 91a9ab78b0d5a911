package badgerstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

// probeDir has the test binary probe this directory and end.
const (
	probeDir  = "WARMROUTE_TEST_PROBE"
	probeKind = "WARMROUTE_TEST_PROBE_KIND"
)

// probeAndEnd is what the probing process runs.
func probeAndEnd(dir, kind string) {
	probe := badgerstore.ProbePins
	if kind == "ledger" {
		probe = badgerstore.ProbeLedger
	}
	err := probe(dir)
	switch {
	case err == nil:
		os.Exit(0)
	case errors.Is(err, badgerstore.ErrLocked):
		os.Exit(10)
	case errors.Is(err, badgerstore.ErrUnjudged):
		os.Exit(11)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// inAnotherProcess probes as a program would.
func inAnotherProcess(kind string) func(context.Context, string) error {
	return func(ctx context.Context, dir string) error {
		probe := exec.CommandContext(ctx, os.Args[0])
		probe.Env = append(os.Environ(), probeDir+"="+dir, probeKind+"="+kind)
		out, err := probe.CombinedOutput()
		if err == nil {
			return nil
		}
		var exit *exec.ExitError
		switch {
		case !errors.As(err, &exit), exit.ExitCode() == 11:
			return badgerstore.ErrUnjudged
		case exit.ExitCode() == 10:
			return badgerstore.ErrLocked
		}
		return fmt.Errorf("%w: %s", err, bytes.SplitN(out, []byte("\n"), 2)[0])
	}
}

// kept is a store of either kind.
type kept interface {
	Close(context.Context) error
	Problem() string
}

// kinds open a store with something in it, and count what is in it.
var kinds = map[string]struct {
	open func(dir string, probe func(context.Context, string) error, log *slog.Logger) (kept, error)
	fill func(t *testing.T, s kept)
	held func(t *testing.T, s kept) int
}{
	"pins": {
		open: func(dir string, probe func(context.Context, string) error, log *slog.Logger) (kept, error) {
			s, err := badgerstore.Open(dir, badgerstore.Options{Probe: probe, Log: log, Lock: 50 * time.Millisecond})
			if err != nil {
				return nil, err
			}
			return s, nil
		},
		fill: func(t *testing.T, s kept) {
			for n := range 20 {
				if err := s.(*badgerstore.Store).Write(context.Background(), batchOf(n)); err != nil {
					t.Fatal(err)
				}
			}
		},
		held: func(t *testing.T, s kept) (n int) {
			err := s.(*badgerstore.Store).Load(context.Background(), func(engine.PinKey, engine.Record) bool { n++; return true })
			if err != nil {
				t.Fatal(err)
			}
			return n
		},
	},
	"ledger": {
		open: func(dir string, probe func(context.Context, string) error, log *slog.Logger) (kept, error) {
			l, err := badgerstore.OpenLedger(dir, badgerstore.LedgerOptions{Probe: probe, Log: log, Lock: 50 * time.Millisecond})
			if err != nil {
				return nil, err
			}
			return l, nil
		},
		fill: func(t *testing.T, s kept) {
			market, r := storetest.NewMarket(), rand.New(rand.NewPCG(1, 1))
			for i := range 400 {
				s.(*badgerstore.Ledger).Record(market.Turn(r, i, time.Now()))
			}
			flush(t, s.(*badgerstore.Ledger))
		},
		held: func(t *testing.T, s kept) int { return len(everyTurn(t, s.(*badgerstore.Ledger), engine.Query{})) },
	},
}

// damages are done to the first file of a pattern.
var damages = []struct {
	name, pattern string
	change        func(path string, data []byte) error
}{
	{"a table cut to 100 bytes", "*.sst", func(path string, _ []byte) error { return os.Truncate(path, 100) }},
	{"an emptied table", "*.sst", func(path string, _ []byte) error { return os.Truncate(path, 0) }},
	{"a table of garbage", "*.sst", func(path string, data []byte) error { return os.WriteFile(path, garbage(len(data)), 0o600) }},
	{"a table whose end is all ones", "*.sst", func(path string, data []byte) error {
		return os.WriteFile(path, append(data[:len(data)-40:len(data)-40], bytes.Repeat([]byte{0xff}, 40)...), 0o600)
	}},
	{"garbage after a table", "*.sst", func(path string, data []byte) error {
		return os.WriteFile(path, append(data, garbage(4096)...), 0o600)
	}},
	{"one bit of a table", "*.sst", func(path string, data []byte) error { data[len(data)/3] ^= 4; return os.WriteFile(path, data, 0o600) }},
	{"no table", "*.sst", func(path string, _ []byte) error { return os.Remove(path) }},
	{"an emptied list of tables", "MANIFEST", func(path string, _ []byte) error { return os.Truncate(path, 0) }},
	{"a list of tables that is garbage", "MANIFEST", func(path string, data []byte) error { return os.WriteFile(path, garbage(len(data)), 0o600) }},
	{"no list of tables", "MANIFEST", func(path string, _ []byte) error { return os.Remove(path) }},
	{"a registry of garbage", "KEYREGISTRY", func(path string, data []byte) error { return os.WriteFile(path, garbage(len(data)), 0o600) }},
}

func garbage(n int) []byte {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func damage(t *testing.T, dir, pattern string, change func(string, []byte) error) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := change(found[0], data); err != nil {
		t.Fatal(err)
	}
}

func asideOf(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(dir + ".damaged-*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestADamagedDatabaseIsSetAside(t *testing.T) {
	for kind, k := range kinds {
		sound := filepath.Join(t.TempDir(), "sound")
		s, err := k.open(sound, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		k.fill(t, s)
		shut(t, s)
		for _, d := range damages {
			t.Run(kind+", "+d.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), kind)
				if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
					t.Fatal(err)
				}
				damage(t, dir, d.pattern, d.change)
				var logs bytes.Buffer
				s, err := k.open(dir, inAnotherProcess(kind), slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelError})))
				if err != nil {
					t.Fatal(err)
				}
				aside := asideOf(t, dir)
				if len(aside) != 1 || !strings.Contains(s.Problem(), aside[0]) || strings.Count(logs.String(), aside[0]) != 1 {
					t.Errorf("set aside %q, problem %q, logged %q", aside, s.Problem(), &logs)
				}
				if n := k.held(t, s); n != 0 {
					t.Errorf("%d things in the new one", n)
				}
				k.fill(t, s)
				shut(t, s)
				if s, err = k.open(dir, inAnotherProcess(kind), nil); err != nil {
					t.Fatal(err)
				}
				if n := k.held(t, s); n != 400 || s.Problem() != "" {
					t.Errorf("at the next start %d things, problem %q", n, s.Problem())
				}
				shut(t, s)
			})
		}
	}
}

func TestASoundDatabaseIsLeftAlone(t *testing.T) {
	for kind, k := range kinds {
		dir := filepath.Join(t.TempDir(), kind)
		probes := 0
		probe := func(ctx context.Context, dir string) error { probes++; return inAnotherProcess(kind)(ctx, dir) }
		for start := range 3 {
			s, err := k.open(dir, probe, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, want := k.held(t, s), min(start, 1)*400; n != want || s.Problem() != "" || probes != start {
				t.Errorf("%s, start %d: %d things, problem %q, %d probes", kind, start, n, s.Problem(), probes)
			}
			if start == 0 {
				k.fill(t, s)
			}
			shut(t, s)
		}
		if aside := asideOf(t, dir); aside != nil {
			t.Errorf("set aside %q", aside)
		}
	}
}

// TestALogThatWasJustBegun is about a process that ended between making a log and
// giving it its size.
func TestALogThatWasJustBegun(t *testing.T) {
	for kind, k := range kinds {
		for _, name := range []string{"00007.mem", "000007.vlog", "000001.vlog"} {
			dir := filepath.Join(t.TempDir(), kind)
			s, err := k.open(dir, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			k.fill(t, s)
			shut(t, s)
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err = k.open(dir, inAnotherProcess(kind), nil); err != nil {
				t.Fatal(err)
			}
			if n := k.held(t, s); n != 400 || s.Problem() != "" {
				t.Errorf("%s, %s: %d things, problem %q", kind, name, n, s.Problem())
			}
			shut(t, s)
		}
	}
}

func TestWhatIsNoVerdictSetsNothingAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pins")
	first, err := badgerstore.Open(dir, badgerstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = badgerstore.Open(dir, badgerstore.Options{Lock: time.Millisecond, Probe: inAnotherProcess("pins")})
	if !errors.Is(err, badgerstore.ErrLocked) {
		t.Errorf("in use by another: %v", err)
	}
	shut(t, first)
	for _, c := range []struct {
		name    string
		verdict error
		left    int64
		want    error
	}{
		{"it could not judge", fmt.Errorf("no file left: %w", badgerstore.ErrUnjudged), 1 << 40, nil},
		{"it found another process there", badgerstore.ErrLocked, 1 << 40, badgerstore.ErrLocked},
		{"the disk was full", errors.New("bus error"), 0, badgerstore.ErrNoSpace},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := int64(1 << 40)
			s, err := badgerstore.Open(dir, badgerstore.Options{
				Free:  func(string) (int64, error) { return left, nil },
				Probe: func(context.Context, string) error { left = c.left; return c.verdict },
			})
			if !errors.Is(err, c.want) {
				t.Errorf("open: %v", err)
			}
			if err == nil {
				shut(t, s)
			}
		})
	}
	if aside := asideOf(t, dir); aside != nil {
		t.Errorf("set aside %q", aside)
	}
}

func TestTwoDamagedDatabasesAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pins")
	shut(t, open(t, dir, badgerstore.Options{}))
	var last string
	for day := range 4 {
		now := time.Date(2026, 1, 30+day, 8, 0, 0, 0, time.UTC)
		s := open(t, dir, badgerstore.Options{
			Now:   func() time.Time { return now },
			Probe: func(context.Context, string) error { return errors.New("damaged") },
		})
		shut(t, s)
		last = dir + ".damaged-" + now.Format("20060102T150405Z")
	}
	if aside := asideOf(t, dir); len(aside) != 2 || aside[1] != last {
		t.Errorf("kept %q", aside)
	}
}
