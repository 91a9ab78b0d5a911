package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// slot is one card of a sheet: the ordinary one, that of a tier, of a window or of
// a service tier.
type slot struct {
	card pricing.Card
	at   finding
	base *pricing.Card // what it is expected to state too; nil of the ordinary card
}

// sheetAt is where the sheet of a period stands.
func (l *linter) sheetAt(r *Route, s *pricing.Sheet) finding {
	at := l.atRoute(r).in("price")
	if at.node == nil || len(r.Price) < 2 {
		return at.item(0)
	}
	for i, item := range at.node.Content {
		from := time.Time{}
		if n := valueOf(item, "valid_from"); n != nil {
			from, _ = parseMoment(n.Value)
		}
		if from.Equal(s.From) {
			return at.item(i).part(fmt.Sprintf("price %d", i+1))
		}
	}
	return at
}

// slots are the cards of a sheet, in the order in which they are asked for.
func (l *linter) slots(r *Route, s *pricing.Sheet) []slot {
	at := l.sheetAt(r, s)
	all := bandSlots(&s.Band, at, nil)
	base := &s.Card
	for i := range s.Windows {
		all = append(all, bandSlots(&s.Windows[i].Band, at.in("windows").item(i).part(fmt.Sprintf("window %d", i+1)), base)...)
	}
	for _, name := range tierNames(s) {
		band := s.ServiceTiers[name]
		all = append(all, bandSlots(&band, at.in("service_tiers", name).part("service tier "+l.quote(name)), base)...)
	}
	return all
}

func bandSlots(b *pricing.Band, at finding, base *pricing.Card) []slot {
	all := []slot{{b.Card, at, base}}
	for i := range b.Tiers {
		all = append(all, slot{b.Tiers[i].Card, at.in("tiers").item(i).part(fmt.Sprintf("tier %d", i+1)), &b.Card})
	}
	return all
}

// tierNames are the service tiers of a sheet in the order of the alphabet, of very
// many the first.
func tierNames(s *pricing.Sheet) []string {
	names := make([]string, 0, len(s.ServiceTiers))
	for name := range s.ServiceTiers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[:min(len(names), 64)]
}

// inForce is the sheet that holds now, or else the one that held last; nil if
// there was none yet.
func (l *linter) inForce(r *Route) *pricing.Sheet {
	if s, ok := r.Price.Sheet(l.now); ok {
		return s
	}
	for i := len(r.Price) - 1; i >= 0; i-- {
		if !r.Price[i].To.IsZero() && !r.Price[i].To.After(l.now) {
			return &r.Price[i]
		}
	}
	return nil
}

// route judges the prices of one route by themselves.
func (l *linter) route(r *Route) {
	if len(r.Price) == 0 {
		l.say(l.atRoute(r), SeverityWarning, CodeUnknown, "has no price, so its costs are never known and affinity never engages; give the vendor's prices")
		return
	}
	l.periods(r)
	for i := range r.Price {
		s := &r.Price[i]
		if !s.To.IsZero() && !s.To.After(l.now) {
			continue // it is over
		}
		slots := l.slots(r, s)
		for k := range slots {
			l.card(r, &slots[k])
		}
		l.magnitude(r, slots)
		l.missing(r, s, slots)
		l.hourWrites(r, slots[0])
	}
	if s := l.inForce(r); s != nil {
		l.age(r, s)
	}
}

// mostWrite is the dearest write, as a multiple of input, that raises no question:
// the dearest premium that is documented is two.
var mostWrite = decimal.New(25, -1)

// card judges one card.
func (l *linter) card(r *Route, s *slot) {
	c := &s.card
	if !c.Input.Known() || c.Input.Decimal().IsZero() {
		return
	}
	input := c.Input.Decimal()
	for _, read := range []struct {
		key  string
		rate pricing.Rate
	}{{"cache_read", c.CacheRead}, {"cache_read_implicit", c.CacheReadImplicit}} {
		switch {
		case !read.rate.Known():
		case read.rate.Decimal().IsZero():
			if !r.Vendor.AllowPrivate && r.Cache.Family != None {
				l.say(s.at.in(read.key), SeverityWarning, CodeZero, "%s is 0, which is free, and input is %s; is it really, or is it unknown? remove the key if nobody says so", read.key, c.Input)
			}
		case !read.rate.Below(c.Input):
			l.say(s.at.in(read.key), SeverityWarning, CodeReadInput, "%s %s is not below input %s, so a warm cache is never preferred here; check both, and silence this if the vendor really charges so", read.key, read.rate, c.Input)
		}
	}
	for _, write := range []struct {
		key  string
		rate pricing.Rate
	}{{"cache_write", c.CacheWrite5m}, {"cache_write_1h", c.CacheWrite1h}} {
		switch {
		case !write.rate.Known():
		case write.rate.Decimal().IsZero():
			severity := SeverityNote // a vendor that caches by itself mostly reports no writes
			if r.Cache.Family == Explicit {
				severity = SeverityWarning
			}
			if !r.Vendor.AllowPrivate {
				l.say(s.at.in(write.key), severity, CodeZero, "%s is 0, so whatever the vendor reports as written is booked as free; is it really, or is it unknown? remove the key if writes cost what input does", write.key)
			}
		case write.rate.Below(c.Input):
			l.say(s.at.in(write.key), SeverityWarning, CodeWrite, "%s %s is below input %s: no vendor sells a write for less than the prompt itself; check it, and leave the key out if writes cost what input does", write.key, write.rate, c.Input)
		case write.rate.Decimal().GreaterThan(input.Mul(mostWrite)):
			l.say(s.at.in(write.key), SeverityWarning, CodeWrite, "%s %s is %s times input %s, and writes cost at most twice as a rule; check it", write.key, write.rate, times(write.rate.Decimal(), input), c.Input)
		}
	}
	if out := c.Output; out.Known() && !out.Decimal().IsZero() && out.Below(c.Input) {
		l.say(s.at.in("output"), SeverityWarning, CodeOrder, "output %s is below input %s; are the two swapped?", out, c.Input)
	}
}

// times is how many times b goes into a, with one decimal.
func times(a, b decimal.Decimal) string { return a.Div(b).Round(1).String() }

// rateOf is a price of a card by its key.
func rateOf(c *pricing.Card, key string) pricing.Rate {
	for _, r := range KeyedRates(c) {
		if r.Key == key {
			return *r.Rate
		}
	}
	return pricing.Rate{}
}

// magnitude finds prices in another unit than the file's: once for each sheet.
func (l *linter) magnitude(r *Route, slots []slot) {
	for i := range slots {
		for _, key := range rateKeys {
			rate := rateOf(&slots[i].card, key)
			d := rate.Decimal()
			if !outOfBounds(d) {
				continue
			}
			at := slots[i].at.in(key)
			switch usual, by, unit := usualPrice(d); {
			case unit != "":
				l.say(at, SeverityWarning, CodeMagnitude, "%s is %s per million tokens, and %s would be usual, %s, so this is most likely a price %s; write it for the unit of the file, or set unit: for the whole file", key, rate, usual, by, unit)
			case usual != "":
				l.say(at, SeverityWarning, CodeMagnitude, "%s is %s per million tokens, and %s would be usual, %s; check the unit of the file, and the digits", key, rate, usual, by)
			default:
				l.say(at, SeverityWarning, CodeMagnitude, "%s is %s per million tokens, outside 0.001 to 1000; check the unit of the file, and the digits", key, rate)
			}
			return
		}
	}
}

// outOfBounds says whether a price is most likely one for another unit.
func outOfBounds(d decimal.Decimal) bool {
	return !d.IsZero() && (d.LessThan(ordinaryLow) || d.GreaterThan(ordinaryHigh))
}

// usualPrice is what a price out of bounds would be in the unit it was most likely
// written for; unit is empty where that is not clear, usual where no unit gives one.
func usualPrice(d decimal.Decimal) (usual, by, unit string) {
	for _, slip := range []struct {
		shift    int32
		by, unit string
	}{
		{6, "a million times more", "per token"},
		{3, "a thousand times more", "per thousand"},
		{-6, "a million times less", ""},
		{-3, "a thousand times less", ""},
	} {
		x := d.Shift(slip.shift)
		if (slip.shift > 0) == d.LessThan(ordinaryLow) && x.GreaterThanOrEqual(decimal.New(1, -2)) && x.LessThanOrEqual(decimal.New(200, 0)) {
			return x.String(), slip.by, slip.unit
		}
	}
	return "", "", ""
}

// missing finds what a sheet leaves unknown: input and output at all, and in a
// tier, a window or a service tier what the ordinary card states, since that is not
// inherited.
func (l *linter) missing(r *Route, s *pricing.Sheet, slots []slot) {
	ordinary := &slots[0].card
	var gone []string
	for _, key := range []string{"input", "output"} {
		if !rateOf(ordinary, key).Known() {
			gone = append(gone, key)
		}
	}
	if len(gone) > 0 {
		l.say(slots[0].at, SeverityWarning, CodeUnknown, "%s not known, so what a turn costs here is not known either; give the vendor's price", are(gone))
	}
	for i := range slots[1:] {
		other := &slots[i+1]
		var costs, reads []string
		for _, key := range rateKeys {
			if !rateOf(other.base, key).Known() || rateOf(&other.card, key).Known() {
				continue
			}
			if key == "input" || key == "output" {
				costs = append(costs, key)
			} else if r.Cache.Family != None {
				reads = append(reads, key)
			}
		}
		if len(costs) > 0 {
			l.say(other.at, SeverityWarning, CodeUnknown, "%s not known here, and nothing is inherited, so what such a turn costs is not known; state it, even where it is the same", are(append(costs, reads...)))
		} else if len(reads) > 0 {
			l.say(other.at, SeverityNote, CodeUnknown, "%s not known here, and nothing is inherited; state it, even where it is the same", are(reads))
		}
	}
	if len(s.Tiers) == 0 {
		return
	}
	above := "prompts above " + thousands(int(s.Tiers[0].Above)) + " tokens have no price here, since the tiers beside it are not inherited; add tiers:, even where they are the same"
	for i := range s.Windows {
		if len(s.Windows[i].Band.Tiers) == 0 {
			l.say(l.sheetAt(r, s).in("windows").item(i).part(fmt.Sprintf("window %d", i+1)), SeverityWarning, CodeUnknown, "%s", above)
		}
	}
	for _, name := range tierNames(s) {
		if len(s.ServiceTiers[name].Tiers) == 0 {
			l.say(l.sheetAt(r, s).in("service_tiers", name).part("service tier "+l.quote(name)), SeverityWarning, CodeUnknown, "%s", above)
		}
	}
}

// are is "a, b and c are".
func are(words []string) string {
	if len(words) == 1 {
		return words[0] + " is"
	}
	return andList(words) + " are"
}

// andList is "a, b and c".
func andList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// hourWrites finds routes whose writes for an hour would be booked at the input
// price.
func (l *linter) hourWrites(r *Route, s slot) {
	c := &s.card
	if r.Cache.Family != Explicit || c.CacheWrite1h.Known() || !c.Input.Known() || r.Vendor.AllowPrivate {
		return
	}
	severity := SeverityNote
	if fact, ok := factOf(r); ok {
		if !fact.hour {
			return // its vendor documents its cache, and no such writes
		}
		severity = SeverityWarning
	}
	l.say(s.at, severity, CodeWrite1h, "cache_write_1h is not known, so writes that a request asks to keep for an hour are booked at the input price, about half of what they cost; give the price, or silence this if the vendor has no such writes")
}

// ages and ends.
const (
	oldest   = 45 * 24 * time.Hour
	soonOver = 14 * 24 * time.Hour
)

// age judges when the prices in force were read.
func (l *linter) age(r *Route, s *pricing.Sheet) {
	at := l.sheetAt(r, s)
	read, err := time.Parse(time.DateOnly, s.AsOf)
	var gone []string
	if s.AsOf == "" {
		gone = append(gone, "as_of")
	}
	if s.Source == "" {
		gone = append(gone, "source")
	}
	if len(gone) > 0 && !r.Vendor.AllowPrivate {
		l.say(at, SeverityNote, CodeUndated, "%s not stated, so nobody can tell whether the prices still hold; write the day they were read and where", are(gone))
	}
	switch {
	case s.AsOf == "" || err != nil:
	case read.After(l.now.Add(24 * time.Hour)): // it may be tomorrow elsewhere
		l.say(at.in("as_of"), SeverityWarning, CodeAge, "as_of %s is yet to come; write the day on which the prices were read", s.AsOf)
	case l.now.Sub(read) > oldest:
		l.say(at.in("as_of"), SeverityWarning, CodeAge, "the prices were read on %s, %d days ago; compare them with the vendor's page, then set as_of", s.AsOf, int(l.now.Sub(read).Hours()/24))
	}
}

// periods judges the time that a route's prices leave out.
func (l *linter) periods(r *Route) {
	for i := range r.Price {
		s := &r.Price[i]
		switch {
		case i == 0 && s.From.After(l.now):
			l.say(l.sheetAt(r, s).in("valid_from"), SeverityWarning, CodeGap, "no price holds until %s, so costs before are unknown; give the price of today", boundText(s.From))
		case i > 0 && s.From.After(l.now) && r.Price[i-1].To.Before(s.From):
			l.say(l.sheetAt(r, s).in("valid_from"), SeverityWarning, CodeGap, "no price holds from %s to %s, so costs of that time are unknown; give it, or let the periods meet", boundText(r.Price[i-1].To), boundText(s.From))
		}
	}
	last := &r.Price[len(r.Price)-1]
	at := l.sheetAt(r, last).in("valid_to")
	switch left := last.To.Sub(l.now); {
	case last.To.IsZero():
	case left <= 0:
		l.say(at, SeverityWarning, CodeEnds, "the last price ended on %s, so costs are unknown since; give the price of today", boundText(last.To))
	case left <= soonOver:
		l.say(at, SeverityWarning, CodeEnds, "the price ends on %s and nothing follows, so costs will be unknown; add the next price, or remove valid_to", boundText(last.To))
	}
}

// boundText is a bound of a period as it is written.
func boundText(t time.Time) string {
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format(time.RFC3339)
}
