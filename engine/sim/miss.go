package sim

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// missTokens is how many tokens less than promised make a miss, if they are a tenth of
// the promise as well.
const missTokens = 1024

// Miss is a turn that read notably less than it was promised. The zero Miss is none.
type Miss struct {
	Cause  Cause
	Tokens int64 // that were promised, or kept, and not read
	Loss   Money // what they cost more than reading them at the warm vendor; never negative
}

// short says whether reading so much less than promised is a miss.
func short(missing, promised int64) bool {
	return missing >= missTokens && missing >= promised/10+min(1, promised%10)
}

// measure says what the turn's prompt came to and whether it missed.
func (w *work) measure() {
	res := w.res
	if !res.Reported {
		return
	}
	w.money()
	if w.try.Silent && w.offer.Rules.any() {
		return
	}
	read := max(res.Usage.CacheRead, 0)
	switch missing, changed := res.Expected-read, res.Promised-max(res.Expected, read); {
	case short(missing, res.Expected):
		res.Miss = Miss{Cause: w.cause(read), Tokens: missing}
	case short(changed, res.Promised):
		res.Miss = Miss{Cause: PrefixChanged, Tokens: changed}
	default:
		return
	}
	res.Miss.Loss = w.loss(res.Miss.Tokens)
}

// cause says why what the client kept was not read.
func (w *work) cause(read int64) Cause {
	f, given := w.f, &w.given
	at := w.prompt.At.UnixMilli()
	moved := !w.res.Stayed
	alive := given.cache.alive(at) > 0
	offer := f.offer(w.offer.Model, given.id)
	down := f.Outcome == engine.SkippedHealthDown || offer >= 0 && (f.Offers[offer].Down || moved && f.tried(offer))
	engaged := f.Detail != engine.DetailNeverEngaged
	forgotten := (f.Outcome == engine.NoPin || f.Outcome == engine.StoreUnavailable) && engaged
	pinned := f.Outcome != engine.NoPin && f.Outcome != engine.StoreUnavailable && f.Outcome != engine.PinExpired
	switch {
	case w.offer.Rules.Family == catalog.Explicit && !f.Marks.Any:
		return NoCacheMarker
	case w.offer.Rules.any() && w.offer.Rules.caches(&w.prompt) == 0:
		return BelowMinPrefix
	case moved && (f.Outcome == engine.SkippedNotCheaper || f.Outcome == engine.MovedOnPrice || f.Detail == engine.DetailHoldout):
		return DeliberateMove // held out, it is moved to measure by: what that costs is the price of knowing
	case moved && (settled(f.Outcome) || pinned && offer < 0):
		return PlanExcluded
	case moved && alive && !down && pinned && !given.id.SameVendor(w.offer.ID):
		return VendorSwitched
	case moved && alive && !down && pinned:
		return CredentialSwitched
	case moved && alive && forgotten && !down:
		return PinLost
	case moved && down:
		return HealthDown
	case f.Outcome == engine.PinExpired || !alive:
		return PinExpired
	case (w.res.Stayed || !engaged) && w.f.Kept.Known && read < w.res.Expected/10+min(1, w.res.Expected%10):
		return VendorEvicted
	}
	return UnknownCause
}

// settled says whether an outcome is the work of settings: they left the warm vendor
// out of the plan, put an order before it, turned affinity off or gave it no price.
func settled(o engine.Outcome) bool {
	switch o {
	case engine.SkippedNotInPlan, engine.SkippedOrder, engine.SkippedModeOff, engine.SkippedPriceUnknown:
		return true
	}
	return false
}

// offer is the place of a model's candidate in the plan; -1 if it is not in it.
func (f *Fact) offer(model string, id ID) int {
	for i := range f.Offers {
		if f.Offers[i].ID == id && f.Offers[i].Model == model {
			return i
		}
	}
	return -1
}

// loss is what so many tokens of the prompt cost more than reading them at the vendor
// that was warm. A prompt's tokens lie in the order of [pricing.Card]: read, written
// for an hour, written, input. Where it is billed piece by piece the means of its
// rates are taken.
func (w *work) loss(tokens int64) Money {
	warm := w.warmRate()
	paid := Known(decimal.Zero)
	card, u := &w.try.Card, &w.try.Usage
	for _, bucket := range [...]struct {
		tokens int64
		rate   pricing.Rate
	}{{u.CacheWrite1h, card.CacheWrite1h}, {u.CacheWrite5m, card.CacheWrite5m}, {u.Input, card.Input}} {
		n := min(bucket.tokens, tokens)
		if n <= 0 {
			continue
		}
		rate := or(bucket.rate, card.Input)
		if !rate.Known() || !warm.Known() {
			return Money{}
		}
		paid.Amount = paid.Amount.Add(rate.Of(n)).Sub(warm.Of(n))
		tokens -= n
	}
	if paid.Amount.IsNegative() {
		return Known(decimal.Zero)
	}
	return paid
}

// warmRate is what the candidate that made the promise charges for a read; its input
// rate where it has no price for that, unknown where it is not known at all.
func (w *work) warmRate() pricing.Rate {
	if w.res.Stayed {
		return or(w.try.Card.CacheRead, w.try.Card.Input)
	}
	if i := w.f.offer(w.offer.Model, w.given.id); i >= 0 {
		return or(w.f.Offers[i].Card.CacheRead, w.f.Offers[i].Card.Input)
	}
	for _, offers := range [...][]Offer{w.f.Removed, w.f.Offers} {
		for i := range offers {
			if offers[i].Model == w.offer.Model && offers[i].ID.SameVendor(w.given.id) {
				return or(offers[i].Card.CacheRead, offers[i].Card.Input)
			}
		}
	}
	return pricing.Rate{}
}

func or(rate, instead pricing.Rate) pricing.Rate {
	if rate.Known() {
		return rate
	}
	return instead
}
