package badgerstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
)

// ordinaryMarket is a market whose prices are such as vendors have.
func ordinaryMarket() *storetest.Market {
	m := storetest.NewMarket()
	m.Models[1].Routes[0].Price[0].Card.CacheRead = pricing.PerMillion(decimal.RequireFromString("0.027"))
	return m
}

// ordinary is a turn as most are: one attempt that served, eight candidates.
func ordinary(n int, r *rand.Rand, market *storetest.Market, at time.Time) engine.Turn {
	for {
		turn := market.Turn(r, n, at)
		if last, ok := turn.Last(); ok && last.Stage == engine.StageServed && len(turn.Attempts) == 1 && turn.Session.ID != "" {
			return turn
		}
	}
}

// One iteration is what the caller pays for recording one turn. Turns come in
// bursts of a thousand; the clock stands while the writer catches up.
func BenchmarkLedgerRecord(b *testing.B) {
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{})
	r := rand.New(rand.NewPCG(1, 1))
	market := ordinaryMarket()
	const burst = 1000
	turns := make([]engine.Turn, burst)
	for i := range turns {
		turns[i] = ordinary(i, r, market, time.Now())
	}
	n := 0
	for b.Loop() {
		l.Record(turns[n%burst])
		if n++; n%burst == 0 {
			b.StopTimer()
			flush(b, l)
			b.StartTimer()
		}
	}
	b.StopTimer()
	flush(b, l)
	if st := l.Stats(); st.Recorded+st.Twice != int64(n) {
		b.Fatalf("%d recorded, %d twice, %d dropped of %d", st.Recorded, st.Twice, st.Dropped, n)
	}
}

// One iteration is the intent of one attempt: what a turn waits before it dials.
func BenchmarkLedgerIntend(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(map[int]string{1: "alone", 64: "callers=64"}[callers], func(b *testing.B) {
			l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Wait: time.Second})
			r := rand.New(rand.NewPCG(1, 1))
			market := ordinaryMarket()
			turn := ordinary(1, r, market, time.Now())
			turn.Attempts = nil
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			if callers == 1 {
				for b.Loop() {
					if err := l.Intend(context.Background(), &turn, turn.Plan.Candidates[0]); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				mine := turn
				for pb.Next() {
					if err := l.Intend(context.Background(), &mine, mine.Plan.Candidates[0]); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// One iteration is a turn recorded and written, in a stream of many: what the
// writer pays, without an auditor and with one.
func BenchmarkLedgerWrite(b *testing.B) {
	for _, c := range []struct {
		name    string
		auditor engine.Auditor
	}{{"booked", nil}, {"judged", sim.Auditor{}}} {
		b.Run(c.name, func(b *testing.B) {
			l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Queue: 1 << 22, Auditor: c.auditor})
			r := rand.New(rand.NewPCG(1, 1))
			market := ordinaryMarket()
			n := 0
			for b.Loop() {
				l.Record(ordinary(n, r, market, time.Now()))
				if n++; n%5000 == 0 {
					flush(b, l)
				}
			}
			flush(b, l)
			if st := l.Stats(); st.Recorded != int64(n) {
				b.Fatalf("%d of %d recorded", st.Recorded, n)
			}
		})
	}
}

// One iteration is a turn recorded, and waited for until it is written, alone.
func BenchmarkLedgerWriteAlone(b *testing.B) {
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{})
	r := rand.New(rand.NewPCG(1, 1))
	market := ordinaryMarket()
	n := 0
	for b.Loop() {
		l.Record(ordinary(n, r, market, time.Now()))
		flush(b, l)
		n++
	}
	if st := l.Stats(); st.Recorded != int64(n) {
		b.Fatalf("%d of %d recorded", st.Recorded, n)
	}
}

// aMillion is how many turns the books of BenchmarkOverview hold.
const aMillion = 1_000_000

// fillLedger writes n turns that began in the thirty days before now. Turns that
// come again in another hour are the same but for id, session and start.
func fillLedger(b *testing.B, l *badgerstore.Ledger, n int, now time.Time) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	market := ordinaryMarket()
	kinds := make([]engine.Turn, 4096)
	for i := range kinds {
		kinds[i] = ordinary(i, r, market, now)
	}
	step := 30 * engine.Day / time.Duration(n+1)
	for i := range n {
		turn := kinds[r.IntN(len(kinds))]
		turn.ID = fmt.Sprintf("%016x", uint64(i)*0x9E3779B97F4A7C15)
		turn.Started = now.Add(time.Duration(i-n) * step)
		turn.Session.ID = fmt.Sprintf("conversation-%d", i/20)
		turn.Attempts = slices.Clone(turn.Attempts)
		turn.Attempts[0].Started = turn.Started
		l.Record(turn)
		if i%50_000 == 0 {
			flush(b, l)
		}
	}
	flush(b, l)
	if st := l.Stats(); st.Recorded != int64(n) {
		b.Fatalf("%+v", st)
	}
}

// One iteration is one answer from books of a million turns.
func BenchmarkOverview(b *testing.B) {
	if testing.Short() {
		b.Skip("a million turns take a minute to write")
	}
	now := time.Now()
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Now: func() time.Time { return now }, Retention: 40 * engine.Day})
	fillLedger(b, l, aMillion, now)
	b.ReportMetric(float64(time.Since(now).Milliseconds()), "fill-ms")
	ctx := context.Background()
	for _, bb := range []struct {
		name  string
		q     engine.Query
		width time.Duration
	}{
		{"all by the hour", engine.Query{}, time.Hour},
		{"all by the day", engine.Query{}, engine.Day},
		{"a tenant by the hour", engine.Query{Tenant: "t1"}, time.Hour},
		{"an outcome by the hour", engine.Query{Outcome: engine.Promoted}, time.Hour},
		{"the last day by the minute", engine.Query{From: now.Add(-engine.Day)}, time.Minute},
	} {
		b.Run(bb.name, func(b *testing.B) {
			turns := int64(0)
			for b.Loop() {
				o, err := l.Overview(ctx, bb.q, bb.width)
				if err != nil {
					b.Fatal(err)
				}
				turns = o.Total.Turns
			}
			if bb.q == (engine.Query{}) && turns != aMillion || turns == 0 {
				b.Fatalf("%d turns", turns)
			}
		})
	}
	b.Run("a page of turns", func(b *testing.B) {
		for b.Loop() {
			if turns, _, err := l.Turns(ctx, engine.Query{Tenant: "t1"}, engine.Page{}); err != nil || len(turns) != engine.PageSize {
				b.Fatalf("%d turns, %v", len(turns), err)
			}
		}
	})
	b.Run("a page of sessions", func(b *testing.B) {
		for b.Loop() {
			if sessions, _, err := l.Sessions(ctx, engine.Query{}, engine.Page{}); err != nil || len(sessions) != engine.PageSize {
				b.Fatalf("%d sessions, %v", len(sessions), err)
			}
		}
	})
}

func BenchmarkBook(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	turn := ordinary(1, r, ordinaryMarket(), time.Now())
	for b.Loop() {
		if engine.Book(turn).ID != turn.ID {
			b.Fatal("another turn")
		}
	}
}
