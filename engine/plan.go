package engine

import (
	"cmp"
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
	WhyParameters Why = "parameters"      // its vendor refuses a member that the request needs it to have
	WhyMaxPrice   Why = "max_price"       // it charges more than the request or policy allows
	WhyCredential Why = "credential"      // none of its vendor's credentials has a key
	WhyOwnKey     Why = "own_key"         // its tenant uses keys of its own only, and has none of its vendor
	WhyBackup     Why = "backup"          // the request's or policy's order does not name it, and the request wants no others
	WhyOrigin     Why = "bound_to_origin" // content in the request belongs to another route
)

// Removed is a route that a filter took out, and why.
type Removed struct {
	Route  *catalog.Route
	Why    Why
	Member string // of the request, that its vendor refuses; with [WhyParameters] only
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
	SignedBy string    // vendor put first in its group because it signed the request's last thinking; empty: none was
	Alone    bool      // only the vendor of the first candidate tried is asked: the request wants no backups
	Blended  []Blended // of its routes in their order, where they are sorted by it; nil otherwise
	Paced    []Paced   // likewise, by latency or throughput
	Weighed  []Weighed // likewise, by weight
}

// ErrSort means that a request asks for a weighted sort of a target that has no weights.
var ErrSort = errors.New("only a policy has weights to sort by; name one that states weights, or sort by price, blended, latency or throughput")

// PlanFacts are what a plan depends on.
type PlanFacts struct {
	Now     time.Time
	Request *Request
	Session Session
	Targets []catalog.Target // in the order of fallback; a model named twice counts once
	Record  Record           // what binds stateful content to its origin
	Maker   Entry            // who made the response that the request continues
	Made    bool             // whether that is remembered; Record is asked otherwise
	Bound   []Bound          // the request's other stateful content, and who made it
	Prompt  Estimate         // its tier is the one whose prices hold this turn
	Spread  uint64           // shares requests without a session out over credentials: the turn's id

	// Learned tells what sorts by blended, latency and throughput go by; nil: nothing is known.
	Learned Learner
	// Down says whether a candidate is down; nil: none is.
	Down func(route *catalog.Route, credential string) bool
	// AssumeKeys plans as if every credential had its key: for explanations
	// where there are none.
	AssumeKeys bool

	bound []Entry // accounts that hold the request's content, for the model that is planned
}

// BuildPlan lists who may serve the request, model by model, before affinity.
//
// The first filter that takes a route out is the one the plan names, in the
// order of the Why constants' use here: disabled, api, only, ignore, tags,
// parameters, max_price, context, own_key, credential, bound_to_origin, backup. The
// request's own order or sort counts before the policy's; an order is completed by the
// sort beside it, and that by the order of the catalog. Sorting by price compares this
// turn's input rates, unknown last; sorting by blended compares their [Blend]s, by
// latency and throughput their [Speed]s in the same way; sorting by weight draws the
// vendors anew for every Spread. The credentials of a route stand together, in an
// order that is the session's own.
//
// The only error is [ErrSort]. A plan without candidates is no error here.
func BuildPlan(f PlanFacts) (Plan, error) {
	var space [fewModels]planned
	all, candidates := f.models(space[:0])
	plan := Plan{Models: make([]ModelPlan, 0, len(all)), Candidates: make([]Candidate, 0, candidates)}
	next := 0
	for i, t := range f.Targets {
		order, sort := f.ordering(t)
		if sort == catalog.ByWeight && (t.Policy == nil || len(t.Policy.Weights) == 0) {
			return Plan{}, fmt.Errorf("sort %q: %w", sort, ErrSort)
		}
		for ; next < len(all) && all[next].target == i; next++ {
			f.add(&plan, all[next].model, t.Policy, order, sort)
		}
	}
	return plan, nil
}

// planned is a model of a plan, and the place of the target that it is planned for.
type planned struct {
	target int
	model  *catalog.Model
}

// fewModels is how many models are searched one by one.
const fewModels = 16

// models appends the targets' models to all, each for the first target that has it,
// and counts what candidates they may have. A request may name hundreds of targets that
// have hundreds of models each, most of them the same: what a plan costs follows the
// models that differ.
func (f *PlanFacts) models(all []planned) (_ []planned, candidates int) {
	var many map[*catalog.Model]bool
	met := func(m *catalog.Model) bool {
		if many != nil {
			return many[m]
		}
		return slices.ContainsFunc(all, func(p planned) bool { return p.model == m })
	}
	for i, t := range f.Targets {
		for _, m := range t.Models {
			if met(m) {
				continue
			}
			all = append(all, planned{i, m})
			switch {
			case many != nil:
				many[m] = true
			case len(all) == fewModels:
				many = make(map[*catalog.Model]bool, 4*fewModels)
				for _, p := range all {
					many[p.model] = true
				}
			}
			for _, r := range m.Routes {
				candidates += max(1, len(r.Vendor.Credentials))
			}
		}
	}
	return all, candidates
}

func (p *Plan) has(m *catalog.Model) bool {
	return slices.ContainsFunc(p.Models, func(mp ModelPlan) bool { return mp.Model == m })
}

// ordering is the order and sort that hold: the request's if it has any, else the
// sort that the target's name asked for, else the policy's.
func (f *PlanFacts) ordering(t catalog.Target) (order []string, sort catalog.Sort) {
	sort = cmp.Or(f.Request.Sort, t.Sort)
	if len(f.Request.Order) > 0 || sort != catalog.CatalogOrder || t.Policy == nil {
		return f.Request.Order, sort
	}
	return t.Policy.Order, t.Policy.Sort
}

// ranked is a route that passed the filters and what it is put in order by.
type ranked struct {
	route *catalog.Route
	rank  int // in the explicit order; its length where it is not named
	input pricing.Rate
	blend Blend
	speed Speed
	draw  float64
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
	case catalog.ByLatency:
		return a.speed.Sooner(b.speed)
	case catalog.ByThroughput:
		return a.speed.Faster(b.speed)
	case catalog.ByWeight:
		return a.draw < b.draw
	}
	return false
}

// add appends the part of the plan that belongs to m.
func (f *PlanFacts) add(plan *Plan, m *catalog.Model, policy *catalog.Policy, order []string, sort catalog.Sort) {
	mp := ModelPlan{Model: m, From: len(plan.Candidates), Alone: f.Request.NoBackup && len(order) == 0}
	f.bound = f.bindings(f.bound[:0], m.Name)
	var space [16]ranked
	routes := space[:0]
	for _, r := range m.Routes {
		next := ranked{route: r, rank: rankIn(order, r.Vendor.Name)}
		why := f.removes(r, policy)
		if why == "" && f.Request.NoBackup && len(order) > 0 && next.rank == len(order) {
			why = WhyBackup
		}
		if why != "" {
			out := Removed{Route: r, Why: why}
			if why == WhyParameters {
				out.Member = f.Request.lost(r.Vendor)
			}
			mp.Removed = append(mp.Removed, out)
			continue
		}
		switch sort {
		case catalog.ByPrice:
			next.input = f.card(r).Input
		case catalog.ByBlended:
			next.blend = f.blend(m, r)
		case catalog.ByLatency, catalog.ByThroughput:
			if f.Learned != nil {
				next.speed = f.Learned.Speed(m.Name, r.Vendor.Name)
			}
		case catalog.ByWeight:
			next.draw = draw(f.Spread, policy, r.Vendor.Name)
		}
		at := len(routes)
		for at > 0 && next.before(&routes[at-1], sort) {
			at--
		}
		routes = slices.Insert(routes, at, next)
	}
	mp.SignedBy = f.groups(plan, routes)
	mp.tell(routes, policy, sort)
	mp.To = len(plan.Candidates)
	plan.Models = append(plan.Models, mp)
}

// tell notes what the routes were sorted by.
func (mp *ModelPlan) tell(routes []ranked, policy *catalog.Policy, sort catalog.Sort) {
	for i := range routes {
		vendor := routes[i].route.Vendor.Name
		switch sort {
		case catalog.ByBlended:
			mp.Blended = append(mp.Blended, Blended{Vendor: vendor, Blend: routes[i].blend})
		case catalog.ByLatency, catalog.ByThroughput:
			mp.Paced = append(mp.Paced, Paced{Vendor: vendor, Speed: routes[i].speed})
		case catalog.ByWeight:
			weight, _ := policy.Weight(vendor)
			mp.Weighed = append(mp.Weighed, Weighed{Vendor: vendor, Weight: weight})
		}
	}
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

// groups appends the candidates of the routes, the client's group first. signed is the
// vendor that leads its group because it signed the request's last thinking.
func (f *PlanFacts) groups(plan *Plan, routes []ranked) (signed string) {
	var groups [2]Group
	all := groups[:0]
	if len(f.Request.OwnKeys) > 0 {
		all = append(all, GroupClient)
	}
	if !f.Request.Rules.OwnOnly {
		all = append(all, GroupOperator)
	}
	signer, known := f.signer()
	for _, group := range all {
		from := len(plan.Candidates)
		f.expand(plan, routes, group)
		if known && signer.Group == group && lead(plan.Candidates[from:], signer) {
			signed = signer.Vendor
		}
	}
	return signed
}

// lead puts the candidates of the signer's vendor first, its own credential ahead of
// others, unless they are down, and says whether there is one.
func lead(group []Candidate, signer Entry) bool {
	at := 0
	for i := range group {
		if group[i].Route.Vendor.Name != signer.Vendor || group[i].Down {
			continue
		}
		c, to := group[i], at
		if c.Credential == signer.Credential {
			to = 0
		}
		copy(group[to+1:i+1], group[to:i])
		group[to] = c
		at++
	}
	return at > 0
}

// expand appends the candidates of the routes in one group, those that are down last.
func (f *PlanFacts) expand(plan *Plan, routes []ranked, group Group) {
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
		c := Candidate{Route: r, Card: f.card(r), Group: group}
		var space [8]string
		ids := space[:0]
		switch {
		case group == GroupClient:
			ids = f.spreadOwn(ids, r.Vendor)
		case len(r.Vendor.Credentials) > 0:
			ids = f.spread(ids, r.Vendor)
		case f.open(r.Vendor.Name, "", group):
			ids = append(ids, "")
		}
		for _, c.Credential = range ids {
			put(c)
		}
	}
	plan.Candidates = append(plan.Candidates, down...)
}
