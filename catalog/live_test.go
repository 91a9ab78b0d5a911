package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// priced is a small catalog whose only price is input.
func priced(input string) string {
	return "version: 1\nvendors: {v: {api: [chat], base_url: https://v.example, credentials: [{id: main, env: V_KEY}]}}\n" +
		"models: {m: {routes: [{vendor: v, model: m, price: {input: " + input + "}}]}}\n"
}

func inputOf(c *Catalog) string { return price(c.Models[0].Routes[0].Price[0].Card.Input) }

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keysOf is a look-up in a map of variables and files.
func keysOf(keys map[string]string) Keys {
	return func(c Credential) (string, bool) {
		key, ok := keys[c.Env+c.File]
		return key, ok
	}
}

func load(t testing.TB, path string) *Catalog {
	t.Helper()
	c, err := LoadKeys(path, keysOf(map[string]string{"V_KEY": "canary"}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadReadsKeys(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	write(t, filepath.Join(dir, "good"), "  canary-file\n")
	write(t, filepath.Join(dir, "blank"), " \n")
	write(t, filepath.Join(dir, "lines"), "a\nb\n")
	t.Setenv("WARMROUTE_TEST_KEY", " canary-env ")
	t.Setenv("WARMROUTE_TEST_BLANK", "  ")
	write(t, path, `version: 1
vendors:
  v:
    api: [chat]
    base_url: https://v.example
    credentials:
      - {id: env, env: WARMROUTE_TEST_KEY}
      - {id: unset, env: WARMROUTE_TEST_UNSET}
      - {id: blank, env: WARMROUTE_TEST_BLANK}
      - {id: odd, env: canary_in_place_of_a_name}
      - {id: file, file: good}
      - {id: absolute, file: `+filepath.Join(dir, "good")+`}
      - {id: missing, file: none}
      - {id: empty, file: blank}
      - {id: long, file: lines}
      - {id: folder, file: .}
models: {m: {routes: [{vendor: v, model: m}]}}
`)
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"env": "canary-env", "file": "canary-file", "absolute": "canary-file"}
	for i := range c.Vendors[0].Credentials {
		credential := &c.Vendors[0].Credentials[i]
		secret, ok := credential.Secret()
		if ok != (want[credential.ID] != "") || secret.Reveal() != want[credential.ID] {
			t.Errorf("credential %s: loaded %t", credential.ID, ok)
		}
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, strings.TrimPrefix(w.String(), path))
	}
	const out = "is left out of every plan"
	wanted := []string{
		`:8:9: vendor "v": environment variable WARMROUTE_TEST_UNSET is not set, or blank; credential "unset" ` + out,
		`:9:9: vendor "v": environment variable WARMROUTE_TEST_BLANK is not set, or blank; credential "blank" ` + out,
		`:10:9: vendor "v": the environment variable named here is not set, or blank; credential "odd" ` + out,
		`:13:9: vendor "v": the key file named here cannot be read, or is blank; credential "missing" ` + out,
		`:14:9: vendor "v": the key file named here cannot be read, or is blank; credential "empty" ` + out,
		`:15:9: vendor "v": the key file named here holds more than one line, or characters that no header can carry; credential "long" ` + out,
		`:16:9: vendor "v": key file "." cannot be read, or is blank; credential "folder" ` + out,
	}
	if strings.Join(got, "\n") != strings.Join(wanted, "\n") {
		t.Errorf("warnings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, large, strings.Repeat("#", MaxSize+1))
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "does not exist", dir: "is not a regular file", pipe: "is not a regular file", large: ":1:4194305: the file goes on past 4 MiB",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", path, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestReloadKeepsTheLastGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	write(t, path, priced("2.50"))
	first := load(t, path)
	l := NewLive(path, first)
	if s := l.Status(); s.Digest != first.Digest || s.LoadedAt.IsZero() || s.Rejected != nil || s.Path != path {
		t.Fatalf("at the start: %+v", s)
	}
	noon := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

	write(t, path, "version: 1\nvendors:\n\tv: {api: [ch")
	var all Problems
	if err := l.Reload(noon); !errors.As(err, &all) || all[0].Line != 3 {
		t.Fatalf("a broken file: %v", err)
	}
	if s := l.Status(); l.Current() != first || s.Digest != first.Digest || s.Rejected == nil || !s.RejectedAt.Equal(noon) || s.LoadedAt.Equal(noon) {
		t.Errorf("after a broken file: %+v", s)
	}

	write(t, path, priced("4"))
	if err := l.Reload(noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	s := l.Status()
	if inputOf(l.Current()) != "4" || s.Digest != l.Current().Digest || s.Rejected != nil || !s.RejectedAt.IsZero() || !s.LoadedAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("after a good file: %+v", s)
	}
	if inputOf(first) != "2.5" {
		t.Errorf("a turn that began before has its price changed to %s", inputOf(first))
	}
	if secret, ok := l.Current().Vendors[0].Credentials[0].Secret(); !ok || secret.Reveal() != "canary" {
		t.Error("the reload did not look keys up as the first load did")
	}
}

func TestReloadsAndTurnsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	write(t, path, priced("1"))
	l := NewLive(path, load(t, path))
	var turns sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		turns.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c := l.Current()
				if got := inputOf(c); got != "1" && got != "2" {
					t.Errorf("a turn saw the price %s", got)
				}
				if s := l.Status(); s.Rejected == nil != s.RejectedAt.IsZero() {
					t.Errorf("a torn status: %+v", s)
				}
			}
		})
	}
	for i := range 200 {
		write(t, path, []string{priced("1"), "garbage: [", priced("2")}[i%3])
		_ = l.Reload(time.Unix(int64(i), 0))
	}
	close(stop)
	turns.Wait()
}

// watching starts Watch and returns the statuses it tells of.
func watching(t *testing.T, l *Live) <-chan Status {
	t.Helper()
	told := make(chan Status, 16)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := l.Watch(ctx, func(s Status) { told <- s }); err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return told
}

// wait takes statuses until one is as wanted; those between may be of a file
// caught half-way.
func wait(t *testing.T, told <-chan Status, what string, want func(Status) bool) Status {
	t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for {
		select {
		case s := <-told:
			if want(s) {
				return s
			}
		case <-late.C:
			t.Fatalf("%s: not noticed in time", what)
		}
	}
}

func good(text string) func(Status) bool {
	return func(s Status) bool { return s.Rejected == nil && s.Digest == digest([]byte(text)) }
}

func rejected(with string) func(Status) bool {
	return func(s Status) bool { return s.Rejected != nil && strings.Contains(s.Rejected.Error(), with) }
}

func TestWatchFollowsEdits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	write(t, path, priced("1"))
	l := NewLive(path, load(t, path))
	told := watching(t, l)

	write(t, path, priced("2"))
	wait(t, told, "written in place", good(priced("2")))

	write(t, filepath.Join(dir, ".catalog.yaml.swp"), priced("3"))
	if err := os.Rename(filepath.Join(dir, ".catalog.yaml.swp"), path); err != nil {
		t.Fatal(err)
	}
	wait(t, told, "renamed over", good(priced("3")))

	write(t, path, "version: 1\n\tgarbage")
	s := wait(t, told, "garbage", rejected(path+":2:"))
	if inputOf(l.Current()) != "3" || s.Digest != digest([]byte(priced("3"))) {
		t.Errorf("garbage displaced the last good catalog: %+v", s)
	}

	write(t, path, "")
	wait(t, told, "emptied", rejected("the catalog is empty"))

	write(t, path, priced("3"))
	wait(t, told, "put right with the text that is in force", good(priced("3")))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait(t, told, "deleted", rejected("does not exist"))
	if inputOf(l.Current()) != "3" {
		t.Error("a deleted file displaced the last good catalog")
	}

	write(t, path, priced("4"))
	wait(t, told, "restored", good(priced("4")))
	if inputOf(l.Current()) != "4" {
		t.Errorf("the price in force is %s", inputOf(l.Current()))
	}
}

func TestWatchSeesAnEditMadeBeforeIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	write(t, path, priced("1"))
	l := NewLive(path, load(t, path))
	write(t, path, priced("2"))
	wait(t, watching(t, l), "an edit before Watch", good(priced("2")))
}

// A config map is a folder of links: catalog.yaml -> ..data/catalog.yaml, and
// ..data -> a dated folder, which is swapped by renaming a link over it.
func TestWatchFollowsAConfigMap(t *testing.T) {
	dir := t.TempDir()
	publish := func(version, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, version, "catalog.yaml"), text)
		if err := os.Symlink(version, filepath.Join(dir, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	publish("..2026_12_01", priced("1"))
	path := filepath.Join(dir, "catalog.yaml")
	if err := os.Symlink(filepath.Join("..data", "catalog.yaml"), path); err != nil {
		t.Fatal(err)
	}
	l := NewLive(path, load(t, path))
	told := watching(t, l)
	publish("..2026_12_02", priced("2"))
	wait(t, told, "the link swapped", good(priced("2")))
	publish("..2026_12_03", "version: 1\n")
	wait(t, told, "the link swapped to a bad file", rejected("vendors is missing"))
	publish("..2026_12_04", priced("3"))
	wait(t, told, "the link swapped to a good file", good(priced("3")))
}

// No event tells of a file behind a link into another folder.
func TestWatchFollowsALinkOutOfTheFolder(t *testing.T) {
	elsewhere, path := filepath.Join(t.TempDir(), "real.yaml"), filepath.Join(t.TempDir(), "catalog.yaml")
	write(t, elsewhere, priced("1"))
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	l := NewLive(path, load(t, path))
	told := watching(t, l)
	write(t, elsewhere, priced("2.75"))
	wait(t, told, "the file behind the link", good(priced("2.75")))
}

func TestWatchNeedsItsFolder(t *testing.T) {
	l := NewLive(filepath.Join(t.TempDir(), "none", "catalog.yaml"), parse(t, priced("1")))
	if err := l.Watch(t.Context(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Watch in no folder: %v", err)
	}
}
