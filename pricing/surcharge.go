package pricing

import (
	"fmt"

	"github.com/shopspring/decimal"
)

// Surcharge multiplies every rate of a card, not its fee: what a vendor takes for a
// faster answer, or for computing in one region.
//
// One that names both a speed and a region applies where both hold. A turn to which
// several apply is multiplied by each of them.
type Surcharge struct {
	Speed  string          // it applies at this speed only, in the vendor's word; empty: at any
	Region string          // it applies to this region only, in the vendor's word; empty: in any
	Times  decimal.Decimal // more than zero; 1.1 is a tenth more
}

// maxTimes is the highest multiple that a catalog may state. The dearest that is
// sold is six; a price in the place of a multiple is most often above.
const maxTimes = 100

// ParseTimes reads the multiple of a surcharge as it is written in a catalog, in
// the grammar of prices. It is more than zero, which would make everything free,
// and at most a hundred. An error says what is wrong with the text.
func ParseTimes(text string) (decimal.Decimal, error) {
	if text == "" {
		return decimal.Decimal{}, fmt.Errorf("is empty; give a multiple such as 1.1")
	}
	if fault := numberFault(text, "a multiple; write digits with a decimal point, such as 1.1"); fault != nil {
		return decimal.Decimal{}, fault
	}
	times, err := decimal.NewFromString(text)
	switch {
	case err != nil:
		return decimal.Decimal{}, fmt.Errorf("%q is not a multiple: %w", text, err)
	case !times.IsPositive():
		return decimal.Decimal{}, fmt.Errorf("%q would make everything free; give a multiple such as 1.1", text)
	case times.GreaterThan(decimal.NewFromInt(maxTimes)):
		return decimal.Decimal{}, fmt.Errorf("%q is more than %d times the price; give the multiple, not a price or a percentage", text, maxTimes)
	}
	return times, nil
}

// StandardSpeed says whether a speed is the one that ordinary prices are for, such
// as "standard".
func StandardSpeed(name string) bool { return name == "" || name == "standard" }

// times is the product of the surcharges that apply. priced is false at a speed
// that no surcharge names: the vendor takes something else for it. A region that
// none names has the ordinary prices.
func (s *Sheet) times(t *Terms) (times decimal.Decimal, priced bool) {
	times, priced = decimal.New(1, 0), StandardSpeed(t.Speed)
	for i := range s.Surcharges {
		x := &s.Surcharges[i]
		if (x.Speed == "" || x.Speed == t.Speed) && (x.Region == "" || x.Region == t.Region) {
			times, priced = times.Mul(x.Times), priced || x.Speed == t.Speed
		}
	}
	return times, priced
}

// multiply multiplies the rates of the card and of its parts, which are its own.
func (c *Card) multiply(x decimal.Decimal) {
	for _, r := range [...]*Rate{&c.Input, &c.Output, &c.CacheRead, &c.CacheWrite5m, &c.CacheWrite1h} {
		if r.Known() {
			*r = PerMillion(r.Decimal().Mul(x))
		}
	}
	for i := range c.Parts {
		c.Parts[i].Card.multiply(x)
	}
}
