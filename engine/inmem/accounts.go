package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// sessionKey names a session.
type sessionKey struct {
	tenant string
	class  engine.Class
	id     string
}

// audit has the auditor judge a turn. It is called with the lock held.
func (l *Ledger) audit(turn *engine.Turn, b *engine.Booked) {
	if l.Auditor == nil {
		return
	}
	if l.accounts == nil {
		l.accounts, l.memories, l.held = map[turnKey][]byte{}, map[sessionKey][]byte{}, map[sessionKey]int{}
	}
	session := sessionKey{b.Tenant, b.Class, b.Session}
	var memory []byte
	if b.Session != "" {
		memory = l.memories[session]
	}
	said := l.Auditor.Audit(turn, memory)
	b.Miss, b.Audit = said.Miss, said.Verdict
	l.accounts[turnKey{b.Tenant, b.ID}] = said.Account
	if b.Session != "" {
		l.memories[session] = said.Memory
		l.held[session]++
	}
}

// forget drops what the auditor said of a turn, and with a session's last turn what
// it remembers of it. It is called with the lock held.
func (l *Ledger) forget(b *engine.Booked) {
	if l.Auditor == nil {
		return
	}
	delete(l.accounts, turnKey{b.Tenant, b.ID})
	session := sessionKey{b.Tenant, b.Class, b.Session}
	if l.held[session]--; l.held[session] <= 0 {
		delete(l.held, session)
		delete(l.memories, session)
	}
}

// Accounts adds up what the auditor said of the turns that are meant. Its bounds are
// whole minutes.
func (l *Ledger) Accounts(ctx context.Context, q engine.Query, width time.Duration) (engine.Accounts, error) {
	switch {
	case q.Session != "" || q.Class != "" || q.Miss != "":
		return engine.Accounts{}, fmt.Errorf("%w: accounts by session, class or miss; leave them out", engine.ErrQuery)
	case ctx.Err() != nil:
		return engine.Accounts{}, fmt.Errorf("accounts: %w", ctx.Err())
	}
	width = engine.SlotWidth(width)
	if !q.From.IsZero() {
		q.From = engine.SlotStart(q.From, time.Minute)
	}
	if !q.To.IsZero() {
		q.To = engine.SlotStart(q.To.Add(time.Minute-1), time.Minute)
	}
	a := engine.Accounts{Query: q, Width: width}
	if l.Auditor == nil {
		return a, nil
	}
	type route struct{ model, vendor string }
	total := l.Auditor.Sum()
	routes := map[route]engine.AccountSum{}
	slots := map[time.Time]engine.AccountSum{}
	for _, b := range l.matching(q) {
		l.mu.Lock()
		account := l.accounts[turnKey{b.Tenant, b.ID}]
		l.mu.Unlock()
		if len(account) == 0 {
			continue
		}
		at, start := route{b.Model, b.Vendor()}, engine.SlotStart(b.Started, width)
		if routes[at] == nil {
			routes[at] = l.Auditor.Sum()
		}
		if slots[start] == nil {
			slots[start] = l.Auditor.Sum()
		}
		total.Add(account)
		routes[at].Add(account)
		slots[start].Add(account)
	}
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
		a.Series = append(a.Series, engine.SlotAccount{Start: start, Account: sum.Account()})
	}
	slices.SortFunc(a.Series, func(a, b engine.SlotAccount) int { return a.Start.Compare(b.Start) })
	return a, nil
}
