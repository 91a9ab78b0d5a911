package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// trialTurn is a turn of a session in a trial, and what the model said of it.
func trialTurn(held bool, prompt int64, cost string) (*engine.Turn, *Result) {
	return &engine.Turn{Trial: true, Holdout: held}, &Result{Reported: true, Usage: pricing.Usage{Input: prompt}, Cost: Known(dec(cost))}
}

// Six sessions, two of them held out, by hand.
func TestATrialByHand(t *testing.T) {
	var tally Tally
	for _, session := range []struct {
		held  bool
		turns [][2]string // prompt tokens, cost
	}{
		{false, [][2]string{{"1000", "0.001"}, {"2000", "0.002"}}},
		{false, [][2]string{{"3000", "0.004"}}},
		{false, [][2]string{{"2000", "0.001"}}},
		{true, [][2]string{{"1000", "0.003"}}},
		{true, [][2]string{{"500", "0.002"}, {"1500", "0.004"}}},
	} {
		var m trialMemory
		for _, pair := range session.turns {
			turn, res := trialTurn(session.held, dec(pair[0]).IntPart(), pair[1])
			m.take(turn, res, &tally)
		}
	}
	trial, ok := tally.Trial()
	if !ok || trial.Treated.Sessions != 3 || trial.Treated.Turns != 4 || trial.Treated.Tokens != 8000 || trial.Treated.Cost.String() != "0.008" ||
		trial.Held.Sessions != 2 || trial.Held.Turns != 3 || trial.Held.Tokens != 3000 || trial.Held.Cost.String() != "0.009" {
		t.Fatalf("%+v", trial)
	}
	// 3 mills and 3,000 tokens, 4 and 3,000, 1 and 2,000.
	if a := trial.Treated; !a.CostSquares.Equal(dec("0.000026")) || !a.CostTokens.Equal(dec("23")) || !a.TokenSquares.Equal(dec("22000000")) {
		t.Errorf("%+v", a)
	}
	held, _ := trial.Held.Mean()
	treated, _ := trial.Treated.Mean()
	d, ok := trial.Difference()
	if held.String() != "3" || treated.String() != "1" || !ok || d.Mean.String() != "2" || d.Interval {
		t.Errorf("means %s and %s, %+v", held, treated, d)
	}
	// At $1 a million the sessions are 0, 1 and −1 mills off: 2e-6 · 3/2 / 8000².
	if v, _ := trial.Treated.variance().Float64(); math.Abs(v-3e-6/64e6) > 1e-24 {
		t.Errorf("variance %g", v)
	}
}

func TestWhatIsNotKnownIsInNoMean(t *testing.T) {
	var tally Tally
	var m trialMemory
	turn, res := trialTurn(true, 1000, "1")
	res.Cost = Money{}
	m.take(turn, res, &tally)
	turn, res = trialTurn(true, 0, "1")
	m.take(turn, res, &tally)
	turn, res = trialTurn(true, 1000, "1")
	res.Reported = false
	m.take(turn, res, &tally)
	m.take(&engine.Turn{}, res, &tally) // in no trial
	if a := tally.HeldOut; a.Uncovered != 3 || a.Turns != 0 || a.Sessions != 0 {
		t.Errorf("%+v", a)
	}
	trial, ok := tally.Trial()
	if _, known := trial.Difference(); known || !ok {
		t.Error("a difference of nothing")
	}
	if _, ok := new(Tally).Trial(); ok {
		t.Error("a trial without turns")
	}
}

// The slow twin: each session's sums first, then their squares, then Welch.
func TestATrialAddsUpOverSessions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	type session struct {
		held         bool
		memory       []byte
		cost, tokens float64
	}
	sessions := make([]session, 60)
	for i := range sessions {
		sessions[i].held = i%3 == 0
	}
	tally := Tally{}
	for range 1000 {
		s := &sessions[r.IntN(len(sessions))]
		var m memory
		m.read(s.memory)
		prompt, cost := 1+r.Int64N(100_000), decimal.New(r.Int64N(1_000_000), -7)
		if s.held {
			cost = cost.Mul(decimal.NewFromInt(3))
		}
		turn, res := trialTurn(s.held, prompt, cost.String())
		var one Tally
		m.trial.take(turn, res, &one)
		b, _ := one.AppendBinary(nil) // as a ledger adds up
		var stored Tally
		if err := stored.UnmarshalBinary(b); err != nil || !stored.Equal(&one) {
			t.Fatal(err, stored, one)
		}
		tally = tally.Add(stored)
		s.memory = m.append(nil)
		s.tokens += float64(prompt)
		s.cost += cost.InexactFloat64()
	}
	arm := func(held bool) (mean, variance float64, n int64) {
		var cost, tokens, squares float64
		for i := range sessions {
			if s := &sessions[i]; s.held == held && s.tokens > 0 {
				cost, tokens, n = cost+s.cost, tokens+s.tokens, n+1
			}
		}
		mean = cost / tokens
		for i := range sessions {
			if s := &sessions[i]; s.held == held {
				squares += (s.cost - mean*s.tokens) * (s.cost - mean*s.tokens)
			}
		}
		return mean * 1e6, squares / (tokens * tokens) * float64(n) / float64(n-1) * 1e12, n
	}
	held, v, n := arm(true)
	treated, w, k := arm(false)
	trial, _ := tally.Trial()
	d, ok := trial.Difference()
	freedom := (v + w) * (v + w) / (v*v/float64(n-1) + w*w/float64(k-1))
	half := student(freedom) * math.Sqrt(v+w)
	if !ok || !d.Interval || trial.Held.Sessions != n || trial.Treated.Sessions != k {
		t.Fatalf("%+v %+v", d, trial)
	}
	for what, pair := range map[string][2]float64{
		"mean": {d.Mean.InexactFloat64(), held - treated},
		"low":  {d.Low.InexactFloat64(), held - treated - half},
		"high": {d.High.InexactFloat64(), held - treated + half},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6*math.Abs(held) {
			t.Errorf("%s is %v, by sessions %v", what, pair[0], pair[1])
		}
	}
	if !d.Low.IsPositive() {
		t.Errorf("three times the cost is told from chance: %s to %s", d.Low, d.High)
	}
}

// The interval holds the truth about as often as it says.
func TestAnIntervalHoldsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	inside := 0
	const rounds = 400
	for range rounds {
		var tally Tally
		for i := range 80 {
			var m trialMemory
			for range 1 + r.IntN(5) {
				prompt := 1000 + r.Int64N(5000)
				turn, res := trialTurn(i%4 == 0, prompt, decimal.New(prompt*(50+r.Int64N(100)), -8).String())
				m.take(turn, res, &tally)
			}
		}
		trial, _ := tally.Trial()
		if d, _ := trial.Difference(); !d.Low.IsPositive() && !d.High.IsNegative() {
			inside++
		}
	}
	t.Logf("the interval held the truth, no difference, in %d of %d trials", inside, rounds)
	if inside < rounds*91/100 || inside > rounds*99/100 {
		t.Errorf("%d of %d", inside, rounds)
	}
}

func TestStudent(t *testing.T) {
	for freedom, want := range map[float64]float64{9: 2.262157, 10: 2.228139, 20: 2.085963, 30: 2.042272, 100: 1.983972, 1e9: 1.959964} {
		if got := student(freedom); math.Abs(got-want) > 2e-4 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
}

func TestASessionThatChangesItsArmBeginsAnew(t *testing.T) {
	var tally Tally
	var m trialMemory
	for i, held := range []bool{false, true, true} {
		turn, res := trialTurn(held, 1000, fmt.Sprint(i+1))
		m.take(turn, res, &tally)
	}
	if tally.Treated.Sessions != 1 || tally.HeldOut.Sessions != 1 || !tally.HeldOut.CostSquares.Equal(dec("25")) || m.tokens != 2000 {
		t.Errorf("%+v %+v", tally.Treated, tally.HeldOut)
	}
}
