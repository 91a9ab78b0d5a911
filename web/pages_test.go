package web_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/web"
)

var update = flag.Bool("update", false, "rewrite the golden pages; read the diff before keeping it")

// noScripts is a build without npm and esbuild.
var noScripts = fstest.MapFS{}

func options(books engine.Books, c *catalog.Catalog) web.Options {
	return web.Options{
		Books: books, Catalog: func() *catalog.Catalog { return c }, Now: func() time.Time { return now },
		Status: func() web.Status { return web.Status{Pins: 1234} }, Assets: noScripts,
	}
}

func get(t testing.TB, o web.Options, address string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	web.New(o).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
	return answer
}

// golden are the pages whose whole text is kept.
var golden = map[string]string{
	"overview":    "/ui/",
	"overview-1h": "/ui/?range=1h&vendor=bedrock",
	"turns":       "/ui/turns?outcome=promoted",
	"sessions":    "/ui/sessions?range=1h",
	"session":     "/ui/session?tenant=default&class=agent&id=0191f3b2-77aa-7c11-9d44-52b6f2a3c9e0",
	"turn":        "/ui/turn?tenant=default&id=agent-02", // promoted
	"misses":      "/ui/misses",
	"misses-pin":  "/ui/misses?cause=pin_expired&vendor=anthropic",
	"routes":      "/ui/routes",
	"missed":      "/ui/turn?tenant=default&id=agent-04",
	"beside":      "/ui/turn?tenant=default&id=agent-05", // with another model's advice and the vendor's own charge
	"zone":        "/ui/?range=30d&zone=America/Los_Angeles",
	"missing":     "/ui/turn?tenant=default&id=none",
	"nothing":     "/ui/?vendor=nobody",
}

func TestGoldenPages(t *testing.T) {
	books, c := seeded(t)
	for name, address := range golden {
		t.Run(name, func(t *testing.T) {
			checkGolden(t, name, get(t, options(books, c), address).Body.Bytes())
		})
	}
	t.Run("empty", func(t *testing.T) { checkGolden(t, "empty", get(t, options(shelf{}, c), "/ui/").Body.Bytes()) })
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the page is not %s; run with -update and read the diff", file)
	}
}

func TestAPromotedTurnShowsThePricesThatWereCompared(t *testing.T) {
	books, c := seeded(t)
	page := get(t, options(books, c), golden["turn"]).Body.String()
	for _, want := range []string{"promoted", "bedrock", "anthropic input price", "$0.30/M", "$3.00/M", "the read is below it", "40\u202f900",
		"20 × $3.00/M &#43; 40\u202f900 × $0.30/M &#43; 1\u202f280 × $3.75/M &#43; 410 × $15.00/M = <strong>$0.02328</strong>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestCostSaysAtLeastWhileAttemptsAreNotCovered(t *testing.T) {
	books, c := seeded(t)
	if page := get(t, options(books, c), "/ui/").Body.String(); !strings.Contains(page, `<span class="word">at least</span>`) || !strings.Contains(page, "not covered") {
		t.Error("a cost that misses attempts is shown as the whole")
	}
	if page := get(t, options(books, c), "/ui/?vendor=anthropic&model=anthropic/claude-sonnet-5").Body.String(); strings.Contains(page, "at least") {
		t.Error("a cost that misses nothing is hedged")
	}
}

func TestWhatIsNotKnownIsNeverZero(t *testing.T) {
	s := &story{catalog: prices(t)}
	s.tell(scene{session: "s", class: engine.ClassExplicit, ago: time.Minute, model: gpt, vendor: "openai", outcome: engine.NoPin, quality: "none"})
	page := get(t, options(s.turns, s.catalog), "/ui/").Body.String()
	if strings.Contains(page, "$0") || strings.Contains(page, `<td class="n">0</td>`) || strings.Contains(page, `<span>0.0`) {
		t.Errorf("an unknown figure is shown as a zero:\n%s", page)
	}
	if got := strings.Count(page, "unknown"); got < 6 {
		t.Errorf("%d cells say unknown", got)
	}
}

func TestATurnWithoutAnEndHasNoKnownCost(t *testing.T) {
	books, c := seeded(t)
	open := books[len(books)-1]
	page := get(t, options(shelf{open}, c), "/ui/turns").Body.String()
	if open.State != engine.Unsettled || strings.Contains(page, "$0") || !strings.Contains(page, `<span class="dim">unknown</span>`) {
		t.Error("a turn under way is shown as free")
	}
}

func TestAVendorThatOnlyFailedTurnsIsShown(t *testing.T) {
	s := &story{catalog: prices(t)}
	s.tell(scene{session: "s", class: engine.ClassExplicit, ago: time.Minute, model: sonnet, vendor: "anthropic", outcome: engine.NoPin})
	turn := s.turns[0]
	failed := turn.Attempts[0]
	failed.Vendor, failed.Stage, failed.Failure = "bedrock", engine.StageBroken, engine.FailureCut
	failed.Usage, failed.Quality = pricing.Usage{Input: 690, Output: 20}, pricing.Authoritative
	failed.Price()
	turn.Attempts = []engine.BookedAttempt{failed, turn.Attempts[0]}
	page := get(t, options(shelf{turn}, s.catalog), "/ui/?vendor=bedrock").Body.String()
	for _, want := range []string{"of 0 turns, 1 billed attempt", "$0.0023"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "at least") {
		t.Error("a cost that misses nothing is hedged")
	}
}

func TestANetCacheLossSaysSo(t *testing.T) {
	s := &story{catalog: prices(t)}
	turn := scene{session: "s", class: engine.ClassExplicit, ago: time.Minute, model: sonnet, vendor: "anthropic", outcome: engine.NoPin}
	turn.usage.CacheWrite5m = 28_000 // at 0.75 above the input price
	s.tell(turn)
	page := get(t, options(s.turns, s.catalog), "/ui/").Body.String()
	if !strings.Contains(page, `<dd class="value bad"><span class="word">loss</span> <span>−$0.0210</span></dd>`) {
		t.Error("a loss lacks its sign or its word")
	}
}

func TestEveryPageShowsTheCatalogsProblem(t *testing.T) {
	books, c := seeded(t)
	o := options(books, c)
	o.Status = func() web.Status {
		return web.Status{Problem: "catalog.yaml:7:9: unknown key \"cache_raed\"\ncatalog.yaml:9:1: <b>", Dropped: 3, Draining: true, Books: "the folder is read-only <i>"}
	}
	for _, address := range golden {
		page := get(t, o, address).Body.String()
		for _, want := range []string{"catalog.yaml:7:9: unknown key", "&lt;b&gt;", "3 turns could not be booked", "in memory only", "read-only &lt;i&gt;", "draining"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", address, want)
			}
		}
	}
}

func TestThePolicyOfEveryAnswer(t *testing.T) {
	books, c := seeded(t)
	for _, address := range []string{"/ui/", "/ui/sessions", "/ui/style.css", "/ui/nothing", "/ui/turn"} {
		h := get(t, options(books, c), address).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", address, name, got)
			}
		}
	}
}

func TestNoPageHasAnythingInline(t *testing.T) {
	books, c := seeded(t)
	for _, address := range golden {
		page := get(t, options(books, c), address).Body.String()
		for _, bad := range []string{" style=", "<style", "<script>", " onclick", "javascript:"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", address, bad)
			}
		}
	}
}

func TestScriptsAreNamedOnlyIfTheyWereBuilt(t *testing.T) {
	books, c := seeded(t)
	o := options(books, c)
	if page := get(t, o, "/ui/").Body.String(); strings.Contains(page, "<script") || strings.Contains(page, "plots.css") {
		t.Error("a script that was not built is named")
	}
	o.Assets = fstest.MapFS{"live.js": {Data: []byte("1")}}
	page := get(t, o, "/ui/").Body.String()
	if !strings.Contains(page, `src="/ui/live.js"`) || strings.Contains(page, "plots") && strings.Contains(page, "plots.js") {
		t.Error("the page does not name the one script that was built")
	}
	answer := get(t, o, "/ui/live.js")
	if answer.Code != http.StatusOK || !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("the script answers %d", answer.Code)
	}
	again := httptest.NewRequest(http.MethodGet, "/ui/live.js", nil)
	again.Header.Set("If-None-Match", answer.Header().Get("ETag"))
	unchanged := httptest.NewRecorder()
	web.New(o).ServeHTTP(unchanged, again)
	if unchanged.Code != http.StatusNotModified {
		t.Errorf("an unchanged script answers %d", unchanged.Code)
	}
}

func TestTheRangeIsInTheAddress(t *testing.T) {
	books, c := seeded(t)
	var asked engine.Query
	o := options(asking{books, &asked}, c)
	get(t, o, "/ui/?range=6h&model=m&vendor=v&tenant=t")
	want := engine.Query{Tenant: "t", Model: "m", Vendor: "v", From: time.Date(2026, 11, 29, 15, 4, 0, 0, time.UTC)}
	if asked != want {
		t.Errorf("asked for %+v", asked)
	}
	if page := get(t, o, "/ui/?range=6h&vendor=v").Body.String(); !strings.Contains(page, `href="/ui/?range=7d&amp;vendor=v"`) {
		t.Error("another range forgets the filter")
	}
}

type asking struct {
	shelf
	query *engine.Query
}

func (a asking) Overview(ctx context.Context, q engine.Query, width time.Duration) (engine.Overview, error) {
	*a.query = q
	return a.shelf.Overview(ctx, q, width)
}

func TestPagesOfAListFollowEachOther(t *testing.T) {
	s := &story{catalog: prices(t)}
	s.chapter("long", engine.ClassExplicit, "", sonnet, "anthropic", 23*time.Hour, time.Minute, 130, 20_000)
	o := options(s.turns, s.catalog)
	first := get(t, o, "/ui/turns").Body.String()
	if strings.Count(first, "<tr data-key") != 100 || !strings.Contains(first, `href="/ui/turns?after=100"`) {
		t.Error("the first part is not the newest hundred with a way on")
	}
	second := get(t, o, "/ui/turns?after=100").Body.String()
	if strings.Count(second, "<tr data-key") != 30 || strings.Contains(second, ">Older<") || !strings.Contains(second, ">Newest<") {
		t.Error("the second part is not the rest with a way back")
	}
	path := get(t, o, "/ui/session?tenant=default&class=explicit&id=long").Body.String()
	if strings.Contains(path, `<td class="n">—</td>`+"\n<td><span class=\"outcome") || !strings.Contains(path, "Earlier turns") {
		t.Error("the first row of a later part does not know its gap")
	}
	if code := get(t, o, "/ui/turns?after=rubbish").Code; code != http.StatusBadRequest {
		t.Errorf("a place of no list answers %d", code)
	}
}

type silent struct{ shelf }

func (silent) Overview(context.Context, engine.Query, time.Duration) (engine.Overview, error) {
	return engine.Overview{}, errors.New("disk gone: /secret/place")
}

func TestBooksThatDoNotAnswer(t *testing.T) {
	answer := get(t, options(silent{}, prices(t)), "/ui/")
	if answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "secret") {
		t.Errorf("answers %d: %s", answer.Code, answer.Body)
	}
}

func TestOtherAddressesAndMethods(t *testing.T) {
	books, c := seeded(t)
	for address, code := range map[string]int{"/ui/../secret": 404, "/ui/templates/base.html": 404, "/ui/session?id=x": 404, "/ui/turn?id=x": 404, "/ui/icon.svg": 200} {
		if got := get(t, options(books, c), address).Code; got != code {
			t.Errorf("%s answers %d", address, got)
		}
	}
	answer := httptest.NewRecorder()
	web.New(options(books, c)).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/ui/", nil))
	if answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("a post answers %d", answer.Code)
	}
}

func TestTheEmptyPageHasALineThatWorks(t *testing.T) {
	o := options(shelf{}, prices(t))
	o.Gateway = "http://127.0.0.1:18080"
	page := get(t, o, "/ui/").Body.String()
	want := "curl http://127.0.0.1:18080/v1/messages -H &#39;content-type: application/json&#39; -H &#39;x-session-id: first-steps&#39; -H &#39;anthropic-version: 2023-06-01&#39; -d &#39;{&#34;max_tokens&#34;:64,&#34;messages&#34;:[{&#34;content&#34;:&#34;Say hello.&#34;,&#34;role&#34;:&#34;user&#34;}],&#34;model&#34;:&#34;anthropic/claude-sonnet-5&#34;}&#39;"
	if !strings.Contains(page, want) {
		t.Errorf("the page lacks the line:\n%s", page)
	}
}
