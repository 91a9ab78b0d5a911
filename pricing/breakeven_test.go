package pricing

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
)

// numbers is a card of input, cache read and output: the order in which the
// published comparisons of routes state them.
func numbers(t testing.TB, input, read, output string) Card {
	t.Helper()
	return card(t, input, output, read, "", "")
}

// near compares an exact number with one printed to some digits.
func near(t *testing.T, what string, got *big.Rat, digits int, want string) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: no number, want %s", what, want)
		return
	}
	if text := got.FloatString(digits); text != want {
		t.Errorf("%s: %s, want %s", what, text, want)
	}
}

func TestStayPrefix(t *testing.T) {
	writes := card(t, "3", "15", "0.30", "3.75", "")
	flat := card(t, "0.90", "3", "", "", "")
	p := StayPrefix(writes, flat, 1200, 500)
	if p.When != Above || p.At.RatString() != "15700" {
		t.Fatalf("staying pays %s %v, want above 15700", p.When, p.At)
	}
	l := Load{Warm: 40_000, New: 1200, Output: 500}
	stay, _ := writes.Warm(l)
	move, _ := flat.Cold(l)
	if stay.String() != "0.024" || move.String() != "0.03858" {
		t.Errorf("at 40,000 tokens staying costs %s and moving %s, want 0.024 and 0.03858", stay, move)
	}
	for _, c := range []struct {
		name        string
		own, rival  Card
		new, output int64
		want        When
		at          string
	}{
		{"the rival's fresh input is the price of a read", numbers(t, "1", "0.5", "3"), numbers(t, "0.5", "0.05", "3"), 100, 10, Never, ""},
		{"the same, but its output is dearer", numbers(t, "0.5", "0.5", "3"), numbers(t, "0.5", "0.05", "4"), 100, 10, Always, ""},
		{"below the rival in everything", numbers(t, "1", "0.1", "3"), numbers(t, "2", "0.2", "4"), 100, 10, Always, ""},
		{"a dearer read, forgiven to short prefixes by cheaper output", numbers(t, "1", "0.5", "3"), numbers(t, "0.4", "0.1", "9"), 0, 100, Below, "6000"},
		{"the read is not known", numbers(t, "1", "", "3"), numbers(t, "2", "0.2", "4"), 100, 10, CannotTell, ""},
		{"the rival's input is not known", numbers(t, "1", "0.1", "3"), numbers(t, "", "0.2", "4"), 100, 10, CannotTell, ""},
		{"an output is not known", numbers(t, "1", "0.1", ""), numbers(t, "2", "0.2", "4"), 100, 10, CannotTell, ""},
		{"an output is not known and there is none", numbers(t, "1", "0.1", ""), numbers(t, "2", "0.2", "4"), 100, 0, Always, ""},
	} {
		got := StayPrefix(c.own, c.rival, c.new, c.output)
		if got.When != c.want || c.at != "" && got.At.RatString() != c.at {
			t.Errorf("%s: %s %v, want %s %s", c.name, got.When, got.At, c.want, c.at)
		}
	}
}

// A warm route stays ahead of a cheaper rival until the answer is this long.
func TestMoveOutput(t *testing.T) {
	for _, c := range []struct {
		name       string
		own, rival Card
		want       string
	}{
		{"1.74/0.145/3.48 against 0.435/0.87", numbers(t, "1.74", "0.145", "3.48"), numbers(t, "0.435", "", "0.87"), "0.111"},
		{"1.74/0.20/3.48 against 0.435/0.87", numbers(t, "1.74", "0.20", "3.48"), numbers(t, "0.435", "", "0.87"), "0.090"},
		{"0.50/0.25/1.50 against 0.26/0.38", numbers(t, "0.50", "0.25", "1.50"), numbers(t, "0.26", "", "0.38"), "0.009"},
		{"0.15/0.015/0.60 against 0.039/0.19", numbers(t, "0.15", "0.015", "0.60"), numbers(t, "0.039", "", "0.19"), "0.059"},
		{"0.075/0.0375/0.30 against 0.04/0.15", numbers(t, "0.075", "0.0375", "0.30"), numbers(t, "0.04", "", "0.15"), "0.017"},
		{"1.00/0.50/3.20 against 0.60/2.08", numbers(t, "1.00", "0.50", "3.20"), numbers(t, "0.60", "", "2.08"), "0.089"},
	} {
		got := MoveOutput(c.own, c.rival)
		if got.When != Above {
			t.Errorf("%s: %s", c.name, got.When)
		}
		near(t, c.name, got.At, 3, c.want)
	}
	if got := MoveOutput(numbers(t, "1.3", "0.1", "2.6"), numbers(t, "1.32", "", "3.96")); got.When != Never {
		t.Errorf("a rival dearer in both: %s", got.When)
	}
	if got := MoveOutput(numbers(t, "1", "0.5", "3"), numbers(t, "0.4", "", "2")); got.When != Always {
		t.Errorf("a read above the rival's input: %s", got.When)
	}
	if got := MoveOutput(numbers(t, "1", "", "3"), numbers(t, "0.4", "", "2")); got.When != CannotTell {
		t.Errorf("a read that is not known: %s", got.When)
	}
}

// Three loads: an agent's, a chat's, and a long answer's.
var loads = [3]Load{{100_000, 700, 220}, {10_000, 2000, 350}, {4000, 1000, 4000}}

func TestMoveTurns(t *testing.T) {
	with := func(c Card, write string) Card { c.CacheWrite5m = rate(t, write); return c }
	sonnet := with(numbers(t, "3", "0.3", "15"), "3.75")
	for _, c := range []struct {
		name       string
		own, rival Card
		stay, move [3]string // in thousandths, as published
		turns      [3]int64  // 0: never
	}{
		{"1.74/0.145/3.48 to 0.435/0.003625/0.87", numbers(t, "1.74", "0.145", "3.48"), numbers(t, "0.435", "0.003625", "0.87"), [3]string{"16.5", "6.1", "16.2"}, [3]string{"44.0", "5.5", "5.7"}, [3]int64{3, 1, 1}},
		{"1.3/0.1/2.6 to 0.435/0.003625/0.87", numbers(t, "1.3", "0.1", "2.6"), numbers(t, "0.435", "0.003625", "0.87"), [3]string{"11.5", "4.5", "12.1"}, [3]string{"44.0", "5.5", "5.7"}, [3]int64{5, 2, 1}},
		{"1.74/0.2/3.48 to 1.3/0.1/2.6", numbers(t, "1.74", "0.20", "3.48"), numbers(t, "1.3", "0.1", "2.6"), [3]string{"22.0", "6.7", "16.5"}, [3]string{"131.5", "16.5", "16.9"}, [3]int64{12, 6, 2}},
		{"0.6/0.3/2.2 to 0.40/0.08/1.75", numbers(t, "0.6", "0.3", "2.2"), numbers(t, "0.40", "0.08", "1.75"), [3]string{"30.9", "5.0", "10.6"}, [3]string{"40.7", "5.4", "9.0"}, [3]int64{2, 2, 1}},
		{"1/0.5/3.2 to 0.60/0.12/2.08", numbers(t, "1", "0.5", "3.2"), numbers(t, "0.60", "0.12", "2.08"), [3]string{"51.4", "8.1", "15.8"}, [3]string{"60.9", "7.9", "11.3"}, [3]int64{2, 1, 1}},
		{"1.45/0.3625/4.5 to 0.95/0.18/3.00", numbers(t, "1.45", "0.3625", "4.5"), numbers(t, "0.95", "0.18", "3.00"), [3]string{"38.3", "8.1", "20.9"}, [3]string{"96.3", "12.5", "16.8"}, [3]int64{5, 3, 1}},
		{"0.6/0.12/3 to 0.30/0.05/1.50", numbers(t, "0.6", "0.12", "3"), numbers(t, "0.30", "0.05", "1.50"), [3]string{"13.1", "3.5", "13.1"}, [3]string{"30.5", "4.1", "7.5"}, [3]int64{4, 2, 1}},
		{"1.2/0.2/4.5 to 0.75/0.15/3.50", numbers(t, "1.2", "0.2", "4.5"), numbers(t, "0.75", "0.15", "3.50"), [3]string{"21.8", "6.0", "20.0"}, [3]string{"76.3", "10.2", "17.8"}, [3]int64{11, 4, 1}},
		{"0.45/0.22/3 to 0.60/0.06/3.60 with writes at 0.75", numbers(t, "0.45", "0.22", "3"), with(numbers(t, "0.60", "0.06", "3.60"), "0.75"), [3]string{"23.0", "4.2", "13.3"}, [3]string{"76.3", "10.3", "18.2"}, [3]int64{5, 9, 0}},
		{"the same list price at both", sonnet, sonnet, [3]string{"35.9", "15.8", "65.0"}, [3]string{"380.9", "50.3", "78.8"}, [3]int64{0, 0, 0}},
		{"a tenth cheaper", numbers(t, "2.75", "0.275", "16.5"), numbers(t, "2.5", "0.25", "15"), [3]string{"33.1", "14.0", "69.9"}, [3]string{"255.1", "35.3", "72.5"}, [3]int64{75, 18, 2}},
	} {
		for i, l := range loads {
			stay, _ := c.own.Warm(l)
			move, _ := c.rival.Cold(l)
			if got := thousandths(stay); got != c.stay[i] {
				t.Errorf("%s, load %d: staying costs %s, want %s", c.name, i, got, c.stay[i])
			}
			if got := thousandths(move); got != c.move[i] {
				t.Errorf("%s, load %d: moving costs %s, want %s", c.name, i, got, c.move[i])
			}
			turns, ok := MoveTurns(c.own, c.rival, l).Least()
			if !ok {
				turns = new(big.Int)
			}
			if turns.Int64() != c.turns[i] {
				t.Errorf("%s, load %d: pays from %s turns, want %d", c.name, i, turns, c.turns[i])
			}
		}
	}
	if got := MoveTurns(numbers(t, "1", "0.1", "3"), numbers(t, "0.5", "", "2"), loads[0]); got.When != CannotTell {
		t.Errorf("the rival's reads are not known: %s", got.When)
	}
}

func thousandths(amount decimal.Decimal) string { return amount.Shift(3).Round(1).StringFixed(1) }

func TestPayBack(t *testing.T) {
	for _, c := range []struct {
		name               string
		input, read, write string
		when               When
		at                 string
		reads              int64
	}{
		{"five minutes at 1.25 and a tenth", "3", "0.30", "3.75", Above, "0.28", 1},
		{"an hour at 2 and a tenth", "3", "0.30", "6", Above, "1.11", 2},
		{"twice the input and half of it: one reuse does not pay", "2.00", "1.00", "4.00", Above, "2.00", 2},
		{"a quarter more and a tenth", "0.30", "0.03", "0.375", Above, "0.28", 1},
		{"writes as dear as input", "1", "0.10", "1", Always, "", 0},
		{"reading saves nothing", "1", "1", "1.25", Never, "", 0},
		{"reading costs more than input", "0.10", "0.30", "0.20", Never, "", 0},
		{"the read is not known", "1", "", "1.25", CannotTell, "", 0},
		{"no price for writes", "1", "0.1", "", CannotTell, "", 0},
	} {
		k := card(t, c.input, "", c.read, c.write, "")
		got := k.PayBack(k.CacheWrite5m)
		if got.When != c.when {
			t.Errorf("%s: %s, want %s", c.name, got.When, c.when)
			continue
		}
		if c.at != "" {
			near(t, c.name, got.At, 2, c.at)
		}
		reads, ok := got.Reached()
		if !ok {
			reads = new(big.Int)
		}
		if reads.Int64() != c.reads {
			t.Errorf("%s: %s reads, want %d", c.name, reads, c.reads)
		}
	}
}

func TestCrossover(t *testing.T) {
	low := numbers(t, "0.080", "0.016", "")
	for _, c := range []struct {
		name string
		a, b Card
		when When
		at   string // in hundredths
	}{
		{"0.220/0.007 against 0.080/0.016", numbers(t, "0.220", "0.007", ""), low, Above, "94.0"},
		{"twice the price at peak", numbers(t, "0.440", "0.014", ""), low, Above, "99.4"},
		{"the other way round", low, numbers(t, "0.220", "0.007", ""), Below, "94.0"},
		{"dearer at every hit rate", numbers(t, "1", "0.5", ""), low, Never, ""},
		{"cheaper at every hit rate", low, numbers(t, "1", "0.5", ""), Always, ""},
		{"equal throughout", low, low, Never, ""},
		{"equal where everything hits", numbers(t, "1", "0.1", ""), numbers(t, "0.5", "0.1", ""), Never, ""},
		{"one read is not known", numbers(t, "1", "", ""), low, CannotTell, ""},
	} {
		got := Crossover(c.a, c.b)
		if got.When != c.when {
			t.Errorf("%s: %s, want %s", c.name, got.When, c.when)
			continue
		}
		if c.at != "" {
			near(t, c.name, new(big.Rat).Mul(got.At, big.NewRat(100, 1)), 1, c.at)
		}
	}
}

func TestBlended(t *testing.T) {
	c := numbers(t, "3", "0.30", "15")
	if got := c.Blended(9, 10).String(); got != "0.57" {
		t.Errorf("at nine tenths a token costs %s, want 0.57", got)
	}
	if got := c.Blended(1, 3).String(); got != "2.1" {
		t.Errorf("at a third a token costs %s, want 2.1", got)
	}
	if numbers(t, "3", "", "15").Blended(0, 1).Known() || c.Blended(0, 0).Known() {
		t.Error("a blend of a rate that is not known, or of nothing, is known")
	}
}

// A turn costs what it will be billed, the fee and the parts of the prompt included.
func TestWarmAndColdAreBills(t *testing.T) {
	marginal := Band{Card: card(t, "1.25", "10", "0.125", "", ""), Marginal: true, Tiers: []Tier{
		{Above: 1000, Card: card(t, "2.5", "15", "0.25", "", "")}, {Above: 2000, Card: card(t, "5", "30", "0.4", "6.25", "")},
	}}
	writes := marginal
	writes.Card, writes.Tiers = card(t, "1.25", "10", "0.125", "1.5", ""), []Tier{{Above: 1000, Card: card(t, "2.5", "15", "0.25", "3", "")}}
	fee := card(t, "1", "2", "0.1", "", "")
	fee.Request = rate(t, "500000")
	for _, c := range []struct {
		name       string
		card       Card
		load       Load
		warm, cold string
	}{
		{"a fee of half a dollar", fee, Load{1000, 1000, 300}, "0.5017", "0.5026"},
		{"a prompt through three tiers", (&Sheet{Band: marginal}).At(Terms{Prompt: 2500}), Load{2000, 500, 300}, "0.011875", "0.01525"},
		{"with writes", (&Sheet{Band: writes}).At(Terms{Prompt: 1500}), Load{1200, 300, 10}, "0.001225", "0.00315"},
	} {
		warm, _ := c.card.Warm(c.load)
		cold, _ := c.card.Cold(c.load)
		if warm.String() != c.warm || cold.String() != c.cold {
			t.Errorf("%s: warm %s, cold %s; want %s and %s", c.name, warm, cold, c.warm, c.cold)
		}
	}
}

// Random cards: each answer is compared with the two bills it is about.
func TestBreakEvensAgreeWithTheBills(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	some := func() Rate { return PerMillion(decimal.New(r.Int64N(2000), -3)) }
	random := func() Card {
		c := Card{Input: some(), Output: some(), CacheRead: some()}
		if r.IntN(3) == 0 {
			c.CacheWrite5m = some()
		}
		if r.IntN(3) == 0 { // some of the fees are as much as a thousand tokens
			c.Request = PerMillion(decimal.New(r.Int64N(2000), 0))
		}
		return c
	}
	for range 20_000 {
		a, b := random(), random()
		l := Load{r.Int64N(300), r.Int64N(40), r.Int64N(40)}
		stay, _ := a.Warm(l)
		move, _ := b.Cold(l)
		if got := holds(StayPrefix(a, b, l.New, l.Output), big.NewRat(l.Warm, 1)); got != stay.LessThan(move) {
			t.Fatalf("seed %d: StayPrefix says %t: %+v %+v %+v", seed, got, a, b, l)
		}
		turns := 1 + r.Int64N(30)
		later, _ := b.Warm(l)
		moving := move.Add(later.Mul(decimal.NewFromInt(turns - 1)))
		if got := holds(MoveTurns(a, b, l), big.NewRat(turns, 1)); got != moving.LessThan(stay.Mul(decimal.NewFromInt(turns))) {
			t.Fatalf("seed %d: MoveTurns says %t: %+v %+v %+v, %d turns", seed, got, a, b, l, turns)
		}
		hits := r.Int64N(101)
		if got := holds(Crossover(a, b), big.NewRat(hits, 100)); got != a.Blended(hits, 100).Below(b.Blended(hits, 100)) {
			t.Fatalf("seed %d: Crossover says %t at %d %%: %+v %+v", seed, got, hits, a, b)
		}
	}
}

// holds says whether the answer at x is yes.
func holds(p Point, x *big.Rat) bool {
	switch p.When {
	case Always:
		return true
	case Above:
		return x.Cmp(p.At) > 0
	case Below:
		return x.Cmp(p.At) < 0
	}
	return false
}
