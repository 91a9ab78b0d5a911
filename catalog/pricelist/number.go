package pricelist

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// Shifts are the powers of ten that turn a list's unit into USD per million.
const (
	perMillion  int32 = 0
	perToken    int32 = 6
	centsEach   int32 = 4 // US cents for one token or one request
	perThousand int32 = 3
)

// numberText is the grammar of a list's numbers. It is checked before the decimal
// parser runs, whose cost grows with exponents and digits.
var numberText = regexp.MustCompile(`^-?\d{1,20}(\.\d{0,40})?([eE][-+]?\d{1,2})?$`)

// A catalog's price has at most 9 digits before the point and 18 after it
// (design section 8), so no more are read.
var (
	maxRate   = decimal.New(1, 9)
	maxPlaces = int32(18)
)

// noises are the digits that only a float can have written: so many significant
// digits or more, of which so many are kept if that changes the number by no more
// than so large a part.
var noises = [...]struct {
	from, keep int
	part       decimal.Decimal
}{
	{16, 12, decimal.New(1, -13)}, // float64: 0.30000000000000004
	{8, 4, decimal.New(1, -7)},    // float32: 0.070000002
}

// readNumber reads a list's number exactly. Digits that only a float can have
// written are rounded away; noise says so.
func readNumber(text string) (d decimal.Decimal, noise bool, err error) {
	text = strings.TrimSpace(text)
	if len(text) > 64 || !numberText.MatchString(text) {
		return d, false, fmt.Errorf("%s is not a number that can be read", quote(text))
	}
	if d, err = decimal.NewFromString(text); err != nil {
		return d, false, err
	}
	digits := d.NumDigits()
	for _, n := range noises {
		if digits < n.from {
			continue
		}
		rounded := d.Round(int32(n.keep-digits) - d.Exponent())
		if rounded.Sub(d).Abs().LessThanOrEqual(d.Abs().Mul(n.part)) && !rounded.Equal(d) {
			return rounded, true, nil
		}
	}
	return d, false, nil
}

// quote shows at most 40 bytes of a text.
func quote(text string) string {
	if len(text) > 40 {
		return fmt.Sprintf("%.40q…", text)
	}
	return fmt.Sprintf("%q", text)
}

// rate reads a price of a row. A member that is missing or null is unknown
// without a word; so is an empty text.
func (r *Row) rate(v *value, field string, shift int32) pricing.Rate {
	if v == nil || v.kind == null || v.kind == text && strings.TrimSpace(v.text) == "" {
		return pricing.Rate{}
	}
	if v.kind != number && v.kind != text {
		r.flag(UnreadablePrice, field, "%s is not a number; left unknown", field)
		return pricing.Rate{}
	}
	d, noise, err := readNumber(v.text)
	if err != nil {
		r.flag(UnreadablePrice, field, "%s: %s; left unknown", field, err)
		return pricing.Rate{}
	}
	d = d.Shift(shift)
	switch {
	case d.IsNegative():
		r.flag(NegativePrice, field, "%s is %s per million; left unknown", field, d)
		return pricing.Rate{}
	case !d.LessThan(maxRate) || !d.Equal(d.Truncate(maxPlaces)):
		r.flag(UnreadablePrice, field, "%s %s has more digits than a catalog's price; left unknown", field, quote(v.text))
		return pricing.Rate{}
	case noise:
		r.flag(FloatNoise, field, "%s %s was written by a float; read as %s per million", field, quote(v.text), d)
	}
	return pricing.PerMillion(d)
}

// count reads a number of tokens: whole and positive, else not ok. A whole number
// with a decimal point, such as 256000.0, counts.
func count(v *value) (n int64, ok bool) {
	if !v.is(number) && !v.is(text) {
		return 0, false
	}
	d, _, err := readNumber(v.text)
	if err != nil || !d.IsInteger() || d.IsNegative() || !d.LessThan(maxRate.Shift(3)) {
		return 0, false
	}
	return d.IntPart(), true
}

// tokens is a count that is not stated where it cannot be read.
func tokens(v *value) int64 {
	n, _ := count(v)
	return n
}

// nonzero says whether a member states an amount other than zero.
func nonzero(v *value) bool {
	if !v.is(number) && !v.is(text) {
		return false
	}
	d, _, err := readNumber(v.text)
	return err == nil && !d.IsZero()
}
