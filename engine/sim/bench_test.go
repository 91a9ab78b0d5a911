package sim

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// One iteration is one turn at one candidate's cache: what it should report, and what
// it holds afterwards.
func BenchmarkCache(b *testing.B) {
	c := warm(byMarker, 100_000)
	p := Prompt{At: after(30), Tokens: 101_000, Marks: marked}
	if u := c.Predict(&byMarker, &p); u.CacheRead != 100_000 || u.CacheWrite5m != 1000 {
		b.Fatal(u)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Predict(&byMarker, &p)
		c.After(&byMarker, &p)
	}
}

// One iteration is one turn of a session with four candidates whose worlds are alike,
// money included.
func BenchmarkStepAlike(b *testing.B) {
	benchStep(b, "first", engine.Confirmed, "0")
}

// One iteration is one turn whose worlds are at two vendors, money included.
func BenchmarkStepApart(b *testing.B) {
	benchStep(b, "second", engine.Promoted, "0.00069")
}

// One iteration is one turn of a session with nothing known of its prices.
func BenchmarkStepWithoutMoney(b *testing.B) {
	shop := (&shop{}).sell("first", byMarker, pricing.Card{}).sell("second", byMarker, pricing.Card{})
	var s Session
	s.Step(shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000}))
	f := shop.turn(30, "second", engine.Promoted, pricing.Usage{CacheRead: 100_000, CacheWrite5m: 1000, Output: 200})
	b.ReportAllocs()
	for b.Loop() {
		s.Step(f)
	}
}

func benchStep(b *testing.B, vendor string, outcome engine.Outcome, saving string) {
	dear := card("3", "15", "0.30", "3.75", "6")
	shop := (&shop{}).sell("first", byMarker, dear).sell("second", byMarker, dear).sell("third", byItself, gpt).sell("fourth", byItself, gpt)
	var s Session
	s.Step(shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 99_800}))
	s.Step(shop.turn(10, vendor, outcome, pricing.Usage{CacheWrite5m: 100_000}))
	f := shop.turn(30, vendor, outcome, pricing.Usage{CacheRead: 100_000, CacheWrite5m: 1000, Output: 200})
	first := s.Clone()
	if res := first.Step(f); !res.Saving.Known || !res.Saving.Amount.Equal(dec(saving)) && vendor != "second" {
		b.Fatal(res.Saving)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Step(f)
	}
}

// One iteration stores and reads one session of two candidates.
func BenchmarkSessionCodec(b *testing.B) {
	shop := twoMarked()
	var s, read Session
	s.Step(shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000}))
	s.Step(shop.turn(30, "second", engine.Promoted, pricing.Usage{CacheWrite5m: 101_000}))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = s.AppendBinary(buf[:0])
		if err := read.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// One iteration adds one turn to a tally.
func BenchmarkTally(b *testing.B) {
	shop := twoMarked()
	var s Session
	var sum Tally
	s.Step(shop.turn(0, "first", engine.NoPin, pricing.Usage{CacheWrite5m: 100_000}))
	res := s.Step(shop.turn(30, "first", engine.Confirmed, pricing.Usage{CacheRead: 100_000, CacheWrite5m: 1000}))
	b.ReportAllocs()
	for b.Loop() {
		sum.Take(&res)
	}
}
