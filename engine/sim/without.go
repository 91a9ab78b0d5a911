package sim

import (
	"time"

	"github.com/shopspring/decimal"
)

// path is the way a turn takes without affinity.
type path struct {
	offer  int    // that takes it
	real   bool   // it is the one that really took it
	prompt Prompt // as it is put to it
}

// made says whether an attempt at this offer that failed is part of the path. The one
// that really took the turn may have failed before.
func (p *path) made(offer int) bool { return offer < p.offer || p.real && offer == p.offer }

// taker is the attempt that took the turn: the last that was answered; -1 if none was.
func (f *Fact) taker() int {
	for i := len(f.Tries) - 1; i >= 0; i-- {
		if f.Tries[i].Taken {
			return i
		}
	}
	return -1
}

// began is when an attempt did.
func (f *Fact) began(try *Try) time.Time {
	if try.Started.IsZero() {
		return f.At
	}
	return try.Started
}

// tried says whether there was an attempt at an offer.
func (f *Fact) tried(offer int) bool {
	for i := range f.Tries {
		if f.Tries[i].Offer == offer {
			return true
		}
	}
	return false
}

// billed is what the attempts cost that a vendor may bill, leaving one of them out;
// unknown if any of them is.
func (f *Fact) billed(besides int) Money {
	sum := Known(decimal.Zero)
	for i := range f.Tries {
		if f.Tries[i].Billed && i != besides {
			sum = sum.plus(f.Tries[i].Cost)
		}
	}
	return sum
}

// take finds who takes the turn without affinity: the first of the plan's own order
// that was not tried, or that really took it.
func (f *Fact) take(taker *Try) (offer int, real bool) {
	for offer < taker.Offer && f.tried(offer) {
		offer++
	}
	return offer, offer == taker.Offer
}

// without works out the world without affinity, and what it would have cost. The
// session's caches are still as they were before this turn.
func (w *work) without(s *Session, taker int) path {
	f, res := w.f, w.res
	p := path{prompt: w.prompt}
	p.offer, p.real = f.take(w.try)
	res.Without = p.offer
	res.Cost = f.billed(-1)
	o := &f.Offers[p.offer]
	if !p.real {
		p.prompt.At = f.At
	}
	var t *track
	if i := s.find(trackKey(f.Scope, o.Model), f.Thread); i >= 0 {
		t = &s.tracks[i]
	}
	cache := t.cache(without, o.ID)
	res.Counterfactual = w.predict(&cache, o, &p.prompt)
	alike := p.real && samePrompt(&res.Counterfactual, &res.Predicted)

	// The failures of both worlds fall out of the difference; what is left is what
	// those cost that only the real one made.
	extra := Known(decimal.Zero)
	failures := Known(decimal.Zero)
	for i := range f.Tries {
		try := &f.Tries[i]
		switch {
		case i == taker || !try.Billed:
		case try.Offer >= 0 && p.made(try.Offer):
			failures = failures.plus(try.Cost)
		default:
			extra = extra.plus(try.Cost)
		}
	}
	if alike {
		res.CostWithout = res.Cost.minus(extra)
		res.Saving = res.CostWithout.minus(res.Cost)
		if res.Same = extra.Known && extra.Amount.IsZero(); res.Same {
			res.Saving = Known(decimal.Zero)
		}
		return p
	}
	if !res.Reported {
		return p
	}
	card := &o.Card
	if p.real {
		card = &w.try.Card
	}
	res.CostWithout = price(card, &res.Counterfactual, w.try.Beside).plus(failures)
	res.Saving = res.CostWithout.minus(res.Cost)
	return p
}
