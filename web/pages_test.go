package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/web"
)

func rate(text string) pricing.Rate { return pricing.PerMillion(decimal.RequireFromString(text)) }

// promoted is a turn that went to a warm vendor instead of the first one.
func promoted(session string) engine.Turn {
	model := &catalog.Model{Name: "sea/charts"}
	warm := engine.Candidate{Route: &catalog.Route{Model: model, Vendor: &catalog.Vendor{Name: "harbour"}}}
	finding := engine.Finding{
		Model: model, Outcome: engine.Promoted, Pinned: "harbour", Displaced: "quay", Gate: catalog.GateCacheRead,
		Verdict: pricing.ReadPays(pricing.Card{CacheRead: rate("0.3"), Input: rate("3")}, []pricing.Rival{{Vendor: "quay", Input: rate("2.5")}, {Vendor: "pier"}}),
	}
	card := pricing.Card{Input: rate("3"), Output: rate("15"), CacheRead: rate("0.3")}
	usage := pricing.Usage{Input: 12, CacheRead: 18400, Output: 205}
	return engine.Turn{
		Target: "sea/charts", Session: engine.Session{Class: engine.ClassExplicit, ID: session}, Started: time.Date(2026, 11, 29, 9, 30, 5, 0, time.UTC),
		Decision: engine.Decision{Models: []engine.Finding{finding}},
		Attempts: []engine.Attempt{{Candidate: warm, Stage: engine.StageServed, Usage: usage, Quality: pricing.Authoritative, Cost: card.Cost(usage)}},
	}
}

func get(t *testing.T, path string, turns ...engine.Turn) *httptest.ResponseRecorder {
	t.Helper()
	pages := web.New(web.Options{
		Turns:   func() []engine.Turn { return turns },
		Catalog: func() *catalog.Catalog { return &catalog.Catalog{Currency: "USD", Digest: strings.Repeat("ab", 32)} },
	})
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

func TestAPromotedTurnIsShownWithThePricesThatWereCompared(t *testing.T) {
	page := get(t, "/ui/", promoted("boat-1")).Body.String()
	for _, want := range []string{"boat-1", "<b>promoted</b>", "harbour", "quay", "read 0.3, own input 3, quay 2.5, pier unknown", "18412", "18400", "0.008631"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestATurnWithoutUsageShowsNoNumbers(t *testing.T) {
	turn := promoted("boat-2")
	turn.Attempts[0].Quality, turn.Attempts[0].Cost = pricing.Missing, pricing.Cost{}
	page := get(t, "/ui/", turn).Body.String()
	if got := strings.Count(page, `<td class="n">unknown</td>`); got != 4 {
		t.Errorf("%d cells say unknown, want prompt, read, output and cost", got)
	}
}

func TestClientTextIsShownAsText(t *testing.T) {
	page := get(t, "/ui/", promoted(`<img src=x>`)).Body.String()
	if strings.Contains(page, "<img") || !strings.Contains(page, "&lt;img src=x&gt;") {
		t.Error("a session id was shown as markup")
	}
}

func TestThePolicyAllowsNoScript(t *testing.T) {
	answer := get(t, "/ui/")
	policy := answer.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
		t.Errorf("content policy is %q", policy)
	}
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "No turn has been served yet") {
		t.Errorf("an empty page answers %d", answer.Code)
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	if code := get(t, "/ui/../secret").Code; code != http.StatusNotFound {
		t.Errorf("answers %d", code)
	}
}
