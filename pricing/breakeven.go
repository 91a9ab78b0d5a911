package pricing

import (
	"math/big"

	"github.com/shopspring/decimal"
)

// Load is what one turn brings.
//
// The zero Load costs the fee of a request, where there is one.
type Load struct {
	Warm   int64 // tokens of the prefix that a warm cache holds
	New    int64 // prompt tokens after it, which no cache holds
	Output int64
}

// Warm is what the turn costs where the prefix is read from the cache, the fee of
// the request included; ok is false where a rate it needs is not known. A card with
// parts is one of a prompt of this size.
//
// New tokens are charged as writes where the card has a rate for writes (they are
// put into the cache for the next turn), else as input. A cache-read rate that is
// not known is not replaced by another here, as it is in a bill: nobody can say
// that moving pays by a rate that nobody knows.
func (c Card) Warm(l Load) (amount decimal.Decimal, ok bool) {
	fresh := c.fresh()
	if !fresh.Known() && l.New != 0 || !c.CacheRead.Known() && l.Warm != 0 || !c.Output.Known() && l.Output != 0 {
		return decimal.Decimal{}, false
	}
	fee := c.Request.Of(1)
	if len(c.Parts) == 0 {
		return decimal.Sum(c.CacheRead.Of(l.Warm), fresh.Of(l.New), c.Output.Of(l.Output), fee), true
	}
	u := Usage{CacheRead: l.Warm, Input: l.New, Output: l.Output}
	if c.CacheWrite5m.Known() {
		u.Input, u.CacheWrite5m = 0, l.New
	}
	cost := c.parted(u)
	return decimal.Sum(cost.Prompt(), cost.Output, fee), true
}

// Cold is what the turn costs where no cache holds any of it; ok is false where a
// rate it needs is not known.
func (c Card) Cold(l Load) (amount decimal.Decimal, ok bool) {
	return c.Warm(Load{New: l.Warm + l.New, Output: l.Output})
}

// fresh is the rate of prompt tokens that no cache holds yet.
func (c *Card) fresh() Rate {
	if c.CacheWrite5m.Known() {
		return c.CacheWrite5m
	}
	return c.Input
}

// When says on which side of a break-even point something is true.
//
// The zero When is that it cannot be told, for want of a rate.
type When string

// The answers of a break-even.
const (
	CannotTell When = ""
	Above      When = "above" // for every number above the point
	Below      When = "below" // for every number below it
	Always     When = "always"
	Never      When = "never"
)

// Point is a break-even point: the exact number at which two prices meet, and the
// side on which the question it answers is answered with yes.
//
// The zero Point cannot be told.
type Point struct {
	When When
	At   *big.Rat // set for Above and Below only
}

// Least is the least whole number for which the answer is yes, of those above the
// point; ok is false where there is none to name.
func (p Point) Least() (n *big.Int, ok bool) {
	switch p.When {
	case Always:
		return new(big.Int), true
	case Above:
		n = new(big.Int).Div(p.At.Num(), p.At.Denom()) // Euclid's: rounds down
		return n.Add(n, big.NewInt(1)), true
	}
	return nil, false
}

// Reached is [Point.Least] where the point itself counts too.
func (p Point) Reached() (n *big.Int, ok bool) {
	if p.When == Above && p.At.IsInt() {
		return new(big.Int).Set(p.At.Num()), true
	}
	return p.Least()
}

// solve says for which numbers x, none of them negative, slope times x is more
// than bound.
func solve(slope, bound *big.Rat) Point {
	switch slope.Sign() {
	case 0:
		if bound.Sign() < 0 {
			return Point{When: Always}
		}
		return Point{When: Never}
	case 1:
		if bound.Sign() < 0 {
			return Point{When: Always}
		}
		return Point{When: Above, At: new(big.Rat).Quo(bound, slope)}
	}
	if bound.Sign() >= 0 {
		return Point{When: Never}
	}
	return Point{When: Below, At: new(big.Rat).Quo(bound, slope)}
}

// less is a - b, exactly.
func less(a, b Rate) *big.Rat { return a.Decimal().Sub(b.Decimal()).Rat() }

// StayPrefix says for which sizes of the warm prefix, in tokens, this turn costs
// less where the cache is warm (own) than where it is cold (rival).
//
// With n the rate of new tokens, r of reads, o of output and f the fee, N new tokens
// and O of output, staying costs P·r + N·n + O·o + f and moving (P+N)·n' + O·o' + f',
// so staying is cheaper where
//
//	P·(n' - r) > N·(n - n') + O·(o - o') + f - f'
//
// Both cards are those of one prompt size; a caller that walks the prefix takes
// new cards where a tier begins. Of a card with parts the means are taken.
func StayPrefix(own, rival Card, newTokens, output int64) Point {
	n, m := own.fresh(), rival.fresh()
	if !own.CacheRead.Known() || !n.Known() || !m.Known() || output != 0 && (!own.Output.Known() || !rival.Output.Known()) {
		return Point{}
	}
	bound := new(big.Rat).Mul(less(n, m), new(big.Rat).SetInt64(newTokens))
	bound.Add(bound, less(own.Request, rival.Request)) // unknown is no fee
	if output != 0 {
		bound.Add(bound, new(big.Rat).Mul(less(own.Output, rival.Output), new(big.Rat).SetInt64(output)))
	}
	return solve(less(m, own.CacheRead), bound)
}

// MoveOutput says for how many tokens of output to each token of warm prefix this
// turn costs less at the cold rival than at the warm route, new tokens and fees left
// aside:
//
//	O/P·(o - o') > i' - r
//
// The gate cache_read looks at prompts only, so this is where a long answer would
// reverse it. The rival's prompt is charged at its input rate, as the gate does.
func MoveOutput(own, rival Card) Point {
	if !own.CacheRead.Known() || !rival.Input.Known() || !own.Output.Known() || !rival.Output.Known() {
		return Point{}
	}
	return solve(less(own.Output, rival.Output), less(rival.Input, own.CacheRead))
}

// MoveTurns says for how many turns like this one, the one that moves included,
// moving once to the cold rival costs less in all than staying where it is warm:
// with W what a turn costs warm and C cold,
//
//	T·(W - W') > C' - W'
//
// [Point.Least] is the number of turns from which moving pays; a session that
// begins to move has at least one. Every later turn is taken to find its cache.
func MoveTurns(own, rival Card, l Load) Point {
	stay, ok := own.Warm(l)
	if !ok {
		return Point{}
	}
	cold, ok := rival.Cold(l)
	if !ok {
		return Point{}
	}
	warm, ok := rival.Warm(l)
	if !ok {
		return Point{}
	}
	return solve(stay.Sub(warm).Rat(), cold.Sub(warm).Rat())
}

// Blended is what a prompt token costs on average where so many of the prompt's
// tokens are read from the cache and the rest are input, to 18 decimals; unknown where
// a rate is, or the prompt has no token.
func (c Card) Blended(read, prompt int64) Rate {
	if !c.Input.Known() || !c.CacheRead.Known() || prompt == 0 {
		return Rate{}
	}
	reads := c.CacheRead.Decimal().Mul(decimal.NewFromInt(read))
	rest := c.Input.Decimal().Mul(decimal.NewFromInt(prompt - read))
	return PerMillion(reads.Add(rest).DivRound(decimal.NewFromInt(prompt), meanDigits))
}

// Crossover says for which hit rates, as a share of the prompt from 0 to 1, a
// prompt costs less at a than at b, output and writes left aside:
//
//	h·((i - r) - (i' - r')) > i - i'
//
// A crossover that no hit rate reaches is Always or Never.
func Crossover(a, b Card) Point {
	if !a.Input.Known() || !a.CacheRead.Known() || !b.Input.Known() || !b.CacheRead.Known() {
		return Point{}
	}
	slope := new(big.Rat).Sub(less(a.Input, a.CacheRead), less(b.Input, b.CacheRead))
	p := solve(slope, less(a.Input, b.Input))
	if p.At == nil || p.At.Cmp(big.NewRat(1, 1)) < 0 {
		return p
	}
	if p.When == Above {
		return Point{When: Never}
	}
	if p.At.Cmp(big.NewRat(1, 1)) > 0 {
		return Point{When: Always}
	}
	return p
}

// PayBack says how many times a prefix must be read again before having written it
// at this rate has cost no more than sending it fresh each time:
//
//	n·(i - r) ≥ w - i
//
// [Point.Reached] is the number of reads. A write that costs no more than input is
// paid back at once, Always; where reading saves nothing, Never.
func (c Card) PayBack(write Rate) Point {
	if !write.Known() || !c.Input.Known() || !c.CacheRead.Known() {
		return Point{}
	}
	premium := less(write, c.Input)
	if premium.Sign() <= 0 {
		return Point{When: Always}
	}
	return solve(less(c.Input, c.CacheRead), premium)
}
