package pricing

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func rate(t testing.TB, text string) Rate {
	t.Helper()
	r, err := ParseRate(text, PerMillionTokens)
	if err != nil {
		t.Fatalf("ParseRate(%q): %v", text, err)
	}
	return r
}

func TestParseRateReadsEveryFormExactly(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want string // per million
	}{
		{"3", PerMillionTokens, "3"},
		{"0.30", PerMillionTokens, "0.3"},
		{"0.1", PerMillionTokens, "0.1"},
		{"5.", PerMillionTokens, "5"},
		{".5", PerMillionTokens, "0.5"},
		{"0", PerMillionTokens, "0"},
		{"0.000", PerMillionTokens, "0"},
		{"0e99", PerToken, "0"},
		{"0.123456789012345678", PerMillionTokens, "0.123456789012345678"},
		{"999999999", PerMillionTokens, "999999999"},
		{"2e3", PerMillionTokens, "2000"},
		{"2.50", PerMillionTokens, "2.5"},
		{"0.0025", PerThousandTokens, "2.5"},
		{"0.0000025", PerToken, "2.5"},
		{"3e-06", PerToken, "3"},
		{"3E-6", PerToken, "3"},
		{"3.0e-06", PerToken, "3"},
		{"0.000003", PerToken, "3"},
		{".000003", PerToken, "3"},
		{"0.0000030", PerToken, "3"},
		{"3e+0", PerToken, "3000000"},
	} {
		got, err := ParseRate(c.text, c.unit)
		if err != nil || !got.Known() || got.String() != c.want {
			t.Errorf("ParseRate(%q, %d) = %s, %v; want %s", c.text, c.unit, got, err, c.want)
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "is empty; remove the key or give a price",
		"1_000":                        "is not a price",
		"010":                          "leading zero",
		"00":                           "leading zero",
		"0,30":                         "is not a price",
		"$0.30":                        "is not a price",
		"1:30":                         "is not a price",
		"-1":                           "is not a price",
		"+1":                           "is not a price",
		" 1":                           "is not a price",
		"1 ":                           "is not a price",
		"1\n":                          "is not a price",
		"null":                         "is not a price",
		"~":                            "is not a price",
		".":                            "is not a price",
		"e5":                           "is not a price",
		"1e":                           "is not a price",
		"1e100":                        "is not a price",
		"0x10":                         "is not a price",
		"NaN":                          "is not a price",
		"Inf":                          "is not a price",
		"٣":                            "is not a price",
		"1234567890":                   "is not a price",
		"0.1234567890123456789":        "is not a price",
		strings.Repeat("9", 33):        "is longer than 32 characters",
		strings.Repeat("9", 1e6):       "is longer than 32 characters",
		"1e1000000000":                 "is not a price",
		"0.30 USD":                     "is not a price",
		"1.2.3":                        "is not a price",
		"0." + strings.Repeat("0", 40): "is longer than 32 characters",
	} {
		got, err := ParseRate(text, PerMillionTokens)
		if err == nil || got.Known() || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRate(%.40q) = %s, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestParseUnit(t *testing.T) {
	for text, want := range map[string]Unit{"per_million": PerMillionTokens, "per_thousand": PerThousandTokens, "per_token": PerToken} {
		if got, ok := ParseUnit(text); !ok || got != want {
			t.Errorf("ParseUnit(%q) = %d, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "per million", "million", "PER_TOKEN"} {
		if _, ok := ParseUnit(text); ok {
			t.Errorf("ParseUnit(%q) is a unit", text)
		}
	}
}

func TestBelow(t *testing.T) {
	unknown := Rate{}
	for _, c := range []struct {
		name string
		a, b Rate
		want bool
	}{
		{"lower", rate(t, "0.30"), rate(t, "3"), true},
		{"higher", rate(t, "3"), rate(t, "0.30"), false},
		{"equal", rate(t, "0.30"), rate(t, "0.3"), false},
		{"free is below a price", rate(t, "0"), rate(t, "0.0001"), true},
		{"free is not below free", rate(t, "0"), rate(t, "0.00"), false},
		{"unknown is below nothing", unknown, rate(t, "3"), false},
		{"nothing is below unknown", rate(t, "0"), unknown, false},
		{"unknown and unknown", unknown, unknown, false},
		{"differs in the tenth decimal", rate(t, "0.3000000001"), rate(t, "0.3000000002"), true},
		{"differs in the eighteenth decimal", rate(t, "0.300000000000000002"), rate(t, "0.300000000000000001"), false},
		{"ten decimals against two", rate(t, "0.2999999999"), rate(t, "0.30"), true},
		{"two decimals against ten", rate(t, "0.30"), rate(t, "0.2999999999"), false},
		{"above what an int64 of billionths holds", rate(t, "1e20"), rate(t, "2e20"), true},
		{"small against huge", rate(t, "1"), rate(t, "9e99"), true},
		{"huge against small", rate(t, "9e99"), rate(t, "1"), false},
		{"tiny against free", rate(t, "1e-99"), rate(t, "0"), false},
		{"free against tiny", rate(t, "0"), rate(t, "1e-99"), true},
	} {
		if got := c.a.Below(c.b); got != c.want {
			t.Errorf("%s: %s below %s = %t, want %t", c.name, c.a, c.b, got, c.want)
		}
	}
}

func TestPerMillionOfAnyExponentStaysSmall(t *testing.T) {
	huge := PerMillion(decimal.New(1, 1_000_000_000))
	if !huge.Known() || !rate(t, "1").Below(PerMillion(decimal.New(1, 40))) {
		t.Error("a rate beyond the integer form is not compared by its digits")
	}
	if !PerMillion(decimal.New(0, 1_000_000_000)).Equal(PerMillion(decimal.Zero)) {
		t.Error("zero with an exponent is not free")
	}
}

func TestEqualAndString(t *testing.T) {
	if !rate(t, "0.30").Equal(rate(t, "0.3")) || rate(t, "0").Equal(Rate{}) || !(Rate{}).Equal(Rate{}) {
		t.Error("Equal")
	}
	if got := (Rate{}).String(); got != "unknown" {
		t.Errorf("the zero Rate prints as %q", got)
	}
	text, err := json.Marshal([]Rate{{}, rate(t, "0"), rate(t, "22.50"), rate(t, "1e-7")})
	if err != nil || string(text) != `[null,"0","22.5","0.0000001"]` {
		t.Errorf("JSON is %s, %v", text, err)
	}
}

// FuzzPrice: what is accepted has exactly the value that big.Rat reads, and its
// canonical text is read back as the same rate.
func FuzzPrice(f *testing.F) {
	for _, s := range []string{"3", "0.30", ".5", "5.", "3e-06", "010", "1_000", "", "9e99", "0e0", "999999999.999999999999999999E-99", "0.30"} {
		f.Add(s, uint8(0), "0.3000000001")
		f.Add(s, uint8(2), "1e-5")
	}
	f.Fuzz(func(t *testing.T, text string, unit uint8, other string) {
		u := Unit(unit % 3)
		got, err := ParseRate(text, u)
		if err != nil {
			if got.Known() {
				t.Fatalf("%q: an error with a known rate", text)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q was accepted, big.Rat refuses it", text)
		}
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(u.shift())), nil)))
		if got.Decimal().Rat().Cmp(want) != 0 {
			t.Fatalf("%q in unit %d = %s, want %s", text, u, got, want.RatString())
		}
		again, err := decimal.NewFromString(got.String())
		if err != nil || !PerMillion(again).Equal(got) {
			t.Fatalf("%q prints as %q, which reads as %s, %v", text, got, again, err)
		}
		second, err := ParseRate(other, u)
		if err != nil {
			return
		}
		if got.Below(second) != (got.Decimal().Rat().Cmp(second.Decimal().Rat()) < 0) {
			t.Fatalf("%s below %s = %t", got, second, got.Below(second))
		}
	})
}

func BenchmarkRateBelow(b *testing.B) {
	for _, c := range []struct{ name, low, high string }{
		{"billionths", "0.30", "3"},
		{"digits", "0.30000000001", "3.00000000001"},
	} {
		b.Run(c.name, func(b *testing.B) {
			low, high := rate(b, c.low), rate(b, c.high)
			if !low.Below(high) || high.Below(low) {
				b.Fatal("wrong result")
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if low.Below(high) {
					n++
				}
			}
			if n == 0 {
				b.Fatal("wrong result")
			}
		})
	}
}
