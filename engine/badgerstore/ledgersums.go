package badgerstore

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// counts are the whole numbers of sums in the order in which they are stored.
const counts = 16

func countsOf(s *engine.Sums) [counts]*int64 {
	return [...]*int64{
		&s.Turns, &s.Unsettled, &s.Failed, &s.Attempts, &s.Billed, &s.UsageKnown, &s.CostKnown, &s.SavingKnown, &s.Hits, &s.NoCachePrice,
		&s.Usage.Input, &s.Usage.CacheRead, &s.Usage.CacheWrite5m, &s.Usage.CacheWrite1h, &s.Usage.Output, &s.Usage.Reasoning,
	}
}

func appendSums(b []byte, s *engine.Sums) []byte {
	for _, v := range countsOf(s) {
		b = binary.AppendVarint(b, *v)
	}
	return appendDecimal(appendDecimal(b, s.Cost), s.Saving)
}

func (in *input) sums() (s engine.Sums) {
	for _, v := range countsOf(&s) {
		*v = in.number()
	}
	s.Cost, s.Saving = in.decimal(), in.decimal()
	return s
}

// row is a line of a roll-up: the sums of the turns of one slot and model whose
// last attempt was this vendor's and that had this outcome.
type row struct {
	vendor  string
	outcome engine.Outcome
	sums    engine.Sums
}

func (r *row) compare(vendor string, outcome engine.Outcome) int {
	if d := strings.Compare(r.vendor, vendor); d != 0 {
		return d
	}
	return strings.Compare(string(r.outcome), string(outcome))
}

// rows are the lines of a roll-up by vendor and outcome.
type rows []row

// at is the line of these, which it makes if it is not there.
func (r *rows) at(vendor string, outcome engine.Outcome) *row {
	i, found := slices.BinarySearchFunc(*r, vendor, func(line row, vendor string) int { return line.compare(vendor, outcome) })
	if !found {
		*r = slices.Insert(*r, i, row{vendor: vendor, outcome: outcome})
	}
	return &(*r)[i]
}

// encodeRows returns the value to be stored at the key of a roll-up; nil if no
// line has a turn.
func encodeRows(key []byte, r rows) []byte {
	b := sealed(48 * len(r))
	for i := range r {
		if r[i].sums.Turns == 0 {
			continue
		}
		b = appendString(appendString(b, r[i].vendor), string(r[i].outcome))
		b = appendSums(b, &r[i].sums)
	}
	if len(b) == headSize {
		return nil
	}
	return seal(key, b)
}

func decodeRows(key, value []byte) (r rows, ok bool) {
	held, ok := unseal(key, value)
	if !ok {
		return nil, false
	}
	return readRows(held)
}

func readRows(held []byte) (r rows, ok bool) {
	in := input{b: held}
	for len(in.b) > 0 {
		r = append(r, row{vendor: in.string(), outcome: engine.Outcome(in.string()), sums: in.sums()})
	}
	return r, !in.bad
}

// money adds up amounts exactly: quadrillionths of the currency in 128 bits, for
// that is how the prices of a catalog come out, and others as decimals.
type money struct {
	high   int64
	low    uint64
	others decimal.Decimal
}

const quadrillionths = -15

// add takes over an amount from what is left of a roll-up.
func (m *money) add(in *input) {
	exponent := in.between(-maxExponent, maxExponent)
	kind := in.octet(3)
	if kind == 0 && (exponent == quadrillionths || !in.bad && len(in.b) > 0 && in.b[0] == 0) {
		n := in.number()
		var carry uint64
		m.low, carry = bits.Add64(m.low, uint64(n), 0)
		m.high += n>>63 + int64(carry)
		return
	}
	d := decimal.Decimal{}
	switch kind {
	case 0:
		d = decimal.New(in.number(), int32(exponent))
	case 1:
		d = decimal.NewFromBigInt(in.digits(), int32(exponent))
	case 2:
		d = decimal.NewFromBigInt(new(big.Int).Neg(in.digits()), int32(exponent))
	default:
		in.fail()
	}
	m.others = m.others.Add(d)
}

func (m *money) plus(other *money) {
	var carry uint64
	m.low, carry = bits.Add64(m.low, other.low, 0)
	m.high += other.high + int64(carry)
	if !other.others.IsZero() {
		m.others = m.others.Add(other.others)
	}
}

func (m *money) decimal() decimal.Decimal {
	n := new(big.Int).Lsh(big.NewInt(m.high), 64)
	n.Add(n, new(big.Int).SetUint64(m.low))
	return decimal.NewFromBigInt(n, quadrillionths).Add(m.others)
}

// fast are sums that are added to many times.
type fast struct {
	counts       [counts]int64
	cost, saving money
}

// add takes over sums from what is left of a roll-up.
func (f *fast) add(in *input) {
	for i := range f.counts {
		f.counts[i] += in.number()
	}
	f.cost.add(in)
	f.saving.add(in)
}

func (f *fast) plus(other *fast) {
	for i, v := range other.counts {
		f.counts[i] += v
	}
	f.cost.plus(&other.cost)
	f.saving.plus(&other.saving)
}

func (f *fast) sums() engine.Sums {
	s := engine.Sums{Cost: f.cost.decimal(), Saving: f.saving.decimal()}
	for i, v := range countsOf(&s) {
		*v = f.counts[i]
	}
	return s
}
