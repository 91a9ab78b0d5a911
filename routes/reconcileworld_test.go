package routes_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// rates are prices as the catalog's text has them; an empty one is not in it.
type rates struct{ input, output, read, write, write1h string }

func (r rates) yaml() string {
	var b strings.Builder
	for _, p := range [][2]string{{"input", r.input}, {"output", r.output}, {"cache_read", r.read}, {"cache_write", r.write}, {"cache_write_1h", r.write1h}} {
		if p[1] != "" {
			fmt.Fprintf(&b, ", %s: %s", p[0], p[1])
		}
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// cost is what a vendor bills for what it says was used, in fractions: a bucket
// without a price of its own at the input price.
func (r rates) cost(u *vendorsim.Used) *big.Rat {
	sum := new(big.Rat)
	for _, p := range []struct {
		tokens int64
		price  string
	}{{u.Input, r.input}, {u.Output, r.output}, {u.Read, r.read}, {u.Write5m, r.write}, {u.Write1h, r.write1h}} {
		if p.price == "" {
			p.price = r.input
		}
		price, ok := new(big.Rat).SetString(p.price)
		if !ok {
			panic("no price: " + p.price)
		}
		sum.Add(sum, price.Mul(price, big.NewRat(p.tokens, 1_000_000)))
	}
	return sum
}

// merchant is one vendor of the reconciled world: how it counts and caches, and at
// what it sells.
type merchant struct {
	name, usage string
	api         catalog.API
	family      catalog.Family
	writes      bool // reports what it wrote, where the cache is its own
	rates
	above int64 // beyond so many prompt tokens large are the rates; 0: there are none
	large rates
	flex  *rates // of the service tier; nil: not sold
}

// pays is what the vendor bills for one request; nil for a service tier that the
// catalog has no price of, at all or for a prompt of that size.
func (m *merchant) pays(s *vendorsim.Seen) *big.Rat {
	u := s.Used
	prompt := u.Input + u.Read + u.Write5m + u.Write1h
	switch flex := strings.Contains(s.Body, `"service_tier":"flex"`); {
	case flex && (m.flex == nil || m.above > 0 && prompt > m.above):
		return nil
	case flex:
		return m.flex.cost(u)
	case m.above > 0 && prompt > m.above:
		return m.large.cost(u)
	}
	return m.cost(u)
}

// market is who sells each model, in the catalog's order.
var market = []struct {
	model   string
	api     catalog.API
	vendors []merchant
}{
	{"isle/ketch", catalog.Chat, []merchant{
		{name: "anchor", usage: "openai", family: catalog.Implicit, writes: true,
			rates: rates{"1.25", "10", "0.125", "1.5625", ""}, above: 700, large: rates{"2.5", "15", "0.25", "3.125", ""},
			flex: &rates{"0.625", "5", "0.0625", "0.78125", ""}},
		{name: "bollard", usage: "deepseek", family: catalog.Implicit, rates: rates{"0.28", "0.42", "0.028", "", ""}},
		{name: "capstan", usage: "moonshot", family: catalog.Implicit, rates: rates{"0.6", "2.5", "0.15", "", ""}},
	}},
	{"isle/sloop", catalog.Chat, []merchant{
		{name: "davit", usage: "groq", family: catalog.Implicit, rates: rates{"0.15", "0.75", "0.075", "", ""}},
		{name: "eyelet", usage: "mistral", family: catalog.Implicit, rates: rates{"0.4", "2", "", "", ""}},
		{name: "fender", usage: "perplexity", family: catalog.None, rates: rates{"1", "1", "", "", ""}},
	}},
	{"isle/yawl", catalog.Chat, []merchant{
		{name: "gunwale", usage: "alibaba", family: catalog.Implicit, writes: true, rates: rates{"0.4", "1.2", "0.04", "0.5", ""}},
		{name: "hawser", usage: "xai", family: catalog.Implicit, rates: rates{"3", "15", "0.75", "", ""}},
		{name: "inlet", usage: "openrouter", family: catalog.Implicit, rates: rates{"0.35", "1.333", "0.0875", "", ""}},
	}},
	{"isle/pinnace", catalog.Responses, []merchant{
		{name: "jetty", usage: "openai", api: catalog.Responses, family: catalog.Implicit, writes: true, rates: rates{"5", "30", "0.5", "6.25", ""},
			flex: &rates{"2.5", "15", "0.25", "3.125", ""}},
		{name: "keel", usage: "openai", api: catalog.Responses, family: catalog.Implicit, rates: rates{"4.9", "29.99", "0.49", "", ""}},
	}},
	{"isle/galley", catalog.Messages, []merchant{
		{name: "lantern", usage: "anthropic", api: catalog.Messages, family: catalog.Explicit, rates: rates{"3", "15", "0.3", "3.75", "6"},
			above: 900, large: rates{"6", "22.5", "0.6", "7.5", "12"}},
		{name: "mast", usage: "anthropic", api: catalog.Messages, family: catalog.Explicit, rates: rates{"3.3", "16.5", "0.33", "4.125", "6.6"}},
	}},
}

// world is the vendors of the market, what each of them has answered, and a catalog
// of them.
type world struct {
	t       testing.TB
	text    string // of the catalog
	catalog *catalog.Catalog
	sims    []*vendorsim.Vendor
	sellers map[string]*merchant
	servers []*httptest.Server
	faults  float64 // part of the requests that something befalls

	mu     sync.Mutex
	random *rand.Rand
	bills  map[string][]bill // by turn: what the vendors' own logs say
	kinds  map[string]int    // faults that happened

	waiting sync.Map // turn → channel that is closed when a vendor has it
}

// bill is what one vendor's log says of one request.
type bill struct {
	vendor string
	seen   vendorsim.Seen // without its body and headers
	cost   *big.Rat       // nil: nothing was used, or it was not said, or it has no price
}

// turnMark is how a prompt says whose turn it is; the last one counts.
var turnMark = regexp.MustCompile(`<(s[0-9]+)/([0-9]+)(/[a-z]+)?>`)

func markOf(body string) (turn, leaves string) {
	all := turnMark.FindAllStringSubmatch(body, -1)
	if len(all) == 0 {
		return "", ""
	}
	last := all[len(all)-1]
	return last[1] + "/" + last[2], last[3]
}

func newWorld(t testing.TB, seed uint64, faults float64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 11)), faults: faults, sellers: map[string]*merchant{}, bills: map[string][]bill{}, kinds: map[string]int{}}
	var vendors, models strings.Builder
	for i := range market {
		fmt.Fprintf(&models, "  %s:\n    routes:\n", market[i].model)
		for j := range market[i].vendors {
			m := &market[i].vendors[j]
			w.sellers[m.name] = m
			fmt.Fprintf(&vendors, "  %s:\n    api: [%s]\n    base_url: %s/v1\n    allow_private: true\n    usage: %s\n", m.name, market[i].api, w.open(m, market[i].api), m.usage)
			if m.family != catalog.None {
				fmt.Fprintf(&vendors, "    cache: {family: %s, ttl: 10m, min_prefix: 64}\n", m.family)
			}
			more := ""
			if m.above > 0 {
				more += fmt.Sprintf(", tiers: [{above: %d, %s}]", m.above, m.large.yaml())
			}
			if m.flex != nil {
				more += ", service_tiers: {flex: {" + m.flex.yaml() + "}}"
			}
			fmt.Fprintf(&models, "      - {vendor: %s, model: boat, price: {%s%s}}\n", m.name, m.yaml(), more)
		}
	}
	w.text = "version: 1\nvendors:\n" + vendors.String() + "models:\n" + models.String()
	var err error
	if w.catalog, err = catalog.Parse("market.yaml", []byte(w.text)); err != nil {
		t.Fatal(err)
	}
	return w
}

// open starts one vendor and returns its address.
func (w *world) open(m *merchant, api catalog.API) string {
	config := vendorsim.Config{
		Name: m.name, API: []catalog.API{api}, Usage: m.usage, ReportWrites: m.writes,
		Cache: vendorsim.Cache{Family: m.family, TTL: 10 * time.Minute, MinPrefix: 64, Block: 16},
		Ended: func(s vendorsim.Seen) { w.ended(m, s) },
	}
	sim := vendorsim.New(config)
	w.sims = append(w.sims, sim)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		turn, leaves := markOf(string(body))
		if f, befalls := w.fault(api); befalls {
			if err := sim.Queue(f); err != nil {
				panic(err)
			}
		}
		if leaves != "" {
			if arrived, ok := w.waiting.Load(turn); ok {
				arrived.(func())()
			}
			out = &stalled{ResponseWriter: out, ctx: r.Context(), before: leaves == "/before"}
		}
		sim.ServeHTTP(out, r)
	}))
	w.servers = append(w.servers, server)
	return server.URL
}

// stalled answers to somebody who leaves: nothing, or a few events and no more.
type stalled struct {
	http.ResponseWriter
	ctx    context.Context
	before bool
	writes int
}

func (s *stalled) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *stalled) WriteHeader(status int) {
	if s.before && status == http.StatusOK {
		<-s.ctx.Done()
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *stalled) Write(b []byte) (int, error) {
	if s.writes++; s.writes == 5 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	return s.ResponseWriter.Write(b)
}

// fault is what happens to a request, to one in twenty of them.
func (w *world) fault(api catalog.API) (f vendorsim.Fault, befalls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.random.Float64() >= w.faults {
		return f, false
	}
	events := vendorsim.After(w.random.IntN(9))
	kind := ""
	switch n := w.random.IntN(40); {
	case n < 8:
		kind, f.Status = "refused", []int{500, 502, 503, 529, 429}[w.random.IntN(5)]
	case n < 18:
		kind, f.CutAfterEvents, f.Cut = "cut", events, []string{vendorsim.CutAbort, vendorsim.CutReset, vendorsim.CutClean}[w.random.IntN(3)]
	case n < 25:
		kind, f.NoUsage = "no usage", true
	case n < 31:
		kind, f.ErrorEventAfter = "error in the stream", events
	case n < 34:
		kind, f.ErrorEventFirst = "error at once", true
	case n < 36:
		kind, f.Gzip = "packed", true
	case n < 38:
		kind, f.RawBody, f.ContentType = "no answer at all", "<html>busy</html>", "text/html"
	case n < 39:
		kind, f.Hang = "nothing in time", true
	default:
		kind, f.HangAfterEvents = "nothing more", events
	}
	w.kinds[kind]++
	return f, true
}

// ended takes down what a vendor's log says of a request when it is over.
func (w *world) ended(m *merchant, s vendorsim.Seen) {
	turn, _ := markOf(s.Body)
	b := bill{vendor: m.name, seen: s}
	if s.Used != nil {
		b.cost = m.pays(&s)
	}
	b.seen.Body, b.seen.Header, b.seen.Binary = "", nil, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bills[turn] = append(w.bills[turn], b)
}

// close returns once every request to a vendor has ended.
func (w *world) close() {
	for _, s := range w.servers {
		s.Close()
	}
}

// evict has a vendor forget its cache, as it may at any time.
func (w *world) evict(sim int) { w.sims[sim%len(w.sims)].ResetCache() }
