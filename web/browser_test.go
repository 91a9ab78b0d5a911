package web_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/web"
)

// growing is a shelf that a test adds turns to while pages are made.
type growing struct {
	mu    sync.Mutex
	story *story
}

func (g *growing) books() shelf {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.story.turns[:len(g.story.turns):len(g.story.turns)]
}

func (g *growing) more() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.story.tell(scene{session: "late", class: engine.ClassExplicit, ago: time.Second, model: sonnet, vendor: "anthropic", outcome: engine.NoPin, usage: pricing.Usage{Input: 40, CacheWrite5m: 2_000, Output: 90}})
}

// serveDashboard serves the seeded pages, and /more, which books another turn.
func serveDashboard(t *testing.T) string {
	t.Helper()
	books, c := seeded(t)
	g := &growing{story: &story{catalog: c, turns: books}}
	mux := http.NewServeMux()
	mux.HandleFunc("/ui/", func(w http.ResponseWriter, r *http.Request) {
		o := options(g.books(), c)
		o.Assets = os.DirFS("dist")
		web.New(o).ServeHTTP(w, r)
	})
	mux.HandleFunc("POST /more", func(w http.ResponseWriter, _ *http.Request) {
		g.more()
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/ui/"
}

// shots is where TestBrowser leaves pictures of the pages.
var shots = flag.String("shots", "", "folder to leave pictures of the pages in, from this one")

// TestBrowser opens the pages in Chromium, with the scripts as they are in src.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: opens every page in a browser")
	}
	browser := needBrowser(t)
	run(t, nil, "./build.sh")
	for _, name := range []string{"live.js", "plots.js", "plots.css"} {
		if _, err := os.Stat(filepath.Join("dist", name)); err != nil {
			t.Fatalf("build.sh did not make dist/%s", name)
		}
	}
	environment := []string{"WARMROUTE_UI=" + serveDashboard(t), "CHROMIUM=" + browser}
	if *shots != "" {
		run(t, environment, "node", append([]string{"e2e/shots.mjs"}, strings.Fields(*shots)...)...)
		return
	}
	files, err := filepath.Glob("e2e/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no browser tests: %v", err)
	}
	out := run(t, environment, "node", append([]string{"--test"}, files...)...)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "ℹ ") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func TestLockFileNamesNoDownloadAddress(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"resolved"`) {
		t.Error(`package-lock.json has "resolved" addresses: run npm install with the .npmrc beside it`)
	}
}

// needBrowser finds Chromium and what drives it, or skips saying what is missing.
func needBrowser(t *testing.T) string {
	t.Helper()
	browser := os.Getenv("CHROMIUM")
	if browser == "" {
		browser = "chromium"
	}
	found, err := exec.LookPath(browser)
	if err != nil {
		t.Skip("chromium is not installed: the pages are not opened in a browser")
	}
	for _, tool := range []string{"node", "npm", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed: the pages are not opened in a browser")
		}
	}
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		t.Skipf("node %s is older than 20: the pages are not opened in a browser", strings.TrimSpace(string(version)))
	}
	if !installed() {
		if out, err := command(t, nil, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
			t.Skipf("npm could not fetch what drives the browser: the pages are not opened in one\n%s", out)
		}
	}
	return found
}

// installed says whether the packages that drive the browser are there as the
// lock file names them.
func installed() bool {
	wanted, err := os.Stat("package-lock.json")
	if err != nil {
		return false
	}
	for _, name := range []string{"playwright-core", "axe-core", "uplot"} {
		if _, err := os.Stat(filepath.Join("node_modules", name)); err != nil {
			return false
		}
	}
	done, err := os.Stat("node_modules/.package-lock.json")
	return err == nil && !done.ModTime().Before(wanted.ModTime())
}

func run(t *testing.T, environment []string, name string, args ...string) string {
	t.Helper()
	out, err := command(t, environment, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func command(t *testing.T, environment []string, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), environment...)
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}
