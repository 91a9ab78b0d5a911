package pricelist

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRateIsExact: what a list states is what is read, in every unit. The slow twin
// is math/big, which knows no floats either.
func TestRateIsExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 5_000 {
		text := fmt.Sprintf("%d.%0*d", random.IntN(1000), 1+random.IntN(4), random.IntN(10))
		if random.IntN(2) == 0 {
			text = fmt.Sprintf("%de-%d", 1+random.IntN(9999), 2+random.IntN(10))
		}
		for shift, times := range map[int32]int64{perMillion: 1, perThousand: 1e3, centsEach: 1e4, perToken: 1e6} {
			var r Row
			got := r.rate(&value{kind: number, text: text}, "x", shift)
			want, _ := new(big.Rat).SetString(text)
			want.Mul(want, new(big.Rat).SetInt64(times))
			if !got.Known() || got.Decimal().Rat().Cmp(want) != 0 || len(r.Flags) > 0 {
				t.Fatalf("%s × %d is %s, want %s; flags %v", text, times, got, want.FloatString(20), r.Flags)
			}
		}
	}
}

// TestRateOfOddNumbers: noise is rounded and said; what cannot be read is unknown
// and said.
func TestRateOfOddNumbers(t *testing.T) {
	for _, c := range []struct {
		text, want string
		shift      int32
		code       Code
	}{
		{"0.00000090000000000000005", "0.9", perToken, FloatNoise},
		{"3.0000000000000004e-07", "0.3", perToken, FloatNoise},
		{"2.8799999999999999", "2.88", perMillion, FloatNoise},
		{"7.0000002e-06", "0.07", centsEach, FloatNoise},
		{"0.0299999997", "0.03", perMillion, FloatNoise},
		{"1.2345678", "1.2345678", perMillion, ""},
		{"5.46875e-07", "0.546875", perToken, ""},
		{"0.12345678901234", "0.12345678901234", perMillion, ""},
		{"256000.0", "256000", perMillion, ""},
		{"-1", "unknown", perToken, NegativePrice},
		{"1e99", "unknown", perMillion, UnreadablePrice},
		{"1e-99", "unknown", perMillion, UnreadablePrice},
		{"1000000000", "unknown", perMillion, UnreadablePrice},
		{"0.1234567890123456789", "unknown", perMillion, UnreadablePrice},
		{"free", "unknown", perMillion, UnreadablePrice},
		{"NaN", "unknown", perMillion, UnreadablePrice},
		{"1,5", "unknown", perMillion, UnreadablePrice},
		{"0x10", "unknown", perMillion, UnreadablePrice},
		{strings.Repeat("9", 5000), "unknown", perMillion, UnreadablePrice},
		{"1e999999999", "unknown", perMillion, UnreadablePrice},
		{"  ", "unknown", perMillion, ""},
	} {
		var r Row
		got := r.rate(&value{kind: text, text: c.text}, "x", c.shift)
		if got.String() != c.want || c.code != "" && !r.Has(c.code) || c.code == "" && len(r.Flags) > 0 {
			t.Errorf("%.30q is %s with %v, want %s with %q", c.text, got, r.Flags, c.want, c.code)
		}
	}
}

// TestCountOfTokens: whole numbers only.
func TestCountOfTokens(t *testing.T) {
	for text, want := range map[string]int64{"200000": 200000, "256000.0": 256000, "1e6": 1000000, "0": 0, "1.5": -1, "-1": -1, "1e15": -1, "many": -1} {
		n, ok := count(&value{kind: number, text: text})
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%s is %d, %v", text, n, ok)
		}
	}
}
