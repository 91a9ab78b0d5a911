package conformance_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// vendorKey is the only key the simulated vendors accept behind the gateway:
// the one of the catalog, not the one the clients present.
const vendorKey = "sk-simulated-vendor-key"

// sim starts a simulated vendor and returns its address.
func sim(t *testing.T, config vendorsim.Config) string {
	t.Helper()
	v := vendorsim.New(config)
	s := httptest.NewServer(v)
	t.Cleanup(func() { v.ResetFaults(); s.Close() })
	return s.URL
}

var (
	implicit = vendorsim.Cache{Family: catalog.Implicit, MinPrefix: 1024, Block: 128}
	explicit = vendorsim.Cache{Family: catalog.Explicit, MinPrefix: 1024}
)

func TestClientsAgainstTheVendorItself(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: fetches and runs the official clients")
	}
	url := sim(t, vendorsim.Config{Name: "harbour", Cache: implicit,
		API: []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}})
	run(t, []string{
		"WARMROUTE_URL=" + url, "WARMROUTE_DIRECT=1",
		"WARMROUTE_SIM_OPENAI=" + url + "/sim", "WARMROUTE_SIM_ANTHROPIC=" + url + "/sim",
	})
}

func TestClientsThroughTheGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: builds the gateway, fetches and runs the official clients")
	}
	openai := sim(t, vendorsim.Config{Name: "harbour", Cache: implicit, Keys: []string{vendorKey},
		API: []catalog.API{catalog.Chat, catalog.Responses}})
	anthropic := sim(t, vendorsim.Config{Name: "lighthouse", Cache: explicit, Keys: []string{vendorKey},
		API: []catalog.API{catalog.Messages}})
	run(t, []string{
		"WARMROUTE_URL=" + gateway(t, openai, anthropic),
		"WARMROUTE_SIM_OPENAI=" + openai + "/sim", "WARMROUTE_SIM_ANTHROPIC=" + anthropic + "/sim",
	})
}

func TestLockFileNamesNoDownloadAddress(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("js", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(`"resolved"`)) {
		t.Error(`js/package-lock.json has "resolved" addresses: run npm install with the .npmrc beside it`)
	}
}

// run runs both sets of clients.
func run(t *testing.T, environment []string) {
	t.Run("go", func(t *testing.T) {
		plain := []string{"GOFLAGS=", "GOWORK=off"}
		fetch(t, "go", plain, "go", "mod", "download")
		command(t, "go", append(environment, plain...), "go", "test", "-count=1", "-timeout=180s", "./...")
	})
	t.Run("js", func(t *testing.T) {
		node(t)
		command(t, "js", environment, "node", "--test", "--test-concurrency=1", "--test-timeout=60000")
	})
}

// fewestNode is the oldest major version of Node the pinned clients support.
const fewestNode = 20

// node makes the JavaScript clients ready, or says why it cannot.
func node(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed: the JavaScript clients are left out")
		}
	}
	text, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(text))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < fewestNode {
		t.Skipf("node %s is older than %d: the JavaScript clients are left out", version, fewestNode)
	}
	if !installed() {
		fetch(t, "js", nil, "npm", "ci", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")
	}
}

// installed says whether what is installed is what the lock file says: npm
// writes a lock file of its own when it is done.
func installed() bool {
	wanted, err := os.Stat(filepath.Join("js", "package-lock.json"))
	if err != nil {
		return false
	}
	done, err := os.Stat(filepath.Join("js", "node_modules", ".package-lock.json"))
	return err == nil && !done.ModTime().Before(wanted.ModTime())
}

// command runs a program in a folder; what it prints is shown if it fails.
func command(t *testing.T, folder string, environment []string, name string, args ...string) {
	t.Helper()
	out, err := output(t, folder, environment, name, args...)
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	} else if testing.Verbose() {
		t.Logf("%s %s\n%s", name, strings.Join(args, " "), out)
	}
}

// output runs a program in a folder and returns what it prints.
func output(t *testing.T, folder string, environment []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), environment...)
	c.WaitDelay = 5 * time.Second
	return c.CombinedOutput()
}

// gateway builds and starts warmroute before two vendors and returns its address.
func gateway(t *testing.T, openai, anthropic string) string {
	t.Helper()
	folder := t.TempDir()
	binary := filepath.Join(folder, "warmroute")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/warmroute")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the gateway: %v\n%s", err, out)
	}
	file := filepath.Join(folder, "catalog.yaml")
	if err := os.WriteFile(file, []byte(catalogOf(openai, anthropic)), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := exec.Command(binary, "serve", "--catalog", file, "--data", filepath.Join(folder, "data"),
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	// The settings of whoever runs the tests are none of the gateway's.
	serve.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WARMROUTE_") })
	serve.Env = append(serve.Env, "CONFORMANCE_VENDOR_KEY="+vendorKey)
	var log bytes.Buffer
	serve.Stderr = &log
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if a, found := strings.CutPrefix(lines.Text(), "gateway "); found {
				address <- strings.TrimSpace(a)
				break
			}
		}
		_, _ = io.Copy(io.Discard, stdout) // so that the gateway never waits to print
		ended <- serve.Wait()
	}()
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error("the gateway did not stop within 10 s of an interrupt")
			_ = serve.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("log of the gateway:\n%s", log.Bytes())
		}
	})
	select {
	case a := <-address:
		return a
	case err := <-ended:
		ended <- err
		t.Fatalf("the gateway ended before it served: %v\n%s", err, log.Bytes())
	case <-time.After(20 * time.Second):
		t.Fatal("the gateway printed no address within 20 s")
	}
	return ""
}

// catalogOf has one model for each client, served by the vendor of its dialect.
func catalogOf(openai, anthropic string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `version: 1
vendors:
  harbour:
    api: [chat, responses]
    base_url: %s/v1
    auth: {bearer: true}
    credentials: [{id: main, env: CONFORMANCE_VENDOR_KEY}]
    cache: {family: implicit, ttl: 10m, min_prefix: 1024}
    usage: openai
    allow_private: true
  lighthouse:
    api: [messages]
    base_url: %s/v1
    auth: {header: x-api-key}
    credentials: [{id: main, env: CONFORMANCE_VENDOR_KEY}]
    headers: {anthropic-version: "2023-06-01"}
    cache: {family: explicit, ttl: 5m, min_prefix: 1024}
    usage: anthropic
    allow_private: true
models:
`, openai, anthropic)
	for _, name := range []string{"chat-go", "responses-go", "embeddings-go", "chat-js", "responses-js", "chat-ai", "embeddings-js"} {
		fmt.Fprintf(&b, "  conformance/%s:\n    routes:\n      - vendor: harbour\n        model: %s\n"+
			"        price: {input: 2, output: 8, cache_read: 0.20}\n", name, name)
	}
	for _, name := range []string{"messages-go", "messages-js", "messages-ai"} {
		fmt.Fprintf(&b, "  conformance/%s:\n    routes:\n      - vendor: lighthouse\n        model: %s\n"+
			"        price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, cache_write_1h: 6}\n", name, name)
	}
	return b.String()
}
