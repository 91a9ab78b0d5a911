package engine

import (
	"cmp"
	"context"

	"github.com/warmroute/warmroute/catalog"
)

// turnState is what Serve knows of a turn beside the turn itself.
type turnState struct {
	turn    Turn
	profile *Profile
	id      uint64
	off     bool
	fresh   bool // the session has no pins yet, and its tenant's new sessions are counted
	limited bool // and there is no room for another: nothing of it is pinned
	memory  memory
	thread  uint64 // as the ledger is told of it; its pins may be left alone
	heard   bool   // it is kept which chain the turn belongs to
	prompt  Estimate
}

// prepare runs the pipeline up to the decision.
//
// Recall comes before the plan, against the order in which the design names them:
// sorting by price, and limits on it, need the rates of this turn's tier, the tier
// needs the size of the prompt, and that is estimated from what the session's
// record last reported.
func (g *Gateway) prepare(ctx context.Context, r *Request) (s turnState, err error) {
	c := g.Catalog()
	g.begun(&s, r, c)
	s.turn.Session = identify(r, s.profile)
	if s.turn.Session.unnamed() {
		brief := within(ctx, g.deadline())
		defer brief.stop()
		s.turn.Session.ID = g.rejoin(brief, r, s.turn.ID)
		ctx = brief // what is recalled next has what is left of the time
	}
	targets, err := s.turn.resolve(c, r, s.profile.Scope)
	if err != nil {
		return s, err
	}
	facts := g.rules(&s, r, targets[0])
	if g.Pins != nil {
		facts.Unavailable = g.recall(ctx, r, &s, targets) != nil
	}
	g.remembered(&s, r, &facts)
	led := false
	if !s.off {
		targets, led = s.profile.lead(targets, s.memory.own, s.turn.Started)
	}
	if err := g.plan(&s, r, targets); err != nil {
		return s, err
	}
	if err := g.unroutable(&s, r, c, facts.Unavailable); err != nil {
		return s, err
	}
	g.mark(&s, r, targets[0].Policy, s.turn.Started)
	facts.Prompt, facts.Plan = s.prompt, s.turn.Plan
	s.turn.Decision = Decide(facts)
	if first := &s.turn.Decision.Models[0]; led && first.Detail == "" {
		first.Detail = DetailModelPinned
	}
	return s, nil
}

// begun fills in what is known of a turn before anything is asked.
func (g *Gateway) begun(s *turnState, r *Request, c *catalog.Catalog) {
	s.turn.ID, s.id = g.turnID()
	s.turn.Tenant, s.turn.API, s.turn.Stream = r.Tenant, r.API, r.Stream
	s.turn.Started, s.turn.Catalog = g.now(), c.Digest
	s.profile = cmp.Or(r.Rules.Profile, g.Profile, Warmroute())
}

// rules are the facts that somebody has set: a policy, where the first target is one,
// before the tenant, that before the gateway, and that before the profile. Anybody may
// switch affinity off, and the hold-out of sessions does.
func (g *Gateway) rules(s *turnState, r *Request, first catalog.Target) Facts {
	f := Facts{
		Now:        s.turn.Started,
		Session:    s.turn.Session,
		Profile:    s.profile,
		Gate:       cmp.Or(r.Rules.Gate, g.Gate, s.profile.Gate),
		Ordered:    len(r.Order) > 0,
		OrderFirst: s.profile.OrderFirst,
		Marked:     r.Markers > 0,
	}
	s.off = g.Off || r.Rules.Off || r.AffinityOff || s.profile.Off
	if policy := first.Policy; policy != nil {
		s.off = s.off || policy.Affinity.Off
		f.Ordered = f.Ordered || len(policy.Order) > 0 && r.Sort == catalog.CatalogOrder && first.Sort == catalog.CatalogOrder
		if policy.Affinity.Precedence {
			f.OrderFirst = policy.Affinity.OrderFirst
		}
		f.Gate = cmp.Or(policy.Affinity.Gate, f.Gate)
	}
	s.turn.Trial = !s.off && s.turn.Session.Found() && g.Holdout.On()
	s.turn.Holdout = s.turn.Trial && g.Holdout.Holds(s.turn.Session)
	s.off = s.off || s.turn.Holdout
	f.Off, f.Holdout = s.off, s.turn.Holdout
	return f
}

// remembered takes what was recalled into the facts, and sees whether there is room
// for a session of which nothing is remembered.
func (g *Gateway) remembered(s *turnState, r *Request, f *Facts) {
	m, session := &s.memory, s.turn.Session
	s.fresh = g.Sessions != nil && !s.off && !f.Unavailable && session.Found() && len(m.own.Models) == 0
	s.limited = s.fresh && !g.Sessions.Room(r.Tenant, s.turn.Started)
	s.thread = m.thread
	if g.Prefixes && s.thread == 0 {
		s.thread = m.bookedThread(r, session)
	}
	s.prompt = EstimatePrompt(r, m.last())
	f.Limited, f.Thread, f.Ahead, f.Parent = s.limited, m.thread, m.ahead, m.parent
	if !s.profile.Loose {
		f.Record = m.own
	}
}

// plan lists who may serve the turn. The error is that of [BuildPlan].
func (g *Gateway) plan(s *turnState, r *Request, targets []catalog.Target) (err error) {
	now := s.turn.Started
	s.turn.Plan, err = BuildPlan(PlanFacts{
		Now:        now,
		Request:    r,
		Session:    s.turn.Session,
		Targets:    targets,
		Record:     s.memory.own,
		Maker:      s.memory.maker,
		Made:       s.memory.made,
		Bound:      s.memory.bound,
		Prompt:     s.prompt,
		Learned:    g.Learned,
		Spread:     s.id,
		AssumeKeys: g.AssumeKeys,
		Down: func(route *catalog.Route, credential string) bool {
			return g.Health.DownFor(r.Tenant, route, credential, now)
		},
	})
	return err
}

// unroutable is the error of a turn for which the plan has nobody, or of which nobody
// knows who made what it refers to; nil otherwise.
func (g *Gateway) unroutable(s *turnState, r *Request, c *catalog.Catalog, unavailable bool) error {
	if len(s.turn.Plan.Candidates) == 0 {
		e := noRoute(c, r, &s.turn, g.AssumeKeys)
		e.Bound = s.memory.binding()
		return e
	}
	if kind, ok := unremembered(r, &s.memory, &s.turn.Plan, unavailable); ok {
		return &NoRouteError{Target: s.turn.Target, API: r.API, Plan: s.turn.Plan, Rules: r.Rules, Forgotten: kind}
	}
	return nil
}
