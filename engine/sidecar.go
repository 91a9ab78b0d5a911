package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/warmroute/warmroute/pricing"
)

// Pending is a turn that is decided here and carried out elsewhere: somebody else
// makes its attempts and tells of them, and its pins, the health of its candidates
// and the books change as if [Gateway.Serve] had made them. Where tenants are kept
// apart ([Rules].Apart), that health is the tenant's own: see [Health.Told].
//
// It keeps what a decision knows and nothing of the request's body. Its methods may
// be called from several goroutines.
type Pending struct {
	g *Gateway

	mu   sync.Mutex
	s    turnState
	r    Request
	last *underway // accepted and not over
	made []int     // candidates of the turn's attempts, by their index in the plan
	over bool
}

// Told is one attempt as somebody tells of it.
type Told struct {
	Candidate int // index in the plan
	// Open: the vendor has accepted the attempt and its end is not known yet. Of
	// Attempt, only Started, AcceptedAt, ResponseID and Said count.
	Open bool
	// Attempt is what Send would have returned. A Started or AcceptedAt that is zero,
	// before the turn or after now is brought within the turn: an attempt began where
	// the one before it ended, and was accepted when it began.
	Attempt Attempt
}

// TellError says what is wrong with what was told of a turn. Nothing of it counted.
type TellError struct {
	Number int // of the attempt, 1 for the first; 0: of none in particular
	What   string
}

// Error says it.
func (e *TellError) Error() string {
	if e.Number == 0 {
		return e.What
	}
	return fmt.Sprintf("attempt %d: %s", e.Number, e.What)
}

// Defer decides as [Gateway.Serve] does and leaves the attempts to somebody else,
// who tells of them by [Pending.Tell]. It changes no pin and books nothing. The
// errors are those of Serve; the turn is then over, and says what is known of it.
func (g *Gateway) Defer(ctx context.Context, r Request) (*Pending, error) {
	p := &Pending{g: g}
	var err error
	p.s, err = g.prepare(ctx, &r)
	p.s.turn.Remote, p.over = true, err != nil
	p.keep(r)
	return p, err
}

// keep takes over what of the request matters after the decision. What would read
// the body is asked now or never.
func (p *Pending) keep(r Request) {
	r.Header, r.Models, r.Only, r.Ignore, r.Order = nil, nil, nil, nil, nil
	r.Opening, r.Words, r.Has, r.Field, r.Last = nil, nil, nil, nil, nil
	r.OptionID, r.BodyID, r.BodyCamelID, r.CacheKey, r.MetadataUser = "", "", "", "", "" // the session is named
	r.Tags, r.AnyTags, r.Stateful = nil, nil, nil
	if prefix := r.Prefix; prefix != nil {
		r.Prefix = nil
		if !p.over && p.g.Prefixes && p.s.turn.Session.Found() {
			known := prefix()
			r.Prefix = func() Prefix { return known }
		}
	}
	if marked := r.MarkedPrefix; marked != nil {
		r.MarkedPrefix = nil
		if !p.over && p.s.profile.Marked {
			hash, tokens, ok := marked()
			r.MarkedPrefix = func() (string, int64, bool) { return hash, tokens, ok }
		}
	}
	p.r = r
}

// Turn is the turn so far. Its slices must not be changed.
func (p *Pending) Turn() Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turn()
}

// turn is a turn that later reports do not change. Call it with the lock held.
func (p *Pending) turn() Turn {
	t := p.s.turn
	t.Decision.Models = slices.Clone(t.Decision.Models)
	return t
}

// Open says whether a vendor has accepted an attempt whose end nobody has told.
func (p *Pending) Open() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last != nil
}

// Over says whether the turn has ended: whatever is told of it changes nothing.
func (p *Pending) Over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// Size is about how many bytes the turn holds.
func (p *Pending) Size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, r := &p.s.turn, &p.r
	size := int64(unsafe.Sizeof(*p)) + bytesOf[Candidate](len(t.Plan.Candidates)) + bytesOf[int](len(t.Plan.Candidates)) +
		bytesOf[ModelPlan](len(t.Plan.Models)) + bytesOf[Finding](len(t.Plan.Models)) + bytesOf[Bound](len(p.s.memory.bound))
	for i := range t.Plan.Models {
		m := &t.Plan.Models[i]
		size += bytesOf[Removed](len(m.Removed)) + bytesOf[Blended](len(m.Blended)) + bytesOf[Paced](len(m.Paced)) + bytesOf[Weighed](len(m.Weighed))
	}
	for i := range t.Decision.Models {
		size += bytesOf[pricing.Rival](len(t.Decision.Models[i].Verdict.Rivals))
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		size += int64(unsafe.Sizeof(*a)) + bytesOf[Side](len(a.Sides)) + texts(a.ServedModel, a.ServedTier, a.ResponseID) + int64(len(a.RawUsage))
	}
	for _, record := range [...]Record{p.s.memory.own, p.s.memory.parent, p.s.memory.ahead} {
		for i := range record.Models {
			size += int64(unsafe.Sizeof(record.Models[i])) + bytesOf[Entry](len(record.Models[i].Warm))
		}
	}
	for i := range p.s.memory.bound {
		size += texts(p.s.memory.bound[i].ID)
	}
	size += texts(r.Target, r.Service, r.Speed, r.Region, r.PreviousResponse, t.Session.ID, t.Session.Parent, t.Session.Client)
	if r.Prefix != nil {
		size += int64(len(r.Prefix())) * int64(unsafe.Sizeof(Prefix{}[0]))
	}
	return size
}

// bytesOf is about how many bytes n values of a type take.
func bytesOf[T any](n int) int64 {
	var one T
	return int64(n) * int64(unsafe.Sizeof(one))
}

// texts is how many bytes all of them have.
func texts(all ...string) (size int64) {
	for _, text := range all {
		size += int64(len(text))
	}
	return size
}

// Tell takes the attempts that have been made for the turn, all of them so far and
// in their order: those told of before change nothing, so that a report that was
// lost may be sent again, longer or not. Only the last may be open. Where over, they
// are all of the turn: it is booked, took being how long it took, 0 meaning until
// now. Of a turn that is over, whatever is told changes nothing and is no error.
//
// The error is a *TellError.
func (p *Pending) Tell(ctx context.Context, told []Told, over bool, took time.Duration) (Turn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return p.turn(), nil
	}
	if err := p.check(told, over); err != nil {
		return p.turn(), err
	}
	if len(p.made) == 0 && p.last == nil {
		p.g.revoke(ctx, &p.s)
	}
	for i := len(p.made); i < len(told); i++ {
		p.take(ctx, &told[i])
	}
	if over {
		p.finish(took)
	}
	return p.turn(), nil
}

// Forget ends a turn of which nothing more will be told. One of which nothing was
// told at all leaves no trace; else it is booked as far as it is known, an attempt
// that is open as abandoned. booked says whether it was; over, that it had ended
// before, and nothing has changed.
func (p *Pending) Forget(ctx context.Context) (over, booked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return true, false
	}
	if last := p.last; last != nil {
		p.take(ctx, &Told{Candidate: last.index, Attempt: Attempt{Stage: StageAbandoned, Failure: FailureClientLeft, Cause: "nobody told of its end"}})
	}
	if len(p.made) > 0 {
		p.finish(0)
	}
	p.over = true
	return false, len(p.made) > 0
}

// finish books the turn. Call it with the lock held.
func (p *Pending) finish(took time.Duration) {
	p.over = true
	p.s.turn.Took = took
	if took <= 0 {
		p.s.turn.Took = max(0, p.g.now().Sub(p.s.turn.Started))
	}
	p.g.finish(&p.s, &p.r)
}

// check says what is wrong with a report before anything of it counts.
func (p *Pending) check(told []Told, over bool) error {
	if len(told) == 0 {
		return &TellError{0, "it has no attempts; a turn that is not tried need not be reported"}
	}
	attempts := p.s.turn.Attempts
	for i := range told {
		t := &told[i]
		wrong := func(format string, args ...any) error { return &TellError{i + 1, fmt.Sprintf(format, args...)} }
		switch {
		case t.Candidate < 0 || t.Candidate >= len(p.s.turn.Plan.Candidates):
			return wrong("it names no candidate of this turn")
		case i < len(p.made) && t.Candidate != p.made[i], i == len(p.made) && p.last != nil && t.Candidate != p.last.index:
			return wrong("it was told of before as one of another candidate; tell all attempts of the turn in their order")
		case i < len(p.made):
		case t.Open && i < len(told)-1:
			return wrong("another follows, so it has ended; say how")
		case t.Open && over:
			return wrong("it has no stage; say how it ended, or that the report is not final")
		case i == len(p.made) && p.last != nil && !t.Open && t.Attempt.Stage == StageRefused:
			return wrong("it was told of as accepted, and so was not refused: it served, broke or was abandoned")
		case i > 0 && p.ends(told, attempts, i-1):
			return wrong("nothing is tried after an attempt that served or was abandoned")
		}
	}
	if over && (len(told) < len(p.made) || len(told) == len(p.made) && p.last != nil) {
		return &TellError{0, "fewer attempts than were told of before; a final report has all of them"}
	}
	return nil
}

// ends says whether attempt i, as told before or now, left nothing to be tried.
func (p *Pending) ends(told []Told, attempts []Attempt, i int) bool {
	stage := told[i].Attempt.Stage
	if i < len(attempts) {
		stage = attempts[i].Stage
	}
	return stage == StageServed || stage == StageAbandoned
}

// take sees to all that follows from one attempt that is told of. Call it with the
// lock held.
func (p *Pending) take(ctx context.Context, t *Told) {
	turn, a := &p.s.turn, t.Attempt
	u := p.last
	if u == nil {
		begun := p.g.begin(&p.s, &p.r, t.Candidate)
		u = &begun
		u.started = p.within(a.Started, p.latest())
		p.g.chosen(ctx, &p.s, u)
	}
	a.Started = u.started
	if t.Open || a.AcceptedAt != (time.Time{}) || a.Stage == StageServed || a.Stage == StageBroken {
		a.AcceptedAt = p.within(a.AcceptedAt, u.started)
		if u.pin.AcceptedAt.IsZero() && t.Open && p.g.Intents != nil {
			_ = p.g.Intents.Intend(ctx, turn, u.pin.Candidate) // so that a crash does not lose what a vendor bills
		}
		p.g.accepted(ctx, &p.s, u, a.AcceptedAt)
	}
	if t.Open {
		p.last = u
		if a.ResponseID != "" {
			p.g.made(ctx, &p.r, u.pin, Attempt{ResponseID: a.ResponseID})
		}
		if a.Said != (Said{}) {
			p.g.heard(ctx, &p.s, &p.r, a.Said, a.ResponseID)
		}
		return
	}
	a.AcceptedAt = u.pin.AcceptedAt
	p.g.ended(ctx, &p.s, &p.r, u, &a)
	p.last = nil
	turn.Attempts = append(turn.Attempts, a)
	p.made = append(p.made, t.Candidate)
}

// latest is when the next attempt began if nobody says: where the last one ended.
func (p *Pending) latest() time.Time {
	if last, ok := p.s.turn.Last(); ok {
		return last.Started.Add(max(0, last.Took))
	}
	return p.s.turn.Started
}

// within brings a time that somebody else's clock told into the turn. Where it told
// none, usual is taken.
func (p *Pending) within(at, usual time.Time) time.Time {
	if at.IsZero() {
		at = usual
	}
	if now := p.g.now(); at.After(now) {
		at = now
	}
	if at.Before(p.s.turn.Started) {
		at = p.s.turn.Started
	}
	return at
}

// endOf is when an attempt ended that has just been told of, or has just ended.
func (g *Gateway) endOf(s *turnState, a *Attempt) time.Time {
	now := g.now()
	if end := a.Started.Add(a.Took); s.turn.Remote && end.Before(now) {
		return end
	}
	return now
}
