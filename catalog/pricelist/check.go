package pricelist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// Check adds flags to the rows of lists that only a comparison can find: prices a
// power of ten off, swapped or far from the median of the model across vendors
// and lists, and what [Compare] finds about the row's pair. With one list it
// compares its vendors. Checking again replaces the flags of the check before.
//
// No price is changed. Where two figures are all there is, both are flagged,
// since nobody can tell which is wrong.
func Check(lists ...*List) {
	models := map[string]*samples{}
	for i, l := range lists {
		for r := range l.Rows {
			l.Rows[r].Flags = slices.DeleteFunc(l.Rows[r].Flags, func(f Flag) bool {
				return f.Code == FarFromMedian || f.Code == PricedTwice || slices.Contains(kinds, f.Code)
			})
		}
		for _, row := range l.Routes() {
			if models[row.Model] == nil {
				models[row.Model] = &samples{}
			}
			models[row.Model].add(i, row)
		}
	}
	for i, l := range lists {
		l.twice()
		for r := range l.Rows {
			models[l.Rows[r].Model].judge(i, &l.Rows[r])
		}
	}
	for _, d := range Compare(lists...) {
		d.flag()
	}
}

// twice flags rows of one list that are about the same thing and differ.
func (l *List) twice() {
	type subject struct{ model, vendor, region, variant string }
	first := make(map[subject]*Row, len(l.Rows))
	for i := range l.Rows {
		row := &l.Rows[i]
		key := subject{row.Model, row.Vendor, row.Region, row.Variant}
		other, ok := first[key]
		switch {
		case !ok:
			first[key] = row
		case !same(row.Price[0].Card, other.Price[0].Card):
			row.twice(other)
			if !other.Has(PricedTwice) {
				other.twice(row)
			}
		}
	}
}

func (r *Row) twice(other *Row) {
	a, b := r.Price[0].Card, other.Price[0].Card
	r.mark(PricedTwice, "", "the list prices %s as well, at %s/%s/%s instead of %s/%s/%s", quote(other.Key), b.Input, b.Output, b.CacheRead, a.Input, a.Output, a.CacheRead)
}

// samples are the prices of one model, one for each vendor of each list.
type samples struct {
	all    []sample
	sorted [2][]decimal.Decimal // of many samples; nil until asked for
}

type sample struct {
	list   int
	vendor string
	rates  [2]pricing.Rate // input, output
}

func (s *samples) add(list int, row *Row) {
	card := row.Price[0].Card
	s.all = append(s.all, sample{list, row.Vendor, [2]pricing.Rate{card.Input, card.Output}})
}

// few is the number of samples up to which a row is left out of its own median.
const few = 16

// median is that of input (0) or output (1) among the others, of the middle two the
// one nearer to the price in question; n is how many there were.
func (s *samples) median(field, list int, vendor string, price decimal.Decimal) (m decimal.Decimal, n int) {
	prices := s.sorted[field]
	if prices == nil {
		for _, x := range s.all {
			if positive(x.rates[field]) && (len(s.all) > few || x.list != list || x.vendor != vendor) {
				prices = append(prices, x.rates[field].Decimal())
			}
		}
		slices.SortFunc(prices, decimal.Decimal.Cmp)
		if len(s.all) > few {
			s.sorted[field] = prices
		}
	}
	n = len(prices)
	if n == 0 {
		return m, 0
	}
	lower, upper := prices[(n-1)/2], prices[n/2]
	if price.Mul(price).LessThan(lower.Mul(upper)) {
		return lower, n
	}
	return upper, n
}

// Bounds of a ratio to the median: of a power of ten, of what is far, and of what
// lies near.
var (
	loose  = [2]decimal.Decimal{decimal.New(75, -2), decimal.New(134, -2)}
	coarse = [2]decimal.Decimal{decimal.New(316, -3), decimal.New(316, -2)}
	far    = [2]decimal.Decimal{decimal.New(25, -2), decimal.New(4, 0)}
	beside = [2]decimal.Decimal{decimal.New(5, -1), decimal.New(2, 0)}
)

func within(d decimal.Decimal, b [2]decimal.Decimal) bool {
	return !d.LessThan(b[0]) && !d.GreaterThan(b[1])
}

func abs(n int) int { return max(n, -n) }

// judge flags one row by the medians of its model.
func (s *samples) judge(list int, row *Row) {
	card := row.Price[0].Card
	if !positive(card.Input) || !positive(card.Output) {
		return
	}
	in, n := s.median(0, list, row.Vendor, card.Input.Decimal())
	out, m := s.median(1, list, row.Vendor, card.Output.Decimal())
	if n == 0 || m == 0 {
		return
	}
	ratioIn, ratioOut := card.Input.Decimal().DivRound(in, 12), card.Output.Decimal().DivRound(out, 12)
	slipIn, slipOut := power(ratioIn, loose), power(ratioOut, loose)
	if slipIn == 0 && slipOut == 0 { // thousands are a unit even where the median is not the vendor's price
		if slipIn, slipOut = power(ratioIn, coarse), power(ratioOut, coarse); min(abs(slipIn), abs(slipOut)) < 3 {
			slipIn, slipOut = 0, 0
		} else {
			slipOut = slipIn
		}
	}
	if min(n, m) == 1 && abs(slipIn) < 2 {
		return // against one figure only a slip of the unit is plain
	}
	switch {
	case slipIn != 0 && slipIn == slipOut:
		row.mark(UnitSlip, "input", "input %s and output %s are about 10^%d times the model's median %s and %s", card.Input, card.Output, slipIn, in, out)
	case card.Output.Below(card.Input) && in.LessThan(out) && within(card.Input.Decimal().DivRound(out, 12), beside) && within(card.Output.Decimal().DivRound(in, 12), beside):
		row.mark(Swapped, "input", "input %s and output %s look exchanged: the model's medians are %s and %s", card.Input, card.Output, in, out)
	case slipOut != 0 && within(ratioIn, beside):
		row.mark(LostDecimal, "output", "output %s is about 10^%d times the model's median %s while input is not", card.Output, slipOut, out)
	case slipIn != 0 && within(ratioOut, beside):
		row.mark(LostDecimal, "input", "input %s is about 10^%d times the model's median %s while output is not", card.Input, slipIn, in)
	default:
		if !within(ratioIn, far) {
			row.mark(FarFromMedian, "input", "input %s is over 4 times, or under a quarter of, the model's median %s", card.Input, in)
		}
		if !within(ratioOut, far) {
			row.mark(FarFromMedian, "output", "output %s is over 4 times, or under a quarter of, the model's median %s", card.Output, out)
		}
	}
}

// flag puts a disagreement on the rows it is about.
func (d *Disagreement) flag() {
	for _, kind := range d.Kinds {
		var about []*Row
		for i := range d.Figures {
			if f := &d.Figures[i]; !f.Row.Has(kind) && d.concerns(kind, f) {
				about = append(about, f.Row)
			}
		}
		field := d.about[kind]
		for _, row := range about {
			row.mark(kind, field, "lists disagree about %s at %s: %s", d.Model, d.Vendor, d.sides(field))
		}
	}
}

// concerns says whether a kind is about this list's figure: a rounded figure is
// about the list that rounds, a missing tier about the list that lacks it, a slip
// is already on the row that is off the median. The rest is about every list.
func (d *Disagreement) concerns(kind Code, f *Figure) bool {
	others := func(is func(g *Figure) bool) bool {
		for i := range d.Figures {
			if g := &d.Figures[i]; g != f && is(g) {
				return true
			}
		}
		return false
	}
	switch kind {
	case RoundedRead:
		return others(func(g *Figure) bool {
			return g.Card.CacheRead.Known() && f.Card.CacheRead.Known() && rounded(f.Card.CacheRead, g.Card.CacheRead)
		})
	case StaleRead:
		return f.Card.CacheRead.Known()
	case TierMissing:
		return others(func(g *Figure) bool { return len(g.Tiers) > len(f.Tiers) })
	case DatedPrice:
		return others(func(g *Figure) bool { return len(g.Row.Price) > len(f.Row.Price) })
	case UnitSlip, LostDecimal:
		if others(func(g *Figure) bool { return g.Row.Has(kind) }) {
			return false
		}
		most := 0
		for i := range d.Figures {
			most = max(most, d.slips(kind, &d.Figures[i]))
		}
		return d.slips(kind, f) == most
	case Swapped:
		return f.Card.Output.Below(f.Card.Input)
	}
	return true
}

// slips counts the lists from which a figure is a power of ten away in the field
// of the kind.
func (d *Disagreement) slips(kind Code, f *Figure) (n int) {
	at := slices.Index(fields[:], d.about[kind])
	if at < 0 {
		return 0
	}
	mine := f.Card
	for i := range d.Figures {
		theirs := d.Figures[i].Card
		if slip(*rates(&mine)[at], *rates(&theirs)[at]) != 0 {
			n++
		}
	}
	return n
}

// sides shows every list's figure for a field.
func (d *Disagreement) sides(field string) string {
	var b strings.Builder
	for i := range d.Figures {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.Figures[i].List + " " + d.Figures[i].show(field))
	}
	return b.String()
}

// show is a list's figure for a field in words.
func (f *Figure) show(field string) string {
	card := f.Card
	if i := slices.Index(fields[:], field); i >= 0 {
		return rates(&card)[i].String()
	}
	switch field {
	case "tiers":
		if len(f.Tiers) == 0 {
			return "none"
		}
		var all []string
		for _, t := range f.Tiers {
			all = append(all, fmt.Sprintf(">%d %s/%s/%s", t.Above, t.Card.Input, t.Card.Output, t.Card.CacheRead))
		}
		return strings.Join(all, " ")
	case "periods":
		return fmt.Sprintf("%d", len(f.Row.Price))
	}
	var all []string
	for name, band := range f.sheet().ServiceTiers {
		all = append(all, fmt.Sprintf("%s %s/%s", name, band.Card.Input, band.Card.Output))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
