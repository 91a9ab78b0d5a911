package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/web"
)

// settings are what serve is told on its command line.
type settings struct {
	Config   string
	Catalog  string
	Data     string
	Listen   string
	Admin    string
	Open     bool
	Metadata string
	Profile  string // empty: the file's
	Gate     string // empty: the file's, else the profile's
	Affinity bool
	LogLevel string
	Drain    time.Duration

	config *catalog.Config // the file's; never nil once read

	// Ready, if set, is called with the addresses once both listeners accept.
	Ready func(gateway, admin string)
}

func serveCommand() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Run the gateway.

Each flag has an environment variable: WARMROUTE_LISTEN for --listen, and so on. A flag
goes before its variable, that before the file of --config, that before the default. The
file also names tenants and their keys; testdata/catalogs/warmroute.yaml in the sources
has every key of it.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("serve takes no file by itself; say warmroute serve --catalog %s", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			if err := s.readConfig(c.Flags()); err != nil {
				return err
			}
			names, meant := strays(c.Flags(), os.Environ())
			for i := range names {
				fmt.Fprintf(c.ErrOrStderr(), "%s is not read; did you mean %s?\n", names[i], meant[i])
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return serve(ctx, s, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&s.Catalog, "catalog", "catalog.yaml", "the catalog; it is followed while serving")
	f.StringVar(&s.Data, "data", "./data", "the folder that keeps the pins and the books")
	f.StringVar(&s.Config, "config", "", "a file with tenants and further settings; flags and environment go before it")
	commonFlags(c, &s)
	return c
}

// untilSignal ends at the first SIGINT or SIGTERM. Only commands that have
// something to wind up wait for one; the others end as any program does.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// commonFlags adds the flags that serve and demo share.
func commonFlags(c *cobra.Command, s *settings) {
	f := c.Flags()
	f.StringVar(&s.Listen, "listen", "127.0.0.1:8080", "address of the client APIs")
	f.StringVar(&s.Admin, "admin", "127.0.0.1:9090", "address of the admin surface")
	f.BoolVar(&s.Open, "open", false, "accept anyone who can reach a --listen address beyond loopback")
	f.StringVar(&s.Metadata, "metadata", "body", "where the routing metadata goes: body, header or off")
	f.StringVar(&s.Profile, "profile", "", profileUsage)
	f.StringVar(&s.Gate, "gate", "", gateUsage)
	f.BoolVar(&s.Affinity, "affinity", true, "remember and promote warm vendors; a tenant's own setting goes before it")
	f.StringVar(&s.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.DurationVar(&s.Drain, "drain", 60*time.Second, "how long running turns may take to end at shutdown")
}

// serve wires the gateway together and runs it until ctx ends.
func serve(ctx context.Context, s settings, out, logs io.Writer) error {
	log, err := logger(s, logs)
	if err != nil {
		return err
	}
	// net/http writes what a vendor sent unasked to the global log, prompts and
	// keys included.
	stdlog.SetOutput(io.Discard)
	if err := s.check(); err != nil {
		return err
	}
	first, err := loadCatalog(s.Catalog)
	if err != nil {
		return err
	}
	var said remarks
	said.about(log, first, time.Now())
	if problems := s.config.Check(first); problems != nil {
		return invalid(problems)
	}
	profile, err := s.profile()
	if err != nil {
		return err
	}
	options, err := routes.Configured(s.config, s.affinity(), s.Affinity)
	if err != nil {
		return invalid(err)
	}
	s.remark(log, profile)
	holdout, err := engine.NewHoldout(s.config.Affinity.Holdout.Or(decimal.Zero))
	if err != nil {
		return invalid(err)
	}
	live := catalog.NewLive(s.Catalog, first)

	// Listening comes first: an address in use is known before anything is opened.
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen for clients: %w; choose another address with --listen", err)
	}
	defer listener.Close()
	adminListener, err := net.Listen("tcp", s.Admin)
	if err != nil {
		return fmt.Errorf("cannot listen for admin: %w; choose another address with --admin", err)
	}
	defer adminListener.Close()
	// The books tell the metrics of turns, and the metrics ask the books for figures, but
	// only once there is somebody to scrape them.
	var kept *keep
	health, sidecar := engine.NewHealth(), &routes.Sidecar{}
	metrics := routes.NewMetrics(routes.MetricsOptions{
		Catalog: live.Current,
		Reload:  live.Status,
		Pins:    func() routes.PinFigures { return kept.pinFigures() },
		Ledger:  func() routes.LedgerFigures { return kept.bookFigures() },
		Sidecar: func() routes.SidecarFigures { return sidecar.Figures(time.Now()) },
		Down: func(route *catalog.Route, credential string) bool {
			return health.Down(route, credential, time.Now())
		},
		Version: version,
		Commit:  commit(),
	})
	if kept, err = open(ctx, s.Data, s.config, metrics.Settled, log); err != nil {
		return err
	}
	defer kept.close(log)

	learned := &sim.Learner{Books: kept.books}
	gateway := &engine.Gateway{
		Catalog:  live.Current,
		Pins:     kept.pins,
		Health:   health,
		Ledger:   ledgers{kept.books, metrics},
		Intents:  metrics.InFlight(kept.books),
		Prefixes: true,
		Holdout:  holdout,
		Learned:  learned,
		Sessions: engine.NewSessionRates(s.config.SessionsPerMinute),
		Profile:  profile,
		Off:      !s.Affinity && options.Tenants == nil, // with tenants, each has its own
		Deadline: s.config.Affinity.Deadline.Or(engine.DefaultDeadline),
		Now:      time.Now,
		TurnID:   turnIDs(),
	}
	var draining atomic.Bool
	vendors := vendor.New(vendor.Options{
		HintKey:        kept.secret,
		ConnectTimeout: s.config.Timeouts.Connect.Or(0),
		FirstByte:      s.config.Timeouts.FirstByte.Or(0),
		Idle:           s.config.Timeouts.Idle.Or(0),
	})
	defer vendors.Close()
	options.Gateway, options.Vendor, options.Log, options.Sidecar = gateway, vendors, log, sidecar
	options.Metadata = vendor.Metadata(s.Metadata) // the flag's, which the file stands behind
	client := routes.NewServer(routes.New(options))
	// What every request's context is made of: it says why they are all cut.
	base, shut := context.WithCancelCause(context.Background())
	defer shut(nil)
	client.BaseContext = func(net.Listener) context.Context { return base }
	again := make(chan struct{}, 1) // another catalog is in force
	pages := http.NewServeMux()
	pages.Handle("/ui/", web.New(web.Options{
		Books:   kept.books,
		Catalog: live.Current,
		Status:  func() web.Status { return status(live, kept, draining.Load()) },
		Gateway: "http://" + listener.Addr().String(),
	}))
	pages.Handle("GET /{$}", http.RedirectHandler("/ui/", http.StatusFound))
	pages.Handle("/", routes.Admin(routes.AdminOptions{
		Log:     log,
		Ready:   func() routes.Readiness { return readiness(live, kept, profile, draining.Load()) },
		Reload:  func() error { return reload(live, log, again) },
		Metrics: metrics.Handler(),
		API:     routes.APIOptions{Books: kept.books, Pins: kept.listPins(), Catalog: live.Current},
	}))
	var surface http.Handler = pages
	if host, _, _ := net.SplitHostPort(s.Admin); loopback(host) {
		surface = routes.Local(pages)
	}
	admin := routes.NewServer(surface)

	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go said.follow(watching, log, live.Current, again)
	go follow(watching, live, log, again)
	go learned.Run(watching, learnEvery, func(err error) { log.Error("what routes have shown is not known anew", "error", err.Error()) })

	failed := make(chan error, 2)
	go func() { failed <- client.Serve(listener) }()
	go func() { failed <- admin.Serve(adminListener) }()
	fmt.Fprintf(out, "gateway http://%s\nadmin http://%s\ndashboard http://%s/ui/\n", listener.Addr(), adminListener.Addr(), adminListener.Addr())
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
	log.Info("draining: running turns may end; a second signal cuts them", "limit", s.Drain.String())
	draining.Store(true)
	vendors.EndDrains() // nobody waits for those
	drain, cancel := context.WithTimeout(context.Background(), s.Drain)
	defer cancel()
	second := make(chan os.Signal, 1)
	signal.Notify(second, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(second)
	go func() {
		select {
		case <-second:
			cancel()
		case <-drain.Done():
		}
	}()
	err = client.Shutdown(drain)
	if err != nil {
		log.Warn("turns are cut")
		shut(vendor.ErrShutdown)
		last, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = client.Shutdown(last)
		client.Close()
	}
	admin.Close()
	return nil
}

// learnEvery is how often what turns have shown of routes is read from the books.
const learnEvery = time.Minute

// lastWords is how long turns that are cut at shutdown may take to say so.
const lastWords = time.Second

// ledgers are told of a turn one after the other.
type ledgers []engine.Ledger

func (l ledgers) Record(turn engine.Turn) {
	for _, ledger := range l {
		ledger.Record(turn)
	}
}

// check refuses settings that would not work or would not be safe.
func (s settings) check() error {
	switch s.Metadata {
	case "body", "header", "off":
	default:
		return usage(fmt.Errorf("--metadata %s: say body, header or off", s.Metadata))
	}
	if err := knownProfile(s.Profile, s.Gate); err != nil {
		return err
	}
	if s.Drain < 0 {
		return usage(fmt.Errorf("--drain %s: say how long, such as 60s", s.Drain))
	}
	if s.Data == "" {
		return usage(errors.New("--data names no folder"))
	}
	for _, a := range []struct {
		flag, address string
		guarded       bool // who may use it is known by a key
	}{{"--listen", s.Listen, len(s.config.Tenants) > 0}, {"--admin", s.Admin, false}} {
		host, _, err := net.SplitHostPort(a.address)
		switch {
		case err != nil:
			return usage(fmt.Errorf("%s %s: write host:port", a.flag, a.address))
		case s.Open || a.guarded || loopback(host):
		case a.flag == "--admin":
			return invalid(fmt.Errorf("--admin %s is reachable from beyond this machine, and whoever reaches it sees every session; keep to 127.0.0.1, or say --open to accept anyone", a.address))
		default:
			return invalid(fmt.Errorf("--listen %s is reachable from beyond this machine and no tenants are configured; name tenants in --config, keep to 127.0.0.1, or say --open to accept anyone", a.address))
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
func follow(ctx context.Context, live *catalog.Live, log *slog.Logger, again chan<- struct{}) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for {
			select {
			case <-hangup:
				_ = reload(live, log, again) // logged there
			case <-ctx.Done():
				return
			}
		}
	}()
	err := live.Watch(ctx, func(status catalog.Status) { logReload(status, log, again) })
	if err != nil && ctx.Err() == nil {
		log.Error("the catalog is no longer watched; use SIGHUP or POST /-/reload", "error", err.Error())
	}
}

func reload(live *catalog.Live, log *slog.Logger, again chan<- struct{}) error {
	err := live.Reload(time.Now())
	logReload(live.Status(), log, again)
	return err
}

// logReload logs how a reload went; what is doubtful in the new catalog is logged by
// whoever reads again.
func logReload(status catalog.Status, log *slog.Logger, again chan<- struct{}) {
	if status.Rejected != nil {
		log.Error("the catalog was refused; the last good one stays in force", "error", status.Rejected.Error(), "in_force", status.Digest)
		return
	}
	log.Info("the catalog is in force", "digest", status.Digest)
	select {
	case again <- struct{}{}:
	default: // it will be looked at anyway
	}
}

// readiness is what /readyz says.
func readiness(live *catalog.Live, kept *keep, profile *engine.Profile, draining bool) routes.Readiness {
	status, pins := live.Status(), kept.pins.Stats()
	r := routes.Readiness{
		Ready:   !draining,
		Profile: string(profile.Name),
		Catalog: routes.CatalogStatus{Path: status.Path, Digest: status.Digest, Loaded: status.LoadedAt},
		Pins:    routes.PinStatus{Kept: routes.PerInstance, Loaded: pins.Loaded, Unwritten: int(pins.Unwritten), Records: pins.Records, Problem: kept.pinProblem()},
		Ledger:  kept.ledgerStatus(),
	}
	switch {
	case draining:
		r.Reason = "draining"
	case !usable(live.Current()):
		r.Ready, r.Reason = false, "no route can be used: none is enabled and has its vendor's key"
		if keyless := keyless(live.Current()); keyless != "" {
			r.Reason = keyless
		}
	case r.Ledger.Problem != "":
		r.Reason = "ledger: " + r.Ledger.Problem
	case r.Pins.Problem != "":
		r.Reason = "pins: " + r.Pins.Problem
	case status.Rejected != nil:
		r.Reason = "the catalog's last edit was refused; the last good one is in force"
	}
	r.Catalog.Refused(status.Rejected, status.RejectedAt)
	return r
}

// status is what every page of the dashboard says of the gateway.
func status(live *catalog.Live, kept *keep, draining bool) web.Status {
	s := web.Status{Pins: int64(kept.pins.Len()), Draining: draining}
	if err := live.Status().Rejected; err != nil {
		s.Problem = err.Error()
	}
	s.Books = kept.bookProblem()
	if kept.ledger != nil {
		s.Dropped = kept.ledger.Stats().Dropped
	}
	return s
}
