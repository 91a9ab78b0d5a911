package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// The marks of text that stands for a number.
const (
	none    = "—"       // there is nothing to count
	unknown = "unknown" // there is, and nobody said how much
	minus   = "\u2212"
	thin    = "\u202f" // narrow, and does not break the line
)

// money writes amounts of one currency.
type money string // what stands before the number

// moneyIn is how a currency is written: its sign where it has a common one,
// else its code.
func moneyIn(currency string) money {
	switch currency {
	case "USD", "":
		return "$"
	case "EUR":
		return "€"
	case "GBP":
		return "£"
	}
	return money(plain(currency) + thin)
}

var (
	million   = decimal.New(1, 6)
	thousand  = decimal.New(1, 3)
	one       = decimal.New(1, 0)
	cent      = decimal.New(1, -2)
	millionth = decimal.New(1, -6)
)

// amount writes a sum of money that stands alone. Small amounts keep three
// significant digits, so that they never read as nothing.
func (m money) amount(d decimal.Decimal) string { return m.fixed(d, decimalsFor(d)) }

// decimalsFor is how many decimals an amount needs: three significant digits
// below a cent, four decimals below one, two below a thousand, then none.
func decimalsFor(d decimal.Decimal) int32 {
	switch d = d.Abs(); {
	case d.IsZero(), d.GreaterThanOrEqual(thousand):
		return 0
	case d.GreaterThanOrEqual(one):
		return 2
	case d.GreaterThanOrEqual(cent):
		return 4
	case d.LessThan(millionth):
		return 6
	}
	places := int32(3) // where the first digit of a thousandth stands
	for limit := cent.Shift(-1); d.LessThan(limit); limit = limit.Shift(-1) {
		places++
	}
	places += 2
	for rounded := d.Round(places); places > 2 && rounded.Equal(rounded.Truncate(places-1)); {
		places--
	}
	return places
}

// fixed writes an amount with so many decimals. One that would read as zero is
// said to be below the least that can be shown.
func (m money) fixed(d decimal.Decimal, places int32) string {
	sign := ""
	if d.IsNegative() {
		sign = minus
	}
	abs := d.Abs()
	if abs.IsZero() {
		return string(m) + "0"
	}
	if abs.Round(places).IsZero() {
		least := decimal.New(1, -places)
		if sign != "" {
			return "above " + sign + string(m) + least.StringFixed(places)
		}
		return "<" + thin + string(m) + least.StringFixed(places)
	}
	return sign + string(m) + grouped(abs.StringFixed(places), ",")
}

// exact writes an amount with every digit it has, at least two decimals.
func (m money) exact(d decimal.Decimal) string {
	sign := ""
	if d.IsNegative() {
		sign = minus
	}
	return sign + string(m) + atLeastTwo(d.Abs())
}

// rate writes a price per million tokens, exactly.
func (m money) rate(r pricing.Rate) string {
	if !r.Known() {
		return unknown
	}
	return m.exact(r.Decimal()) + "/M"
}

// column writes the amounts of one column with one precision: the finest that
// any of them needs, at most six decimals.
func (m money) column(amounts []decimal.Decimal) func(decimal.Decimal) string {
	var places int32
	for _, d := range amounts {
		places = max(places, decimalsFor(d))
	}
	places = min(places, 6)
	return func(d decimal.Decimal) string { return m.fixed(d, places) }
}

func atLeastTwo(d decimal.Decimal) string {
	text := d.String()
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return grouped(whole, ",") + "." + fraction
}

// grouped puts a separator between each three digits before the point.
func grouped(number, separator string) string {
	whole, fraction, found := strings.Cut(number, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(separator)
		}
		b.WriteRune(digit)
	}
	if found {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// count writes a number of things.
func count(n int64) string {
	if n < 0 {
		return minus + grouped(strconv.FormatInt(n, 10)[1:], thin)
	}
	return grouped(strconv.FormatInt(n, 10), thin)
}

// counted is a number with the word for it: one turn, two turns.
func counted(n int64, singular string) string {
	if n == 1 {
		return "1 " + singular
	}
	return count(n) + " " + singular + "s"
}

// tokens writes a number of tokens: in full below ten thousand, then with three
// or more digits and a letter.
func tokens(n int64) string {
	scaled := func(unit int64, letter string) string {
		tenths := n / (unit / 10)
		if n%(unit/10) >= unit/20 {
			tenths++
		}
		return fmt.Sprintf("%s.%d%s", grouped(strconv.FormatInt(tenths/10, 10), thin), tenths%10, letter)
	}
	switch {
	case n < 10_000:
		return count(n)
	case n < 999_950:
		return scaled(1_000, "k")
	case n < 999_950_000:
		return scaled(1_000_000, "M")
	}
	return scaled(1_000_000_000, "B")
}

// permille is part of whole in thousandths, rounded half up; ok is false if the
// whole is nothing.
func permille(part, whole int64) (n int64, ok bool) {
	if whole <= 0 {
		return 0, false
	}
	share := decimal.NewFromInt(part).Mul(thousand)
	return share.DivRound(decimal.NewFromInt(whole), 0).IntPart(), true
}

// percent writes a share with one decimal. No traffic is a dash, not 0 %, and
// neither none nor all is said of what is only nearly so.
func percent(part, whole int64) string {
	n, ok := permille(part, whole)
	switch {
	case !ok:
		return none
	case n == 0 && part > 0:
		return "<0.1" + thin + "%"
	case n == 1000 && part < whole:
		return ">99.9" + thin + "%"
	}
	return fmt.Sprintf("%d.%d%s%%", n/10, n%10, thin)
}

// took writes a duration at the precision that matters at its size.
func took(d time.Duration) string {
	switch {
	case d < 0:
		return minus + took(-d)
	case d == 0:
		return "0" + thin + "s"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/1e6, 'f', 2, 64) + thin + "ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + thin + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + thin + "s"
	case d < time.Minute:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + thin + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// moment is a time as text, by the clocks of one zone: short for a table, full for its title and for
// machines.
type moment struct{ Short, Full, Machine string }

// at writes t as seen from now, by the clocks of now's zone: the day is left out on
// the same one.
func at(t, now time.Time) moment {
	if t.IsZero() {
		return moment{Short: none, Full: unknown}
	}
	t = t.In(now.Location())
	zone := "UTC"
	if now.Location() != time.UTC {
		zone = t.Format("-07:00")
	}
	m := moment{Full: t.Format("2006-01-02 15:04:05 ") + zone, Machine: t.Format(time.RFC3339Nano)}
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		m.Short = t.Format(time.TimeOnly)
	case t.Year() == now.Year():
		m.Short = t.Format("Jan 02 15:04:05")
	default:
		m.Short = t.Format("2006-01-02 15:04")
	}
	return m
}

// plain is text from elsewhere made visible: what does not print, or turns the
// direction of what follows, is written as an escape.
func plain(s string) string {
	if s == strings.Map(printing, s) && strings.ToValidUTF8(s, "") == s {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case printing(r) < 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func printing(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

// short keeps an id readable in a table: its beginning and its end.
func short(id string) string {
	runes := []rune(plain(id))
	if len(runes) <= 26 {
		return string(runes)
	}
	return string(runes[:16]) + "…" + string(runes[len(runes)-8:])
}
