package badgerstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// view runs read over one moment of the books: a snapshot of the database and
// the turns that were in flight then. It returns when ctx ends, whatever the disk
// does.
func view[T any](ctx context.Context, l *Ledger, read func(*books) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := l.enter(ctx); err != nil {
		return none, err
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() { <-l.places }()
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{none, fmt.Errorf("the database is damaged: %v", p)}
			}
			answered <- a
		}()
		b := l.snapshot(ctx)
		defer b.txn.Discard()
		a.value, a.err = read(b)
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// enter takes a place for a query, waiting for one as long as ctx lasts.
func (l *Ledger) enter(ctx context.Context) error {
	select {
	case <-l.closing:
		return ErrLedgerClosed
	default:
	}
	select {
	case l.places <- struct{}{}:
	case <-l.closing:
		return ErrLedgerClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.closing:
		<-l.places
		return ErrLedgerClosed
	default:
		return nil
	}
}

// books are the books of one moment.
type books struct {
	ctx  context.Context
	l    *Ledger
	txn  *badger.Txn
	open []*engine.Booked // turns in flight
	seen int
}

func (l *Ledger) snapshot(ctx context.Context) *books {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &books{ctx: ctx, l: l, txn: l.db.NewTransaction(false)}
	for _, in := range l.open {
		b.open = append(b.open, in)
	}
	return b
}

// stopped says, now and then, whether nobody waits for the answer any more.
func (b *books) stopped() error {
	if b.seen++; b.seen%256 != 0 {
		return nil
	}
	return b.ctx.Err()
}

// turn reads the record at key.
func (b *books) turn(key []byte, item *badger.Item) (turn engine.Booked, ok bool, err error) {
	err = item.Value(func(value []byte) error {
		if turn, ok = decodeBooked(key, value); !ok {
			b.l.figures.bad.Add(1)
		}
		return nil
	})
	return turn, ok, err
}

func (b *books) find(key []byte) (turn engine.Booked, ok bool, err error) {
	item, err := b.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return engine.Booked{}, false, nil
	}
	if err != nil {
		return engine.Booked{}, false, err
	}
	return b.turn(key, item)
}

// Turn finds one turn of one tenant, in flight or booked.
func (l *Ledger) Turn(ctx context.Context, tenant, id string) (turn engine.Booked, found bool, err error) {
	p, err := view(ctx, l, func(b *books) (*engine.Booked, error) {
		for _, in := range b.open {
			if in.Tenant == tenant && in.ID == id {
				return in, nil
			}
		}
		value, err := get(b.txn, turnIDKey(tenant, id))
		if err != nil || len(value) != turnIDSize {
			return nil, err
		}
		at := engine.Booked{Tenant: tenant, ID: id}
		at.Started, _ = engine.ParseNewest(value[:8])
		turn, ok, err := b.find(turnKey(&at))
		if !ok {
			return nil, err
		}
		return &turn, err
	})
	if err != nil {
		return engine.Booked{}, false, fmt.Errorf("find a turn: %w", err)
	}
	if p == nil {
		return engine.Booked{}, false, nil
	}
	return *p, true, nil
}

// Turns lists turns, newest start first. Turns in flight are among them,
// unsettled. Filters other than tenant, bounds and a tenant's session are looked
// for record by record.
func (l *Ledger) Turns(ctx context.Context, q engine.Query, page engine.Page) (turns []engine.Booked, next string, err error) {
	at, found, err := engine.ParsePlace(page.After)
	if err == nil && found && (at.Class != "" || q.Tenant != "" && at.Tenant != q.Tenant) {
		err = engine.ErrPage
	}
	if err != nil {
		return nil, "", fmt.Errorf("list turns: %w", err)
	}
	size := page.Size()
	turns, err = view(ctx, l, func(b *books) (turns []engine.Booked, err error) {
		err = b.walk(q, begin{at, found}, func(turn *engine.Booked) bool {
			turns = append(turns, *turn)
			return len(turns) <= size
		})
		return turns, err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list turns: %w", err)
	}
	if len(turns) > size {
		turns = turns[:size]
		next = turns[size-1].Place().Token()
	}
	return turns, next, nil
}

// begin is where a list goes on: behind a place, if there is one.
type begin struct {
	place engine.Place
	given bool
}

// walk calls with every turn that is meant, newest start first, until it returns
// false.
func (b *books) walk(q engine.Query, from begin, call func(*engine.Booked) bool) error {
	open := b.inFlight(q, from)
	list := listOfTurns(q)
	more := true
	err := b.each(list, q, from, func(key []byte, item *badger.Item, place engine.Place) (bool, error) {
		for ; len(open) > 0 && open[0].Place().Compare(place) < 0; open = open[1:] {
			if !call(open[0]) {
				more = false
				return false, nil
			}
		}
		turn, ok, err := b.listed(list, key, item, place)
		if err != nil || !ok || !q.Matches(&turn) {
			return true, err
		}
		more = call(&turn)
		return more, nil
	})
	if err != nil {
		return err
	}
	for ; more && len(open) > 0; open = open[1:] {
		more = call(open[0])
	}
	return nil
}

// inFlight are the turns in flight that are meant, in the order of the list.
func (b *books) inFlight(q engine.Query, from begin) []*engine.Booked {
	var open []*engine.Booked
	for _, in := range b.open {
		if q.Matches(in) && (!from.given || from.place.Compare(in.Place()) < 0) {
			open = append(open, in)
		}
	}
	slices.SortFunc(open, func(x, y *engine.Booked) int { return x.Place().Compare(y.Place()) })
	return open
}

// list is a row of keys from the newest to the oldest.
type list struct {
	prefix []byte
	tenant string // whose it is; without one, keys hold whole places
	all    bool
	class  bool // keys of a tenant name a class too
}

func listOfTurns(q engine.Query) list {
	switch {
	case q.Tenant == "":
		return list{prefix: []byte{kindAllTurns}, all: true}
	case q.Session != "":
		return list{prefix: appendPart(appendPart([]byte{kindOfSession}, q.Tenant), q.Session), tenant: q.Tenant}
	}
	return list{prefix: appendPart([]byte{kindTurn}, q.Tenant), tenant: q.Tenant}
}

// key is that of a place.
func (l *list) key(p engine.Place) []byte {
	k := bytes.Clone(l.prefix)
	if l.all {
		return p.AppendBytes(k)
	}
	k = engine.AppendNewest(k, p.At)
	if l.class {
		k = appendPart(k, string(p.Class))
	}
	return appendPart(k, p.ID)
}

// place reads a key.
func (l *list) place(key []byte) (p engine.Place, ok bool) {
	rest := key[len(l.prefix):]
	if l.all {
		return engine.ParsePlaceBytes(rest)
	}
	if len(rest) < 8 {
		return engine.Place{}, false
	}
	p.Tenant = l.tenant
	p.At, _ = engine.ParseNewest(rest[:8])
	in := input{b: rest[8:]}
	if l.class {
		p.Class = engine.Class(in.string())
	}
	p.ID = in.string()
	return p, !in.bad && len(in.b) == 0
}

// each calls with the keys of a list that lie inside the query's bounds and behind
// from.
func (b *books) each(list list, q engine.Query, from begin, call func(key []byte, item *badger.Item, place engine.Place) (bool, error)) error {
	var start, passed []byte
	if !q.To.IsZero() {
		start = engine.AppendNewest(bytes.Clone(list.prefix), q.To.Add(-time.Nanosecond))
	}
	if from.given {
		passed = list.key(from.place)
		if bytes.Compare(passed, start) > 0 {
			start = passed
		}
	}
	return each(b.txn, list.prefix, start, func(key []byte, item *badger.Item) (bool, error) {
		if err := b.stopped(); err != nil {
			return false, err
		}
		place, ok := list.place(key)
		switch {
		case !ok:
			b.l.figures.bad.Add(1)
			return true, nil
		case bytes.Equal(key, passed):
			return true, nil
		case !q.From.IsZero() && place.At.Before(q.From):
			return false, nil
		}
		return call(key, item, place)
	})
}

// listed is the turn that a list names.
func (b *books) listed(list list, key []byte, item *badger.Item, place engine.Place) (turn engine.Booked, ok bool, err error) {
	if list.prefix[0] == kindTurn {
		return b.turn(key, item)
	}
	return b.find(turnKey(&engine.Booked{Tenant: place.Tenant, ID: place.ID, Started: place.At}))
}

// Sessions lists sessions, most recently active first. A turn in flight is not
// part of its session yet.
func (l *Ledger) Sessions(ctx context.Context, q engine.Query, page engine.Page) (sessions []engine.SessionBook, next string, err error) {
	at, found, err := engine.ParsePlace(page.After)
	switch {
	case err != nil:
	case found && (at.Class == "" || q.Tenant != "" && at.Tenant != q.Tenant):
		err = engine.ErrPage
	case q.Outcome != "":
		err = fmt.Errorf("%w: sessions by outcome; leave it out, or list turns", engine.ErrQuery)
	}
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	size := page.Size()
	list := list{prefix: []byte{kindAllRecent}, all: true}
	if q.Tenant != "" {
		list.prefix, list.tenant, list.all, list.class = appendPart([]byte{kindRecent}, q.Tenant), q.Tenant, false, true
	}
	sessions, err = view(ctx, l, func(b *books) (sessions []engine.SessionBook, err error) {
		err = b.each(list, q, begin{at, found}, func(_ []byte, _ *badger.Item, place engine.Place) (bool, error) {
			s, ok, err := b.session(place.Tenant, place.Class, place.ID)
			if err != nil || !ok || !q.MatchesSession(&s) {
				return true, err
			}
			sessions = append(sessions, s)
			return len(sessions) <= size, nil
		})
		return sessions, err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	if len(sessions) > size {
		sessions = sessions[:size]
		next = sessions[size-1].Place().Token()
	}
	return sessions, next, nil
}

// session reads a session's book.
func (b *books) session(tenant string, class engine.Class, id string) (s engine.SessionBook, ok bool, err error) {
	key := sessionKey(tenant, class, id)
	value, err := get(b.txn, key)
	if err != nil || value == nil {
		return engine.SessionBook{}, false, err
	}
	if s, ok = decodeSession(key, value); !ok {
		b.l.figures.bad.Add(1)
	}
	return s, ok, nil
}

// Session finds one session of one tenant.
func (l *Ledger) Session(ctx context.Context, tenant string, class engine.Class, id string) (s engine.SessionBook, found bool, err error) {
	p, err := view(ctx, l, func(b *books) (*engine.SessionBook, error) {
		s, ok, err := b.session(tenant, class, id)
		if !ok {
			return nil, err
		}
		return &s, err
	})
	if err != nil {
		return engine.SessionBook{}, false, fmt.Errorf("find a session: %w", err)
	}
	if p == nil {
		return engine.SessionBook{}, false, nil
	}
	return *p, true, nil
}
