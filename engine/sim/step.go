package sim

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Result is what the model says of one turn.
type Result struct {
	Served  int  // the offer that really took it; -1: none did
	Without int  // the offer that would have without affinity; -1: none, or none that is known
	Same    bool // both worlds are the same for this turn
	Late    bool // it began before the newest turn of its thread

	Predicted      pricing.Usage // by the model, of the attempt that took it
	Counterfactual pricing.Usage // by the model, without affinity

	Cost        Money // the real cost of all attempts that may be billed
	CostWithout Money // without affinity
	Saving      Money // CostWithout − Cost; known to be 0 where both are the same, whatever they are

	// What the attempt that took the turn really cost, and what it would have cost had
	// it read what the model says; both or neither known.
	Real, Modelled Money

	Outcome  engine.Outcome
	Accepted bool          // some vendor's answer had begun
	Reported bool          // the usage of the attempt that took it is complete
	Eligible bool          // and says what was read, at a candidate that caches, and the prompt reaches the minimum
	Usage    pricing.Usage // as reported; zero unless Reported
	Promised int64         // what the last prompt let it expect
	Expected int64         // of that, what the client kept: E
	Stayed   bool          // it was served by the candidate that made the promise
	Kept     bool          // the whole promise is known to have been kept
	Prompt   Money         // cost of the prompt's tokens
	Gain     Money         // what reading cost less than the input rate; can be negative
	Premium  Money         // what writing cost more than the input rate; can be negative
	Hour     Money         // what marking for an hour would have saved; unknown where it was not to be had
	Miss     Miss
	Seen     Seen
}

// Step takes the session's next turn. Turns are told of in the order in which they
// end; see the package comment for those that overlap. f is only read.
func (s *Session) Step(f *Fact) Result {
	res := Result{Served: -1, Without: -1, Outcome: f.Outcome}
	taker := f.taker()
	if taker < 0 {
		res.Cost = f.billed(-1)
		res.CostWithout = res.Cost
		res.Same, res.Saving = true, Known(decimal.Zero)
		return res
	}
	w := work{f: f, try: &f.Tries[taker], res: &res}
	w.real()
	at := f.At.UnixMilli()
	newest, known := s.newest(f.Thread)
	res.Late = known && at < newest
	if w.offer == nil {
		res.Cost = f.billed(-1)
		return res
	}
	ours := trackKey(f.Scope, w.offer.Model)
	if i := s.find(ours, f.Thread); i >= 0 && !res.Late && !f.Forked {
		w.promised(&s.tracks[i])
	}
	if !res.Late {
		s.cut(f.Thread, w.kept())
	}
	t := s.touch(ours, f.Thread)
	w.actual(t)
	w.measure()
	theirs := w.without(s, taker)
	s.settle(&w, taker, theirs)
	return res
}

// work is a turn while it is worked on.
type work struct {
	f      *Fact
	res    *Result
	try    *Try
	offer  *Offer // of try; nil if it is none of the plan
	prompt Prompt // as it was put to offer
	cache  Cache  // of offer, in the real world, before this turn
	given  hold   // who made the promise, and what it held; zero without one
}

// maxTokens bounds what is believed of a prompt.
const maxTokens = 1 << 40

// real takes down what really happened.
func (w *work) real() {
	f, try, res := w.f, w.try, w.res
	if try.Offer >= 0 && try.Offer < len(f.Offers) {
		w.offer = &f.Offers[try.Offer]
		res.Served = try.Offer
	}
	res.Accepted = true
	tokens, answer := f.Prompt, int64(0)
	if try.Quality.Complete() {
		res.Reported, res.Usage = true, try.Usage
	}
	if try.Quality.Complete() || try.Quality == pricing.Partial && try.Usage.Prompt() > 0 {
		tokens, answer = try.Usage.Prompt(), try.Usage.Output-try.Usage.Reasoning
	}
	w.prompt = Prompt{
		At:     f.began(try),
		Tokens: min(max(tokens, 0), maxTokens),
		Answer: min(max(answer, 0), maxTokens),
		Marks:  f.Marks,
	}
}

// kept is how much any cache of the thread may still hold once this prompt was sent.
func (w *work) kept() int64 {
	if w.f.Kept.Known {
		return min(max(w.f.Kept.Tokens, 0), w.prompt.Tokens)
	}
	return w.prompt.Tokens
}

// promised says what the last cached prompt lets this one expect; t is as it was
// before this turn.
func (w *work) promised(t *track) {
	if len(t.held[actual]) == 0 || w.f.At.UnixMilli() < t.given.ready {
		return
	}
	w.given = t.held[actual][0]
	p := &t.given
	w.res.Promised = floor(min(p.tokens, w.prompt.Tokens), p.block, p.minimum)
	w.res.Expected = floor(min(p.tokens, w.kept()), p.block, p.minimum)
	w.res.Kept = w.f.Kept.Known && w.res.Expected == w.res.Promised
	w.res.Stayed = w.given.id == w.offer.ID
}

// actual predicts what was really served, and what that would have cost.
func (w *work) actual(t *track) {
	res, r := w.res, &w.offer.Rules
	w.cache = t.cache(actual, w.offer.ID)
	res.Predicted = w.predict(&w.cache, w.offer, &w.prompt)
	if caches := r.caches(&w.prompt); caches > 0 && res.Reported && !w.try.Silent {
		res.Eligible = true
		if held := r.readable(w.cache.held, caches, w.prompt.Tokens); held > 0 && !w.f.Forked && w.prompt.At.UnixMilli() >= w.cache.used {
			res.Seen = Seen{
				Age:   time.Duration(w.prompt.At.UnixMilli()-w.cache.used) * time.Millisecond,
				Held:  held,
				Read:  min(max(res.Usage.CacheRead, 0), held),
				Alive: w.cache.alive(w.prompt.At.UnixMilli()) >= held,
			}
		}
	}
	if w.try.Cost.Known && res.Reported {
		res.Real = w.try.Cost
		res.Modelled = res.Real
		if !samePrompt(&res.Predicted, &res.Usage) {
			res.Modelled = price(&w.try.Card, &res.Predicted, w.try.Beside)
		}
		if !res.Modelled.Known {
			res.Real = Money{}
		}
	}
}

// predict is the whole usage that the model says: the answer is the real one.
func (w *work) predict(c *Cache, o *Offer, p *Prompt) pricing.Usage {
	u := c.Predict(&o.Rules, p)
	u.Output, u.Reasoning = w.res.Usage.Output, w.res.Usage.Reasoning
	return u
}

// samePrompt says whether both bill the same prompt in the same way.
func samePrompt(a, b *pricing.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.CacheWrite5m == b.CacheWrite5m && a.CacheWrite1h == b.CacheWrite1h
}

// price is what a usage costs at a card, and what stands beside it.
func price(card *pricing.Card, u *pricing.Usage, beside decimal.Decimal) Money {
	cost := card.Cost(*u)
	if !cost.Known {
		return Money{}
	}
	if beside.IsZero() {
		return Known(cost.Total)
	}
	return Known(cost.Total.Add(beside))
}

// settle has both worlds' caches take the turn. Failed attempts that were answered
// warm their caches in every world that made them.
func (s *Session) settle(w *work, taker int, theirs path) {
	f := w.f
	for i := range f.Tries {
		try := &f.Tries[i]
		if !try.Taken || try.Offer < 0 || try.Offer >= len(f.Offers) {
			continue
		}
		o, p := &f.Offers[try.Offer], w.prompt
		p.At = f.began(try)
		t := s.touch(trackKey(f.Scope, o.Model), f.Thread)
		if t.warm(actual, o.ID, &o.Rules, &p) {
			t.given = promise{tokens: o.Rules.caches(&p), block: o.Rules.Block, minimum: o.Rules.MinPrefix, ready: max(f.Accepted.UnixMilli(), p.At.UnixMilli())}
		}
		if i != taker && theirs.made(try.Offer) {
			t.warm(without, o.ID, &o.Rules, &p)
		}
	}
	o := &f.Offers[theirs.offer]
	s.touch(trackKey(f.Scope, o.Model), f.Thread).warm(without, o.ID, &o.Rules, &theirs.prompt)
	t := s.touch(trackKey(f.Scope, w.offer.Model), f.Thread)
	t.last = max(t.last, f.At.UnixMilli())
}
