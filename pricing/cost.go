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
	Request      decimal.Decimal // the fee of the request; zero where there is none
}

// Cost prices a usage bucket by bucket.
//
// A cache bucket whose rate is absent is billed at the input rate and flagged
// (design section 7). An absent input or output rate that is needed makes the
// whole cost unknown. The caller asks first whether the usage is complete.
func (c Card) Cost(u Usage) Cost {
	var cost Cost
	if len(c.Parts) > 0 {
		cost = c.parted(u)
	} else {
		cost = c.whole(u)
	}
	if !cost.Known {
		return Cost{} // nothing was billed at any price
	}
	cost.Request = c.Request.Of(1)
	for _, part := range [...]*decimal.Decimal{&cost.Input, &cost.CacheRead, &cost.CacheWrite5m, &cost.CacheWrite1h, &cost.Output, &cost.Request} {
		if !part.IsZero() {
			cost.Total = cost.Total.Add(*part)
		}
	}
	return cost
}

// Plus is both costs together; unknown if either is.
func (c Cost) Plus(other Cost) Cost {
	if !c.Known || !other.Known {
		return Cost{}
	}
	return Cost{
		Known:        true,
		NoCachePrice: c.NoCachePrice || other.NoCachePrice,
		Total:        c.Total.Add(other.Total),
		Input:        c.Input.Add(other.Input),
		CacheRead:    c.CacheRead.Add(other.CacheRead),
		CacheWrite5m: c.CacheWrite5m.Add(other.CacheWrite5m),
		CacheWrite1h: c.CacheWrite1h.Add(other.CacheWrite1h),
		Output:       c.Output.Add(other.Output),
		Request:      c.Request.Add(other.Request),
	}
}

// Prompt is what the prompt's tokens cost.
func (c *Cost) Prompt() decimal.Decimal {
	return decimal.Sum(c.Input, c.CacheRead, c.CacheWrite5m, c.CacheWrite1h)
}

// whole prices a request all of which has the same rates.
func (c Card) whole(u Usage) Cost {
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
	cost.Known = (c.Input.Known() || u.Input == 0 && !cost.NoCachePrice) && (c.Output.Known() || u.Output == 0)
	return cost
}
