package sim

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

func TestStoredFormsAreSmall(t *testing.T) {
	shop, s := twoMarked(), Session{}
	size := func() int {
		b, err := s.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	if n := size(); n != 2 {
		t.Errorf("an empty session has %d bytes", n)
	}
	step(t, &s, shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000}))
	if n := size(); n > 56 {
		t.Errorf("one candidate, alike in both worlds: %d bytes", n)
	}
	step(t, &s, shop.turn(30, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 100_000}))
	if n := size(); n > 96 {
		t.Errorf("another in one of the worlds: %d bytes", n)
	}
	var l Learned
	l.Learn(&Result{Eligible: true, Usage: pricing.Usage{CacheRead: 100_000}, Seen: Seen{Held: 100_000, Read: 100_000, Alive: true}})
	if b, _ := l.AppendBinary(nil); len(b) > 48 {
		t.Errorf("learned: %d bytes", len(b))
	}
	var sum Tally
	if b, _ := sum.AppendBinary(nil); len(b) > 120 {
		t.Errorf("an empty tally: %d bytes", len(b))
	}
}

func TestWhatIsNotAStoredFormIsRefused(t *testing.T) {
	var s Session
	step(t, &s, twoMarked().turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000}))
	good, _ := s.AppendBinary(nil)
	for i := 2; i < len(good); i++ {
		var cut Session
		if err := cut.UnmarshalBinary(good[:i]); i > 2 && !errors.Is(err, ErrStored) || err != nil && !cut.Empty() {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	double := append(append([]byte(nil), good...), good[2:]...)
	later := append([]byte(nil), good...)
	later[1]++
	for name, b := range map[string][]byte{"nothing": nil, "a track twice": double, "a later version": later, "another thing": {tagTally, 1}, "a byte too many": append(append([]byte(nil), good...), 0)} {
		if err := s.UnmarshalBinary(b); !errors.Is(err, ErrStored) || !s.Empty() {
			t.Errorf("%s: %v", name, err)
		}
		var sum Tally
		if err := sum.UnmarshalBinary(b); !errors.Is(err, ErrStored) {
			t.Errorf("%s as a tally: %v", name, err)
		}
		var l Learned
		if err := l.UnmarshalBinary(b); !errors.Is(err, ErrStored) {
			t.Errorf("%s as learned: %v", name, err)
		}
	}
}

func TestAmountsKeepEveryDigit(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "0.000000000000000001", "-123456789012345678901234567890.123456789012345678", "1e6", "99999999999999999999"} {
		want := dec(text)
		in := input{b: appendDecimal(nil, want)}
		if got := in.decimal(); in.done() != nil || !got.Equal(want) {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

// What is read can be written, and is the same when it is read again; and a session
// that was read can go on.
func FuzzSession(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 8 {
		w, s := newWorld(r), Session{}
		for range 1 + r.IntN(20) {
			s.Step(w.turn())
		}
		b, _ := s.AppendBinary(nil)
		f.Add(b)
	}
	f.Add([]byte{tagSession, sessionVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again Session
		if s.UnmarshalBinary(b) != nil {
			return
		}
		stored, _ := s.AppendBinary(nil)
		if err := again.UnmarshalBinary(stored); err != nil {
			t.Fatal(err)
		}
		if twice, _ := again.AppendBinary(nil); string(twice) != string(stored) {
			t.Fatalf("%x and then %x", stored, twice)
		}
		shop := twoMarked()
		for i := range s.tracks {
			fact := shop.turn(60, "first", engine.Promoted, pricing.Usage{CacheWrite5m: 9000})
			fact.Thread = s.tracks[i].thread
			one, two := s.Step(fact), again.Step(fact)
			if one.Predicted != two.Predicted || one.Predicted.Prompt() != 9000 || one.Predicted.CacheRead < 0 {
				t.Fatalf("%+v and %+v", one.Predicted, two.Predicted)
			}
		}
	})
}

func FuzzLearned(f *testing.F) {
	l := looks(50, 47)
	b, _ := l.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again Learned
		if l.UnmarshalBinary(b) != nil {
			return
		}
		stored, _ := l.AppendBinary(nil)
		if err := again.UnmarshalBinary(stored); err != nil || again != l {
			t.Fatalf("%v: %+v, %+v", err, l, again)
		}
		if c := Survival(Aged{l, 0}); math.IsNaN(c.P) || c.P < 0 || c.P > 1 || c.Lower < 0 || c.Lower > c.P {
			t.Fatalf("%+v", c)
		}
		last := 1.0
		for _, age := range append(Ages[:], Ages[len(Ages)-1]+1) {
			c := Held(age, Ages[1], Aged{l, 0})
			if math.IsNaN(c.P) || c.P < 0 || c.P > last {
				t.Fatalf("%v: %+v after %v", age, c, last)
			}
			last = c.P
		}
		l.Lifetime(Ages[1])
	})
}

func FuzzTally(f *testing.F) {
	sum := Tally{Turns: 3, Cost: dec("0.25"), Saving: dec("-1.5"), Hour: decimal.New(7, 2)}
	b, _ := sum.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var sum, again Tally
		if sum.UnmarshalBinary(b) != nil {
			return
		}
		stored, _ := sum.AppendBinary(nil)
		if err := again.UnmarshalBinary(stored); err != nil || !again.Equal(&sum) {
			t.Fatalf("%v", err)
		}
	})
}
