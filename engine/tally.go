package engine

import (
	"slices"
	"strings"
	"time"
)

// Tally adds up an [Overview]. The zero Tally is empty. It is not safe for
// concurrent use.
type Tally struct {
	total    Sums
	outcomes map[Outcome]Sums
	routes   map[[2]string]Sums // model, vendor
	slots    map[int64]Sums     // by the second at which they start
}

// Add counts what an overview of q has of a booked turn, in the slot of this width:
// the rows of [SumRoutes] that have the query's vendor and model, if the turn is
// otherwise meant.
func (t *Tally) Add(q Query, b *Booked, width time.Duration) {
	every := q.EveryRoute()
	if !every.Matches(b) {
		return
	}
	for _, row := range SumRoutes(b) {
		if !q.MatchesRoute(row.Model, row.Vendor) {
			continue
		}
		t.AddRoute(row.Model, row.Vendor, b.Outcome, row.Sums)
		t.AddSlot(SlotStart(b.Started, width), row.Sums)
	}
}

// AddRoute counts sums of one route in the total, the outcome of their turns and
// the route.
func (t *Tally) AddRoute(model, vendor string, outcome Outcome, s Sums) {
	if t.outcomes == nil {
		t.outcomes, t.routes = map[Outcome]Sums{}, map[[2]string]Sums{}
	}
	t.total = t.total.Add(s)
	t.outcomes[outcome] = t.outcomes[outcome].Add(s)
	route := [2]string{model, vendor}
	t.routes[route] = t.routes[route].Add(s)
}

// AddSlot counts sums in the slot that starts there, and nowhere else.
func (t *Tally) AddSlot(start time.Time, s Sums) {
	if t.slots == nil {
		t.slots = map[int64]Sums{}
	}
	at := start.Unix()
	t.slots[at] = t.slots[at].Add(s)
}

// Overview is what was counted.
func (t *Tally) Overview(q Query, width time.Duration) Overview {
	o := Overview{Query: q, Total: t.total, Width: width}
	for outcome, s := range t.outcomes {
		o.Outcomes = append(o.Outcomes, OutcomeSums{outcome, s})
	}
	slices.SortFunc(o.Outcomes, func(a, b OutcomeSums) int { return CompareOutcomes(a.Outcome, b.Outcome) })
	for route, s := range t.routes {
		o.Routes = append(o.Routes, RouteSums{Vendor: route[1], Model: route[0], Sums: s})
	}
	slices.SortFunc(o.Routes, func(a, b RouteSums) int {
		if d := strings.Compare(a.Model, b.Model); d != 0 {
			return d
		}
		return strings.Compare(a.Vendor, b.Vendor)
	})
	for at, s := range t.slots {
		o.Series = append(o.Series, Slot{Start: time.Unix(at, 0).UTC(), Sums: s})
	}
	slices.SortFunc(o.Series, func(a, b Slot) int { return a.Start.Compare(b.Start) })
	return o
}
