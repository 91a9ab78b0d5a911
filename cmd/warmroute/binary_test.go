package main

import (
	"bufio"
	"bytes"
	"context"
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
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// built is the binary under test: built once, as a user would.
var built struct {
	once sync.Once
	path string
	err  error
}

func builtBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "warmroute-binary-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "warmroute")
		out, err := exec.Command("go", "build", "-o", built.path, ".").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// process is a running gateway.
type process struct {
	cmd            *exec.Cmd
	gateway, admin string
	lines          chan string // what it printed after its addresses
	done           chan error
	logs           *lockedBuffer
}

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

// start runs the binary until its addresses are printed.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(builtBinary(t), append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...), lines: make(chan string, 1000), done: make(chan error, 1), logs: &lockedBuffer{}}
	p.cmd.Stderr = p.logs
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			p.lines <- scan.Text()
		}
		close(p.lines)
		p.done <- p.cmd.Wait()
	}()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	p.gateway, p.admin = p.value(t, "gateway "), p.value(t, "admin ")
	return p
}

// value is what follows prefix on the first line that begins with it.
func (p *process) value(t *testing.T, prefix string) string {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("ended without printing %q:\n%s", prefix, p.logs)
			}
			if rest, found := strings.CutPrefix(line, prefix); found {
				return rest
			}
		case <-limit:
			t.Fatalf("%q was not printed within 20 s:\n%s", prefix, p.logs)
		}
	}
}

// stop ends the process with a signal and waits for it.
func (p *process) stop(t *testing.T, sig os.Signal) error {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("still running 20 s after %v:\n%s", sig, p.logs)
		return nil
	}
}

// affinity is provider_metadata.gateway.routing.affinity of an answer.
type affinity struct {
	Outcome           string
	PinnedProvider    string
	DisplacedProvider string
	Detail            string
	Gate              struct {
		Name   string
		Pays   bool
		Own    struct{ CacheRead, Input *string }
		Rivals []struct{ Vendor, Input string }
	}
}

type answer struct {
	Status   int
	Header   http.Header
	Body     string
	Affinity affinity
	Session  string
}

// ask sends one chat turn.
func (p *process) ask(t *testing.T, model, session string) answer {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Which wood floats?"}]}`, model)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.gateway+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	r.Header.Set("x-session-id", session)
	return do(t, r)
}

func do(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Status: response.StatusCode, Header: response.Header, Body: string(text)}
	var shape struct {
		Metadata struct {
			Gateway struct {
				Routing struct {
					ClientSessionID string
					Affinity        json.RawMessage
				}
			}
		} `json:"provider_metadata"`
	}
	if json.Unmarshal(text, &shape) == nil && len(shape.Metadata.Gateway.Routing.Affinity) > 0 {
		a.Session = shape.Metadata.Gateway.Routing.ClientSessionID
		gate := strings.ReplaceAll(string(shape.Metadata.Gateway.Routing.Affinity), `"cache_read":`, `"cacheread":`)
		if err := json.Unmarshal([]byte(gate), &a.Affinity); err != nil {
			t.Fatalf("affinity: %v in %s", err, gate)
		}
	}
	return a
}

// settled waits until every pin has been reported as written.
func (p *process) settled(t *testing.T) {
	t.Helper()
	p.until(t, "every pin is written", func(r ready) bool { return r.Pins.Unwritten == 0 && r.Pins.Loaded })
}

type ready struct {
	Ready   bool
	Reason  string
	Catalog struct {
		Digest, Problem string
	}
	Pins struct {
		Unwritten int64
		Loaded    bool
	}
}

// until asks /readyz?verbose until it says what is awaited, at most ten seconds.
func (p *process) until(t *testing.T, what string, holds func(ready) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var last string
	for {
		response, err := http.Get(p.admin + "/readyz?verbose")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		var r ready
		last = string(text)
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("readyz: %v in %s", err, text)
		}
		if holds(r) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 10 s: %s; readyz says %s", what, last)
		}
	}
}

// simulated is a simulated chat vendor on loopback.
func simulated(t *testing.T, name string) (address string, vendor *vendorsim.Vendor) {
	t.Helper()
	vendor = vendorsim.New(vendorsim.Config{Name: name, API: []catalog.API{catalog.Chat}, Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 5 * time.Minute, MinPrefix: 64, Block: 64}})
	server := httptest.NewServer(vendor)
	t.Cleanup(server.Close)
	return server.URL, vendor
}

// refuse makes the next request to a simulated vendor fail.
func refuse(t *testing.T, address string) {
	t.Helper()
	response, err := http.Post(address+"/sim/faults", "application/json", strings.NewReader(`[{"status":503}]`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		t.Fatalf("sim/faults answers %s", response.Status)
	}
}

// twoVendors is a catalog file with a first and a second vendor; cache is the
// second's cache-read price as a YAML member, or nothing.
func twoVendors(t *testing.T, path, first, second, cache, ttl string) {
	t.Helper()
	text := fmt.Sprintf(`version: 1
vendors:
  first: {api: [chat], base_url: %s/v1, allow_private: true}
  second: {api: [chat], base_url: %s/v1, allow_private: true, cache: {ttl: %s}}
models:
  sea/charts:
    routes:
      - {vendor: first, model: charts, price: {input: 2.50, output: 10, cache_read: 0.25}}
      - {vendor: second, model: charts, price: {input: 3, output: 15%s}}
`, first, second, ttl, cache)
	// Written beside and moved over, as editors do.
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// edit changes the catalog and waits until it is in force.
func (p *process) edit(t *testing.T, change func()) {
	t.Helper()
	var before string
	p.until(t, "a digest", func(r ready) bool { before = r.Catalog.Digest; return before != "" })
	change()
	p.until(t, "the edit is in force", func(r ready) bool { return r.Catalog.Digest != before })
}

func TestDemoTellsItsFirstTwoTurns(t *testing.T) {
	p := start(t, "demo")
	curl := p.value(t, "curl ")
	if logged := p.logs.String(); strings.Contains(logged, `"msg":"catalog`) {
		t.Errorf("before its addresses the demo logs\n%s", logged)
	}
	session := strings.SplitN(strings.SplitN(curl, "x-session-id: ", 2)[1], "'", 2)[0]
	if _, err := exec.LookPath("curl"); err == nil {
		for _, want := range []string{`"outcome":"no_pin"`, `"cached_tokens":320`, `"outcome":"confirmed"`} {
			out, err := exec.CommandContext(t.Context(), "sh", "-c", "curl "+curl).Output()
			if err != nil || !strings.Contains(string(out), want) {
				t.Fatalf("the printed line gives %s (%v), want %s", out, err, want)
			}
		}
	} else {
		t.Log("curl is not installed; the printed line is sent by Go instead")
		p.ask(t, "deepseek-v4-pro", session)
	}
	third := p.ask(t, "deepseek-v4-pro", session)
	if third.Affinity.Outcome != "confirmed" || third.Session != session || !third.Affinity.Gate.Pays {
		t.Fatalf("the third turn says %s", third.Body)
	}
	if own := third.Affinity.Gate.Own.CacheRead; own == nil || *own != "0.145" {
		t.Errorf("the compared price is missing from %s", third.Body)
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("SIGTERM ends with %v:\n%s", err, p.logs)
	}
}

func TestATurnGoesToTheWarmVendorWhileThatIsCheapest(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))

	refuse(t, first)
	one := p.ask(t, "sea/charts", "dory-1")
	if one.Affinity.Outcome != "no_pin" || one.Header.Get("x-warmroute-vendor") != "second" {
		t.Fatalf("turn 1 says %v %s", one.Header, one.Body)
	}
	two := p.ask(t, "sea/charts", "dory-1")
	if a := two.Affinity; a.Outcome != "promoted" || a.PinnedProvider != "second" || a.DisplacedProvider != "first" {
		t.Fatalf("turn 2 says %s", two.Body)
	}
	if two.Header.Get("x-warmroute-displaced") != "first" || two.Header.Get("x-warmroute-outcome") != "promoted" {
		t.Errorf("turn 2 has the headers %v", two.Header)
	}

	p.edit(t, func() { twoVendors(t, path, first, second, ", cache_read: 2.50", "5m") })
	dear := p.ask(t, "sea/charts", "dory-1")
	if a := dear.Affinity; a.Outcome != "skipped_not_cheaper" || a.Gate.Own.CacheRead == nil || *a.Gate.Own.CacheRead != "2.5" || len(a.Gate.Rivals) != 1 || a.Gate.Rivals[0].Input != "2.5" {
		t.Fatalf("with a dear cache turn 3 says %s", dear.Body)
	}

	// Turn 3 was served by the first vendor, which is warm now too; a session of
	// its own shows the second one's missing price.
	p.edit(t, func() { twoVendors(t, path, first, second, "", "5m") })
	refuse(t, first)
	p.ask(t, "sea/charts", "dory-2")
	unknown := p.ask(t, "sea/charts", "dory-2")
	if a := unknown.Affinity; a.Outcome != "skipped_price_unknown" || a.Gate.Own.CacheRead != nil {
		t.Fatalf("without a cache price turn 2 says %s", unknown.Body)
	}
}

func TestAPinSurvivesRestartAndKill(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	args := []string{"serve", "--catalog", path, "--data", filepath.Join(dir, "data")}
	p := start(t, args...)
	refuse(t, first)
	p.ask(t, "sea/charts", "dory-1")
	p.settled(t)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = p.stop(t, sig)
		p = start(t, args...)
		if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != "promoted" {
			t.Fatalf("after %v the next turn says %s\n%s", sig, a.Body, p.logs)
		}
		p.settled(t)
	}
}

func TestAPinExpires(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "16s")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	refuse(t, first)
	p.ask(t, "sea/charts", "dory-1")
	<-time.After(1100 * time.Millisecond) // the subject: 16 s less the margin of 15 s is one second
	if a := p.ask(t, "sea/charts", "dory-1"); a.Affinity.Outcome != "pin_expired" {
		t.Fatalf("after its window the pin gives %s", a.Body)
	}
}

func TestABadEditKeepsTheLastGoodCatalog(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	twoVendors(t, path, first, second, ", cache_read: null", "5m")
	p.until(t, "the edit is refused", func(r ready) bool { return strings.Contains(r.Catalog.Problem, "cache_read is empty") })
	if a := p.ask(t, "sea/charts", "dory-1"); a.Status != http.StatusOK {
		t.Fatalf("after a bad edit a turn answers %d %s", a.Status, a.Body)
	}
}

func TestTwoGatewaysDoNotShareAFolder(t *testing.T) {
	first, _ := simulated(t, "first")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, first, "", "5m")
	args := []string{"serve", "--catalog", path, "--data", filepath.Join(dir, "data")}
	start(t, args...)
	began := time.Now()
	out, err := exec.CommandContext(t.Context(), builtBinary(t), append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), filepath.Join(dir, "data", "pins")) {
		t.Errorf("the second gateway says %s (%v)", out, err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the second gateway took %v to give up", took)
	}
}
