package engine

import (
	"context"
	"slices"
)

// classOrigin is the class of the records that say who made a response. They are
// kept beside the pins and are none: affinity neither reads nor drops them.
const classOrigin Class = "origin"

// OriginKey is where it is kept who made a response of the API responses, by the
// id its vendor gave it. Tenants do not see each other's.
func OriginKey(tenant, response string) PinKey {
	return PinKey{Tenant: tenant, Class: classOrigin, ID: bounded(response)}
}

// Aside says whether the key is of a record that lies beside the pins of sessions: one
// that says who made a response ([OriginKey]) or served a marked prefix ([PrefixKey]),
// or to which chain a served turn belongs ([TurnKey]).
func (k PinKey) Aside() bool {
	return k.Class == classOrigin || k.Class == classTurn || k.Class == classPrefix
}

// MadeBy is what is kept of a response's maker: its vendor and credential, whose
// account alone knows the response, and, once an attempt has served it, what the
// conversation measures up to there. It can be read for [Readable], and promises
// nothing of a cache. ok is false where there is no response to go back to.
func MadeBy(f SettleFacts, a Attempt) (e Entry, ok bool) {
	if a.ResponseID == "" || f.AcceptedAt.IsZero() || f.Unstored {
		return Entry{}, false
	}
	e = originOf(f)
	if a.Stage == StageServed && a.Quality.Complete() {
		e = e.counted(a)
	}
	return e, true
}

// vendors is how many vendors the plan's candidates have.
func (p *Plan) vendors() int {
	n := 0
	for i := range p.Candidates {
		met := false
		for j := range i {
			met = met || p.Candidates[j].Route.Vendor == p.Candidates[i].Route.Vendor
		}
		if !met {
			n++
		}
	}
	return n
}

// operated says whether some candidate uses the operator's key.
func (p *Plan) operated() bool {
	for i := range p.Candidates {
		if p.Candidates[i].Group == GroupOperator {
			return true
		}
	}
	return false
}

// unremembered is the kind of content in the request of which it must be known who made
// it, and is not: an id that several vendors could be asked for; or one that another
// tenant may have been given, at an account that tenants share.
func unremembered(r *Request, m *memory, p *Plan, unavailable bool) (kind Kind, ok bool) {
	several, shared := !unavailable && p.vendors() > 1, r.Rules.Apart && p.operated()
	if r.PreviousResponse != "" && !m.made && (shared || several && len(m.own.Models) == 0) {
		return KindResponse, true
	}
	for _, c := range r.Stateful {
		known := slices.ContainsFunc(m.bound, func(b Bound) bool { return b.Known && b.Stateful == c })
		if !known && (shared && c.Kind.held() || several && c.Kind.named()) {
			return c.Kind, true
		}
	}
	return "", false
}

// binding is what of the request is known to be bound to an account, each kind once.
func (m *memory) binding() (all []Bound) {
	if m.made {
		all = append(all, Bound{Stateful{Kind: KindResponse}, m.maker, true})
	}
	for _, b := range m.bound {
		if b.Known && b.Kind.binds() && !slices.ContainsFunc(all, func(o Bound) bool { return o.Kind == b.Kind }) {
			all = append(all, b)
		}
	}
	return all
}

// recallMakers asks who made the request's stateful content, one after the other.
func (g *Gateway) recallMakers(ctx context.Context, r *Request) ([]Bound, error) {
	if len(r.Stateful) == 0 {
		return nil, nil
	}
	all := make([]Bound, 0, min(len(r.Stateful), MaxStateful))
	for _, c := range r.Stateful[:cap(all)] {
		made, err := g.Pins.Recall(ctx, c.Key(r.Tenant))
		if err != nil {
			return nil, err
		}
		b := Bound{Stateful: c}
		_, b.Maker, b.Known = made.Newest()
		all = append(all, b)
	}
	return all, nil
}

// madeContent remembers who made content of an answer.
func (g *Gateway) madeContent(ctx context.Context, r *Request, pin SettleFacts, c Stateful) {
	switch {
	case c.Kind == KindResponse:
		g.made(ctx, r, pin, Attempt{ResponseID: c.ID})
	case g.Pins != nil && !pin.AcceptedAt.IsZero() && c.ID != "":
		g.keepMaker(ctx, c.Key(r.Tenant), pin, originOf(pin))
	}
}

// learnMakers remembers of the request's own content that the attempt's candidate has
// accepted it, where that says anything new.
func (g *Gateway) learnMakers(ctx context.Context, s *turnState, u *underway) {
	if g.Pins == nil {
		return
	}
	for i := range s.memory.bound {
		if e, ok := s.memory.bound[i].keep(u.pin); ok {
			g.keepMaker(ctx, s.memory.bound[i].Key(s.turn.Tenant), u.pin, e)
		}
	}
}

// unlearnMakers takes back what an acceptance taught that came to nothing.
func (g *Gateway) unlearnMakers(ctx context.Context, s *turnState, u *underway) {
	if g.Pins == nil || u.pin.AcceptedAt.IsZero() {
		return
	}
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	for i := range s.memory.bound {
		if b := &s.memory.bound[i]; !b.Known {
			_ = g.Pins.Drop(brief, b.Key(s.turn.Tenant), u.pin.Candidate.Route.Model.Name, originOf(u.pin))
		}
	}
}

// keepMaker is a hint like every pin: that it cannot be kept fails nothing.
func (g *Gateway) keepMaker(ctx context.Context, key PinKey, pin SettleFacts, e Entry) {
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	_ = g.Pins.Keep(brief, key, pin.Candidate.Route.Model.Name, e)
}
