package routes_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	cachesim "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/routes"
)

// stalls is a catalog with the names of [storetest.NewMarket], whose prices it leaves
// to the market.
func stalls(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.ParseKeys("stalls.yaml", []byte(`version: 1
vendors:
  anthropic: {api: [messages], base_url: "https://a.example/v1", cache: {family: implicit, ttl: 5m}}
  bedrock: {api: [messages], base_url: "https://b.example/v1", cache: {family: implicit, ttl: 5m}}
  vertex: {api: [messages], base_url: "https://v.example/v1", cache: {family: implicit, ttl: 5m}}
  deepseek: {api: [chat], base_url: "https://d.example/v1", cache: {family: implicit, ttl: 1h}}
  together: {api: [chat], base_url: "https://t.example/v1", cache: {family: implicit, ttl: 5m}}
  openai: {api: [chat], base_url: "https://o.example/v1", cache: {family: implicit, ttl: 10m}}
models:
  anthropic/claude-sonnet-5: {routes: [{vendor: anthropic, model: a}, {vendor: bedrock, model: b}, {vendor: vertex, model: v}]}
  deepseek/v4: {routes: [{vendor: deepseek, model: d}, {vendor: together, model: t}]}
  openai/gpt-5.6: {routes: [{vendor: openai, model: o}]}
`), func(catalog.Credential) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// series reads one metric of a scrape: its value by its labels, joined as `a/b`.
func series(t testing.TB, text, name string, labels ...string) map[string]decimal.Decimal {
	t.Helper()
	all := map[string]decimal.Decimal{}
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, name+"{")
		if !ok {
			continue
		}
		pairs, value, _ := strings.Cut(rest, "} ")
		d, err := decimal.NewFromString(value)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var key []string
		for _, label := range labels {
			_, after, _ := strings.Cut(","+pairs, ","+label+`="`)
			value, _, _ := strings.Cut(after, `"`)
			key = append(key, value)
		}
		at := strings.Join(key, "|")
		all[at] = all[at].Add(d)
	}
	return all
}

// near says whether a metric is an exact sum, but for the float it was shown as.
func near(got, want decimal.Decimal) bool {
	return got.Sub(want).Abs().LessThanOrEqual(decimal.New(1, -9))
}

// TestMetricsAgreeWithTheAccounts counts random turns, and compares every sum with
// what the ledger's own books and accounts come to.
func TestMetricsAgreeWithTheAccounts(t *testing.T) {
	market := storetest.NewMarket()
	for _, m := range market.Models {
		for _, r := range m.Routes {
			r.Vendor.Cache = catalog.CacheRules{Family: catalog.Implicit, TTL: 10 * time.Minute}
			r.Cache = r.Vendor.Cache
		}
	}
	c := stalls(t)
	m := routes.NewMetrics(routes.MetricsOptions{Catalog: func() *catalog.Catalog { return c }})
	ledger := &inmem.Ledger{Max: 4000, Auditor: cachesim.Auditor{}, Settled: m.Settled}
	r := rand.New(rand.NewPCG(17, 29))
	for n := range 2000 {
		turn := market.Turn(r, n, time.Unix(1_700_000_000+int64(n)*5, 0))
		ledger.Record(turn)
		if n%10 == 0 {
			ledger.Record(turn) // told twice, counted once
		}
	}
	text := scrape(t, m)
	books, err := ledger.Overview(context.Background(), engine.Query{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := ledger.Accounts(context.Background(), engine.Query{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var total cachesim.Account
	if err := total.UnmarshalBinary(accounts.Total); err != nil {
		t.Fatal(err)
	}
	all := total.Tally
	without, real := series(t, text, "warmroute_counterfactual_cost_usd_total", "world"), series(t, text, "warmroute_covered_cost_usd_total", "world")
	if !near(without["no_affinity"], all.CostWithout) || !near(real["no_affinity"], all.Cost) || !near(without["no_affinity"].Sub(real["no_affinity"]), all.Saving) {
		t.Errorf("without affinity %s, really %s; the accounts say %s and %s", without["no_affinity"], real["no_affinity"], all.CostWithout, all.Cost)
	}
	if saved := without["no_cache"].Sub(real["no_cache"]); !near(saved, books.Total.Saving) || books.Total.SavingKnown == 0 {
		t.Errorf("caches saved %s, the books say %s", saved, books.Total.Saving)
	}
	judged := series(t, text, "warmroute_judged_turns_total", "coverage")
	if judged["covered"].IntPart() != all.Covered || judged["uncovered"].IntPart() != all.Uncovered || judged["same"].IntPart() != all.Turns-all.Covered-all.Uncovered {
		t.Errorf("judged %v; the accounts cover %d of %d, not %d", judged, all.Covered, all.Turns, all.Uncovered)
	}
	turns, tokens, cost := series(t, text, "warmroute_misses_total", "model", "vendor", "cause"),
		series(t, text, "warmroute_missed_tokens_total", "model", "vendor", "cause"), series(t, text, "warmroute_missed_cost_usd_total", "model", "vendor", "cause")
	unpriced := series(t, text, "warmroute_misses_unpriced_total", "model", "vendor")
	seen, unknown := 0, int64(0)
	for _, route := range accounts.Routes {
		var account cachesim.Account
		if err := account.UnmarshalBinary(route.Account); err != nil {
			t.Fatal(err)
		}
		vendor, unpricedHere := route.Vendor, int64(0)
		if vendor == "" {
			vendor = "none"
		}
		for cause := cachesim.NoMiss + 1; cause < cachesim.Causes; cause++ {
			want, at := account.Tally.Missed[cause], route.Model+"|"+vendor+"|"+cause.String()
			if _, there := cost[at]; !there || turns[at].IntPart() != want.Turns || tokens[at].IntPart() != want.Tokens || !near(cost[at], want.Loss) {
				t.Errorf("%s: %s turns, %s tokens, %s lost; the accounts say %+v", at, turns[at], tokens[at], cost[at], want)
			}
			if want.Turns > 0 {
				seen++
			}
			unpricedHere += want.Unknown
		}
		if unpriced[route.Model+"|"+vendor].IntPart() != unpricedHere {
			t.Errorf("%s at %s: %s misses of unknown cost, want %d", route.Model, vendor, unpriced[route.Model+"|"+vendor], unpricedHere)
		}
		unknown += unpricedHere
	}
	if seen < 10 || unknown == 0 || all.Uncovered == 0 || all.Saving.IsZero() {
		t.Errorf("these turns prove little: %d kinds of misses, %d of unknown cost, %d turns uncovered, %s saved", seen, unknown, all.Uncovered, all.Saving)
	}
	t.Logf("%d turns, %d covered, %d kinds of misses, %s saved by affinity, %s by caches", all.Turns, all.Covered, seen, all.Saving, books.Total.Saving)
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// planned is a turn of the shop that names its plan, so that it can be judged.
func planned(c *catalog.Catalog) engine.Turn {
	turn := sold(c, 0)
	for _, route := range c.Models[0].Routes {
		turn.Plan.Candidates = append(turn.Plan.Candidates, engine.Candidate{Route: route, Card: route.Price[0].Card})
	}
	turn.Plan.Models = []engine.ModelPlan{{Model: c.Models[0], To: len(turn.Plan.Candidates)}}
	return turn
}

func TestMetricsHaveTheZeroBeforeTheFirstMiss(t *testing.T) {
	m, c := shopMetrics(t)
	ledger := &inmem.Ledger{Auditor: cachesim.Auditor{}, Settled: m.Settled}
	ledger.Record(planned(c))
	m.Record(planned(c))
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_misses_total{cause="vendor_switched",model="m",vendor="pier"} 0`,
		`warmroute_missed_cost_usd_total{cause="pin_expired",model="m",vendor="pier"} 0`,
		`warmroute_misses_unpriced_total{model="m",vendor="pier"} 0`,
		`warmroute_judged_turns_total{coverage="uncovered",model="m"} 0`,
		`warmroute_affinity_outcomes_total{model="m",outcome="skipped_not_in_plan",source="explicit"} 0`,
		`warmroute_counterfactual_cost_usd_total{model="m",world="no_cache"} 0.01295`,
		`warmroute_covered_cost_usd_total{model="m",world="no_cache"} 0.003734`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func TestMetricsOfACatalogInAnotherCurrency(t *testing.T) {
	c := *shop(t)
	m := routes.NewMetrics(routes.MetricsOptions{Catalog: func() *catalog.Catalog { return &c }})
	ledger := &inmem.Ledger{Auditor: cachesim.Auditor{}, Settled: m.Settled}
	ledger.Record(planned(&c))
	c.Currency = "EUR" // as after a reload
	later := planned(&c)
	later.ID = "u"
	ledger.Record(later)
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_covered_cost_usd_total{model="m",world="no_cache"} 0.003734`,
		`warmroute_covered_cost_eur_total{model="m",world="no_cache"} 0.003734`,
		`warmroute_judged_turns_total{coverage="covered",model="m"} 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// One iteration is one settled turn of one attempt.
func BenchmarkMetricsSettled(b *testing.B) {
	m, c := shopMetrics(b)
	turn := planned(c)
	booked := engine.Book(turn)
	booked.Audit = cachesim.Auditor{}.Audit(&turn, nil).Verdict
	books := []engine.Booked{booked}
	m.Settled(books)
	if text := scrape(b, m); !strings.Contains(text, `warmroute_judged_turns_total{coverage="covered",model="m"} 1`) {
		b.Fatal("the turn was not counted")
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Settled(books)
	}
}
