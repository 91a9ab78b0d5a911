package inmem_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// pinOf is an ordinary record's only entry.
func pinOf(i int, now time.Time) engine.Entry {
	return engine.Entry{
		Vendor: []string{"anthropic", "bedrock", "vertex"}[i%3], Credential: "main", Turn: uint64(i) * 0x9E3779B97F4A7C15,
		AcceptedAt: now, ExpiresAt: now.Add(285 * time.Second),
		Prompt: 48_000 + int64(i%1000), TextBytes: 190_000, Read: 46_000, Write: 1_200, Reported: true,
	}
}

const benchModel = "anthropic/claude-sonnet-5"

func filled(tb testing.TB, n int) (*inmem.Pins, []engine.PinKey) {
	p := inmem.New(inmem.Options{})
	keys := make([]engine.PinKey, n)
	now := time.Now()
	for i := range keys {
		keys[i] = engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: fmt.Sprintf("conversation-%08d", i)}
		if err := p.Keep(context.Background(), keys[i], benchModel, pinOf(i, now.Add(time.Duration(i)))); err != nil {
			tb.Fatal(err)
		}
	}
	return p, keys
}

// One iteration is one recall of one of 1,000 sessions in use, in a table of
// 100,000.
func BenchmarkRecall(b *testing.B) { recallOf(b, 1000) }

// One iteration is one recall of any of 100,000 sessions, none of which is in
// the processor's caches, nor is its key.
func BenchmarkRecallCold(b *testing.B) { recallOf(b, 100_000) }

func recallOf(b *testing.B, inUse int) {
	ctx := context.Background()
	p, keys := filled(b, 100_000)
	keys = keys[:inUse]
	if r, err := p.Recall(ctx, keys[5]); err != nil || r.For(benchModel)[0].Vendor != "vertex" {
		b.Fatalf("%+v, %v", r, err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % len(keys)
		if _, err := p.Recall(ctx, keys[i]); err != nil {
			b.Fatal(err)
		}
	}
}

// One iteration is one recall of a session that has no record.
func BenchmarkRecallMiss(b *testing.B) {
	ctx := context.Background()
	p, keys := filled(b, 1000)
	keys[0].ID = "unknown"
	b.ReportAllocs()
	for b.Loop() {
		if r, err := p.Recall(ctx, keys[0]); err != nil || len(r.Models) != 0 {
			b.Fatalf("%+v, %v", r, err)
		}
	}
}

// One iteration is one renewal of the pin of one of 100,000 sessions.
func BenchmarkKeep(b *testing.B) {
	ctx := context.Background()
	p, keys := filled(b, 100_000)
	now := time.Now().Add(time.Second)
	b.ReportAllocs()
	i, turn := 0, 0
	for b.Loop() {
		i = (i + 7919) % len(keys)
		turn++
		if err := p.Keep(ctx, keys[i], benchModel, pinOf(turn, now.Add(time.Duration(turn)))); err != nil {
			b.Fatal(err)
		}
	}
	if r, err := p.Recall(ctx, keys[i]); err != nil || len(r.For(benchModel)) == 0 {
		b.Fatalf("%+v, %v", r, err)
	}
}

// One iteration is one recall, by as many goroutines as there are cores.
func BenchmarkRecallParallel(b *testing.B) {
	p, keys := filled(b, 100_000)
	b.ReportAllocs()
	b.ResetTimer() // b.Loop, which does this, is not for several goroutines
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i = (i + 7919) % len(keys) {
			if _, err := p.Recall(context.Background(), keys[i]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkMillionPins fills a table with a million sessions of one pin each;
// one iteration is one full garbage collection with it. MB/1M is the heap they
// take.
func BenchmarkMillionPins(b *testing.B) {
	if testing.Short() {
		b.Skip("a million pins take a second or two")
	}
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	p := inmem.New(inmem.Options{Max: 1_100_000})
	now := time.Now()
	for i := range 1_000_000 {
		key := engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: fmt.Sprintf("conversation-%08d", i)}
		if err := p.Keep(context.Background(), key, benchModel, pinOf(i, now.Add(time.Duration(i)))); err != nil {
			b.Fatal(err)
		}
	}
	if p.Len() != 1_000_000 {
		b.Fatalf("%d records", p.Len())
	}
	taken := heap() - before
	for b.Loop() {
		runtime.GC()
	}
	b.ReportMetric(taken/1e6, "MB/1M")
	b.ReportMetric(float64(p.Stats().Bytes)/1e6, "counted-MB/1M")
	runtime.KeepAlive(p)
}
