package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Group says whose key a candidate uses. Affinity never moves a candidate of one
// group past one of the other.
//
// The zero Group is the operator's.
type Group string

// The groups. The client's own keys come first where they exist.
const (
	GroupOperator Group = ""
	GroupClient   Group = "client"
)

// Candidate is one (route, credential, group) with the rates of this turn.
type Candidate struct {
	Route      *catalog.Route
	Credential string // id of the vendor's credential; empty where the vendor needs none
	Group      Group
	Card       pricing.Card
	Down       bool    // failed three times running, or cooling
	Marking    Marking // of this request's cache markers there
}

// Why says what took a route out of a plan.
type Why string

// Why a route is not in a plan.
const (
	WhyAPI        Why = "api"             // its vendor does not speak the client's API
	WhyOnly       Why = "only"            // the request, its policy or its tenant's rules name others
	WhyIgnore     Why = "ignore"          // the request or policy names it
	WhyContext    Why = "context"         // the prompt cannot fit
	WhyDisabled   Why = "disabled"        // the catalog says so
	WhyTags       Why = "tags"            // it lacks a tag the request or policy needs
	WhyMaxPrice   Why = "max_price"       // it charges more than the policy allows
	WhyCredential Why = "credential"      // none of its vendor's credentials has a key
	WhyOrigin     Why = "bound_to_origin" // content in the request belongs to another route
)

// Removed is a route that a filter took out, and why.
type Removed struct {
	Route *catalog.Route
	Why   Why
}

// Plan is the ordered candidates a request may use, before affinity.
//
// Candidates stand model by model, in each model the client's group first, in
// each group those that are down last.
type Plan struct {
	Candidates []Candidate
	Models     []ModelPlan
}

// ModelPlan is the part of a plan that belongs to one model:
// Candidates[From:To].
type ModelPlan struct {
	Model    *catalog.Model
	From, To int
	Removed  []Removed
	Blended  []Blended // of its routes in their order, where they are sorted by it; nil otherwise
}

// ErrSort means that a request or policy asks for an order that is not built.
var ErrSort = errors.New("this sort is not available; use price or blended, or leave it out for the order of the catalog")

// PlanFacts are what a plan depends on.
type PlanFacts struct {
	Now     time.Time
	Request *Request
	Session Session
	Targets []catalog.Target // in the order of fallback; a model named twice counts once
	Record  Record           // what binds stateful content to its origin
	Maker   Entry            // who made the response that the request continues
	Made    bool             // whether that is remembered; Record is asked otherwise
	Prompt  Estimate         // its tier is the one whose prices hold this turn
	Spread  uint64           // shares requests without a session out over credentials: the turn's id

	// Learned tells the hit rates that a blended sort goes by; nil: none is known.
	Learned Learner
	// Down says whether a candidate is down; nil: none is.
	Down func(route *catalog.Route, credential string) bool
	// AssumeKeys plans as if every credential had its key: for explanations
	// where there are none.
	AssumeKeys bool
}

// BuildPlan lists who may serve the request, model by model, before affinity.
//
// The first filter that takes a route out is the one the plan names, in the
// order of the Why constants' use here: disabled, api, only, ignore, tags,
// max_price, context, credential, bound_to_origin. The request's own order or
// sort counts before the policy's; an order is completed by the sort beside it,
// and that by the order of the catalog. Sorting by price compares this turn's
// input rates, unknown last; sorting by blended compares their [Blend]s in the same
// way. The credentials of a route stand together, in an
// order that is the session's own.
//
// The only error is [ErrSort]. A plan without candidates is no error here.
func BuildPlan(f PlanFacts) (Plan, error) {
	var plan Plan
	models, candidates := 0, 0
	for _, t := range f.Targets {
		models += len(t.Models)
		for _, m := range t.Models {
			for _, r := range m.Routes {
				candidates += max(1, len(r.Vendor.Credentials))
			}
		}
	}
	plan.Models = make([]ModelPlan, 0, models)
	plan.Candidates = make([]Candidate, 0, candidates)
	for _, t := range f.Targets {
		order, sort := f.ordering(t.Policy)
		if sort != catalog.CatalogOrder && sort != catalog.ByPrice && sort != catalog.ByBlended {
			return Plan{}, fmt.Errorf("sort %q: %w", sort, ErrSort)
		}
		for _, m := range t.Models {
			if !plan.has(m) {
				f.add(&plan, m, t.Policy, order, sort)
			}
		}
	}
	return plan, nil
}

func (p *Plan) has(m *catalog.Model) bool {
	for i := range p.Models {
		if p.Models[i].Model == m {
			return true
		}
	}
	return false
}

// ordering is the order and sort that hold: the request's if it has any, else
// the policy's.
func (f *PlanFacts) ordering(policy *catalog.Policy) (order []string, sort catalog.Sort) {
	if len(f.Request.Order) > 0 || f.Request.Sort != catalog.CatalogOrder || policy == nil {
		return f.Request.Order, f.Request.Sort
	}
	return policy.Order, policy.Sort
}

// ranked is a route that passed the filters and what it is put in order by.
type ranked struct {
	route *catalog.Route
	rank  int // in the explicit order; its length where it is not named
	input pricing.Rate
	blend Blend
}

// before says whether a is tried before b; ties keep the order of the catalog.
func (a *ranked) before(b *ranked, sort catalog.Sort) bool {
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	switch sort {
	case catalog.ByPrice:
		if a.input.Known() != b.input.Known() {
			return a.input.Known()
		}
		return a.input.Below(b.input)
	case catalog.ByBlended:
		if a.blend.Known() != b.blend.Known() {
			return a.blend.Known()
		}
		return a.blend.Below(b.blend)
	}
	return false
}

// add appends the part of the plan that belongs to m.
func (f *PlanFacts) add(plan *Plan, m *catalog.Model, policy *catalog.Policy, order []string, sort catalog.Sort) {
	mp := ModelPlan{Model: m, From: len(plan.Candidates)}
	origin, bound := f.origin(m)
	var space [16]ranked
	routes := space[:0]
	for _, r := range m.Routes {
		if why := f.removes(r, policy, origin, bound); why != "" {
			mp.Removed = append(mp.Removed, Removed{Route: r, Why: why})
			continue
		}
		next := ranked{route: r, rank: rankIn(order, r.Vendor.Name)}
		switch sort {
		case catalog.ByPrice:
			next.input = f.card(r).Input
		case catalog.ByBlended:
			next.blend = f.blend(m, r)
		}
		at := len(routes)
		for at > 0 && next.before(&routes[at-1], sort) {
			at--
		}
		routes = slices.Insert(routes, at, next)
	}
	// The client's own keys, where they exist, would stand here, before the
	// operator's. None are read yet.
	f.expand(plan, routes, origin)
	if sort == catalog.ByBlended {
		mp.Blended = make([]Blended, len(routes))
		for i := range routes {
			mp.Blended[i] = Blended{Vendor: routes[i].route.Vendor.Name, Blend: routes[i].blend}
		}
	}
	mp.To = len(plan.Candidates)
	plan.Models = append(plan.Models, mp)
}

func rankIn(order []string, vendor string) int {
	if i := slices.Index(order, vendor); i >= 0 {
		return i
	}
	return len(order)
}

func (f *PlanFacts) card(r *catalog.Route) pricing.Card {
	return r.Price.At(f.Request.terms(f.Prompt.Tokens, f.Now))
}

// blend is what a prompt token is expected to cost at one of m's routes.
func (f *PlanFacts) blend(m *catalog.Model, r *catalog.Route) Blend {
	var hits HitRate
	if f.Learned != nil {
		hits = f.Learned.HitRate(m.Name, r.Vendor.Name)
	}
	return BlendOf(f.card(r), hits)
}

// expand appends the candidates of the routes, those that are down last.
func (f *PlanFacts) expand(plan *Plan, routes []ranked, origin Entry) {
	var down []Candidate
	put := func(c Candidate) {
		if f.Down != nil && f.Down(c.Route, c.Credential) {
			c.Down = true
			down = append(down, c)
			return
		}
		plan.Candidates = append(plan.Candidates, c)
	}
	for i := range routes {
		r := routes[i].route
		c := Candidate{Route: r, Card: f.card(r)}
		if len(r.Vendor.Credentials) == 0 {
			put(c)
			continue
		}
		var space [8]string
		for _, c.Credential = range f.spread(space[:0], r.Vendor, origin) {
			put(c)
		}
	}
	plan.Candidates = append(plan.Candidates, down...)
}
