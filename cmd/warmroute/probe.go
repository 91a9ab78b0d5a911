package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/engine/badgerstore"
)

// The kinds of store that can be probed.
const (
	pinStore    = "pins"
	ledgerStore = "ledger"
)

// The exit codes of a probe, beside 0: what is damaged may also end it with a
// panic (2) or a signal.
const (
	exitDamaged  = 1
	exitLocked   = 10
	exitUnjudged = 11
)

// probeTime is how long a probe lives that nobody waits for any more.
const probeTime = 15 * time.Second

// probeCommand is what [probeStore] runs: it opens a store as serve does, with
// checksums on, and closes it. Dying of what is in the files is its job.
func probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe-store DIR " + pinStore + "|" + ledgerStore,
		Short:  "Open a store and close it, to see whether it is sound",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			time.AfterFunc(probeTime, func() { os.Exit(exitUnjudged) })
			var err error
			switch args[1] {
			case pinStore:
				err = badgerstore.ProbePins(args[0])
			case ledgerStore:
				err = badgerstore.ProbeLedger(args[0])
			default:
				return usage(fmt.Errorf("%s: say %s or %s", args[1], pinStore, ledgerStore))
			}
			switch {
			case err == nil:
				return nil
			case errors.Is(err, badgerstore.ErrLocked):
				return coded{exitLocked, err}
			case errors.Is(err, badgerstore.ErrUnjudged):
				return coded{exitUnjudged, err}
			}
			return coded{exitDamaged, err}
		},
	}
}

// probeStore is the probe of a kind of store: this program again, in a process of
// its own.
func probeStore(kind string) func(ctx context.Context, dir string) error {
	return func(ctx context.Context, dir string) error {
		program, err := itself()
		if err != nil {
			return fmt.Errorf("%w: %w", badgerstore.ErrUnjudged, err)
		}
		said := &beginning{limit: 2048}
		probe := exec.CommandContext(ctx, program, "probe-store", dir, kind)
		probe.Env = []string{"GOTRACEBACK=single"} // without the vendors' keys
		probe.Stderr = said
		probe.WaitDelay = time.Second
		err = probe.Run()
		if err == nil {
			return nil
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return fmt.Errorf("%w: %w", badgerstore.ErrUnjudged, err)
		}
		why := fmt.Errorf("%w: %s", err, said.line())
		status, _ := exit.Sys().(syscall.WaitStatus)
		switch {
		case exit.ExitCode() == exitLocked:
			return fmt.Errorf("%s: %w; stop the other warmroute or give this one another --data directory", dir, badgerstore.ErrLocked)
		case exit.ExitCode() == exitUnjudged, stopped(status):
			return fmt.Errorf("%w: %w", badgerstore.ErrUnjudged, why)
		}
		return why
	}
}

// stopped says whether somebody ended a process: a limit, the kernel for want of
// memory, a person. That says nothing about what it was doing.
func stopped(s syscall.WaitStatus) bool {
	if !s.Signaled() {
		return false
	}
	switch s.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}

// itself is the running program's file, even if another one has taken its name
// since.
func itself() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// beginning keeps the first bytes written to it.
type beginning struct {
	limit int
	kept  []byte
}

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), b.limit-len(b.kept))]...)
	return len(p), nil
}

// line is the first line that was written.
func (b *beginning) line() []byte {
	line, _, _ := bytes.Cut(b.kept, []byte("\n"))
	return line
}
