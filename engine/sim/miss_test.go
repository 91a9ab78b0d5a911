package sim

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

func TestWhyATurnReadLess(t *testing.T) {
	cold := pricing.Usage{CacheWrite5m: 21_000, Output: 100}
	for _, c := range []struct {
		name    string
		vendor  string
		seconds int64
		outcome engine.Outcome
		usage   pricing.Usage
		change  func(*Fact)
		want    Cause
		tokens  int64
		loss    string // empty: unknown or none
	}{
		{"nothing missed", "first", 30, engine.Confirmed, pricing.Usage{CacheRead: 20_000, CacheWrite5m: 1000}, nil, NoMiss, 0, ""},
		{"a few tokens short", "first", 30, engine.Confirmed, pricing.Usage{CacheRead: 18_977, CacheWrite5m: 2023}, nil, NoMiss, 0, ""},
		{"a thousand short is no tenth", "first", 30, engine.Confirmed, pricing.Usage{CacheRead: 18_001, CacheWrite5m: 2999}, nil, NoMiss, 0, ""},
		{"a tenth short", "first", 30, engine.Confirmed, pricing.Usage{CacheRead: 18_000, CacheWrite5m: 3000}, nil, UnknownCause, 2000, "0.0069"},
		{"the beginning rewritten", "first", 30, engine.Confirmed, cold, func(f *Fact) { f.Kept.Tokens = 0 }, PrefixChanged, 20_000, "0.069"},
		{"the end rewritten, the rest read", "first", 30, engine.Confirmed, pricing.Usage{CacheRead: 12_000, CacheWrite5m: 9000}, func(f *Fact) { f.Kept.Tokens = 12_000 }, PrefixChanged, 8000, "0.0276"},
		{"the end rewritten, and the rest gone", "first", 30, engine.Confirmed, cold, func(f *Fact) { f.Kept.Tokens = 12_000 }, VendorEvicted, 12_000, "0.0414"},
		{"nothing marked", "first", 30, engine.Confirmed, pricing.Usage{Input: 21_000}, func(f *Fact) { f.Marks = Marks{} }, NoCacheMarker, 20_000, "0.054"},
		{"marked too early", "first", 30, engine.Confirmed, pricing.Usage{Input: 21_000}, func(f *Fact) { f.Marks.End = 1000 }, BelowMinPrefix, 20_000, "0.054"},
		{"cheaper cold elsewhere", "second", 30, engine.SkippedNotCheaper, cold, nil, DeliberateMove, 20_000, "0.069"},
		{"moved on price", "second", 30, engine.MovedOnPrice, cold, nil, DeliberateMove, 20_000, "0.069"},
		{"the plan left it out", "second", 30, engine.SkippedNotInPlan, cold, func(f *Fact) {
			f.Removed = []Offer{{Model: "m", ID: Name("first", "", engine.GroupOperator), Card: f.Offers[0].Card}}
			f.Offers = f.Offers[1:]
			f.Tries[0].Offer = 0
		}, PlanExcluded, 20_000, "0.069"},
		{"left out, its price not known", "second", 30, engine.SkippedNotInPlan, cold, func(f *Fact) {
			f.Offers = f.Offers[1:]
			f.Tries[0].Offer = 0
		}, PlanExcluded, 20_000, ""},
		{"an order went first", "second", 30, engine.SkippedOrder, cold, nil, PlanExcluded, 20_000, "0.069"},
		{"affinity off", "second", 30, engine.SkippedModeOff, cold, nil, PlanExcluded, 20_000, "0.069"},
		{"held out, to measure by", "second", 30, engine.SkippedModeOff, cold, func(f *Fact) { f.Detail = engine.DetailHoldout }, DeliberateMove, 20_000, "0.069"},
		{"no price to judge by", "second", 30, engine.SkippedPriceUnknown, cold, nil, PlanExcluded, 20_000, "0.069"},
		{"warm, and not used", "second", 30, engine.Confirmed, cold, nil, VendorSwitched, 20_000, "0.069"},
		{"the pin was gone", "second", 30, engine.NoPin, cold, nil, PinLost, 20_000, "0.069"},
		{"the store did not answer", "second", 30, engine.StoreUnavailable, cold, nil, PinLost, 20_000, "0.069"},
		{"passed over because it never read", "second", 30, engine.NoPin, cold, func(f *Fact) { f.Detail = engine.DetailNeverEngaged }, VendorEvicted, 20_000, "0.069"},
		{"it was down", "second", 30, engine.SkippedHealthDown, cold, func(f *Fact) { f.Offers[0].Down = true }, HealthDown, 20_000, "0.069"},
		{"it was tried and failed", "second", 30, engine.Confirmed, cold, func(f *Fact) { f.Tries = append([]Try{{Offer: 0}}, f.Tries...) }, HealthDown, 20_000, "0.069"},
		{"another model has that vendor too, down", "second", 30, engine.Confirmed, cold, func(f *Fact) {
			f.Offers = append([]Offer{{Model: "other", ID: f.Offers[0].ID, Down: true, Card: fable}}, f.Offers...)
			f.Tries[0].Offer++
		}, VendorSwitched, 20_000, "0.069"},
		{"the pin had expired", "first", 290, engine.PinExpired, cold, nil, PinExpired, 20_000, "0.069"},
		{"the cache had expired", "first", 301, engine.NoPin, cold, nil, PinExpired, 20_000, "0.069"},
		{"expired, and another vendor", "second", 400, engine.PinExpired, cold, nil, PinExpired, 20_000, "0.069"},
		{"expired, no pin, and another vendor", "second", 400, engine.NoPin, cold, nil, PinExpired, 20_000, "0.069"},
		{"expired by the time of the attempt", "second", 400, engine.Confirmed, cold, nil, PinExpired, 20_000, "0.069"},
		{"left out, another account of it in the plan", "second", 30, engine.SkippedNotInPlan, cold, func(f *Fact) { f.Offers[0].ID = Name("first", "other", "") }, PlanExcluded, 20_000, "0.069"},
		{"evicted", "first", 30, engine.Confirmed, cold, nil, VendorEvicted, 20_000, "0.069"},
		{"nearly all evicted", "first", 30, engine.Promoted, pricing.Usage{CacheRead: 1999, CacheWrite5m: 19_001}, nil, VendorEvicted, 18_001, "0.06210345"},
		{"evicted, or rewritten: nobody knows", "first", 30, engine.Confirmed, cold, func(f *Fact) { f.Kept = Kept{} }, UnknownCause, 20_000, "0.069"},
		{"what was read is not said", "first", 30, engine.Confirmed, pricing.Usage{Input: 21_000}, func(f *Fact) { f.Tries[0].Silent = true }, NoMiss, 0, ""},
		{"usage unknown", "first", 30, engine.Confirmed, cold, func(f *Fact) { f.Tries[0].Quality = pricing.Missing }, NoMiss, 0, ""},
	} {
		shop, s := twoMarked(), Session{}
		step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 20_000}))
		f := shop.turn(c.seconds, c.vendor, c.outcome, c.usage)
		if c.change != nil {
			c.change(f)
		}
		res := step(t, &s, f)
		if res.Miss.Cause != c.want || res.Miss.Tokens != c.tokens {
			t.Errorf("%s: %q of %d tokens, want %q of %d", c.name, res.Miss.Cause, res.Miss.Tokens, c.want, c.tokens)
		}
		wants(t, c.name, res.Miss.Loss, c.loss)
	}
}

func TestAMissIsAThousandTokensAndATenth(t *testing.T) {
	for _, c := range []struct {
		missing, promised int64
		want              bool
	}{
		{1023, 5000, false}, {1024, 5000, true}, {1024, 10_240, true}, {1024, 10_241, false}, {1025, 10_241, true},
		{0, 0, false}, {-5, 0, false}, {1 << 39, 1 << 39, true},
	} {
		if got := short(c.missing, c.promised); got != c.want {
			t.Errorf("%d of %d: %t", c.missing, c.promised, got)
		}
	}
}

func TestEveryCauseHasItsWord(t *testing.T) {
	for c := range Causes {
		got, ok := CauseOf(c.String())
		if !ok || got != c {
			t.Errorf("%d: %q is read as %d", c, c, got)
		}
	}
	if _, ok := CauseOf("weather"); ok || Cause(200).String() != "unknown" || Cause(200).Avoidable() || Cause(200).Blame() != Nobody {
		t.Error("a cause that is none")
	}
}

func TestLossesAreApart(t *testing.T) {
	var sum Tally
	for cause, loss := range map[Cause]string{PrefixChanged: "1", PinExpired: "2", PlanExcluded: "4", VendorSwitched: "8", HealthDown: "16", VendorEvicted: "32", DeliberateMove: "64", UnknownCause: "128"} {
		sum.Take(&Result{Reported: true, Miss: Miss{Cause: cause, Tokens: 2000, Loss: Known(dec(loss))}})
	}
	sum.Take(&Result{Reported: true, Miss: Miss{Cause: PinLost, Tokens: 2000}})
	for blame, want := range map[Blame]string{Client: "3", Gateway: "12", Vendor: "48", Nobody: "192"} {
		loss, unknown := sum.LossTo(blame)
		if !loss.Equal(dec(want)) || unknown != map[Blame]int64{Gateway: 1}[blame] {
			t.Errorf("%q: %s and %d unknown", blame, loss, unknown)
		}
	}
	if loss, unknown := sum.AvoidableLoss(); !loss.Equal(dec("12")) || unknown != 1 {
		t.Errorf("avoidable %s and %d unknown", loss, unknown)
	}
}

// A session with a pause of 20 minutes in it: an hour's lifetime costs more for every
// write, and saves one rewrite of all.
func TestWhatMarkingForAnHourWouldHaveSaved(t *testing.T) {
	shop, s, sum := twoMarked(), Session{}, Tally{}
	take := func(seconds int64, u pricing.Usage) {
		res := step(t, &s, shop.turn(seconds, "first", engine.Confirmed, u))
		sum.Take(&res)
	}
	take(0, pricing.Usage{CacheWrite5m: 100_000})
	take(60, pricing.Usage{CacheRead: 100_000, CacheWrite5m: 1000})
	if want := dec("-2.25").Mul(dec("0.101")); !sum.Hour.Equal(want) {
		t.Errorf("before the pause %s, want %s", sum.Hour, want)
	}
	take(1260, pricing.Usage{CacheWrite5m: 102_000})
	want := dec("3.45").Mul(dec("0.101")).Sub(dec("2.25").Mul(dec("0.102")))
	if !sum.Hour.Equal(want) || sum.HourTurns != 3 {
		t.Errorf("after it %s, want %s", sum.Hour, want)
	}
	// The same by running both lifetimes through the model.
	var five, sixty Cache
	both := [2]pricing.Usage{}
	for _, turn := range [][2]int64{{0, 100_000}, {60, 101_000}, {1260, 102_000}} {
		p := Prompt{At: after(turn[0]), Tokens: turn[1], Marks: marked}
		h := p
		h.Marks.Hour = Whole
		a, b := five.Predict(&byMarker, &p), sixty.Predict(&byMarker, &h)
		five, sixty = five.After(&byMarker, &p), sixty.After(&byMarker, &h)
		both[0].CacheRead, both[0].CacheWrite5m = both[0].CacheRead+a.CacheRead, both[0].CacheWrite5m+a.CacheWrite5m
		both[1].CacheRead, both[1].CacheWrite1h = both[1].CacheRead+b.CacheRead, both[1].CacheWrite1h+b.CacheWrite1h
	}
	if saved := sonnet.Cost(both[0]).Total.Sub(sonnet.Cost(both[1]).Total); !saved.Equal(sum.Hour) {
		t.Errorf("two caches say %s", saved)
	}
	take(4860, pricing.Usage{CacheWrite5m: 103_000}) // an hour later: it would have been written all the same
	if want = want.Sub(dec("2.25").Mul(dec("0.103"))); !sum.Hour.Equal(want) {
		t.Errorf("after an hour %s, want %s", sum.Hour, want)
	}
}
