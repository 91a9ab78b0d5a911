package badgerstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func guardOf(t *testing.T, left *int64) (*guard, *time.Time, *bytes.Buffer) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pins")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, manifest), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	itself, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	now, logs := time.Unix(1e9, 0), &bytes.Buffer{}
	return &guard{
		dir: dir, itself: itself, holds: "pins", reserve: 100, resume: 3 * time.Second,
		free: func(string) (int64, error) { return *left, nil },
		now:  func() time.Time { return now },
		log:  slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelError})),
	}, &now, logs
}

func TestAGuardOpensAgainOnceTwiceTheReserveLasts(t *testing.T) {
	left := int64(1000)
	g, now, logs := guardOf(t, &left)
	for _, step := range []struct {
		left  int64
		after time.Duration
		shut  bool
	}{
		{1000, 0, false},
		{100, time.Second, false},
		{99, time.Second, true},
		{5, time.Second, true},
		{199, time.Hour, true},
		{200, time.Second, true},
		{200, 2 * time.Second, true},
		{150, time.Second, true}, // the three seconds begin anew
		{200, time.Second, true},
		{300, 3*time.Second - 1, true},
		{300, 1, false},
		{101, time.Second, false},
	} {
		left, *now = step.left, now.Add(step.after)
		err := g.check()
		if (err != nil) != step.shut || (g.problem() != "") != step.shut || err != nil && !errors.Is(err, ErrNoSpace) {
			t.Errorf("%d left %v later: %v, problem %q", step.left, step.after, err, g.problem())
		}
	}
	if n := strings.Count(logs.String(), "level=ERROR"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, logs)
	}
}

func TestAGuardSeesThatItsDirectoryIsGone(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"removed":     os.RemoveAll,
		"emptied":     func(dir string) error { return os.Remove(filepath.Join(dir, manifest)) },
		"moved away":  func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		"made anew":   func(dir string) error { return errors.Join(os.Rename(dir, dir+"-elsewhere"), os.Mkdir(dir, 0o700)) },
		"now a file":  func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a dead link": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink("nowhere", dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			left := int64(1000)
			g, _, logs := guardOf(t, &left)
			if err := g.check(); err != nil {
				t.Fatal(err)
			}
			if err := remove(g.dir); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := g.check(); !errors.Is(err, ErrGone) {
					t.Errorf("check: %v", err)
				}
			}
			if err := g.closable(); !errors.Is(err, ErrGone) {
				t.Errorf("to be closed: %v", err)
			}
			if n := strings.Count(logs.String(), "level=ERROR"); n != 1 {
				t.Errorf("logged %d times:\n%s", n, logs)
			}
		})
	}
}

// TestADatabaseThatFailedIsNotUsedAgain is about an assertion of Badger's that ends
// the process when it is used after it could not make a file.
func TestADatabaseThatFailedIsNotUsedAgain(t *testing.T) {
	left := int64(1000)
	g, _, _ := guardOf(t, &left)
	g.failed(errors.New("some other error"))
	if err := g.check(); err != nil {
		t.Errorf("after another error: %v", err)
	}
	g.failed(errors.New("cannot create new mem table err: too many open files"))
	if err := g.check(); !errors.Is(err, ErrBroken) || !strings.Contains(g.problem(), "too many open files") {
		t.Errorf("check: %v, problem %q", err, g.problem())
	}
}

func TestTroubleIsSaidOnceForEachReason(t *testing.T) {
	var tr trouble
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		text  string
		after time.Duration
		say   bool
	}{
		{"a", 0, true}, {"a", time.Hour, false}, {"b", 0, true}, {"a", time.Second, true}, {"b", time.Second, false},
		{"", 0, false}, {"b", time.Second, false}, {"", 0, false}, {"b", 10 * time.Second, true},
	} {
		now = now.Add(c.after)
		if c.text == "" {
			tr.gone()
			continue
		}
		if say := tr.note(errors.New(c.text), now); say != c.say || tr.problem() != c.text {
			t.Errorf("%q after %v: say %v", c.text, c.after, say)
		}
	}
}

func TestASlowProbeIsNoVerdict(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pins")
	for range 2 {
		s, err := Open(dir, Options{within: time.Millisecond, Probe: func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return errors.New("signal: killed")
		}})
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Problem(); p != "" {
			t.Errorf("problem %q", p)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if found, _ := filepath.Glob(dir + ".damaged-*"); len(found) > 0 {
		t.Errorf("set aside %q", found)
	}
}
