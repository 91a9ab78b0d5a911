package badgerstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
)

func openFor(t *testing.T, dir string, o LedgerOptions) *Ledger {
	t.Helper()
	l, err := OpenLedger(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil && !errors.Is(err, ErrLedgerClosed) {
			t.Error(err)
		}
	})
	return l
}

func turnsOf(n int, seed uint64, at time.Time) []engine.Turn {
	r := rand.New(rand.NewPCG(seed, 1))
	market := storetest.NewMarket()
	turns := make([]engine.Turn, n)
	for i := range turns {
		turns[i] = market.Turn(r, i, at.Add(time.Duration(i)*time.Millisecond))
	}
	return turns
}

// TestAHungDiskHoldsNobody blocks the writer, fills the queue and counts what is
// given up.
func TestAHungDiskHoldsNobody(t *testing.T) {
	hang, entered := make(chan struct{}), make(chan struct{}, 8)
	var asked atomic.Int64
	l := openFor(t, t.TempDir(), LedgerOptions{Queue: 10, Wait: time.Millisecond, Free: func(string) (int64, error) {
		if asked.Add(1) > 1 { // once for OpenLedger
			entered <- struct{}{}
			<-hang
		}
		return 1 << 40, nil
	}})
	turns := turnsOf(40, 1, time.Now())
	l.Record(turns[0])
	<-entered
	for _, turn := range turns[1:] {
		l.Record(turn)
	}
	if st := l.Stats(); st.Dropped != 30 || st.Queued != 10 {
		t.Errorf("%+v", st)
	}
	if err := l.Intend(context.Background(), &turns[39], turns[39].Plan.Candidates[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("intend: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Intend(ctx, &turns[38], turns[38].Plan.Candidates[0]); err == nil {
		t.Error("an intent is said to be written")
	}
	if err := l.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("flush: %v", err)
	}
	close(hang)
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if st := l.Stats(); st.Recorded != 10 || st.Dropped != 30 || st.Queued != 0 {
		t.Errorf("afterwards %+v", st)
	}
}

// TestAHungDiskHoldsNoQuery holds what a commit holds while it hangs.
func TestAHungDiskHoldsNoQuery(t *testing.T) {
	l := openFor(t, t.TempDir(), LedgerOptions{})
	l.mu.Lock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := l.Overview(ctx, engine.Query{}, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("overview: %v", err)
	}
	l.mu.Unlock()
	if _, err := l.Overview(context.Background(), engine.Query{}, time.Hour); err != nil {
		t.Errorf("overview afterwards: %v", err)
	}
}

func TestAFullDiskIsCountedAndRecordingResumes(t *testing.T) {
	var left atomic.Int64
	left.Store(1 << 40)
	ctx := context.Background()
	l := openFor(t, t.TempDir(), LedgerOptions{Wait: time.Minute, Resume: -1, Free: func(string) (int64, error) { return left.Load(), nil }})
	turns := turnsOf(30, 2, time.Now())
	flushAll := func(turns []engine.Turn) {
		for _, turn := range turns {
			l.Record(turn)
		}
		if err := l.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	flushAll(turns[:10])
	left.Store(1 << 20)
	flushAll(turns[10:20])
	if err := l.Intend(ctx, &turns[10], turns[10].Plan.Candidates[0]); !errors.Is(err, ErrNoSpace) {
		t.Errorf("intend: %v", err)
	}
	if st := l.Stats(); st.Recorded != 10 || st.Dropped != 10 || st.Unwritten != 1 {
		t.Errorf("%+v", st)
	}
	left.Store(1 << 40)
	flushAll(turns[20:])
	o, err := l.Overview(ctx, engine.Query{}, time.Hour)
	if err != nil || o.Total.Turns != 20 || l.Stats().Dropped != 10 {
		t.Errorf("%d turns, %v, %+v", o.Total.Turns, err, l.Stats())
	}
	if _, err := OpenLedger(t.TempDir(), LedgerOptions{Free: func(string) (int64, error) { return 0, nil }}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("open: %v", err)
	}
}

// TestABatchTooBigForOneTransaction has turns so large that a batch must be split.
func TestABatchTooBigForOneTransaction(t *testing.T) {
	l := openFor(t, t.TempDir(), LedgerOptions{})
	turns := turnsOf(200, 3, time.Now())
	long := make([]byte, 60_000)
	for i := range turns {
		for j := range long {
			long[j] = byte('a' + (i+j)%26)
		}
		turns[i].Target = string(long)
	}
	books := make([]engine.Booked, len(turns))
	for i := range turns {
		books[i] = engine.Book(turns[i])
	}
	for _, turn := range turns {
		l.Record(turn)
	}
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	o, err := l.Overview(context.Background(), engine.Query{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	storetest.SameOverview(t, o, books)
	if st := l.Stats(); st.Recorded != 200 || st.Batches < 5 {
		t.Errorf("%+v", st)
	}
}

func TestDamagedBooksAreSkippedAndCounted(t *testing.T) {
	l := openFor(t, t.TempDir(), LedgerOptions{})
	turns := turnsOf(20, 4, time.Now())
	for _, turn := range turns {
		l.Record(turn)
	}
	ctx := context.Background()
	if err := l.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	bad := engine.Book(turns[7])
	err := l.db.Update(func(txn *badger.Txn) error {
		value := encodeBooked(turnKey(&bad), &bad)
		value[len(value)-1] ^= 4
		return txn.Set(turnKey(&bad), value)
	})
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := l.Turns(ctx, engine.Query{}, engine.Page{})
	if err != nil || len(all) != 19 || l.Stats().Bad != 1 {
		t.Errorf("%d turns, %v, %+v", len(all), err, l.Stats())
	}
	if _, found, err := l.Turn(ctx, bad.Tenant, bad.ID); found || err != nil {
		t.Errorf("the damaged one: %v, %v", found, err)
	}
}

func TestWhatIsWrittenIsSyncedSoon(t *testing.T) {
	l := openFor(t, t.TempDir(), LedgerOptions{Sync: time.Hour})
	if l.options.Sync != MaxSync {
		t.Fatalf("synced after %v", l.options.Sync)
	}
	l.Record(turnsOf(1, 5, time.Now())[0])
	limit := time.After(10 * time.Second)
	for l.Stats().Syncs == 0 {
		select {
		case <-limit:
			t.Fatal("not synced")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestAClosedLedger(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	l := openFor(t, dir, LedgerOptions{})
	turns := turnsOf(100, 6, time.Now())
	for _, turn := range turns[:99] {
		l.Record(turn)
	}
	if _, err := OpenLedger(dir, LedgerOptions{Lock: time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Errorf("open twice: %v", err)
	}
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	l.Record(turns[99])
	if st := l.Stats(); st.Recorded != 99 || st.Dropped != 1 {
		t.Errorf("%+v", st)
	}
	if err := l.Intend(ctx, &turns[99], turns[99].Plan.Candidates[0]); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("intend: %v", err)
	}
	if _, err := l.Overview(ctx, engine.Query{}, time.Hour); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("overview: %v", err)
	}
	if err := l.Sweep(ctx); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("sweep: %v", err)
	}
	if err := l.Flush(ctx); err != nil {
		t.Errorf("flush: %v", err)
	}
	if err := l.Close(ctx); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("close: %v", err)
	}
}
