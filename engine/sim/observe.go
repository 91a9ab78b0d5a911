package sim

import (
	"cmp"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Request is what the model needs of a turn's request that the turn does not hold.
type Request struct {
	Thread  uint64 // see [engine.Thread]; 0 where the session's class has one only
	Kept    Kept
	Markers int           // cache markers in the body
	Longest time.Duration // the longest lifetime a marker asks for; 0 where none names one
	Service string        // the service tier asked for
	Speed   string        // the speed asked for
	Region  string        // where it was asked to be computed

	// Lifetime is how long the route keeps what the request puts there: see
	// [engine.Lifetime]. It is asked of routes that cache by themselves; nil is the
	// catalog's.
	Lifetime func(*catalog.Route) time.Duration
}

// FactOf is a turn that has ended as the model needs it. It holds on to nothing of t.
//
// Cards are those of the turn's beginning, for the prompt that was reported, in the
// service tier that served or was asked for. Markers of an hour are taken to stand at
// the end of the prompt, since a turn does not say where they do.
func FactOf(t *engine.Turn, r Request) Fact {
	f := Fact{Scope: t.Scope, Thread: r.Thread, At: t.Started, Kept: r.Kept}
	if r.Markers > 0 {
		f.Marks.Any = true
		if r.Longest >= hour {
			f.Marks.Hour = Whole
		}
	}
	b := builder{t: t, r: &r, terms: pricing.Terms{At: t.Started, Tier: r.Service, Speed: r.Speed, Region: r.Region, Implicit: r.Markers == 0}}
	finding, taken := 0, false
	for i := range t.Attempts {
		a := &t.Attempts[i]
		f.Tries = append(f.Tries, b.try(a))
		if !a.Taken() {
			if !taken {
				finding = a.Finding
			}
			continue
		}
		f.Accepted, finding, taken = a.AcceptedAt, a.Finding, true
		b.terms.Prompt = a.Usage.Prompt()
		b.terms.Tier = cmp.Or(a.ServedTier, b.terms.Tier)
		b.terms.Speed, b.terms.Region = cmp.Or(a.Speed, b.terms.Speed), cmp.Or(a.Region, b.terms.Region)
	}
	if finding < len(t.Decision.Models) {
		d := &t.Decision.Models[finding]
		f.Outcome, f.Detail, f.Prompt = d.Outcome, d.Detail, d.Prompt.Tokens
	}
	if b.terms.Prompt == 0 {
		b.terms.Prompt = f.Prompt
	}
	for i := range t.Plan.Candidates {
		c := &t.Plan.Candidates[i]
		f.Offers = append(f.Offers, b.offer(c.Route, c.Credential, c.Group, c.Down))
	}
	for i := range t.Plan.Models {
		for _, gone := range t.Plan.Models[i].Removed {
			f.Removed = append(f.Removed, b.offer(gone.Route, "", engine.GroupOperator, false))
		}
	}
	return f
}

type builder struct {
	t     *engine.Turn
	r     *Request
	terms pricing.Terms
}

func (b *builder) try(a *engine.Attempt) Try {
	t := Try{
		Offer:   b.place(&a.Candidate),
		Started: a.Started,
		Taken:   a.Taken(),
		Billed:  a.Billable(),
		Usage:   a.Usage,
		Quality: a.Quality,
		Card:    a.Card,
		Silent:  a.ReadUnknown,
	}
	if a.Cost.Known {
		t.Cost = Known(a.Cost.Total)
		if len(a.Sides) > 0 {
			t.Beside = a.Cost.Total.Sub(a.Card.Cost(a.Usage).Total)
		}
	}
	return t
}

// place is where a candidate stands in the plan; -1 if it does not.
func (b *builder) place(c *engine.Candidate) int {
	for i := range b.t.Plan.Candidates {
		p := &b.t.Plan.Candidates[i]
		if p.Route == c.Route && p.Credential == c.Credential && p.Group == c.Group {
			return i
		}
	}
	return -1
}

func (b *builder) offer(route *catalog.Route, credential string, group engine.Group, down bool) Offer {
	if route == nil {
		return Offer{}
	}
	o := Offer{
		Model: route.Model.Name,
		ID:    Name(route.Vendor.Name, credential, group),
		Down:  down,
		Card:  route.Price.At(b.terms),
		Rules: Rules{
			Family:    route.Cache.Family,
			TTL:       route.Cache.TTL,
			MinPrefix: route.Cache.Minimum(),
			Block:     BlockOf(route.Vendor.Name, route.Cache.Family),
		},
	}
	if o.Rules.Family == catalog.Explicit && b.terms.Implicit && b.cachesUnmarked(route) {
		o.Rules.Family = catalog.Implicit
		return o // such reads come without a fee for writing
	}
	o.Rules.Writes = o.Rules.Family == catalog.Explicit || o.Card.CacheWrite5m.Known()
	if o.Rules.Family != catalog.Explicit && b.r.Lifetime != nil {
		o.Rules.TTL = b.r.Lifetime(route)
	}
	return o
}

// cachesUnmarked says whether a route that wants markers also caches by itself what
// is not marked: it has a price for that.
func (b *builder) cachesUnmarked(route *catalog.Route) bool {
	sheet, ok := route.Price.Sheet(b.terms.At)
	return ok && sheet.Card.CacheReadImplicit.Known()
}
