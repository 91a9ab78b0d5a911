package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// maxWindows is how many windows one price may have.
const maxWindows = 64

// week is the length of a week; windows repeat after it.
const week = 7 * 24 * time.Hour

var dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // by time.Weekday

// windows reads the hours at which other prices hold. None may overlap another:
// then two prices would hold at once.
func (b *builder) windows(n *yaml.Node, where string) []pricing.Window {
	var all []pricing.Window
	var spans [][]span
	var nodes []*yaml.Node
	items := b.list(n, where, "windows", `[{from: "01:00", to: "04:00", zone: UTC, input: 1}]`)
	if len(items) > maxWindows {
		b.fail(n, where, "windows has more than %d entries; join some of them", maxWindows)
		return nil
	}
	for i, item := range items {
		at := fmt.Sprintf("%s, window %d", where, i+1)
		w, ok := b.window(item, at)
		if !ok {
			continue
		}
		mine := spansOf(&w)
		for k := range all {
			if b.zones.overlap(mine, w.Zone, spans[k], all[k].Zone) {
				b.fail(item, at, "overlaps another window, %s, so two prices would hold at once; move the hours of one", both(nodes[k], item))
				break
			}
		}
		all, spans, nodes = append(all, w), append(spans, mine), append(nodes, item)
	}
	return all
}

func (b *builder) window(item *yaml.Node, where string) (w pricing.Window, ok bool) {
	o, ok := b.fixed(item, where, "a window", keysIn[windowShape]()...)
	if !ok {
		return w, false
	}
	if n := o.get("days"); n != nil {
		ok = b.days(n, where, &w.Days)
	}
	var from, to bool
	if n := b.need(&o, "from", `give the hour it begins, such as "01:00"`); n != nil {
		w.From, from = b.clock(n, where, "from", false)
	}
	if n := b.need(&o, "to", `give the hour it ends, such as "04:00"`); n != nil {
		w.To, to = b.clock(n, where, "to", true)
	}
	if from && to && w.From == w.To {
		b.fail(o.get("to"), where, `from and to are the same hour; for a whole day write from "00:00" to "24:00"`)
		to = false
	}
	if n := b.need(&o, "zone", "name the zone of its hours, such as UTC or Asia/Shanghai"); n != nil {
		w.Zone = b.zone(n, where)
	}
	w.Band = b.band(&o, where)
	if !o.partial && !slices.ContainsFunc(append(rateKeys[:len(rateKeys):len(rateKeys)], "tiers"), func(name string) bool { return o.get(name) != nil }) {
		b.fail(item, where, "has no price, so it would make every price unknown; give one such as input: 1, or remove the window")
	}
	return w, ok && from && to && w.Zone != nil
}

// days reads days and ranges of days; a range may run over the week's end.
func (b *builder) days(n *yaml.Node, where string, days *[7]bool) (ok bool) {
	ok = true
	items := b.list(n, where, "days", "[mon-fri]")
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		b.fail(n, where, "days is an empty list; remove the key for every day")
	}
	for _, item := range items {
		text, readable := b.text(item, where, "days entry")
		if !readable {
			ok = false
			continue
		}
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, to := slices.Index(dayNames, first), slices.Index(dayNames, last)
		if from < 0 || to < 0 {
			b.fail(item, where, "days: %s is no day; write mon, tue, wed, thu, fri, sat, sun or a range such as mon-fri", b.quote(text))
			ok = false
			continue
		}
		for day := from; ; day = (day + 1) % 7 {
			if days[day] {
				b.fail(item, where, "days: %s is named twice; name each day once", dayNames[day])
				ok = false
				break
			}
			days[day] = true
			if day == to {
				break
			}
		}
	}
	return ok && n.Kind == yaml.SequenceNode
}

// clock reads an hour of the day: 15:04 or 15:04:05, and 24:00 as an end.
func (b *builder) clock(n *yaml.Node, where, what string, end bool) (since time.Duration, ok bool) {
	text, ok := b.text(n, where, what)
	if !ok {
		return 0, false
	}
	if end && text == "24:00" {
		return 24 * time.Hour, true
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
			return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), true
		}
	}
	b.fail(n, where, `%s %s is not an hour of the day, such as "01:00"`, what, b.quote(text))
	return 0, false
}

// zone reads the name of a time zone.
func (b *builder) zone(n *yaml.Node, where string) *time.Location {
	name, ok := b.text(n, where, "zone")
	if !ok {
		return nil
	}
	zone, ok := b.zones.load(name)
	if !ok {
		b.fail(n, where, "zone %s is not known; use UTC or a name of the zone database such as Asia/Shanghai", b.quote(name))
	}
	return zone
}

// zones keeps the zones of one file and how far their clocks are apart.
type zones struct {
	known map[string]*time.Location
	apart map[[2]*time.Location][]time.Duration
}

func (z *zones) load(name string) (*time.Location, bool) {
	if zone, ok := z.known[name]; ok {
		return zone, zone != nil
	}
	var zone *time.Location
	if name != "Local" && len(name) <= 64 {
		zone, _ = time.LoadLocation(name)
		if zone != nil && zone.String() != name { // "" is read as UTC
			zone = nil
		}
	}
	if z.known == nil {
		z.known = map[string]*time.Location{}
	}
	z.known[name] = zone
	return zone, zone != nil
}

// differences are the durations by which a's clock was ahead of b's in the
// reference years. They change where either observes summer time.
func (z *zones) differences(a, b *time.Location) []time.Duration {
	if a == b {
		return []time.Duration{0}
	}
	pair := [2]*time.Location{a, b}
	if known, ok := z.apart[pair]; ok {
		return known
	}
	var all []time.Duration
	at, end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	for at.Before(end) {
		_, ahead := at.In(a).Zone()
		_, behind := at.In(b).Zone()
		if d := time.Duration(ahead-behind) * time.Second; !slices.Contains(all, d) {
			all = append(all, d)
		}
		next := end
		for _, zone := range pair {
			if _, until := at.In(zone).ZoneBounds(); until.After(at) && until.Before(next) {
				next = until
			}
		}
		at = next
	}
	if z.apart == nil {
		z.apart = map[[2]*time.Location][]time.Duration{}
	}
	z.apart[pair] = all
	return all
}

// overlap says whether two sets of hours, each by the clock of its own zone,
// ever hold at once.
func (z *zones) overlap(a []span, za *time.Location, b []span, zb *time.Location) bool {
	for _, ahead := range z.differences(za, zb) {
		for _, x := range a {
			for _, y := range b {
				// x begins inside y, or y inside x, on the circle of the week.
				offset := (x.from - ahead - y.from + 2*week) % week
				if offset < y.length || week-offset < x.length {
					return true
				}
			}
		}
	}
	return false
}

// span is a stretch of the week since Sunday midnight, local time.
type span struct{ from, length time.Duration }

func spansOf(w *pricing.Window) []span {
	length := w.To - w.From
	if length <= 0 {
		length += 24 * time.Hour
	}
	var all []span
	for day := range w.Days {
		if w.Days[day] || w.Days == [7]bool{} {
			all = append(all, span{time.Duration(day)*24*time.Hour + w.From, length})
		}
	}
	return all
}
