package pricing

import (
	"strings"

	"github.com/shopspring/decimal"
)

// Charge is what a vendor itself says a request cost.
//
// The zero Charge is not reported, not free.
type Charge struct {
	Known  bool
	Amount decimal.Decimal // in US dollars: no vendor reports another currency
}

// The bounds of what a vendor may say it charged.
const (
	maxChargeText = 40
	minChargeExp  = -40
	maxChargeExp  = 12
)

// ParseCharge reads what a vendor says it charged: a JSON number, in units of ten
// to the power of shift dollars, so 0 for dollars. It is taken as it is written,
// with the last digits that a float of the vendor's has left in it. Anything that
// is no amount gives the zero Charge: not reported.
func ParseCharge(number string, shift int32) Charge {
	if number == "" || len(number) > maxChargeText || strings.Trim(number, "0123456789+-.eE") != "" {
		return Charge{}
	}
	amount, err := decimal.NewFromString(number)
	if err != nil || amount.IsNegative() || amount.Exponent() < minChargeExp || amount.Exponent() > maxChargeExp {
		return Charge{}
	}
	return Charge{Known: true, Amount: amount.Shift(shift)}
}
