package pricing

import (
	"math/big"
	"testing"
)

// The figures are those of the reference on economics, example 20, whose unit is the
// input price.
func TestAnHourOrFiveMinutes(t *testing.T) {
	card := card(t, "1", "", "0.1", "1.25", "2")
	agent := Pauses{N: 1000, Within5m: 949, Within1h: 997}
	for _, c := range []struct {
		name          string
		pauses        Pauses
		h             Horizon
		five, hour    string
		gain, premium string
		pays          bool
	}{
		{"an agent with fifty turns to come", agent, Horizon{50_000, 1000, 50}, "0.15865", "0.1057", "199886.25", "75000", true},
		{"an agent with ten turns to come", agent, Horizon{50_000, 1000, 10}, "0.15865", "0.1057", "29387.25", "45000", false},
		{"people, who pause longer", Pauses{N: 100, Within5m: 80, Within1h: 98}, Horizon{50_000, 1000, 10}, "0.33", "0.138", "106560", "45000", true},
		{"hardly a pause", Pauses{N: 1000, Within5m: 990, Within1h: 995}, Horizon{50_000, 1000, 50}, "0.1115", "0.1095", "7550", "75000", false},
		{"the last turn", agent, Horizon{50_000, 1000, 0}, "0.15865", "0.1057", "0", "37500", false},
		{"as dear either way", Pauses{N: 4, Within5m: 2, Within1h: 4}, Horizon{0, 0, 9}, "0.675", "0.1", "0", "0", false},
	} {
		p := card.HourPays(c.pauses, c.h)
		same := func(what string, got *big.Rat, want string) {
			t.Helper()
			if w, _ := new(big.Rat).SetString(want); got == nil || got.Cmp(w) != 0 {
				t.Errorf("%s: %s is %v, want %s", c.name, what, got, want)
			}
		}
		same("a turn after five minutes' writes", p.FiveMinutes, c.five)
		same("a turn after an hour's", p.Hour, c.hour)
		same("the gain", p.Gain, c.gain)
		same("the premium", p.Premium, c.premium)
		if p.Pays() != c.pays {
			t.Errorf("%s: pays %v, want %v", c.name, p.Pays(), c.pays)
		}
	}
}

func TestWhatIsNotKnownDoesNotPay(t *testing.T) {
	full := card(t, "", "", "0.1", "1.25", "2")
	h, pauses := Horizon{50_000, 1000, 50}, Pauses{10, 5, 10}
	if p := full.HourPays(pauses, h); !p.Known() || !p.Pays() {
		t.Fatalf("%+v", p)
	}
	for name, c := range map[string]Card{
		"read": {CacheWrite5m: full.CacheWrite5m, CacheWrite1h: full.CacheWrite1h},
		"5m":   {CacheRead: full.CacheRead, CacheWrite1h: full.CacheWrite1h},
		"1h":   {CacheRead: full.CacheRead, CacheWrite5m: full.CacheWrite5m},
	} {
		if p := c.HourPays(pauses, h); p.Known() || p.Pays() {
			t.Errorf("without a rate for %s: %+v", name, p)
		}
	}
	if p := full.HourPays(Pauses{}, h); p.Known() || p.Pays() {
		t.Errorf("without a pause: %+v", p)
	}
}
