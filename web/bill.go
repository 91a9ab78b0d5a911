package web

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// bill is what one accepted attempt used and cost.
type bill struct {
	Title   string
	Quality string
	Rows    []bucketRow
	Prompt  string
	Total   string
	Known   bool
	Formula string
	Saving  sumText
	Note    string
	Facts   []fact // how it was priced, and what the vendor says of it
	Raw     string // the usage object as the vendor sent it
}

type bucketRow struct {
	Bucket, Color, Tokens, Rate, Cost, Note string
}

func (c *call) bills(b *engine.Booked) []bill {
	var bills []bill
	for i := range b.Attempts {
		if a := &b.Attempts[i]; a.Accepted {
			bills = append(bills, c.bill(i, a))
		}
	}
	return bills
}

// bill is an attempt's cost by bucket, with the price of each.
func (c *call) bill(i int, a *engine.BookedAttempt) bill {
	out := bill{
		Title: "Attempt " + count(int64(i+1)) + ", " + named(a.Vendor, none), Quality: named(string(a.Quality), "missing"), Known: a.Cost.Known,
		Facts: c.billFacts(a), Raw: plain(string(a.RawUsage)),
	}
	switch {
	case a.Stage == engine.StageBegun:
		out.Note = "No end is booked: what this cost is unknown."
		return out
	case a.Quality == pricing.Missing && !a.Answered():
		out.Note = "The request was with the vendor when the wait for its answer ended: whether it was billed is unknown."
		return out
	case a.Quality == pricing.Missing:
		out.Note = "The vendor reported no usage: what this cost is unknown."
		return out
	}
	if !a.Quality.Complete() {
		out.Note = "The usage is not complete: the tokens are what was reported before the end, and what they cost in all is unknown."
		if prompt := a.PromptCost(); prompt.Known {
			out.Note += " The prompt cost " + c.money.exact(prompt.Total) + "; of output there was at least " + count(a.Usage.Output) + "."
		}
	}
	out.Prompt = tokens(a.Usage.Prompt())
	complete := a.Quality.Complete()
	rows, formula := c.buckets("", &a.Card, a.Usage, complete)
	for i := range a.Sides {
		side := &a.Sides[i]
		name := named(side.Kind, "side")
		if side.Model != "" {
			name += " by " + plain(side.Model)
		}
		more, terms := c.buckets(name+": ", &side.Card, side.Usage, complete)
		rows, formula = append(rows, more...), append(formula, terms...)
	}
	out.Rows = rows
	if !a.Cost.Known {
		out.Total = unknown
		return out
	}
	out.Total = c.money.exact(a.Cost.Total)
	out.Formula = strings.Join(formula, " + ")
	out.Saving = savingText(&engine.Sums{Billed: 1, SavingKnown: known(a.Saving.Known), Saving: a.Saving.Amount}, c.money.exact)
	return out
}

// buckets are the rows of one usage, and the terms that their cost is the sum of. Of
// what an answer used on the side, empty buckets are left out.
func (c *call) buckets(of string, card *pricing.Card, u pricing.Usage, complete bool) (rows []bucketRow, formula []string) {
	cost := pricing.Cost{}
	if complete {
		cost = card.Cost(u)
	}
	for _, k := range []struct {
		name, color string
		tokens      int64
		rate        pricing.Rate
		cost        decimal.Decimal
		cache       bool
	}{
		{"uncached input", "uncached", u.Input, card.Input, cost.Input, false},
		{"cache read", "read", u.CacheRead, card.CacheRead, cost.CacheRead, true},
		{"cache write 5m", "write", u.CacheWrite5m, card.CacheWrite5m, cost.CacheWrite5m, true},
		{"cache write 1h", "write", u.CacheWrite1h, card.CacheWrite1h, cost.CacheWrite1h, true},
		{"output", "output", u.Output, card.Output, cost.Output, false},
	} {
		if of != "" && k.tokens == 0 {
			continue
		}
		row := bucketRow{Bucket: of + k.name, Color: k.color, Tokens: count(k.tokens), Rate: c.money.rate(k.rate), Cost: unknown}
		if k.cache && !k.rate.Known() && k.tokens > 0 && card.Input.Known() {
			row.Rate, row.Note = c.money.rate(card.Input), "input price: there is no cache price"
		}
		switch {
		case k.tokens == 0:
			row.Cost = string(c.money) + "0"
		case cost.Known:
			row.Cost = c.money.exact(k.cost)
			formula = append(formula, row.Tokens+" × "+row.Rate)
		}
		rows = append(rows, row)
	}
	if card.Request.Known() {
		fee := c.money.exact(card.Request.Of(1))
		rows = append(rows, bucketRow{Bucket: of + "request fee", Color: "fee", Tokens: none, Rate: fee + " each", Cost: fee})
		formula = append(formula, fee)
	}
	return rows, formula
}

// billFacts are how an attempt was priced where that is not plain, and what the vendor
// says it charged.
func (c *call) billFacts(a *engine.BookedAttempt) []fact {
	var facts []fact
	if a.Priced != "" {
		facts = append(facts, fact{"Priced as", plain(a.Priced), "the model that served, whose price the catalog has"})
	}
	if a.MarkersCut > 0 {
		facts = append(facts, fact{"Cache markers dropped", counted(int64(a.MarkersCut), "marker"), "the vendor refuses cache_control, so nothing was cached by the client's markers"})
	}
	if a.TierAssumed {
		facts = append(facts, fact{"Service tier", "assumed", "the vendor named none; the price is that of the one asked for"})
	}
	if len(a.Card.Parts) > 0 {
		facts = append(facts, fact{"Prices", "means", "the prompt was billed in " + counted(int64(len(a.Card.Parts)), "piece") + " at prices of their own"})
	}
	if a.Speed != "" {
		facts = append(facts, fact{"Speed", plain(a.Speed), "as the vendor says"})
	}
	if a.Region != "" {
		facts = append(facts, fact{"Region", plain(a.Region), "as the vendor says"})
	}
	if !a.Charged.Known {
		return facts
	}
	charged := fact{"The vendor's own charge", c.money.exact(a.Charged.Amount), "the cost is not known beside it"}
	if a.Cost.Known {
		switch over := a.Charged.Amount.Sub(a.Cost.Total); {
		case over.IsZero():
			charged.Note = "the same as the cost"
		case over.IsNegative():
			charged.Note = c.money.exact(over.Neg()) + " less than the cost"
		default:
			charged.Note = c.money.exact(over) + " more than the cost"
		}
	}
	return append(facts, charged)
}

func known(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
