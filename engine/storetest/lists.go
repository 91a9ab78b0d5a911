package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

func pages(t *testing.T, l ledger) {
	turns := some(250, 7)
	l.record(turns...)
	all := booked(turns)
	for _, q := range []engine.Query{{}, {Tenant: "t1"}, {Outcome: engine.Confirmed}, {Tenant: "t1", Session: "session-1"}} {
		for _, limit := range []int{0, 1, 7, 100, 249, 250, 100_000} {
			sameText(t, fmt.Sprintf("%+v by %d", q, limit), l.all(q, limit), listed(all, q))
		}
	}
	whole := l.sessions(engine.Query{}, 1000)
	for _, limit := range []int{1, 7, len(whole)} {
		sameText(t, fmt.Sprintf("sessions by %d", limit), l.sessions(engine.Query{}, limit), whole)
	}
}

func ties(t *testing.T, l ledger) {
	at := start()
	market := NewMarket()
	r := rand.New(rand.NewPCG(8, 1))
	var turns []engine.Turn
	for i := range 40 {
		turns = append(turns, market.Turn(r, i*i, at))
	}
	l.record(turns...)
	for _, limit := range []int{1, 3, 100} {
		sameText(t, fmt.Sprint("by ", limit), l.all(engine.Query{}, limit), listed(booked(turns), engine.Query{}))
	}
}

func strangePages(t *testing.T, l ledger) {
	ctx := context.Background()
	l.record(some(50, 9)...)
	_, next, err := l.store.Turns(ctx, engine.Query{Tenant: "t1"}, engine.Page{Limit: 1})
	if err != nil || next == "" {
		t.Fatalf("next %q, %v", next, err)
	}
	_, ofSessions, err := l.store.Sessions(ctx, engine.Query{Tenant: "t1"}, engine.Page{Limit: 1})
	if err != nil || ofSessions == "" {
		t.Fatalf("next %q, %v", ofSessions, err)
	}
	for _, token := range []string{"x", "!", next[:len(next)-1], next + "A", "AQ", ofSessions} {
		if _, _, err := l.store.Turns(ctx, engine.Query{}, engine.Page{After: token}); !errors.Is(err, engine.ErrPage) {
			t.Errorf("turns after %q: %v", token, err)
		}
	}
	if _, _, err := l.store.Turns(ctx, engine.Query{Tenant: "other team"}, engine.Page{After: next}); !errors.Is(err, engine.ErrPage) {
		t.Errorf("turns after another tenant's: %v", err)
	}
	if _, _, err := l.store.Sessions(ctx, engine.Query{}, engine.Page{After: next}); !errors.Is(err, engine.ErrPage) {
		t.Errorf("sessions after a turn: %v", err)
	}
	if _, _, err := l.store.Sessions(ctx, engine.Query{Tenant: "other team"}, engine.Page{After: ofSessions}); !errors.Is(err, engine.ErrPage) {
		t.Errorf("sessions after another tenant's: %v", err)
	}
	if _, _, err := l.store.Sessions(ctx, engine.Query{Outcome: engine.NoPin}, engine.Page{}); !errors.Is(err, engine.ErrQuery) {
		t.Errorf("sessions by outcome: %v", err)
	}
}

// tenantsApart has tenants whose names begin alike use the same ids.
func tenantsApart(t *testing.T, l ledger) {
	ctx := context.Background()
	tenants := []string{"a", "ab", "a|", "a\x00", "A", "b", "\x01a", "a\x01\x02id"}
	r := rand.New(rand.NewPCG(10, 1))
	market := NewMarket()
	var turns []engine.Turn
	for i := range 20 {
		for _, tenant := range tenants {
			turn := market.Turn(r, i, start().Add(-time.Duration(r.IntN(1e12))))
			turn.Tenant, turn.Session.Tenant = tenant, tenant
			turn.Session.Class, turn.Session.ID = engine.ClassExplicit, "same"
			turns = append(turns, turn)
		}
	}
	l.record(turns...)
	all := booked(turns)
	for _, tenant := range tenants {
		for _, q := range []engine.Query{{Tenant: tenant}, {Tenant: tenant, Session: "same"}, {Tenant: tenant, Class: engine.ClassExplicit}} {
			want := listed(all, q)
			sameText(t, fmt.Sprintf("%+q", q.Tenant), l.all(q, 3), want)
			o := must2(l.store.Overview(ctx, q, time.Hour))(t)
			SameOverview(t, o, want)
			if len(want) != 20 {
				t.Errorf("%d turns", len(want))
			}
		}
		sessions := l.sessions(engine.Query{Tenant: tenant}, 1)
		if len(sessions) != 1 || sessions[0].Tenant != tenant || sessions[0].Sums.Turns != 20 {
			t.Errorf("sessions of %+q: %+v", tenant, sessions)
		}
	}
	if _, found, err := l.store.Turn(ctx, "nobody", "turn-1"); found || err != nil {
		t.Errorf("nobody finds a turn: %v, %v", found, err)
	}
	if _, found, err := l.store.Session(ctx, "nobody", engine.ClassExplicit, "same"); found || err != nil {
		t.Errorf("nobody finds a session: %v, %v", found, err)
	}
}

func sessionFolds(t *testing.T, l ledger) {
	ctx := context.Background()
	turns := some(600, 11)
	l.record(turns...)
	type key struct {
		tenant string
		class  engine.Class
		id     string
	}
	want := map[key]*engine.SessionBook{}
	for _, turn := range turns {
		b := engine.Book(turn)
		k := key{b.Tenant, b.Class, b.Session}
		if b.Session == "" {
			continue
		}
		if want[k] == nil {
			want[k] = &engine.SessionBook{}
		}
		want[k].Add(&b)
	}
	got := l.sessions(engine.Query{}, 1000)
	if len(got) != len(want) {
		t.Errorf("%d sessions, want %d", len(got), len(want))
	}
	for i, s := range got {
		w := want[key{s.Tenant, s.Class, s.ID}]
		if w == nil {
			t.Fatalf("a session of nobody: %+v", s)
		}
		sameSession(t, s, *w)
		one, found, err := l.store.Session(ctx, s.Tenant, s.Class, s.ID)
		if err != nil || !found {
			t.Fatalf("%+v: %v, %v", s, found, err)
		}
		sameSession(t, one, *w)
		if i > 0 && got[i-1].Last.Before(s.Last) {
			t.Errorf("session %d is out of order", i)
		}
	}
	for _, q := range []engine.Query{{Tenant: "t1"}, {Class: engine.ClassAgent}, {Session: "session-2"}, {Vendor: "bedrock"}, {Model: "deepseek/v4"}, {From: start().Add(-time.Hour)}, {To: start().Add(-time.Hour)}} {
		n := 0
		for _, s := range want {
			if q.MatchesSession(s) {
				n++
			}
		}
		if found := l.sessions(q, 5); len(found) != n {
			t.Errorf("%+v: %d sessions, want %d", q, len(found), n)
		}
	}
}

func sameSession(t *testing.T, got, want engine.SessionBook) {
	t.Helper()
	if !got.Sums.Equal(want.Sums) || !got.First.Equal(want.First) || !got.Last.Equal(want.Last) {
		t.Errorf("session\n got %+v\nwant %+v", got, want)
	}
	got.Sums, got.First, got.Last = want.Sums, want.First, want.Last
	if !reflect.DeepEqual(got, want) {
		t.Errorf("session\n got %+v\nwant %+v", got, want)
	}
}

func ledgerContextOver(t *testing.T, l ledger) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err1 := l.store.Overview(ctx, engine.Query{}, time.Hour)
	_, _, err2 := l.store.Turns(ctx, engine.Query{}, engine.Page{})
	_, _, err3 := l.store.Turn(ctx, "t", "x")
	_, _, err4 := l.store.Sessions(ctx, engine.Query{}, engine.Page{})
	_, _, err5 := l.store.Session(ctx, "t", engine.ClassAgent, "x")
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
}
