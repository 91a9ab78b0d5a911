package web

import (
	"net/url"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// span is a stretch of time that ends now.
type span struct {
	Name  string
	Ago   time.Duration
	Width time.Duration // of a slot of its series
}

// spans are what can be chosen, shortest first.
var spans = []span{
	{"15m", 15 * time.Minute, time.Minute},
	{"1h", time.Hour, time.Minute},
	{"6h", 6 * time.Hour, time.Minute},
	{"24h", 24 * time.Hour, time.Hour},
	{"7d", 7 * engine.Day, time.Hour},
	{"30d", 30 * engine.Day, engine.Day},
}

// usual is the span of an address that names none.
var usual = spans[3]

// ask is what an address asks for. All of a page's state is in its address.
type ask struct {
	path    string
	span    span
	zone    *time.Location
	unknown string // the zone that was asked for and is none
	kept    string // a key that this page keeps beside those of every page
	values  url.Values
}

// keys of an address that choose among turns or sessions, in the order in which
// they are shown.
var filterKeys = []string{"tenant", "model", "vendor", "outcome", "class", "session"}

// asked reads an address. What it does not know it leaves alone.
func asked(u *url.URL) ask {
	a := ask{path: u.Path, span: usual, values: u.Query()}
	name := a.values.Get("zone")
	zone, ok := engine.Zone(name)
	if !ok {
		zone, a.unknown = time.UTC, name
	}
	a.zone = zone
	for _, s := range spans {
		if s.Name == a.values.Get("range") {
			a.span = s
		}
	}
	return a
}

func (a ask) get(key string) string { return a.values.Get(key) }

// query is what the address means at now. Its beginning is that of a slot, so
// that the first slot is whole.
func (a ask) query(now time.Time) engine.Query {
	return engine.Query{
		Tenant:  a.get("tenant"),
		From:    a.from(now),
		Model:   a.get("model"),
		Vendor:  a.get("vendor"),
		Outcome: engine.Outcome(a.get("outcome")),
		Class:   engine.Class(a.get("class")),
		Session: a.get("session"),
	}
}

// from is the beginning of the span: that of a slot by the clocks of the zone.
func (a ask) from(now time.Time) time.Time {
	start, _ := a.calendar().Slot(now.Add(-a.span.Ago))
	return start.UTC()
}

// calendar cuts the span into its slots.
func (a ask) calendar() engine.Calendar {
	return engine.Calendar{Zone: a.zone, Width: a.span.Width}
}

// filters says whether the address chooses among turns by more than their time.
func (a ask) filters() bool {
	for _, key := range a.keys() {
		if a.get(key) != "" {
			return true
		}
	}
	return false
}

// with is an address below /ui/ that keeps the span and the filters that are
// asked for, and sets the pairs of key and value; an empty value leaves its key
// out. It never keeps a place in a list.
func (a ask) with(path string, pairs ...string) string {
	values := a.clocks()
	if a.span != usual {
		values.Set("range", a.span.Name)
	}
	for _, key := range a.keys() {
		if v := a.get(key); v != "" {
			values.Set(key, v)
		}
	}
	return address(path, values, pairs)
}

// only is with, but keeps the span alone.
func (a ask) only(path string, pairs ...string) string {
	values := a.clocks()
	if a.span != usual {
		values.Set("range", a.span.Name)
	}
	return address(path, values, pairs)
}

// clocks is the zone, as an address has it.
func (a ask) clocks() url.Values {
	if a.zone == time.UTC {
		return url.Values{}
	}
	return url.Values{"zone": {a.zone.String()}}
}

// keys are the filters that this page has.
func (a ask) keys() []string {
	if a.kept == "" {
		return filterKeys
	}
	return append(filterKeys[:len(filterKeys):len(filterKeys)], a.kept)
}

func address(path string, values url.Values, pairs []string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Del(pairs[i])
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// session is the page of one session.
func (a ask) session(tenant string, class engine.Class, id string, pairs ...string) string {
	return address("/ui/session", a.clocks(), append([]string{"tenant", tenant, "class", string(class), "id", id}, pairs...))
}

// turn is the page of one turn.
func (a ask) turn(b *engine.Booked) string {
	return address("/ui/turn", a.clocks(), []string{"tenant", b.Tenant, "id", b.ID})
}

// link is text that leads somewhere.
type link struct {
	Text    string
	URL     string
	Current bool
}

// chip is a filter that is on, and the address without it.
type chip struct{ Name, Value, Without string }

// ranges are the links of the span selector.
func (a ask) ranges() []link {
	links := make([]link, len(spans))
	for i, s := range spans {
		name := s.Name
		if s == usual {
			name = ""
		}
		links[i] = link{Text: s.Name, URL: a.with(a.path, "range", name), Current: s == a.span}
	}
	return links
}

// chips are the filters that are on.
func (a ask) chips() []chip {
	var chips []chip
	for _, key := range a.keys() {
		if v := a.get(key); v != "" {
			chips = append(chips, chip{Name: key, Value: short(v), Without: a.with(a.path, key, "")})
		}
	}
	return chips
}

// address is what the page's address asks for, but the zone and the place in a list.
// ok is false where a form cannot carry it.
func (a ask) address() (pairs [][2]string, ok bool) {
	for _, key := range append([]string{"range", "id"}, a.keys()...) {
		if v := a.get(key); v != "" {
			if v != plain(v) {
				return nil, false
			}
			pairs = append(pairs, [2]string{key, v})
		}
	}
	return pairs, true
}
