package pricelist

import (
	"strings"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// fields are the prices of a card in the catalog's words, in its order.
var fields = [...]string{"input", "output", "cache_read", "cache_write", "cache_write_1h"}

// rates are a card's prices in the order of fields.
func rates(c *pricing.Card) [len(fields)]*pricing.Rate {
	return [...]*pricing.Rate{&c.Input, &c.Output, &c.CacheRead, &c.CacheWrite5m, &c.CacheWrite1h}
}

// empty says whether no price of the card is known.
func empty(c pricing.Card) bool {
	for _, r := range rates(&c) {
		if r.Known() {
			return false
		}
	}
	return true
}

func zero(r pricing.Rate) bool     { return r.Known() && r.Decimal().IsZero() }
func positive(r pricing.Rate) bool { return r.Known() && !r.Decimal().IsZero() }

// free says whether a card bills nothing: input is 0, and output is 0 or unknown.
func free(c pricing.Card) bool { return zero(c.Input) && !positive(c.Output) }

// settle turns the zeros of a list into what they mean, and flags what cannot be
// right. A zero is a price only where input is free as well; elsewhere the lists
// write it for what they do not know.
func (r *Row) settle(c *pricing.Card, at string) {
	switch {
	case free(*c):
		return
	case zero(c.Input):
		r.flag(ZeroPrice, at+"input", "input is 0 beside output %s; left unknown", c.Output)
		c.Input = pricing.Rate{}
	case zero(c.Output):
		r.flag(ZeroPrice, at+"output", "output is 0 beside input %s; left unknown", c.Input)
		c.Output = pricing.Rate{}
	}
	for i, rate := range rates(c) {
		switch {
		case i >= 2 && zero(*rate):
			r.flag(ZeroCache, at+fields[i], "%s is 0 beside input %s, which lists write for unknown; left unknown", fields[i], c.Input)
			*rate = pricing.Rate{}
		case rate.Known() && (rate.Decimal().LessThan(ordinaryLow) || rate.Decimal().GreaterThan(ordinaryHigh)):
			r.flag(UnusualPrice, at+fields[i], "%s is %s per million, outside 0.001 to 1000", fields[i], *rate)
		}
	}
	if c.Input.Below(c.CacheRead) {
		r.flag(ReadAboveInput, at+"cache_read", "cache_read %s is above input %s", c.CacheRead, c.Input)
	}
	if c.CacheRead.Known() && c.CacheRead.Equal(c.Input) {
		r.flag(ReadEqualsInput, at+"cache_read", "cache_read %s is the input price: a warm cache saves nothing", c.CacheRead)
	}
	if c.CacheWrite5m.Below(c.Input) {
		r.flag(WriteBelowInput, at+"cache_write", "cache_write %s is below input %s; it may be storage folded in, or something else", c.CacheWrite5m, c.Input)
	}
	if c.Output.Below(c.Input) {
		r.flag(OutputBelowInput, at+"output", "output %s is below input %s", c.Output, c.Input)
	}
	r.farFromInput(c, at)
}

// No vendor takes more than twice the input price for a write, and the lowest read
// that is sold is a 133rd of it: beyond these multiples a list has a figure of
// another model or of another unit.
var leastRead, mostWrite = decimal.New(5, -3), decimal.New(25, -1)

// farFromInput takes away the cache prices that cannot belong to the input price
// beside them: a wrong read sends prompts to the wrong vendor, an unknown one does
// not.
func (r *Row) farFromInput(c *pricing.Card, at string) {
	if !positive(c.Input) {
		return
	}
	input := c.Input.Decimal()
	if c.CacheRead.Below(pricing.PerMillion(input.Mul(leastRead))) {
		r.flag(FarFromInput, at+"cache_read", "cache_read %s is under a 200th of input %s; left unknown", c.CacheRead, c.Input)
		c.CacheRead = pricing.Rate{}
	}
	most := pricing.PerMillion(input.Mul(mostWrite))
	if c.CacheWrite1h.Below(c.CacheWrite5m) || most.Below(c.CacheWrite1h) {
		r.flag(FarFromInput, at+"cache_write_1h", "cache_write_1h %s does not go with input %s and cache_write %s; left unknown", c.CacheWrite1h, c.Input, c.CacheWrite5m)
		c.CacheWrite1h = pricing.Rate{}
	}
	if most.Below(c.CacheWrite5m) {
		r.flag(FarFromInput, at+"cache_write", "cache_write %s is over 2.5 times input %s; left unknown", c.CacheWrite5m, c.Input)
		c.CacheWrite5m = pricing.Rate{}
	}
}

// ordinary bounds what raises no question, as for a catalog's own prices.
var ordinaryLow, ordinaryHigh = decimal.New(1, -3), decimal.New(1000, 0)

// maxTiers bounds the tiers of a band; no list has more than four.
const maxTiers = 32

// tier adds a context tier to a band, lowest threshold first. Of two with one
// threshold the first counts.
func (r *Row) tier(b *pricing.Band, above int64, c pricing.Card, at string) {
	if empty(c) {
		return
	}
	if !c.Input.Known() || !c.Output.Known() {
		r.flag(TierIncomplete, at, "the tier above %d tokens has no %s price; it is unknown there", above, missing(c))
	}
	if len(b.Tiers) >= maxTiers {
		r.flag(TierUnreadable, at, "is the tier after %d others; left out", maxTiers)
		return
	}
	i := 0
	for i < len(b.Tiers) && b.Tiers[i].Above < above {
		i++
	}
	if i < len(b.Tiers) && b.Tiers[i].Above == above {
		r.flag(Contradiction, at, "a second tier above %d tokens; left out", above)
		return
	}
	b.Tiers = append(b.Tiers[:i], append([]pricing.Tier{{Above: above, Card: c}}, b.Tiers[i:]...)...)
}

func missing(c pricing.Card) string {
	switch {
	case c.Input.Known():
		return "output"
	case c.Output.Known():
		return "input"
	}
	return "input and output"
}

// uniform finds the number that all prices of a dearer card are multiplied by.
// It is not ok where there is none with at most six decimals, or input or output
// is not stated. A cache price may be the product rounded to cents.
func uniform(base, dearer pricing.Card) (times decimal.Decimal, ok bool) {
	if !positive(base.Input) || !dearer.Input.Known() || !dearer.Output.Known() {
		return times, false
	}
	times = dearer.Input.Decimal().DivRound(base.Input.Decimal(), 6)
	from, to := rates(&base), rates(&dearer)
	for i := range from {
		if !to[i].Known() {
			continue
		}
		want, is := from[i].Decimal().Mul(times), to[i].Decimal()
		if !from[i].Known() || !want.Equal(is) && (i < 2 || !want.Round(2).Equal(is) || want.Sub(is).Abs().GreaterThan(is.Mul(decimal.New(5, -3)))) {
			return times, false
		}
	}
	return times, true
}

// surcharge adds a multiplier where one explains the dearer card, and flags the
// card as not read where none does.
func (r *Row) surcharge(s *pricing.Sheet, x pricing.Surcharge, dearer pricing.Card) {
	if empty(dearer) {
		return
	}
	times, ok := uniform(s.Card, dearer)
	switch {
	case !ok:
		r.flag(NotPriced, x.Speed+x.Region, "the prices for %s are no multiple of the ordinary ones; not read", x.Speed+x.Region)
	case !times.Equal(decimal.New(1, 0)):
		x.Times = times
		r.multiply(s, x)
	}
}

// maxSurcharges bounds the multipliers of a sheet; no list has more than 45.
const maxSurcharges = 64

func (r *Row) multiply(s *pricing.Sheet, x pricing.Surcharge) {
	if len(s.Surcharges) >= maxSurcharges {
		r.flag(NotPriced, "surcharges", "more than %d multipliers; the others are not read", maxSurcharges)
		return
	}
	s.Surcharges = append(s.Surcharges, x)
}

// service adds a service tier where it states a price.
func service(s *pricing.Sheet, name string, b pricing.Band) {
	if empty(b.Card) && len(b.Tiers) == 0 {
		return
	}
	if s.ServiceTiers == nil {
		s.ServiceTiers = map[string]pricing.Band{}
	}
	s.ServiceTiers[name] = b
}

// done ends a row: it becomes a row of the list, or a skip where it has no price.
func (l *List) done(r Row) {
	card, known := pricing.Card{}, false
	for i := range r.Price {
		card, known = r.Price[i].Card, known || r.Price[i].Card.Input.Known() || r.Price[i].Card.Output.Known()
	}
	switch {
	case !known:
		l.skip(r.Key, NoPrice, "")
	case len(r.Price) == 1 && free(card):
		l.skip(r.Key, Free, "every price is 0")
	case r.Model == "":
		l.skip(r.Key, Malformed, "its name cannot be used")
	default:
		l.Rows = append(l.Rows, r)
	}
}

// begin makes the row of an entry, or skips what no route could be.
func (l *List) begin(key, provider, upstream string) (r Row, ok bool) {
	r = Row{Key: key, Provider: provider, Vendor: VendorName(provider), UpstreamModel: upstream}
	n := nameOf(upstream)
	r.Model, r.Region, r.Variant = n.model(r.Vendor), n.region, n.variant()
	switch {
	case r.Vendor == "" || r.Model == "" || len(upstream) > maxID:
		l.skip(key, Malformed, "its name cannot be used")
	case n.free:
		l.skip(key, Free, "a free variant")
	case strings.HasPrefix(upstream, "ft:") || strings.HasSuffix(upstream, ".ft"):
		l.skip(key, Template, "a fine-tuned model's price")
	case notChat(upstream) != "":
		l.skip(key, NotChat, notChat(upstream))
	default:
		return r, true
	}
	return r, false
}
