package routes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// warm is the transport of a plain reverse proxy: it asks warmroute who should serve a
// request, tries in that order, and reports how it went. It knows the vendors'
// addresses and, in a real proxy, their keys; warmroute is shown neither.
type warm struct {
	warmroute string             // its client address
	vendors   map[string]url.URL // by the catalog's names
}

// attempt is one attempt as POST /v1/outcomes is told of it.
type attempt struct {
	Vendor     string          `json:"vendor"`
	Credential string          `json:"credential"`
	Stage      string          `json:"stage"`
	Status     int             `json:"status,omitempty"`
	Usage      json.RawMessage `json:"usage,omitempty"`
}

// RoundTrip serves a request of the chat API that asks for no stream.
func (p *warm) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var decided struct {
		Turn  string
		Order []struct{ Vendor, Credential string }
	}
	ask := map[string]any{"path": r.URL.Path, "headers": map[string]string{"x-session-id": r.Header.Get("x-session-id")}, "body": json.RawMessage(body)}
	if err := p.post("/v1/route", ask, &decided); err != nil {
		return nil, err
	}
	var tried []attempt
	for _, c := range decided.Order {
		to := p.vendors[c.Vendor]
		r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
		r.Body = io.NopCloser(bytes.NewReader(body)) // byte for byte: a rebuilt body has no cache
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			tried = append(tried, attempt{Vendor: c.Vendor, Credential: c.Credential, Stage: "refused"})
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			tried = append(tried, attempt{Vendor: c.Vendor, Credential: c.Credential, Stage: "broken", Status: answer.StatusCode})
			continue
		case answer.StatusCode >= 400:
			tried = append(tried, attempt{Vendor: c.Vendor, Credential: c.Credential, Stage: "refused", Status: answer.StatusCode})
			continue
		}
		var said struct{ Usage json.RawMessage }
		_ = json.Unmarshal(text, &said) // without a usage its cost is not known
		tried = append(tried, attempt{Vendor: c.Vendor, Credential: c.Credential, Stage: "served", Status: answer.StatusCode, Usage: said.Usage})
		answer.Body = io.NopCloser(bytes.NewReader(text))
		return answer, p.post("/v1/outcomes", map[string]any{"turn": decided.Turn, "attempts": tried}, nil)
	}
	return nil, fmt.Errorf("nobody served it: %w", p.post("/v1/outcomes", map[string]any{"turn": decided.Turn, "attempts": tried}, nil))
}

// post asks warmroute.
func (p *warm) post(path string, ask, into any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	answer, err := http.Post(p.warmroute+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, answer.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// A plain reverse proxy stays where it is and has warmroute decide. The first vendor
// fails once, so that the second is warm; the turn after that goes to the warm one,
// though the first is well again.
func Example_besideAReverseProxy() {
	config := vendorsim.Config{Cache: vendorsim.Cache{Family: catalog.Implicit}}
	pierSim, quaySim := vendorsim.New(config), vendorsim.New(config)
	pierSim.Queue(vendorsim.Fault{Status: http.StatusServiceUnavailable})
	pier, quay := httptest.NewServer(pierSim), httptest.NewServer(quaySim)
	defer pier.Close()
	defer quay.Close()

	books, err := catalog.Parse("example.yaml", []byte(`version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", cache: {family: implicit}}
  quay: {api: [chat], base_url: "https://quay.example/v1", cache: {family: implicit}}
models:
  barge-7:
    routes:
      - {vendor: pier, model: barge-7, price: {input: 2, output: 8, cache_read: 0.2}}
      - {vendor: quay, model: barge-7, price: {input: 2, output: 8, cache_read: 0.2}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ledger, pins := &inmem.Ledger{}, inmem.New(inmem.Options{})
	defer pins.Close(context.Background())
	warmroute := httptest.NewServer(routes.New(routes.Options{
		Gateway: &engine.Gateway{Catalog: func() *catalog.Catalog { return books }, Pins: pins, Health: engine.NewHealth(), Ledger: ledger},
		Vendor:  vendor.New(vendor.Options{}),
	}))
	defer warmroute.Close()

	address := func(s *httptest.Server) url.URL { u, _ := url.Parse(s.URL); return *u }
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: &warm{warmroute.URL, map[string]url.URL{"pier": address(pier), "quay": address(quay)}},
	})
	defer proxy.Close()

	talk := `{"model":"barge-7","messages":[{"role":"user","content":"` + strings.Repeat("The log of the tides. ", 100) + `"}]}`
	for range 2 {
		request, _ := http.NewRequest(http.MethodPost, proxy.URL+"/v1/chat/completions", strings.NewReader(talk))
		request.Header.Set("x-session-id", "tides")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
	}
	for _, turn := range ledger.Recorded() {
		b := engine.Book(turn)
		last, _ := b.Last()
		fmt.Printf("%s after %d attempts at %s, %d tokens read, %s dollars\n", b.Outcome, len(b.Attempts), last.Vendor, last.Usage.CacheRead, last.Cost.Total)
	}
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// no_pin after 2 attempts at quay, 0 tokens read, 0.001252 dollars
	// promoted after 1 attempts at quay, 512 tokens read, 0.0003304 dollars
}
