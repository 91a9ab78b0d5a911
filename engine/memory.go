package engine

import "github.com/warmroute/warmroute/catalog"

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
	switch {
	case !session.HasThreads():
		return 0
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
