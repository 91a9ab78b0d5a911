package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// ErrUnknownTarget means that no model, alias or policy has the name asked for.
// Serve wraps it in an [UnknownTargetError].
var ErrUnknownTarget = errors.New("unknown model or policy")

// UnknownTargetError names the target that does not exist: the one asked for or
// one of its fallbacks, the first that is not there.
type UnknownTargetError struct{ Name string }

// Error names it.
func (e *UnknownTargetError) Error() string { return fmt.Sprintf("%v %q", ErrUnknownTarget, e.Name) }

// Unwrap is [ErrUnknownTarget].
func (e *UnknownTargetError) Unwrap() error { return ErrUnknownTarget }

// DefaultDeadline is how long the pin store may take where the gateway says nothing.
const DefaultDeadline = 5 * time.Millisecond

// Gateway carries decisions out. Set it up once; Serve may then be called from
// any number of goroutines.
type Gateway struct {
	Catalog    func() *catalog.Catalog         // the catalog in force; read once a turn
	Pins       Pins                            // nil: nothing is remembered
	Health     *Health                         // nil: nobody is ever down
	Ledger     Ledger                          // nil: nothing is recorded
	Learned    Learner                         // what turns have shown of routes; nil: nothing
	Holdout    Holdout                         // which sessions run without affinity, to measure it by
	Intents    Intents                         // nil: nobody is told of an attempt before it is made
	Sessions   Sessions                        // how many new sessions a tenant may have pinned; nil: any number
	Deadline   time.Duration                   // for the pin store; 0 means 5 ms
	Prefixes   bool                            // turns are recorded with their threads and the boundaries of their prompts, for an auditor
	Profile    *Profile                        // of requests whose tenant has none; nil means [Warmroute]
	Gate       catalog.Gate                    // counts before the profile's; empty: the profile's
	Off        bool                            // affinity is off for every request
	AssumeKeys bool                            // plan as if every credential had its key; for explanations only
	Now        func() time.Time                // nil means time.Now
	TurnID     func() (text string, id uint64) // a fresh id; nil means a random one
}

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

// Serve answers one request through send. The error is an *UnknownTargetError,
// ErrSort or a *NoRouteError, and then nothing was tried and nothing is recorded; else the
// turn's last attempt says how it went, and if that did not commit, the caller
// answers the client.
//
// Whatever befalls the pin store is an outcome of the turn, never an error.
func (g *Gateway) Serve(ctx context.Context, r Request, send Send) (Turn, error) {
	s, err := g.prepare(ctx, &r)
	if err != nil {
		return s.turn, err
	}
	g.revoke(ctx, &s)
	turn := &s.turn
	for {
		index, ok := Next(turn.Plan, turn.Decision, turn.Attempts)
		if !ok || len(turn.Attempts) > 0 && ctx.Err() != nil {
			break
		}
		if g.Intents != nil {
			_ = g.Intents.Intend(ctx, turn, turn.Plan.Candidates[index]) // the turn goes on all the same
		}
		turn.Attempts = append(turn.Attempts, g.attempt(ctx, &s, &r, index, send))
	}
	turn.Took = g.now().Sub(turn.Started)
	g.finish(&s, &r)
	return *turn, nil
}

// revoke drops the pins of credentials that are no more, before the first attempt.
func (g *Gateway) revoke(ctx context.Context, s *turnState) {
	if s.off {
		return
	}
	for _, change := range Revoked(s.turn.Plan, s.memory.own) {
		g.change(ctx, s, change)
	}
}

// finish has the ledger told of a turn whose attempts and time are known.
func (g *Gateway) finish(s *turnState, r *Request) {
	if g.Ledger == nil {
		return
	}
	turn := &s.turn
	turn.Asked = r.asked(s.thread)
	if g.Prefixes && r.Prefix != nil && turn.Session.Found() && turn.taken() { // no cache holds another prompt
		turn.Asked.Prefix = r.Prefix()
	}
	g.Ledger.Record(turn.withoutReplies())
}

// withoutReplies is the turn without the vendors' own words, which may repeat a
// prompt and are for the client only.
func (t *Turn) withoutReplies() Turn {
	kept := *t
	kept.Attempts = slices.Clone(t.Attempts)
	for i := range kept.Attempts {
		kept.Attempts[i].Reply = nil
	}
	return kept
}

// Decide does all that Serve does before the first attempt, and nothing after it:
// it recalls pins and changes none. The same errors mean the same.
func (g *Gateway) Decide(ctx context.Context, r Request) (Turn, error) {
	s, err := g.prepare(ctx, &r)
	return s.turn, err
}

// prepare runs the pipeline up to the decision.
//
// Recall comes before the plan, against the order in which the design names them:
// sorting by price, and limits on it, need the rates of this turn's tier, the tier
// needs the size of the prompt, and that is estimated from what the session's
// record last reported.
func (g *Gateway) prepare(ctx context.Context, r *Request) (s turnState, err error) {
	c := g.Catalog()
	s.turn.ID, s.id = g.turnID()
	s.turn.Tenant, s.turn.API, s.turn.Stream = r.Tenant, r.API, r.Stream
	now := g.now()
	s.turn.Started, s.turn.Catalog = now, c.Digest
	s.profile = cmp.Or(r.Rules.Profile, g.Profile, Warmroute())
	s.turn.Session = Identify(*r, s.profile)
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
	facts := Facts{Now: now, Gate: cmp.Or(r.Rules.Gate, g.Gate, s.profile.Gate), OrderFirst: s.profile.OrderFirst, Marked: r.Markers > 0}
	ordered := len(r.Order) > 0
	s.off = g.Off || r.Rules.Off || r.AffinityOff || s.profile.Off
	if policy := targets[0].Policy; policy != nil {
		s.off = s.off || policy.Affinity.Off
		ordered = ordered || len(policy.Order) > 0 && r.Sort == catalog.CatalogOrder && targets[0].Sort == catalog.CatalogOrder
		if policy.Affinity.Precedence {
			facts.OrderFirst = policy.Affinity.OrderFirst
		}
		if policy.Affinity.Gate != "" {
			facts.Gate = policy.Affinity.Gate
		}
	}
	s.turn.Trial = !s.off && s.turn.Session.Found() && g.Holdout.On()
	s.turn.Holdout = s.turn.Trial && g.Holdout.Holds(s.turn.Session)
	s.off = s.off || s.turn.Holdout
	facts.Profile = s.profile
	facts.Session, facts.Off, facts.Holdout, facts.Ordered = s.turn.Session, s.off, s.turn.Holdout, ordered
	if g.Pins != nil {
		facts.Unavailable = g.recall(ctx, r, &s, targets) != nil
	}
	s.fresh = g.Sessions != nil && !s.off && !facts.Unavailable && s.turn.Session.Found() && len(s.memory.own.Models) == 0
	s.limited = s.fresh && !g.Sessions.Room(r.Tenant, now)
	facts.Limited = s.limited
	s.thread = s.memory.thread
	if g.Prefixes && s.thread == 0 { // an auditor tells threads apart whatever became of their pins
		s.thread = s.memory.threadOf(r, s.turn.Session)
	}
	facts.Thread, facts.Ahead, facts.Parent = s.memory.thread, s.memory.ahead, s.memory.parent
	if !s.profile.Loose {
		facts.Record = s.memory.own
	}
	targets, led := targets, false
	if !s.off {
		targets, led = s.profile.lead(targets, s.memory.own, now)
	}
	s.prompt = EstimatePrompt(r, s.memory.last())
	facts.Prompt = s.prompt
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
			return g.Health.Down(route, credential, now)
		},
	})
	if err != nil {
		return s, err
	}
	if len(s.turn.Plan.Candidates) == 0 {
		e := noRoute(c, r, &s.turn, g.AssumeKeys)
		e.Bound = s.memory.binding()
		return s, e
	}
	if kind, ok := unremembered(r, &s.memory, &s.turn.Plan, facts.Unavailable); ok {
		return s, &NoRouteError{Target: s.turn.Target, API: r.API, Plan: s.turn.Plan, Rules: r.Rules, Forgotten: kind}
	}
	g.mark(&s, r, targets[0].Policy, now)
	facts.Plan = s.turn.Plan
	s.turn.Decision = Decide(facts)
	if first := &s.turn.Decision.Models[0]; led && first.Detail == "" {
		first.Detail = DetailModelPinned
	}
	return s, nil
}

// Targets finds what the request may be served by, in the order of fallback. The
// error is an [UnknownTargetError].
func Targets(c *catalog.Catalog, r *Request) ([]catalog.Target, error) {
	targets := make([]catalog.Target, 0, 1+len(r.Models))
	if r.Target != "" || len(r.Models) == 0 {
		target, ok := targetNamed(c, r.Target)
		if !ok {
			return nil, &UnknownTargetError{Name: r.Target}
		}
		targets = append(targets, target)
	}
	for _, name := range r.Models {
		target, ok := targetNamed(c, name)
		if !ok {
			return nil, &UnknownTargetError{Name: name}
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// resolve is Targets, and names the turn's target and scope after the first.
func (t *Turn) resolve(c *catalog.Catalog, r *Request, by Scope) ([]catalog.Target, error) {
	t.Target = r.Target
	if t.Target == "" && len(r.Models) > 0 {
		t.Target = r.Models[0]
	}
	targets, err := Targets(c, r)
	if err != nil {
		return nil, err
	}
	t.Scope = by.Of(targets[0])
	return targets, nil
}

// recall fills the turn's memory: the session's pins, those of the session that
// started it where it has none of its own, and who made the response that the
// request continues. With affinity off only the last is asked, and the session's
// pins in so far as they tell the same. After an error nothing is remembered.
func (g *Gateway) recall(ctx context.Context, r *Request, s *turnState, targets []catalog.Target) error {
	brief := within(ctx, g.deadline())
	defer brief.stop()
	session, scope := s.turn.Session, s.turn.Scope
	var m memory
	var err error
	if session.Found() && (!s.off || r.PreviousResponse != "") {
		if m.own, err = g.Pins.Recall(brief, session.Key(scope)); err != nil {
			return err
		}
		m.own = m.own.Within(s.profile.limits())
	}
	if r.PreviousResponse != "" {
		made, err := g.Pins.Recall(brief, OriginKey(r.Tenant, r.PreviousResponse))
		if err != nil {
			return err
		}
		_, m.maker, m.made = made.Newest()
	}
	if m.bound, err = g.recallMakers(brief, r); err != nil {
		return err
	}
	if err := g.recallMarked(brief, r, s, &m); err != nil {
		return err
	}
	if !s.off && s.profile.Threads {
		m.thread = m.threadOf(r, session)
	}
	if !s.off && !s.profile.Apart && session.HasParent() && m.lacks(targets) {
		if m.parent, err = g.recallParent(brief, session, scope); err != nil {
			return err
		}
	}
	s.memory = m
	return nil
}

// recallParent asks for the pins of the session that started this one. Its id says
// nothing of how it was named, and some headers come in small letters only.
func (g *Gateway) recallParent(ctx context.Context, session Session, scope string) (Record, error) {
	ids := [...]string{session.Parent, strings.ToLower(session.Parent)}
	for i, id := range ids {
		if i > 0 && id == ids[0] {
			break
		}
		for _, class := range [...]Class{ClassExplicit, ClassAgent, ClassCacheKey} {
			key := PinKey{Tenant: session.Tenant, Class: class, ID: id, Scope: scope}
			if key == session.Key(scope) {
				continue
			}
			if r, err := g.Pins.Recall(ctx, key); err != nil || len(r.Models) > 0 {
				return r, err
			}
		}
	}
	return Record{}, nil
}

// underway is an attempt that has begun and not ended.
type underway struct {
	index   int // of its candidate in the plan
	pin     SettleFacts
	started time.Time
}

// begin readies an attempt of the plan's candidate at index.
func (g *Gateway) begin(s *turnState, r *Request, index int) underway {
	c := s.turn.Plan.Candidates[index]
	return underway{index: index, started: g.now(), pin: SettleFacts{
		Session:   s.turn.Session,
		Profile:   s.profile,
		Off:       s.off,
		Record:    s.memory.own,
		Thread:    s.memory.thread,
		Turn:      s.id,
		Candidate: c,
		Lifetime:  s.profile.Window.Lifetime(c.Marking.Asked(r), c.Route),
		Prompt:    s.prompt,
		TextBytes: r.TextBytes,
		Unstored:  r.Unstored,
	}}
}

// chosen sees to what follows from the choice itself.
func (g *Gateway) chosen(ctx context.Context, s *turnState, u *underway) {
	u.pin.ChosenAt = u.started
	if change, ok := Choose(u.pin); ok {
		g.change(ctx, s, change)
	}
	g.keepMarked(ctx, s, u, StartChosen)
}

// accepted sees to all that follows from the vendor's acceptance, once.
func (g *Gateway) accepted(ctx context.Context, s *turnState, u *underway, at time.Time) {
	if !u.pin.AcceptedAt.IsZero() {
		return
	}
	u.pin.AcceptedAt = at
	if change, ok := Accept(u.pin); ok {
		g.change(ctx, s, change)
	}
	g.keepMarked(ctx, s, u, StartAccepted)
	g.learnMakers(ctx, s, u)
}

// ended sees to all that follows from an attempt that is over, and completes it.
func (g *Gateway) ended(ctx context.Context, s *turnState, r *Request, u *underway, a *Attempt) {
	a.Candidate, a.Finding = u.pin.Candidate, s.turn.Plan.modelOf(u.index)
	if a.AcceptedAt.IsZero() {
		a.AcceptedAt = u.pin.AcceptedAt
	}
	if a.Started.IsZero() {
		a.Started = u.started
	}
	a.MarkersCut = a.Candidate.Marking.Cut
	price(a, r)
	g.observe(a, g.endOf(s, a))
	for _, change := range Settle(u.pin, *a) {
		g.change(ctx, s, change)
	}
	if a.Stage == StageServed {
		g.made(ctx, r, u.pin, *a)
		g.heard(ctx, s, r, a.Said, a.ResponseID)
	}
	if a.Stage == StageBroken {
		g.unlearnMakers(ctx, s, u)
	}
	if foreign(s.memory.bound, a) {
		s.turn.Decision.Models[a.Finding].Detail = DetailForeignSignature
	}
}

// attempt makes one attempt and sees to all that follows from it.
func (g *Gateway) attempt(ctx context.Context, s *turnState, r *Request, index int, send Send) Attempt {
	u := g.begin(s, r, index)
	g.chosen(ctx, s, &u)
	a := send(ctx, Try{
		TurnID:    s.turn.ID,
		Candidate: u.pin.Candidate,
		Number:    len(s.turn.Attempts) + 1,
		Session:   s.turn.Session,
		Pass:      s.profile.Pass,
		Finding:   s.turn.Decision.Models[s.turn.Plan.modelOf(index)],
		Hears:     s.turn.Session.Class == ClassChain,
		Heard:     func(said Said, response string) { g.heard(ctx, s, r, said, response) },
		Accepted:  func() { g.accepted(ctx, s, &u, g.now()) },
		Made:      func(content Stateful) { g.madeContent(ctx, r, u.pin, content) },
	})
	g.ended(ctx, s, r, &u, &a)
	return a
}

// made remembers who made a response.
func (g *Gateway) made(ctx context.Context, r *Request, pin SettleFacts, a Attempt) {
	maker, ok := MadeBy(pin, a)
	if !ok || g.Pins == nil {
		return
	}
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	_ = g.Pins.Keep(brief, OriginKey(r.Tenant, a.ResponseID), pin.Candidate.Route.Model.Name, maker)
}

// modelOf is the index of the model that candidate index belongs to.
func (p *Plan) modelOf(index int) int {
	for i := range p.Models {
		if index < p.Models[i].To {
			return i
		}
	}
	return 0
}

// observe tells the candidate's health how the attempt went that ended now.
func (g *Gateway) observe(a *Attempt, now time.Time) {
	switch {
	case g.Health == nil:
	case a.Stage == StageServed:
		g.Health.Succeeded(a.Candidate.Route, a.Candidate.Credential)
	case a.Failure != FailureNone:
		g.Health.Failed(a.Candidate.Route, a.Candidate.Credential, now, a.Failure, a.RetryAfter)
	}
}

// change makes one change to the session's pins, under a deadline of its own: the
// client may have gone. A pin is a hint, so a change that fails costs a promotion
// and is not worth failing a response for.
func (g *Gateway) change(ctx context.Context, s *turnState, c PinChange) {
	if g.Pins == nil || !g.admits(s, c) {
		return
	}
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	key := s.turn.Session.Key(s.turn.Scope)
	switch {
	case c.Drop:
		_ = g.Pins.Drop(brief, key, c.Model, c.Entry)
	case c.Update:
		_ = g.Pins.Update(brief, key, c.Model, c.Entry)
	default:
		_ = g.Pins.Keep(brief, key, c.Model, c.Entry)
	}
}

// admits says whether a change may be made: all but what would pin a new session
// for which its tenant has no room. The first pin of one takes its room.
func (g *Gateway) admits(s *turnState, c PinChange) bool {
	if s.fresh && !s.limited && !c.Drop && !c.Update {
		s.fresh, s.limited = false, !g.Sessions.Take(s.turn.Tenant, g.now())
	}
	return !s.limited
}

func (g *Gateway) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

func (g *Gateway) deadline() time.Duration {
	if g.Deadline > 0 {
		return g.Deadline
	}
	return DefaultDeadline
}

func (g *Gateway) turnID() (text string, id uint64) {
	if g.TurnID != nil {
		return g.TurnID()
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:]), binary.BigEndian.Uint64(b[8:])
}
