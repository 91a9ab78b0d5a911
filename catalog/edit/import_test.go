package edit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/pricelist"
)

// readList reads a list of litellm's form, USD per token.
func readList(t *testing.T, source, text string) *pricelist.List {
	t.Helper()
	l, err := pricelist.Read(source, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// aviary is a list with an ordinary row, one at a vendor that nobody knows, one
// whose vendor's address only its user knows, one in another unit and one without
// cache prices.
const aviary = `{
	"groq/birds/heron-70b": {"litellm_provider": "groq", "mode": "chat", "max_input_tokens": 8000, "input_cost_per_token": 6e-07, "output_cost_per_token": 2.5e-06, "cache_read_input_token_cost": 1.2e-07},
	"together_ai/birds/heron-70b": {"litellm_provider": "together_ai", "mode": "chat", "max_input_tokens": 9000, "input_cost_per_token": 5e-07, "output_cost_per_token": 2e-06, "prompt_cache_min_tokens": 512},
	"deepinfra/birds/heron-70b": {"litellm_provider": "deepinfra", "mode": "chat", "input_cost_per_token": 0.00055, "output_cost_per_token": 0.0024},
	"nobody/birds/heron-70b": {"litellm_provider": "nobody", "mode": "chat", "input_cost_per_token": 6e-07, "output_cost_per_token": 2e-06},
	"azure_ai/birds/heron-70b": {"litellm_provider": "azure_ai", "mode": "chat", "input_cost_per_token": 6e-07, "output_cost_per_token": 2e-06},
	"groq/birds/wren-8b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 1e-07, "output_cost_per_token": 3e-07, "input_cost_per_token_above_128k_tokens": 2e-07, "output_cost_per_token_above_128k_tokens": 6e-07}
}`

func TestImportNew(t *testing.T) {
	// The entries of these two are of this package; those of others, of the starter catalog.
	list := readList(t, pricelist.LiteLLM, strings.NewReplacer("groq", "hyperbolic", "together_ai", "nvidia_nim").Replace(aviary))
	other := readList(t, pricelist.OpenRouter, `{"data": []}`)
	second := readList(t, pricelist.ModelsDev, `{"hyperbolic": {"provider": {"name": "Hyperbolic"}, "models": {"birds/heron-70b": {"name": "Heron", "cost": {"input": 0.6, "output": 2.5, "cache_read": 0.15}}}}}`)
	im, err := Import("new.yaml", nil, list, Options{Day: "2026-11-20", Compare: []*pricelist.List{other, second}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `version: 1
currency: USD
unit: per_million

vendors:
  hyperbolic:
    api: [chat]
    base_url: https://api.hyperbolic.xyz/v1
    credentials:
      - {id: main, env: HYPERBOLIC_API_KEY}
  nvidia:
    api: [chat]
    base_url: https://integrate.api.nvidia.com/v1
    credentials:
      - {id: main, env: NVIDIA_API_KEY}

models:
  birds/heron-70b:
    context: 9000
    routes:
      - vendor: hyperbolic
        model: birds/heron-70b
        price:
          input: 0.6
          output: 2.5
          cache_read: 0.12  # models.dev: 0.15
          as_of: 2026-11-20
          source: litellm hyperbolic/birds/heron-70b
      - vendor: nvidia
        model: birds/heron-70b
        price:
          input: 0.5
          output: 2
          as_of: 2026-11-20
          source: litellm nvidia_nim/birds/heron-70b
        cache: {min_prefix: 512}
  birds/wren-8b:
    routes:
      - vendor: hyperbolic
        model: birds/wren-8b
        price:
          input: 0.1
          output: 0.3
          as_of: 2026-11-20
          source: litellm hyperbolic/birds/wren-8b
          tiers:
            - {above: 128000, input: 0.2, output: 0.6}
`
	if got := string(im.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var got []string
	for _, l := range im.Lines {
		got = append(got, strings.TrimSpace(string(l.Status)+" "+l.Model+" "+l.Vendor+" "+l.Reason))
	}
	lines := []string{
		"added birds/heron-70b hyperbolic", "added birds/heron-70b nvidia", "skipped birds/heron-70b deepinfra unit_slip",
		"skipped birds/heron-70b nobody vendor_unknown", "skipped birds/heron-70b azure vendor_address", "added birds/wren-8b hyperbolic",
	}
	if !slices.Equal(got, lines) || im.NoRead() != 2 || !slices.Equal(im.Vendors, []string{"hyperbolic", "nvidia"}) {
		t.Errorf("the report says %q, %d without a read price, vendors %q", got, im.NoRead(), im.Vendors)
	}
}

// nest is a catalog that somebody keeps by hand, with prices of every origin.
const nest = `# Our own.
version: 1
vendors:
  groq: {api: [chat], base_url: https://api.groq.com/openai/v1}   # fast
  together: {api: [chat], base_url: https://api.together.xyz/v1}

models:
  heron:   # what we use most
    routes:
      # asked by telephone: birds of this size are cheaper for us
      - vendor: groq
        model: birds/heron-70b
        price: {input: 0.55, output: 2.5, cache_read: 0.1, source: our contract}
      - vendor: together
        model: birds/heron-70b
        price:
          # from the list
          input: 0.40   # it was more
          output: 2.0
          cache_read: 0.05   # measured
          as_of: 2026-10-01
          source: litellm together_ai/birds/heron-70b
`

func importNest(t *testing.T, text string, o Options) (*Imported, error) {
	t.Helper()
	d, err := Open("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if o.Day == "" {
		o.Day = "2026-11-20"
	}
	return Import("c.yaml", d, readList(t, pricelist.LiteLLM, aviary), o)
}

func TestImportUpdates(t *testing.T) {
	im, err := importNest(t, nest, Options{Models: []string{"heron*"}, Vendors: []string{"groq", "together"}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("input: 0.40 ", "input: 0.5 ", "as_of: 2026-10-01", "as_of: 2026-11-20").Replace(nest)
	if got := string(im.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	hand, own := im.Lines[0], im.Lines[1]
	if hand.Status != Kept || hand.Reason != string(HandMade) || len(hand.Changes) != 2 || hand.Changes[0].String() != ": price.input: 0.55 -> 0.6 (+9.09 %)" && hand.Changes[0].Field != "price.input" {
		t.Errorf("the price made by hand: %+v", hand)
	}
	if own.Status != Updated || len(own.Gone) != 1 || own.Gone[0].Field != "price.cache_read" || own.Gone[0].From != "0.05" || len(own.Changes) != 1 {
		t.Errorf("the list's own price: %+v", own)
	}
}

func TestImportForce(t *testing.T) {
	im, err := importNest(t, nest, Options{Models: []string{"heron"}, Force: true, AsOf: "2026-11-21"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"{input: 0.55, output: 2.5, cache_read: 0.1, source: our contract}", "{input: 0.6, output: 2.5, cache_read: 0.12, as_of: 2026-11-21, source: litellm groq/birds/heron-70b}",
		"input: 0.40 ", "input: 0.5 ", "as_of: 2026-10-01", "as_of: 2026-11-21").Replace(nest)
	if got := string(im.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestImportAddsToACatalog(t *testing.T) {
	im, err := importNest(t, nest, Options{Models: []string{"wren*"}})
	if err != nil {
		t.Fatal(err)
	}
	want := nest + `  birds/wren-8b:
    routes:
      - vendor: groq
        model: birds/wren-8b
        price:
          input: 0.1
          output: 0.3
          as_of: 2026-11-20
          source: litellm groq/birds/wren-8b
          tiers:
            - {above: 128000, input: 0.2, output: 0.6}
`
	if got := string(im.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestImportKeeps(t *testing.T) {
	const price = `        price:
          # from the list
          input: 0.40   # it was more
          output: 2.0
          cache_read: 0.05   # measured
          as_of: 2026-10-01
          source: litellm together_ai/birds/heron-70b
`
	for name, c := range map[string]struct {
		price  string
		status Status
		reason Reason
		text   string // of the price afterwards; empty: as it was
	}{
		"a route without a price takes the list's":  {"", Updated, "", "        price: {input: 0.5, output: 2, as_of: 2026-11-20, source: litellm together_ai/birds/heron-70b}\n"},
		"a price without a source is somebody's":    {"        price: {input: 7}\n", Kept, HandMade, ""},
		"a price of another list is not this one's": {"        price: {input: 7, source: models.dev togetherai/x}\n", Kept, HandMade, ""},
		"a price of a later day":                    {"        price: {input: 7, as_of: 2026-11-25, source: litellm x}\n", Kept, OlderList, ""},
		"a tier that the list does not have stays":  {"        price: {input: 0.5, output: 2, source: litellm, tiers: [{above: 1000, input: 9}]}\n", Unchanged, "", "        price: {input: 0.5, output: 2, as_of: 2026-11-20, source: litellm together_ai/birds/heron-70b, tiers: [{above: 1000, input: 9}]}\n"},
		"periods: the one of the list's day":        {"        price:\n          - {valid_to: 2026-12-01, input: 0.4, source: litellm x}\n          - {valid_from: 2026-12-01, input: 0.9, source: litellm x}   # promised\n", Updated, "", "        price:\n          - {valid_to: 2026-12-01, input: 0.5, output: 2, as_of: 2026-11-20, source: litellm together_ai/birds/heron-70b}\n          - {valid_from: 2026-12-01, input: 0.9, source: litellm x}   # promised\n"},
		"an equal price of another source":          {"        price: {input: 0.50, output: 2.000, source: a letter}\n", Unchanged, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(nest, price, c.price, 1)
			im, err := importNest(t, text, Options{Models: []string{"heron"}, Vendors: []string{"together"}})
			if err != nil {
				t.Fatal(err)
			}
			l := im.Lines[0]
			want := text
			if c.text != "" {
				want = strings.Replace(nest, price, c.text, 1)
			}
			if l.Status != c.status || l.Reason != string(c.reason) || string(im.Text) != want {
				t.Errorf("%s %s %s; got\n%s\nwant\n%s", l.Status, l.Reason, l.Detail, im.Text, want)
			}
		})
	}
}

func TestImportCommentInside(t *testing.T) {
	text := strings.Replace(nest, "      - vendor: together\n", "      - vendor: together\n        cache: {ttl: 10m}\n", 1) + `  wren:
    routes:
      - vendor: groq
        model: birds/wren-8b
        price:
          input: 0.1
          source: litellm
          tiers:
            - {above: 200000, input: 0.2}   # a page
`
	im, err := importNest(t, text, Options{Models: []string{"wren", "heron"}, Vendors: []string{"groq", "together"}})
	if err != nil {
		t.Fatal(err)
	}
	l := im.Lines[len(im.Lines)-1]
	if l.Model != "wren" || l.Status != Kept || l.Reason != string(CommentInside) || !strings.Contains(string(im.Text), "# a page") || !strings.Contains(string(im.Text), "input: 0.5 ") {
		t.Errorf("%+v\n%s", l, im.Text)
	}
}

func TestImportTwoIDsOfOneModel(t *testing.T) {
	text := strings.Replace(nest, "  heron:   # what we use most\n", "  heron:   # what we use most\n    aliases: [birds/wren-8b, birds/wren-9b]\n", 1)
	text = strings.Replace(text, "      - vendor: groq\n        model: birds/heron-70b\n        price: {input: 0.55, output: 2.5, cache_read: 0.1, source: our contract}\n", "", 1)
	d, err := Open("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list := readList(t, pricelist.LiteLLM, `{
	"groq/birds/wren-8b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 1e-07, "output_cost_per_token": 3e-07},
	"groq/birds/wren-9b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 1e-07, "output_cost_per_token": 3e-07}}`)
	im, err := Import("c.yaml", d, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if im.Count(Added) != 1 || im.Lines[1].Status != Skipped || im.Lines[1].Reason != string(OtherID) || len(im.Catalog.Models[0].Routes) != 2 {
		t.Errorf("%+v\n%s", im.Lines, im.Text)
	}
}

// TestImportOfRegions imports a list that prices one id in several regions: the
// plainest counts, but for a price that names another.
func TestImportOfRegions(t *testing.T) {
	const regions = `{
	"azure/eu/gull-5": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1.1e-06, "output_cost_per_token": 2.2e-06},
	"azure/gull-5": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}}`
	const text = `version: 1
vendors:
  azure: {api: [chat], base_url: https://ours.example/openai/v1}
models:
  gull:
    routes:
      - {vendor: azure, model: gull-5, price: {input: 9, source: litellm NAMED}}
`
	for named, want := range map[string]string{
		"azure/gull-5":    "{input: 1, output: 2, source: litellm azure/gull-5}",
		"azure/eu/gull-5": "{input: 1.1, output: 2.2, source: litellm azure/eu/gull-5}",
		"azure/old":       "{input: 1, output: 2, source: litellm azure/gull-5}",
	} {
		d, err := Open("c.yaml", []byte(strings.Replace(text, "NAMED", named, 1)))
		if err != nil {
			t.Fatal(err)
		}
		im, err := Import("c.yaml", d, readList(t, pricelist.LiteLLM, regions), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(im.Text); !strings.Contains(got, want) {
			t.Errorf("of %s: want %s in\n%s", named, want, got)
		}
	}
}

func TestImportUnit(t *testing.T) {
	text := strings.NewReplacer("version: 1\n", "version: 1\nunit: per_token\n", "0.55", "5.5e-7", "2.5", "0.0000025", "0.1,", "1e-07,", "0.40", "4.0e-07", "2.0", "2e-6", "0.05", "0.00000005").Replace(nest)
	im, err := importNest(t, text, Options{Models: []string{"heron"}, Vendors: []string{"together"}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("4.0e-07", "0.0000005", "2026-10-01", "2026-11-20").Replace(text)
	if got := string(im.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestImportRefuses(t *testing.T) {
	if _, err := importNest(t, nest, Options{Models: []string{"eagle*"}}); !errors.Is(err, ErrNothing) {
		t.Errorf("patterns that nothing matches: %v", err)
	}
	if _, err := importNest(t, strings.Replace(nest, "version: 1\n", "version: 1\ncurrency: EUR\n", 1), Options{}); err == nil || !strings.Contains(err.Error(), "EUR") {
		t.Errorf("a catalog in euros: %v", err)
	}
}

// TestEndpointsLoad puts every vendor that an import may add into one catalog.
func TestEndpointsLoad(t *testing.T) {
	k, err := knownVendors()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("c.yaml", []byte("version: 1\nvendors:\n  own: {api: [chat], base_url: https://own.example}\nmodels:\n  m: {routes: [{vendor: own, model: x}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var changes []Change
	names := make([]string, 0, len(endpoints))
	for name := range endpoints {
		names = append(names, name)
	}
	for _, f := range k.starter.fields {
		names = append(names, f.key.text)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if as, entry, ok := k.vendor(name, "x/y"); ok {
			changes = append(changes, Change{Path: Path{Key("vendors"), Key(as)}, Value: entry})
		}
	}
	r, err := d.Edit(changes...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Catalog.Vendors[1:] {
		if len(v.Credentials) == 0 || v.BaseURL.Scheme != "https" || strings.Contains(v.BaseURL.Path, "your-") {
			t.Errorf("vendor %s: %+v", v.Name, v)
		}
	}
	if len(r.Catalog.Vendors) < 55 || !r.Catalog.Vendors[1].Speaks(catalog.Chat) {
		t.Errorf("%d vendors", len(r.Catalog.Vendors))
	}
}

// A price of a vendor's page, or of another list, to which the list agrees takes its
// day; one of a contract stays as it is, and so does one that differs.
func TestImportConfirms(t *testing.T) {
	page := strings.NewReplacer("input: 0.55,", "input: 0.6,", "cache_read: 0.1, source: our contract", "cache_read: 0.12, as_of: 2026-07-01, source: https://groq.com/pricing").Replace(nest)
	im, err := importNest(t, page, Options{Models: []string{"heron"}, Vendors: []string{"groq"}, AsOf: "2026-11-21"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(page, "as_of: 2026-07-01, source: https://groq.com/pricing", `as_of: 2026-11-21, source: "https://groq.com/pricing, confirmed by litellm"`, 1)
	if got := string(im.Text); got != want || im.Count(Confirmed) != 1 {
		t.Errorf("%d confirmed, got\n%s\nwant\n%s", im.Count(Confirmed), got, want)
	}
	again, err := importNest(t, want, Options{Models: []string{"heron"}, Vendors: []string{"groq"}, AsOf: "2026-11-22"})
	if err != nil || string(again.Text) != strings.Replace(want, "2026-11-21", "2026-11-22", 1) {
		t.Errorf("confirmed again: %v\n%s", err, again.Text)
	}
	for name, c := range map[string]struct {
		from, to, day string
	}{
		"a contract":                    {"https://groq.com/pricing", "our contract", "2026-11-21"},
		"another figure":                {"input: 0.6,", "input: 0.7,", "2026-11-21"},
		"a figure the list has not":     {"output: 2.5,", "output: 2.5, cache_write: 1,", "2026-11-21"},
		"an older list":                 {"", "", "2026-06-01"},
		"a day of the file and no more": {"", "", ""},
	} {
		text := strings.Replace(page, c.from, c.to, 1)
		im, err := importNest(t, text, Options{Models: []string{"heron"}, Vendors: []string{"groq"}, AsOf: c.day})
		if err != nil || im.Count(Confirmed) != 0 || string(im.Text) != text {
			t.Errorf("%s: %v, %d confirmed", name, err, im.Count(Confirmed))
		}
	}
}

func TestImportOfExistingAddsNothing(t *testing.T) {
	im, err := importNest(t, nest, Options{Only: true})
	if err != nil || im.Count(Added) != 0 || im.Count(Updated) != 1 || strings.Contains(string(im.Text), "wren") {
		t.Errorf("%v, %d added, %d updated", err, im.Count(Added), im.Count(Updated))
	}
}
