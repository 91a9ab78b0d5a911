package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

func example(t testing.TB, name string) (file string, text []byte) {
	t.Helper()
	file = filepath.Join("..", "testdata", "catalogs", name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, text
}

func parse(t testing.TB, text string) *Catalog {
	t.Helper()
	c, err := Parse("catalog.yaml", []byte(text))
	if err != nil {
		t.Fatalf("a good catalog is refused:\n%v", err)
	}
	return c
}

// price is the canonical text of a rate, empty if it is not known.
func price(r pricing.Rate) string {
	if !r.Known() {
		return ""
	}
	return r.String()
}

func prices(c pricing.Card) string {
	return fmt.Sprintf("%s %s %s %s %s", price(c.Input), price(c.Output), price(c.CacheRead), price(c.CacheWrite5m), price(c.CacheWrite1h))
}

func TestMinimalCatalog(t *testing.T) {
	file, text := example(t, "minimal.yaml")
	if lines := strings.Count(string(text), "\n") - 1; lines > 10 { // the first is for editors
		t.Errorf("the minimal catalog has %d lines", lines)
	}
	c, err := Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	target, ok := c.Resolve("heron")
	if !ok || target.Scope() != "" || target.Models[0].Name != "open/heron-70b" || len(target.Models[0].Routes) != 2 {
		t.Fatalf("heron resolves to %+v, %t", target, ok)
	}
	r := target.Models[0].Routes[1]
	if r.Vendor.Name != "second" || r.Index != 1 || r.UpstreamModel != "heron-70b-fp8" || prices(r.Price[0].Card) != "0.55 2.4 0.11  " {
		t.Errorf("second route: %+v", r)
	}
	if r.Cache != (CacheRules{Family: Implicit, TTL: 5 * time.Minute}) || r.Cache.Minimum() != UndocumentedMinPrefix {
		t.Errorf("its cache rules: %+v", r.Cache)
	}
	if c.Currency != "USD" || c.Path != file || len(c.Digest) != 64 || len(c.Warnings) != 0 {
		t.Errorf("currency %q, path %q, digest %q, warnings %v", c.Currency, c.Path, c.Digest, c.Warnings)
	}
	if _, ok := r.Vendor.Credentials[0].Secret(); ok {
		t.Error("Parse has read the environment")
	}
}

func TestFullCatalog(t *testing.T) {
	file, text := example(t, "full.yaml")
	c, err := Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	for i, want := range []struct {
		name string
		api  []API
		base string
		auth Auth
		ttl  time.Duration
		min  int64
		fam  Family
	}{
		{"anthropic", []API{Messages}, "https://api.anthropic.com/v1", Auth{"x-api-key"}, 5 * time.Minute, 1024, Explicit},
		{"azure-eu", []API{Chat, Responses}, "https://eu.openai.example/openai/v1", Auth{}, 10 * time.Minute, 0, Implicit},
		{"deepseek", []API{Chat, Messages}, "https://api.deepseek.example", Auth{}, time.Hour, 0, Implicit},
		{"own-router", []API{Chat}, "https://router.example/api/v1", Auth{}, 5 * time.Minute, 0, Implicit},
		{"rack", []API{Chat}, "http://10.0.0.7:8000/v1", Auth{}, 90 * time.Second, 0, Implicit},
	} {
		v := c.Vendors[i]
		if v.Name != want.name || v.Index != i || !reflect.DeepEqual(v.API, want.api) || v.BaseURL.String() != want.base || v.Auth != want.auth ||
			v.Cache != (CacheRules{want.fam, want.ttl, want.min, v.Cache.Stated}) {
			t.Errorf("vendor %d: %+v %s", i, v, v.BaseURL)
		}
		if found, ok := c.Vendor(want.name); !ok || found != v {
			t.Errorf("vendor %s is not found", want.name)
		}
	}
	a, azure, deepseek, router, rack := c.Vendors[0], c.Vendors[1], c.Vendors[2], c.Vendors[3], c.Vendors[4]
	if !reflect.DeepEqual(a.Credentials, []Credential{{ID: "main", Env: "ANTHROPIC_API_KEY"}, {ID: "reserve", File: "keys/anthropic-reserve"}}) ||
		!reflect.DeepEqual(a.Headers, []Header{{"anthropic-version", "2023-06-01"}}) ||
		!reflect.DeepEqual(a.Hints, []Hint{{Header: "x-session-affinity"}}) || a.Usage != "anthropic" || !reflect.DeepEqual(a.Tags, []string{"zdr"}) {
		t.Errorf("anthropic: %+v", a)
	}
	if !reflect.DeepEqual(azure.Hints, []Hint{{Member: "prompt_cache_key", Raw: true, API: []API{Chat}}}) || !azure.Speaks(Responses) || azure.Speaks(Messages) {
		t.Errorf("azure-eu: %+v", azure)
	}
	if !reflect.DeepEqual(deepseek.Refuses, []string{"prompt_cache_key"}) || !reflect.DeepEqual(router.Accepts, []string{"provider", "models"}) || !rack.AllowPrivate {
		t.Errorf("deepseek %+v, own-router %+v, rack %+v", deepseek, router, rack)
	}

	heron := c.Models[0]
	if heron.Context != 1_000_000 || !reflect.DeepEqual(heron.Aliases, []string{"heron-5", "heron"}) || !reflect.DeepEqual(heron.Tags, []string{"vision"}) || !heron.CacheCapable() {
		t.Errorf("heron: %+v", heron)
	}
	first := heron.Routes[0]
	if first.Model != heron || first.Cache != (CacheRules{Explicit, 5 * time.Minute, 2048, true}) || first.Price[0].AsOf != "2026-11-20" || first.Price[0].Source != "https://prices.example/heron-5" {
		t.Errorf("first route: %+v", first)
	}
	noon := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC) // a Wednesday
	wren := c.Models[2].Routes[0]
	for _, p := range []struct {
		route  *Route
		tokens int64
		now    time.Time
		tier   string
		want   string
	}{
		{first, 200_000, noon, "", "3 15 0.3 3.75 6"},
		{first, 200_001, noon, "", "6 22.5 0.6 7.5 12"},
		{first, 1000, noon, "priority", "6 30 0.6  "},
		{first, 200_001, noon, "priority", "12 45 1.2  "},
		{first, 1000, noon, "batch", "    "},
		{wren, 1000, noon, "", "0.28 0.42 0.028  "},
		{wren, 1000, noon.Add(5 * time.Hour), "", "0.14 0.21 0.014  "},               // Thursday 01:00 in Shanghai
		{wren, 1000, noon.AddDate(0, 0, 3).Add(4 * time.Hour), "", "0.1 0.2 0.01  "}, // Sunday 00:00 there
		{wren, 64_001, noon.AddDate(0, 0, 3).Add(4 * time.Hour), "", "0.2 0.4 0.02  "},
		{c.Models[1].Routes[0], 1000, noon, "flex", "1.25 5 0.125  "},
	} {
		if got := prices(p.route.Price.At(pricing.Terms{Prompt: p.tokens, At: p.now, Tier: p.tier})); got != p.want {
			t.Errorf("%s at %d tokens, %s, tier %q: %q, want %q", p.route.UpstreamModel, p.tokens, p.now, p.tier, got, p.want)
		}
	}
	if r := c.Models[1].Routes; r[0].Cache.TTL != time.Hour || !strings.Contains(r[1].Disabled, "October") {
		t.Errorf("tern: %+v %+v", r[0], r[1])
	}

	target, ok := c.Resolve("support-bot")
	p := target.Policy
	if !ok || target.Scope() != "support-bot" || len(target.Models) != 3 || target.Models[2].Name != "birds/wren-3" {
		t.Fatalf("support-bot: %+v", target)
	}
	if !reflect.DeepEqual(p.Order, []string{"own-router", "anthropic"}) || len(p.Only) != 4 || price(p.MaxInput) != "5" || price(p.MaxOut) != "20" || price(p.MaxRead) != "0.5" ||
		p.Affinity != (Affinity{Gate: GateCacheRead, OrderFirst: true, Precedence: true}) {
		t.Errorf("support-bot: %+v", p)
	}
	if p := c.Policies[1]; p.Index != 1 || p.Sort != ByPrice || !reflect.DeepEqual(p.Ignore, []string{"deepseek"}) || !reflect.DeepEqual(p.Tags, []string{"zdr"}) || p.Affinity != (Affinity{Gate: GateOwnPrice, Precedence: true, CacheTTL: CacheTTL1h}) {
		t.Errorf("cheapest: %+v", p)
	}
	if p := c.Policies[2]; !p.Affinity.Off {
		t.Errorf("no-affinity: %+v", p)
	}
	for _, name := range []string{"", "HERON", "birds/heron", "heron-5 "} {
		if _, ok := c.Resolve(name); ok {
			t.Errorf("%q resolves", name)
		}
	}
}

// frame is a catalog with two vendors and room for models.
const frame = `version: 1
vendors:
  alpha: {api: [chat], base_url: https://alpha.example/v1}
  beta: {api: [chat], base_url: https://beta.example/v1}
models:
`

func TestNamesAreTheirText(t *testing.T) {
	c := parse(t, frame+`  6.20: {aliases: [0x2B, no], routes: [{vendor: alpha, model: 6.20, price: {input: 1, output: 1}}]}
  6.2: {routes: [{vendor: alpha, model: "6.2", price: {input: 9, output: 9}}]}
  off: {routes: [{vendor: alpha, model: off, price: {input: 2, output: 2}}]}
  2027-03-09: {routes: [{vendor: alpha, model: 2027-03-09, price: {input: 3, output: 3}}]}
  0x1F: {routes: [{vendor: alpha, model: 0x1F, price: {input: 4, output: 4}}]}
  null: {routes: [{vendor: alpha, model: "null", price: {input: 5, output: 5}}]}
policies:
  1_000: {models: [null, 6.20, 0x1F]}
`)
	for name, want := range map[string]string{"6.20": "1", "0x2B": "1", "no": "1", "6.2": "9", "off": "2", "2027-03-09": "3", "0x1F": "4", "null": "5"} {
		target, ok := c.Resolve(name)
		if !ok || price(target.Models[0].Routes[0].Price[0].Card.Input) != want {
			t.Errorf("%s resolves to %+v, %t; want input %s", name, target, ok, want)
		}
	}
	if id := c.Models[0].Routes[0].UpstreamModel; id != "6.20" {
		t.Errorf("the vendor is asked for %q", id)
	}
	if target, ok := c.Resolve("1_000"); !ok || len(target.Models) != 3 || target.Models[0].Name != "null" {
		t.Errorf("1_000: %+v, %t", target, ok)
	}
	if len(c.Models) != 6 {
		t.Errorf("%d models of 6 lines", len(c.Models))
	}
}

func TestUnits(t *testing.T) {
	for unit, text := range map[string]string{"per_million": "2.50", "per_thousand": "0.0025", "per_token": "2.5e-06"} {
		c := parse(t, "unit: "+unit+"\n"+frame+"  m: {routes: [{vendor: alpha, model: m, price: {input: "+text+"}}]}\n")
		if got := price(c.Models[0].Routes[0].Price[0].Card.Input); got != "2.5" || len(c.Warnings) != 0 {
			t.Errorf("%s: %s per million, warnings %v", unit, got, c.Warnings)
		}
	}
	for unit, text := range map[string]string{"per_million": "0.0000025", "per_token": "2.50"} {
		c := parse(t, "unit: "+unit+"\n"+frame+"  m: {routes: [{vendor: alpha, model: m, price: {input: "+text+"}}]}\n")
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Message, "check the unit") {
			t.Errorf("a slip of the unit, %s %s: warnings %v", unit, text, c.Warnings)
		}
	}
}

func TestMissingIsUnknownAndZeroIsFree(t *testing.T) {
	c := parse(t, frame+`  m:
    routes:
      - {vendor: alpha, model: m, price: {input: "0.90"}}
      - {vendor: beta, model: m, price: {input: 0.50, cache_read: 0}}
`)
	plain, free := c.Models[0].Routes[0].Price[0].Card, c.Models[0].Routes[1].Price[0].Card
	if plain.CacheRead.Known() || price(plain.Input) != "0.9" || !free.CacheRead.Known() || price(free.CacheRead) != "0" {
		t.Errorf("without a price %v, with zero %v", plain, free)
	}
}

func TestDefaultLifetimes(t *testing.T) {
	for vendor, want := range map[string]time.Duration{
		"openai": 10 * time.Minute, "openai-eu": 10 * time.Minute, "azure": 10 * time.Minute, "azure-1": 10 * time.Minute,
		"deepseek": time.Hour, "anthropic": 5 * time.Minute, "openairouter": 5 * time.Minute, "my-openai": 5 * time.Minute,
	} {
		c := parse(t, "version: 1\nvendors:\n  "+vendor+": {api: [chat], base_url: https://a.example}\nmodels: {m: {routes: [{vendor: "+vendor+", model: m}]}}\n")
		if got := c.Models[0].Routes[0].Cache.TTL; got != want {
			t.Errorf("%s: %s, want %s", vendor, got, want)
		}
	}
}

func TestFamilyDefaults(t *testing.T) {
	for api, want := range map[string]Family{"[messages]": Explicit, "[chat]": Implicit, "[chat, messages]": Implicit} {
		c := parse(t, "version: 1\nvendors: {v: {api: "+api+", base_url: https://a.example}}\nmodels: {m: {routes: [{vendor: v, model: m}, ]}}\n")
		if got := c.Models[0].Routes[0].Cache.Family; got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
	c := parse(t, "version: 1\nvendors: {v: {api: [chat], base_url: https://a.example, cache: {family: none, ttl: 20m}}}\nmodels: {m: {routes: [{vendor: v, model: m, cache: {min_prefix: 4096}}]}}\n")
	if got := c.Models[0].Routes[0].Cache; got != (CacheRules{None, 20 * time.Minute, 4096, true}) || c.Models[0].CacheCapable() {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"too large":         {"version: 1\n#" + strings.Repeat("x", MaxSize), "f:2:4194294: the file goes on past 4 MiB, the most that is read; remove what nobody uses, or give each gateway a catalog of its own"},
		"empty":             {"", "f:1:1: the catalog is empty"},
		"only a comment":    {"# nothing\n", "f:1:1: the catalog is empty"},
		"null":              {"~\n", "f:1:1: the catalog is empty"},
		"a list":            {"- a\n", "f:1:1: the catalog must be a mapping"},
		"a word":            {"hello\n", "f:1:1: the catalog must be a mapping"},
		"not UTF-8":         {"version: 1\nab\xff: 1\n", "f:2:3: a byte that is not UTF-8"},
		"a control":         {"version: 1\nvendors: \x00\n", "f:2:10: a control character"},
		"a tab":             {"version: 1\nvendors:\n\ta: 1\n", "f:3:1: this is not YAML: found character that cannot start any token; indent with spaces, not tabs"},
		"half a line":       {frame + "  m: {routes: [{vendor: alpha, mod", "f:6:3: this is not YAML: did not find expected ',' or '}'"},
		"wrong indentation": {"version: 1\nvendors:\n   a: {}\n  b: {}\nmodels: {}\n", "f:4:3: this is not YAML"},
		"a second document": {"version: 1\n---\nversion: 1\n", "f:2:1: a second document begins here"},
		"deep": {"version: 1\nvendors: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n",
			"is nested more than 32 levels deep"},
		"very deep": {"version: 1\nvendors: " + strings.Repeat("[", 20000), "f:2:109: mappings and lists are nested more than 100 levels deep"},
	} {
		_, err := Parse("f", []byte(c.text))
		var all Problems
		if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v; want %s", name, err, c.want)
		}
	}
}

// A mapping decoded by yaml.v3 itself takes 12 s at 40,000 keys; the bound leaves
// room for a busy machine.
func TestLargeCatalogsAreReadInTime(t *testing.T) {
	var wide, many, models strings.Builder
	wide.WriteString(frame + "  m: {routes: [{vendor: alpha, model: m}]}\n")
	for i := range manyKeys {
		fmt.Fprintf(&wide, "key%d: 1\n", i)
		fmt.Fprintf(&many, "    k%d: 1\n", i)
	}
	models.WriteString(frame)
	for i := range manyKeys / 4 {
		fmt.Fprintf(&models, "  m%d: {routes: [{vendor: alpha, model: m, price: {input: 1, output: 2, cache_read: 0.1}}]}\n", i)
	}
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"unknown keys":    {wide.String(), false},
		"keys in a model": {frame + "  m:\n" + many.String(), false},
		"models":          {models.String(), true},
	} {
		took := time.Hour
		for range 3 { // the best of three: others may be using the machine
			began := time.Now()
			_, err := Parse("f", []byte(c.text))
			took = min(took, time.Since(began))
			if (err == nil) != c.good {
				t.Errorf("%s: %.200v", name, err)
			}
			if took < time.Second {
				break
			}
		}
		t.Logf("%s: %d bytes in %s", name, len(c.text), took)
		if limit := 3 * time.Second; took > limit {
			t.Errorf("%s took %s, more than %s", name, took, limit)
		}
	}
}
