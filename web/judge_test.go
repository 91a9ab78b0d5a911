package web_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// billed is the catalog of the seeded turns.
var billed = sync.OnceValue(func() *catalog.Catalog {
	text, err := os.ReadFile("testdata/catalog.yaml")
	if err != nil {
		panic(err)
	}
	c, err := catalog.Parse("catalog.yaml", text)
	if err != nil {
		panic(err)
	}
	return c
})

// routeOf is a route of that catalog; nil where it has none.
func routeOf(model, vendor string) *catalog.Route {
	target, ok := billed().Resolve(model)
	if !ok {
		return nil
	}
	for _, r := range target.Models[0].Routes {
		if r.Vendor.Name == vendor {
			return r
		}
	}
	return nil
}

// served is a booked turn as it was before it was booked.
func served(b *engine.Booked) engine.Turn {
	t := engine.Turn{
		ID: b.ID, Tenant: b.Tenant, API: b.API, Started: b.Started, Took: b.Took, Asked: engine.Asked{Markers: 1},
		Session:  engine.Session{Tenant: b.Tenant, Class: b.Class, ID: b.Session},
		Decision: engine.Decision{Models: []engine.Finding{{Outcome: b.Outcome, Detail: b.Detail, Prompt: b.Prompt}}},
	}
	for _, o := range b.Order {
		t.Plan.Candidates = append(t.Plan.Candidates, engine.Candidate{Route: routeOf(o.Model, o.Vendor), Credential: o.Credential, Group: o.Group, Down: o.Down})
	}
	for i := range b.Attempts {
		a := &b.Attempts[i]
		try := engine.Attempt{
			Candidate: engine.Candidate{Route: routeOf(a.Model, a.Vendor), Credential: a.Credential, Group: a.Group}, Stage: a.Stage, Failure: a.Failure, Status: a.Status,
			Usage: a.Usage, Quality: a.Quality, Started: a.Started, FirstByte: a.FirstByte, Took: a.Took, Card: a.Card, Cost: a.Cost,
		}
		if a.Accepted {
			try.AcceptedAt = a.Started.Add(a.FirstByte)
		}
		for _, s := range a.Sides {
			try.Sides = append(try.Sides, engine.Side(s))
		}
		t.Attempts = append(t.Attempts, try)
	}
	return t
}

// judged is what an auditor says of every settled turn, by its place on the shelf.
func (s shelf) judged() []engine.Audit {
	said := make([]engine.Audit, len(s))
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s[a].Started.UnixNano(), s[b].Started.UnixNano()) })
	memories := map[string][]byte{}
	for _, i := range order {
		b := &s[i]
		known := true
		for j := range b.Attempts {
			known = known && routeOf(b.Attempts[j].Model, b.Attempts[j].Vendor) != nil
		}
		if b.State != engine.Settled || !known {
			continue
		}
		t := served(b)
		key := b.Tenant + "\x00" + string(b.Class) + "\x00" + b.Session
		said[i] = sim.Auditor{}.Audit(&t, memories[key])
		if b.Session != "" {
			memories[key] = said[i].Memory
		}
	}
	return said
}

// judge keeps with every turn what was said of it.
func (s shelf) judge() {
	for i, said := range s.judged() {
		s[i].Audit, s[i].Miss = said.Verdict, said.Miss
	}
}

func (s shelf) Accounts(_ context.Context, q engine.Query, width time.Duration) (engine.Accounts, error) {
	a := engine.Accounts{Query: q, Width: engine.SlotWidth(width)}
	total := sim.Auditor{}.Sum()
	type route struct{ model, vendor string }
	sums := map[route]engine.AccountSum{}
	for i, said := range s.judged() {
		if len(said.Account) == 0 || !q.Matches(&s[i]) {
			continue
		}
		at := route{s[i].Model, s[i].Vendor()}
		if sums[at] == nil {
			sums[at] = sim.Auditor{}.Sum()
		}
		sums[at].Add(said.Account)
		total.Add(said.Account)
		a.Total = total.Account()
	}
	for at, sum := range sums {
		a.Routes = append(a.Routes, engine.RouteAccount{Model: at.model, Vendor: at.vendor, Account: sum.Account()})
	}
	slices.SortFunc(a.Routes, func(a, b engine.RouteAccount) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Vendor, b.Vendor))
	})
	return a, nil
}
