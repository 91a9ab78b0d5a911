package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// replace moves another text over a file, as editors do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// page is what the admin surface answers.
func (p *process) page(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// metered is a chat vendor that reports a thousand tokens in and a thousand out;
// its streams wait for end before they do. It keeps the keys it was shown.
type metered struct {
	end  chan struct{}
	mu   sync.Mutex
	keys []string
}

func (m *metered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.keys = append(m.keys, r.Header.Get("Authorization"))
	m.mu.Unlock()
	const usage = `{"prompt_tokens":1000,"completion_tokens":1000,"total_tokens":2000}`
	if !strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"a","object":"chat.completion","created":1,"model":"charts","choices":[{"index":0,"message":{"role":"assistant","content":"Balsa."},"finish_reason":"stop"}],"usage":%s}`, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = `data: {"id":"s","object":"chat.completion.chunk","created":1,"model":"charts",`
	fmt.Fprint(w, chunk+`"choices":[{"index":0,"delta":{"content":"first"},"finish_reason":null}]}`+"\n\n")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-m.end:
	case <-r.Context().Done():
		return
	}
	fmt.Fprint(w, chunk+`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+chunk+`"choices":[],"usage":`+usage+"}\n\ndata: [DONE]\n\n")
}

func (m *metered) key() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.keys) == 0 {
		return ""
	}
	return m.keys[len(m.keys)-1]
}

// A turn is billed by the catalog it began with, whatever becomes of the file
// meanwhile; a bad edit is told everywhere and changes nothing.
func TestATurnKeepsThePricesItBeganWith(t *testing.T) {
	vendor := &metered{end: make(chan struct{})}
	server := httptest.NewServer(vendor)
	t.Cleanup(server.Close)
	priced := func(input, output string) string {
		return fmt.Sprintf("version: 1\nvendors:\n  v: {api: [chat], base_url: %s/v1, allow_private: true}\nmodels:\n  sea/charts:\n    routes:\n      - {vendor: v, model: charts, price: {input: %s, output: %s}}\n", server.URL, input, output)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	replace(t, path, priced("2.50", "10"))
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	var first string
	p.until(t, "the first catalog is in force", func(r ready) bool { first = r.Catalog.Digest; return r.Catalog.Problem == "" })

	running := p.begin(t)
	broken := "version: 1\nvendors:\n\tv: {api: [ch"
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil { // in place, half a line
		t.Fatal(err)
	}
	p.until(t, "the bad edit is told, the first catalog in force", func(r ready) bool {
		return r.Ready && r.Catalog.Digest == first && strings.Contains(r.Catalog.Problem, path+":3:1: this is not YAML")
	})
	if status, body := p.page(t, http.MethodPost, "/-/reload"); status != http.StatusUnprocessableEntity || !strings.Contains(body, `"line":3,"column":1`) {
		t.Errorf("POST /-/reload of a bad file: %d %s", status, body)
	}
	_, figures := p.page(t, http.MethodGet, "/metrics")
	for _, line := range []string{"\nwarmroute_config_last_reload_successful 0\n", "\nwarmroute_config_reloads_total{result=\"accepted\"} "} {
		if !strings.Contains(figures, line) {
			t.Errorf("the metrics have no %q", line)
		}
	}
	if strings.Contains(figures, `warmroute_config_reloads_total{result="refused"} 0`) {
		t.Error("the refused reload is not counted")
	}
	for _, page := range []string{"/ui/", "/ui/sessions", "/ui/turns"} {
		if _, body := p.page(t, http.MethodGet, page); !strings.Contains(body, "catalog.yaml:3:1: this is not YAML") {
			t.Errorf("%s does not show that the edit was refused", page)
		}
	}
	if logs := p.logs.String(); !strings.Contains(logs, "the catalog was refused; the last good one stays in force") || !strings.Contains(logs, "catalog.yaml:3:1") || !strings.Contains(logs, first) {
		t.Errorf("the log does not tell of the bad edit:\n%s", logs)
	}
	said, err := exec.CommandContext(t.Context(), builtBinary(t), "healthcheck", "--ready", "--admin", p.admin).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "ok, but the catalog's last edit was refused") || !strings.Contains(string(said), "catalog.yaml:3:1: this is not YAML") {
		t.Errorf("healthcheck says %q (%v)", said, err)
	}
	if a := p.ask(t, "sea/charts", "meanwhile"); a.Status != http.StatusOK {
		t.Fatalf("with a bad file a turn answers %d %s", a.Status, a.Body)
	}

	p.edit(t, func() { replace(t, path, priced("4", "16")) })
	if a := p.ask(t, "sea/charts", "after"); a.Status != http.StatusOK {
		t.Fatalf("after the edit a turn answers %d %s", a.Status, a.Body)
	}
	close(vendor.end)
	if text, err := io.ReadAll(running); err != nil || !strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		t.Fatalf("the running turn ends with %q (%v)", text, err)
	}
	p.until(t, "nothing is wrong", func(r ready) bool { return r.Catalog.Problem == "" && r.Catalog.Digest != first })

	// The oldest turn is the running one, then that of the bad file, then that of
	// the new prices.
	want := []string{"0.0125", "0.0125", "0.02"}
	var got []string
	p.until(t, "three turns are booked", func(ready) bool {
		_, body := p.page(t, http.MethodGet, "/api/v1/turns")
		var all struct {
			Turns []struct {
				State    string
				Started  string
				Attempts []struct {
					Cost *struct{ Total string }
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		got = nil
		for i := len(all.Turns) - 1; i >= 0; i-- { // newest first
			turn := all.Turns[i]
			if turn.State == "settled" && len(turn.Attempts) == 1 && turn.Attempts[0].Cost != nil {
				got = append(got, turn.Attempts[0].Cost.Total)
			}
		}
		return len(got) == len(want)
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the turns cost %v, want %v", got, want)
	}
}

// What the catalog says of a route today decides, not what it said when the
// route was pinned; and nothing is forgotten meanwhile.
func TestPinsAreJudgedByTheCatalogOfToday(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	const usual = "      - {vendor: second, model: charts, price: {input: 3, output: 15, cache_read: 0.30}}\n"
	with := func(route string) func() {
		return func() {
			replace(t, path, fmt.Sprintf("version: 1\nvendors:\n  first: {api: [chat], base_url: %s/v1, allow_private: true}\n  second: {api: [chat], base_url: %s/v1, allow_private: true}\n"+
				"models:\n  sea/charts:\n    routes:\n      - {vendor: first, model: charts, price: {input: 2.50, output: 10, cache_read: 0.25}}\n%s", first, second, route))
		}
	}
	with(usual)()
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	changes := []struct{ name, route, outcome, detail string }{
		{"repriced", "      - {vendor: second, model: charts, price: {input: 3, output: 15, cache_read: 2.50}}\n", "skipped_not_cheaper", ""},
		{"no-price", "      - {vendor: second, model: charts, price: {input: 3, output: 15}}\n", "skipped_price_unknown", ""},
		{"disabled", "      - {vendor: second, model: charts, price: {input: 3, output: 15, cache_read: 0.30}, disabled: too slow in May}\n", "skipped_not_in_plan", "route_removed"},
		{"removed", "", "skipped_not_in_plan", "route_removed"},
		{"as-it-was", usual, "promoted", ""},
	}
	for _, c := range changes {
		p.ask(t, "sea/charts", "other-"+c.name) // served by the first, which would else be down after three failures
		refuse(t, first)
		if a := p.ask(t, "sea/charts", c.name); a.Header.Get("x-warmroute-vendor") != "second" {
			t.Fatalf("%s: turn 1 says %v %s", c.name, a.Header, a.Body)
		}
		if a := p.ask(t, "sea/charts", c.name); a.Affinity.Outcome != "promoted" {
			t.Fatalf("%s: before the edit turn 2 says %s", c.name, a.Body)
		}
	}
	for _, c := range changes {
		p.edit(t, with(c.route))
		a := p.ask(t, "sea/charts", c.name)
		if a.Status != http.StatusOK || a.Affinity.Outcome != c.outcome || c.detail != "" && a.Affinity.Detail != c.detail {
			t.Errorf("%s: the turn after the edit says %s", c.name, a.Body)
		}
	}
}

// Key files are not watched: both ways of asking for a reload read them anew.
func TestKeysAreReadAnewAtAReload(t *testing.T) {
	vendor := &metered{}
	server := httptest.NewServer(vendor)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	path, key := filepath.Join(dir, "catalog.yaml"), filepath.Join(dir, "key")
	replace(t, key, "canary-one")
	replace(t, path, fmt.Sprintf("version: 1\nvendors:\n  v: {api: [chat], base_url: %s/v1, allow_private: true, credentials: [{id: main, file: ./key}]}\nmodels:\n  sea/charts: {routes: [{vendor: v, model: charts}]}\n", server.URL))
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	accepted := func(n int) func(ready) bool {
		return func(ready) bool {
			_, figures := p.page(t, http.MethodGet, "/metrics")
			return strings.Contains(figures, fmt.Sprintf("warmroute_config_reloads_total{result=\"accepted\"} %d\n", n))
		}
	}
	p.until(t, "the look at the start", accepted(1))
	for n, c := range []struct {
		key  string
		tell func()
	}{
		{"canary-one", func() {}},
		{"canary-two", func() {
			if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			p.until(t, "the reload of SIGHUP", accepted(2))
		}},
		{"canary-three", func() {
			if status, body := p.page(t, http.MethodPost, "/-/reload"); status != http.StatusOK {
				t.Fatalf("POST /-/reload: %d %s", status, body)
			}
		}},
	} {
		replace(t, key, c.key)
		c.tell()
		if a := p.ask(t, "sea/charts", fmt.Sprint("turn-", n)); a.Status != http.StatusOK || vendor.key() != "Bearer "+c.key {
			t.Errorf("turn %d: %d, with %s", n, a.Status, vendor.key())
		}
	}
}
