package inmem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// turnKey names a turn.
type turnKey struct{ tenant, id string }

// book books a turn, forgetting the oldest if there are too many. One that is
// booked already changes nothing, and is nil. It is called with the lock held.
func (l *Ledger) book(turn engine.Turn, limit int) *engine.Booked {
	key := turnKey{turn.Tenant, turn.ID}
	delete(l.open, key)
	if l.known[key] != nil {
		return nil
	}
	if l.known == nil {
		l.known = map[turnKey]*engine.Booked{}
	}
	if len(l.books) >= limit {
		oldest := l.books[0]
		delete(l.known, turnKey{oldest.Tenant, oldest.ID})
		l.books[0] = nil
		l.books = l.books[1:]
		l.forget(oldest)
	}
	b := engine.Book(turn)
	l.audit(&turn, &b)
	l.books = append(l.books, &b)
	l.known[key] = &b
	return &b
}

// Intend notes that next is about to be tried. It implements [engine.Intents] and
// never fails.
func (l *Ledger) Intend(_ context.Context, turn *engine.Turn, next engine.Candidate) error {
	b := engine.BookIntent(turn, next, turn.Started.Add(turn.Took))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[turnKey]*engine.Booked{}
	}
	l.open[turnKey{turn.Tenant, turn.ID}] = &b
	return nil
}

// matching are the turns that are meant, newest start first.
func (l *Ledger) matching(q engine.Query) []*engine.Booked {
	l.mu.Lock()
	defer l.mu.Unlock()
	var turns []*engine.Booked
	for _, b := range l.books {
		if q.Matches(b) {
			turns = append(turns, b)
		}
	}
	for _, b := range l.open {
		if q.Matches(b) {
			turns = append(turns, b)
		}
	}
	slices.SortFunc(turns, func(a, b *engine.Booked) int { return a.Place().Compare(b.Place()) })
	return turns
}

// Overview adds up the turns that are meant, those in flight among them. Its
// bounds are whole minutes.
func (l *Ledger) Overview(ctx context.Context, q engine.Query, width time.Duration) (engine.Overview, error) {
	if err := ctx.Err(); err != nil {
		return engine.Overview{}, fmt.Errorf("overview: %w", err)
	}
	width = engine.SlotWidth(width)
	if !q.From.IsZero() {
		q.From = engine.SlotStart(q.From, time.Minute)
	}
	if !q.To.IsZero() {
		q.To = engine.SlotStart(q.To.Add(time.Minute-1), time.Minute)
	}
	var t engine.Tally
	for _, b := range l.matching(q.EveryRoute()) {
		t.Add(q, b, width)
	}
	return t.Overview(q, width), nil
}

// begin is where a page begins in a list of so many things: behind the place its
// token names. It must be one of the query's own kind.
func begin(q engine.Query, page engine.Page, ofSessions bool) (behind func(engine.Place) bool, err error) {
	at, found, err := engine.ParsePlace(page.After)
	if err != nil {
		return nil, err
	}
	if found && ((at.Class != "") != ofSessions || q.Tenant != "" && at.Tenant != q.Tenant) {
		return nil, engine.ErrPage
	}
	return func(p engine.Place) bool { return !found || at.Compare(p) < 0 }, nil
}

// Turns lists turns, newest start first, those in flight among them.
func (l *Ledger) Turns(ctx context.Context, q engine.Query, page engine.Page) (turns []engine.Booked, next string, err error) {
	behind, err := begin(q, page, false)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", fmt.Errorf("list turns: %w", err)
	}
	for _, b := range l.matching(q) {
		if !behind(b.Place()) {
			continue
		}
		if len(turns) == page.Size() {
			return turns, turns[len(turns)-1].Place().Token(), nil
		}
		turns = append(turns, *b)
	}
	return turns, "", nil
}

// Turn finds one turn of one tenant, in flight or booked.
func (l *Ledger) Turn(ctx context.Context, tenant, id string) (turn engine.Booked, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return engine.Booked{}, false, fmt.Errorf("find a turn: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := turnKey{tenant, id}
	b := l.open[key]
	if b == nil {
		b = l.known[key]
	}
	if b == nil {
		return engine.Booked{}, false, nil
	}
	return *b, true, nil
}

// sessions are the books of all sessions of a tenant, or of all tenants, most
// recently active first.
func (l *Ledger) sessions(tenant string) []*engine.SessionBook {
	type key struct {
		tenant string
		class  engine.Class
		id     string
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*engine.SessionBook
	known := map[key]*engine.SessionBook{}
	for _, b := range l.books {
		if b.Session == "" || tenant != "" && b.Tenant != tenant {
			continue
		}
		k := key{b.Tenant, b.Class, b.Session}
		if known[k] == nil {
			known[k] = &engine.SessionBook{}
			all = append(all, known[k])
		}
		known[k].Add(b)
		if account := l.accounts[turnKey{b.Tenant, b.ID}]; len(account) > 0 {
			sum := l.Auditor.Sum()
			if len(known[k].Account) > 0 {
				sum.Add(known[k].Account)
			}
			sum.Add(account)
			known[k].Account = sum.Account()
		}
	}
	slices.SortFunc(all, func(a, b *engine.SessionBook) int { return a.Place().Compare(b.Place()) })
	return all
}

// Sessions lists sessions, most recently active first. A turn in flight is not
// part of its session yet.
func (l *Ledger) Sessions(ctx context.Context, q engine.Query, page engine.Page) (sessions []engine.SessionBook, next string, err error) {
	behind, err := begin(q, page, true)
	switch {
	case err != nil:
	case q.Outcome != "":
		err = fmt.Errorf("%w: sessions by outcome; leave it out, or list turns", engine.ErrQuery)
	default:
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	for _, s := range l.sessions(q.Tenant) {
		if !q.MatchesSession(s) || !behind(s.Place()) {
			continue
		}
		if len(sessions) == page.Size() {
			return sessions, sessions[len(sessions)-1].Place().Token(), nil
		}
		sessions = append(sessions, *s)
	}
	return sessions, "", nil
}

// Session finds one session of one tenant.
func (l *Ledger) Session(ctx context.Context, tenant string, class engine.Class, id string) (s engine.SessionBook, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return engine.SessionBook{}, false, fmt.Errorf("find a session: %w", err)
	}
	for _, s := range l.sessions(tenant) {
		if s.Tenant == tenant && s.Class == class && s.ID == id {
			return *s, true, nil
		}
	}
	return engine.SessionBook{}, false, nil
}
