package badgerstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

const (
	fullDir  = "WARMROUTE_TEST_FULL"      // has the test binary work in this directory while its disk is filled
	fullWhen = "WARMROUTE_TEST_FULL_WHEN" // and says when that happens
)

// fillAndEnd is what the process on the small disk runs. It exits with 0 if both
// stores did what they promise; a bus error ends it otherwise.
func fillAndEnd(dir, when string) {
	if err := onASmallDisk(dir, when); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func onASmallDisk(dir, when string) error {
	ctx := context.Background()
	fill := func() error { return fillDisk(filepath.Join(dir, "filler")) }
	if when == "before the start" {
		if err := fill(); err != nil {
			return err
		}
		_, pinErr := badgerstore.Open(filepath.Join(dir, "pins"), badgerstore.Options{})
		_, ledgerErr := badgerstore.OpenLedger(filepath.Join(dir, "ledger"), badgerstore.LedgerOptions{})
		if !errors.Is(pinErr, badgerstore.ErrNoSpace) || !errors.Is(ledgerErr, badgerstore.ErrNoSpace) {
			return fmt.Errorf("opened on a full disk: %w, %w", pinErr, ledgerErr)
		}
		return nil
	}
	pins, err := badgerstore.Open(filepath.Join(dir, "pins"), badgerstore.Options{Resume: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	ledger, err := badgerstore.OpenLedger(filepath.Join(dir, "ledger"), badgerstore.LedgerOptions{Resume: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	if err := pins.Write(ctx, batchOf(0)); err != nil {
		return err
	}
	market, r := storetest.NewMarket(), rand.New(rand.NewPCG(1, 1))
	ledger.Record(market.Turn(r, 0, time.Now()))
	if err := ledger.Flush(ctx); err != nil {
		return err
	}
	if when == "while serving" {
		if err := serveWhileFull(ctx, dir, pins, ledger); err != nil {
			return err
		}
	}
	if err := fill(); err != nil {
		return err
	}
	for _, s := range []kept{pins, ledger} {
		if err := s.Close(ctx); !errors.Is(err, badgerstore.ErrNoSpace) {
			return fmt.Errorf("closed on a full disk: %w", err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		return err
	}
	return foundAgain(ctx, dir)
}

// serveWhileFull writes without a pause while the disk is filled and emptied.
func serveWhileFull(ctx context.Context, dir string, pins *badgerstore.Store, ledger *badgerstore.Ledger) error {
	market, r := storetest.NewMarket(), rand.New(rand.NewPCG(2, 1))
	n := 0
	write := func() error {
		n++
		for i := range 20 {
			ledger.Record(market.Turn(r, 20*n+i, time.Now()))
		}
		return pins.Write(ctx, batchOf(n%1000))
	}
	for round := range 2 {
		filled := make(chan error, 1)
		go func() { filled <- fillDisk(filepath.Join(dir, "filler")) }()
		limit := time.Now().Add(20 * time.Second)
		for pins.Problem() == "" || ledger.Problem() == "" {
			if err := write(); err != nil && !errors.Is(err, badgerstore.ErrNoSpace) {
				return err
			}
			if time.Now().After(limit) {
				return fmt.Errorf("nothing is said of a full disk: %q, %q", pins.Problem(), ledger.Problem())
			}
		}
		if err := <-filled; err != nil {
			return err
		}
		for range 100 {
			if err := write(); !errors.Is(err, badgerstore.ErrNoSpace) {
				return fmt.Errorf("written to a full disk: %w", err)
			}
		}
		if err := ledger.Flush(ctx); err != nil {
			return err
		}
		if ledger.Stats().Dropped == 0 {
			return errors.New("the ledger counts nothing as given up")
		}
		if got, err := pins.Get(ctx, batchOf(0)[0].Key); err != nil || len(got.Models) == 0 {
			return fmt.Errorf("a full disk is not read: %+v, %w", got, err)
		}
		if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
			return err
		}
		for limit := time.Now().Add(20 * time.Second); pins.Problem() != "" || ledger.Problem() != ""; {
			_ = write() // refused for a while
			if time.Now().After(limit) {
				return fmt.Errorf("round %d: writing does not go on: %q, %q", round, pins.Problem(), ledger.Problem())
			}
		}
		if err := write(); err != nil {
			return err
		}
	}
	return ledger.Flush(ctx)
}

// foundAgain opens what was left and looks for the first things written. This
// process is the one that left it: only the lock is in the way of that.
func foundAgain(ctx context.Context, dir string) error {
	pins, err := badgerstore.Open(filepath.Join(dir, "pins"), badgerstore.Options{Probe: inAnotherProcess("pins")})
	if err != nil {
		return err
	}
	ledger, err := badgerstore.OpenLedger(filepath.Join(dir, "ledger"), badgerstore.LedgerOptions{Probe: inAnotherProcess("ledger")})
	if err != nil {
		return err
	}
	for _, w := range batchOf(0) {
		if r, err := pins.Get(ctx, w.Key); err != nil || len(r.Models) == 0 {
			return fmt.Errorf("%s is lost: %w", w.Key.ID, err)
		}
	}
	o, err := ledger.Overview(ctx, engine.Query{}, time.Hour)
	if err != nil || o.Total.Turns == 0 {
		return fmt.Errorf("the books are lost: %w", err)
	}
	if p := pins.Problem() + ledger.Problem(); p != "" {
		return errors.New(p)
	}
	return errors.Join(pins.Close(ctx), ledger.Close(ctx))
}

// fillDisk writes until nothing more fits, 200 MB a second: the guard looks every
// 50 ms, and a neighbour that takes the whole reserve between two looks is beyond
// its promise.
func fillDisk(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block := bytes.Repeat([]byte{1}, 1<<20)
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for size := len(block); size > 0; {
		<-pace.C
		_, err := f.Write(block[:size])
		switch {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			return err
		}
	}
	return nil
}

func TestAFullDiskEndsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a small disk cannot be mounted: run as root to test a full one")
	}
	for _, when := range []string{"before the start", "while serving", "at the end"} {
		t.Run(when, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", dir).CombinedOutput(); err != nil {
				t.Skipf("a small disk cannot be mounted (%v): %s", err, out)
			}
			defer func() {
				if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
					t.Errorf("umount: %v: %s", err, out)
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), fullDir+"="+dir, fullWhen+"="+when)
			if out, err := cmd.CombinedOutput(); err != nil {
				lines := strings.SplitAfterN(string(out), "\n", 30)
				t.Errorf("%v:\n%s", err, strings.Join(lines[:min(len(lines), 29)], ""))
			}
		})
	}
}
