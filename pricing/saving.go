package pricing

import "github.com/shopspring/decimal"

// Saving is what a usage cost less, or more, than the same tokens would have cost
// with every prompt token at the input rate (design section 7: net cache saving).
//
// The zero Saving is unknown, not none. Amount can be negative: writes that are
// never read again cost more than they save.
type Saving struct {
	Known  bool
	Amount decimal.Decimal // in the catalog's currency
}

// Plus is both savings together; unknown if either is.
func (s Saving) Plus(other Saving) Saving {
	if !s.Known || !other.Known {
		return Saving{}
	}
	return Saving{Known: true, Amount: s.Amount.Add(other.Amount)}
}

// Saving is the net cache saving of a usage at the card's rates. It is unknown
// where the cost is, or the input rate. A bucket billed at the input rate for
// want of a rate of its own saves nothing.
func (c Card) Saving(u Usage) Saving {
	cost := c.Cost(u)
	if !cost.Known || !c.Input.Known() {
		return Saving{}
	}
	fresh := c.Cost(Usage{Input: u.Prompt()})
	return Saving{Known: true, Amount: fresh.Input.Sub(cost.Prompt())}
}
