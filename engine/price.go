package engine

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// price sets the rates an attempt is billed at and what it cost. asked is the
// service tier of the request.
//
// The rates are those of the attempt's own start, at the size of prompt that was
// reported, in the service tier that served; the tier asked for stands in where the
// vendor names none, and is marked as assumed. They are the served model's where the
// vendor names another one that the catalog has there, and the route's own otherwise:
// a deployment's name is not its model's.
func price(a *Attempt, asked string) {
	if !a.Quality.Complete() && a.Quality != pricing.Partial {
		return
	}
	tier := a.ServedTier
	if tier == "" {
		tier = asked
		a.TierAssumed = !pricing.StandardTier(asked)
	}
	route := a.Candidate.Route
	served := servedBy(route, a.ServedModel)
	if served.Model != route.Model {
		a.Priced = served.Model.Name
	}
	terms := pricing.Terms{Prompt: a.Usage.Prompt(), At: a.Started, Tier: tier, Speed: a.Speed, Region: a.Region, Implicit: a.Implicit}
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
