package pricelist

import (
	"slices"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// Disagreement is one (model, vendor) pair about which lists differ.
type Disagreement struct {
	Model, Vendor string
	Kinds         []Code   // what it looks like, in the order of the constants
	Fields        []string // which prices differ: "input" … "cache_write_1h", "tiers", "service_tiers", "periods"
	Figures       []Figure // of every list that has the pair, in the order of the arguments of [Compare]

	about map[Code]string // the first field found for each kind
}

// Figure is what one list says about a pair.
type Figure struct {
	List   string         // the list's source
	Row    *Row           // the list's row for the pair, see [List.Routes]
	Period int            // which period of Row.Price was compared
	Card   pricing.Card   // its ordinary prices
	Tiers  []pricing.Tier // its context tiers
}

// Is says whether the disagreement has a kind.
func (d *Disagreement) Is(code Code) bool { return slices.Contains(d.Kinds, code) }

// Compare finds the pairs that two or more lists have and price differently, in the
// order in which the pairs first stand in the lists.
//
// An unknown price disagrees with nothing; a context tier that one list has and
// another lacks does. Of a list's dated prices the period is compared that most
// other lists agree with, the latest of equals, so that a list that is ahead of
// the others is not a disagreement of prices but of periods ([DatedPrice]).
// Compare changes no list.
func Compare(lists ...*List) []Disagreement {
	all, _ := compare(lists)
	return all
}

// compare counts the pairs that two or more of the lists have, too.
func compare(lists []*List) (all []Disagreement, shared int) {
	type pair struct{ model, vendor string }
	at := map[pair]int{}
	for _, l := range lists {
		for _, row := range l.Routes() {
			key := pair{row.Model, row.Vendor}
			i, ok := at[key]
			if !ok {
				i = len(all)
				at[key] = i
				all = append(all, Disagreement{Model: row.Model, Vendor: row.Vendor})
			}
			all[i].Figures = append(all[i].Figures, Figure{List: l.Source, Row: row})
		}
	}
	kept := all[:0]
	for _, d := range all {
		if len(d.Figures) < 2 {
			continue
		}
		shared++
		d.choose()
		d.look()
		if len(d.Kinds) > 0 {
			kept = append(kept, d)
		}
	}
	return kept, shared
}

// choose picks the period of each list that is compared.
func (d *Disagreement) choose() {
	for i := range d.Figures {
		f := &d.Figures[i]
		best := -1
		for p := range f.Row.Price {
			agree := 0
			for j := range d.Figures {
				if j != i && slices.ContainsFunc(d.Figures[j].Row.Price, func(s pricing.Sheet) bool { return same(s.Card, f.Row.Price[p].Card) }) {
					agree++
				}
			}
			if agree >= best {
				best, f.Period = agree, p
			}
		}
		sheet := &f.Row.Price[f.Period]
		f.Card, f.Tiers = sheet.Card, sheet.Tiers
	}
}

// look finds every kind of difference.
func (d *Disagreement) look() {
	for i := range d.Figures {
		for j := range i {
			d.pair(&d.Figures[j], &d.Figures[i])
		}
	}
	slices.SortFunc(d.Kinds, func(a, b Code) int { return slices.Index(kinds, a) - slices.Index(kinds, b) })
	slices.SortFunc(d.Fields, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
}

// kinds is the order of [Disagreement.Kinds].
var kinds = []Code{UnitSlip, Swapped, LostDecimal, RoundedRead, StaleRead, StalePrice, WriteDiffers, TierMissing, TiersDiffer, DatedPrice, ServiceDiffer}

// order is that of [Disagreement.Fields].
var order = append(fields[:], "tiers", "service_tiers", "periods")

func (d *Disagreement) add(code Code, field string) {
	if !slices.Contains(d.Kinds, code) {
		d.Kinds = append(d.Kinds, code)
		if d.about == nil {
			d.about = map[Code]string{}
		}
		d.about[code] = field
	}
	if !slices.Contains(d.Fields, field) {
		d.Fields = append(d.Fields, field)
	}
}

// pair compares two lists.
func (d *Disagreement) pair(a, b *Figure) {
	x, y := rates(&a.Card), rates(&b.Card)
	differs := func(i int) bool { return x[i].Known() && y[i].Known() && !x[i].Equal(*y[i]) }
	slipIn, slipOut := slip(*x[0], *y[0]), slip(*x[1], *y[1])
	switch {
	case differs(0) && differs(1) && x[0].Equal(*y[1]) && x[1].Equal(*y[0]):
		d.add(Swapped, "input")
		d.add(Swapped, "output")
	case slipIn != 0 && slipIn == slipOut:
		for i := range fields {
			if differs(i) {
				d.add(UnitSlip, fields[i])
			}
		}
		return // nothing else can be said of prices in another unit
	case slipIn != 0 && !differs(1):
		d.add(LostDecimal, "input")
	case slipOut != 0 && !differs(0):
		d.add(LostDecimal, "output")
	default:
		for i := range 2 {
			if differs(i) {
				d.add(StalePrice, fields[i])
			}
		}
	}
	if differs(2) {
		if rounded(*x[2], *y[2]) || rounded(*y[2], *x[2]) {
			d.add(RoundedRead, fields[2])
		} else {
			d.add(StaleRead, fields[2])
		}
	}
	for i := 3; i < len(fields); i++ {
		if differs(i) {
			d.add(WriteDiffers, fields[i])
		}
	}
	d.tiers(a, b)
	d.beyond(a.sheet(), b.sheet())
	if len(a.Row.Price) != len(b.Row.Price) {
		d.add(DatedPrice, "periods")
	}
}

func (f *Figure) sheet() *pricing.Sheet { return &f.Row.Price[f.Period] }

// slip is the power of ten between two prices; 0 where there is none.
func slip(a, b pricing.Rate) int {
	if !positive(a) || !positive(b) {
		return 0
	}
	return power(a.Decimal().DivRound(b.Decimal(), 12), near)
}

// near is how far from a power of ten the same figure in another unit may lie, for
// the digits that lists round away.
var near = [2]decimal.Decimal{decimal.New(98, -2), decimal.New(102, -2)}

// power is k where a ratio lies about 10^k, from 10^-8 to 10^8, within bounds; 0
// where it does not or k is 0.
func power(ratio decimal.Decimal, bounds [2]decimal.Decimal) int {
	for k := int32(-8); k <= 8; k++ {
		if at := ratio.Shift(-k); k != 0 && !at.LessThan(bounds[0]) && !at.GreaterThan(bounds[1]) {
			return int(k)
		}
	}
	return 0
}

// rounded says whether a is b rounded to cents, up or to even.
func rounded(a, b pricing.Rate) bool {
	x, y := a.Decimal(), b.Decimal()
	return !x.Equal(y) && (x.Equal(y.Round(2)) || x.Equal(y.RoundBank(2)))
}

// tiers compares context tiers, threshold by threshold.
func (d *Disagreement) tiers(a, b *Figure) {
	for _, t := range a.Tiers {
		i := slices.IndexFunc(b.Tiers, func(u pricing.Tier) bool { return u.Above == t.Above })
		switch {
		case i < 0:
			d.add(TierMissing, "tiers")
		case !same(t.Card, b.Tiers[i].Card):
			d.add(TiersDiffer, "tiers")
		}
	}
	for _, t := range b.Tiers {
		if !slices.ContainsFunc(a.Tiers, func(u pricing.Tier) bool { return u.Above == t.Above }) {
			d.add(TierMissing, "tiers")
		}
	}
}

// beyond compares the service tiers that both lists price.
func (d *Disagreement) beyond(a, b *pricing.Sheet) {
	for name, band := range a.ServiceTiers {
		if other, ok := b.ServiceTiers[name]; ok && !same(band.Card, other.Card) {
			d.add(ServiceDiffer, "service_tiers")
		}
	}
}
