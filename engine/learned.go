package engine

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// Learner tells what turns have shown of routes. It must answer from memory: a plan
// asks it on its way. It may be used from several goroutines.
type Learner interface {
	// HitRate is the token hit rate of a model at a vendor. The zero HitRate: nothing
	// is known of it.
	HitRate(model, vendor string) HitRate
	// Speed is how fast the answers of a model at a vendor are. The zero Speed:
	// nothing is known of it.
	Speed(model, vendor string) Speed
}

// HitRate is which share of the prompt tokens of how many turns was read from a
// cache. The zero HitRate has seen nothing.
type HitRate struct {
	Turns  int64 // that could have read, and said what they did
	Read   int64 // of their prompt tokens
	Prompt int64
}

// LeastTurns is how many turns a hit rate must rest on before anything is ordered by
// it: fewer are one or two sessions, which say more of them than of the route.
const LeastTurns = 20

// Counts says whether the rate rests on enough to be counted on.
func (h HitRate) Counts() bool {
	return h.Turns >= LeastTurns && h.Prompt > 0 && h.Read >= 0 && h.Read <= h.Prompt
}

// Blend is what a prompt token at a route is expected to cost: h·read + (1−h)·input,
// at the rates of this turn and at the hit rate h that turns have shown there. Where
// too few have, or the route has no known read rate, h is 0 and the blend is the
// input rate: nothing is promised on a vendor's behalf. The zero Blend is unknown.
type Blend struct {
	Hits HitRate // 0 of 0 where it does not count
	at   decimal.Decimal
	of   int64 // at is for so many tokens; 0: unknown
}

// BlendOf blends a card's rates.
func BlendOf(card pricing.Card, hits HitRate) Blend {
	if !card.Input.Known() {
		return Blend{}
	}
	if !hits.Counts() || !card.CacheRead.Known() {
		return Blend{at: card.Input.Decimal(), of: 1}
	}
	read := card.CacheRead.Decimal().Mul(decimal.NewFromInt(hits.Read))
	fresh := card.Input.Decimal().Mul(decimal.NewFromInt(hits.Prompt - hits.Read))
	return Blend{Hits: hits, at: read.Add(fresh), of: hits.Prompt}
}

// Below says whether b is strictly lower than other, exactly: the rates are compared
// as fractions. Unknown is below nothing, and nothing is below unknown.
func (b Blend) Below(other Blend) bool {
	if !b.Known() || !other.Known() {
		return false
	}
	if b.of == 1 && other.of == 1 {
		return b.at.LessThan(other.at)
	}
	return b.at.Mul(decimal.NewFromInt(other.of)).LessThan(other.at.Mul(decimal.NewFromInt(b.of)))
}

// Known says whether the blend is.
func (b Blend) Known() bool { return b.of > 0 }

// blendDigits is how many decimals of a blend are shown.
const blendDigits = 18

// Rate is the blend per million tokens, rounded to 18 decimals to be shown.
func (b Blend) Rate() pricing.Rate {
	switch {
	case !b.Known():
		return pricing.Rate{}
	case b.of == 1:
		return pricing.PerMillion(b.at)
	}
	return pricing.PerMillion(b.at.DivRound(decimal.NewFromInt(b.of), blendDigits))
}

// Blended is a route of a plan that is sorted by [catalog.ByBlended], and what it
// was sorted by.
type Blended struct {
	Vendor string
	Blend  Blend
}
