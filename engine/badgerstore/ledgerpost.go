package badgerstore

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// posting is a batch of turns on its way into one transaction. Roll-ups and
// sessions are read once, added to in memory and written at its end.
type posting struct {
	l        *Ledger
	txn      *badger.Txn
	rollUps  map[string]*rows
	sessions map[string]*sessionPost
	accounts map[string]*accountRows
	memories map[string][]byte
	order    []string        // keys of both maps, as first touched
	settled  []string        // intents that are over
	fresh    []engine.Booked // settled turns that were not in the books; none where nobody is told
	recorded int64
	twice    int64
}

// sessionPost is a session's book and what it was.
type sessionPost struct {
	was, is engine.SessionBook
}

func (l *Ledger) newPosting() *posting {
	return &posting{l: l, txn: l.db.NewTransaction(true), rollUps: map[string]*rows{}, sessions: map[string]*sessionPost{},
		accounts: map[string]*accountRows{}, memories: map[string][]byte{}}
}

// The value of kindTurnID: eight bytes of the start and one for the state.
const (
	turnIDSize   = 9
	stateOpen    = 0
	stateSettled = 1
)

// post books one turn. One that is booked already changes nothing, unless it was
// not settled then and is now: in that case it takes the other's place.
//
// turn is what b was made of, for the auditor; nil where there is nothing to judge.
func (p *posting) post(b *engine.Booked, turn *engine.Turn) error {
	settled := b.State == engine.Settled
	intent := intentKey(b.Tenant, b.ID)
	if _, open := p.l.open[string(intent)]; open || !settled { // the writer alone changes open, so it may read it
		if err := p.txn.Delete(intent); err != nil {
			return err
		}
		p.settled = append(p.settled, string(intent))
	}
	old, booked, err := p.booked(b)
	if err != nil {
		return err
	}
	if booked && (old == nil || !settled) {
		p.twice++
		return nil
	}
	if old != nil {
		if err := p.withdraw(old); err != nil {
			return err
		}
	}
	if err := p.audit(b, turn); err != nil {
		return err
	}
	if err := p.write(b); err != nil {
		return err
	}
	if settled {
		p.recorded++
		if p.l.options.Settled != nil {
			p.fresh = append(p.fresh, *b)
		}
	}
	return p.count(b, 1)
}

// booked says whether a turn of this id is in the books. old is nil if that is
// settled, or cannot be read.
func (p *posting) booked(b *engine.Booked) (old *engine.Booked, booked bool, err error) {
	value, err := get(p.txn, turnIDKey(b.Tenant, b.ID))
	if err != nil || value == nil {
		return nil, false, err
	}
	if len(value) != turnIDSize || value[8] == stateSettled {
		return nil, true, nil
	}
	was := engine.Booked{Tenant: b.Tenant, ID: b.ID}
	was.Started, _ = engine.ParseNewest(value[:8])
	key := turnKey(&was)
	if value, err = get(p.txn, key); err != nil {
		return nil, false, err
	}
	was, ok := decodeBooked(key, value)
	if !ok {
		p.l.figures.bad.Add(1)
		return nil, true, nil
	}
	return &was, true, nil
}

// withdraw takes an unsettled turn out of the books.
func (p *posting) withdraw(b *engine.Booked) error {
	for _, key := range keysOf(b) {
		if err := p.txn.Delete(key); err != nil {
			return err
		}
	}
	return p.count(b, -1)
}

// keysOf are the keys under which a turn is found.
func keysOf(b *engine.Booked) [][]byte {
	keys := [][]byte{turnKey(b), allTurnsKey(b), turnIDKey(b.Tenant, b.ID)}
	if b.Session != "" {
		keys = append(keys, ofSessionKey(b))
	}
	return keys
}

// write stores the record and the keys under which it is found.
func (p *posting) write(b *engine.Booked) error {
	state := byte(stateOpen)
	if b.State == engine.Settled {
		state = stateSettled
	}
	keys := keysOf(b)
	if err := p.txn.Set(keys[0], encodeBooked(keys[0], b)); err != nil {
		return err
	}
	if err := p.txn.Set(keys[1], nil); err != nil {
		return err
	}
	if err := p.txn.Set(keys[2], append(engine.AppendNewest(nil, b.Started), state)); err != nil {
		return err
	}
	if b.Session == "" {
		return nil
	}
	return p.txn.Set(keys[3], nil)
}

// count adds a turn to its roll-ups and its session, or takes it out again.
func (p *posting) count(b *engine.Booked, sign int64) error {
	for _, route := range engine.SumRoutes(b) {
		if err := p.countRoute(b, &route, sign); err != nil {
			return err
		}
	}
	if b.Session == "" {
		return nil
	}
	session, err := p.session(b)
	if err != nil {
		return err
	}
	if sign < 0 {
		session.is.Sums = session.is.Sums.Sub(engine.Sum(*b))
		return nil
	}
	session.is.Add(b)
	return nil
}

// countRoute adds what stands at one route of a turn to its roll-ups, or takes it
// out again.
func (p *posting) countRoute(b *engine.Booked, route *engine.RouteSums, sign int64) error {
	second := b.Started.Unix()
	for _, all := range [...]bool{false, true} {
		for l := minutes; l <= days; l++ {
			key := appendPart(appendSlot(scopeKey(b.Tenant, all), l, l.down(second)), route.Model)
			lines, err := p.rollUp(key)
			if err != nil {
				return err
			}
			line, ok := lines.at(route.Vendor, b.Outcome)
			if !ok {
				p.l.figures.bad.Add(1)
			}
			*line.sums = added(*line.sums, route.Sums, sign)
		}
	}
	return nil
}

func added(sum, s engine.Sums, sign int64) engine.Sums {
	if sign < 0 {
		return sum.Sub(s)
	}
	return sum.Add(s)
}

// rollUp is the roll-up at key as this posting leaves it. A damaged one is begun
// anew.
func (p *posting) rollUp(key []byte) (*rows, error) {
	if lines, ok := p.rollUps[string(key)]; ok {
		return lines, nil
	}
	value, err := get(p.txn, key)
	if err != nil {
		return nil, err
	}
	lines := &rows{}
	if value != nil {
		var ok bool
		if *lines, ok = decodeRows(key, value); !ok {
			p.l.figures.bad.Add(1)
			*lines = nil
		}
	}
	p.rollUps[string(key)] = lines
	p.order = append(p.order, string(key))
	return lines, nil
}

// session is the book of the turn's session as this posting leaves it.
func (p *posting) session(b *engine.Booked) (*sessionPost, error) {
	key := sessionKey(b.Tenant, b.Class, b.Session)
	if s, ok := p.sessions[string(key)]; ok {
		return s, nil
	}
	value, err := get(p.txn, key)
	if err != nil {
		return nil, err
	}
	s := &sessionPost{}
	if value != nil {
		var ok bool
		if s.was, ok = decodeSession(key, value); !ok {
			p.l.figures.bad.Add(1)
			s.was = engine.SessionBook{}
		}
	}
	s.is = s.was
	p.sessions[string(key)] = s
	p.order = append(p.order, string(key))
	return s, nil
}

// finish writes roll-ups and sessions into the transaction.
func (p *posting) finish() error {
	for _, text := range p.order {
		key := []byte(text)
		var err error
		if lines, ok := p.rollUps[text]; ok {
			err = p.set(key, encodeRows(key, *lines))
		} else {
			err = p.finishSession(key, p.sessions[text])
		}
		if err != nil {
			return err
		}
	}
	return p.finishAudits()
}

func (p *posting) finishSession(key []byte, s *sessionPost) error {
	if err := p.txn.Set(key, encodeSession(key, &s.is)); err != nil {
		return err
	}
	if s.was.ID != "" {
		if s.was.Last.Equal(s.is.Last) {
			return nil
		}
		if err := errors.Join(p.txn.Delete(recentKey(&s.was)), p.txn.Delete(allRecentKey(&s.was))); err != nil {
			return err
		}
	}
	return errors.Join(p.txn.Set(recentKey(&s.is), nil), p.txn.Set(allRecentKey(&s.is), nil))
}

// set stores a value, or removes the key where there is none.
func (p *posting) set(key, value []byte) error {
	if value == nil {
		return p.txn.Delete(key)
	}
	return p.txn.Set(key, value)
}

// get is a copy of the value at key; nil if there is none.
func get(txn *badger.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := item.ValueCopy(nil)
	if err != nil {
		return nil, fmt.Errorf("read what lies at a key of kind %q: %w", key[:1], err)
	}
	if value == nil {
		value = []byte{}
	}
	return value, nil
}

// each calls with every key that begins with prefix, from the one at or behind
// from, in their order, until it returns false. A nil from is the first. The key
// is good until the call returns.
func each(txn *badger.Txn, prefix, from []byte, call func(key []byte, item *badger.Item) (more bool, err error)) error {
	o := badger.DefaultIteratorOptions
	o.Prefix = prefix
	o.PrefetchValues = false
	all := txn.NewIterator(o)
	defer all.Close()
	if from == nil {
		from = prefix
	}
	for all.Seek(from); all.Valid(); all.Next() {
		item := all.Item()
		more, err := call(item.Key(), item)
		if err != nil || !more {
			return err
		}
	}
	return nil
}
