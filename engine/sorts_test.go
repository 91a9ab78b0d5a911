package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// paces are speeds by vendor.
type paces map[string]Speed

func (p paces) HitRate(string, string) HitRate { return HitRate{} }

func (p paces) Speed(_, vendor string) Speed { return p[vendor] }

// five is a catalog of a model at five vendors, with policies of the text.
func five(t testing.TB, policies string) *catalog.Catalog {
	t.Helper()
	text := "version: 1\nvendors:\n"
	for _, v := range []string{"a", "b", "c", "d", "e"} {
		text += fmt.Sprintf("  %s: {api: [chat], base_url: \"https://%s.example/v1\"}\n", v, v)
	}
	text += "models:\n"
	for _, m := range []string{"m", "n"} {
		text += "  " + m + ":\n    routes:\n"
		for _, v := range []string{"a", "b", "c", "d", "e"} {
			text += fmt.Sprintf("      - {vendor: %s, model: m, price: {input: 1, output: 1}}\n", v)
		}
	}
	return parse(t, text+policies)
}

// plannedOf are the vendors of a plan's first model in their order.
func plannedOf(p Plan) string {
	var names []string
	for _, c := range p.Candidates[:p.Models[0].To] {
		names = append(names, c.Route.Vendor.Name)
	}
	return strings.Join(names, " ")
}

func TestSortsBySpeed(t *testing.T) {
	at := func(first time.Duration, rate int64) Speed {
		return Speed{Firsts: LeastAnswers, FirstByte: first, Rates: LeastAnswers, Rate: rate}
	}
	known := paces{"b": at(300*time.Millisecond, 80_000), "c": at(300*time.Millisecond, 80_001), "d": at(200*time.Millisecond, 10),
		"e": {Firsts: LeastAnswers - 1, FirstByte: 1, Rates: LeastAnswers - 1, Rate: math.MaxInt64}}
	c := five(t, "policies:\n  quick: {models: [m], sort: latency}\n  broad: {models: [m], sort: throughput}\n")
	for _, x := range []struct {
		name, target string
		sort         catalog.Sort
		order        []string
		learned      Learner
		want         string
	}{
		{"latency: equal ones by catalog, few answers and none last", "m", catalog.ByLatency, nil, known, "d b c a e"},
		{"throughput", "m", catalog.ByThroughput, nil, known, "c b d a e"},
		{"a policy's", "quick", "", nil, known, "d b c a e"},
		{"a policy's throughput", "broad", "", nil, known, "c b d a e"},
		{"the request's before the policy's", "quick", catalog.ByThroughput, nil, known, "c b d a e"},
		{"behind an order", "m", catalog.ByLatency, []string{"e", "c"}, known, "e c d b a"},
		{"the request's order without the policy's sort", "quick", "", []string{"e"}, known, "e a b c d"},
		{"nothing is known", "m", catalog.ByLatency, nil, nil, "a b c d e"},
	} {
		target, _ := c.Resolve(x.target)
		p, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Sort: x.sort, Order: x.order}, Targets: []catalog.Target{target}, Learned: x.learned})
		if err != nil || plannedOf(p) != x.want {
			t.Errorf("%s: %s, %v; want %s", x.name, plannedOf(p), err, x.want)
		}
		if paced := p.Models[0].Paced; (x.sort != "" || x.order == nil) != (len(paced) == 5) {
			t.Errorf("%s: %d figures are told", x.name, len(paced))
		} else if len(paced) > 0 && (paced[0].Vendor != x.want[:1] || x.learned != nil && paced[0].Speed != known[x.want[:1]]) {
			t.Errorf("%s: the first figure is %+v", x.name, paced[0])
		}
	}
}

// The slow twin of a sort by speed: a stable sort of all, the unknown taken for the worst.
func TestASortBySpeedIsThatOfItsFigures(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	target, _ := five(t, "").Resolve("m")
	for range 500 {
		known := paces{}
		for _, v := range []string{"a", "b", "c", "d", "e"} {
			known[v] = Speed{Firsts: r.Int64N(2 * LeastAnswers), FirstByte: time.Duration(r.IntN(4)), Rates: r.Int64N(2 * LeastAnswers), Rate: r.Int64N(4)}
		}
		for _, sort := range []catalog.Sort{catalog.ByLatency, catalog.ByThroughput} {
			figure := func(v string) int64 {
				switch s := known[v]; {
				case sort == catalog.ByLatency && s.KnowsFirstByte():
					return int64(s.FirstByte)
				case sort == catalog.ByThroughput && s.KnowsRate():
					return -s.Rate
				}
				return math.MaxInt64
			}
			want := []string{"a", "b", "c", "d", "e"}
			slices.SortStableFunc(want, func(x, y string) int { return cmp.Compare(figure(x), figure(y)) })
			p, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Sort: sort}, Targets: []catalog.Target{target}, Learned: known})
			if err != nil || plannedOf(p) != strings.Join(want, " ") {
				t.Fatalf("%s: %s, want %v of %+v", sort, plannedOf(p), want, known)
			}
		}
	}
}

const draws = 100_000

// near says whether n of draws is what a probability p gives, within five deviations.
func near(n int, of int, p float64) bool {
	return math.Abs(float64(n)-p*float64(of)) <= 5*math.Sqrt(float64(of)*p*(1-p))+1e-9
}

// Each vendor goes first in proportion to its weight, and of those that are left each
// goes next likewise; who has no weight goes last, in the order of the catalog.
func TestWeightsAreSharesOfTurns(t *testing.T) {
	c := five(t, "policies:\n  shared: {models: [m], sort: weighted, weights: {d: 5, a: 3, c: .5}}\n")
	target, _ := c.Resolve("shared")
	weights := map[string]float64{"d": 5, "a": 3, "c": .5}
	first, second := map[string]int{}, map[string]int{}
	r := rand.New(rand.NewPCG(20261130, 2))
	for i := range draws {
		spread := uint64(i) // ids that follow each other must be as good as random ones
		if i%2 == 0 {
			spread = r.Uint64()
		}
		f := PlanFacts{Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}, Spread: spread}
		p, err := BuildPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		order := plannedOf(p)
		if !strings.HasSuffix(order, " b e") {
			t.Fatalf("%s: vendors without a weight are not last in catalog order", order)
		}
		first[order[:1]]++
		second[order[:3]]++
		if i < 100 {
			if again, _ := BuildPlan(f); plannedOf(again) != order {
				t.Fatalf("turn %d is drawn as %s, then as %s", spread, order, plannedOf(again))
			}
			if w := p.Models[0].Weighed; len(w) != 5 || w[0].Vendor != order[:1] || w[0].Weight.InexactFloat64() != weights[order[:1]] || !w[4].Weight.IsZero() {
				t.Fatalf("told %+v", w)
			}
		}
	}
	for v, w := range weights {
		if p := w / 8.5; !near(first[v], draws, p) {
			t.Errorf("%s is first in %d of %d turns, want about %.0f", v, first[v], draws, p*draws)
		}
		for u, x := range weights {
			if p := w / 8.5 * x / (8.5 - w); u != v && !near(second[v+" "+u], draws, p) {
				t.Errorf("%s then %s in %d of %d turns, want about %.0f", v, u, second[v+" "+u], draws, p*draws)
			}
		}
	}
}

func TestAWeightedOrderIsTheRequestsToo(t *testing.T) {
	c := five(t, "policies:\n  shared: {models: [m], sort: weighted, weights: {d: 5}}\n")
	target, _ := c.Resolve("shared")
	p, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Sort: catalog.ByWeight, Order: []string{"c"}}, Targets: []catalog.Target{target}})
	if err != nil || plannedOf(p) != "c d a b e" {
		t.Errorf("%s, %v", plannedOf(p), err)
	}
}

// Targets by a name with one of OpenRouter's suffixes.
func TestSuffixesAreSorts(t *testing.T) {
	c := parse(t, `
version: 1
vendors: {v: {api: [chat], base_url: "https://v.example/v1"}}
models:
  a/b: {aliases: [bee], routes: [{vendor: v, model: m}]}
  a/own:floor: {routes: [{vendor: v, model: m}]}
  a/own: {routes: [{vendor: v, model: m}]}
policies:
  p: {models: [a/b, a/own], sort: latency}
`)
	for name, want := range map[string]string{
		"a/b": "a/b", "a/b:nitro": "a/b throughput", "a/b:floor": "a/b price", "bee:floor": "a/b price", "p:nitro": "a/b a/own throughput", "p": "a/b a/own",
		"a/own:floor": "a/own:floor", "a/own:nitro": "a/own throughput", "a/own:floor:nitro": "a/own:floor throughput",
		"a/b:online": "", "a/b:free": "", "a/b:": "", ":nitro": "", "a/c:nitro": "", "a/b:NITRO": "", "a/b:nitro:floor": "",
	} {
		got := ""
		if target, ok := targetNamed(c, name); ok {
			for _, m := range target.Models {
				got += " " + m.Name
			}
			got = strings.TrimSpace(got + " " + string(target.Sort))
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	targets, err := Targets(c, &Request{Target: "a/own", Models: []string{"bee:floor", "p"}})
	if err != nil || len(targets) != 3 || targets[1].Sort != catalog.ByPrice || targets[2].Policy == nil {
		t.Errorf("fallbacks: %+v, %v", targets, err)
	}
}

func TestASuffixSortsItsTargetOnly(t *testing.T) {
	c := five(t, "policies:\n  p: {models: [n], order: [e]}\n")
	known := paces{"c": {Rates: LeastAnswers, Rate: 5}}
	plan := func(r Request) string {
		r.API = catalog.Chat
		targets, err := Targets(c, &r)
		if err != nil {
			t.Fatal(err)
		}
		p, err := BuildPlan(PlanFacts{Request: &r, Targets: targets, Learned: known})
		if err != nil {
			t.Fatal(err)
		}
		return show(p)
	}
	for _, x := range []struct {
		name string
		r    Request
		want string
	}{
		{"one with, one without", Request{Target: "m:nitro", Models: []string{"p"}}, "m: c a b d e | n: e a b c d"},
		{"in place of a policy's order", Request{Target: "p:nitro"}, "n: c a b d e"},
		{"the request's sort goes before", Request{Target: "m:nitro", Sort: catalog.ByPrice}, "m: a b c d e"},
		{"behind the request's order", Request{Target: "m:nitro", Order: []string{"d"}}, "m: d c a b e"},
	} {
		if got := plan(x.r); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
}

func TestFiltersOfARequest(t *testing.T) {
	c := parse(t, `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", refuses: [top_k, stream_options, session_id], tags: [fp8]}
  b: {api: [chat], base_url: "https://b.example/v1"}
  c: {api: [chat], base_url: "https://c.example/v1", refuses: [cache_control]}
models:
  m:
    routes:
      - {vendor: a, model: m, price: {input: 1, output: 4, request: 0.005}}
      - {vendor: b, model: m, price: {input: 2, output: 3, cache_read: 0.5}, tags: [bf16]}
      - {vendor: c, model: m, price: {input: 3}}
policies:
  capped: {models: [m], max_price: {input: 2}}
  ordered: {models: [m], order: [c, b]}
`)
	rate := func(text string, unit pricing.Unit) pricing.Rate {
		r, err := pricing.ParseRate(text, unit)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	per := func(text string) pricing.Rate { return rate(text, pricing.PerMillionTokens) }
	has := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	for _, x := range []struct {
		name, target string
		r            Request
		want         string
	}{
		{"one of the tags", "m", Request{AnyTags: []string{"fp8", "int4"}}, "m: a -b(tags) -c(tags)"},
		{"any of two", "m", Request{AnyTags: []string{"bf16", "fp8"}}, "m: a b -c(tags)"},
		{"all tags and one of others", "m", Request{Tags: []string{"bf16"}, AnyTags: []string{"bf16", "fp8"}}, "m: b -a(tags) -c(tags)"},
		{"a limit that is met exactly", "m", Request{MaxPrice: MaxPrice{Input: per("2")}}, "m: a b -c(max_price)"},
		{"a limit of output, one is unknown", "m", Request{MaxPrice: MaxPrice{Output: per("3.5")}}, "m: b -a(max_price) -c(max_price)"},
		{"of reads: the input price stands in", "m", Request{MaxPrice: MaxPrice{CacheRead: per("1")}}, "m: a b -c(max_price)"},
		{"of a request: no fee is none", "m", Request{MaxPrice: MaxPrice{Request: rate("0.0049", pricing.PerToken)}}, "m: b c -a(max_price)"},
		{"of a request, met", "m", Request{MaxPrice: MaxPrice{Request: rate("0.005", pricing.PerToken)}}, "m: a b c"},
		{"of nothing at all", "m", Request{MaxPrice: MaxPrice{Input: per("0")}}, "m: -a(max_price) -b(max_price) -c(max_price)"},
		{"the policy's limit and the request's", "capped", Request{MaxPrice: MaxPrice{Input: per("1.5")}}, "m: a -b(max_price) -c(max_price)"},
		{"nothing may be lost", "m", Request{Strict: true, Has: has("top_k")}, "m: b c -a(parameters)"},
		{"what is the gateway's is not lost", "m", Request{Strict: true, Has: has("session_id", "temperature")}, "m: a b c"},
		{"markers may be lost as well", "m", Request{Strict: true, Has: has(), Markers: 1}, "m: a b -c(parameters)"},
		{"it may be lost", "m", Request{Has: has("top_k")}, "m: a b c"},
		{"nobody can tell", "m", Request{Strict: true}, "m: a b c"},
		{"no backup behind an order", "m", Request{NoBackup: true, Order: []string{"c", "a"}}, "m: c a -b(backup)"},
		{"no backup behind a policy's order", "ordered", Request{NoBackup: true}, "m: c b -a(backup)"},
		{"an order that names nobody", "m", Request{NoBackup: true, Order: []string{"x"}}, "m: -a(backup) -b(backup) -c(backup)"},
		{"no backup and no order", "m", Request{NoBackup: true}, "m: a b c"},
	} {
		x.r.API = catalog.Chat
		target, _ := c.Resolve(x.target)
		p, err := BuildPlan(PlanFacts{Request: &x.r, Targets: []catalog.Target{target}})
		if err != nil || show(p) != x.want {
			t.Errorf("%s: %s, %v; want %s", x.name, show(p), err, x.want)
		}
		if alone := x.r.NoBackup && len(x.r.Order) == 0 && x.target == "m"; p.Models[0].Alone != alone {
			t.Errorf("%s: alone is %v", x.name, !alone)
		}
	}
}

func TestWhyNoRouteIsLeft(t *testing.T) {
	c := parse(t, `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", refuses: [top_k]}
models:
  m: {routes: [{vendor: a, model: m, price: {input: 1, output: 4}}]}
`)
	limit, _ := pricing.ParseRate("0.5", pricing.PerMillionTokens)
	for _, x := range []struct {
		r    Request
		says string
	}{
		{Request{AnyTags: []string{"fp8", "int4"}}, "a carries none of the tags that the request requires one of: fp8, int4"},
		{Request{MaxPrice: MaxPrice{Input: limit}}, "a is above the price limit (max_price), or its price is not known"},
		{Request{Strict: true, Has: func(name string) bool { return name == "top_k" }}, "a is never sent top_k, which the request has, and the request requires that nothing is lost"},
		{Request{NoBackup: true, Order: []string{"b"}}, "a is not in the order, and the request allows no other vendors"},
	} {
		g := Gateway{Catalog: func() *catalog.Catalog { return c }}
		x.r.API, x.r.Target = catalog.Chat, "m"
		_, err := g.Decide(t.Context(), x.r)
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("says %v, want %s in it", err, x.says)
		}
	}
}

// Without backups a model's other vendors are not asked; another account of the first
// vendor is, and so is a model that was named to fall back to.
func TestNextWithoutBackups(t *testing.T) {
	c := parse(t, fleet)
	r := Request{API: catalog.Chat, NoBackup: true, Only: []string{"bee", "ant", "cat"}}
	var targets []catalog.Target
	for _, name := range []string{"m", "n"} {
		target, _ := c.Resolve(name)
		targets = append(targets, target)
	}
	p, err := BuildPlan(PlanFacts{Request: &r, Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	// A pin that was promoted is the first of its model.
	var order []int
	for _, want := range []string{"bee", "ant", "cat"} {
		for i := range p.Models[0].To {
			if p.Candidates[i].Route.Vendor.Name == want {
				order = append(order, i)
			}
		}
	}
	for i := p.Models[1].From; i < p.Models[1].To; i++ {
		order = append(order, i)
	}
	d := Decision{Order: order}
	var asked []string
	var tried []Attempt
	for {
		i, ok := Next(p, d, tried)
		if !ok {
			break
		}
		c := p.Candidates[i]
		asked = append(asked, c.Route.Model.Name+" "+c.Route.Vendor.Name)
		tried = append(tried, Attempt{Candidate: c, Failure: FailureServer})
	}
	if got := strings.Join(asked, ", "); got != "m bee, m bee, m bee, n ant" {
		t.Errorf("asked %s", got)
	}
}
