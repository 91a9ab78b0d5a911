package engine

import (
	"context"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// memory is what is remembered that bears on one request.
type memory struct {
	own    Record // of the session, in the scope of the target
	parent Record // of the session that started it
	ahead  Record // of the request's marked prefix, where the profile asks for it
	marked MarkedPrefix
	thread uint64
	maker  Entry // of the response that the request continues
	made   bool
	bound  []Bound // what else of the request only its maker can read
}

// last is the entry whose report tells how large the request is; its zero value
// tells nothing.
func (m *memory) last() Entry {
	if m.made && m.maker.Reported {
		return m.maker
	}
	e, _ := m.own.Reported(m.thread)
	return e
}

// threadOf is the thread of the request. One that continues a stored response
// holds no opening of its own: it has that of the response, as far as that is
// remembered, else of what the session did last.
func (m *memory) threadOf(r *Request, session Session) uint64 {
	if !session.HasThreads() {
		return 0
	}
	return m.opens(r)
}

// bookedThread is the thread of the request as an auditor is told of it. It is told
// apart where pins are not: in a profile with one pin for all of a session's threads,
// and under a cache key, whose conversations share a pin and not a prefix.
func (m *memory) bookedThread(r *Request, session Session) uint64 {
	if session.Class == ClassCacheKey {
		return m.opens(r)
	}
	return m.threadOf(r, session)
}

// opens is threadOf of any session.
func (m *memory) opens(r *Request) uint64 {
	switch {
	case m.made:
		return m.maker.Thread
	case r.continues():
		_, newest, _ := m.own.Newest()
		return newest.Thread
	case r.Words != nil:
		return Thread(r.Words())
	case r.Opening != nil:
		return Thread(r.Opening())
	}
	return 0
}

// lacks says whether some model of the targets has no entry of the thread.
func (m *memory) lacks(targets []catalog.Target) bool {
	for _, t := range targets {
		for _, model := range t.Models {
			if !m.own.Holds(model.Name, m.thread) {
				return true
			}
		}
	}
	return false
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
