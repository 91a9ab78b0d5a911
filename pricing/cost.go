package pricing

import "github.com/shopspring/decimal"

// Cost is what a usage cost at one card's rates, in the catalog's currency.
//
// The zero Cost is unknown, not free.
type Cost struct {
	Known        bool            // every rate that was needed is known, or had a fallback
	NoCachePrice bool            // some cache bucket had no rate and was billed at the input rate
	Total        decimal.Decimal // the sum of the buckets below; meaningful only if Known
	Input        decimal.Decimal
	CacheRead    decimal.Decimal
	CacheWrite5m decimal.Decimal
	CacheWrite1h decimal.Decimal
	Output       decimal.Decimal
}

// Cost prices a usage bucket by bucket.
//
// A cache bucket whose rate is absent is billed at the input rate and flagged
// (design section 7). An absent input or output rate that is needed makes the
// whole cost unknown. The caller asks first whether the usage is complete.
func (c Card) Cost(u Usage) Cost {
	var cost Cost
	cache := func(rate Rate, tokens int64) decimal.Decimal {
		if tokens != 0 && !rate.Known() {
			cost.NoCachePrice = true
			rate = c.Input
		}
		return rate.Of(tokens)
	}
	cost.Input = c.Input.Of(u.Input)
	cost.CacheRead = cache(c.CacheRead, u.CacheRead)
	cost.CacheWrite5m = cache(c.CacheWrite5m, u.CacheWrite5m)
	cost.CacheWrite1h = cache(c.CacheWrite1h, u.CacheWrite1h)
	cost.Output = c.Output.Of(u.Output)
	if (u.Input != 0 || cost.NoCachePrice) && !c.Input.Known() || u.Output != 0 && !c.Output.Known() {
		return Cost{} // nothing was billed at any price
	}
	cost.Known = true
	for _, part := range [...]*decimal.Decimal{&cost.Input, &cost.CacheRead, &cost.CacheWrite5m, &cost.CacheWrite1h, &cost.Output} {
		if !part.IsZero() {
			cost.Total = cost.Total.Add(*part)
		}
	}
	return cost
}
