package engine

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// Sum is what one booked turn comes to.
//
// An attempt counts as billed if the vendor accepted it. What is not known is
// counted as such and adds nothing.
func Sum(b Booked) Sums { return b.sum() }

func (b *Booked) sum() (s Sums) {
	s.end(b)
	for i := range b.Attempts {
		s.try(&b.Attempts[i])
	}
	return s
}

// SumRoutes is what one booked turn comes to at each of its routes. Figures that
// count attempts stand at the attempt's own vendor and model, so that what a vendor
// bills stands there though another served the turn. Those that count turns stand
// at the last attempt's, which come first. Added up, the rows are [Sum].
func SumRoutes(b *Booked) []RouteSums {
	rows := make([]RouteSums, 1, 1+len(b.Attempts))
	rows[0] = RouteSums{Vendor: b.Vendor(), Model: b.Model}
	rows[0].Sums.end(b)
	for i := range b.Attempts {
		a := &b.Attempts[i]
		at := slices.IndexFunc(rows, func(r RouteSums) bool { return r.Vendor == a.Vendor && r.Model == a.Model })
		if at < 0 {
			at, rows = len(rows), append(rows, RouteSums{Vendor: a.Vendor, Model: a.Model})
		}
		rows[at].Sums.try(a)
	}
	return rows
}

// end counts a turn, without its attempts.
func (s *Sums) end(b *Booked) {
	s.Turns++
	switch {
	case b.State != Settled:
		s.Unsettled++
	case !b.Served():
		s.Failed++
	}
}

// try counts an attempt, as billed if it was accepted.
func (s *Sums) try(a *BookedAttempt) {
	s.Attempts++
	if !a.Accepted {
		return
	}
	s.Billed++
	if !a.Quality.Complete() {
		return
	}
	s.UsageKnown++
	used := a.Used()
	s.Usage = plus(s.Usage, used, 1)
	if used.CacheRead > 0 {
		s.Hits++
	}
	if a.ReadUnknown {
		s.ReadUnknown++
		s.UnreadPrompt += a.Usage.Prompt()
	}
	if a.Cost.NoCachePrice {
		s.NoCachePrice++
	}
	if a.Cost.Known {
		s.CostKnown++
		s.Cost = s.Cost.Add(a.Cost.Total)
		s.PromptCost = s.PromptCost.Add(a.Cost.Prompt())
		s.PricedPrompt += used.Prompt()
		if a.Charged.Known {
			s.ChargedKnown++
			s.Charged = s.Charged.Add(a.Charged.Amount)
			s.ChargedCost = s.ChargedCost.Add(a.Cost.Total)
		}
	}
	if a.Saving.Known {
		s.SavingKnown++
		s.Saving = s.Saving.Add(a.Saving.Amount)
	}
}

// Add is both sums together.
func (s Sums) Add(other Sums) Sums { return s.combine(other, 1) }

// Sub is s without other, which was once added to it.
func (s Sums) Sub(other Sums) Sums { return s.combine(other, -1) }

func (s Sums) combine(other Sums, sign int64) Sums {
	s.Turns += sign * other.Turns
	s.Unsettled += sign * other.Unsettled
	s.Failed += sign * other.Failed
	s.Attempts += sign * other.Attempts
	s.Billed += sign * other.Billed
	s.UsageKnown += sign * other.UsageKnown
	s.CostKnown += sign * other.CostKnown
	s.SavingKnown += sign * other.SavingKnown
	s.Hits += sign * other.Hits
	s.NoCachePrice += sign * other.NoCachePrice
	s.PricedPrompt += sign * other.PricedPrompt
	s.ChargedKnown += sign * other.ChargedKnown
	s.ReadUnknown += sign * other.ReadUnknown
	s.UnreadPrompt += sign * other.UnreadPrompt
	s.Usage = plus(s.Usage, other.Usage, sign)
	mine, theirs := s.money(), other.money()
	for i := range mine {
		*mine[i] = together(*mine[i], *theirs[i], sign)
	}
	return s
}

func together(a, b decimal.Decimal, sign int64) decimal.Decimal {
	if sign < 0 {
		return a.Sub(b)
	}
	return a.Add(b)
}

// HitPrompt is the prompt tokens of the attempts that say how much they read: what a
// token hit rate is a share of.
func (s *Sums) HitPrompt() int64 { return s.Usage.Prompt() - s.UnreadPrompt }

// HitAttempts is the attempts that say how much they read: what a hit rate by attempt is
// a share of.
func (s *Sums) HitAttempts() int64 { return s.UsageKnown - s.ReadUnknown }

// Equal says whether both are the same numbers; a decimal is the same whatever
// zeros it ends in.
func (s Sums) Equal(other Sums) bool {
	mine, theirs := s.money(), other.money()
	for i := range mine {
		if !mine[i].Equal(*theirs[i]) {
			return false
		}
		*mine[i] = *theirs[i]
	}
	return s == other
}

// money is every amount of the sums.
func (s *Sums) money() [5]*decimal.Decimal {
	return [...]*decimal.Decimal{&s.Cost, &s.Saving, &s.PromptCost, &s.Charged, &s.ChargedCost}
}

func plus(a, b pricing.Usage, sign int64) pricing.Usage {
	return pricing.Usage{
		Input:        a.Input + sign*b.Input,
		CacheRead:    a.CacheRead + sign*b.CacheRead,
		CacheWrite5m: a.CacheWrite5m + sign*b.CacheWrite5m,
		CacheWrite1h: a.CacheWrite1h + sign*b.CacheWrite1h,
		Output:       a.Output + sign*b.Output,
		Reasoning:    a.Reasoning + sign*b.Reasoning,
	}
}
