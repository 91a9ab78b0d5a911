package engine

import (
	"cmp"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// terms are what the request asks for, with a prompt of this size at this time.
//
// A request without markers reads only what the vendor cached by itself, whatever
// family its route is of: a vendor that has two prices for reads takes the other one
// for what markers asked it to keep.
func (r *Request) terms(prompt int64, at time.Time) pricing.Terms {
	return pricing.Terms{Prompt: prompt, At: at, Tier: r.Service, Speed: r.Speed, Region: r.Region, Implicit: r.Markers == 0}
}

// price sets the rates an attempt is billed at and what it cost.
//
// The rates are those of the attempt's own start, at the size of prompt that was
// reported, in the service tier, at the speed and in the region that served; what the
// request asked for stands in where the vendor names none, and a tier is then marked
// as assumed. They are the served model's where the vendor names another one that the
// catalog has there, and the route's own otherwise: a deployment's name is not its
// model's.
func price(a *Attempt, r *Request) {
	if !a.Quality.Complete() && a.Quality != pricing.Partial {
		return
	}
	terms := r.terms(a.Usage.Prompt(), a.Started)
	if a.ServedTier == "" {
		a.TierAssumed = !pricing.StandardTier(terms.Tier)
	}
	terms.Tier, terms.Speed, terms.Region = cmp.Or(a.ServedTier, terms.Tier), cmp.Or(a.Speed, terms.Speed), cmp.Or(a.Region, terms.Region)
	terms.Implicit = terms.Implicit || a.Implicit
	route := a.Candidate.Route
	served := servedBy(route, a.ServedModel)
	if served.Model != route.Model {
		a.Priced = served.Model.Name
	}
	a.Card = served.Price.At(terms)
	for i := range a.Sides {
		side := &a.Sides[i]
		terms.Prompt = side.Usage.Prompt()
		side.Card = servedBy(served, side.Model).Price.At(terms)
		side.Card.Request = pricing.Rate{} // one request, one fee
	}
	if !a.Quality.Complete() {
		return
	}
	a.Cost = a.Card.Cost(a.Usage)
	for i := range a.Sides {
		a.Cost = a.Cost.Plus(a.Sides[i].Card.Cost(a.Sides[i].Usage))
	}
}

// servedBy is the route whose price holds for a model that the route's vendor says
// it served.
func servedBy(route *catalog.Route, model string) *catalog.Route {
	if model == "" || model == route.UpstreamModel {
		return route
	}
	if other, ok := route.Vendor.Serving(model); ok {
		return other
	}
	return route
}
