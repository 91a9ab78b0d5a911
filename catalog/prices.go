package catalog

import (
	"fmt"
	"regexp"
	"time"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// ordinary bounds, per million tokens, the prices that raise no question: none
// is sold outside, but a slip of the unit moves every price by a thousand.
var ordinaryLow, ordinaryHigh = decimal.New(1, -3), decimal.New(1000, 0)

// sheet reads everything a route's price depends on, but for when it holds.
func (b *builder) sheet(o *object, where string) pricing.Sheet {
	s := pricing.Sheet{Band: b.band(o, where)}
	if n := o.get("request"); n != nil {
		s.Card.Request = b.fee(n, where)
	}
	if n := o.get("as_of"); n != nil {
		if text, ok := b.text(n, where, "as_of"); ok {
			if _, err := time.Parse(time.DateOnly, text); err != nil {
				b.fail(n, where, "as_of %s is not a day such as 2026-11-20", b.quote(text))
			}
			s.AsOf = text
		}
	}
	if n := o.get("source"); n != nil {
		s.Source, _ = b.text(n, where, "source")
	}
	if n := o.get("windows"); n != nil {
		s.Windows = b.windows(n, where)
	}
	if n := o.get("service_tiers"); n != nil {
		s.ServiceTiers = b.serviceTiers(n, where)
	}
	if n := o.get("surcharges"); n != nil {
		s.Surcharges = b.surcharges(n, where)
	}
	return s
}

// band reads a card with its context tiers.
func (b *builder) band(o *object, where string) pricing.Band {
	band := pricing.Band{Card: b.card(o, where)}
	if n := o.get("tiers"); n != nil {
		band.Tiers = b.tiers(n, where)
	}
	if n := o.get("marginal"); n != nil {
		band.Marginal, _ = b.truth(n, where, "marginal")
		if band.Marginal && o.get("tiers") == nil {
			b.fail(n, where, "marginal says how tiers are billed, and there are none; add tiers, or remove it")
		}
	}
	return band
}

// KeyedRate is a price of a card under its key in a catalog.
type KeyedRate struct {
	Key  string
	Rate *pricing.Rate // in the card itself
}

// KeyedRates are the prices of a card's tokens, in the order of a catalog's keys.
func KeyedRates(c *pricing.Card) [6]KeyedRate {
	return [...]KeyedRate{
		{"input", &c.Input}, {"output", &c.Output}, {"cache_read", &c.CacheRead}, {"cache_read_implicit", &c.CacheReadImplicit},
		{"cache_write", &c.CacheWrite5m}, {"cache_write_1h", &c.CacheWrite1h},
	}
}

// card reads the prices of a mapping.
func (b *builder) card(o *object, where string) pricing.Card {
	var c pricing.Card
	for _, r := range KeyedRates(&c) {
		if n := o.get(r.Key); n != nil {
			*r.Rate = b.rate(n, where, r.Key)
		}
	}
	b.warnOfRead(o, where, "cache_read", c.CacheRead, c.Input)
	b.warnOfRead(o, where, "cache_read_implicit", c.CacheReadImplicit, c.Input)
	return c
}

// warnOfRead warns of a read price that never pays.
func (b *builder) warnOfRead(o *object, where, name string, read, input pricing.Rate) {
	if read.Known() && input.Known() && !read.Below(input) && !input.Decimal().IsZero() {
		b.warn(o.get(name), where, "%s %s is not below input %s, so a warm cache is never preferred here", name, read, input)
	}
}

// ordinaryFee is the fee of a request from which on a question is raised: what is
// sold for so much is a thousand requests.
var ordinaryFee = pricing.PerMillion(decimal.New(1, 6))

// fee reads what one request costs beside its tokens, in the catalog's currency.
func (b *builder) fee(n *yaml.Node, where string) pricing.Rate {
	fee := b.rateIn(n, where, "request", pricing.PerToken)
	if fee.Known() && !fee.Below(ordinaryFee) {
		b.warn(n, where, "request is the fee of one request, and %s is much; divide a price of a thousand requests by 1000", n.Value)
	}
	return fee
}

// rate reads one price of tokens from its text.
func (b *builder) rate(n *yaml.Node, where, name string) pricing.Rate {
	rate := b.rateIn(n, where, name, b.unit)
	if d := rate.Decimal(); !d.IsZero() && (d.LessThan(ordinaryLow) || d.GreaterThan(ordinaryHigh)) {
		b.warn(n, where, "%s is %s per million tokens, outside 0.001 to 1000; check the unit of the file", name, rate)
	}
	return rate
}

// rateIn reads a price that is stated for some unit.
func (b *builder) rateIn(n *yaml.Node, where, name string, unit pricing.Unit) pricing.Rate {
	switch {
	case n.Kind == yaml.AliasNode:
		return pricing.Rate{}
	case n.Kind != yaml.ScalarNode:
		b.fail(n, where, "%s must be a price, such as 0.30", name)
		return pricing.Rate{}
	}
	text := n.Value
	if isNull(n) {
		text = ""
	}
	rate, err := pricing.ParseRate(text, unit)
	switch {
	case err == nil:
	case b.beyond(n):
		return pricing.Rate{}
	case tooManyDigits.MatchString(text):
		b.fail(n, where, "%s %s has too many digits; a price has at most 9 before the decimal point and 18 after it, and an exponent of at most 2", name, quote(text))
		return pricing.Rate{}
	case mayBeKey(text):
		b.fail(n, where, "%s is not a price; write digits with a decimal point, such as 0.30 or 3e-06", name)
		return pricing.Rate{}
	default:
		b.fail(n, where, "%s %s", name, err)
		return pricing.Rate{}
	}
	return rate
}

// tooManyDigits is a price but for the number of its digits.
var tooManyDigits = regexp.MustCompile(`^((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?$`)

// tiers reads context tiers, lowest threshold first.
func (b *builder) tiers(n *yaml.Node, where string) []pricing.Tier {
	var all []pricing.Tier
	last := int64(0)
	for i, item := range b.list(n, where, "tiers", "[{above: 200000, input: 6}]") {
		at := fmt.Sprintf("%s, tier %d", where, i+1)
		o, ok := b.fixed(item, at, "a tier", keysIn[tierShape]()...)
		if !ok {
			continue
		}
		t := pricing.Tier{Card: b.card(&o, at)}
		if n := b.need(&o, "above", "give the number of prompt tokens above which the tier holds"); n != nil {
			if t.Above, ok = b.count(n, at, "above"); ok {
				if t.Above <= last {
					b.fail(n, at, "above %d is not more than the %d of the tier before it; put the lowest first, each once", t.Above, last)
				}
				last = t.Above
			}
		}
		all = append(all, t)
	}
	return all
}

// serviceTiers reads the prices of a vendor's service tiers.
func (b *builder) serviceTiers(n *yaml.Node, where string) map[string]pricing.Band {
	o, ok := b.mapping(n, where, "service_tiers")
	if !ok {
		return nil
	}
	all := make(map[string]pricing.Band, len(o.entries))
	for _, e := range o.entries {
		name := e.key.Value
		at := where + ", service tier " + b.quote(name)
		switch fault := nameFault(name); {
		case fault != "":
			b.fail(e.key, at, "the name %s", fault)
		case pricing.StandardTier(name):
			b.fail(e.key, at, "%s is the ordinary tier; its prices stand directly under price", b.quote(name))
		}
		if band, ok := b.fixed(e.value, at, "a service tier", keysIn[serviceTierShape]()...); ok {
			all[name] = b.band(&band, at)
		}
	}
	return all
}
