package main

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// print is the matrix for people: one table of routes, and one square for each
// question that two routes answer.
func (m *matrix) print(to io.Writer) error {
	fmt.Fprintf(to, "%s at %s%s: a prompt of %d tokens, %d of them new, and an answer of %d; %s per million tokens, turns in %s\n\n",
		m.Model, m.At.Format(time.RFC3339), optional(", service tier %s", m.Tier), m.Prompt, m.New, m.Output, m.Currency, m.Currency)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "#\tvendor\tinput\tread\twrite\toutput\twarm turn\tcold turn\twrites pay after\tgate\n")
	for i, r := range m.Routes {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, r.Vendor, dash(r.Price.Input), dash(r.Price.CacheRead), dash(r.Price.CacheWrite), r.Price.outputText(), rounded(r.Warm), rounded(r.Cold), r.paidBack(), r.gate())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(m.Pairs) == 0 {
		return nil
	}
	for _, square := range []struct {
		title string
		cell  func(*matrixPair) string
	}{
		{"whose warm cache (row) beats whose fresh input (column), as the gate asks", (*matrixPair).beats},
		{"tokens of warm prefix for which this turn costs less where it is warm (row) than at the other, cold (column)", func(p *matrixPair) string { return sided(p.prefix, tokens) }},
		{"turns, this one included, for which moving from row to column costs less in all", (*matrixPair).turnsText},
		{"share of a prompt read from the cache for which row costs less than column", func(p *matrixPair) string { return sided(p.crossing, percent) }},
	} {
		if err := m.square(to, square.title, square.cell); err != nil {
			return err
		}
	}
	return nil
}

// square prints one cell for every pair; a dot where no request can go to both.
func (m *matrix) square(to io.Writer, title string, cell func(*matrixPair) string) error {
	fmt.Fprintf(to, "\n%s:\n", title)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t\t")
	for k := range m.Routes {
		fmt.Fprintf(w, "%d\t", k+1)
	}
	fmt.Fprintln(w)
	next := 0
	for i, row := range m.Routes {
		fmt.Fprintf(w, "%d\t%s\t", i+1, row.Vendor)
		for _, column := range m.Routes {
			text := "."
			if next < len(m.Pairs) && m.Pairs[next].Pinned == row.Vendor && m.Pairs[next].Rival == column.Vendor {
				text = cell(&m.Pairs[next])
				next++
			}
			fmt.Fprintf(w, "%s\t", text)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func (p *matrixPair) beats() string {
	switch pricing.Reason(p.Reason) {
	case pricing.Pays:
		return "yes"
	case pricing.PriceUnknown:
		return "?"
	case pricing.NotBelowOwnInput:
		return "own"
	}
	if p.equal {
		return "="
	}
	return "no"
}

func (p *matrixPair) turnsText() string {
	switch {
	case p.Turns.When == pricing.CannotTell:
		return "?"
	case p.Turns.Least != nil:
		return *p.Turns.Least
	case p.Turns.When == pricing.Below:
		return sided(p.turns, tokens)
	}
	return string(p.Turns.When)
}

// sided is a break-even with its side.
func sided(p pricing.Point, number func(p pricing.Point) string) string {
	switch p.When {
	case pricing.CannotTell:
		return "?"
	case pricing.Above:
		return ">" + number(p)
	case pricing.Below:
		return "<" + number(p)
	}
	return string(p.When)
}

// tokens is a whole number that says the same as the exact one of what is counted
// in wholes: more than 15700.4 is more than 15700, fewer is fewer than 15701.
func tokens(p pricing.Point) string {
	n := new(big.Int).Div(p.At.Num(), p.At.Denom())
	if p.When == pricing.Below && !p.At.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return n.String()
}

func percent(p pricing.Point) string {
	return new(big.Rat).Mul(p.At, big.NewRat(100, 1)).FloatString(1) + "%"
}

// rounded is an amount to a hundredth of a thousandth.
func rounded(text *string) string {
	if text == nil {
		return "?"
	}
	return decimal.RequireFromString(*text).Round(5).String()
}

// paidBack says after how many reads writes have paid for themselves, for five
// minutes and for an hour.
func (r *matrixRoute) paidBack() string {
	var parts []string
	for _, p := range []struct {
		label string
		point matrixPoint
		price *string
	}{{"", r.PayBack, r.Price.CacheWrite}, {"1h: ", r.PayBack1h, r.Price.CacheWrite1h}} {
		switch {
		case p.price == nil:
		case p.point.When == pricing.CannotTell:
			parts = append(parts, p.label+"?")
		case p.point.When == pricing.Never:
			parts = append(parts, p.label+"never")
		case p.point.Least != nil && *p.point.Least == "1":
			parts = append(parts, p.label+"1 read")
		case p.point.Least != nil:
			parts = append(parts, p.label+*p.point.Least+" reads")
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func (r *matrixRoute) gate() string {
	switch pricing.Reason(r.Reason) {
	case pricing.Pays:
		return "pays"
	case pricing.PriceUnknown:
		return "price unknown"
	case pricing.NotBelowOwnInput:
		return "not below own input"
	}
	return "not below " + r.Rival
}
