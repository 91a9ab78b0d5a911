package sim

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// use is a prompt that some candidate cached.
type use struct {
	turn           int // index into the history
	at             int64
	id             ID
	tokens, answer int64
	hour           int64
	life           int64
	block, minimum int64
	ready          int64
	explicit       bool
}

// slowPrompt is what a turn put to the candidate that took it.
func slowPrompt(f *Fact) (tokens, answer int64) {
	for _, try := range f.Tries {
		if !try.Taken {
			continue
		}
		tokens, answer = f.Prompt, 0
		if try.Quality != pricing.Missing && try.Quality != pricing.Invalid && (try.Quality != pricing.Partial || try.Usage.Prompt() > 0) {
			tokens, answer = try.Usage.Prompt(), try.Usage.Output-try.Usage.Reasoning
		}
	}
	return tokens, answer
}

// slowKept is how much of a thread's caches a turn leaves.
func slowKept(f *Fact) int64 {
	tokens, _ := slowPrompt(f)
	if f.Kept.Known && f.Kept.Tokens < tokens {
		return f.Kept.Tokens
	}
	return tokens
}

func slowLate(history []*Fact, n int) bool {
	for _, f := range history[:n] {
		if f.Thread == history[n].Thread && f.At.After(history[n].At) {
			return true
		}
	}
	return false
}

// slowTake is which offer takes the turn without affinity, and the failures of it.
func slowTake(f *Fact) (offer int, failed []int) {
	taker := -1
	for i, try := range f.Tries {
		if try.Taken {
			taker = i
		}
	}
	for o := range f.Offers {
		tried := -1
		for i, try := range f.Tries {
			if try.Offer == o {
				tried = i
			}
		}
		for i, try := range f.Tries {
			if try.Offer == o && i != taker {
				failed = append(failed, i)
			}
		}
		if tried == -1 || f.Tries[taker].Offer == o {
			return o, failed
		}
	}
	return -1, failed
}

// slowUses lists what was put to the caches of one track, in one world, before a turn.
func slowUses(history []*Fact, world int, scope, model string, thread uint64) (uses []use) {
	for n, f := range history {
		if f.Scope != scope || f.Thread != thread {
			continue
		}
		tokens, answer := slowPrompt(f)
		put := func(offer int, at time.Time, ready time.Time) {
			o := f.Offers[offer]
			if o.Model != model || o.Rules.Family != catalog.Implicit && o.Rules.Family != catalog.Explicit {
				return
			}
			u := use{turn: n, at: at.UnixMilli(), id: o.ID, tokens: tokens, life: o.Rules.TTL.Milliseconds(), block: o.Rules.Block, minimum: o.Rules.MinPrefix, ready: ready.UnixMilli()}
			if o.Rules.Answer {
				u.answer = answer
			}
			if o.Rules.Family == catalog.Explicit {
				if !f.Marks.Any {
					return
				}
				if f.Marks.End > 0 && f.Marks.End < tokens {
					u.tokens = f.Marks.End
				}
				u.explicit = true
				u.hour = min(f.Marks.Hour, u.tokens)
			}
			if u.tokens < max(1, o.Rules.MinPrefix) {
				return
			}
			uses = append(uses, u)
		}
		offer, failed := slowTake(f)
		taker := -1
		for i, try := range f.Tries {
			if try.Taken {
				taker = i
			}
		}
		began := func(i int) time.Time {
			if f.Tries[i].Started.IsZero() {
				return f.At
			}
			return f.Tries[i].Started
		}
		for i, try := range f.Tries {
			inPath := i == taker
			if world == without {
				inPath = false
				for _, x := range failed {
					inPath = inPath || x == i
				}
			}
			if try.Taken && inPath || try.Taken && world == actual {
				ready := began(i)
				if f.Accepted.After(ready) {
					ready = f.Accepted
				}
				put(try.Offer, began(i), ready)
			}
		}
		if world == without && offer >= 0 {
			at := f.At
			if taker >= 0 && f.Tries[taker].Offer == offer {
				at = began(taker)
			}
			put(offer, at, at)
		}
	}
	return uses
}

// slowCut is how much of a cache that was used in one turn the later ones left.
func slowCut(history []*Fact, thread uint64, from, to int, tokens int64) int64 {
	for n := from + 1; n < to; n++ {
		if history[n].Thread == thread && !slowLate(history, n) {
			tokens = min(tokens, slowKept(history[n]))
		}
	}
	return tokens
}

// slowCache is what one candidate holds when the last turn of the history is put to it.
func slowCache(history []*Fact, world int, scope, model string, thread uint64, id ID) (held, hourHeld, used, life int64) {
	last := -1
	for _, u := range slowUses(history[:len(history)-1], world, scope, model, thread) {
		if u.id != id || last >= 0 && u.at < used {
			continue
		}
		if u.explicit && last >= 0 && u.at < used+3_600_000 {
			hourHeld = min(slowCut(history, thread, last, u.turn+1, hourHeld), u.tokens)
		} else {
			hourHeld = 0
		}
		hourHeld = max(hourHeld, u.hour)
		held, used, life, last = u.tokens+u.answer, u.at, u.life, u.turn
	}
	if last < 0 {
		return 0, 0, 0, 0
	}
	return slowCut(history, thread, last, len(history), held), slowCut(history, thread, last, len(history), hourHeld), used, life
}

// slowPredict is the usage one candidate should report for the last turn.
func slowPredict(history []*Fact, world, offer int, at time.Time) pricing.Usage {
	f := history[len(history)-1]
	o := f.Offers[offer]
	tokens, _ := slowPrompt(f)
	bounds := tokens
	switch {
	case o.Rules.Family == catalog.Explicit && !f.Marks.Any, o.Rules.Family == catalog.None:
		return pricing.Usage{Input: tokens}
	case o.Rules.Family == catalog.Explicit && f.Marks.End > 0:
		bounds = min(f.Marks.End, tokens)
	}
	if bounds < o.Rules.MinPrefix {
		return pricing.Usage{Input: tokens}
	}
	held, hourHeld, used, life := slowCache(history, world, f.Scope, o.Model, f.Thread, o.ID)
	now, read := at.UnixMilli(), int64(0)
	if held > 0 && now < used+life {
		read = held
	}
	if hourHeld > read && now < used+3_600_000 {
		read = hourHeld
	}
	read = min(read, bounds)
	if o.Rules.Family == catalog.Implicit {
		read = min(read, tokens-1)
	}
	if o.Rules.Block > 1 {
		read = read / o.Rules.Block * o.Rules.Block
	}
	if read < o.Rules.MinPrefix || read < 0 {
		read = 0
	}
	u := pricing.Usage{CacheRead: read, Input: tokens - read}
	if o.Rules.Writes {
		u.Input = tokens - bounds
		u.CacheWrite5m = bounds - read
		if h := min(f.Marks.Hour, bounds); o.Rules.Family == catalog.Explicit && h > read {
			u.CacheWrite1h = h - read
			u.CacheWrite5m = bounds - h
		}
	}
	return u
}

// slowPromise is what the last turn of the history may expect: all of it, and what of
// it was kept.
func slowPromise(history []*Fact, model string) (promised, expected int64) {
	n := len(history) - 1
	f := history[n]
	if slowLate(history, n) {
		return 0, 0
	}
	var last *use
	uses := slowUses(history[:n], actual, f.Scope, model, f.Thread)
	for i := range uses {
		if last == nil || uses[i].at >= last.at {
			last = &uses[i]
		}
	}
	if last == nil || f.At.UnixMilli() < last.ready {
		return 0, 0
	}
	tokens, _ := slowPrompt(f)
	whole := func(x int64) int64 {
		if last.block > 1 {
			x = x / last.block * last.block
		}
		if x < last.minimum {
			return 0
		}
		return x
	}
	before := slowCut(history, f.Thread, last.turn, n, last.tokens)
	return whole(min(before, tokens)), whole(min(before, slowKept(f)))
}

// slowCosts are the costs of the last turn of the history in both worlds.
func slowCosts(history []*Fact) (cost, costWithout decimal.Decimal, known, same bool) {
	f := history[len(history)-1]
	taker := -1
	for i, try := range f.Tries {
		if try.Taken {
			taker = i
		}
	}
	offer, failed := slowTake(f)
	inPath := map[int]bool{}
	for _, i := range failed {
		inPath[i] = true
	}
	known = true
	var failures, only decimal.Decimal
	for i, try := range f.Tries {
		if !try.Billed || i == taker {
			continue
		}
		known = known && try.Cost.Known
		if inPath[i] {
			failures = failures.Add(try.Cost.Amount)
		} else {
			only = only.Add(try.Cost.Amount)
		}
	}
	try := f.Tries[taker]
	at := f.At
	if try.Offer == offer && !try.Started.IsZero() {
		at = try.Started
	}
	real := f.At
	if !try.Started.IsZero() {
		real = try.Started
	}
	theirs := slowPredict(history, without, offer, at)
	ours := slowPredict(history, actual, try.Offer, real)
	cost = failures.Add(only).Add(try.Cost.Amount)
	known = known && try.Cost.Known
	if offer == try.Offer && theirs == ours {
		return cost, failures.Add(try.Cost.Amount), known, only.IsZero()
	}
	c := f.Offers[offer].Card
	if offer == try.Offer {
		c = try.Card
	}
	theirs.Output, theirs.Reasoning = try.Usage.Output, try.Usage.Reasoning
	bill := c.Cost(theirs)
	return cost, bill.Total.Add(try.Beside).Add(failures), known && bill.Known && try.Quality.Complete(), false
}

// The session's state, turn by turn and through its stored form, agrees with one that
// is worked out from the whole history for each turn.
func TestTheModelAgreesWithItsSlowTwin(t *testing.T) {
	r, left := turns(t, 120_000)
	same, covered, differ := 0, 0, 0
	for left > 0 {
		w, s, sum := newWorld(r), Session{}, Tally{}
		var history []*Fact
		for range 5 + r.IntN(25) {
			left--
			f := w.turn()
			history = append(history, f)
			res := s.Step(f)
			lawful(t, &res)
			sum.Take(&res)
			try := f.Tries[len(f.Tries)-1]
			at := try.Started
			if at.IsZero() {
				at = f.At
			}
			want := slowPredict(history, actual, try.Offer, at)
			if !samePrompt(&want, &res.Predicted) {
				t.Fatalf("turn %d: predicted %+v, slowly %+v\n%+v", len(history), res.Predicted, want, f)
			}
			promised, expected := slowPromise(history, f.Offers[try.Offer].Model)
			if res.Promised != promised || res.Expected != expected {
				t.Fatalf("turn %d: promised %d, %d; slowly %d, %d", len(history), res.Promised, res.Expected, promised, expected)
			}
			cost, costWithout, known, alike := slowCosts(history)
			if known != (res.Cost.Known && res.CostWithout.Known) {
				t.Fatalf("turn %d: costs known %t, %t; slowly %t", len(history), res.Cost.Known, res.CostWithout.Known, known)
			}
			if known && (!cost.Equal(res.Cost.Amount) || !costWithout.Equal(res.CostWithout.Amount) || alike != res.Same) {
				t.Fatalf("turn %d: %s and %s (%t), slowly %s and %s (%t)", len(history), res.Cost.Amount, res.CostWithout.Amount, res.Same, cost, costWithout, alike)
			}
			switch {
			case res.Same:
				same++
			case known:
				covered++
				if !res.Saving.Amount.IsZero() {
					differ++
				}
			}
			if r.IntN(4) == 0 {
				stored, _ := s.AppendBinary(nil)
				s = Session{}
				if err := s.UnmarshalBinary(stored); err != nil {
					t.Fatal(err)
				}
				if again, _ := s.AppendBinary(nil); string(again) != string(stored) {
					t.Fatal("stored again, the session is another")
				}
			}
		}
		if !sum.Cost.Add(sum.Saving).Equal(sum.CostWithout) {
			t.Fatalf("%s + %s is not %s", sum.Cost, sum.Saving, sum.CostWithout)
		}
	}
	t.Logf("%d turns the same, %d others covered, %d of them with a saving", same, covered, differ)
	if same == 0 || differ == 0 {
		t.Error("the random turns do not reach both cases")
	}
}

// Whatever a vendor reads or evicts, however turns overlap and prompts change: an order
// that is fixed and healthy saves exactly nothing.
func TestAFixedHealthyOrderSavesExactlyNothing(t *testing.T) {
	r, left := turns(t, 40_000)
	for left > 0 {
		w, s, sum := newWorld(r), Session{}, Tally{}
		w.steady = true
		for range 5 + r.IntN(60) {
			left--
			res := s.Step(w.turn())
			lawful(t, &res)
			if !res.Same {
				t.Fatalf("the worlds differ: %+v", res)
			}
			sum.Take(&res)
		}
		if !sum.Saving.IsZero() || sum.Uncovered != 0 || !sum.Cost.Equal(sum.CostWithout) {
			t.Fatalf("%+v", sum)
		}
	}
}

// Tallies of parts are the tally of the whole, stored or not.
func TestTalliesAddUp(t *testing.T) {
	r, left := turns(t, 4000)
	var whole Tally
	var parts [5]Tally
	for left > 0 {
		w, s := newWorld(r), Session{}
		for range 5 + r.IntN(30) {
			left--
			f := w.turn()
			res := s.Step(f)
			try := f.Tries[len(f.Tries)-1]
			net := try.Card.Saving(pricing.Usage{Input: res.Usage.Input, CacheRead: res.Usage.CacheRead, CacheWrite5m: res.Usage.CacheWrite5m})
			if got := res.Gain.minus(res.Premium); res.Reported && net.Known && (!got.Known || !got.Amount.Equal(net.Amount)) {
				t.Fatalf("reading gained %+v, writing cost %+v, and both saved %+v", res.Gain, res.Premium, net)
			}
			whole.Take(&res)
			parts[r.IntN(len(parts))].Take(&res)
		}
	}
	var sum Tally
	for _, i := range r.Perm(len(parts)) {
		stored, _ := parts[i].AppendBinary(nil)
		var read Tally
		if err := read.UnmarshalBinary(stored); err != nil || !read.Equal(&parts[i]) {
			t.Fatalf("%v\n%+v\n%+v", err, read, parts[i])
		}
		sum = sum.Add(read)
	}
	if !sum.Equal(&whole) {
		t.Fatalf("%+v\n%+v", sum, whole)
	}
	if back := whole.Sub(parts[0]).Sub(parts[1]).Sub(parts[2]).Sub(parts[3]).Sub(parts[4]); !back.Equal(&Tally{}) {
		t.Fatalf("%+v is left", back)
	}
	missed := int64(0)
	for c := range whole.Missed {
		missed += whole.Missed[c].Turns
	}
	if missed == 0 || whole.Modelled == 0 || whole.Covered == 0 || whole.Uncovered == 0 || whole.Late == 0 || whole.HourTurns == 0 {
		t.Errorf("the random turns reach too little: %+v", whole)
	}
}
