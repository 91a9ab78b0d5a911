package sim

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// Share is a part of a whole, both counted. The zero Share is of nothing: it has no
// percentage, not one of 0.
type Share struct{ Of, All int64 }

// Percent is the share in per cent, rounded half away from zero to so many decimals;
// ok is false for a share of nothing.
func (s Share) Percent(decimals int32) (percent decimal.Decimal, ok bool) {
	if s.All == 0 {
		return decimal.Decimal{}, false
	}
	return decimal.NewFromInt(s.Of).Mul(decimal.NewFromInt(100)).DivRound(decimal.NewFromInt(s.All), decimals), true
}

// rateDigits is how many decimals of a rate are kept that a division made.
const rateDigits = 18

// Blended is what a prompt token costs at a token hit rate, see [pricing.Card.Blended].
func Blended(card pricing.Card, hits Share) pricing.Rate { return card.Blended(hits.Of, hits.All) }

// Verdict says whether writing to caches has paid.
//
// The zero Verdict is that nothing was written or read.
type Verdict string

// The verdicts.
const (
	NothingWritten Verdict = ""
	Paying         Verdict = "paying"
	Even           Verdict = "break_even"
	Losing         Verdict = "losing"
)

// PayBack is whether reads have paid back what writes cost more than plain input, at
// the cards of their own turns. For one card that is the same as comparing the tokens
// read for each one written with [pricing.Card.PayBack].
func (t *Tally) PayBack() Verdict {
	if t.Reads == 0 && t.Writes == 0 {
		return NothingWritten
	}
	switch t.Gain.Cmp(t.Premium) {
	case 1:
		return Paying
	case -1:
		return Losing
	}
	return Even
}

// TokenHitRate is the cached share of the prompt tokens of eligible turns.
func (t *Tally) TokenHitRate() Share { return Share{t.EligibleRead, t.EligiblePrompt} }

// AllTrafficHitRate is the same of every turn whose usage is known.
func (t *Tally) AllTrafficHitRate() Share { return Share{t.Reads, t.PromptTokens} }

// RequestHitRate is the share of eligible turns that read anything.
func (t *Tally) RequestHitRate() Share { return Share{t.Hits, t.Eligible} }

// Retention is the share of the promised prefix that was read.
func (t *Tally) Retention() Share { return Share{t.Retained, t.Promised} }

// ReadsPerWrite is the tokens read for each one written.
func (t *Tally) ReadsPerWrite() Share { return Share{t.Reads, t.Writes} }

// EffectiveInput is what a prompt token really cost, to 18 decimals of a rate; unknown
// where none was priced.
func (t *Tally) EffectiveInput() pricing.Rate {
	if t.PricedTokens == 0 {
		return pricing.Rate{}
	}
	return pricing.PerMillion(t.PromptCost.Shift(6).DivRound(decimal.NewFromInt(t.PricedTokens), rateDigits))
}

// PricingCoverage is the share of the prompt tokens whose price is known.
func (t *Tally) PricingCoverage() Share { return Share{t.PricedTokens, t.PromptTokens} }

// UsageCoverage is the share of accepted turns whose usage is complete.
func (t *Tally) UsageCoverage() Share { return Share{t.Reported, t.Accepted} }

// AvoidableMissRate is the share of eligible turns that missed avoidably.
func (t *Tally) AvoidableMissRate() Share {
	s := Share{All: t.Eligible}
	for c := range t.Missed {
		if Cause(c).Avoidable() {
			s.Of += t.Missed[c].Turns
		}
	}
	return s
}

// PinExpiredRate is the share of the look-ups that found a pin, live or dead, that
// found it dead.
func (t *Tally) PinExpiredRate() Share { return Share{t.Expired, t.PinsFound()} }

// ExpiredButWarm is the share of the turns with an expired pin that were served by the
// same candidate and still read half of what was promised.
func (t *Tally) ExpiredButWarm() Share { return Share{t.ExpiredWarm, t.ExpiredPromised} }

// LiveButCold is the share of the promoted and confirmed turns with an unchanged prefix
// that read less than a tenth of it.
func (t *Tally) LiveButCold() Share { return Share{t.LiveCold, t.LivePromised} }

// Displacement is how often a warm vendor that was used had to be moved first.
func (t *Tally) Displacement() Share { return Share{t.Promoted, t.Promoted + t.Confirmed} }

// PlanConflicts is the share of the pins found that the plan had left out.
func (t *Tally) PlanConflicts() Share { return Share{t.NotInPlan, t.PinsFound()} }

// PinsFound is how many look-ups found a pin, live or dead.
func (t *Tally) PinsFound() int64 {
	return t.Promoted + t.Confirmed + t.Expired + t.NotInPlan + t.HealthDown + t.NotCheaper
}

// lowConfidence is the model error, in per cent, above which savings are not to be
// relied on.
const lowConfidence = 10

// ModelError is Σ|modelled − real| / Σ real of what was really served, as a fraction
// to 18 decimals; ok is false where nothing was modelled, or it cost nothing.
func (t *Tally) ModelError() (fraction decimal.Decimal, ok bool) {
	if !t.Real.IsPositive() {
		return decimal.Decimal{}, false
	}
	return t.Deviation.DivRound(t.Real, rateDigits), true
}

// LowConfidence says whether the model is off by more than a tenth of the real cost.
func (t *Tally) LowConfidence() bool {
	return t.Deviation.Mul(decimal.NewFromInt(100)).GreaterThan(t.Real.Mul(decimal.NewFromInt(lowConfidence)))
}

// AvoidableLoss is what misses cost that affinity should have prevented. It is a lower
// bound while unknown is not 0: so many avoidable misses have no known loss.
func (t *Tally) AvoidableLoss() (loss decimal.Decimal, unknown int64) {
	return t.loss(Cause.Avoidable)
}

// LossTo is what misses cost that were somebody's doing, and how many of them have no
// known loss.
func (t *Tally) LossTo(blame Blame) (loss decimal.Decimal, unknown int64) {
	return t.loss(func(c Cause) bool { return c != NoMiss && c.Blame() == blame })
}

func (t *Tally) loss(counts func(Cause) bool) (loss decimal.Decimal, unknown int64) {
	for c := range t.Missed {
		if counts(Cause(c)) {
			loss = loss.Add(t.Missed[c].Loss)
			unknown += t.Missed[c].Unknown
		}
	}
	return loss, unknown
}
