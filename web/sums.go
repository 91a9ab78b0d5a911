package web

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// share is a rate as text: the rate, and the counts behind it.
type share struct {
	Rate   string
	Counts string // empty where there is no rate
	Value  string // percent with a point, for a plot; empty where there is no rate
	Fill   int64  // in thousandths, for a bar
}

// hitRate is the token hit rate: cache-read tokens of all prompt tokens, over the
// attempts whose usage is complete and says what was read.
func hitRate(s *engine.Sums) share {
	if s.UsageKnown == 0 && s.Billed > 0 {
		return share{Rate: unknown}
	}
	read, prompt := s.Usage.CacheRead, s.HitPrompt()
	if prompt == 0 && s.ReadUnknown > 0 {
		return share{Rate: unknown}
	}
	n, ok := permille(read, prompt)
	if !ok {
		return share{Rate: none}
	}
	return share{
		Rate:   percent(read, prompt),
		Counts: tokens(read) + " / " + tokens(prompt),
		Value:  decimal.New(n, -1).StringFixed(1),
		Fill:   n,
	}
}

// sumText is an amount that may be a part of the whole.
type sumText struct {
	Text string
	Kind string // "bad" for a loss, "good" for a gain, "dim" where there is no number
	Word string // "at least", "loss", "saved", "so far as known"; may be empty
}

// costText is what sums cost, with "at least" while attempts are uncovered or
// none of the turns has ended. write formats the amount.
func costText(s *engine.Sums, write func(decimal.Decimal) string) sumText {
	switch {
	case s.Turns == 0 && s.Attempts == 0:
		return sumText{Text: none, Kind: "dim"}
	case s.CostKnown == 0 && (s.Billed > 0 || s.Unsettled > 0):
		return sumText{Text: unknown, Kind: "dim"}
	case s.CostKnown < s.Billed, s.Unsettled > 0 && s.Unsettled == s.Turns:
		return sumText{Text: write(s.Cost), Word: "at least"}
	}
	return sumText{Text: write(s.Cost)}
}

// savingText is the net cache saving of sums. It can be negative, and says so in
// a word too.
func savingText(s *engine.Sums, write func(decimal.Decimal) string) sumText {
	switch {
	case s.Billed == 0:
		return sumText{Text: none, Kind: "dim"}
	case s.SavingKnown == 0:
		return sumText{Text: unknown, Kind: "dim"}
	case s.Saving.IsNegative():
		return sumText{Text: write(s.Saving), Kind: "bad", Word: "loss"}
	case s.Saving.IsZero():
		return sumText{Text: write(s.Saving)}
	}
	return sumText{Text: write(s.Saving), Kind: "good", Word: "saved"}
}

// uncovered says how many billed attempts an amount leaves out; empty if none.
func uncovered(known, billed int64) string {
	if known >= billed {
		return ""
	}
	return count(billed-known) + " of " + counted(billed, "billed attempt") + " not covered"
}

// coverage is the share of billed attempts whose cost is known.
func coverage(s *engine.Sums) share {
	if s.Billed == 0 {
		return share{Rate: none}
	}
	return share{Rate: percent(s.CostKnown, s.Billed), Counts: count(s.CostKnown) + " / " + count(s.Billed)}
}
