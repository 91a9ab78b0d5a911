package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warmroute/warmroute/routes"
)

// readiness is what /readyz?verbose says.
func (p *process) readiness(t *testing.T) (r routes.Readiness) {
	t.Helper()
	response, err := http.Get(p.admin + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("readyz: %v in %s", err, text)
	}
	return r
}

// troubled waits until both stores say what is wrong with them.
func (p *process) troubled(t *testing.T, within time.Duration) routes.Readiness {
	t.Helper()
	for began := time.Now(); ; {
		r := p.readiness(t)
		if r.Pins.Problem != "" && r.Ledger.Problem != "" {
			return r
		}
		if time.Since(began) > within {
			t.Fatalf("not within %v: both stores say what is wrong; readyz says %+v", within, r)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// errorLines are the lines of the log at the level ERROR that speak of word.
func (p *process) errorLines(word string) (lines []string) {
	for line := range strings.SplitSeq(p.logs.String(), "\n") {
		if strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// ended says whether the process went by itself, with 0 or 1, as the signal asked.
func ended(t *testing.T, p *process) {
	t.Helper()
	err := p.stop(t, syscall.SIGTERM)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 1 || strings.Contains(p.logs.String(), "goroutine ") {
		t.Fatalf("ended with %v:\n%s", err, p.logs)
	}
}

func serving(t *testing.T, data string) (args []string) {
	t.Helper()
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	return []string{"serve", "--catalog", path, "--data", data}
}

func TestADamagedStoreIsSetAsideAndServingStarts(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	args := serving(t, data)
	p := start(t, args...)
	p.ask(t, "sea/charts", "dory-1")
	p.settled(t)
	ended(t, p)
	for _, store := range []string{"pins", "ledger"} {
		tables, err := filepath.Glob(filepath.Join(data, store, "*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatalf("no tables in %s: %v", store, err)
		}
		if err := os.Truncate(tables[0], 100); err != nil {
			t.Fatal(err)
		}
	}
	p = start(t, args...)
	r := p.readiness(t)
	for store, problem := range map[string]string{"pins": r.Pins.Problem, "ledger": r.Ledger.Problem} {
		aside, err := filepath.Glob(filepath.Join(data, store+".damaged-*"))
		if err != nil || len(aside) != 1 || !strings.Contains(problem, aside[0]) || len(p.errorLines(aside[0])) != 1 {
			t.Errorf("%s: set aside %q, readyz says %q, logs:\n%s", store, aside, problem, p.logs)
		}
	}
	if !r.Ready || r.Reason == "" {
		t.Errorf("readyz says %+v", r)
	}
	for _, want := range []string{"no_pin", "confirmed"} {
		if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != want {
			t.Errorf("%s: %d %s", want, a.Status, a.Body)
		}
	}
	p.settled(t)
	ended(t, p)
	p = start(t, args...)
	if r := p.readiness(t); r.Reason != "" || len(p.errorLines("")) > 0 {
		t.Errorf("at the next start readyz says %+v, the log:\n%s", r, p.logs)
	}
	if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != "confirmed" {
		t.Errorf("after the next start: %d %s", a.Status, a.Body)
	}
	ended(t, p)
}

func TestADataFolderThatIsRemovedWhileServing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, serving(t, data)...)
	p.ask(t, "sea/charts", "dory-1")
	p.settled(t)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	stillServes(t, p)
	r := p.troubled(t, time.Second)
	if !r.Ready || !strings.Contains(r.Pins.Problem, "removed") || !strings.Contains(r.Ledger.Problem, "removed") {
		t.Errorf("readyz says %+v", r)
	}
	stillServes(t, p)
	for _, store := range []string{"pins", "ledger"} {
		if lines := p.errorLines(filepath.Join(data, store)); len(lines) != 1 {
			t.Errorf("%s: %d lines:\n%s", store, len(lines), strings.Join(lines, "\n"))
		}
	}
	ended(t, p)
}

func TestADataFolderThatBecomesReadOnlyWhileServing(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere: run as another user to test a folder that became read-only")
	}
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, serving(t, data)...)
	p.ask(t, "sea/charts", "dory-1")
	p.settled(t)
	for _, store := range []string{"pins", "ledger"} {
		dir := filepath.Join(data, store)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	stillServes(t, p)
	if r := p.troubled(t, time.Second); !strings.Contains(r.Pins.Problem, "permission denied") {
		t.Errorf("readyz says %+v", r)
	}
	ended(t, p)
}

// stillServes has a pin kept and honoured, in memory if nowhere else.
func stillServes(t *testing.T, p *process) {
	t.Helper()
	for range 3 {
		if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != "confirmed" {
			t.Errorf("a turn says %d %s", a.Status, a.Body)
		}
	}
}

// fill writes to the disk of dir until nothing more fits, as another process would.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	out, err := exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=64k").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "space") {
		t.Fatalf("the disk is not full: %v: %s", err, out)
	}
	return filler
}

func TestAFullDiskNeitherEndsNorHoldsTheGateway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a small disk cannot be mounted: run as root to test a full one")
	}
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted (%v): %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	args := serving(t, filepath.Join(disk, "data"))
	p := start(t, args...)
	p.ask(t, "sea/charts", "dory-1")
	p.settled(t)
	filler := fill(t, disk)
	stillServes(t, p)
	r := p.troubled(t, time.Second)
	if !r.Ready || !strings.Contains(r.Pins.Problem, "too little free space") || r.Ledger.Dropped == 0 && r.Ledger.Queued == 0 {
		t.Errorf("readyz says %+v", r)
	}
	ended(t, p) // at the end
	if lines := p.errorLines("too little free space"); len(lines) < 2 {
		t.Errorf("the log does not say why:\n%s", p.logs)
	}

	p = start(t, args...) // before the start
	if r := p.readiness(t); !r.Ready || r.Pins.Problem == "" || r.Ledger.Problem == "" {
		t.Errorf("started on a full disk readyz says %+v", r)
	}
	p.ask(t, "sea/charts", "dory-1")
	stillServes(t, p)
	ended(t, p)

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p = start(t, args...)
	if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != "confirmed" {
		t.Errorf("what was kept before the disk was full is lost: %s", a.Body)
	}
	if r := p.readiness(t); r.Reason != "" {
		t.Errorf("with room again readyz says %+v", r)
	}
	filler = fill(t, disk) // while serving, and room again
	p.troubled(t, time.Second)
	stillServes(t, p)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(10 * time.Second); p.readiness(t).Reason != ""; {
		if time.Now().After(limit) {
			t.Fatalf("writing does not go on: %+v", p.readiness(t))
		}
		<-time.After(50 * time.Millisecond)
	}
	p.settled(t)
	ended(t, p)
}
