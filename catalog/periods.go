package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// maxPeriods is how many periods one price may have.
const maxPeriods = 64

// period is a price that holds for some time, and where it stands.
type period struct {
	sheet    pricing.Sheet
	item     *yaml.Node
	from, to *yaml.Node // of its bounds; nil where it has none
}

// at is where the period begins in the file, as far as it says so.
func (p *period) at() *yaml.Node {
	if p.from != nil {
		return p.from
	}
	return p.item
}

// price reads a route's prices: one mapping, or a list of mappings that each hold
// for a period of their own.
//
// The list may stand in any order, oldest first or newest first. No two periods may
// overlap: then two prices would hold at once. Between two that do not meet the
// price is unknown, which is a warning.
func (b *builder) price(n *yaml.Node, where string) pricing.Price {
	if n.Kind != yaml.SequenceNode {
		if p, ok := b.period(n, where); ok {
			return pricing.Price{p.sheet}
		}
		return nil
	}
	switch {
	case len(n.Content) == 0:
		b.fail(n, where, "price is an empty list; remove the key or give a price")
	case len(n.Content) > maxPeriods:
		b.fail(n, where, "price has more than %d periods; remove those that are long over", maxPeriods)
		return nil
	}
	var all []period
	for i, item := range n.Content {
		if p, ok := b.period(item, fmt.Sprintf("%s, price %d", where, i+1)); ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(x, y period) int { return x.sheet.From.Compare(y.sheet.From) }) // the zero time is no bound, and first
	price := make(pricing.Price, len(all))
	for i := range all {
		price[i] = all[i].sheet
		if i > 0 {
			b.meet(&all[i-1], &all[i], where)
		}
	}
	return price
}

// meet judges two periods of which one begins no earlier than the other.
func (b *builder) meet(first, second *period, where string) {
	end, begin := first.sheet.To, second.sheet.From
	switch {
	case begin.Equal(first.sheet.From):
		b.fail(second.at(), where, "begins when another price does, %s, so two would hold at once; give the later one its own valid_from", both(first.at(), second.at()))
	case first.to == nil:
		b.fail(second.from, where, "overlaps another price, %s, so two would hold at once; end the other with valid_to: %s", both(first.at(), second.from), second.from.Value)
	case end.After(begin):
		b.fail(second.from, where, "overlaps another price, %s, so two would hold at once; end the other no later than %s, its valid_to is %s", both(first.to, second.from), second.from.Value, first.to.Value)
	case end.Before(begin):
		b.warn(second.from, where, "no price holds from %s to %s, %s, so costs of that time are unknown", first.to.Value, second.from.Value, both(first.to, second.from))
	}
}

// period reads one price with its bounds.
func (b *builder) period(n *yaml.Node, where string) (p period, ok bool) {
	o, ok := b.fixed(n, where, "price", keysIn[sheetShape]()...)
	if !ok {
		return p, false
	}
	p.item, p.sheet = n, b.sheet(&o, where)
	if p.from = o.get("valid_from"); p.from != nil {
		p.sheet.From, ok = b.moment(p.from, where, "valid_from")
	}
	if p.to = o.get("valid_to"); p.to != nil {
		var readable bool
		p.sheet.To, readable = b.moment(p.to, where, "valid_to")
		ok = ok && readable
	}
	if ok && p.from != nil && p.to != nil && !p.sheet.From.Before(p.sheet.To) {
		b.fail(p.to, where, "valid_to %s is not after valid_from %s, so the price would never hold; valid_to is the first moment at which it no longer does", p.to.Value, p.from.Value)
		ok = false
	}
	return p, ok
}

// The years of which prices are known or promised. A slip in a year's digits lies
// outside.
const firstYear, lastYear = 2000, 2199

// moment reads the bound of a period: a day, which begins at 00:00 UTC, or a time
// with its offset from UTC.
func (b *builder) moment(n *yaml.Node, where, what string) (at time.Time, ok bool) {
	text, ok := b.text(n, where, what)
	if !ok {
		return time.Time{}, false
	}
	at, ok = parseMoment(text)
	switch {
	case !ok:
		b.fail(n, where, "%s %s is neither a day such as 2026-08-21 nor a time such as 2026-08-16T16:00:00Z", what, b.quote(text))
	case at.Year() < firstYear || at.Year() > lastYear:
		b.fail(n, where, "%s %s is not a year of any price; write one from %d to %d", what, b.quote(text), firstYear, lastYear)
		return at, false
	}
	return at, ok
}

// rfc3339 is the text of a time in the form that all readers take for the same
// moment: time.Parse lets more pass.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$`)

// parseMoment reads a day or a time of RFC 3339, as a moment in UTC.
func parseMoment(text string) (at time.Time, ok bool) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, true
	}
	if !rfc3339.MatchString(text) {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err == nil
}
