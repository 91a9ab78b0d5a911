package pricing_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

func TestNetCacheSaving(t *testing.T) {
	rate := func(text string) pricing.Rate { return pricing.PerMillion(decimal.RequireFromString(text)) }
	full := pricing.Card{Input: rate("3"), Output: rate("15"), CacheRead: rate("0.30"), CacheWrite5m: rate("3.75"), CacheWrite1h: rate("6")}
	for _, c := range []struct {
		name  string
		card  pricing.Card
		usage pricing.Usage
		known bool
		want  string
	}{
		{"reads save the difference to fresh input", full, pricing.Usage{Input: 12, CacheRead: 18400, Output: 205}, true, "0.04968"},
		{"writes that are never read cost more", full, pricing.Usage{Input: 8, CacheWrite1h: 6000, Output: 40}, true, "-0.018"},
		{"reads and writes are netted", full, pricing.Usage{CacheRead: 1000, CacheWrite5m: 1000}, true, "0.00195"},
		{"output saves nothing", full, pricing.Usage{Output: 1000}, true, "0"},
		{"a bucket without a rate of its own saves nothing", pricing.Card{Input: rate("0.90"), Output: rate("0.90")}, pricing.Usage{CacheRead: 5000}, true, "0"},
		{"an unknown input rate leaves it unknown", pricing.Card{CacheRead: rate("0.1")}, pricing.Usage{CacheRead: 5000}, false, "0"},
		{"an unknown cost leaves it unknown", pricing.Card{Input: rate("3")}, pricing.Usage{Input: 1, Output: 1}, false, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.card.Saving(c.usage)
			if got.Known != c.known || !got.Amount.Equal(decimal.RequireFromString(c.want)) {
				t.Errorf("saving is %v %s, want %v %s", got.Known, got.Amount, c.known, c.want)
			}
		})
	}
}
