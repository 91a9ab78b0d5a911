package badgerstore_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

// ordinary is a turn as most are: one attempt that served, eight candidates.
func ordinary(n int, r *rand.Rand, market *storetest.Market, at time.Time) engine.Turn {
	for {
		turn := market.Turn(r, n, at)
		if last, ok := turn.Last(); ok && last.Stage == engine.StageServed && len(turn.Attempts) == 1 && turn.Session.ID != "" {
			return turn
		}
	}
}

// One iteration is what the caller pays for recording one turn, while turns are
// written as fast as they come.
func BenchmarkLedgerRecord(b *testing.B) {
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Queue: 1 << 22})
	r := rand.New(rand.NewPCG(1, 1))
	market := storetest.NewMarket()
	turns := make([]engine.Turn, 4096)
	for i := range turns {
		turns[i] = ordinary(i, r, market, time.Now())
	}
	worst, n := []time.Duration{}, int64(0)
	for b.Loop() {
		began := time.Now()
		l.Record(turns[n%4096])
		worst = append(worst, time.Since(began))
		n++
	}
	flush(b, l)
	st := l.Stats()
	if st.Recorded+st.Twice+st.Dropped != n || st.Dropped > 0 {
		b.Fatalf("%d recorded, %d twice, %d dropped of %d", st.Recorded, st.Twice, st.Dropped, n)
	}
	slices.Sort(worst)
	b.ReportMetric(float64(worst[len(worst)*99/100].Nanoseconds()), "p99-ns")
}

// One iteration is the intent of one attempt: what a turn waits before it dials.
func BenchmarkLedgerIntend(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(map[int]string{1: "alone", 64: "callers=64"}[callers], func(b *testing.B) {
			l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Wait: time.Second})
			r := rand.New(rand.NewPCG(1, 1))
			market := storetest.NewMarket()
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
// writer pays.
func BenchmarkLedgerWrite(b *testing.B) {
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{Queue: 1 << 22})
	r := rand.New(rand.NewPCG(1, 1))
	market := storetest.NewMarket()
	n := 0
	for b.Loop() {
		l.Record(ordinary(n, r, market, time.Now()))
		if n++; n%1000 == 0 {
			flush(b, l)
		}
	}
	flush(b, l)
	if st := l.Stats(); st.Recorded != int64(n) {
		b.Fatalf("%d of %d recorded", st.Recorded, n)
	}
}

// One iteration is a turn recorded, and waited for until it is written, alone.
func BenchmarkLedgerWriteAlone(b *testing.B) {
	l := openLedger(b, b.TempDir(), badgerstore.LedgerOptions{})
	r := rand.New(rand.NewPCG(1, 1))
	market := storetest.NewMarket()
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

// million is a ledger of a million turns over thirty days, written once for all
// benchmarks.
var million = sync.OnceValues(func() (string, error) {
	return "", nil
})

func BenchmarkBook(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	turn := ordinary(1, r, storetest.NewMarket(), time.Now())
	for b.Loop() {
		if engine.Book(turn).ID != turn.ID {
			b.Fatal("another turn")
		}
	}
}
