package sim

import (
	"math"
	"math/big"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// Arm is what the sessions of one side of a hold-out came to. Arms add up field by
// field. The zero Arm is of no sessions.
//
// A session's squares grow with each of its turns by what the turn adds to the square
// of the session's sums so far, so that they too add up over turns: the arm of a span
// of time that begins in the middle of sessions has their squares from there on, and
// the interval that follows from them is then not quite that of the span alone. For
// the same reason the arms of some routes among several say nothing of their interval.
type Arm struct {
	Sessions  int64 // with a turn that counts
	Turns     int64 // that count: cost and usage are known
	Uncovered int64 // others
	Tokens    int64 // of the prompts of turns that count
	Cost      decimal.Decimal

	CostSquares  decimal.Decimal // Σ cost² over sessions
	CostTokens   decimal.Decimal // Σ cost·tokens
	TokenSquares decimal.Decimal // Σ tokens²
}

func (a *Arm) counts() []*int64 { return []*int64{&a.Sessions, &a.Turns, &a.Uncovered, &a.Tokens} }

func (a *Arm) sums() []*decimal.Decimal {
	return []*decimal.Decimal{&a.Cost, &a.CostSquares, &a.CostTokens, &a.TokenSquares}
}

// Mean is what a million prompt tokens cost, answers included, to 18 decimals; ok is
// false where nothing counts.
func (a *Arm) Mean() (cost decimal.Decimal, ok bool) {
	if a.Tokens <= 0 {
		return decimal.Decimal{}, false
	}
	return a.Cost.Shift(6).DivRound(decimal.NewFromInt(a.Tokens), rateDigits), true
}

// variance is that of the mean per token, by the delta method for a ratio of two sums
// over sessions: S/(S−1) · Σ(c − R·n)² / N². There must be two sessions.
func (a *Arm) variance() *big.Rat {
	n := new(big.Rat).SetInt64(a.Tokens)
	ratio := new(big.Rat).Quo(a.Cost.Rat(), n)
	sum := new(big.Rat).Mul(ratio, a.TokenSquares.Rat())
	sum.Sub(sum, new(big.Rat).Mul(big.NewRat(2, 1), a.CostTokens.Rat()))
	sum.Add(sum.Mul(sum, ratio), a.CostSquares.Rat())
	if sum.Sign() <= 0 {
		return new(big.Rat)
	}
	sum.Quo(sum, n.Mul(n, n))
	return sum.Mul(sum, big.NewRat(a.Sessions, a.Sessions-1))
}

// Trial is a hold-out: sessions that ran without affinity, and those that ran with it
// at the same time and might have been held out. Which of the two a session is was
// drawn by its id, so nothing else tells them apart.
type Trial struct{ Held, Treated Arm }

// Trial is the hold-out of the tally's turns; ok is false where none was held out.
func (t *Tally) Trial() (trial Trial, ok bool) {
	return Trial{t.HeldOut, t.Treated}, t.HeldOut.Turns+t.HeldOut.Uncovered > 0
}

// Difference is how much more a million prompt tokens cost without affinity, and
// between which bounds that lies in 95 of 100 trials. Money is to 18 decimals.
type Difference struct {
	Mean      decimal.Decimal
	Low, High decimal.Decimal // of the interval; zero where there is none
	Interval  bool            // there are enough sessions for one
}

// leastSessions is how many sessions each arm needs for an interval: fewer are too
// unlike each other for one that can be believed.
const leastSessions = 10

// Difference is the mean of the sessions held out less that of the others: what
// affinity saves, measured. ok is false where one arm has nothing that counts.
//
// The interval is Welch's by Student's t. Sessions are what is drawn, so they count
// as one each however many turns they have.
func (t *Trial) Difference() (d Difference, ok bool) {
	held, one := t.Held.Mean()
	treated, two := t.Treated.Mean()
	if !one || !two {
		return Difference{}, false
	}
	d.Mean = held.Sub(treated)
	if min(t.Held.Sessions, t.Treated.Sessions) < leastSessions {
		return d, true
	}
	v, w := t.Held.variance(), t.Treated.variance()
	sum := new(big.Rat).Add(v, w)
	half := decimal.Decimal{}
	if sum.Sign() > 0 {
		x, y := shareOf(v, sum), shareOf(w, sum)
		freedom := 1 / (x*x/float64(t.Held.Sessions-1) + y*y/float64(t.Treated.Sessions-1))
		half = root(sum).Mul(decimal.NewFromFloat(student(freedom)).Round(9)).Shift(6).Round(rateDigits)
	}
	d.Low, d.High, d.Interval = d.Mean.Sub(half), d.Mean.Add(half), true
	return d, true
}

func shareOf(part, all *big.Rat) float64 {
	f, _ := new(big.Rat).Quo(part, all).Float64()
	return f
}

// root is the square root, to 27 decimals or more.
func root(r *big.Rat) decimal.Decimal {
	f := new(big.Float).SetPrec(256).SetRat(r)
	d, err := decimal.NewFromString(f.Sqrt(f).Text('f', 40))
	if err != nil {
		return decimal.Decimal{} // a square root of a rational is a number
	}
	return d
}

// student is the 97.5th percentile of Student's t for at least nine degrees of
// freedom, to four digits or more: the expansion of Cornish and Fisher around the
// normal distribution's.
func student(freedom float64) float64 {
	const z = 1.959963984540054
	z2 := z * z
	terms := [...]float64{
		z,
		z * (z2 + 1) / 4,
		z * ((5*z2+16)*z2 + 3) / 96,
		z * (((3*z2+19)*z2+17)*z2 - 15) / 384,
		z * ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160,
	}
	t := 0.0
	for i, term := range terms {
		t += term / math.Pow(freedom, float64(i))
	}
	return t
}

// trialMemory is what a session of a trial came to so far. The zero one is in none.
type trialMemory struct {
	in, held bool
	tokens   int64
	cost     decimal.Decimal
}

// take adds a turn to its arm and to what its session came to. A session that is of
// the other arm than before, since the share that is held out has changed, begins
// anew.
func (m *trialMemory) take(t *engine.Turn, res *Result, tally *Tally) {
	if !t.Trial {
		return
	}
	if !m.in || m.held != t.Holdout {
		*m = trialMemory{in: true, held: t.Holdout}
	}
	arm := &tally.Treated
	if t.Holdout {
		arm = &tally.HeldOut
	}
	prompt := res.Usage.Prompt()
	if !res.Reported || !res.Cost.Known || prompt <= 0 {
		arm.Uncovered++
		return
	}
	if m.tokens == 0 {
		arm.Sessions++
	}
	arm.Turns++
	arm.Tokens += prompt
	arm.Cost = arm.Cost.Add(res.Cost.Amount)
	before := decimal.NewFromInt(m.tokens)
	square, cross := m.cost.Mul(m.cost), m.cost.Mul(before)
	m.tokens = min(m.tokens+prompt, maxTokens)
	m.cost = m.cost.Add(res.Cost.Amount)
	after := decimal.NewFromInt(m.tokens)
	arm.CostSquares = arm.CostSquares.Add(m.cost.Mul(m.cost).Sub(square))
	arm.CostTokens = arm.CostTokens.Add(m.cost.Mul(after).Sub(cross))
	arm.TokenSquares = arm.TokenSquares.Add(after.Mul(after).Sub(before.Mul(before)))
}

// The stored form of a session that is in no trial is one byte.
const (
	trialNone = iota
	trialTreated
	trialHeld
)

func (m *trialMemory) append(b []byte) []byte {
	switch {
	case !m.in:
		return append(b, trialNone)
	case m.held:
		b = append(b, trialHeld)
	default:
		b = append(b, trialTreated)
	}
	return appendDecimal(appendLength(b, int(m.tokens)), m.cost)
}

func (in *input) trial() (m trialMemory) {
	switch in.upTo(trialHeld) {
	case trialNone:
		return trialMemory{}
	case trialHeld:
		m.held = true
	}
	m.in, m.tokens, m.cost = true, in.upTo(maxTokens), in.decimal()
	return m
}
