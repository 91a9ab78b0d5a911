package edit

import (
	"slices"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/pricelist"
	"github.com/warmroute/warmroute/pricing"
)

// dated is a row's price with its source and its day in every period.
func (im *importer) dated(row *pricelist.Row) pricing.Price {
	day := im.stated(row)
	if day == "" {
		day = im.Day
	}
	price := slices.Clone(row.Price)
	for i := range price {
		price[i].Source = im.list.Source + " " + printable(row.Key)
		price[i].AsOf = day
	}
	return price
}

// stated is the day of a row that somebody states; empty where only its file has one,
// which tells when it was copied rather than when it was read.
func (im *importer) stated(row *pricelist.Row) string {
	if im.AsOf != "" {
		return im.AsOf
	}
	return row.AsOf
}

// printable is the key of a list's entry as a source names it.
func printable(key string) string { return strings.Join(strings.Fields(key), " ") }

// isOf says whether every period of a price is of a list.
func isOf(p pricing.Price, list string) bool {
	for i := range p {
		if source := p[i].Source; source != list && !strings.HasPrefix(source, list+" ") {
			return false
		}
	}
	return len(p) > 0
}

// isPublic says whether every period of a price is of a page or of a list: what
// anybody can read, unlike a contract.
func isPublic(p pricing.Price) bool {
	for i := range p {
		list, _, _ := strings.Cut(p[i].Source, " ")
		list, _, _ = strings.Cut(list, ":")
		page := strings.HasPrefix(p[i].Source, "https://") || strings.HasPrefix(p[i].Source, "http://")
		if !page && !slices.Contains(pricelist.Sources(), list) {
			return false
		}
	}
	return len(p) > 0
}

// sourceOf is where a price is from, in words.
func sourceOf(p pricing.Price) string {
	for i := range p {
		if p[i].Source != "" {
			return p[i].Source
		}
	}
	return "no stated source"
}

// newestDay is the latest day that a price states, empty without one.
func newestDay(p pricing.Price) string {
	day := ""
	for i := range p {
		day = max(day, p[i].AsOf)
	}
	return day
}

// anyKnown says whether a price knows anything.
func anyKnown(p pricing.Price) bool {
	for i := range p {
		for _, r := range catalog.KeyedRates(&p[i].Card) {
			if r.Rate.Known() {
				return true
			}
		}
		if len(p[i].Windows)+len(p[i].ServiceTiers)+len(p[i].Tiers) > 0 {
			return true
		}
	}
	return false
}

// priceDifferences are what a list's price would change, and what only the catalog
// knows. The day and the source are no change.
func priceDifferences(was, is pricing.Price) (changes, gone []Difference) {
	from, to := &thing{}, &thing{}
	for _, x := range []struct {
		t *thing
		p pricing.Price
	}{{from, was}, {to, is}} {
		for i := range x.p {
			x.t.period(&x.p[i])
		}
	}
	for _, d := range from.differences(to) {
		switch {
		case strings.HasSuffix(d.Field, ".as_of"), strings.HasSuffix(d.Field, ".source"):
		case d.Kind() == "removed":
			gone = append(gone, d)
		default:
			changes = append(changes, d)
		}
	}
	return changes, gone
}

// aligned is a list's price for the period of the catalog's that it is about: a list
// that knows one price for all times says nothing of the catalog's periods, so it
// is taken for that of its day.
func aligned(was, is pricing.Price) pricing.Price {
	if len(was) < 2 || len(is) != 1 || !is[0].From.IsZero() || !is[0].To.IsZero() {
		return is
	}
	at := &was[len(was)-1]
	if day, err := time.Parse(time.DateOnly, is[0].AsOf); err == nil {
		if s, ok := was.Sheet(day); ok {
			at = s
		}
	}
	only := is[0]
	only.From, only.To = at.From, at.To
	return pricing.Price{only}
}

// mergePrice is the list's price with whatever else the catalog knows of the route.
// why says why the two cannot be joined.
func mergePrice(was, is pricing.Price) (merged pricing.Price, why Reason) {
	merged = slices.Clone(is)
	for i := range merged {
		old, found := periodLike(was, &merged[i])
		if found && !mergeSheet(&merged[i], old) {
			return nil, WindowsDiffer
		}
	}
	for i := range was {
		same := func(s pricing.Sheet) bool { return s.From.Equal(was[i].From) }
		meets := func(s pricing.Sheet) bool { return overlap(&s, &was[i]) }
		switch {
		case slices.ContainsFunc(is, same):
		case !slices.ContainsFunc(is, meets):
			merged = append(merged, was[i])
		case len(was) > 1:
			return nil, PeriodsDiffer
		}
	}
	slices.SortStableFunc(merged, func(a, b pricing.Sheet) int { return a.From.Compare(b.From) })
	return merged, ""
}

// periodLike is the period of the catalog's price that one of the list's continues:
// that of the same beginning, else the one that holds when it begins.
func periodLike(p pricing.Price, s *pricing.Sheet) (*pricing.Sheet, bool) {
	for i := range p {
		if p[i].From.Equal(s.From) {
			return &p[i], true
		}
	}
	if len(p) > 0 && s.From.IsZero() {
		return &p[0], true
	}
	return p.Sheet(s.From)
}

// overlap says whether two periods ever hold at once.
func overlap(a, b *pricing.Sheet) bool {
	return (a.To.IsZero() || b.From.Before(a.To)) && (b.To.IsZero() || a.From.Before(b.To))
}

// mergeSheet fills what a list does not know.
func mergeSheet(s *pricing.Sheet, old *pricing.Sheet) bool {
	mergeBand(&s.Band, &old.Band)
	if !s.Card.Request.Known() {
		s.Card.Request = old.Card.Request
	}
	switch {
	case len(s.Windows) == 0:
		s.Windows = old.Windows
	case len(old.Windows) > 0:
		s.Windows = slices.Clone(s.Windows)
		if len(s.Windows) != len(old.Windows) {
			return false
		}
		for i := range s.Windows {
			if !sameHours(&s.Windows[i], &old.Windows[i]) {
				return false
			}
			mergeBand(&s.Windows[i].Band, &old.Windows[i].Band)
		}
	}
	if len(old.ServiceTiers) > 0 {
		tiers := make(map[string]pricing.Band, len(old.ServiceTiers)+len(s.ServiceTiers))
		for name, band := range s.ServiceTiers {
			if was, ok := old.ServiceTiers[name]; ok {
				mergeBand(&band, &was)
			}
			tiers[name] = band
		}
		for name, band := range old.ServiceTiers {
			if _, ok := tiers[name]; !ok {
				tiers[name] = band
			}
		}
		s.ServiceTiers = tiers
	}
	for _, x := range old.Surcharges {
		if !slices.ContainsFunc(s.Surcharges, func(y pricing.Surcharge) bool { return x.Speed == y.Speed && x.Region == y.Region }) {
			s.Surcharges = append(slices.Clip(s.Surcharges), x)
		}
	}
	return true
}

func sameHours(a, b *pricing.Window) bool {
	zone := func(w *pricing.Window) string {
		if w.Zone == nil {
			return "UTC"
		}
		return w.Zone.String()
	}
	return a.From == b.From && a.To == b.To && slices.Equal(dayRanges(a.Days), dayRanges(b.Days)) && zone(a) == zone(b)
}

func mergeBand(b, old *pricing.Band) {
	mergeCard(&b.Card, &old.Card)
	tiers := slices.Clone(b.Tiers)
	for i := range old.Tiers {
		at := slices.IndexFunc(tiers, func(t pricing.Tier) bool { return t.Above == old.Tiers[i].Above })
		if at < 0 {
			tiers = append(tiers, old.Tiers[i])
			continue
		}
		mergeCard(&tiers[at].Card, &old.Tiers[i].Card)
	}
	slices.SortFunc(tiers, func(x, y pricing.Tier) int { return int(x.Above - y.Above) })
	b.Tiers = tiers
	b.Marginal = len(tiers) > 0 && (b.Marginal || old.Marginal)
}

func mergeCard(c, old *pricing.Card) {
	mine, theirs := catalog.KeyedRates(c), catalog.KeyedRates(old)
	for i := range mine {
		if !mine[i].Rate.Known() {
			*mine[i].Rate = *theirs[i].Rate
		}
	}
}
