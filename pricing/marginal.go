package pricing

import "github.com/shopspring/decimal"

// Part is a stretch of a prompt that is billed piece by piece, and the rates of its
// tokens.
type Part struct {
	Tokens int64
	Card   Card // of its prompt rates; Output is not looked at
}

// marginal takes the rates of a prompt that is billed piece by piece and runs
// through more than one tier: its parts, the means of its prompt rates, and the output rate
// of the tier that its end falls into.
func (b *Band) marginal(card *Card, t *Terms) {
	parts := make([]Part, 1, 1+len(b.Tiers))
	parts[0].Tokens = b.Tiers[0].Above
	parts[0].Card.take(&b.Card, t.Implicit)
	for i := range b.Tiers {
		tier, end := &b.Tiers[i], t.Prompt
		if end <= tier.Above {
			break
		}
		if i+1 < len(b.Tiers) {
			end = min(end, b.Tiers[i+1].Above)
		}
		part := Part{Tokens: end - tier.Above}
		part.Card.take(&tier.Card, t.Implicit)
		parts = append(parts, part)
	}
	card.Input = mean(parts, t.Prompt, func(c *Card) Rate { return c.Input })
	card.Output = parts[len(parts)-1].Card.Output
	card.CacheRead = mean(parts, t.Prompt, func(c *Card) Rate { return c.CacheRead })
	card.CacheWrite5m = mean(parts, t.Prompt, func(c *Card) Rate { return c.CacheWrite5m })
	card.CacheWrite1h = mean(parts, t.Prompt, func(c *Card) Rate { return c.CacheWrite1h })
	card.Parts = parts
}

// meanDigits is how many decimals of a mean rate are kept. It is compared and
// shown; no cost is computed from it.
const meanDigits = 18

// mean is the mean of a rate over a prompt of this many tokens; unknown where it is
// unknown for any part.
func mean(parts []Part, tokens int64, of func(*Card) Rate) Rate {
	sum := decimal.Zero
	for i := range parts {
		rate := of(&parts[i].Card)
		if !rate.Known() {
			return Rate{}
		}
		sum = sum.Add(rate.Decimal().Mul(decimal.NewFromInt(parts[i].Tokens)))
	}
	return PerMillion(sum.DivRound(decimal.NewFromInt(tokens), meanDigits))
}

// parted prices a prompt piece by piece. A prompt's tokens lie in this order: what
// was read from the cache, what was written for an hour, what was written for the
// ordinary lifetime, the rest (Anthropic's documentation: longer lifetimes stand
// before shorter ones). Tokens beyond the parts are billed as the last one's.
func (c Card) parted(u Usage) Cost {
	cost := Cost{Known: true}
	at := place{parts: c.Parts, left: c.Parts[0].Tokens}
	cost.CacheRead = at.bill(&cost, u.CacheRead, true, func(c *Card) Rate { return c.CacheRead })
	cost.CacheWrite1h = at.bill(&cost, u.CacheWrite1h, true, func(c *Card) Rate { return c.CacheWrite1h })
	cost.CacheWrite5m = at.bill(&cost, u.CacheWrite5m, true, func(c *Card) Rate { return c.CacheWrite5m })
	cost.Input = at.bill(&cost, u.Input, false, func(c *Card) Rate { return c.Input })
	cost.Output = c.Output.Of(u.Output)
	cost.Known = cost.Known && (u.Output == 0 || c.Output.Known())
	return cost
}

// place is how far into a prompt its bill has come.
type place struct {
	parts []Part // the one it has come to first
	left  int64  // tokens of that one still to be billed
}

// bill prices the next tokens of the prompt. A cache rate that is not known is
// replaced by the input rate of the same part and flagged in the cost; an input
// rate that is not known makes the cost unknown.
func (p *place) bill(cost *Cost, tokens int64, cache bool, of func(*Card) Rate) decimal.Decimal {
	var sum decimal.Decimal
	for tokens > 0 {
		if p.left == 0 && len(p.parts) > 1 {
			p.parts = p.parts[1:]
			p.left = p.parts[0].Tokens
			continue
		}
		n := tokens
		if len(p.parts) > 1 {
			n = min(n, p.left)
			p.left -= n
		}
		tokens -= n
		rate := of(&p.parts[0].Card)
		if cache && !rate.Known() {
			rate, cost.NoCachePrice = p.parts[0].Card.Input, true
		}
		cost.Known = cost.Known && rate.Known()
		sum = sum.Add(rate.Of(n))
	}
	return sum
}
