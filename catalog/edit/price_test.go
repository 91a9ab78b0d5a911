package edit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// TestPriceValue writes a price that has everything and reads it again.
func TestPriceValue(t *testing.T) {
	const text = `version: 1
unit: UNIT
vendors:
  first: {api: [chat], base_url: https://a.example}
models:
  m:
    routes:
      - vendor: first
        model: x
        price:
          - valid_to: 2026-08-16T16:00:00Z
            input: 0.435
            output: 1e2
            cache_read: .05
            request: 0.005
            as_of: 2026-08-01
            source: a letter
            tiers:
              - {above: 1000, input: 2, cache_read: 1.000}
              - {above: 2000, input: 3}
            marginal: true
          - valid_from: 2026-08-16T16:00:00Z
            valid_to: 2027-01-01
            input: 123456.000000001
            cache_read: 0.1
            cache_read_implicit: 0.2
            cache_write: 0
            cache_write_1h: 6.25
            windows:
              - {days: [sat-mon, wed], from: "22:30", to: "04:00:30", zone: Asia/Shanghai, input: 1, tiers: [{above: 10, input: 7}], marginal: true}
              - {from: "12:00", to: "13:00", zone: UTC, output: 1}
            service_tiers:
              flex: {input: 1, tiers: [{above: 1000, input: 2}]}
              priority: {output: 40}
            surcharges:
              - {speed: fast, times: 2}
              - {region: eu, times: 1.10}
`
	for _, unit := range []string{"per_million", "per_thousand", "per_token"} {
		t.Run(unit, func(t *testing.T) {
			text := strings.Replace(text, "UNIT", unit, 1)
			if unit != "per_million" {
				text = strings.NewReplacer("123456.000000001", "12.5").Replace(text)
			}
			c, err := catalog.Parse("c.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			price := c.Models[0].Routes[0].Price
			u, _ := pricing.ParseUnit(unit)
			bare, _, _ := strings.Cut(text, "        price:")
			d, err := Open("c.yaml", []byte(bare))
			if err != nil {
				t.Fatal(err)
			}
			r, err := d.Edit(Change{Path: at("m", "first", "price"), Value: PriceValue(price, u)})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Catalog.Models[0].Routes[0].Price
			if len(Differences(c, r.Catalog)) > 0 || len(got) != len(price) || !reflect.DeepEqual(got[1].Windows[0].Days, price[1].Windows[0].Days) {
				t.Errorf("written as\n%s\nwhich differs: %+v", r.Text, Differences(c, r.Catalog))
			}
			again, err := r.Edit(Change{Path: at("m", "first", "price"), Value: PriceValue(got, u)})
			if err != nil || again.Changed() {
				t.Errorf("the same price changed the text: %v\n%s", err, again.Diff())
			}
		})
	}
}
