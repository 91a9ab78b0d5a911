package sim

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// money says what the prompt of a reported turn cost, and what reading and writing
// made of that.
func (w *work) money() {
	card, u, res := &w.try.Card, &w.try.Usage, w.res
	prompt := *u
	prompt.Output, prompt.Reasoning = 0, 0
	cost := card.Cost(prompt)
	if cost.Known {
		res.Prompt = Known(cost.Prompt())
	}
	switch {
	case !card.Input.Known():
		return
	case len(card.Parts) == 0:
		res.Gain = Known(difference(card.Input, card.CacheRead, u.CacheRead))
		res.Premium = Known(difference(card.Input, card.CacheWrite5m, u.CacheWrite5m).
			Add(difference(card.Input, card.CacheWrite1h, u.CacheWrite1h)).Neg())
	case cost.Known:
		// Piece by piece, what was read lies at the prompt's beginning.
		res.Gain = Known(card.Cost(pricing.Usage{Input: u.CacheRead}).Input.Sub(cost.CacheRead))
		res.Premium = res.Gain.minus(Known(card.Saving(prompt).Amount))
	}
	res.Hour = w.hour()
}

// difference is what so many tokens cost less at rate than at the input rate; nothing
// where the rate is not known, for then they are billed as input.
func difference(input, rate pricing.Rate, tokens int64) decimal.Decimal {
	if tokens == 0 || !rate.Known() {
		return decimal.Zero
	}
	return input.Of(tokens).Sub(rate.Of(tokens))
}

// hour is what this turn would have cost less had the session's writes always been
// marked for an hour: the prefix that had expired within the hour read and not
// written again, and all that is written at the dearer rate. The sum over a session's
// turns is what marking would have saved it; negative where pauses are too rare.
// Unknown where the turn marked nothing, or an hour already, or a price is missing.
// Where a prompt is billed piece by piece the means of its rates are taken.
func (w *work) hour() Money {
	card, u, r := &w.try.Card, &w.try.Usage, &w.offer.Rules
	if r.Family != catalog.Explicit || !w.f.Marks.Any || w.f.Marks.Hour > 0 || u.CacheWrite1h > 0 {
		return Money{}
	}
	if !card.CacheRead.Known() || !card.CacheWrite5m.Known() || !card.CacheWrite1h.Known() {
		return Money{}
	}
	var back int64
	if at := w.prompt.At.UnixMilli(); at >= w.cache.used+w.cache.life && at < w.cache.used+hour.Milliseconds() {
		held := r.readable(w.cache.held, r.caches(&w.prompt), w.prompt.Tokens)
		back = min(max(held-u.CacheRead, 0), u.CacheWrite5m)
	}
	rest := u.CacheWrite5m - back
	saved := card.CacheWrite5m.Of(u.CacheWrite5m).Sub(card.CacheRead.Of(back)).Sub(card.CacheWrite1h.Of(rest))
	return Known(saved)
}
