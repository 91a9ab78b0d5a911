package web

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// accountOf is what affinity did to turns, as far as somebody judged them.
type accountOf struct {
	sim.Tally
	Known  bool   // somebody judged turns
	Reason string // why not, where it is not known
	Misses string // address of the turns that missed; empty: there is none
}

// account is that of a query.
func (c *call) account(q engine.Query) (accountOf, error) {
	if q.Session != "" || q.Class != "" {
		return accountOf{Reason: "it is not added up by session or class: take those filters away"}, nil
	}
	accounts, err := c.pages.options.Books.Accounts(c.ctx, q, engine.Day)
	if err != nil {
		return accountOf{}, err
	}
	a := read(accounts.Total)
	a.Misses = c.ask.with("/ui/misses")
	return a, nil
}

// read is an account as books keep it.
func read(stored []byte) accountOf {
	var account sim.Account
	if len(stored) == 0 || account.UnmarshalBinary(stored) != nil {
		return accountOf{Reason: "no settled turn has been judged"}
	}
	return accountOf{Tally: account.Tally, Known: account.Tally.Turns > 0, Reason: "no settled turn has been judged"}
}

// affinityCard is what affinity saved: against the same sessions without it.
func (c *call) affinityCard(a accountOf) card {
	k := card{Key: "affinity", Label: "Affinity saving"}
	switch {
	case !a.Known:
		k.Value, k.Kind, k.Lines = "not known", "dim", []string{a.Reason}
		return k
	case a.Covered == 0:
		k.Value, k.Kind = unknown, "dim"
		k.Lines = []string{"of no turn is it known what it would have cost without affinity"}
		return k
	}
	k.Word, k.Value = "estimate", c.money.amount(a.Saving)
	switch {
	case a.Saving.IsNegative():
		k.Kind, k.Word = "bad", "loss, estimate"
	case a.Saving.IsPositive():
		k.Kind = "good"
	}
	hedge := ""
	if a.Uncovered > 0 {
		hedge = "at least "
	}
	k.Lines = append(k.Lines,
		"against the same sessions without affinity",
		"without it they would have cost "+hedge+c.money.amount(a.CostWithout)+", and cost "+hedge+c.money.amount(a.Cost))
	if a.Uncovered > 0 {
		k.Lines = append(k.Lines, count(a.Uncovered)+" of "+counted(a.Turns, "turn")+" not covered")
	}
	if !a.Saving.IsZero() {
		k.Lines = append(k.Lines, c.confidence(&a.Tally))
	}
	return k
}

// confidence is how far off the model of the caches is from what was really billed.
func (c *call) confidence(t *sim.Tally) string {
	off, ok := t.ModelError()
	if !ok {
		return "model error not known"
	}
	text := "model error " + off.Shift(2).StringFixed(1) + thin + "%"
	if t.LowConfidence() {
		text += ": low confidence"
	}
	return text
}

// lossCard is what misses cost that affinity should have prevented.
func (c *call) lossCard(a accountOf) card {
	k := card{Key: "loss", Label: "Avoidable loss", Value: "not known", Kind: "dim", Lines: []string{a.Reason}}
	if !a.Known {
		return k
	}
	if a.Reported == 0 {
		k.Value, k.Lines = unknown, []string{"no turn says what it read"}
		return k
	}
	loss, unknown := a.AvoidableLoss()
	k.Value, k.Kind = c.money.amount(loss), ""
	k.Lines = []string{"what misses cost that affinity should have prevented"}
	if loss.IsPositive() {
		k.Kind = "bad"
	}
	if unknown > 0 {
		k.Word = "at least"
		k.Lines = append(k.Lines, "of "+counted(unknown, "avoidable miss")+" it is not known")
	}
	if rate := a.AvoidableMissRate(); rate.All > 0 {
		k.Lines = append(k.Lines, percent(rate.Of, rate.All)+", "+count(rate.Of)+" / "+counted(rate.All, "turn")+" that could have read")
	}
	if missed := missesOf(&a.Tally); a.Misses != "" {
		k.Link = link{Text: countedMisses(missed), URL: a.Misses}
	}
	return k
}

// missesOf is how many turns missed, for whatever cause.
func missesOf(t *sim.Tally) (n int64) {
	for i := range t.Missed {
		n += t.Missed[i].Turns
	}
	return n
}

func countedMisses(n int64) string {
	if n == 1 {
		return "1 miss"
	}
	return count(n) + " misses"
}

// inputCard is what a million prompt tokens cost, whatever class they were of.
func (c *call) inputCard(s *engine.Sums) card {
	k := card{Key: "input", Label: "Effective input price", Value: none, Kind: "dim"}
	switch {
	case s.PricedPrompt > 0:
		k.Kind, k.Value = "", c.perMillionOf(s.PromptCost, s.PricedPrompt)
		k.Lines = []string{"per million prompt tokens, read, written and uncached together", "of " + tokens(s.PricedPrompt) + " tokens whose cost is known"}
	case s.Billed > 0:
		k.Value = unknown
	}
	return k
}

func (c *call) perMillionOf(cost decimal.Decimal, tokens int64) string {
	return c.money.fixed(cost.Mul(million).DivRound(decimal.NewFromInt(tokens), 8), 4) + "/M"
}

// chargedCard is what vendors themselves say they charged, against the cost.
func (c *call) chargedCard(s *engine.Sums) card {
	over := s.Charged.Sub(s.ChargedCost)
	k := card{Key: "charged", Label: "Vendors' own charge", Value: c.money.amount(over), Word: "over cost by", Lines: []string{
		"they say " + c.money.amount(s.Charged) + ", the cost of the same is " + c.money.amount(s.ChargedCost),
		"of " + counted(s.ChargedKnown, "attempt") + " whose vendor says so",
	}}
	switch {
	case over.IsZero():
		k.Word, k.Value = "", "as the cost"
	case over.IsNegative():
		k.Word, k.Value = "below cost by", c.money.amount(over.Neg())
	}
	return k
}
