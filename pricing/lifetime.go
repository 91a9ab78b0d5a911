package pricing

import "math/big"

// Pauses are how long prefixes waited for their next use: of so many pauses, those
// after which an entry that lives five minutes, and one that lives an hour, was still
// there. The zero Pauses are of none.
type Pauses struct {
	N        int64
	Within5m int64 // no longer than 300 s
	Within1h int64 // no longer than 3600 s, those of Within5m among them
}

// Horizon is what is expected of a conversation after this turn. The zero Horizon is
// that it ends.
type Horizon struct {
	Prompt int64 // tokens of this turn's prompt
	New    int64 // tokens that each later turn adds to it
	Turns  int64 // later turns
}

// HourPoint compares writing a conversation to the cache for an hour with writing it
// for five minutes. Amounts are in millionths of the currency.
//
// The zero HourPoint cannot be told, for want of a rate or of pauses.
type HourPoint struct {
	FiveMinutes *big.Rat // what a token of the prefix costs each later turn, times a million
	Hour        *big.Rat // the same where it was written for an hour
	Gain        *big.Rat // what all later turns save by the hour
	Premium     *big.Rat // what the hour costs more: on this turn's prompt and on every later turn's new tokens
}

// Known says whether the comparison could be made.
func (p HourPoint) Known() bool { return p.Gain != nil }

// Pays says whether the hour is cheaper in all; what is not known does not pay.
func (p HourPoint) Pays() bool { return p.Known() && p.Gain.Cmp(p.Premium) > 0 }

// HourPays says whether a conversation is cheaper written for an hour than for five
// minutes. With w the write rate, r the read rate and F the share of pauses that the
// lifetime outlasts, a token of the prefix costs each later turn r where its entry was
// still there and w where it must be written again:
//
//	F·r + (1-F)·w = w - (w-r)·F
//
// The hour pays where N later turns of P tokens on average save by that more than its
// premium on what is written once: N·P·(c5m - c1h) > (w1h - w5m)·(prompt + N·new).
// Source: the reference on economics, example 20.
func (c Card) HourPays(pauses Pauses, h Horizon) HourPoint {
	if pauses.N <= 0 || !c.CacheRead.Known() || !c.CacheWrite5m.Known() || !c.CacheWrite1h.Known() {
		return HourPoint{}
	}
	later := func(write Rate, within int64) *big.Rat {
		cost := new(big.Rat).Mul(less(write, c.CacheRead), big.NewRat(within, pauses.N))
		return cost.Sub(write.Decimal().Rat(), cost)
	}
	p := HourPoint{FiveMinutes: later(c.CacheWrite5m, pauses.Within5m), Hour: later(c.CacheWrite1h, pauses.Within1h)}
	turns := new(big.Rat).SetInt64(h.Turns)
	grown := new(big.Rat).Mul(new(big.Rat).SetInt64(h.New), turns)
	prefixes := new(big.Rat).Mul(new(big.Rat).SetInt64(h.New), big.NewRat(h.Turns+1, 2)) // of the mean turn, over this one's prompt
	prefixes.Add(prefixes, new(big.Rat).SetInt64(h.Prompt))
	prefixes.Mul(prefixes, turns)
	p.Gain = prefixes.Mul(prefixes, new(big.Rat).Sub(p.FiveMinutes, p.Hour))
	p.Premium = grown.Add(grown, new(big.Rat).SetInt64(h.Prompt))
	p.Premium.Mul(p.Premium, less(c.CacheWrite1h, c.CacheWrite5m))
	return p
}
