package edit

import (
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

const before = `version: 1
vendors:
  first: {api: [chat], base_url: https://a.example, headers: {x-app: one}, cache: {ttl: 10m}}
  second: {api: [chat], base_url: https://b.example}
  third: {api: [chat], base_url: https://c.example}
models:
  heron:
    aliases: [h]
    routes:
      - {vendor: first, model: x, price: {input: 3, output: 15, tiers: [{above: 1000, input: 6}], windows: [{days: [mon-fri], from: "01:00", to: "04:00", zone: UTC, input: 1}]}}
      - {vendor: second, model: x, price: {input: 0}}
  wren: {routes: [{vendor: second, model: y}]}
policies:
  p: {models: [heron], max_price: {input: 5}}
`

func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		want    []string
	}{
		"the same in another unit and form": {[]string{"version: 1\n", "version: 1 # one\nunit: per_token\n", "input: 3,", "input: 3e-06,", "output: 15,", "output: 0.000015,", "input: 6}", "input: 6e-6}", "input: 1}", "input: .000001}", "input: 5}", "input: 0.000005}"}, nil},
		"a price":                           {[]string{"input: 3,", "input: 3.5,"}, []string{`model "heron", route "first": price.input: 3 -> 3.5 (+16.67 %)`}},
		"a price that was 0":                {[]string{"input: 0}", "input: 1.50}"}, []string{`model "heron", route "second": price.input: 0 -> 1.5`}},
		"a price that came":                 {[]string{"output: 15,", "output: 15, cache_read: 0.30,"}, []string{`model "heron", route "first": price.cache_read: added 0.3`}},
		"a price that went":                 {[]string{"output: 15, ", ""}, []string{`model "heron", route "first": price.output: removed, was 15`}},
		"a tier's price":                    {[]string{"input: 6", "input: 5.4"}, []string{`model "heron", route "first": price.tiers[1000].input: 6 -> 5.4 (-10 %)`}},
		"a tier's threshold":                {[]string{"above: 1000", "above: 2000"}, []string{`model "heron", route "first": price.tiers[1000]: removed, was above 1000`, `model "heron", route "first": price.tiers[1000].input: removed, was 6`, `model "heron", route "first": price.tiers[2000]: added above 2000`, `model "heron", route "first": price.tiers[2000].input: added 6`}},
		"a window's price":                  {[]string{"input: 1}", "input: 2}"}, []string{`model "heron", route "first": price.windows[mon-fri 01:00-04:00 UTC].input: 1 -> 2 (+100 %)`}},
		"a period that came":                {[]string{"price: {input: 0}", "price: [{valid_to: 2027-01-01, input: 0}, {valid_from: 2027-01-01, input: 1, request: 0.01}]"}, []string{`model "heron", route "second": price.valid_to: added 2027-01-01`, `model "heron", route "second": price[2027-01-01].input: added 1`, `model "heron", route "second": price[2027-01-01].request: added 0.01`}},
		"a vendor's lifetime":               {[]string{"ttl: 10m", "ttl: 20m"}, []string{`vendor "first": cache.ttl: 10m0s -> 20m0s`, `model "heron", route "first": cache.ttl: 10m0s -> 20m0s`}},
		"a way to count":                    {[]string{"headers:", "usage: {prompt: tokens.in, output: tokens.out}, headers:"}, []string{`vendor "first": usage.chat.prompt: added tokens.in`, `vendor "first": usage.chat.output: added tokens.out`}},
		"a header":                          {[]string{"x-app: one", "x-app: two"}, []string{`vendor "first": headers.x-app: one -> two`}},
		"a vendor that went":                {[]string{"  third: {api: [chat], base_url: https://c.example}\n", ""}, []string{`vendor "third" removed`}},
		"a model that came":                 {[]string{"policies:", "  robin: {routes: [{vendor: third, model: z}]}\npolicies:"}, []string{`model "robin" added`, `model "robin", route "third" added`}},
		"an alias":                          {[]string{"[h]", "[h, hh]"}, []string{`model "heron": aliases: h -> h, hh`}},
		"the order of vendors":              {[]string{"  third: {api: [chat], base_url: https://c.example}\n", "", "vendors:\n", "vendors:\n  third: {api: [chat], base_url: https://c.example}\n"}, []string{`vendors in order: first, second, third -> third, first, second`}},
		"a policy":                          {[]string{"{input: 5}", "{input: 4}, order: [second]"}, []string{`policy "p": max_price.input: 5 -> 4 (-20 %)`, `policy "p": order: added second`}},
		"a currency":                        {[]string{"version: 1\n", "version: 1\ncurrency: EUR\n"}, []string{`currency: USD -> EUR`}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := catalog.Parse("a.yaml", []byte(before))
			if err != nil {
				t.Fatal(err)
			}
			b, err := catalog.Parse("b.yaml", []byte(strings.NewReplacer(c.replace...).Replace(before)))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range Differences(a, b) {
				got = append(got, d.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if n, m := len(Differences(b, a)), len(c.want); n != m {
				t.Errorf("%d differences the other way, want %d", n, m)
			}
		})
	}
}
