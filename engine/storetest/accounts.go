package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Counter is an [engine.Auditor] that counts: its verdict is a turn's number in its
// session, its account the number of turns, its memory that of the session's. Every
// third turn of a session is a miss. It judges turns with markers only. Stores are
// opened with it for the tests of [Ledger].
type Counter struct{}

// Audit counts a turn.
func (Counter) Audit(t *engine.Turn, memory []byte) engine.Audit {
	if t.Asked.Markers == 0 {
		return engine.Audit{}
	}
	n := uint64(1)
	if len(memory) == 8 {
		n += binary.BigEndian.Uint64(memory)
	}
	said := engine.Audit{Verdict: counted(n), Account: counted(1), Memory: counted(n)}
	if n%3 == 0 {
		said.Miss = []string{"vendor_switched", "pin_lost"}[len(t.Plan.Candidates)%2]
	}
	return said
}

// Sum begins a sum.
func (Counter) Sum() engine.AccountSum { return new(counterSum) }

func counted(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

type counterSum uint64

func (s *counterSum) Add(account []byte) bool {
	if len(account) != 8 {
		return false
	}
	*s += counterSum(binary.BigEndian.Uint64(account))
	return true
}

func (s *counterSum) Account() []byte { return counted(uint64(*s)) }

var _ engine.Auditor = Counter{}

// accounts: every turn is judged once, in the order of its session, and accounts are
// the sums of their turns.
func accounts(t *testing.T, l ledger) {
	r := rand.New(rand.NewPCG(8, 8))
	market := NewMarket()
	began := time.Date(2026, 11, 29, 23, 58, 0, 0, time.UTC)
	var turns []engine.Turn
	for i := range 300 {
		turn := market.Turn(r, i, began.Add(time.Duration(i)*7*time.Second))
		turn.Asked.Markers = 1
		turns = append(turns, turn)
	}
	l.record(turns...)
	l.record(turns[7], turns[8]) // told twice, judged once
	type session struct {
		tenant string
		class  engine.Class
		id     string
	}
	numbers := map[session]uint64{}
	misses := map[string]int{}
	for i := range turns {
		want := uint64(1)
		booked := engine.Book(turns[i])
		if booked.Session != "" {
			at := session{booked.Tenant, booked.Class, booked.Session}
			numbers[at]++
			want = numbers[at]
		}
		got, found, err := l.store.Turn(context.Background(), booked.Tenant, booked.ID)
		if err != nil || !found || string(got.Audit) != string(counted(want)) {
			l.t.Fatalf("turn %d: judged %x, want %x (%t, %v)", i, got.Audit, counted(want), found, err)
		}
		if got.Miss != "" {
			misses[got.Miss]++
			misses[engine.AnyMiss]++
		}
	}
	for at, want := range numbers {
		s, found, err := l.store.Session(context.Background(), at.tenant, at.class, at.id)
		if err != nil || !found || string(s.Account) != string(counted(want)) {
			l.t.Errorf("session %v: account %x, want %x (%t, %v)", at, s.Account, counted(want), found, err)
		}
	}
	if len(misses) != 3 {
		l.t.Errorf("misses %v", misses)
	}
	for cause, want := range misses {
		if got := l.all(engine.Query{Miss: cause}, 20); len(got) != want {
			l.t.Errorf("%d turns missed by %s, want %d", len(got), cause, want)
		}
	}
	for _, q := range []engine.Query{
		{}, {Tenant: "t1"}, {Vendor: "anthropic"}, {Model: "deepseek/v4"}, {Outcome: engine.Promoted},
		{From: began.Add(2 * time.Minute), To: began.Add(10 * time.Minute)}, {Vendor: "nobody"},
	} {
		for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
			a, err := l.store.Accounts(context.Background(), q, width)
			sameAccounts(l.t, must(l.t, a, err), turns)
		}
	}
	for _, q := range []engine.Query{{Session: "s"}, {Class: engine.ClassAgent}, {Miss: "any"}} {
		if _, err := l.store.Accounts(context.Background(), q, time.Hour); !errors.Is(err, engine.ErrQuery) {
			l.t.Errorf("accounts of %+v: %v", q, err)
		}
	}
}

// sameAccounts says where accounts are not what these turns come to.
func sameAccounts(t *testing.T, a engine.Accounts, turns []engine.Turn) {
	t.Helper()
	routes, slots, total := map[string]uint64{}, map[int64]uint64{}, uint64(0)
	for i := range turns {
		b := engine.Book(turns[i])
		if a.Query.Matches(&b) {
			routes[b.Model+" at "+b.Vendor()]++
			slots[engine.SlotStart(b.Started, a.Width).Unix()]++
			total++
		}
	}
	read := func(account []byte) uint64 {
		if len(account) != 8 {
			return 0
		}
		return binary.BigEndian.Uint64(account)
	}
	wrong := read(a.Total) != total || len(a.Routes) != len(routes) || len(a.Series) != len(slots)
	for _, r := range a.Routes {
		wrong = wrong || routes[r.Model+" at "+r.Vendor] != read(r.Account)
	}
	for _, s := range a.Series {
		wrong = wrong || slots[s.Start.Unix()] != read(s.Account)
	}
	inOrder := slices.IsSortedFunc(a.Series, func(x, y engine.SlotAccount) int { return x.Start.Compare(y.Start) })
	if wrong || !inOrder {
		t.Errorf("accounts of %+v by %s: %s, want %d, %v, %v", a.Query, a.Width, fmt.Sprint(a), total, routes, slots)
	}
}
