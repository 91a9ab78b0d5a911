package pricing

import "testing"

func steps(t testing.TB) Band {
	return Band{
		Card:     card(t, "3", "15", "0.30", "3.75", "6"),
		Tiers:    []Tier{{200_000, card(t, "6", "22.50", "0.60", "7.50", "12")}, {500_000, card(t, "9", "30", "0.90", "", "18")}},
		Marginal: true,
	}
}

func TestAMarginalBandHasParts(t *testing.T) {
	b := steps(t)
	s := Sheet{Band: b}
	for _, c := range []struct {
		prompt        int64
		parts         []int64
		input, output string
		write5m       string
	}{
		{0, nil, "3", "15", "3.75"},
		{200_000, nil, "3", "15", "3.75"},
		{200_001, []int64{200_000, 1}, "3.000014999925000375", "22.5", "3.750018749906250469"},
		{400_000, []int64{200_000, 200_000}, "4.5", "22.5", "5.625"},
		{500_000, []int64{200_000, 300_000}, "4.8", "22.5", "6"},
		{500_001, []int64{200_000, 300_000, 1}, "4.800008399983200034", "30", "unknown"},
		{1_000_000, []int64{200_000, 300_000, 500_000}, "6.9", "30", "unknown"},
	} {
		got := s.At(Terms{Prompt: c.prompt})
		if len(got.Parts) != len(c.parts) {
			t.Errorf("%d tokens: %d parts", c.prompt, len(got.Parts))
			continue
		}
		for i := range c.parts {
			if got.Parts[i].Tokens != c.parts[i] {
				t.Errorf("%d tokens: part %d has %d", c.prompt, i+1, got.Parts[i].Tokens)
			}
		}
		if got.Input.String() != c.input {
			t.Errorf("%d tokens: the mean input is %s, want %s", c.prompt, got.Input, c.input)
		}
		if got.Output.String() != c.output || got.CacheWrite5m.String() != c.write5m {
			t.Errorf("%d tokens: output %s, write %s; want %s, %s", c.prompt, got.Output, got.CacheWrite5m, c.output, c.write5m)
		}
	}
}

func TestAMarginalCostIsThatOfEachTokensPlace(t *testing.T) {
	s := Sheet{Band: steps(t)}
	for _, c := range []struct {
		name   string
		usage  Usage
		want   string
		marked bool
	}{
		{"below the first threshold", Usage{Input: 1000, Output: 1000}, "0.018", false},
		{"fresh text through all tiers", Usage{Input: 600_000, Output: 1000}, "3.33", false},
		{"reads through all tiers", Usage{CacheRead: 600_000, Output: 1000}, "0.36", false},
		{"what is read stands first", Usage{CacheRead: 200_000, Input: 100_000}, "0.66", false},
		{"longer lifetimes before shorter ones", Usage{CacheWrite1h: 200_000, CacheWrite5m: 100_000}, "1.95", false},
		{"a write without a price, where it has none", Usage{CacheRead: 500_000, CacheWrite5m: 100_000}, "1.14", true},
		{"a write with a price before that place", Usage{CacheRead: 400_000, CacheWrite5m: 100_000, Input: 100_000}, "1.83", false},
	} {
		cost := s.At(Terms{Prompt: c.usage.Prompt()}).Cost(c.usage)
		if !cost.Known || cost.Total.String() != c.want || cost.NoCachePrice != c.marked {
			t.Errorf("%s: %s (known %t, no cache price %t), want %s, %t", c.name, cost.Total, cost.Known, cost.NoCachePrice, c.want, c.marked)
		}
	}
	// The card of an estimate may meet a larger prompt: the rest is of the last part.
	if got := s.At(Terms{Prompt: 300_000}).Cost(Usage{Input: 700_000}).Total.String(); got != "3.6" {
		t.Errorf("tokens beyond the parts: %s", got)
	}
	if got := s.At(Terms{Prompt: 300_000}).Cost(Usage{Input: 100_000}).Total.String(); got != "0.3" {
		t.Errorf("fewer tokens than the parts: %s", got)
	}
}

func TestAMarginalCostIsUnknownWithoutTheRatesItNeeds(t *testing.T) {
	b := steps(t)
	b.Tiers[1].Card = Card{CacheRead: rate(t, "0.90")}
	s := Sheet{Band: b}
	for _, c := range []struct {
		name  string
		usage Usage
		known bool
	}{
		{"no input rate where fresh text lies", Usage{Input: 600_000}, false},
		{"no input rate to fall back to", Usage{CacheWrite5m: 600_000}, false},
		{"only reads lie there", Usage{CacheRead: 600_000}, true},
		{"no output rate", Usage{CacheRead: 600_000, Output: 1}, false},
		{"the tier is not reached", Usage{Input: 500_000, Output: 1}, true},
	} {
		card := s.At(Terms{Prompt: c.usage.Prompt()})
		if got := card.Cost(c.usage); got.Known != c.known || !got.Known && !got.Total.IsZero() {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := card.Saving(c.usage); got.Known != (c.known && c.usage.Prompt() <= 500_000) {
			t.Errorf("%s: saving %+v", c.name, got)
		}
	}
}

// Where the vendor has two prices for reads, a part that states one of them has that.
func TestAMarginalReadOfAnImplicitCache(t *testing.T) {
	b := Band{Card: Card{Input: rate(t, "3"), CacheRead: rate(t, "0.30"), CacheReadImplicit: rate(t, "0.60")},
		Tiers: []Tier{{100_000, Card{Input: rate(t, "6"), CacheRead: rate(t, "0.60")}}}, Marginal: true}
	s := Sheet{Band: b}
	for implicit, want := range map[bool]string{false: "0.09", true: "0.12"} {
		card := s.At(Terms{Prompt: 200_000, Implicit: implicit})
		if got := card.Cost(Usage{CacheRead: 200_000}).Total.String(); got != want {
			t.Errorf("implicit %t: %s, want %s", implicit, got, want)
		}
		if mean := map[bool]string{false: "0.45", true: "0.6"}[implicit]; card.CacheRead.String() != mean {
			t.Errorf("implicit %t: the mean read is %s, want %s", implicit, card.CacheRead, mean)
		}
		if card.CacheReadImplicit.Known() || card.Parts[0].Card.CacheReadImplicit.Known() {
			t.Errorf("implicit %t: the card of a turn has two prices for reads", implicit)
		}
	}
}
