package sim

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

var (
	sonnet = card("3", "15", "0.30", "3.75", "6")
	gpt    = card("2.50", "10", "0.25", "", "")
	fable  = card("10", "50", "1", "12.50", "20")
)

func twoMarked() *shop {
	return (&shop{}).sell("first", byMarker, sonnet).sell("second", byMarker, sonnet)
}

// lawful fails the test unless what is known of a result adds up.
func lawful(t *testing.T, res *Result) {
	t.Helper()
	if res.Saving.Known && !res.Same && (!res.Cost.Known || !res.CostWithout.Known) {
		t.Fatalf("a saving is known and the costs are not: %+v", res)
	}
	if res.Cost.Known && res.CostWithout.Known {
		if !res.Saving.Known || !res.Cost.Amount.Add(res.Saving.Amount).Equal(res.CostWithout.Amount) {
			t.Fatalf("%s + %s is not %s", res.Cost.Amount, res.Saving.Amount, res.CostWithout.Amount)
		}
	}
	if res.Same && (!res.Saving.Known || !res.Saving.Amount.IsZero()) {
		t.Fatalf("both worlds are the same and the saving is %+v", res.Saving)
	}
}

func step(t *testing.T, s *Session, f *Fact) Result {
	t.Helper()
	res := s.Step(f)
	lawful(t, &res)
	return res
}

// wants checks a saving.
func wants(t *testing.T, name string, got Money, want string) {
	t.Helper()
	if want == "" {
		if got.Known {
			t.Errorf("%s: %s, and is not known", name, got.Amount)
		}
		return
	}
	if !got.Known || !got.Amount.Equal(dec(want)) {
		t.Errorf("%s: %s (known %t), want %s", name, got.Amount, got.Known, want)
	}
}

func TestAStaticHealthyOrderSavesNothingWhateverIsEvicted(t *testing.T) {
	shop, s, sum := twoMarked(), Session{}, Tally{}
	reads := []int64{0, 9000, 0, 0, 12000, 5}
	for i, read := range reads {
		tokens := 9000 + 1000*int64(i)
		f := shop.turn(int64(i)*40, "first", engine.Confirmed, pricing.Usage{CacheRead: read, CacheWrite5m: tokens - read, Output: 100})
		res := step(t, &s, f)
		if !res.Same {
			t.Errorf("turn %d: the worlds differ", i+1)
		}
		sum.Take(&res)
	}
	if !sum.Saving.IsZero() || sum.Covered != int64(len(reads)) || sum.Same != sum.Covered {
		t.Errorf("saving %s of %d turns, %d the same", sum.Saving, sum.Covered, sum.Same)
	}
	if !sum.LowConfidence() {
		t.Error("the model was wrong about every other turn, and is trusted")
	}
}

// A failover moves the session to the second vendor; affinity keeps it there, while
// the order alone would have gone back to the first, which is still warm.
func TestStayingAfterAFailover(t *testing.T) {
	shop, s := twoMarked(), Session{}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000, Output: 100}))
	f := shop.turn(30, "second", engine.Confirmed, pricing.Usage{})
	f.Tries = nil
	shop.refused(f, "first")
	shop.serve(f, "second", pricing.Usage{CacheWrite5m: 101_000, Output: 100})
	failover := step(t, &s, f)
	wants(t, "both worlds failed over", failover.Saving, "0")
	if !failover.Same || failover.Miss.Cause != HealthDown {
		t.Errorf("same %t, cause %s", failover.Same, failover.Miss.Cause)
	}
	promoted := step(t, &s, shop.turn(60, "second", engine.Promoted, pricing.Usage{CacheRead: 101_000, CacheWrite5m: 1000, Output: 100}))
	// There: 100,000 read and 2,000 written. Here: 101,000 read and 1,000 written.
	wants(t, "one thousand tokens less are written", promoted.Saving, dec("3.75").Sub(dec("0.30")).Shift(-3).String())
	if promoted.Without != 0 || promoted.Served != 1 || promoted.Counterfactual.CacheRead != 100_000 {
		t.Errorf("without affinity: offer %d, %+v", promoted.Without, promoted.Counterfactual)
	}
	// From then on both worlds are warm, each at its own vendor.
	next := step(t, &s, shop.turn(90, "second", engine.Promoted, pricing.Usage{CacheRead: 102_000, CacheWrite5m: 1000, Output: 100}))
	wants(t, "another vendor, the same price", next.Saving, "0")
	if next.Same {
		t.Error("the worlds are at two vendors, and said to be the same")
	}
}

// A plan that goes round its vendors is cold at each of them; affinity stays.
func TestAnOrderThatGoesRoundIsWhatAffinitySavesFrom(t *testing.T) {
	shop, s, sum := twoMarked(), Session{}, Tally{}
	for i := range int64(4) {
		u := pricing.Usage{CacheWrite5m: 10_000, Output: 10}
		if i > 0 {
			u = pricing.Usage{CacheRead: 9000 + 1000*i, CacheWrite5m: 1000, Output: 10}
		}
		f := shop.turn(i*60, "first", engine.Promoted, u)
		if i%2 == 1 {
			f.Offers[0], f.Offers[1] = f.Offers[1], f.Offers[0]
			f.Tries[0].Offer = 1
		}
		res := step(t, &s, f)
		sum.Take(&res)
	}
	// Turn 2 would have written 11,000 cold. Turn 3 and 4 read what the turn before
	// the last had put there and write 2,000.
	want := dec("11000").Mul(dec("3.75")).Sub(dec("10000").Mul(dec("0.30")).Add(dec("1000").Mul(dec("3.75")))).
		Add(dec("2").Mul(dec("1000")).Mul(dec("3.45"))).Shift(-6)
	if !sum.Saving.Equal(want) {
		t.Errorf("saved %s, want %s", sum.Saving, want)
	}
	if !sum.Cost.Add(sum.Saving).Equal(sum.CostWithout) || sum.LowConfidence() || !sum.Deviation.IsZero() {
		t.Errorf("%s + %s, %s; deviation %s", sum.Cost, sum.Saving, sum.CostWithout, sum.Deviation)
	}
}

func TestTwoAttemptsThatWereBilledAreOneTurn(t *testing.T) {
	shop := (&shop{}).sell("openai-style", byItself, gpt).sell("anthropic-style", byMarker, sonnet)
	first := pricing.Usage{Input: 900, Output: 12}
	second := pricing.Usage{Input: 920, Output: 80}
	build := func(order ...string) *Fact {
		f := shop.turn(0, "openai-style", engine.NoPin, first)
		shop.serve(f, "anthropic-style", second)
		f.Marks = Marks{}
		if order[0] != "openai-style" {
			f.Offers[0], f.Offers[1] = f.Offers[1], f.Offers[0]
			f.Tries[0].Offer, f.Tries[1].Offer = 1, 0
		}
		return f
	}
	var s Session
	res := step(t, &s, build("openai-style", "anthropic-style"))
	wants(t, "cost", res.Cost, "0.00633")
	wants(t, "both worlds made both attempts", res.Saving, "0")
	wants(t, "the attempt that served", res.Real, "0.00396")

	s = Session{}
	res = step(t, &s, build("anthropic-style", "openai-style"))
	wants(t, "cost", res.Cost, "0.00633")
	wants(t, "the first attempt was affinity's alone", res.Saving, "-0.00237")
	wants(t, "without it", res.CostWithout, "0.00396")

	f := build("anthropic-style", "openai-style")
	f.Tries[0].Cost = Money{}
	s = Session{}
	res = step(t, &s, f)
	wants(t, "a failure of unknown cost", res.Saving, "")
	f = build("openai-style", "anthropic-style")
	f.Tries[0].Cost = Money{}
	s = Session{}
	res = step(t, &s, f)
	wants(t, "the same in both worlds", res.Saving, "0")
	wants(t, "cost", res.Cost, "")
	var sum Tally
	sum.Take(&res)
	if sum.Covered != 0 || sum.Uncovered != 0 || !sum.Cost.IsZero() {
		t.Errorf("covered %d, uncovered %d, %s", sum.Covered, sum.Uncovered, sum.Cost)
	}
}

func TestWhatIsNotKnownIsNotZero(t *testing.T) {
	unpriced := (&shop{}).sell("first", byMarker, pricing.Card{}).sell("second", byMarker, sonnet)
	for _, c := range []struct {
		name string
		fact func() *Fact
	}{
		{"no price where it would have gone", func() *Fact {
			return unpriced.turn(0, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 9000})
		}},
		{"no usage", func() *Fact {
			f := twoMarked().turn(0, "second", engine.Promoted, pricing.Usage{})
			f.Tries[0].Quality, f.Tries[0].Cost = pricing.Missing, Money{}
			return f
		}},
		{"a stream that was cut", func() *Fact {
			f := twoMarked().turn(0, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 9000})
			f.Tries[0].Quality, f.Tries[0].Cost = pricing.Partial, Money{}
			return f
		}},
		{"an attempt that is not of the plan", func() *Fact {
			f := twoMarked().turn(0, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 9000})
			f.Tries[0].Offer = -1
			return f
		}},
	} {
		var s Session
		var sum Tally
		res := step(t, &s, c.fact())
		sum.Take(&res)
		if res.Saving.Known || sum.Uncovered != 1 || sum.Covered != 0 || !sum.CostWithout.IsZero() {
			t.Errorf("%s: saving %+v, %d uncovered", c.name, res.Saving, sum.Uncovered)
		}
	}
}

func TestATurnThatNobodyTookSavesNothing(t *testing.T) {
	shop := twoMarked()
	f := shop.turn(0, "first", engine.NoPin, pricing.Usage{})
	f.Tries = nil
	shop.refused(f, "second")
	f.Tries[0].Billed, f.Tries[0].Cost = true, Known(dec("0.01"))
	var s Session
	res := step(t, &s, f)
	wants(t, "saving", res.Saving, "0")
	wants(t, "without", res.CostWithout, "0.01")
	if _, ok := s.Last(); ok || !s.Empty() || res.Served != -1 || res.Accepted {
		t.Errorf("%+v", res)
	}
}

func TestASideThreadHasItsOwnCaches(t *testing.T) {
	shop, s := twoMarked(), Session{}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 50_000}))
	side := shop.turn(10, "second", engine.NoPin, pricing.Usage{CacheWrite5m: 4000})
	side.Thread = 7
	side.Kept = Kept{Known: true}
	if res := step(t, &s, side); res.Expected != 0 || res.Miss.Cause != NoMiss {
		t.Errorf("a new thread was promised %d", res.Expected)
	}
	res := step(t, &s, shop.turn(20, "first", engine.Confirmed, pricing.Usage{CacheRead: 50_000, CacheWrite5m: 1000}))
	if res.Expected != 50_000 || !res.Same || res.Predicted.CacheRead != 50_000 {
		t.Errorf("the thread beside it took something: %+v", res)
	}
}

func TestAnotherModelOfTheThreadCutsWhatTheFirstHolds(t *testing.T) {
	shop, s := twoMarked(), Session{}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 50_000}))
	other := shop.turn(10, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 20_000})
	for i := range other.Offers {
		other.Offers[i].Model = "fallback"
	}
	other.Kept = Kept{Known: true, Tokens: 3000} // summed up
	step(t, &s, other)
	res := step(t, &s, shop.turn(20, "first", engine.Confirmed, pricing.Usage{CacheRead: 3000, CacheWrite5m: 18_000}))
	if res.Predicted.CacheRead != 3000 || res.Expected != 3000 || res.Miss.Cause != NoMiss {
		t.Errorf("%+v", res)
	}
}

func TestOverlappingTurns(t *testing.T) {
	shop, s := twoMarked(), Session{}
	slow := shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 20_000})
	slow.Accepted = after(30)
	step(t, &s, slow)
	// Began before the first was accepted: nothing was promised yet.
	early := step(t, &s, shop.turn(10, "first", engine.Confirmed, pricing.Usage{CacheWrite5m: 20_500}))
	if early.Expected != 0 || early.Late || early.Miss.Cause != NoMiss {
		t.Errorf("%+v", early)
	}
	step(t, &s, shop.turn(100, "first", engine.Confirmed, pricing.Usage{CacheRead: 20_500, CacheWrite5m: 500}))
	if at, ok := s.Last(); !ok || !at.Equal(after(100)) {
		t.Errorf("the newest turn began at %v", at)
	}
	was := s.Clone()
	late := shop.turn(50, "first", engine.Confirmed, pricing.Usage{CacheWrite5m: 2000})
	late.Kept = Kept{Known: true}
	res := step(t, &s, late)
	if !res.Late || res.Expected != 0 || res.Seen != (Seen{}) {
		t.Errorf("%+v", res)
	}
	a, _ := was.AppendBinary(nil)
	b, _ := s.AppendBinary(nil)
	if string(a) != string(b) {
		t.Error("a turn that began long before took a cache back in time")
	}
}

func TestAnotherAccountIsAnotherCache(t *testing.T) {
	shop, s := (&shop{}).sell("first", byMarker, sonnet), Session{}
	second := shop.vendors[0]
	second.ID = Name("first", "other", engine.GroupOperator)
	shop.vendors, shop.names = append(shop.vendors, second), append(shop.names, "again")
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 20_000}))
	res := step(t, &s, shop.turn(20, "again", engine.Confirmed, pricing.Usage{CacheWrite5m: 21_000}))
	if res.Predicted.CacheRead != 0 || res.Miss.Cause != CredentialSwitched || !res.Miss.Cause.Avoidable() {
		t.Errorf("%+v", res)
	}
	wants(t, "written instead of read", res.Miss.Loss, dec("3.45").Mul(dec("0.02")).String())
}

func TestBoundsDropWhatWasUsedLeastRecently(t *testing.T) {
	var s Session
	shop := twoMarked()
	for i := range int64(MaxTracks + 3) {
		f := shop.turn(i, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 5000})
		f.Thread = uint64(i + 1)
		step(t, &s, f)
	}
	if len(s.tracks) != MaxTracks || s.tracks[0].thread != MaxTracks+3 || s.tracks[MaxTracks-1].thread != 4 {
		t.Errorf("%d tracks", len(s.tracks))
	}
	s = Session{}
	for i := range int64(MaxCaches + 3) {
		f := shop.turn(i, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 5000})
		f.Offers[0].ID = ID(i + 1)
		step(t, &s, f)
	}
	for w := range worlds {
		held := s.tracks[0].held[w]
		if len(held) != MaxCaches || held[0].id != MaxCaches+3 || held[MaxCaches-1].id != 4 {
			t.Errorf("world %d: %d caches", w, len(held))
		}
	}
}

// A conversation of two models is not forgotten for what it starts beside it, but for
// that once nobody has gone on with it for longer than a pin lives.
func TestTheLongestThreadStaysWhileAPinCanLive(t *testing.T) {
	for _, c := range []struct {
		name      string
		quiet     int64 // seconds before the others
		remembers bool
	}{{"at once", 0, true}, {"after a while", 1800, true}, {"too late", 3600, false}} {
		t.Run(c.name, func(t *testing.T) {
			var s Session
			shop := twoMarked()
			turn := func(at int64, thread uint64, model string, tokens int64) {
				f := shop.turn(at, "first", engine.NoPin, pricing.Usage{CacheWrite5m: tokens})
				f.Thread, f.Scope = thread, model
				step(t, &s, f)
			}
			turn(0, 99, "one", 80_000)
			turn(1, 99, "two", 90_000)
			for i := range int64(MaxTracks + 3) {
				turn(2+c.quiet+i/4, uint64(i+1), "one", 5000)
			}
			if len(s.tracks) != MaxTracks || s.tracks[0].thread != MaxTracks+3 {
				t.Errorf("%d tracks, thread %d first", len(s.tracks), s.tracks[0].thread)
			}
			for _, model := range []string{"one", "two"} {
				track := trackKey(model, shop.turn(0, "first", engine.NoPin, pricing.Usage{}).Offers[0].Model)
				if found := s.find(track, 99) >= 0; found != c.remembers {
					t.Errorf("of scope %s it remembers: %v", model, found)
				}
			}
			if s.find(s.tracks[0].key, 1) >= 0 {
				t.Error("what was used least recently is there")
			}
		})
	}
}

// The beginnings of prompts are kept in the same way.
func TestTheLongestPromptIsRemembered(t *testing.T) {
	var m memory
	at := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	prefix := engine.Prefix{{Index: 0, Hash: 7, Bytes: 400}}
	m.remember(99, at, 80_000, prefix)
	for i := range uint64(maxThreads + 3) {
		m.remember(i+1, at.Add(time.Minute), 5000, prefix)
	}
	if k := m.kept(99, prefix); len(m.threads) != maxThreads || !k.Known || k.Tokens != 80_000 {
		t.Errorf("%d threads, kept %+v", len(m.threads), k)
	}
	if k := m.kept(1, prefix); k.Known {
		t.Error("the oldest of the others is remembered")
	}
	m.remember(200, at.Add(engine.MaxLifetime), 5000, prefix)
	if k := m.kept(99, prefix); len(m.threads) != maxThreads || k.Known {
		t.Errorf("after an hour: %d threads, kept %+v", len(m.threads), k)
	}
}

func TestALateTurnDropsNothing(t *testing.T) {
	shop, s := twoMarked(), Session{}
	for i := range int64(MaxCaches) {
		f := shop.turn(100+i, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 5000})
		f.Offers[0].ID = ID(i + 1)
		step(t, &s, f)
	}
	late := shop.turn(50, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 5000})
	late.Offers[0].ID = 99
	if res := step(t, &s, late); !res.Late {
		t.Error("not late")
	}
	for w := range worlds {
		for _, h := range s.tracks[0].held[w] {
			if h.id == 99 {
				t.Errorf("world %d: it took a newer one's place", w)
			}
		}
	}
}

// Without affinity the turn would have gone to its vendor at once, in time; really it
// went there after another had kept it waiting.
func TestWhatWasNotTriedIsTakenToAcceptAtOnce(t *testing.T) {
	shop, s := twoMarked(), Session{}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 20_000}))
	f := shop.turn(299, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 20_000})
	f.Tries[0].Started = after(301)
	if res := step(t, &s, f); res.Counterfactual.CacheRead != 20_000 || !res.Saving.Amount.IsNegative() {
		t.Errorf("%+v", res.Counterfactual)
	}
}

func TestACandidateThatIsTriedTwice(t *testing.T) {
	shop, s := twoMarked(), Session{}
	f := shop.turn(0, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 20_000})
	f.Offers = f.Offers[1:]
	again := f.Tries[0]
	again.Offer = 0
	f.Tries = []Try{{Offer: 0, Billed: true, Cost: Known(dec("0.01"))}, again}
	res := step(t, &s, f)
	wants(t, "both attempts are both worlds'", res.Saving, "0")
	wants(t, "and are paid", res.Cost, "0.085")
	if !res.Same {
		t.Error("the worlds differ")
	}
}

func TestAVendorThatChargesForWritesByItself(t *testing.T) {
	paid := byItself
	paid.Writes, paid.Answer = true, false
	shop, s := (&shop{}).sell("first", paid, fable), Session{}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 5000}))
	res := step(t, &s, shop.turn(20, "first", engine.Confirmed, pricing.Usage{CacheRead: 4992, CacheWrite5m: 1008}))
	if want := (pricing.Usage{CacheRead: 4992, CacheWrite5m: 1008}); res.Predicted != want || res.Expected != 4992 {
		t.Errorf("%+v, promised %d", res.Predicted, res.Expected)
	}
	if rules := (Rules{Family: catalog.Family("")}); rules.any() {
		t.Error("the zero Rules caches")
	}
	if !res.Saving.Amount.Equal(decimal.Zero) {
		t.Error(res.Saving)
	}
}
