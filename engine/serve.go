package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

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
		Marked:    r.Markers > 0,
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
	observe(g.healthOf(&s.turn, r), a, g.endOf(s, a))
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
		a.Elsewhere = sealer(s.memory.bound, a.Candidate.Route.Vendor.Name)
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
func observe(h *Health, a *Attempt, now time.Time) {
	switch {
	case h == nil:
	case a.Stage == StageServed:
		h.Succeeded(a.Candidate.Route, a.Candidate.Credential)
	case a.Failure != FailureNone:
		h.Failed(a.Candidate.Route, a.Candidate.Credential, now, a.Failure, a.RetryAfter)
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
