package badgerstore_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
)

func benchStore(b *testing.B, dir string) *badgerstore.Store {
	b.Helper()
	s, err := badgerstore.Open(dir, badgerstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// benchBatch is the batch of n pins that begins with session first.
func benchBatch(first, n int) []engine.PinWrite {
	writes := make([]engine.PinWrite, n)
	now := time.Now()
	for i := range writes {
		writes[i].Key = pinKey(fmt.Sprintf("conversation-%08d", first+i))
		writes[i].Record = engine.Record{}.Keep("anthropic/claude-sonnet-5", engine.Entry{
			Vendor: "anthropic", Credential: "main", Turn: uint64(first+i) * 0x9E3779B97F4A7C15,
			AcceptedAt: now, ExpiresAt: now.Add(285 * time.Second),
			Prompt: 48_000, TextBytes: 190_000, Read: 46_000, Write: 1_200, Reported: true,
		})
	}
	return writes
}

func fill(b *testing.B, s *badgerstore.Store, n int) {
	b.Helper()
	for first := 0; first < n; first += 1000 {
		if err := s.Write(context.Background(), benchBatch(first, 1000)); err != nil {
			b.Fatal(err)
		}
	}
}

// One iteration is one batch of 1,000 new pins.
func BenchmarkWrite(b *testing.B) {
	s := benchStore(b, b.TempDir())
	n := 0
	for b.Loop() {
		if err := s.Write(context.Background(), benchBatch(n, 1000)); err != nil {
			b.Fatal(err)
		}
		n += 1000
	}
	if r, err := s.Get(context.Background(), benchBatch(n-1, 1)[0].Key); err != nil || len(r.Models) != 1 {
		b.Fatalf("%+v, %v", r, err)
	}
	shut(b, s)
}

// One iteration is the time from a pin's acceptance to its being written, the
// wait for others included.
func BenchmarkAcceptedToWritten(b *testing.B) {
	s := benchStore(b, b.TempDir())
	p := inmem.New(inmem.Options{Backing: s})
	if err := p.Load(context.Background()); err != nil {
		b.Fatal(err)
	}
	worst, turn := time.Duration(0), uint64(0)
	for b.Loop() {
		turn++
		began := time.Now()
		if err := p.Keep(context.Background(), pinKey("s"), "m", warm(fmt.Sprint("v", turn%4), turn)); err != nil {
			b.Fatal(err)
		}
		for p.Unwritten() > 0 {
			runtime.Gosched()
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	shut(b, p)
	shut(b, s)
}

// One iteration opens a store of a million pins and loads it into memory.
func BenchmarkOpenAndLoadAMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a million pins take ten seconds to write")
	}
	dir := b.TempDir()
	s := benchStore(b, dir)
	fill(b, s, 1_000_000)
	shut(b, s)
	opened := time.Duration(0)
	for b.Loop() {
		began := time.Now()
		s := benchStore(b, dir)
		opened += time.Since(began)
		p := inmem.New(inmem.Options{Max: 1_100_000, Backing: s})
		if err := p.Load(context.Background()); err != nil || p.Len() != 1_000_000 {
			b.Fatalf("%d records, %v", p.Len(), err)
		}
		shut(b, p)
		shut(b, s)
	}
	b.ReportMetric(float64(opened.Milliseconds())/float64(b.N), "open-ms")
}
