package sim

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// Tally is what turns come to. Tallies add up field by field, so that the tally of a
// day is the sum of its hours'; measures.go reads them. The zero Tally is of no turns.
type Tally struct {
	Turns    int64
	Accepted int64 // by some vendor
	Reported int64 // usage complete
	Same     int64 // both worlds the same
	Late     int64 // began before their thread's newest turn

	// Of the turns whose cost is known in both worlds: Cost + Saving = CostWithout.
	Covered     int64
	Uncovered   int64 // turns whose saving is not known; one of unknown cost in two worlds that are the same is neither
	Cost        decimal.Decimal
	CostWithout decimal.Decimal
	Saving      decimal.Decimal

	// Of the attempts that took their turns, where both are known.
	Modelled  int64
	Real      decimal.Decimal
	Deviation decimal.Decimal // Σ|modelled − real|

	Eligible       int64 // turns that could have read, and say what they did
	Hits           int64 // of those, that read anything
	EligiblePrompt int64 // tokens
	EligibleRead   int64
	PromptTokens   int64 // of all turns whose usage is known, as are the next two
	Reads          int64
	Writes         int64
	PricedTokens   int64 // prompt tokens whose price is known
	PromptCost     decimal.Decimal
	Gain           decimal.Decimal // what reads cost less than input
	Premium        decimal.Decimal // what writes cost more

	Promised int64 // Σ E of turns whose reading is known
	Retained int64 // Σ min(R, E)

	Promoted, Confirmed, Expired, NotInPlan, HealthDown, NotCheaper int64 // turns, by outcome

	ExpiredPromised int64 // turns with an expired pin and a promise, whose reading is known
	ExpiredWarm     int64
	LivePromised    int64 // promoted and confirmed turns with a promise that was kept whole
	LiveCold        int64

	HourTurns int64           // turns that could have marked for an hour
	Hour      decimal.Decimal // what that would have saved; negative: cost
	Missed    [Causes]Misses  // by cause; none at NoMiss

	HeldOut, Treated Arm // of sessions that might have been held out: see [Tally.Trial]
}

// Misses are the turns that missed for one cause.
type Misses struct {
	Turns   int64
	Tokens  int64
	Loss    decimal.Decimal
	Unknown int64 // turns whose loss is not known
}

// Take adds one turn.
func (t *Tally) Take(res *Result) {
	t.Turns++
	count(&t.Accepted, res.Accepted)
	count(&t.Reported, res.Reported)
	count(&t.Same, res.Same)
	count(&t.Late, res.Late)
	t.save(res)
	t.outcome(res)
	if !res.Reported {
		return
	}
	t.read(res)
	if res.Hour.Known {
		t.HourTurns++
		t.Hour = t.Hour.Add(res.Hour.Amount)
	}
	if c := res.Miss.Cause; c != NoMiss && c < Causes {
		m := &t.Missed[c]
		m.Turns++
		m.Tokens += res.Miss.Tokens
		count(&m.Unknown, !res.Miss.Loss.Known)
		m.Loss = m.Loss.Add(res.Miss.Loss.Amount)
	}
}

func count(n *int64, is bool) {
	if is {
		*n++
	}
}

// save adds up both worlds.
func (t *Tally) save(res *Result) {
	if res.Cost.Known && res.CostWithout.Known {
		t.Covered++
		t.Cost = t.Cost.Add(res.Cost.Amount)
		t.CostWithout = t.CostWithout.Add(res.CostWithout.Amount)
		if !res.Saving.Amount.IsZero() {
			t.Saving = t.Saving.Add(res.Saving.Amount)
		}
	} else if !res.Same {
		t.Uncovered++
	}
	if res.Real.Known && res.Modelled.Known {
		t.Modelled++
		t.Real = t.Real.Add(res.Real.Amount)
		if !res.Modelled.Amount.Equal(res.Real.Amount) {
			t.Deviation = t.Deviation.Add(res.Modelled.Amount.Sub(res.Real.Amount).Abs())
		}
	}
}

func (t *Tally) outcome(res *Result) {
	switch res.Outcome {
	case engine.Promoted:
		t.Promoted++
	case engine.Confirmed:
		t.Confirmed++
	case engine.PinExpired:
		t.Expired++
	case engine.SkippedNotInPlan:
		t.NotInPlan++
	case engine.SkippedHealthDown:
		t.HealthDown++
	case engine.SkippedNotCheaper:
		t.NotCheaper++
	}
}

// read adds what a reported turn read and wrote.
func (t *Tally) read(res *Result) {
	u := &res.Usage
	prompt := u.Prompt()
	t.PromptTokens += prompt
	t.Reads += u.CacheRead
	t.Writes += u.CacheWrite5m + u.CacheWrite1h
	if res.Prompt.Known {
		t.PricedTokens += prompt
		t.PromptCost = t.PromptCost.Add(res.Prompt.Amount)
	}
	if res.Gain.Known {
		t.Gain = t.Gain.Add(res.Gain.Amount)
	}
	if res.Premium.Known && !res.Premium.Amount.IsZero() {
		t.Premium = t.Premium.Add(res.Premium.Amount)
	}
	if !res.Eligible {
		return
	}
	t.Eligible++
	t.EligiblePrompt += prompt
	t.EligibleRead += u.CacheRead
	count(&t.Hits, u.CacheRead > 0)
	e := res.Expected
	if e == 0 {
		return
	}
	t.Promised += e
	t.Retained += min(u.CacheRead, e)
	switch {
	case res.Outcome == engine.PinExpired:
		t.ExpiredPromised++
		count(&t.ExpiredWarm, res.Stayed && u.CacheRead >= e-e/2)
	case (res.Outcome == engine.Promoted || res.Outcome == engine.Confirmed) && res.Kept && res.Stayed:
		t.LivePromised++
		count(&t.LiveCold, u.CacheRead < e/10+min(1, e%10))
	}
}

// Add is both tallies together.
func (t Tally) Add(other Tally) Tally { return t.combine(&other, false) }

// Sub is t without other, which was once added to it.
func (t Tally) Sub(other Tally) Tally { return t.combine(&other, true) }

func (t Tally) combine(other *Tally, sub bool) Tally {
	ours, theirs := t.counts(), other.counts()
	for i := range ours {
		if sub {
			*ours[i] -= *theirs[i]
		} else {
			*ours[i] += *theirs[i]
		}
	}
	sums, others := t.sums(), other.sums()
	for i := range sums {
		if sub {
			*sums[i] = sums[i].Sub(*others[i])
		} else {
			*sums[i] = sums[i].Add(*others[i])
		}
	}
	return t
}

// Equal says whether both are the same numbers.
func (t *Tally) Equal(other *Tally) bool {
	ours, theirs := t.counts(), other.counts()
	for i := range ours {
		if *ours[i] != *theirs[i] {
			return false
		}
	}
	sums, others := t.sums(), other.sums()
	for i := range sums {
		if !sums[i].Equal(*others[i]) {
			return false
		}
	}
	return true
}

const (
	tallyCounts = 29 + 3*int(Causes) + 2*4
	tallySums   = 9 + int(Causes) + 2*4
)

// counts are all of the tally's counts, in the order in which they are stored: what
// is new goes to the end.
func (t *Tally) counts() (all [tallyCounts]*int64) {
	n := copy(all[:], []*int64{
		&t.Turns, &t.Accepted, &t.Reported, &t.Same, &t.Late, &t.Covered, &t.Uncovered, &t.Modelled,
		&t.Eligible, &t.Hits, &t.EligiblePrompt, &t.EligibleRead, &t.PromptTokens, &t.Reads, &t.Writes,
		&t.PricedTokens, &t.Promised, &t.Retained, &t.Promoted, &t.Confirmed, &t.Expired, &t.NotInPlan,
		&t.HealthDown, &t.NotCheaper, &t.ExpiredPromised, &t.ExpiredWarm, &t.LivePromised, &t.LiveCold, &t.HourTurns,
	})
	for c := range t.Missed {
		m := &t.Missed[c]
		n += copy(all[n:], []*int64{&m.Turns, &m.Tokens, &m.Unknown})
	}
	n += copy(all[n:], t.HeldOut.counts())
	copy(all[n:], t.Treated.counts())
	return all
}

// sums are all of the tally's amounts, in the order in which they are stored.
func (t *Tally) sums() (all [tallySums]*decimal.Decimal) {
	n := copy(all[:], []*decimal.Decimal{
		&t.Cost, &t.CostWithout, &t.Saving, &t.Real, &t.Deviation, &t.PromptCost, &t.Gain, &t.Premium, &t.Hour,
	})
	for c := range t.Missed {
		n += copy(all[n:], []*decimal.Decimal{&t.Missed[c].Loss})
	}
	n += copy(all[n:], t.HeldOut.sums())
	copy(all[n:], t.Treated.sums())
	return all
}
