package badgerstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

// everyTurn is the whole list of turns.
func everyTurn(t testing.TB, l engine.Books, q engine.Query) []engine.Booked {
	t.Helper()
	var all []engine.Booked
	for page := (engine.Page{Limit: engine.MaxPageSize}); ; {
		turns, next, err := l.Turns(context.Background(), q, page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, turns...)
		if next == "" {
			return all
		}
		page.After = next
	}
}

// addUp holds what must be true of books while no turn is in flight: roll-ups of
// every width and for every query, and the books of sessions, are the sums of the
// records.
func addUp(t testing.TB, l engine.Books) []engine.Booked {
	t.Helper()
	ctx := context.Background()
	all := everyTurn(t, l, engine.Query{})
	for _, q := range storetest.NewMarket().Queries() {
		for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
			if width != time.Hour && (q.Class != "" || q.Session != "") {
				continue // added up from the records, at every width
			}
			o, err := l.Overview(ctx, q, width)
			if err != nil {
				t.Fatal(err)
			}
			storetest.SameOverview(t, o, all)
		}
	}
	var bySession, ofSessions engine.Sums
	for i := range all {
		if all[i].Session != "" {
			bySession = bySession.Add(engine.Sum(all[i]))
		}
	}
	for page := (engine.Page{Limit: engine.MaxPageSize}); ; {
		sessions, next, err := l.Sessions(ctx, engine.Query{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			ofSessions = ofSessions.Add(s.Sums)
		}
		if page.After = next; next == "" {
			break
		}
	}
	if !ofSessions.Equal(bySession) {
		t.Errorf("sessions come to %+v, their turns to %+v", ofSessions, bySession)
	}
	return all
}

// TestRollUpsAreTheSumsOfTheRecords records twenty thousand random turns, some
// twice, some with intents, some that never settle, while the disk is full now and
// then and the store is closed and opened again.
func TestRollUpsAreTheSumsOfTheRecords(t *testing.T) {
	const seed, n = 20, 20_000
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	market := storetest.NewMarket()
	market.Sessions = 300
	dir := t.TempDir()
	var full atomic.Bool
	o := badgerstore.LedgerOptions{Wait: time.Minute, Queue: 1 << 20, Resume: -1, Free: func(string) (int64, error) {
		if full.Load() {
			return 0, nil
		}
		return 1 << 40, nil
	}}
	l := openLedger(t, dir, o)
	ctx := context.Background()
	began := time.Now().Add(-50 * time.Hour)
	settled, given, open := map[string]bool{}, int64(0), map[string]bool{}
	for i := range n {
		turn := market.Turn(r, i, began.Add(time.Duration(i)*9*time.Second))
		key := fmt.Sprintf("%q %q", turn.Tenant, turn.ID)
		switch r.IntN(40) {
		case 0, 1:
			begun := turn
			begun.Attempts, begun.Took = nil, 0
			if err := l.Intend(ctx, &begun, begun.Plan.Candidates[0]); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				open[key] = true
				continue // never settles
			}
		case 2:
			l.Record(turn)
		}
		l.Record(turn)
		settled[key] = true
		if r.IntN(2000) == 0 {
			flush(t, l)
			full.Store(true)
			refused := market.Turn(r, n+i, began)
			l.Record(refused)
			flush(t, l)
			full.Store(false)
			given++
		}
		if i == n/2 || i == n/3 {
			if st := l.Stats(); st.Open == 0 {
				t.Errorf("nothing in flight: %+v", st)
			}
			flush(t, l)
			dropped := l.Stats().Dropped
			if dropped != given {
				t.Errorf("%d dropped, want %d", dropped, given)
			}
			given = 0
			shut(t, l)
			l = openLedger(t, dir, o)
		}
	}
	flush(t, l)
	shut(t, l)
	l = openLedger(t, dir, o)
	all := addUp(t, l)
	for i := range all {
		key := fmt.Sprintf("%q %q", all[i].Tenant, all[i].ID)
		switch {
		case all[i].State == engine.Settled && !settled[key], all[i].State == engine.Unsettled && !open[key]:
			t.Errorf("%s is %q", key, all[i].State)
		}
	}
	if len(all) != len(settled)+len(open) {
		t.Errorf("%d turns, want %d settled and %d unsettled", len(all), len(settled), len(open))
	}
}

// TestAnUnsettledTurnThatSettlesAfterAll has the settlement of a turn come after
// it was booked as unsettled.
func TestAnUnsettledTurnThatSettlesAfterAll(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, badgerstore.LedgerOptions{Wait: time.Minute})
	r := rand.New(rand.NewPCG(2, 1))
	turn := ordinary(1, r, storetest.NewMarket(), time.Now())
	begun := turn
	begun.Attempts = nil
	if err := l.Intend(context.Background(), &begun, begun.Plan.Candidates[0]); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	l = openLedger(t, dir, badgerstore.LedgerOptions{})
	if all := addUp(t, l); len(all) != 1 || all[0].State != engine.Unsettled {
		t.Fatalf("%+v", all)
	}
	l.Record(turn)
	flush(t, l)
	if all := addUp(t, l); len(all) != 1 || all[0].State != engine.Settled {
		t.Fatalf("%+v", all)
	}
	s, found, err := l.Session(context.Background(), turn.Tenant, turn.Session.Class, turn.Session.ID)
	if err != nil || !found || s.Sums.Turns != 1 || s.Sums.Unsettled != 0 || len(s.Vendors) != 1 {
		t.Errorf("%+v, %v, %v", s, found, err)
	}
}

func TestRetention(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 17, 3, 0, time.UTC)
	o := badgerstore.LedgerOptions{
		Now: func() time.Time { return now }, Wait: time.Minute,
		Retention: 10 * engine.Day, Minutes: 2 * engine.Day, Hours: 5 * engine.Day,
	}
	l := openLedger(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(3, 1))
	market := storetest.NewMarket()
	var all []engine.Booked
	for i := range 2000 {
		turn := market.Turn(r, i, now.Add(-time.Duration(2000-i)*15*time.Minute)) // twenty days
		l.Record(turn)
		all = append(all, engine.Book(turn))
	}
	flush(t, l)
	ctx := context.Background()
	begun := market.Turn(r, 5000, now.Add(-25*time.Hour))
	begun.Attempts, begun.Session = nil, engine.Session{Tenant: begun.Tenant}
	if err := l.Intend(ctx, &begun, begun.Plan.Candidates[0]); err != nil {
		t.Fatal(err)
	}
	if err := l.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	kept := everyTurn(t, l, engine.Query{})
	if len(kept) != 959+1 { // four an hour in ten days, and the one that never ended
		t.Errorf("%d turns are kept", len(kept))
	}
	for i := range kept {
		if kept[i].Started.Before(now.Add(-o.Retention)) {
			t.Errorf("%s is still there", kept[i].ID)
		}
	}
	if got, found, err := l.Turn(ctx, begun.Tenant, begun.ID); err != nil || !found || got.State != engine.Unsettled || l.Stats().Open != 0 {
		t.Errorf("the turn that never ended: %+v, %v, %v", got, found, err)
	}
	for i := range all[:900] {
		if _, found, _ := l.Turn(ctx, all[i].Tenant, all[i].ID); found {
			t.Errorf("%s is found", all[i].ID)
		}
	}
	// Roll-ups still know them all; where only days are kept, in slots of days.
	all = append(all, func() engine.Booked { b, _, _ := l.Turn(ctx, begun.Tenant, begun.ID); return b }())
	total := engine.Sums{}
	for i := range all {
		total = total.Add(engine.Sum(all[i]))
	}
	for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
		got, err := l.Overview(ctx, engine.Query{}, width)
		if err != nil || !got.Total.Equal(total) {
			t.Errorf("by %v: %+v, want %+v, %v", width, got.Total, total, err)
		}
	}
	// Bounds are widened to what is kept.
	for _, tt := range []struct{ from, want time.Time }{
		{now.Add(-time.Hour), now.Add(-time.Hour).Truncate(time.Minute)},
		{now.Add(-3 * engine.Day), now.Add(-3 * engine.Day).Truncate(time.Hour)},
		{now.Add(-8 * engine.Day), now.Add(-8 * engine.Day).Truncate(engine.Day)},
		{now.Add(-15 * engine.Day), now.Add(-15 * engine.Day).Truncate(engine.Day)},
	} {
		for _, width := range []time.Duration{time.Minute, time.Hour, engine.Day} {
			got, err := l.Overview(ctx, engine.Query{From: tt.from}, width)
			if err != nil || !got.Query.From.Equal(tt.want) {
				t.Fatalf("from %v: answered from %v, %v", tt.from, got.Query.From, err)
			}
			want := engine.Sums{}
			for i := range all {
				if got.Query.Matches(&all[i]) {
					want = want.Add(engine.Sum(all[i]))
				}
			}
			if !got.Total.Equal(want) {
				t.Errorf("from %v by %v: %d turns, want %d", tt.from, width, got.Total.Turns, want.Turns)
			}
		}
	}
	// A sweep that finds nothing forgets nothing.
	before := l.Stats().Swept
	if err := l.Sweep(ctx); err != nil || l.Stats().Swept != before {
		t.Errorf("swept %d more, %v", l.Stats().Swept-before, err)
	}
	// Much later, nothing but days is left.
	now = now.Add(400 * engine.Day)
	if err := l.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(everyTurn(t, l, engine.Query{})); n != 0 {
		t.Errorf("%d turns are left", n)
	}
	sessions, _, err := l.Sessions(ctx, engine.Query{}, engine.Page{})
	if err != nil || len(sessions) != 0 {
		t.Errorf("%d sessions are left, %v", len(sessions), err)
	}
	got, err := l.Overview(ctx, engine.Query{}, time.Minute)
	if err != nil || !got.Total.Equal(total) || len(got.Series) > 22 {
		t.Errorf("%d slots, %+v, %v", len(got.Series), got.Total, err)
	}
}
