package pricing

import "github.com/shopspring/decimal"

// marginal is the card of a prompt that is billed piece by piece: its parts, the
// means of its prompt rates, and the output rate of the tier its end falls into.
func (b *Band) marginal(promptTokens int64) Card {
	parts := []Part{{Tokens: b.Tiers[0].Above, Card: b.Card}}
	for i, tier := range b.Tiers {
		end := promptTokens
		if i+1 < len(b.Tiers) {
			end = min(end, b.Tiers[i+1].Above)
		}
		if end <= tier.Above {
			break
		}
		parts = append(parts, Part{Tokens: end - tier.Above, Card: tier.Card})
	}
	card := Card{Output: parts[len(parts)-1].Card.Output, Parts: parts}
	mean := func(of func(*Card) Rate) Rate { return meanOf(parts, promptTokens, of) }
	card.Input = mean(func(c *Card) Rate { return c.Input })
	card.CacheRead = mean(func(c *Card) Rate { return c.CacheRead })
	card.CacheReadImplicit = mean(func(c *Card) Rate { return c.CacheReadImplicit })
	card.CacheWrite5m = mean(func(c *Card) Rate { return c.CacheWrite5m })
	card.CacheWrite1h = mean(func(c *Card) Rate { return c.CacheWrite1h })
	return card
}

// meanDigits is how many decimals of a mean rate are kept.
const meanDigits = 18

// meanOf is the mean of a rate over a prompt, to 18 decimals; unknown where it is
// unknown for any part.
func meanOf(parts []Part, tokens int64, of func(*Card) Rate) Rate {
	sum := decimal.Zero
	for i := range parts {
		r := of(&parts[i].Card)
		if !r.Known() {
			return Rate{}
		}
		sum = sum.Add(r.Decimal().Mul(decimal.NewFromInt(parts[i].Tokens)))
	}
	return PerMillion(sum.DivRound(decimal.NewFromInt(tokens), meanDigits))
}

// parted prices a prompt piece by piece. A prompt's tokens lie in this order: what
// was read from the cache, what was written for an hour, what was written for the
// ordinary lifetime, the rest (Anthropic's documentation: longer lifetimes stand
// before shorter ones). Tokens beyond the parts are billed as the last one's.
func (c Card) parted(u Usage) Cost {
	cost := Cost{Known: true}
	buckets := [...]struct {
		tokens int64
		sum    *decimal.Decimal
		rate   func(*Card) Rate
		cache  bool
	}{
		{u.CacheRead, &cost.CacheRead, func(c *Card) Rate { return c.CacheRead }, true},
		{u.CacheWrite1h, &cost.CacheWrite1h, func(c *Card) Rate { return c.CacheWrite1h }, true},
		{u.CacheWrite5m, &cost.CacheWrite5m, func(c *Card) Rate { return c.CacheWrite5m }, true},
		{u.Input, &cost.Input, func(c *Card) Rate { return c.Input }, false},
	}
	part, left := 0, c.Parts[0].Tokens
	for _, b := range buckets {
		for tokens := b.tokens; tokens > 0; {
			if left == 0 && part+1 < len(c.Parts) {
				part++
				left = c.Parts[part].Tokens
				continue
			}
			n := tokens
			if part+1 < len(c.Parts) {
				n = min(n, left)
				left -= n
			}
			rate := b.rate(&c.Parts[part].Card)
			if b.cache && !rate.Known() {
				rate, cost.NoCachePrice = c.Parts[part].Card.Input, true
			}
			if !rate.Known() {
				return Cost{}
			}
			*b.sum = b.sum.Add(rate.Of(n))
			tokens -= n
		}
	}
	if u.Output != 0 && !c.Output.Known() {
		return Cost{}
	}
	cost.Output = c.Output.Of(u.Output)
	return cost
}
