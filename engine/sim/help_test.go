package sim

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

var start = time.Date(2026, 5, 11, 9, 30, 0, 0, time.UTC)

// after is so many seconds past the start.
func after(seconds int64) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// card makes a card of input, output, read, 5m write and 1h write; an empty text
// leaves the rate unknown.
func card(input, output, read, write, writeHour string) pricing.Card {
	or := func(text string) pricing.Rate {
		if text == "" {
			return pricing.Rate{}
		}
		return pricing.PerMillion(dec(text))
	}
	return pricing.Card{Input: or(input), Output: or(output), CacheRead: or(read), CacheWrite5m: or(write), CacheWrite1h: or(writeHour)}
}

// The rules of section "worked examples": by itself in blocks of 128, or by markers.
var (
	byItself = Rules{Family: catalog.Implicit, TTL: 10 * time.Minute, MinPrefix: 1024, Block: 128, Answer: true}
	byMarker = Rules{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024, Block: 1, Writes: true}
	never    = Rules{Family: catalog.None}
)

var marked = Marks{Any: true}

// micro is what a usage costs, in millionths.
func micro(t *testing.T, c pricing.Card, u pricing.Usage) string {
	t.Helper()
	cost := c.Cost(u)
	if !cost.Known {
		t.Fatal("the cost is not known")
	}
	return cost.Total.Shift(6).String()
}

// shop makes facts of one session for tests: named vendors in an order, and what
// each turn did.
type shop struct {
	vendors []Offer
	names   []string
}

func (s *shop) sell(name string, r Rules, c pricing.Card) *shop {
	s.names = append(s.names, name)
	s.vendors = append(s.vendors, Offer{Model: "m", ID: Name(name, "k", engine.GroupOperator), Rules: r, Card: c})
	return s
}

func (s *shop) at(name string) int {
	for i := range s.names {
		if s.names[i] == name {
			return i
		}
	}
	panic(name)
}

// turn is a turn of this many prompt tokens, served by a vendor with this usage.
func (s *shop) turn(seconds int64, vendor string, outcome engine.Outcome, u pricing.Usage) *Fact {
	f := &Fact{At: after(seconds), Outcome: outcome, Marks: marked, Offers: append([]Offer(nil), s.vendors...)}
	f.Kept = Kept{Known: true, Tokens: Whole}
	s.serve(f, vendor, u)
	return f
}

// serve adds the attempt that served.
func (s *shop) serve(f *Fact, vendor string, u pricing.Usage) {
	at := s.at(vendor)
	t := Try{Offer: at, Taken: true, Billed: true, Usage: u, Quality: pricing.Authoritative, Card: s.vendors[at].Card}
	if cost := t.Card.Cost(u); cost.Known {
		t.Cost = Known(cost.Total)
	}
	f.Tries = append(f.Tries, t)
}

// refused adds an attempt that was refused and is not billed.
func (s *shop) refused(f *Fact, vendor string) {
	f.Tries = append(f.Tries, Try{Offer: s.at(vendor)})
}
