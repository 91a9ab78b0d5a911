package wire

import "github.com/warmroute/warmroute/pricing"

// readMaxPrice reads OpenRouter's limits: of prompt and completion per million tokens,
// of request for each, as numbers or texts, read exactly from their digits. What a
// catalog has no price of cannot be kept, and is refused rather than dropped. Source:
// OpenRouter, "Provider Routing", "Max price".
func readMaxPrice(r *Request, v span, where string) error {
	if r.Body[v.from] != '{' {
		return refused("%q must be an object", where)
	}
	limits := [...]struct {
		name string
		unit pricing.Unit
		to   *pricing.Rate
		seen bool
	}{
		{name: "prompt", unit: pricing.PerMillionTokens, to: &r.facts.MaxPrice.Input},
		{name: "completion", unit: pricing.PerMillionTokens, to: &r.facts.MaxPrice.Output},
		{name: "request", unit: pricing.PerToken, to: &r.facts.MaxPrice.Request},
	}
	for w := walk(r.Body, v.from); w.next(); {
		known := false
		for i := range limits {
			l := &limits[i]
			if !w.is(l.name) {
				continue
			}
			known = true
			full := where + "." + l.name
			if l.seen {
				return refused("%q stands in the body twice; send it once", full)
			}
			l.seen = true
			if w.isNull() {
				break
			}
			rate, ok := limit(r.Body, w.span(), l.unit)
			if !ok {
				return refused("%q must be a price, zero or more, such as 0.5", full)
			}
			*l.to = rate
			break
		}
		if !known && !w.isNull() {
			return refused("%q can limit prompt, completion and request; no other price is known here, so leave it out", where)
		}
	}
	return nil
}

// limit reads a price from the digits of a number or a text.
func limit(b []byte, v span, unit pricing.Unit) (pricing.Rate, bool) {
	digits, ok := textOf(b, v)
	if !ok {
		digits = v.of(b)
	}
	rate, err := pricing.ParseRate(string(digits), unit)
	return rate, err == nil
}
