package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// The collected cases that lie beside the project, mapped onto our YAML. Each that
// concerns prices or the catalog is judged as the page beside the cases says; tests
// with inputs of our own stand in the other files of this package.

const sharedCases = "../../shared/bug-cases"

// sharedJudges are the cases that are judged here, by file.
var sharedJudges = map[string]func(t *testing.T, text []byte){
	"case-00-reference-prices.yaml":    sharedReference,
	"case-09-cache-price-missing.yaml": sharedCachePriceMissing,
	"case-29-dated-names.yaml":         sharedDatedNames,
	"case-51-units.yaml":               sharedUnits,
	"case-52-number-forms.yaml":        sharedNumberForms,
	"case-54-duplicate-key.yaml":       sharedDuplicateKey,
	"case-54-duplicates.yaml":          sharedDuplicates,
	"case-55-reload.yaml":              sharedReload,
	"case-56-price-change.yaml":        sharedPriceChange,
	"case-57-small-money.yaml":         sharedSmallMoney,
	"case-61-two-attempts.yaml":        sharedTwoAttempts,
	"case-72-version-names.yaml":       sharedVersionNames,
}

// sharedElsewhere are the cases in YAML that concern no price and no catalog:
// packages engine, routes, web and the stores judge them.
var sharedElsewhere = []string{
	"case-15-disconnect.yaml", "case-18-pinned-vendor-down.yaml", "case-20-two-tenants-one-id.yaml", "case-25-savings-two-baselines.yaml",
	"case-26-usage-unknown.yaml", "case-32-pin-idle-time.yaml", "case-58-hit-rate.yaml", "case-59-day-buckets.yaml", "case-64-long-ids.yaml", "case-74-two-instances.yaml",
}

func TestSharedCasesOfPricesAndCatalogs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedCases, "case-*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the collected cases are not here; the other tests of this package have the same figures")
	}
	judged := 0
	for _, file := range files {
		name := filepath.Base(file)
		judge := sharedJudges[name]
		if judge == nil {
			if !slices.Contains(sharedElsewhere, name) {
				t.Errorf("%s is judged nowhere", name)
			}
			continue
		}
		judged++
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, text)
		})
	}
	if judged != len(sharedJudges) {
		t.Errorf("%d of %d cases were there", judged, len(sharedJudges))
	}
}

// sharedNode is a document as it is written: null, 010 and 4.10 stay what they are.
func sharedNode(t *testing.T, text []byte) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

// under is the value of a key; nil if it is not there.
func under(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// raw is a scalar as it is written, quoted where it was.
func raw(n *yaml.Node) string {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return "'" + n.Value + "'"
	}
	return n.Value
}

// sharedPrices are the prices of a mapping, in our words.
func sharedPrices(n *yaml.Node) string {
	var keys []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		switch key {
		case "input", "output", "cache_read", "cache_write", "cache_write_1h":
			keys = append(keys, key+": "+raw(value))
		case "cache_write_5m":
			keys = append(keys, "cache_write: "+raw(value))
		case "above_input_tokens":
			keys = append(keys, "above: "+raw(value))
		case "long_context":
			keys = append(keys, "tiers: ["+sharedPrices(value)+"]")
		case "service_tiers":
			var tiers []string
			for k := 0; k+1 < len(value.Content); k += 2 {
				tiers = append(tiers, value.Content[k].Value+": "+sharedPrices(value.Content[k+1]))
			}
			keys = append(keys, "service_tiers: {"+strings.Join(tiers, ", ")+"}")
		}
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// sharedModels is a catalog of a list of models, one line each.
func sharedModels(list *yaml.Node, head string) string {
	text := head + frame
	for _, m := range list.Content {
		text += "  " + raw(under(m, "id")) + ": {"
		if aliases := under(m, "aliases"); aliases != nil {
			var all []string
			for _, a := range aliases.Content {
				all = append(all, raw(a))
			}
			text += "aliases: [" + strings.Join(all, ", ") + "], "
		}
		text += "routes: [{vendor: alpha, model: up, price: " + sharedPrices(m) + "}]}\n"
	}
	return text
}

// sharedCost is what usage costs on a model.
func sharedCost(t *testing.T, c *Catalog, model, tier string, u pricing.Usage) (total string, marked bool) {
	t.Helper()
	target, ok := c.Resolve(model)
	if !ok {
		t.Fatalf("%s is not in the catalog", model)
	}
	cost := target.Models[0].Routes[0].Price.At(pricing.Terms{Prompt: u.Prompt(), Tier: tier}).Cost(u)
	return usd(cost), cost.NoCachePrice
}

// sharedReferenceCatalog is the catalog of the reference prices.
func sharedReferenceCatalog(t *testing.T) *Catalog {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedCases, "case-00-reference-prices.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, sharedModels(under(sharedNode(t, text), "models"), ""))
}

func sharedReference(t *testing.T, text []byte) {
	c := parse(t, sharedModels(under(sharedNode(t, text), "models"), ""))
	if len(c.Warnings) != 0 || len(c.Models) != 9 {
		t.Errorf("%d models, warnings %v", len(c.Models), c.Warnings)
	}
	for _, x := range []struct {
		model, tier string
		usage       pricing.Usage
		want        string
		marked      bool
	}{
		{"ref-sonnet", "", pricing.Usage{Input: 12, CacheRead: 18400, Output: 205}, "0.008631", false},                                      // 01
		{"ref-gpt", "", pricing.Usage{Input: 54, CacheRead: 256, Output: 18}, "0.000379", false},                                            // 04
		{"ref-gpt", "", pricing.Usage{Input: 204, CacheRead: 4096, Output: 220}, "0.003734", false},                                         // 05
		{"ref-sonnet", "", pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, "0.042849", false}, // 06
		{"ref-plain", "", pricing.Usage{Input: 2000, CacheRead: 8000, Output: 500}, "0.00945", true},                                        // 09
		{"ref-freecache", "", pricing.Usage{Input: 2000, CacheRead: 8000, Output: 500}, "0.00175", false},                                   // 09
		{"ref-gpt-w", "", pricing.Usage{Input: 4, CacheWrite5m: 7200, Output: 64}, "0.04694", false},                                        // 22
		{"ref-gpt-w", "", pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, "0.008244", false},                    // 22
		{"ref-gpt", "", pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, "0.003302", true},                       // 22
		{"ref-gpt", "default", pricing.Usage{Input: 1000, Output: 1000}, "0.0125", false},                                                   // 41
		{"ref-gpt", "flex", pricing.Usage{Input: 1000, Output: 1000}, "0.00625", false},                                                     // 41
		{"ref-gpt", "priority", pricing.Usage{Input: 1000, Output: 1000}, "0.025", false},                                                   // 41
		{"ref-sonnet", "", pricing.Usage{Input: 200_000}, "0.6", false},
		{"ref-sonnet", "", pricing.Usage{Input: 1, CacheRead: 100_000, CacheWrite1h: 100_000}, "1.260006", false},
		{"ref-gpt-w", "", pricing.Usage{Input: 272_000}, "1.36", false},
		{"ref-gpt-w", "", pricing.Usage{Input: 272_001, Output: 1000}, "2.76501", false},
		{"ref-gemini", "", pricing.Usage{Input: 200_001, Output: 1000}, "0.5150025", false},
	} {
		if got, marked := sharedCost(t, c, x.model, x.tier, x.usage); got != x.want || marked != x.marked {
			t.Errorf("%s, tier %q, %+v: %s (no cache price %t), want %s (%t)", x.model, x.tier, x.usage, got, marked, x.want, x.marked)
		}
	}
}

func sharedCachePriceMissing(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	var u struct {
		Prompt int64 `yaml:"prompt_tokens"`
		Cached int64 `yaml:"cached_tokens"`
		Output int64 `yaml:"completion_tokens"`
	}
	if err := under(root, "usage").Decode(&u); err != nil {
		t.Fatal(err)
	}
	usage := pricing.Usage{Input: u.Prompt - u.Cached, CacheRead: u.Cached, Output: u.Output}
	list := under(root, "catalog")
	whole := sharedModels(list, "")
	if _, err := Parse("c.yaml", []byte(whole)); err == nil || !strings.Contains(err.Error(), "c.yaml:8:") || !strings.Contains(err.Error(), "cache_read is empty") {
		t.Errorf("null is no mistake: %v", err)
	}
	c := parse(t, strings.ReplaceAll(whole, ", cache_read: null", ""))
	for model, want := range map[string]string{"ref-plain": "0.00945 marked", "ref-freecache": "0.00175", "ref-nullcache": "0.00575 marked"} {
		got, marked := sharedCost(t, c, model, "", usage)
		if marked {
			got += " marked"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

// Which name finds which entry is judged by package engine; here the entries have
// the prices that the right figures need.
func sharedDatedNames(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	c := parse(t, sharedModels(under(root, "catalog"), ""))
	for model, want := range map[string]string{"ref-gpt": "0.0075", "ref-gpt-2026-02-01": "0.012", "claude-ref-4-5": "0.0105"} {
		if got, _ := sharedCost(t, c, model, "", pricing.Usage{Input: 1000, Output: 500}); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

func sharedUnits(t *testing.T, text []byte) {
	for _, m := range sharedNode(t, text).Content {
		id, head := under(m, "id").Value, ""
		if unit := under(m, "unit"); unit != nil {
			head = "unit: " + unit.Value + "\n"
		}
		c := parse(t, sharedModels(&yaml.Node{Content: []*yaml.Node{m}}, head))
		input := price(c.Models[0].Routes[0].Price[0].Card.Input)
		slip := strings.HasPrefix(id, "u-slip")
		if !slip && input != "2.5" {
			t.Errorf("%s: %s per million", id, input)
		}
		if warned := len(c.Warnings) == 1 && strings.Contains(c.Warnings[0].Message, "check the unit"); warned != slip {
			t.Errorf("%s, %s per million: warnings %v", id, input, c.Warnings)
		}
	}
}

func sharedNumberForms(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	for _, part := range []struct{ key, head string }{{"per_token", "unit: per_token\n"}, {"per_million", ""}} {
		for _, m := range under(root, part.key).Content {
			id := under(m, "id").Value
			want := map[string]string{"m1": "0.1", "m7": "0.3"}[id]
			if part.key == "per_token" {
				want = "3"
			}
			c, err := Parse("c.yaml", []byte(sharedModels(&yaml.Node{Content: []*yaml.Node{m}}, part.head)))
			if want == "" {
				if err == nil || !strings.Contains(err.Error(), "c.yaml:6:") || !strings.Contains(err.Error(), "input ") {
					t.Errorf("%s, %s: %v", id, raw(under(m, "input")), err)
				}
				continue
			}
			if err != nil || price(c.Models[0].Routes[0].Price[0].Card.Input) != want {
				t.Errorf("%s, %s: %v, want %s", id, raw(under(m, "input")), err, want)
			}
		}
	}
}

// bothLines says that some problem names both lines.
func bothLines(t *testing.T, text string, want ...string) {
	t.Helper()
	_, err := Parse("c.yaml", []byte(text))
	var all Problems
	if !errors.As(err, &all) {
		t.Fatalf("%v", err)
	}
	for _, want := range want {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing says %q:\n%v", want, err)
		}
	}
}

func sharedDuplicateKey(t *testing.T, text []byte) {
	m := under(sharedNode(t, text), "models").Content[0]
	lines := frame + "  m:\n    routes:\n      - vendor: alpha\n        model: up\n        price:\n"
	for i := 2; i+1 < len(m.Content); i += 2 { // after the id
		lines += "          " + m.Content[i].Value + ": " + raw(m.Content[i+1]) + "\n"
	}
	bothLines(t, lines, `key "input" stands twice in price, on lines 11 and 13`)
}

func sharedDuplicates(t *testing.T, text []byte) {
	bothLines(t, sharedModels(under(sharedNode(t, text), "models"), ""),
		`"fast" is already an alias of model "ref-a", on lines 6 and 7`,
		`key "ref-a" stands twice in models, on lines 6 and 8`,
		`"small" is already model "small", on lines 6 and 9`)
}

// The texts of the reload: a good file, a broken one that changes nothing, and a
// good one put in its place by rename. Each request keeps the catalog of its start.
func sharedReload(t *testing.T, text []byte) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	var live *Live
	var first *Catalog
	usage := pricing.Usage{Input: 1000, Output: 1000}
	began := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, step := range under(sharedNode(t, text), "steps").Content {
		now := began
		if n := under(step, "at_s"); n != nil {
			seconds, err := time.ParseDuration(n.Value + "s")
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(seconds)
		}
		file := under(step, "file")
		switch {
		case file == nil && under(step, "ask") != nil:
			s := live.Status()
			var all Problems
			if !errors.As(s.Rejected, &all) || len(all) == 0 || all[0].File != path || all[0].Line == 0 || s.Digest != first.Digest || !s.LoadedAt.Equal(first.loaded) {
				t.Errorf("the status while a broken file lies there: %+v", s)
			}
		case file == nil:
			want := map[bool]string{true: "0.0125", false: "0.02"}[strings.Contains(under(step, "request").Value, "R1")]
			c := live.Current()
			if got, _ := sharedCost(t, c, "ref-gpt", "", usage); got != want {
				t.Errorf("%s costs %s, want %s", under(step, "request").Value, got, want)
			}
		case strings.HasPrefix(file.Value, "broken"):
			write(t, path, frame+"\tref-gpt: {routes: [{vendor: alpha, mod")
			if err := live.Reload(now); err == nil || live.Current() != first {
				t.Errorf("a broken file is in force: %v", err)
			}
		case strings.HasPrefix(file.Value, "good"):
			words := strings.Fields(file.Value[strings.Index(file.Value, "ref-gpt"):])
			write(t, path+".new", frame+"  "+words[0]+": {routes: [{vendor: alpha, model: up, price: {"+words[1]+": "+words[2]+", "+words[3]+": "+words[4]+"}}]}\n")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			if live == nil {
				first = load(t, path)
				live = NewLive(path, first)
				continue
			}
			if err := live.Reload(now); err != nil {
				t.Error(err)
			}
		}
	}
	if got, _ := sharedCost(t, first, "ref-gpt", "", usage); got != "0.0125" {
		t.Errorf("the request that began with the first catalog costs %s at its end", got)
	}
}

func sharedPriceChange(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	var periods []string
	list := under(root, "price").Content
	for i, p := range list {
		period := "valid_from: " + raw(under(p, "from")) + ", input: " + raw(under(p, "input"))
		if i+1 < len(list) {
			period += ", valid_to: " + raw(under(list[i+1], "from"))
		}
		periods = append(periods, "{"+period+"}")
	}
	changed := priceOf(t, "price: ["+strings.Join(periods, ", ")+"]")
	before := priceOf(t, "price: {input: "+raw(under(list[0], "input"))+"}")
	row := under(root, "rows").Content[0]
	var tokens int64
	if err := under(row, "input_tokens").Decode(&tokens); err != nil {
		t.Fatal(err)
	}
	usage, then := pricing.Usage{Input: tokens}, moment(t, under(row, "at").Value)
	card := before.At(pricing.Terms{Prompt: tokens, At: then})
	for name, card := range map[string]pricing.Card{"as stored": card, "counted again": changed.At(pricing.Terms{Prompt: tokens, At: then})} {
		if got := usd(card.Cost(usage)); got != "5" {
			t.Errorf("%s: %s, want 5", name, got)
		}
	}
	if got := usd(changed.At(pricing.Terms{Prompt: tokens, At: moment(t, under(root, "read_ledger_at").Value)}).Cost(usage)); got != "4" {
		t.Errorf("today's price: %s, want 4", got)
	}
}

func sharedSmallMoney(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	var requests, tokens int64
	if under(root, "requests").Decode(&requests) != nil || under(under(root, "usage_each"), "prompt_tokens").Decode(&tokens) != nil {
		t.Fatal("the case has no counts")
	}
	card := priceOf(t, "price: "+sharedPrices(under(root, "price_per_million"))).At(pricing.Terms{Prompt: tokens})
	sum := pricing.Cost{Known: true}
	for range requests {
		one := card.Cost(pricing.Usage{Input: tokens})
		if usd(one) != "0.0000015" {
			t.Fatalf("a request costs %s", usd(one))
		}
		sum = sum.Plus(one)
	}
	if usd(sum) != "0.0015" {
		t.Errorf("all of them cost %s", usd(sum))
	}
}

func sharedTwoAttempts(t *testing.T, text []byte) {
	c := sharedReferenceCatalog(t)
	sum := pricing.Cost{Known: true}
	for i, a := range under(sharedNode(t, text), "attempts").Content {
		usage := []pricing.Usage{{Input: 900, Output: 12}, {Input: 920, Output: 80}}[i]
		target, _ := c.Resolve(under(a, "model").Value)
		one := target.Models[0].Routes[0].Price.At(pricing.Terms{Prompt: usage.Prompt()}).Cost(usage)
		if got, want := usd(one), []string{"0.00237", "0.00396"}[i]; got != want {
			t.Errorf("attempt %d: %s, want %s", i+1, got, want)
		}
		sum = sum.Plus(one)
	}
	if got := usd(sum); got != "0.00633" {
		t.Errorf("both: %s", got)
	}
}

func sharedVersionNames(t *testing.T, text []byte) {
	root := sharedNode(t, text)
	models := under(root, "models")
	lines := frame
	for i := 0; i+1 < len(models.Content); i += 2 {
		lines += "  " + raw(models.Content[i]) + ": {routes: [{vendor: alpha, model: up, price: " + sharedPrices(models.Content[i+1]) + "}]}\n"
	}
	c := parse(t, lines)
	want := map[string]string{"4.10": "1", "4.1": "9", "no": "2", "2026-01-15": "3", "0x10": "4", "null": "5"}
	for _, ask := range under(root, "ask").Content {
		target, ok := c.Resolve(ask.Value)
		if !ok {
			t.Errorf("%s is not found", ask.Value)
			continue
		}
		card := target.Models[0].Routes[0].Price[0].Card
		if price(card.Input) != want[ask.Value] || price(card.Output) != want[ask.Value] {
			t.Errorf("%s: %s in, %s out, want %s", ask.Value, price(card.Input), price(card.Output), want[ask.Value])
		}
	}
	if len(c.Models) != len(models.Content)/2 {
		t.Errorf("%d entries of %d lines", len(c.Models), len(models.Content)/2)
	}
}
