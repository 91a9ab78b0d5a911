package routes_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// Prices that the cases' figures are made of, US dollars per million tokens.
const (
	pierPrice = "{input: 2.50, output: 10, cache_read: 0.25}"                                    // cached tokens inside the prompt
	reefPrice = "{input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, cache_write_1h: 6}" // outside
	vendorKey = "vk-VENDORCANARY-00112233445566778899"
)

// stop is one vendor of a rig.
type stop struct {
	name  string
	api   string       // empty: chat
	serve http.Handler // or
	url   string
	price string   // empty: pierPrice
	extra string   // further lines of the vendor in the catalog
	also  []string // further aliases of the model
}

// rig is a gateway over TCP, with its books.
type rig struct {
	t       testing.TB
	url     string
	client  *http.Client
	ledger  *inmem.Ledger
	pins    *inmem.Pins
	log     *lockedBuffer
	catalog *catalog.Catalog
	gateway *engine.Gateway
	settled func() // closes the gateway once every turn is over
}

// newRig serves model "m", known by some other names, from these vendors in this
// order.
func newRig(t testing.TB, change func(*routes.Options), stops ...stop) *rig {
	t.Helper()
	var vendors, models strings.Builder
	aliases := []string{"shop-alias", "a", "schooner-1", "barge-7"}
	for _, s := range stops {
		if s.serve != nil {
			server := httptest.NewServer(s.serve)
			t.Cleanup(server.Close)
			s.url = server.URL
		}
		if s.api == "" {
			s.api = "chat"
		}
		if s.price == "" {
			s.price = pierPrice
		}
		aliases = append(aliases, s.also...)
		fmt.Fprintf(&vendors, "  %s:\n    api: [%s]\n    base_url: %s/v1\n    allow_private: true\n    credentials: [{id: main, env: K}]\n    cache: {family: implicit, ttl: 10m}\n%s\n",
			s.name, s.api, s.url, s.extra)
		fmt.Fprintf(&models, "      - {vendor: %s, model: barge-7, price: %s}\n", s.name, s.price)
	}
	text := "version: 1\nvendors:\n" + vendors.String() + "models:\n  m:\n    aliases: [" + strings.Join(aliases, ", ") + "]\n    routes:\n" + models.String()
	c, err := catalog.ParseKeys("test.yaml", []byte(text), func(catalog.Credential) (string, bool) { return vendorKey, true })
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, ledger: &inmem.Ledger{}, log: &lockedBuffer{}, catalog: c}
	r.pins = inmem.New(inmem.Options{Now: r.clock})
	r.gateway = &engine.Gateway{
		Catalog:  func() *catalog.Catalog { return c },
		Pins:     r.pins,
		Health:   engine.NewHealth(),
		Ledger:   r.ledger,
		Deadline: time.Second,
	}
	o := routes.Options{
		Gateway:  r.gateway,
		Vendor:   vendor.New(vendor.Options{Linger: 20 * time.Millisecond}),
		Log:      slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metadata: vendor.MetadataOff,
	}
	if change != nil {
		change(&o)
	}
	var once sync.Once
	server := httptest.NewUnstartedServer(nil)
	server.Config = routes.NewServer(routes.New(o))
	server.Start()
	r.url = server.URL
	r.client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	r.settled = func() {
		once.Do(func() {
			r.client.CloseIdleConnections()
			server.Close()
		})
	}
	t.Cleanup(func() {
		r.settled()
		o.Vendor.Close()
		_ = r.pins.Close(context.Background())
	})
	return r
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

var paths = map[string]string{"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}

// post sends one turn. header is pairs of name and value.
func (r *rig) post(api, body string, header ...string) reply {
	r.t.Helper()
	return r.send(paths[api], strings.NewReader(body), header...)
}

func (r *rig) send(path string, body io.Reader, header ...string) reply {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(text), err}
}

// turns waits until n turns are recorded and returns them.
func (r *rig) turns(n int64) []engine.Turn {
	r.t.Helper()
	late := time.After(30 * time.Second)
	for {
		count, next := r.ledger.Count()
		if count >= n {
			return r.ledger.Recorded()
		}
		select {
		case <-next:
		case <-late:
			r.t.Fatalf("%d turns recorded, want %d", count, n)
		}
	}
}

// last is the last attempt of the nth turn.
func (r *rig) last(n int64) engine.Attempt {
	r.t.Helper()
	turns := r.turns(n)
	if int64(len(turns)) != n {
		r.t.Fatalf("%d turns recorded, want %d", len(turns), n)
	}
	a, ok := turns[n-1].Last()
	if !ok {
		r.t.Fatal("no attempt")
	}
	return *a
}

// booked is the only attempt of the nth turn as the ledger keeps it, once every
// turn is over: there are n of them, and this one was tried once.
func (r *rig) booked(n int) engine.BookedAttempt {
	r.t.Helper()
	r.turns(int64(n))
	r.settled()
	turns := r.ledger.Recorded()
	if count, _ := r.ledger.Count(); len(turns) != n || count != int64(n) {
		r.t.Fatalf("%d turns recorded, want %d", count, n)
	}
	row := engine.Book(turns[n-1])
	if len(row.Attempts) != 1 {
		r.t.Fatalf("%d attempts", len(row.Attempts))
	}
	return row.Attempts[0]
}

// pinned is the vendors pinned for an explicit session, newest first.
func (r *rig) pinned(id string) []string {
	r.t.Helper()
	record, err := r.pins.Recall(r.t.Context(), engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, m := range record.Models {
		for _, e := range m.Warm {
			names = append(names, e.Vendor)
		}
	}
	return names
}

// got is one request as a vendor received it.
type got struct {
	body   string
	length int64
	header http.Header
	chunky bool
}

// script is a vendor that answers each request with text, and keeps what it got.
type script struct {
	mu          sync.Mutex
	got         []got
	contentType string // empty: a stream if text begins with an event, else JSON
	status      int    // 0: 200
	text        string
	header      http.Header
	answer      http.HandlerFunc // instead of all that
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.got = append(s.got, got{string(body), r.ContentLength, r.Header.Clone(), len(r.TransferEncoding) > 0})
	s.mu.Unlock()
	if s.answer != nil {
		s.answer(w, r)
		return
	}
	contentType := s.contentType
	if contentType == "" {
		contentType = "application/json"
		if strings.HasPrefix(s.text, "data:") || strings.HasPrefix(s.text, "event:") || strings.HasPrefix(s.text, ":") {
			contentType = "text/event-stream"
		}
	}
	w.Header().Set("Content-Type", contentType)
	for name, values := range s.header {
		w.Header()[name] = values
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	_, _ = io.WriteString(w, s.text)
}

// requests is what the vendor got so far.
func (s *script) requests() []got {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// input reads a file of the project's testdata.
func input(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rawVendor is a vendor of one's own on TCP: serve is called for every
// connection, once a request is read from it, and the connection closed after.
func rawVendor(t testing.TB, serve func(net.Conn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if readRequest(conn) == nil {
					serve(conn)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// money says whether an attempt's cost is known and is exactly this.
func money(t testing.TB, a engine.Attempt, want string) {
	t.Helper()
	if !a.Cost.Known || !a.Cost.Total.Equal(decimalOf(t, want)) {
		t.Errorf("cost %v (known %v), want %s", a.Cost.Total, a.Cost.Known, want)
	}
}

// clock is the gateway's: what is remembered must not be on another.
func (r *rig) clock() time.Time {
	if r.gateway.Now != nil {
		return r.gateway.Now()
	}
	return time.Now()
}
