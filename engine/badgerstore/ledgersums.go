package badgerstore

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"

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
	b = appendDecimal(appendDecimal(b, s.Cost), s.Saving)
	for _, v := range laterCountsOf(s) {
		b = binary.AppendVarint(b, *v)
	}
	for _, d := range laterMoneyOf(s) {
		b = appendDecimal(b, *d)
	}
	return b
}

// laterCounts and laterMoney are how many counts and amounts sums have had since
// version 2, behind what they had before.
const laterCounts, laterMoney = 4, 3

func laterCountsOf(s *engine.Sums) [laterCounts]*int64 {
	return [...]*int64{&s.PricedPrompt, &s.ChargedKnown, &s.ReadUnknown, &s.UnreadPrompt}
}

func laterMoneyOf(s *engine.Sums) [laterMoney]*decimal.Decimal {
	return [...]*decimal.Decimal{&s.PromptCost, &s.Charged, &s.ChargedCost}
}

func (in *input) sums() (s engine.Sums) {
	for _, v := range countsOf(&s) {
		*v = in.number()
	}
	s.Cost, s.Saving = in.decimal(), in.decimal()
	if in.bad || len(in.b) == 0 { // nothing follows in sums that were written before version 2
		return s
	}
	for _, v := range laterCountsOf(&s) {
		*v = in.number()
	}
	for _, d := range laterMoneyOf(&s) {
		*d = in.decimal()
	}
	return s
}

// row is a line of a roll-up: of the turns of one slot that had this outcome, what
// stands at this vendor for one model. Sums that nobody asked for stay as they were
// stored.
type row struct {
	vendor  []byte
	outcome []byte
	stored  []byte       // nil once read
	sums    *engine.Sums // nil until then
}

func (r *row) compare(vendor, outcome string) int {
	switch {
	case string(r.vendor) != vendor && string(r.vendor) < vendor:
		return -1
	case string(r.vendor) != vendor:
		return 1
	case string(r.outcome) < outcome:
		return -1
	case string(r.outcome) > outcome:
		return 1
	}
	return 0
}

// rows are the lines of a roll-up by vendor and outcome.
type rows []row

// at is the line of these, which it makes if it is not there. ok is false if what
// is stored of it is damaged.
func (r *rows) at(vendor string, outcome engine.Outcome) (line *row, ok bool) {
	i, found := slices.BinarySearchFunc(*r, vendor, func(line row, vendor string) int { return line.compare(vendor, string(outcome)) })
	if !found {
		*r = slices.Insert(*r, i, row{vendor: []byte(vendor), outcome: []byte(outcome), sums: &engine.Sums{}})
	}
	line = &(*r)[i]
	if line.stored == nil {
		return line, true
	}
	in := input{b: line.stored}
	sums := in.sums()
	line.sums, line.stored = &sums, nil
	return line, !in.bad && len(in.b) == 0
}

// encodeRows returns the value to be stored at the key of a roll-up; nil if no
// line has a turn or an attempt. Of each line it holds vendor, outcome and, behind their
// length, the sums.
func encodeRows(key []byte, r rows) []byte {
	b := sealed(96 * len(r))
	var space [160]byte
	for i := range r {
		sums := r[i].stored
		if sums == nil {
			if r[i].sums.Turns == 0 && r[i].sums.Attempts == 0 {
				continue
			}
			sums = appendSums(space[:0], r[i].sums)
		}
		b = appendBytes(appendBytes(appendBytes(b, r[i].vendor), r[i].outcome), sums)
	}
	if len(b) == headSize {
		return nil
	}
	return seal(key, b)
}

// usualLine is what a line takes or more, in bytes.
const usualLine = 48

func appendBytes(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodeRows reads a roll-up stored at key; the lines lie in value.
func decodeRows(key, value []byte) (r rows, ok bool) {
	held, ok := unseal(key, value)
	if !ok {
		return nil, false
	}
	return readRows(held)
}

func readRows(held []byte) (r rows, ok bool) {
	in := input{b: held}
	r = make(rows, 0, len(held)/usualLine+2)
	for len(in.b) > 0 {
		line := row{vendor: in.bytes(), outcome: in.bytes(), stored: in.bytes()}
		if in.bad || len(line.stored) == 0 || len(r) > 0 && r[len(r)-1].compare(string(line.vendor), string(line.outcome)) >= 0 {
			return nil, false
		}
		r = append(r, line)
	}
	return r, true
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
	laterCounts  [laterCounts]int64
	laterMoney   [laterMoney]money
}

// add takes over the sums of a line.
func (f *fast) add(in *input) {
	for i := range f.counts {
		f.counts[i] += in.number()
	}
	f.cost.add(in)
	f.saving.add(in)
	if len(in.b) == 0 { // written before version 2
		return
	}
	for i := range f.laterCounts {
		f.laterCounts[i] += in.number()
	}
	for i := range f.laterMoney {
		f.laterMoney[i].add(in)
	}
}

func (f *fast) plus(other *fast) {
	for i, v := range other.counts {
		f.counts[i] += v
	}
	f.cost.plus(&other.cost)
	f.saving.plus(&other.saving)
	for i, v := range other.laterCounts {
		f.laterCounts[i] += v
	}
	for i := range other.laterMoney {
		f.laterMoney[i].plus(&other.laterMoney[i])
	}
}

func (f *fast) sums() engine.Sums {
	s := engine.Sums{Cost: f.cost.decimal(), Saving: f.saving.decimal()}
	for i, v := range countsOf(&s) {
		*v = f.counts[i]
	}
	for i, v := range laterCountsOf(&s) {
		*v = f.laterCounts[i]
	}
	for i, v := range laterMoneyOf(&s) {
		*v = f.laterMoney[i].decimal()
	}
	return s
}
