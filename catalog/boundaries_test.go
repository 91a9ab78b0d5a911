package catalog

import (
	"strings"
	"testing"

	"github.com/warmroute/warmroute/pricing"
)

// Every price here is that of a million tokens of input, read or output, so that a
// cost is the price that holds.
const million = 1_000_000

func TestTheTokenAtWhichAPriceChanges(t *testing.T) {
	tiers := "price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, cache_write_1h: 6, " +
		"tiers: [{above: 200000, input: 6, output: 22.50, cache_read: 0.60, cache_write: 7.50, cache_write_1h: 12}]}"
	paid := "price: {input: 5, output: 30, cache_read: 0.50, cache_write: 6.25, tiers: [{above: 272000, input: 10, output: 45, cache_read: 1, cache_write: 12.50}]}"
	pieces := strings.TrimSuffix(tiers, "}") + ", marginal: true}"
	for _, c := range []struct {
		name, price string
		usage       pricing.Usage
		want        string
	}{
		{"at the threshold", tiers, pricing.Usage{Input: 200_000, Output: 1000}, "0.615"},
		{"one token above: the whole request", tiers, pricing.Usage{Input: 200_001, Output: 1000}, "1.222506"},
		{"reads and writes count towards it", tiers, pricing.Usage{Input: 1, CacheRead: 150_000, CacheWrite5m: 30_000, CacheWrite1h: 20_000, Output: 1000}, "0.577506"},
		{"and without the last token do not reach it", tiers, pricing.Usage{CacheRead: 150_000, CacheWrite5m: 30_000, CacheWrite1h: 20_000, Output: 1000}, "0.2925"},
		{"output does not count towards it", tiers, pricing.Usage{Input: 200_000, Output: 100_000}, "2.1"},
		{"at another threshold", paid, pricing.Usage{Input: 2000, CacheRead: 200_000, CacheWrite5m: 70_000, Output: 2000}, "0.6075"},
		{"one token above that", paid, pricing.Usage{Input: 2001, CacheRead: 200_000, CacheWrite5m: 70_000, Output: 2000}, "1.18501"},
		{"piece by piece, at the threshold", pieces, pricing.Usage{Input: 200_000, Output: 1000}, "0.615"},
		{"piece by piece, one token above", pieces, pricing.Usage{Input: 200_001, Output: 1000}, "0.622506"},
		// 150000 × 0.30 + 20000 × 6 + 30000 × 3.75 + 1 × 6 + 1000 × 22.50
		{"piece by piece, reads first and the new text last", pieces, pricing.Usage{Input: 1, CacheRead: 150_000, CacheWrite5m: 30_000, CacheWrite1h: 20_000, Output: 1000}, "0.300006"},
		// 190000 × 0.30 + 10000 × 6 + 5000 × 12 + 5000 × 7.50 + 10000 × 6
		{"piece by piece, a bucket on both sides", pieces, pricing.Usage{Input: 10_000, CacheRead: 190_000, CacheWrite5m: 5_000, CacheWrite1h: 15_000}, "0.2745"},
	} {
		card := priceOf(t, c.price).At(pricing.Terms{Prompt: c.usage.Prompt()})
		if got := usd(card.Cost(c.usage)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// pricesAt compares the price of a million tokens of input at each moment.
func pricesAt(t *testing.T, name, price string, want map[string]string) {
	t.Helper()
	p := priceOf(t, price)
	for when, want := range want {
		if got := usd(p.At(pricing.Terms{Prompt: million, At: moment(t, when)}).Cost(pricing.Usage{Input: million})); got != want {
			t.Errorf("%s, at %s: %s, want %s", name, when, got, want)
		}
	}
}

func TestTheMomentAtWhichAPriceChanges(t *testing.T) {
	pricesAt(t, "dear hours of weekdays", `price: {input: 0.66, windows: [{days: [mon-fri], from: "01:00", to: "04:00", zone: UTC, input: 1.32}, {days: [mon-fri], from: "06:00", to: "10:00", zone: UTC, input: 1.32}]}`, map[string]string{
		"2026-11-20T00:59:59.999999999Z": "0.66", // a Friday
		"2026-11-20T01:00:00Z":           "1.32",
		"2026-11-20T03:59:59.999999999Z": "1.32",
		"2026-11-20T04:00:00Z":           "0.66",
		"2026-11-20T06:00:00Z":           "1.32",
		"2026-11-20T10:00:00Z":           "0.66",
		"2026-11-20T09:00:00+08:00":      "1.32", // the same moment by another clock
		"2026-11-21T01:00:00Z":           "0.66",
		"2026-11-23T01:00:00Z":           "1.32",
	})
	pricesAt(t, "Friday and Saturday nights", `price: {input: 2, windows: [{days: [fri, sat], from: "22:00", to: "06:00", zone: America/New_York, input: 1}]}`, map[string]string{
		"2026-11-20T21:59:59-05:00": "2",
		"2026-11-20T22:00:00-05:00": "1",
		"2026-11-21T05:59:59-05:00": "1", // Saturday morning is Friday's
		"2026-11-21T06:00:00-05:00": "2",
		"2026-11-22T05:59:59-05:00": "1", // Sunday morning is Saturday's
		"2026-11-22T22:00:00-05:00": "2",
		"2026-11-20T05:00:00-05:00": "2", // Friday morning is Thursday's
	})
	pricesAt(t, "a price that ends at an hour of its own", "price:\n  - {valid_to: 2026-08-16T16:00:00Z, input: 0.28}\n  - {valid_from: 2026-08-16T16:00:00Z, valid_to: 2027-01-01, input: 0.66}", map[string]string{
		"2020-01-01T00:00:00Z":           "0.28",
		"2026-08-16T15:59:59.999999999Z": "0.28",
		"2026-08-16T16:00:00Z":           "0.66",
		"2026-12-31T23:59:59.999999999Z": "0.66",
		"2027-01-01T00:00:00Z":           "unknown", // never the old price
	})
}

// Hours are those of the clock on the wall: one that it skips in spring never comes,
// and one that it shows twice in autumn holds twice.
func TestTheDaysOnWhichAClockIsChanged(t *testing.T) {
	pricesAt(t, "two to three in Berlin", `price: {input: 2, windows: [{from: "02:00", to: "03:00", zone: Europe/Berlin, input: 1}]}`, map[string]string{
		"2026-03-28T01:30:00Z":           "1",
		"2026-03-29T00:59:59.999999999Z": "2", // 01:59 by the old time
		"2026-03-29T01:00:00Z":           "2", // 03:00 by the new
		"2026-03-29T00:30:00Z":           "2",
		"2026-03-30T00:30:00Z":           "1",
		"2026-10-24T23:59:59Z":           "2", // 01:59
		"2026-10-25T00:00:00Z":           "1", // 02:00 for the first time
		"2026-10-25T00:59:59Z":           "1",
		"2026-10-25T01:00:00Z":           "1", // 02:00 again
		"2026-10-25T01:59:59.999999999Z": "1",
		"2026-10-25T02:00:00Z":           "2", // 03:00
	})
	pricesAt(t, "over the hour that is skipped", `price: {input: 2, windows: [{days: [sun], from: "01:30", to: "03:30", zone: Europe/Berlin, input: 1}]}`, map[string]string{
		"2026-03-29T00:29:59Z": "2",
		"2026-03-29T00:30:00Z": "1", // 01:30
		"2026-03-29T01:29:59Z": "1", // 03:29
		"2026-03-29T01:30:00Z": "2", // 03:30
	})
	pricesAt(t, "one to two in New York", `price: {input: 2, windows: [{from: "01:00", to: "02:00", zone: America/New_York, input: 1}]}`, map[string]string{
		"2026-03-08T06:00:00Z":           "1", // 01:00
		"2026-03-08T06:59:59.999999999Z": "1",
		"2026-03-08T07:00:00Z":           "2", // 03:00
		"2026-11-01T04:59:59Z":           "2", // 00:59
		"2026-11-01T05:00:00Z":           "1", // 01:00 for the first time
		"2026-11-01T06:00:00Z":           "1", // 01:00 again
		"2026-11-01T06:59:59.999999999Z": "1",
		"2026-11-01T07:00:00Z":           "2", // 02:00
	})
	pricesAt(t, "a Saturday night that has an hour more", `price: {input: 2, windows: [{days: [sat], from: "23:00", to: "03:00", zone: America/New_York, input: 1}]}`, map[string]string{
		"2026-11-01T02:59:59Z": "2", // Saturday, 22:59
		"2026-11-01T03:00:00Z": "1",
		"2026-11-01T05:30:00Z": "1", // Sunday, 01:30
		"2026-11-01T06:30:00Z": "1", // Sunday, 01:30 again
		"2026-11-01T07:59:59Z": "1", // Sunday, 02:59
		"2026-11-01T08:00:00Z": "2",
	})
}

// A turn's price is that of its own start, and a price that changed since has no say.
func TestAPastCostStaysWhenThePriceChanges(t *testing.T) {
	dated := "price:\n  - {valid_from: 2026-01-01, valid_to: 2026-08-21, input: 5}\n  - {valid_from: 2026-08-21, input: 4}"
	usage, then := pricing.Usage{Input: million}, moment(t, "2026-08-20T12:00:00Z")
	card := priceOf(t, "price: {input: 5}").At(pricing.Terms{Prompt: million, At: then}) // what the turn keeps
	before := usd(card.Cost(usage))
	after := priceOf(t, dated)
	if again := usd(card.Cost(usage)); before != "5" || again != before {
		t.Errorf("the turn cost %s, and then %s", before, again)
	}
	if got := usd(after.At(pricing.Terms{Prompt: million, At: then}).Cost(usage)); got != "5" {
		t.Errorf("counted again at the dated prices it costs %s", got)
	}
	if got := usd(after.At(pricing.Terms{Prompt: million, At: moment(t, "2026-08-21T00:00:00Z")}).Cost(usage)); got != "4" {
		t.Errorf("a turn of the new price costs %s", got)
	}
}

// Numbers are read from their text, whatever form YAML would give them.
func TestEveryFormOfANumberIsReadExactly(t *testing.T) {
	for _, text := range []string{"7e-06", "7E-6", "7.0e-06", `"7e-06"`, "0.000007", ".000007", "0.0000070", "'7e-6'"} {
		c := parse(t, "unit: per_token\n"+frame+"  m: {routes: [{vendor: alpha, model: m, price: {input: "+text+"}}]}\n")
		if got := price(c.Models[0].Routes[0].Price[0].Card.Input); got != "7" || len(c.Warnings) != 0 {
			t.Errorf("%s per token is %s per million, warnings %v", text, got, c.Warnings)
		}
	}
	for text, want := range map[string]string{"0.2": "0.2", "0.70 ": "0.7", "1000": "1000"} {
		c := parse(t, frame+"  m: {routes: [{vendor: alpha, model: m, price: {input: "+text+"}}]}\n")
		if got := price(c.Models[0].Routes[0].Price[0].Card.Input); got != want {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

// Tokens of a bucket without a price cost the input price and are marked; a bucket
// that is free costs nothing and is not; null is a mistake (see
// TestMistakesOfPrices).
func TestACacheThatIsFreeAndOneWithoutAPrice(t *testing.T) {
	usage := pricing.Usage{Input: 3000, CacheRead: 7000, Output: 400}
	for text, want := range map[string]string{
		"price: {input: 0.80, output: 0.80}":                "0.00832 marked",
		"price: {input: 0.60, output: 1.20, cache_read: 0}": "0.00228",
		"price: {input: 0.60, output: 1.20}":                "0.00648 marked",
	} {
		cost := priceOf(t, text).At(pricing.Terms{Prompt: usage.Prompt()}).Cost(usage)
		got := usd(cost)
		if cost.NoCachePrice {
			got += " marked"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What is written for an hour is never billed as if it were for five minutes; without
// a price of its own it costs the input price and is marked.
func TestWritesForAnHour(t *testing.T) {
	usage := pricing.Usage{Input: 10, CacheRead: 3000, CacheWrite5m: 2000, CacheWrite1h: 5000, Output: 50}
	for text, want := range map[string]string{
		"price: {input: 4, output: 20, cache_read: 0.40, cache_write: 5, cache_write_1h: 8}": "0.05224",
		"price: {input: 4, output: 20, cache_read: 0.40, cache_write: 5}":                    "0.03224 marked", // an hour, without a price
	} {
		cost := priceOf(t, text).At(pricing.Terms{Prompt: usage.Prompt()}).Cost(usage)
		got := usd(cost)
		if cost.NoCachePrice {
			got += " marked"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
