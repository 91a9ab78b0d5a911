package engine

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// rates are hit rates by vendor.
type rates map[string]HitRate

func (r rates) HitRate(_, vendor string) HitRate { return r[vendor] }

func (r rates) Speed(string, string) Speed { return Speed{} }

// sorted is the order of vendors that a blended sort gives to one model.
func sorted(t testing.TB, routes string, hits rates) string {
	t.Helper()
	var vendors strings.Builder
	for line := range strings.Lines(routes) {
		name, _, _ := strings.Cut(line, " ")
		fmt.Fprintf(&vendors, "  %s: {api: [chat], base_url: \"https://%s.example/v1\"}\n", name, name)
	}
	text := "version: 1\nvendors:\n" + vendors.String() + "models:\n  m:\n    routes:\n"
	for line := range strings.Lines(routes) {
		name, price, _ := strings.Cut(strings.TrimSpace(line), " ")
		text += fmt.Sprintf("      - {vendor: %s, model: m, price: {%s}}\n", name, price)
	}
	target, _ := parse(t, text).Resolve("m")
	p, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Sort: catalog.ByBlended}, Targets: []catalog.Target{target}, Learned: hits})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, c := range p.Candidates {
		names = append(names, c.Route.Vendor.Name)
		if p.Models[0].Blended[i].Vendor != names[i] {
			t.Errorf("what it was sorted by is of %+v", p.Models[0].Blended[i])
		}
	}
	return strings.Join(names, " ")
}

// Two routes of one model: a dear input with reads that cost next to nothing, and a
// cheap input. At one hit rate for both they cost the same at 140/149, 94.0 %; where
// the cheap one's cache is never found, at 140/213.
func TestADearInputGoesFirstFromTheCrossoverOn(t *testing.T) {
	const pair = "cheap input: 0.080, output: 1, cache_read: 0.016\ndear input: 0.220, output: 1, cache_read: 0.007\n"
	const peak = "cheap input: 0.080, output: 1, cache_read: 0.016\ndear input: 0.435, output: 1, cache_read: 0.0145\n"
	at := func(read, prompt int64) HitRate { return HitRate{Turns: 100, Read: read, Prompt: prompt} }
	for name, c := range map[string]struct {
		routes      string
		cheap, dear HitRate
		want        string
	}{
		"no hits anywhere":              {pair, at(0, 10), at(0, 10), "cheap dear"},
		"both just below the crossover": {pair, at(139_999_999, 149_000_000), at(139_999_999, 149_000_000), "cheap dear"},
		"both at it":                    {pair, at(140, 149), at(140, 149), "cheap dear"}, // equal: the catalog's order
		"both just above":               {pair, at(140_000_001, 149_000_000), at(140_000_001, 149_000_000), "dear cheap"},
		"both at 93.9 %":                {pair, at(939, 1000), at(939, 1000), "cheap dear"},
		"both at 94.0 %":                {pair, at(940, 1000), at(940, 1000), "dear cheap"},
		"at peak prices, at 99 %":       {peak, at(99, 100), at(99, 100), "cheap dear"},
		"at peak prices, at 99.9 %":     {peak, at(999, 1000), at(999, 1000), "dear cheap"},
		"one alone, just below":         {pair, HitRate{}, at(139_999_999, 213_000_000), "cheap dear"},
		"one alone, at its crossover":   {pair, HitRate{}, at(140, 213), "cheap dear"},
		"one alone, just above":         {pair, HitRate{}, at(140_000_001, 213_000_000), "dear cheap"},
		"too few turns":                 {pair, HitRate{}, HitRate{Turns: LeastTurns - 1, Read: 99, Prompt: 100}, "cheap dear"},
		"just enough turns":             {pair, HitRate{}, HitRate{Turns: LeastTurns, Read: 99, Prompt: 100}, "dear cheap"},
		"more read than there was":      {pair, HitRate{}, at(101, 100), "cheap dear"},
	} {
		if got := sorted(t, c.routes, rates{"cheap": c.cheap, "dear": c.dear}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The slow twin: fractions of big integers, sorted as a whole.
func TestABlendedSortIsThatOfFractions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		type route struct {
			name string
			cost *big.Rat // nil: unknown
		}
		var all []route
		var text strings.Builder
		hits := rates{}
		for i := range 1 + r.IntN(6) {
			name := fmt.Sprintf("v%d", i)
			input, read := r.Int64N(40), r.Int64N(40)
			h := HitRate{Turns: r.Int64N(2 * LeastTurns), Prompt: r.Int64N(50)}
			h.Read = r.Int64N(h.Prompt + 2)
			hits[name] = h
			knowsInput, knowsRead := r.IntN(5) > 0, r.IntN(5) > 0
			next := route{name: name}
			fmt.Fprintf(&text, "%s output: 1", name)
			if knowsInput {
				fmt.Fprintf(&text, ", input: 0.0%02d", input)
				next.cost = big.NewRat(input, 1000)
			}
			if knowsRead {
				fmt.Fprintf(&text, ", cache_read: 0.0%02d", read)
			}
			text.WriteString("\n")
			if knowsInput && knowsRead && h.Turns >= 20 && h.Prompt > 0 && h.Read <= h.Prompt {
				share := big.NewRat(h.Read, h.Prompt)
				rest := new(big.Rat).Sub(big.NewRat(1, 1), share)
				next.cost = new(big.Rat).Add(share.Mul(share, big.NewRat(read, 1000)), rest.Mul(rest, big.NewRat(input, 1000)))
			}
			all = append(all, next)
		}
		slices.SortStableFunc(all, func(a, b route) int {
			switch {
			case a.cost == nil && b.cost == nil:
				return 0
			case a.cost == nil:
				return 1
			case b.cost == nil:
				return -1
			}
			return a.cost.Cmp(b.cost)
		})
		var want []string
		for _, one := range all {
			want = append(want, one.name)
		}
		if got := sorted(t, text.String(), hits); got != strings.Join(want, " ") {
			t.Fatalf("sorted %s, want %v\n%s%+v", got, want, text.String(), hits)
		}
	}
}

func TestWhatABlendShows(t *testing.T) {
	target, _ := parse(t, fleet).Resolve("m")
	card := func(vendor string) Blend {
		r := routeOf(target.Models[0], vendor)
		sheet, _ := r.Price.Sheet(time.Time{})
		return BlendOf(sheet.Card, HitRate{Turns: 20, Read: 1, Prompt: 3})
	}
	for vendor, want := range map[string]string{"ant": "2.1", "bee": "1.5", "cat": "unknown", "dog": "1"} {
		if got := card(vendor); got.Rate().String() != want || got.Known() != (want != "unknown") {
			t.Errorf("%s: %s, want %s", vendor, got.Rate(), want)
		}
	}
	if third := BlendOf(target.Models[0].Routes[0].Price[0].Card, HitRate{Turns: 20, Read: 2, Prompt: 7}).Rate().String(); third != "2.228571428571428571" {
		t.Errorf("two sevenths: %s", third)
	}
}
