package pricing

import (
	"fmt"
	"math"
	"regexp"

	"github.com/shopspring/decimal"
)

// Unit is the number of tokens a catalog states its prices for.
//
// The zero Unit is per million, the design's own unit.
type Unit int

// The units a catalog may be written in.
const (
	PerMillionTokens  Unit = iota // "per_million"
	PerThousandTokens             // "per_thousand"
	PerToken                      // "per_token"
)

// ParseUnit reads a catalog's unit; ok is false for a word that is none.
func ParseUnit(text string) (unit Unit, ok bool) {
	switch text {
	case "per_million":
		return PerMillionTokens, true
	case "per_thousand":
		return PerThousandTokens, true
	case "per_token":
		return PerToken, true
	}
	return PerMillionTokens, false
}

// shift is the power of ten that turns a price in this unit into one per million.
func (u Unit) shift() int32 {
	switch u {
	case PerToken:
		return 6
	case PerThousandTokens:
		return 3
	}
	return 0
}

// Rate is a price per million tokens, in the catalog's currency.
//
// The zero Rate is unknown. Unknown is not free: it is never below another
// rate, and a cost that would need it cannot be computed. Free is
// PerMillion(decimal.Zero).
type Rate struct {
	price decimal.Decimal
	nano  int64 // price × 1e9 when exact is set; what the hot path compares
	known bool
	exact bool // only ever beside known
}

// PerMillion is the known rate of d per million tokens.
func PerMillion(d decimal.Decimal) Rate {
	if d.IsZero() {
		return Rate{known: true, exact: true}
	}
	r := Rate{price: d, known: true}
	if d.Exponent() < -exactDigits || d.Exponent() > exactDigits {
		return r // the integer form would cost more to make than it saves
	}
	n := d.Shift(9)
	if n.IsInteger() {
		if b := n.BigInt(); b.IsInt64() {
			r.nano, r.exact = b.Int64(), true
		}
	}
	return r
}

// exactDigits bounds the exponents for which the integer form is tried: what
// [ParseRate] reads without an exponent of its own lies well inside.
const exactDigits = 32

// maxPriceText is the longest price text accepted (design section 8).
const maxPriceText = 32

// priceText is the grammar of a price (design section 8). It is checked before
// the decimal parser runs, whose cost is quadratic in digits.
var priceText = regexp.MustCompile(`^(\d{1,9}(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`)

// leadingZero is a zero before a digit: "010" is eight to some readers and ten
// to others, so it is refused.
var leadingZero = regexp.MustCompile(`^0\d`)

// ParseRate reads a price as it is written in a catalog.
//
// The text is read exactly; an error says what is wrong with it. An empty text
// is an error: a price that is not known is left out, not left empty.
func ParseRate(text string, unit Unit) (Rate, error) {
	if text == "" {
		return Rate{}, fmt.Errorf("is empty; remove the key or give a price")
	}
	if fault := numberFault(text, "a price; write digits with a decimal point, such as 0.30 or 3e-06"); fault != nil {
		return Rate{}, fault
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return Rate{}, fmt.Errorf("%q is not a price: %w", text, err)
	}
	return PerMillion(d.Shift(unit.shift())), nil
}

// numberFault is what is wrong with the text of a number that the decimal parser
// must not see; what says what it should be.
func numberFault(text, what string) error {
	switch {
	case len(text) > maxPriceText:
		return fmt.Errorf("is longer than %d characters", maxPriceText)
	case !priceText.MatchString(text):
		return fmt.Errorf("%q is not %s", text, what)
	case leadingZero.MatchString(text):
		return fmt.Errorf("%q has a leading zero, which some readers take for octal; write it without", text)
	}
	return nil
}

// Known says whether the price is known. Only then do the other methods speak of it.
func (r Rate) Known() bool { return r.known }

// Decimal is the price per million tokens; zero if it is not known.
func (r Rate) Decimal() decimal.Decimal { return r.price }

// Below says whether r is strictly lower than other. Unknown is never below
// another rate, and nothing is below unknown.
func (r Rate) Below(other Rate) bool {
	if r.exact && other.exact {
		return r.nano < other.nano
	}
	return r.known && other.known && r.belowByDigits(other)
}

// belowByDigits compares rates that have no integer form. It stands apart so
// that Below is inlined.
//
//go:noinline
func (r *Rate) belowByDigits(other Rate) bool { return r.price.LessThan(other.price) }

// Equal says whether both rates are unknown, or both known and the same price.
func (r Rate) Equal(other Rate) bool {
	return r.known == other.known && (!r.known || r.price.Equal(other.price))
}

// Of is what tokens cost at this rate, in the catalog's currency; zero if the
// rate is not known, which the caller asks first.
func (r Rate) Of(tokens int64) decimal.Decimal {
	if !r.known || tokens == 0 {
		return decimal.Decimal{}
	}
	if n := r.nano * tokens; r.exact && (r.nano == 0 || n/r.nano == tokens) && n != math.MinInt64 {
		return decimal.New(n, -15) // billionths per million tokens
	}
	return r.price.Mul(decimal.NewFromInt(tokens)).Shift(-6)
}

// String is the canonical decimal text of the price per million, such as "0.3",
// or "unknown".
func (r Rate) String() string {
	if !r.known {
		return "unknown"
	}
	return r.price.String()
}

// MarshalJSON writes the canonical decimal as a string, or null if unknown.
func (r Rate) MarshalJSON() ([]byte, error) {
	if !r.known {
		return []byte("null"), nil
	}
	return []byte(`"` + r.price.String() + `"`), nil
}
