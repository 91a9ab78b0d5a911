package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// world is a gateway over simulated vendors, all of them on the scenario's clock.
type world struct {
	now     atomic.Int64 // nanoseconds since epoch
	turns   atomic.Uint64
	catalog atomic.Pointer[catalog.Catalog]
	config  *catalog.Config
	sims    map[string]*simulated
	pins    *inmem.Pins
	ledger  inmem.Ledger
	stalled atomic.Bool
	url     string
	client  *http.Client
	served  chan struct{} // one for every request that the gateway is done with
	tenant  tenantStep

	busy sync.WaitGroup // requests that vendors have not ended
	mu   sync.Mutex
	hits []hit // of the request that runs

	answers []*answer         // so far, in order
	lets    map[string]string // what the scenario has named
}

// hit is one attempt as it arrived at a vendor.
type hit struct {
	vendor     string
	credential string // own: none of the catalog's
	header     http.Header
	body       []byte
	read       int64 // tokens the vendor read from its cache
}

// simulated is one vendor and the faults that are meant for one of its credentials.
type simulated struct {
	*vendorsim.Vendor
	name     string
	url      string
	accounts map[string]string // of a key: the credential
	mu       sync.Mutex
	faults   map[string][]vendorsim.Fault // by credential
}

// epoch is when every scenario begins: a Sunday noon, so that no window of prices
// begins or ends by chance.
var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func (w *world) clock() time.Time { return epoch.Add(time.Duration(w.now.Load())) }

// newWorld sets up the gateway that a scenario asks for, and ends it with the test.
func newWorld(t *testing.T, s *scenario) *world {
	t.Helper()
	w := &world{sims: map[string]*simulated{}, served: make(chan struct{}, 1)}
	if err := w.load(t, s.Catalog); err != nil {
		t.Fatal("catalog: ", err)
	}
	var err error
	if w.config, err = catalog.ParseConfig("warmroute.yaml", []byte(s.configText()), clientKey); err != nil {
		t.Fatal("config: ", err)
	}
	if problems := w.config.Check(w.catalog.Load()); problems != nil {
		t.Fatal("config: ", problems)
	}
	w.pins = inmem.New(inmem.Options{Now: w.clock})
	learned, err := speedsIn(s.Speeds)
	if err != nil {
		t.Fatal("speeds: ", err)
	}
	vendors := vendor.New(vendor.Options{Now: w.clock, HintKey: []byte("a key for hints, in tests only..")})
	options, err := wire(w.config, engine.Gateway{
		Catalog:  w.catalog.Load,
		Pins:     stallable{w.pins, &w.stalled},
		Health:   engine.NewHealth(),
		Ledger:   &w.ledger,
		Learned:  learned,
		Prefixes: true,
		Deadline: deadline,
		Now:      w.clock,
		TurnID: func() (string, uint64) {
			id := w.turns.Add(1)
			return fmt.Sprint("turn-", id), id
		},
	})
	if err != nil {
		t.Fatal("config: ", err)
	}
	options.Vendor = vendors
	gateway := routes.New(options)
	server := httptest.NewUnstartedServer(nil)
	server.Config = routes.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() { w.served <- struct{}{} }()
		gateway.ServeHTTP(rw, r)
	}))
	server.Start()
	w.url, w.client = server.URL, &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		server.Close()
		vendors.Close()
		_ = w.pins.Close(context.Background()) // nothing is behind it that could fail
	})
	return w
}

// deadline is what the pin store is given. It answers at once unless a scenario
// stalls it; the default's 5 ms are too few for a machine that runs everything else.
const deadline = 2 * time.Second

// stallable is a store that can be made not to answer in time.
type stallable struct {
	*inmem.Pins
	stalled *atomic.Bool
}

// Recall is out of time at once where the store is stalled.
func (s stallable) Recall(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	if s.stalled.Load() {
		return engine.Record{}, context.DeadlineExceeded
	}
	return s.Pins.Recall(ctx, key)
}

// clientKey is the key that the variable of a tenant's key holds.
func clientKey(variable string) (string, bool) {
	return "client-key-of-" + strings.ToLower(variable) + "-0123456789", true
}

// vendorKeyIn is the key that the variable of a vendor's credential holds.
func vendorKeyIn(variable string) string { return "vendor-key-" + variable }

// configText is the config file that the scenario's header stands for.
func (s *scenario) configText() string {
	indent := func(text string) string {
		return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
	}
	var b strings.Builder
	b.WriteString("affinity:\n  profile: " + s.Profile + "\n")
	if s.Affinity != "" {
		b.WriteString(indent(strings.TrimPrefix(s.Affinity, "\n")))
	}
	if s.Tenants != "" {
		b.WriteString("tenants:\n" + indent(strings.TrimPrefix(s.Tenants, "\n")))
	}
	if s.Config != "" {
		b.WriteString(strings.TrimPrefix(s.Config, "\n") + "\n")
	}
	return b.String()
}

// load puts a catalog in force: a shared one by its name, or YAML. Vendors that it
// is the first to name are started.
func (w *world) load(t *testing.T, text string) error {
	file := "catalog.yaml"
	if isName(text) {
		file = filepath.Join("catalogs", text+".yaml")
		read, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text = string(read)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	vendors, err := w.complete(&document)
	if err != nil {
		return err
	}
	for _, name := range vendors {
		if w.sims[name] == nil {
			w.sims[name] = &simulated{name: name, accounts: map[string]string{}, faults: map[string][]vendorsim.Fault{}}
			w.start(t, w.sims[name])
		}
	}
	place(&document, w.sims)
	full, err := yaml.Marshal(&document)
	if err != nil {
		return err
	}
	c, err := catalog.ParseKeys(file, full, func(c catalog.Credential) (string, bool) {
		return vendorKeyIn(c.Env), true
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, full)
	}
	for _, v := range c.Vendors {
		s := w.sims[v.Name]
		for _, credential := range v.Credentials {
			s.accounts[vendorKeyIn(credential.Env)] = credential.ID
		}
		if s.Vendor == nil {
			s.Vendor = vendorsim.New(like(v, c, w.clock))
		}
	}
	w.catalog.Store(c)
	return nil
}

// like is what the simulation of a vendor must be like by its catalog entry; where
// that says nothing of a cache, by the first of its routes that does.
func like(v *catalog.Vendor, c *catalog.Catalog, clock func() time.Time) vendorsim.Config {
	rules := v.Cache
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Vendor == v && (rules.Family == "" || rules.Family == catalog.None) {
				rules = r.Cache
			}
		}
	}
	return vendorsim.Config{
		Name: v.Name, API: v.API, Usage: v.Usage, Accepts: v.Accepts, Refuses: v.Refuses, Now: clock,
		Cache: vendorsim.Cache{Family: rules.Family, TTL: rules.TTL, MinPrefix: rules.MinPrefix, Block: 64},
	}
}

// serve notes the request, and has the vendor answer it.
func (w *world) serve(s *simulated, rw http.ResponseWriter, r *http.Request) {
	w.busy.Add(1)
	defer w.busy.Done()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	credential := s.credential(r.Header)
	s.arm(credential)
	seen := 0
	if log := s.Log(); len(log) > 0 {
		seen = int(log[len(log)-1].Seq)
	}
	w.mu.Lock()
	at := len(w.hits)
	w.hits = append(w.hits, hit{vendor: s.name, credential: credential, header: r.Header.Clone(), body: body})
	w.mu.Unlock()
	defer func() {
		for _, one := range s.Log() {
			if int(one.Seq) > seen {
				w.mu.Lock()
				w.hits[at].read = one.Read
				w.mu.Unlock()
			}
		}
	}()
	s.Vendor.ServeHTTP(rw, r)
}

// credential is whose key a request to the vendor carries.
func (s *simulated) credential(h http.Header) string {
	key := h.Get("X-Api-Key")
	if token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
		key = token
	}
	if name, known := s.accounts[key]; known {
		return name
	}
	return own
}

// own is a key that is not in the catalog: the caller's.
const own = "own"

// arm queues what is meant for the next request with this credential.
func (s *simulated) arm(credential string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.faults[credential]; len(waiting) > 0 {
		s.faults[credential] = waiting[1:]
		_ = s.Queue(waiting[0]) // it was queued once to be checked
	}
}

// start gives a vendor its address.
func (w *world) start(t *testing.T, s *simulated) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.serve(s, rw, r) }))
	s.url = server.URL
	t.Cleanup(func() {
		if s.Vendor != nil {
			s.ResetFaults()
		}
		server.Close()
	})
}

// do has a vendor do something to its next requests.
func (w *world) do(line int, f *faultStep, fault vendorsim.Fault) error {
	s := w.sims[f.vendor]
	if s == nil {
		return mistake(line, "there is no vendor %s", f.vendor)
	}
	if f.credential == "" {
		fault.Times = f.times
		if err := s.Queue(fault); err != nil {
			return mistake(line, "%v", err)
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range f.times {
		s.faults[f.credential] = append(s.faults[f.credential], fault)
	}
	return nil
}
