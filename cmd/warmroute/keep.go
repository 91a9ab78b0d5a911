package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/routes"
)

// booksInMemory is how many turns are remembered where no ledger can be opened.
const booksInMemory = 10_000

// closeTime is how long each store may take to write what is unwritten.
const closeTime = 2 * time.Second

// keep is what outlives a turn: the pins in memory with the store behind them,
// and the ledger.
type keep struct {
	pins   *inmem.Pins
	store  *badgerstore.Store  // nil where the pins are in memory only
	ledger *badgerstore.Ledger // nil where the books are in memory only
	books  books
	secret []byte // keys what is sent upstream in place of session ids

	pinTrouble, bookTrouble string // why there is no store behind; empty if there is
}

// books is a ledger that can be asked.
type books interface {
	engine.Ledger
	engine.Intents
	engine.Books
}

// open opens what is kept under data and starts loading the pins. A folder in
// use by another process is an error. A store that cannot be opened otherwise
// leaves pins or books in memory only: that costs money and history, never a
// turn. settled is told of turns that are booked, as by a ledger's own Settled. config
// says how much is kept, and how long.
func open(ctx context.Context, data string, config *catalog.Config, settled func([]engine.Booked), log *slog.Logger) (*keep, error) {
	k := &keep{}
	var err error
	if k.secret, err = instanceSecret(data); err != nil {
		log.Error("what vendors are sent in place of session ids changes at the next start", "error", err.Error())
	}
	// Side by side: most of a start is waiting for what looks at them first.
	booked := make(chan error, 1)
	go func() { booked <- k.openBooks(filepath.Join(data, "ledger"), config.Retention, settled, log) }()
	err = k.openPins(ctx, filepath.Join(data, "pins"), config, log)
	if err = cmp.Or(err, <-booked); err != nil { // the first will do: both are about another process
		k.close(log)
		return nil, err
	}
	return k, nil
}

func (k *keep) openPins(ctx context.Context, dir string, config *catalog.Config, log *slog.Logger) error {
	bounds := inmem.Options{Max: config.Pins(), PerTenant: config.PinShare}
	log.Info("pins per instance: what one instance of the gateway remembers, no other does; send a session's turns to the same one", "records", bounds.Max)
	store, err := badgerstore.Open(dir, badgerstore.Options{Log: log, Probe: probeStore(pinStore)})
	switch {
	case errors.Is(err, badgerstore.ErrLocked):
		return err
	case err != nil:
		log.Error("pins are kept in memory only", "error", err.Error())
		k.pins, k.pinTrouble = inmem.New(bounds), err.Error()
		return nil
	}
	bounds.Backing = store
	k.store, k.pins = store, inmem.New(bounds)
	go func() {
		if err := k.pins.Load(ctx); err != nil && ctx.Err() == nil {
			log.Error("stored pins could not be loaded", "error", err.Error())
		}
	}()
	return nil
}

func (k *keep) openBooks(dir string, retention catalog.RetentionSettings, settled func([]engine.Booked), log *slog.Logger) error {
	ledger, err := badgerstore.OpenLedger(dir, badgerstore.LedgerOptions{
		Log:       log,
		Probe:     probeStore(ledgerStore),
		Auditor:   sim.Auditor{},
		Settled:   settled,
		Retention: retention.Turns.Or(0),
		Minutes:   retention.Minutes.Or(0),
		Hours:     retention.Hours.Or(0),
	})
	switch {
	case errors.Is(err, badgerstore.ErrLocked):
		return err
	case err != nil:
		log.Error("turns are booked in memory only", "error", err.Error())
		k.books, k.bookTrouble = &inmem.Ledger{Max: booksInMemory, Auditor: sim.Auditor{}, Settled: settled}, err.Error()
		return nil
	}
	k.ledger, k.books = ledger, ledger
	return nil
}

// close writes what is unwritten and closes the stores.
func (k *keep) close(log *slog.Logger) {
	say := func(what string, err error) {
		if err != nil {
			log.Error(what, "error", err.Error())
		}
	}
	within := func(call func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		return call(ctx)
	}
	if k.pins != nil {
		say("pins were not all written", within(k.pins.Close))
	}
	if k.store != nil {
		say("the pin store did not close cleanly", within(k.store.Close))
	}
	if k.ledger != nil {
		say("the ledger did not close cleanly", within(k.ledger.Close))
	}
}

// pinProblem is what is wrong with the pins' store now; empty if nothing is.
func (k *keep) pinProblem() string {
	if k.store == nil {
		return k.pinTrouble
	}
	return k.store.Problem()
}

// bookProblem is what is wrong with the ledger now; empty if nothing is.
func (k *keep) bookProblem() string {
	if k.ledger == nil {
		return k.bookTrouble
	}
	return k.ledger.Problem()
}

// ledgerStatus is how far the ledger has come, for /readyz.
func (k *keep) ledgerStatus() routes.LedgerStatus {
	s := routes.LedgerStatus{Problem: k.bookProblem()}
	if k.ledger != nil {
		stats := k.ledger.Stats()
		s.Queued, s.Dropped = stats.Queued, stats.Dropped
	}
	return s
}

// instanceSecret is made once and kept beside the pins, so that what vendors are
// sent in place of a session id stays the same across restarts. With an error
// comes a secret for this process alone.
func instanceSecret(data string) (secret []byte, err error) {
	path := filepath.Join(data, "secret")
	secret, err = os.ReadFile(path)
	if err == nil && len(secret) == 32 {
		return secret, nil
	}
	fresh := make([]byte, 32)
	rand.Read(fresh)
	if err == nil {
		return fresh, fmt.Errorf("%s is damaged: it must hold 32 bytes; remove it to have a new one made", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fresh, fmt.Errorf("the instance secret cannot be read: %w", err)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fresh, fmt.Errorf("the data folder cannot be made: %w", err)
	}
	if err := os.WriteFile(path, fresh, 0o600); err != nil {
		return fresh, fmt.Errorf("the instance secret cannot be kept: %w", err)
	}
	return fresh, nil
}
