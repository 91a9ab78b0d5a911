package pricing

import (
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func times(t testing.TB, text string) decimal.Decimal {
	t.Helper()
	x, err := ParseTimes(text)
	if err != nil {
		t.Fatalf("ParseTimes(%q): %v", text, err)
	}
	return x
}

func TestParseTimes(t *testing.T) {
	for text, want := range map[string]string{
		"6": "6", "1.1": "1.1", "2.0": "2", ".5": "0.5", "100": "100", "1e2": "100", "0.000000000000000001": "0.000000000000000001", "1.": "1",
	} {
		if got := times(t, text); got.String() != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                             "is empty; give a multiple such as 1.1",
		"0":                            `"0" would make everything free`,
		"0.00":                         `"0.00" would make everything free`,
		"0e5":                          `"0e5" would make everything free`,
		"-1":                           `"-1" is not a multiple`,
		"+1":                           `"+1" is not a multiple`,
		"10%":                          `"10%" is not a multiple`,
		"1,1":                          `"1,1" is not a multiple`,
		"x6":                           `"x6" is not a multiple`,
		"01.1":                         "leading zero",
		"100.1":                        `"100.1" is more than 100 times the price`,
		"9e99":                         `"9e99" is more than 100 times the price`,
		"1." + strings.Repeat("0", 40): "is longer than 32 characters",
	} {
		if got, err := ParseTimes(text); err == nil || !strings.Contains(err.Error(), want) || !got.IsZero() {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestSurcharges(t *testing.T) {
	s := Sheet{
		Band: Band{Card: card(t, "3", "15", "0.30", "3.75", "6")},
		Surcharges: []Surcharge{
			{Speed: "fast", Times: times(t, "6")},
			{Region: "us", Times: times(t, "1.1")},
			{Speed: "turbo", Region: "eu", Times: times(t, "2")},
		},
	}
	s.Card.Request = rate(t, "5000") // 0.005 a request
	for _, c := range []struct {
		name          string
		speed, region string
		input, read   string
	}{
		{"neither", "", "", "3", "0.3"},
		{"the ordinary speed by its name", "standard", "", "3", "0.3"},
		{"a region that none names", "", "eu", "3", "0.3"},
		{"the vendor does not say where", "", "not_available", "3", "0.3"},
		{"a speed", "fast", "", "18", "1.8"},
		{"a region", "", "us", "3.3", "0.33"},
		{"both multiply", "fast", "us", "19.8", "1.98"},
		{"a speed that has a price in one region", "turbo", "eu", "6", "0.6"},
		{"and none in another", "turbo", "us", "unknown", "unknown"},
		{"a speed that none names", "slow", "", "unknown", "unknown"},
		{"words are the vendor's", "Fast", "", "unknown", "unknown"},
	} {
		got := s.At(Terms{Speed: c.speed, Region: c.region})
		if got.Input.String() != c.input || got.CacheRead.String() != c.read {
			t.Errorf("%s: input %s, read %s; want %s, %s", c.name, got.Input, got.CacheRead, c.input, c.read)
		}
		if fee := got.Request.Of(1).String(); fee != "0.005" {
			t.Errorf("%s: the fee is %s", c.name, fee)
		}
	}
	plain := Sheet{Band: Band{Card: in(t, "3")}}
	if got := plain.At(Terms{Speed: "fast"}).Input; got.Known() {
		t.Errorf("without surcharges a faster answer costs %s", got)
	}
	if got := plain.At(Terms{Region: "us"}).Input.String(); got != "3" {
		t.Errorf("without surcharges a region costs %s", got)
	}
}

// A surcharge leaves the catalog's own prices alone, those of its tiers included.
func TestASurchargeChangesNoSheet(t *testing.T) {
	s := Sheet{
		Band:       Band{Card: in(t, "3"), Tiers: []Tier{{200_000, in(t, "6")}}, Marginal: true},
		Surcharges: []Surcharge{{Speed: "fast", Times: times(t, "2")}},
	}
	for range 2 {
		fast := s.At(Terms{Prompt: 300_000, Speed: "fast"})
		if got := fast.Input.String(); got != "8" { // (200000 × 3 + 100000 × 6) / 300000, doubled
			t.Fatalf("the mean is %s", got)
		}
		if got := fast.Cost(Usage{Input: 300_000}).Total.String(); got != "2.4" {
			t.Fatalf("it costs %s", got)
		}
	}
	if s.Card.Input.String() != "3" || s.Tiers[0].Card.Input.String() != "6" {
		t.Errorf("the sheet is changed: %+v", s.Band)
	}
}

// FuzzTimes: what is accepted has exactly the value that big.Rat reads, is more
// than zero and at most a hundred.
func FuzzTimes(f *testing.F) {
	for _, text := range []string{"6", "1.1", ".5", "5.", "1e2", "0", "0e9", "010", "1_0", "", "9e99", "100.000000000000000001", "1E-99"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTimes(text)
		if err != nil {
			if !got.IsZero() {
				t.Fatalf("%q: an error with the multiple %s", text, got)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok || got.Rat().Cmp(want) != 0 {
			t.Fatalf("%q = %s, big.Rat reads %v", text, got, want)
		}
		if want.Sign() <= 0 || want.Cmp(big.NewRat(100, 1)) > 0 {
			t.Fatalf("%q was accepted", text)
		}
		if _, err := ParseRate(text, PerMillionTokens); err != nil {
			t.Fatalf("%q is a multiple and not a price: %v", text, err)
		}
	})
}
