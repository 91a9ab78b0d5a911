package web_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// shelf answers from a slice of booked turns, slowly and plainly.
type shelf []engine.Booked

func (s shelf) meant(q engine.Query) []engine.Booked {
	var out []engine.Booked
	for i := range s {
		if q.Matches(&s[i]) {
			out = append(out, s[i])
		}
	}
	slices.SortStableFunc(out, func(a, b engine.Booked) int { return a.Place().Compare(b.Place()) })
	return out
}

func (s shelf) Overview(_ context.Context, q engine.Query, width time.Duration) (engine.Overview, error) {
	o := engine.Overview{Query: q, Width: engine.SlotWidth(width)}
	add := func(b *engine.Booked, row engine.RouteSums) {
		sums := row.Sums
		o.Total = o.Total.Add(sums)
		at := slices.IndexFunc(o.Outcomes, func(x engine.OutcomeSums) bool { return x.Outcome == b.Outcome })
		if at < 0 {
			at, o.Outcomes = len(o.Outcomes), append(o.Outcomes, engine.OutcomeSums{Outcome: b.Outcome})
		}
		o.Outcomes[at].Sums = o.Outcomes[at].Sums.Add(sums)
		at = slices.IndexFunc(o.Routes, func(x engine.RouteSums) bool { return x.Vendor == row.Vendor && x.Model == row.Model })
		if at < 0 {
			at, o.Routes = len(o.Routes), append(o.Routes, engine.RouteSums{Vendor: row.Vendor, Model: row.Model})
		}
		o.Routes[at].Sums = o.Routes[at].Sums.Add(sums)
		start := engine.SlotStart(b.Started, o.Width)
		at = slices.IndexFunc(o.Series, func(x engine.Slot) bool { return x.Start.Equal(start) })
		if at < 0 {
			at, o.Series = len(o.Series), append(o.Series, engine.Slot{Start: start})
		}
		o.Series[at].Sums = o.Series[at].Sums.Add(sums)
	}
	for _, b := range s.meant(q.EveryRoute()) {
		for _, row := range engine.SumRoutes(&b) {
			if q.MatchesRoute(row.Model, row.Vendor) {
				add(&b, row)
			}
		}
	}
	slices.SortFunc(o.Outcomes, func(a, b engine.OutcomeSums) int { return engine.CompareOutcomes(a.Outcome, b.Outcome) })
	slices.SortFunc(o.Routes, func(a, b engine.RouteSums) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Vendor, b.Vendor))
	})
	slices.SortFunc(o.Series, func(a, b engine.Slot) int { return a.Start.Compare(b.Start) })
	return o, nil
}

func (s shelf) Turns(_ context.Context, q engine.Query, p engine.Page) ([]engine.Booked, string, error) {
	return part(s.meant(q), p)
}

func (s shelf) Turn(_ context.Context, tenant, id string) (engine.Booked, bool, error) {
	for _, b := range s {
		if b.Tenant == tenant && b.ID == id {
			return b, true, nil
		}
	}
	return engine.Booked{}, false, nil
}

func (s shelf) books() []engine.SessionBook {
	turns := shelf(s.meant(engine.Query{}))
	slices.SortStableFunc(turns, func(a, b engine.Booked) int { return a.Started.Add(a.Took).Compare(b.Started.Add(b.Took)) })
	said := turns.judged()
	var books []engine.SessionBook
	for i := range turns {
		b := &turns[i]
		if b.Session == "" {
			continue
		}
		at := slices.IndexFunc(books, func(x engine.SessionBook) bool {
			return x.Tenant == b.Tenant && x.Class == b.Class && x.ID == b.Session
		})
		if at < 0 {
			at, books = len(books), append(books, engine.SessionBook{})
		}
		books[at].Add(b)
		if account := said[i].Account; len(account) > 0 {
			sum := sim.Auditor{}.Sum()
			if books[at].Account != nil {
				sum.Add(books[at].Account)
			}
			sum.Add(account)
			books[at].Account = sum.Account()
		}
	}
	slices.SortStableFunc(books, func(a, b engine.SessionBook) int { return a.Place().Compare(b.Place()) })
	return books
}

func (s shelf) Sessions(_ context.Context, q engine.Query, p engine.Page) ([]engine.SessionBook, string, error) {
	books := slices.DeleteFunc(s.books(), func(b engine.SessionBook) bool { return !q.MatchesSession(&b) })
	return part(books, p)
}

func (s shelf) Session(_ context.Context, tenant string, class engine.Class, id string) (engine.SessionBook, bool, error) {
	for _, b := range s.books() {
		if b.Tenant == tenant && b.Class == class && b.ID == id {
			return b, true, nil
		}
	}
	return engine.SessionBook{}, false, nil
}

// part is a page of a list; its places are plain numbers.
func part[T any](list []T, p engine.Page) ([]T, string, error) {
	from := 0
	if p.After != "" {
		n, err := strconv.Atoi(p.After)
		if err != nil || n > len(list) {
			return nil, "", engine.ErrPage
		}
		from = n
	}
	to := min(from+p.Size(), len(list))
	if to == len(list) {
		return list[from:], "", nil
	}
	return list[from:to], strconv.Itoa(to), nil
}
