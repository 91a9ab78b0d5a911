package engine

import (
	"math"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
)

// Weighed is a route of a plan that is sorted by [catalog.ByWeight], and its weight:
// zero where the policy gives it none.
type Weighed struct {
	Vendor string
	Weight decimal.Decimal
}

// draw is when a vendor's turn comes, if every vendor waits for a time that is
// distributed exponentially, at the rate of its weight. In the order in which they
// come, the first is each vendor with a probability of its weight's share of all
// weights, the next likewise among those that are left: a draw without replacement.
// A vendor without a weight never comes.
//
// The time is made of the turn's number and the vendor's name alone, so that the same
// turn is drawn alike wherever it is decided.
func draw(turn uint64, policy *catalog.Policy, vendor string) float64 {
	weight, ok := policy.Weight(vendor)
	if !ok {
		return math.Inf(1)
	}
	h := mix(hashText(mix(turn)^hashOffset, vendor))
	share := (float64(h>>11) + 1) / (1 << 53) // in (0, 1]
	return -math.Log(share) / weight.InexactFloat64()
}
