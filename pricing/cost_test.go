package pricing

import (
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
)

// card makes a card of input, output, cache read, 5m write and 1h write; an
// empty text leaves the rate unknown.
func card(t testing.TB, input, output, read, write5m, write1h string) Card {
	t.Helper()
	or := func(text string) Rate {
		if text == "" {
			return Rate{}
		}
		return rate(t, text)
	}
	return Card{Input: or(input), Output: or(output), CacheRead: or(read), CacheWrite5m: or(write5m), CacheWrite1h: or(write1h)}
}

func TestCostIsExact(t *testing.T) {
	heron := card(t, "3", "15", "0.30", "3.75", "6")   // reads and writes beside the input, both priced
	tern := card(t, "2.50", "10", "0.25", "", "")      // no price for writes
	gull := card(t, "5", "30", "0.50", "6.25", "")     // a price for writes
	wren := card(t, "0.28", "0.42", "0.028", "", "")   // a tenth for reads
	plover := card(t, "0.90", "0.90", "", "", "")      // only what every card has
	knot := card(t, "0.50", "1.50", "0", "", "")       // free reads
	knotWithout := card(t, "0.50", "1.50", "", "", "") // the same with the key left out
	for _, c := range []struct {
		name    string
		card    Card
		usage   Usage
		want    string
		noPrice bool
	}{
		{"a messages stream counted once", heron, Usage{Input: 12, CacheRead: 18400, Output: 205}, "0.008631", false},
		{"a chat stream whose usage was asked for by us", tern, Usage{Input: 54, CacheRead: 256, Output: 18}, "0.000379", false},
		{"cached tokens inside the prompt", tern, Usage{Input: 204, CacheRead: 4096, Output: 220}, "0.003734", false},
		{"one-hour writes at their own price", heron, Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, "0.042849", false},
		{"no cache price: at the input price, flagged", plover, Usage{Input: 2000, CacheRead: 8000, Output: 500}, "0.00945", true},
		{"a cache price of zero is free", knot, Usage{Input: 2000, CacheRead: 8000, Output: 500}, "0.00175", false},
		{"the same model without the key", knotWithout, Usage{Input: 2000, CacheRead: 8000, Output: 500}, "0.00575", true},
		{"a paid write instead of the input price", gull, Usage{Input: 4, CacheWrite5m: 7200, Output: 64}, "0.04694", false},
		{"read and paid write in one prompt", gull, Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, "0.008244", false},
		{"writes reported where they have no price", tern, Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, "0.003302", true},
		{"an answer of 300,000 tokens in one line", tern, Usage{Input: 40, Output: 300000}, "3.0001", false},
		{"a compressed answer", tern, Usage{Input: 120, Output: 9}, "0.00039", false},
		{"null usage before the real one", tern, Usage{Input: 33, Output: 5}, "0.0001325", false},
		{"hits and misses at the top level", wren, Usage{Input: 176, CacheRead: 1024, Output: 90}, "0.000115752", false},
		{"an end mark without its blank line", tern, Usage{Input: 75, Output: 11}, "0.0002975", false},
		{"a stream without event lines", heron, Usage{Input: 21, CacheRead: 1536, Output: 17}, "0.0007788", false},
		{"reasoning is part of the output", tern, Usage{Output: 100, Reasoning: 90}, "0.001", false},
		{"no tokens at all", heron, Usage{}, "0", false},
	} {
		got := c.card.Cost(c.usage)
		if !got.Known || !got.Total.Equal(decimal.RequireFromString(c.want)) || got.NoCachePrice != c.noPrice {
			t.Errorf("%s: %s known %t, no cache price %t; want %s, %t", c.name, got.Total, got.Known, got.NoCachePrice, c.want, c.noPrice)
		}
	}
}

func TestCostIsUnknownWithoutTheRatesItNeeds(t *testing.T) {
	for _, c := range []struct {
		name  string
		card  Card
		usage Usage
		known bool
	}{
		{"input missing", card(t, "", "10", "0.25", "", ""), Usage{Input: 1}, false},
		{"output missing", card(t, "2.50", "", "0.25", "", ""), Usage{Input: 1, Output: 1}, false},
		{"input missing where a read falls back to it", card(t, "", "10", "", "", ""), Usage{CacheRead: 1}, false},
		{"input missing and not needed", card(t, "", "10", "0.25", "", ""), Usage{CacheRead: 1, Output: 1}, true},
		{"output missing and not needed", card(t, "2.50", "", "", "", ""), Usage{Input: 1}, true},
		{"nothing known", Card{}, Usage{Input: 1}, false},
	} {
		got := c.card.Cost(c.usage)
		if got.Known != c.known {
			t.Errorf("%s: known %t, want %t", c.name, got.Known, c.known)
		}
		if !got.Known && !got.Total.IsZero() {
			t.Errorf("%s: unknown, and yet %s", c.name, got.Total)
		}
	}
}

func TestAThousandTinyTurnsAddUpExactly(t *testing.T) {
	c := card(t, "0.50", "1.50", "", "", "")
	var sum decimal.Decimal
	for range 1000 {
		one := c.Cost(Usage{Input: 3}).Total
		if !one.Equal(decimal.RequireFromString("0.0000015")) {
			t.Fatalf("one turn costs %s", one)
		}
		sum = sum.Add(one)
	}
	if sum.String() != "0.0015" {
		t.Errorf("a thousand turns cost %s, want 0.0015", sum)
	}
}

// FuzzCost compares every cost with the sum of fractions.
func FuzzCost(f *testing.F) {
	f.Add("3", "15", "0.30", "3.75", "6", int64(12), int64(18400), int64(1500), int64(6000), int64(205))
	f.Add("2.50", "10", "", "", "", int64(204), int64(2048), int64(512), int64(0), int64(100))
	f.Fuzz(func(t *testing.T, in, out, read, w5, w1 string, a, b, c, d, e int64) {
		unknownOr := func(text string) Rate {
			r, err := ParseRate(text, PerMillionTokens)
			if err != nil {
				return Rate{}
			}
			return r
		}
		k := Card{Input: unknownOr(in), Output: unknownOr(out), CacheRead: unknownOr(read), CacheWrite5m: unknownOr(w5), CacheWrite1h: unknownOr(w1)}
		got := k.Cost(Usage{Input: a, CacheRead: b, CacheWrite5m: c, CacheWrite1h: d, Output: e})
		want, known, fallback := new(big.Rat), true, false
		add := func(tokens int64, rates ...Rate) {
			if tokens == 0 {
				return
			}
			for i, r := range rates {
				if r.Known() {
					fallback = fallback || i > 0
					p := new(big.Rat).Mul(r.Decimal().Rat(), new(big.Rat).SetInt64(tokens))
					want.Add(want, p.Quo(p, big.NewRat(1_000_000, 1)))
					return
				}
			}
			known = false
		}
		add(a, k.Input)
		add(b, k.CacheRead, k.Input)
		add(c, k.CacheWrite5m, k.Input)
		add(d, k.CacheWrite1h, k.Input)
		add(e, k.Output)
		if got.Known != known {
			t.Fatalf("known %t, want %t", got.Known, known)
		}
		if known && (got.Total.Rat().Cmp(want) != 0 || got.NoCachePrice != fallback) {
			t.Fatalf("%s (no cache price %t), want %s (%t)", got.Total, got.NoCachePrice, want.RatString(), fallback)
		}
	})
}

// One iteration prices one turn.
func BenchmarkCost(b *testing.B) {
	k := card(b, "3", "15", "0.30", "3.75", "6")
	u := Usage{Input: 12, CacheRead: 18400, Output: 205}
	if got := k.Cost(u).Total.String(); got != "0.008631" {
		b.Fatal(got)
	}
	b.ReportAllocs()
	for b.Loop() {
		k.Cost(u)
	}
}
