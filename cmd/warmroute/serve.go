package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/web"
)

// settings are what serve is told on its command line.
type settings struct {
	Catalog  string
	Data     string
	Listen   string
	Admin    string
	Open     bool
	Metadata string
	Gate     string
	Affinity bool
	LogLevel string
	Drain    time.Duration

	// Ready, if set, is called with the addresses once both listeners accept.
	Ready func(gateway, admin string)
}

func serveCommand() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			return serve(c.Context(), s, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&s.Catalog, "catalog", "catalog.yaml", "the catalog; it is followed while serving")
	f.StringVar(&s.Data, "data", "./data", "the folder that keeps the pins")
	commonFlags(c, &s)
	return c
}

// commonFlags adds the flags that serve and demo share.
func commonFlags(c *cobra.Command, s *settings) {
	f := c.Flags()
	f.StringVar(&s.Listen, "listen", "127.0.0.1:8080", "address of the client APIs")
	f.StringVar(&s.Admin, "admin", "127.0.0.1:9090", "address of the admin surface")
	f.BoolVar(&s.Open, "open", false, "accept anyone who can reach a --listen address beyond loopback")
	f.StringVar(&s.Metadata, "metadata", "body", "where the routing metadata goes: body, header or off")
	f.StringVar(&s.Gate, "gate", "cache_read", "the test a pin must pass: cache_read, own_price or off")
	f.BoolVar(&s.Affinity, "affinity", true, "remember and promote warm vendors")
	f.StringVar(&s.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.DurationVar(&s.Drain, "drain", 60*time.Second, "how long running turns may take to end at shutdown")
}

// serve wires the gateway together and runs it until ctx ends.
func serve(ctx context.Context, s settings, out, logs io.Writer) error {
	log, err := logger(s, logs)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	first, err := loadCatalog(s.Catalog)
	if err != nil {
		return err
	}
	for _, w := range first.Warnings {
		log.Warn("catalog", "warning", w.String())
	}
	live := catalog.NewLive(s.Catalog, first)

	keep, err := openPins(ctx, s.Data, log)
	if err != nil {
		return err
	}
	defer keep.close(log)
	secret, err := instanceSecret(s.Data)
	if err != nil {
		return err
	}

	recent := &inmem.Ledger{Max: recentTurns}
	gateway := &engine.Gateway{
		Catalog: live.Current,
		Pins:    keep.pins,
		Health:  engine.NewHealth(),
		Ledger:  recent,
		Gate:    catalog.Gate(s.Gate),
		Off:     !s.Affinity,
		Now:     time.Now,
		TurnID:  turnIDs(),
	}
	var draining atomic.Bool
	vendors := vendor.New(vendor.Options{HintKey: secret})
	defer vendors.Close()
	client := routes.NewServer(routes.New(routes.Options{
		Gateway:  gateway,
		Vendor:   vendors,
		Log:      log,
		Metadata: vendor.Metadata(s.Metadata),
	}))
	pages := http.NewServeMux()
	pages.Handle("/ui/", web.New(web.Options{Turns: recent.Recorded, Catalog: live.Current}))
	pages.Handle("/", routes.Admin(routes.AdminOptions{
		Log:    log,
		Ready:  func() routes.Readiness { return readiness(live, keep, draining.Load()) },
		Reload: func() error { return reload(live, log) },
	}))
	admin := routes.NewServer(pages)

	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen for clients: %w", err)
	}
	adminListener, err := net.Listen("tcp", s.Admin)
	if err != nil {
		listener.Close()
		return fmt.Errorf("cannot listen for admin: %w", err)
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go follow(watching, live, log)

	failed := make(chan error, 2)
	go func() { failed <- client.Serve(listener) }()
	go func() { failed <- admin.Serve(adminListener) }()
	fmt.Fprintf(out, "gateway http://%s\nadmin http://%s\n", listener.Addr(), adminListener.Addr())
	if s.Ready != nil {
		s.Ready("http://"+listener.Addr().String(), "http://"+adminListener.Addr().String())
	}

	select {
	case err := <-failed:
		client.Close()
		admin.Close()
		return err
	case <-ctx.Done():
	}
	log.Info("draining", "limit", s.Drain.String())
	draining.Store(true)
	drain, cancel := context.WithTimeout(context.Background(), s.Drain)
	defer cancel()
	err = client.Shutdown(drain)
	if err != nil {
		log.Warn("turns were cut at the end of the drain time", "error", err.Error())
		client.Close()
	}
	admin.Close()
	return nil
}

// recentTurns is how many turns the admin page shows.
const recentTurns = 500

// check refuses settings that would not work or would not be safe.
func (s settings) check() error {
	switch s.Metadata {
	case "body", "header", "off":
	default:
		return usage(fmt.Errorf("--metadata %s: say body, header or off", s.Metadata))
	}
	switch catalog.Gate(s.Gate) {
	case catalog.GateCacheRead, catalog.GateOwnPrice, catalog.GateOff:
	default:
		return usage(fmt.Errorf("--gate %s: say cache_read, own_price or off", s.Gate))
	}
	for _, a := range []struct{ flag, address string }{{"--listen", s.Listen}, {"--admin", s.Admin}} {
		host, _, err := net.SplitHostPort(a.address)
		if err != nil {
			return usage(fmt.Errorf("%s %s: write host:port", a.flag, a.address))
		}
		if !s.Open && !loopback(host) {
			return invalid(fmt.Errorf("%s %s is reachable from beyond this machine and no tenants are configured; keep to 127.0.0.1, or say --open to accept anyone", a.flag, a.address))
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func logger(s settings, to io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, usage(fmt.Errorf("--log-level %s: say debug, info, warn or error", s.LogLevel))
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level})), nil
}

// pins are the pins in memory and the store behind them, if it could be opened.
type pinStore struct {
	pins    *inmem.Pins
	store   *badgerstore.Store
	trouble string // why there is no store behind; empty if there is
}

// openPins opens the store under data and starts loading it. A folder in use by
// another process is an error; a store that cannot be opened otherwise leaves
// the pins in memory only, which costs money and never correctness.
func openPins(ctx context.Context, data string, log *slog.Logger) (*pinStore, error) {
	dir := filepath.Join(data, "pins")
	store, err := badgerstore.Open(dir, badgerstore.Options{Log: log})
	if errors.Is(err, badgerstore.ErrLocked) {
		return nil, err
	}
	if err != nil {
		log.Error("pins are kept in memory only", "error", err.Error())
		return &pinStore{pins: inmem.New(inmem.Options{}), trouble: err.Error()}, nil
	}
	p := &pinStore{pins: inmem.New(inmem.Options{Backing: store}), store: store}
	go func() {
		if err := p.pins.Load(ctx); err != nil && ctx.Err() == nil {
			log.Error("stored pins could not be loaded", "error", err.Error())
		}
	}()
	return p, nil
}

// close writes what is unwritten and closes the store, each within two seconds.
func (p *pinStore) close(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := p.pins.Close(ctx); err != nil {
		log.Error("pins were not all written", "error", err.Error(), "unwritten", p.pins.Unwritten())
	}
	if p.store == nil {
		return
	}
	if err := p.store.Close(ctx); err != nil {
		log.Error("the pin store did not close cleanly", "error", err.Error())
	}
}

// instanceSecret is the key of what is sent upstream in place of session ids.
// It is made once and kept beside the pins, so that hints stay the same across
// restarts.
func instanceSecret(data string) ([]byte, error) {
	path := filepath.Join(data, "secret")
	text, err := os.ReadFile(path)
	switch {
	case err == nil && len(text) == 32:
		return text, nil
	case err == nil:
		return nil, fmt.Errorf("%s is damaged: it must hold 32 bytes; remove it to have a new one made", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the instance secret cannot be read: %w", err)
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder cannot be made: %w", err)
	}
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		return nil, fmt.Errorf("the instance secret cannot be kept: %w", err)
	}
	return secret, nil
}

// turnIDs makes ids that no other process makes: a random beginning and a count.
func turnIDs() func() (string, uint64) {
	var start [8]byte
	rand.Read(start[:])
	var n atomic.Uint64
	n.Store(binary.BigEndian.Uint64(start[:]))
	return func() (string, uint64) {
		id := n.Add(1)
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], id)
		return "wr_" + hex.EncodeToString(b[:]), id
	}
}

// follow keeps the catalog up to date: by watching the file, and at SIGHUP.
func follow(ctx context.Context, live *catalog.Live, log *slog.Logger) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for {
			select {
			case <-hangup:
				_ = reload(live, log) // logged there
			case <-ctx.Done():
				return
			}
		}
	}()
	err := live.Watch(ctx, func(status catalog.Status) { logReload(status, log) })
	if err != nil && ctx.Err() == nil {
		log.Error("the catalog is no longer watched; use SIGHUP or POST /-/reload", "error", err.Error())
	}
}

func reload(live *catalog.Live, log *slog.Logger) error {
	err := live.Reload(time.Now())
	logReload(live.Status(), log)
	return err
}

func logReload(status catalog.Status, log *slog.Logger) {
	if status.Rejected != nil {
		log.Error("the catalog was refused; the last good one stays in force", "error", status.Rejected.Error(), "in_force", status.Digest)
		return
	}
	log.Info("the catalog is in force", "digest", status.Digest)
}

// readiness is what /readyz says.
func readiness(live *catalog.Live, keep *pinStore, draining bool) routes.Readiness {
	status, pins := live.Status(), keep.pins.Stats()
	r := routes.Readiness{
		Ready:   !draining,
		Catalog: routes.CatalogStatus{Path: status.Path, Digest: status.Digest, Loaded: status.LoadedAt},
		Pins:    routes.PinStatus{Loaded: pins.Loaded, Unwritten: int(pins.Unwritten), Records: pins.Records, Problem: keep.trouble},
	}
	if draining {
		r.Reason = "draining"
	}
	if status.Rejected != nil {
		r.Catalog.Problem = status.Rejected.Error()
	}
	return r
}
