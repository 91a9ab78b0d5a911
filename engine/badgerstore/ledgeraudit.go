package badgerstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

// accountLine is a line of a roll-up of accounts: what the auditor said of the turns
// of one slot and model that ended at this vendor with this outcome.
type accountLine struct {
	vendor, outcome string
	stored          []byte            // nil once it is being added to
	sum             engine.AccountSum // nil until then
}

// accountRows are the lines of a roll-up of accounts by vendor and outcome.
type accountRows []accountLine

// add takes over one turn's account.
func (r *accountRows) add(auditor engine.Auditor, vendor, outcome string, account []byte) (ok bool) {
	i, found := slices.BinarySearchFunc(*r, accountLine{vendor: vendor, outcome: outcome}, accountLine.compare)
	if !found {
		*r = slices.Insert(*r, i, accountLine{vendor: vendor, outcome: outcome, sum: auditor.Sum()})
	}
	line := &(*r)[i]
	ok = true
	if line.sum == nil {
		line.sum = auditor.Sum()
		ok = line.sum.Add(line.stored)
		line.stored = nil
	}
	return line.sum.Add(account) && ok
}

func (l accountLine) compare(other accountLine) int {
	return cmp.Or(cmp.Compare(l.vendor, other.vendor), cmp.Compare(l.outcome, other.outcome))
}

// encodeAccounts returns the value to be stored at the key of a roll-up of accounts.
func encodeAccounts(key []byte, r accountRows) []byte {
	b := sealed(256 * len(r))
	for i := range r {
		account := r[i].stored
		if r[i].sum != nil {
			account = r[i].sum.Account()
		}
		b = appendBytes(appendString(appendString(b, r[i].vendor), r[i].outcome), account)
	}
	return seal(key, b)
}

// eachAccount calls with every line of a roll-up of accounts stored at key, as long as
// they are whole.
func eachAccount(key, value []byte, call func(vendor, outcome, account []byte) bool) (ok bool) {
	held, ok := unseal(key, value)
	if !ok {
		return false
	}
	for in := (input{b: held}); len(in.b) > 0; {
		vendor, outcome, account := in.bytes(), in.bytes(), in.bytes()
		if in.bad || !call(vendor, outcome, account) {
			return false
		}
	}
	return true
}

func decodeAccounts(key, value []byte) (r accountRows, ok bool) {
	ok = eachAccount(key, value, func(vendor, outcome, account []byte) bool {
		r = append(r, accountLine{vendor: string(vendor), outcome: string(outcome), stored: bytes.Clone(account)})
		return true
	})
	return r, ok
}

// audit has the auditor judge a turn, and keeps what it says: the verdict with the
// record, its account in the roll-ups, its memory beside the session.
func (p *posting) audit(b *engine.Booked, turn *engine.Turn) error {
	auditor := p.l.options.Auditor
	if auditor == nil || turn == nil {
		return nil
	}
	var key string
	var memory []byte
	if b.Session != "" {
		key = string(memoryKey(b.Tenant, b.Class, b.Session))
		var err error
		if memory, err = p.memory(key); err != nil {
			return err
		}
	}
	said := auditor.Audit(turn, memory)
	b.Audit, b.Miss = said.Verdict, said.Miss
	if key != "" {
		p.memories[key] = said.Memory
	}
	if len(said.Account) == 0 {
		return nil
	}
	if b.Session != "" {
		session, err := p.session(b)
		if err != nil {
			return err
		}
		sum := auditor.Sum()
		if len(session.is.Account) > 0 && !sum.Add(session.is.Account) || !sum.Add(said.Account) {
			p.l.figures.bad.Add(1)
		}
		session.is.Account = sum.Account()
	}
	second := b.Started.Unix()
	for _, all := range [...]bool{false, true} {
		for l := minutes; l <= days; l++ {
			key := appendPart(appendSlot(kindScopeKey(kindAccount, b.Tenant, all), l, l.down(second)), b.Model)
			lines, err := p.accountsAt(key)
			if err != nil {
				return err
			}
			if !lines.add(auditor, b.Vendor(), string(b.Outcome), said.Account) {
				p.l.figures.bad.Add(1)
			}
		}
	}
	return nil
}

// memory is what the auditor remembers of a session as this posting leaves it.
func (p *posting) memory(key string) ([]byte, error) {
	if memory, ok := p.memories[key]; ok {
		return memory, nil
	}
	value, err := get(p.txn, []byte(key))
	if err != nil || value == nil {
		return nil, err
	}
	held, ok := unseal([]byte(key), value)
	if !ok {
		p.l.figures.bad.Add(1)
		return nil, nil
	}
	return held, nil
}

func (p *posting) accountsAt(key []byte) (*accountRows, error) {
	if lines, ok := p.accounts[string(key)]; ok {
		return lines, nil
	}
	value, err := get(p.txn, key)
	if err != nil {
		return nil, err
	}
	lines := &accountRows{}
	if value != nil {
		var ok bool
		if *lines, ok = decodeAccounts(key, value); !ok {
			p.l.figures.bad.Add(1)
			*lines = nil
		}
	}
	p.accounts[string(key)] = lines
	return lines, nil
}

// finishAudits writes accounts and memories into the transaction.
func (p *posting) finishAudits() error {
	for text, lines := range p.accounts {
		key := []byte(text)
		if err := p.txn.Set(key, encodeAccounts(key, *lines)); err != nil {
			return err
		}
	}
	for text, memory := range p.memories {
		key := []byte(text)
		var value []byte
		if len(memory) > 0 {
			value = seal(key, append(sealed(len(memory)), memory...))
		}
		if err := p.set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Accounts adds up what the auditor said of the turns that are meant. Bounds and the
// widths of slots are those of [Ledger.Overview].
func (l *Ledger) Accounts(ctx context.Context, q engine.Query, width time.Duration) (engine.Accounts, error) {
	if q.Session != "" || q.Class != "" || q.Miss != "" {
		return engine.Accounts{}, fmt.Errorf("%w: accounts by session, class or miss; leave them out", engine.ErrQuery)
	}
	width = engine.SlotWidth(width)
	now := l.options.Now()
	s := l.stretch(q, now)
	q.From, q.To = s.bounds(q)
	if l.options.Auditor == nil {
		return engine.Accounts{Query: q, Width: width}, nil
	}
	a, err := view(ctx, l, func(b *books) (engine.Accounts, error) {
		return b.accounts(q, width, s.ranges(l, levelOf(width), now))
	})
	if err != nil {
		return engine.Accounts{}, fmt.Errorf("accounts: %w", err)
	}
	return a, nil
}

// accountRoute names a line of accounts.
type accountRoute struct{ model, vendor string }

func (b *books) accounts(q engine.Query, width time.Duration, ranges []ranged) (engine.Accounts, error) {
	auditor := b.l.options.Auditor
	scope := kindScopeKey(kindAccount, q.Tenant, q.Tenant == "")
	routes := map[accountRoute]engine.AccountSum{}
	slots := map[int64]engine.AccountSum{}
	total := auditor.Sum()
	for _, r := range ranges {
		slot := max(int64(width/time.Second), r.level.seconds())
		err := b.eachRollUp(&q, scope, r, func(second int64, model, key, value []byte) bool {
			return eachAccount(key, value, func(vendor, outcome, account []byte) bool {
				if q.Vendor != "" && string(vendor) != q.Vendor || q.Outcome != "" && string(outcome) != string(q.Outcome) {
					return true
				}
				at := accountRoute{string(model), string(vendor)}
				if routes[at] == nil {
					routes[at] = auditor.Sum()
				}
				start := floor(second, slot)
				if slots[start] == nil {
					slots[start] = auditor.Sum()
				}
				return total.Add(account) && routes[at].Add(account) && slots[start].Add(account)
			})
		})
		if err != nil {
			return engine.Accounts{}, err
		}
	}
	a := engine.Accounts{Query: q, Width: width}
	if len(routes) > 0 {
		a.Total = total.Account()
	}
	for at, sum := range routes {
		a.Routes = append(a.Routes, engine.RouteAccount{Vendor: at.vendor, Model: at.model, Account: sum.Account()})
	}
	slices.SortFunc(a.Routes, func(a, b engine.RouteAccount) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Vendor, b.Vendor))
	})
	for start, sum := range slots {
		a.Series = append(a.Series, engine.SlotAccount{Start: time.Unix(start, 0).UTC(), Account: sum.Account()})
	}
	slices.SortFunc(a.Series, func(a, b engine.SlotAccount) int { return a.Start.Compare(b.Start) })
	return a, nil
}

// eachRollUp calls with every roll-up of a scope in a range that the query's model
// allows; one for which it returns false is counted as damaged.
func (b *books) eachRollUp(q *engine.Query, scope []byte, r ranged, call func(second int64, model, key, value []byte) bool) error {
	prefix := append(bytes.Clone(scope), byte(r.level))
	from := appendSlot(bytes.Clone(scope), r.level, r.from)
	return each(b.txn, prefix, from, func(key []byte, item *badger.Item) (bool, error) {
		if err := b.stopped(); err != nil {
			return false, err
		}
		second, model, ok := slotOf(key[len(prefix):])
		switch {
		case !ok:
			b.l.figures.bad.Add(1)
			return true, nil
		case second >= r.to:
			return false, nil
		case q.Model != "" && string(model) != q.Model:
			return true, nil
		}
		return true, item.Value(func(value []byte) error {
			if !call(second, model, key, value) {
				b.l.figures.bad.Add(1)
			}
			return nil
		})
	})
}
