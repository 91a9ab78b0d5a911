package faults_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// stand is one vendor of a row, in the order of the catalog.
type stand struct {
	name        string
	vendor      *vendor // nil: only an address
	url         string  // where it is not the vendor's
	credentials int     // 0: one, main
	priceless   bool    // its answers are not followed by the vendor's log
}

// setup is what a row's gateway is like.
type setup struct {
	stands   []stand
	timeouts string // of the config file, beside a short drain
	config   string // further members of the config file
	env      []string
}

// rig is a gateway among its vendors, and all that its clients have seen.
type rig struct {
	*testing.T
	*gateway
	setup
	transport *http.Transport
	base      figures       // before the row began
	patience  time.Duration // until all is let go; 0: 10 s

	mu      sync.Mutex
	answers []*answer
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
	took   time.Duration
	code   int  // as the metrics count it; 0: like status
	turn   bool // it is a turn, and in the books
}

func (a *answer) outcome() string { return a.header.Get("X-Warmroute-Outcome") }
func (a *answer) served() string  { return a.header.Get("X-Warmroute-Vendor") }

// ok says whether the client has a whole answer.
func (a *answer) ok() bool { return a.status == http.StatusOK && a.err == nil }

// prices of a million tokens, in the catalog and for the books' twin.
var (
	inputPrices = []string{"2.50", "3", "3.5", "4"}
	readPrices  = []string{"0.25", "0.30", "0.35", "0.40"}
	outputPrice = "10"
)

// newRig starts a gateway over vendors.
func newRig(t *testing.T, s setup) *rig {
	t.Helper()
	var vendors, routes strings.Builder
	env := append([]string{"FAULTS_SHOP_KEY=" + shopKey}, s.env...)
	for i, stand := range s.stands {
		url := stand.url
		if url == "" {
			url = stand.vendor.url()
		}
		fmt.Fprintf(&vendors, "  %s:\n    api: [chat, messages, responses]\n    base_url: %s\n    allow_private: true\n    auth: {bearer: true}\n    cache: {family: implicit, ttl: 10m, min_prefix: 1}\n    credentials:\n", stand.name, url)
		for n := range max(1, stand.credentials) {
			name := fmt.Sprintf("FAULTS_KEY_%d_%d", i, n)
			fmt.Fprintf(&vendors, "      - {id: %s, env: %s}\n", credentialNames[n], name)
			env = append(env, name+"="+vendorKeys[i][n])
		}
		fmt.Fprintf(&routes, "      - {vendor: %s, model: charts, price: {input: %s, output: %s, cache_read: %s}}\n", stand.name, inputPrices[i], outputPrice, readPrices[i])
	}
	timeouts := s.timeouts
	if timeouts == "" {
		timeouts = "connect: 2s"
	}
	config := "timeouts: {drain: 5s, " + timeouts + "}\ntenants:\n  - id: shop\n    keys: [{env: FAULTS_SHOP_KEY}]\n" + s.config
	r := &rig{T: t, setup: s, transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	r.gateway = startGateway(t, t.TempDir(), "version: 1\nvendors:\n"+vendors.String()+"models:\n  sea/charts:\n    routes:\n"+routes.String(), config, env)
	t.Cleanup(r.transport.CloseIdleConnections)
	r.base = r.figures()
	return r
}

var credentialNames = []string{"main", "spare"}

// ask is what a client sends.
type ask struct {
	dialect dialect
	stream  bool
	session string
	header  map[string]string
	body    string                                          // instead of the dialect's
	abort   func(leave context.CancelFunc)                  // runs beside the request
	leave   func(*http.Response, context.CancelFunc) string // instead of reading the answer; what was read of it
}

// turn sends one request and keeps what came of it.
func (r *rig) turn(q ask) *answer {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if q.body == "" {
		q.body = q.dialect.request(q.stream)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.client+q.dialect.path+"?key="+queryKey, strings.NewReader(q.body))
	if err != nil {
		r.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + shopKey, "Content-Type": "application/json", "Cookie": "visit=" + cookie,
		"X-Session-Id": q.session, "X-Warmroute-Metadata": "header",
	} {
		request.Header.Set(name, value)
	}
	for name, value := range maps.All(q.header) {
		request.Header.Set(name, value)
	}
	a := &answer{turn: true}
	if q.abort != nil {
		go q.abort(cancel)
	}
	began := time.Now()
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		a.err, a.header = err, http.Header{}
	} else {
		a.status, a.header = response.StatusCode, response.Header
		if q.leave != nil {
			a.body = q.leave(response, cancel)
			response.Body.Close()
		} else {
			var text []byte
			text, a.err = io.ReadAll(response.Body)
			a.body = string(text)
			response.Body.Close()
		}
	}
	a.took = time.Since(began)
	r.keep(a)
	return a
}

func (r *rig) keep(a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, a)
}

// drive sends n requests, at most at once of them at a time, in their order.
func (r *rig) drive(n, atOnce int, q func(i int) ask) []*answer {
	r.Helper()
	answers := make([]*answer, n)
	var wait sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			answers[i] = r.turn(q(i))
			<-slots
		})
	}
	wait.Wait()
	return answers
}

// session is a session id of its own: a canary for what must not name sessions.
func session(name string, n int) string { return sessionMark + name + "-" + strconv.Itoa(n) }

// await asks until something holds, at most for d.
func (r *rig) await(d time.Duration, what string, holds func() bool) {
	r.Helper()
	limit := time.After(d)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			if !holds() {
				r.Errorf("not within %v: %s", d, what)
			}
			return
		}
	}
}
