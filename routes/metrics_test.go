package routes_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
)

// shop is a catalog of one model at two vendors.
func shop(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.ParseKeys("test.yaml", []byte(`version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", cache: {family: implicit, ttl: 10m}}
  reef: {api: [chat], base_url: "https://reef.example/v1", cache: {family: implicit, ttl: 10m}}
models:
  m:
    aliases: [also-m]
    routes:
      - {vendor: pier, model: x, price: {input: 2.50, output: 10, cache_read: 0.25, as_of: 2023-11-04}}
      - {vendor: reef, model: x, price: {input: 3, cache_read: 0.30}}
`), func(catalog.Credential) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shopMetrics makes metrics of the shop with every figure.
func shopMetrics(t testing.TB) (*routes.Metrics, *catalog.Catalog) {
	c := shop(t)
	return routes.NewMetrics(routes.MetricsOptions{
		Catalog: func() *catalog.Catalog { return c },
		Reload: func() catalog.Status {
			return catalog.Status{LoadedAt: time.Unix(1_700_000_000, 5e8), Accepted: 3, Refused: 2}
		},
		Pins:    func() routes.PinFigures { return routes.PinFigures{Records: 3, Unwritten: 2, Dropped: 1} },
		Ledger:  func() routes.LedgerFigures { return routes.LedgerFigures{Queued: 4, Dropped: 5} },
		Version: "1.2.3", Commit: "abc",
		Now: func() time.Time { return time.Date(2023, 11, 14, 0, 0, 0, 0, time.UTC) },
	}), c
}

// sold is a turn that the i-th vendor of the shop served.
func sold(c *catalog.Catalog, i int) engine.Turn {
	route := c.Models[0].Routes[i]
	usage := pricing.Usage{Input: 204, CacheRead: 4096, Output: 220}
	began := time.Unix(1_700_000_000, 0)
	return engine.Turn{
		ID: "t", Tenant: "acme", API: catalog.Chat, Stream: true, Started: began, Took: 2 * time.Second,
		Session:  engine.Session{Tenant: "acme", Class: engine.ClassCacheKey, ID: "secret-session"},
		Decision: engine.Decision{Models: []engine.Finding{{Model: route.Model, Outcome: engine.Promoted}}},
		Attempts: []engine.Attempt{{
			Candidate: engine.Candidate{Route: route}, Stage: engine.StageServed, Status: 200, Committed: true, Answered: 200,
			Started: began, AcceptedAt: began, FirstByte: 40 * time.Millisecond,
			Usage: usage, Quality: pricing.Authoritative, Card: route.Price[0].Card, Cost: route.Price[0].Card.Cost(usage),
		}},
	}
}

func scrape(t testing.TB, m *routes.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetricsOfTurns(t *testing.T) {
	m, c := shopMetrics(t)
	m.Record(sold(c, 0))
	unpriced := sold(c, 1) // reef has no output price
	unpriced.Attempts = append([]engine.Attempt{{
		Candidate: engine.Candidate{Route: c.Models[0].Routes[0]}, Failure: engine.FailureThrottled, Status: 429, Started: unpriced.Started,
	}}, unpriced.Attempts...)
	m.Record(unpriced)
	silent := sold(c, 1)
	silent.Attempts[0].Quality, silent.Attempts[0].Usage = pricing.Missing, pricing.Usage{}
	silent.Session = engine.Session{}
	m.Record(silent)
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_requests_total{code="200",model="m",protocol="chat",vendor="pier"} 1`,
		`warmroute_requests_total{code="200",model="m",protocol="chat",vendor="reef"} 2`,
		`warmroute_request_duration_seconds_sum{model="m",stream="true",vendor="pier"} 2`,
		`warmroute_time_to_first_token_seconds_count{cache="warm",model="m",vendor="pier"} 1`,
		`warmroute_time_to_first_token_seconds_count{cache="unknown",model="m",vendor="reef"} 1`,
		`warmroute_tokens_total{class="uncached",model="m",vendor="pier"} 204`,
		`warmroute_tokens_total{class="cache_read",model="m",vendor="pier"} 4096`,
		`warmroute_tokens_total{class="cache_write_5m",model="m",vendor="pier"} 0`,
		`warmroute_tokens_total{class="output",model="m",vendor="reef"} 220`,
		`warmroute_cost_usd_total{class="uncached",model="m",vendor="pier"} 0.00051`,
		`warmroute_cost_usd_total{class="cache_read",model="m",vendor="pier"} 0.001024`,
		`warmroute_cost_usd_total{class="output",model="m",vendor="pier"} 0.0022`,
		`warmroute_cost_usd_total{class="output",model="m",vendor="reef"} 0`,
		`warmroute_unpriced_tokens_total{model="m",vendor="reef"} 4520`,
		`warmroute_usage_missing_total{model="m",vendor="reef"} 1`,
		`warmroute_affinity_outcomes_total{model="m",outcome="promoted",source="explicit"} 2`,
		`warmroute_affinity_outcomes_total{model="m",outcome="promoted",source="none"} 1`,
		`warmroute_upstream_attempts_total{result="served",vendor="reef"} 2`,
		`warmroute_upstream_attempts_total{result="throttled",vendor="pier"} 1`,
		`warmroute_pins 3`, `warmroute_pin_writes_unwritten 2`, `warmroute_pin_writes_dropped_total 1`,
		`warmroute_ledger_queued 4`, `warmroute_ledger_dropped_total 5`,
		`warmroute_config_last_reload_successful 1`, `warmroute_config_reloads_total{result="accepted"} 3`, `warmroute_config_reloads_total{result="refused"} 2`, `warmroute_config_last_reload_success_timestamp_seconds 1.7000000005e+09`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if !strings.Contains(text, `warmroute_build_info{commit="abc",goversion="go`) {
		t.Error("no build_info")
	}
	for _, private := range []string{"secret-session", "acme"} {
		if strings.Contains(text, private) {
			t.Errorf("%s is in the metrics", private)
		}
	}
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestMetricsKnowTheNamesOfTheCatalogOnly(t *testing.T) {
	m, c := shopMetrics(t)
	gone := &catalog.Model{Name: "withdrawn"}
	turn := sold(c, 0)
	turn.Attempts[0].Candidate.Route = &catalog.Route{Model: gone, Vendor: &catalog.Vendor{Name: "sunk"}}
	m.Record(turn)
	alias := sold(c, 0)
	alias.Attempts[0].Candidate.Route = &catalog.Route{Model: &catalog.Model{Name: "also-m"}, Vendor: c.Vendors[0]}
	m.Record(alias)
	m.Record(engine.Turn{API: catalog.Chat, Decision: engine.Decision{Models: []engine.Finding{{Model: c.Models[0], Outcome: engine.NoPin}}}})
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_requests_total{code="200",model="other",protocol="chat",vendor="other"} 1`,
		`warmroute_requests_total{code="200",model="other",protocol="chat",vendor="pier"} 1`,
		`warmroute_requests_total{code="502",model="m",protocol="chat",vendor="none"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(text, "withdrawn") || strings.Contains(text, "sunk") || strings.Contains(text, "also-m") {
		t.Error("a name that the catalog does not have is a label")
	}
}

func TestMetricsAgreeWithTheBooks(t *testing.T) {
	market := storetest.NewMarket()
	r := rand.New(rand.NewPCG(7, 11))
	c := shop(t) // whose names the market's are not: all is other, so that all is in one series
	m := routes.NewMetrics(routes.MetricsOptions{Catalog: func() *catalog.Catalog { return c }})
	var sums engine.Sums
	for n := range 2000 {
		turn := market.Turn(r, n, time.Unix(1_700_000_000+int64(n), 0))
		sums = sums.Add(engine.Sum(engine.Book(turn)))
		m.Record(turn)
	}
	var (
		cost   decimal.Decimal
		tokens = map[string]string{}
	)
	for _, line := range strings.Split(scrape(t, m), "\n") {
		name, value, _ := strings.Cut(line, "} ")
		switch {
		case strings.HasPrefix(name, "warmroute_cost_usd_total{"):
			d, err := decimal.NewFromString(value)
			if err != nil {
				t.Fatal(err)
			}
			cost = cost.Add(d)
		case strings.HasPrefix(name, "warmroute_tokens_total{"):
			d, err := decimal.NewFromString(value)
			if err != nil {
				t.Fatal(err)
			}
			tokens[strings.Split(name, `"`)[1]] = d.String()
		}
	}
	if off := cost.Sub(sums.Cost).Abs(); off.GreaterThan(decimal.New(1, -9)) || sums.CostKnown == 0 {
		t.Errorf("the metrics cost %s, the books %s", cost, sums.Cost)
	}
	for class, want := range map[string]int64{
		"uncached": sums.Usage.Input, "cache_read": sums.Usage.CacheRead, "cache_write_5m": sums.Usage.CacheWrite5m,
		"cache_write_1h": sums.Usage.CacheWrite1h, "output": sums.Usage.Output,
	} {
		if tokens[class] != decimal.NewFromInt(want).String() {
			t.Errorf("%s: %s tokens in the metrics, %d in the books", class, tokens[class], want)
		}
	}
}

// One iteration is one turn that was served at the first attempt.
func BenchmarkMetricsRecord(b *testing.B) {
	m, c := shopMetrics(b)
	turn := sold(c, 0)
	m.Record(turn)
	if text := scrape(b, m); !strings.Contains(text, `class="cache_read",model="m",vendor="pier"} 4096`) {
		b.Fatal("the turn was not counted")
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Record(turn)
	}
}

func TestMetricsTellHowOldPricesAre(t *testing.T) {
	m, _ := shopMetrics(t)
	text := scrape(t, m)
	if !strings.Contains(text, `warmroute_catalog_price_age_seconds{vendor="pier"} 864000`) || strings.Contains(text, `price_age_seconds{vendor="reef"}`) {
		t.Errorf("ages of prices:\n%s", text)
	}
}

func TestMetricsCountSidesAndFees(t *testing.T) {
	m, c := shopMetrics(t)
	turn := sold(c, 0)
	a := &turn.Attempts[0]
	a.Card.Request = pricing.PerMillion(decimal.NewFromInt(5000))
	a.Sides = []engine.Side{{Kind: "compaction", Usage: pricing.Usage{Input: 1000}, Card: c.Models[0].Routes[0].Price[0].Card}}
	a.Cost = a.Card.Cost(a.Usage).Plus(a.Sides[0].Card.Cost(a.Sides[0].Usage))
	m.Record(turn)
	text := scrape(t, m)
	for _, want := range []string{
		`warmroute_tokens_total{class="uncached",model="m",vendor="pier"} 1204`,
		`warmroute_cost_usd_total{class="request",model="m",vendor="pier"} 0.005`,
		`warmroute_cost_usd_total{class="uncached",model="m",vendor="pier"} 0.00301`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %s", want)
		}
	}
}

func TestAReadThatNobodyToldOfIsNotCold(t *testing.T) {
	for _, c := range []struct {
		read    int64
		silent  bool
		quality pricing.Quality
		want    string
	}{
		{4096, false, pricing.Authoritative, "warm"},
		{0, false, pricing.Authoritative, "cold"},
		{0, true, pricing.Authoritative, "unknown"},
		{0, false, pricing.Missing, "unknown"},
	} {
		m, shop := shopMetrics(t)
		turn := sold(shop, 0)
		a := &turn.Attempts[0]
		a.Usage.CacheRead, a.ReadUnknown, a.Quality = c.read, c.silent, c.quality
		m.Record(turn)
		if line := `warmroute_time_to_first_token_seconds_count{cache="` + c.want + `",model="m",vendor="pier"} 1`; !strings.Contains(scrape(t, m), line) {
			t.Errorf("%+v: no line %s", c, line)
		}
	}
}
