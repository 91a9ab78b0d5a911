package engine

import (
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Marking is what becomes of cache markers at one candidate.
//
// The zero Marking adds none and leaves the client's as they came.
type Marking struct {
	Place time.Duration // lifetime of the markers that are placed: five minutes or an hour; 0: none are
	Cut   int           // markers of the client's that its vendor refuses and is not sent
}

// The lifetimes that markers can ask for. Source: Anthropic's documentation of prompt
// caching.
const (
	ShortMarker = 5 * time.Minute
	LongMarker  = time.Hour
)

// CachingFacts are what marking one candidate depends on.
type CachingFacts struct {
	Request *Request
	Session Session
	Route   *catalog.Route
	Card    pricing.Card
	Prompt  Estimate
	Held    time.Duration    // lifetime of what the candidate still holds of the thread, as far as its pin tells; 0: nothing, or it does not
	Policy  catalog.CacheTTL // of the policy that was asked for
	Pauses  pricing.Pauses   // seen at the route; zero: none
}

// Caching says what becomes of cache markers at one candidate. It is pure.
//
// Markers are placed where the request says `caching: auto`, its route's cache needs
// them, its vendor understands them in the request's API, the prompt reaches the
// route's minimum, the client has set none itself (a fifth would be refused, and so
// would a longer lifetime behind a shorter one), and the prefix is evidently used
// again: see [CachingFacts.again]. Their lifetime is that of [CachingFacts.life].
func Caching(f CachingFacts) Marking {
	r := f.Request
	switch {
	case r.Markers > 0:
		if slices.Contains(f.Route.Vendor.Refuses, catalog.MarkerMember) {
			return Marking{Cut: r.Markers}
		}
		return Marking{}
	case !r.Caching, f.Route.Cache.Family != catalog.Explicit, !f.Route.Vendor.TakesMarkers(r.API):
		return Marking{}
	case f.Prompt.Tokens < f.Route.Cache.Minimum(), !f.again():
		return Marking{}
	}
	return Marking{Place: f.life()}
}

// again says whether it is evident that the prompt's beginning is sent again, so that
// writing it, which costs more than sending it, is paid back:
//
//   - the conversation has history: it was sent again just now, and goes on;
//   - the request names its session, or an agent does: its next turn is announced;
//   - its tools and system text alone reach the route's minimum: they are what one
//     request shares with the next, of the same conversation or of another.
//
// One long question without any of them is not: most such prompts never come back.
func (f *CachingFacts) again() bool {
	switch {
	case f.Request.History > 0:
		return true
	case f.Session.Found() && f.Session.Class != ClassFingerprint && f.Session.Class != ClassChain:
		return true
	}
	return f.Request.StableBytes/bytesPerToken >= f.Route.Cache.Minimum()
}

// life is the lifetime that markers ask for, the same for all of a request, since a
// longer one must not stand behind a shorter one.
//
// What the request asks for counts before what its policy does; of a lifetime that no
// marker can ask for, the longest that can and is no longer, or else the shortest.
// Otherwise what the candidate holds keeps its lifetime: an entry that is read lives on
// as it was written, so a change would change nothing but the price of what is new.
// Where nothing is held, all of the prompt is written now, and the hour is taken if it
// pays ([pricing.Card.HourPays]) by the pauses seen at the route, of which there must
// be enough to count on. As many turns are expected as the conversation has had, and
// as many new tokens with each.
func (f *CachingFacts) life() time.Duration {
	switch asked := f.Request.CacheTTL; {
	case asked >= LongMarker:
		return LongMarker
	case asked > 0:
		return ShortMarker
	}
	switch f.Policy {
	case catalog.CacheTTL5m:
		return ShortMarker
	case catalog.CacheTTL1h:
		return LongMarker
	}
	switch {
	case f.Held >= LongMarker:
		return LongMarker
	case f.Held > 0:
		return ShortMarker
	}
	if f.Pauses.N < LeastTurns {
		return ShortMarker
	}
	turns := int64(f.Request.History)
	grown := max(0, f.Request.TextBytes-f.Request.StableBytes) / bytesPerToken
	h := pricing.Horizon{Prompt: f.Prompt.Tokens, New: grown / (turns + 1), Turns: turns}
	if f.Card.HourPays(f.Pauses, h).Pays() {
		return LongMarker
	}
	return ShortMarker
}

// Asked is the request as its vendor will read it: with the markers that are placed,
// and without those that are cut. It is r itself where nothing changes.
func (m Marking) Asked(r *Request) *Request {
	if m == (Marking{}) {
		return r
	}
	asked := *r
	asked.Markers, asked.MarkerTTL = 0, 0
	if m.Place > 0 {
		asked.Markers = 1
		if m.Place >= LongMarker { // the shorter one is what markers mean that name none
			asked.MarkerTTL = m.Place
		}
	}
	return &asked
}

// PauseLearner is a [Learner] that also knows how long prefixes wait for their next use.
type PauseLearner interface {
	// Pauses are those seen at a model's route at a vendor. The zero Pauses: nothing
	// is known of them.
	Pauses(model, vendor string) pricing.Pauses
}

// mark sets the marking of every candidate of the plan.
func (g *Gateway) mark(s *turnState, r *Request, policy *catalog.Policy, now time.Time) {
	if !r.Caching && r.Markers == 0 {
		return
	}
	f := CachingFacts{Request: r, Session: s.turn.Session, Prompt: s.prompt}
	if policy != nil {
		f.Policy = policy.Affinity.CacheTTL
	}
	learner, learns := g.Learned.(PauseLearner)
	for i := range s.turn.Plan.Candidates {
		c := &s.turn.Plan.Candidates[i]
		f.Route, f.Card = c.Route, c.Card
		f.Held = s.held(c, now)
		if f.Pauses = (pricing.Pauses{}); learns && r.Caching {
			f.Pauses = learner.Pauses(c.Route.Model.Name, c.Route.Vendor.Name)
		}
		c.Marking = Caching(f)
	}
}

// held is the lifetime of what the candidate still holds of the request's thread: an
// hour where its pin lasts longer than a short marker's would. A profile whose pins last
// a fixed time tells nothing.
func (s *turnState) held(c *Candidate, now time.Time) time.Duration {
	if s.profile.Window.Fixed > 0 {
		return 0
	}
	for _, e := range s.memory.own.For(c.Route.Model.Name) {
		if e.Thread != s.memory.thread || e.Vendor != c.Route.Vendor.Name || e.Group != c.Group ||
			e.Credential != "" && e.Credential != c.Credential || e.ExpiredAt(now) {
			continue
		}
		if e.ExpiresAt.Sub(e.AcceptedAt) > max(ShortMarker, c.Route.Cache.TTL) {
			return LongMarker
		}
		return ShortMarker
	}
	return 0
}
