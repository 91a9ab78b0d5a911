package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
)

// wide is a catalog of one model with this many routes.
func wide(tb testing.TB, routes int) *catalog.Catalog {
	var vendors, list strings.Builder
	for i := range routes {
		fmt.Fprintf(&vendors, "  v%d: {api: [chat], base_url: \"https://v%d.example/v1\", credentials: [{id: k, env: K}], cache: {family: implicit, ttl: 5m}}\n", i, i)
		fmt.Fprintf(&list, "      - {vendor: v%d, model: m, price: {input: %d.5, output: 15, cache_read: 0.3}}\n", i, 2+i)
	}
	return parse(tb, "version: 1\nvendors:\n"+vendors.String()+"models:\n  m:\n    routes:\n"+list.String())
}

// BenchmarkDecide is one decision that promotes the last of so many routes.
func BenchmarkDecide(b *testing.B) {
	for _, routes := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("routes=%d", routes), func(b *testing.B) {
			f := decideFacts(b, routes)
			if d := engine.Decide(f); d.Models[0].Outcome != engine.Promoted || d.Order[0] != routes-1 {
				b.Fatalf("decided %+v", d)
			}
			b.ReportAllocs()
			for b.Loop() {
				engine.Decide(f)
			}
		})
	}
}

// A decision allocates its order, its findings and their rivals, and no more.
func TestDecideAllocations(t *testing.T) {
	f := decideFacts(t, 8)
	if n := testing.AllocsPerRun(100, func() { engine.Decide(f) }); n > 3 {
		t.Errorf("%v allocations", n)
	}
}

func decideFacts(tb testing.TB, routes int) engine.Facts {
	target, _ := wide(tb, routes).Resolve("m")
	session := engine.Session{Tenant: "t", Class: engine.ClassExplicit, ID: "boat"}
	plan, err := engine.BuildPlan(engine.PlanFacts{Now: epoch, Request: &engine.Request{API: catalog.Chat}, Session: session, Targets: []catalog.Target{target}, AssumeKeys: true})
	if err != nil {
		tb.Fatal(err)
	}
	record := engine.Record{}.Keep("m", engine.Entry{Vendor: fmt.Sprint("v", routes-1), Credential: "k", Turn: 1, AcceptedAt: epoch, ExpiresAt: epoch.Add(time.Minute)})
	return engine.Facts{Now: epoch, Session: session, Plan: plan, Record: record, Prompt: engine.Estimate{Tokens: 5000}}
}

// BenchmarkBuildPlan is one plan of so many routes, sorted by price.
func BenchmarkBuildPlan(b *testing.B) {
	for _, routes := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("routes=%d", routes), func(b *testing.B) {
			target, _ := wide(b, routes).Resolve("m")
			f := engine.PlanFacts{Now: epoch, Request: &engine.Request{API: catalog.Chat, Sort: catalog.ByPrice}, Targets: []catalog.Target{target}}
			if p, err := engine.BuildPlan(f); err != nil || len(p.Candidates) != routes {
				b.Fatal(err, len(p.Candidates))
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = engine.BuildPlan(f)
			}
		})
	}
}

// agentHeaders is what a coding agent sends with every request.
func agentHeaders(session ...string) map[string][]string {
	h := map[string][]string{}
	for _, name := range []string{"Accept", "Accept-Encoding", "Anthropic-Beta", "Anthropic-Version", "Authorization", "Content-Length", "Content-Type",
		"User-Agent", "X-App", "X-Stainless-Arch", "X-Stainless-Lang", "X-Stainless-Os", "X-Stainless-Package-Version", "X-Stainless-Retry-Count",
		"X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout"} {
		h[name] = []string{"value"}
	}
	for i := 0; i < len(session); i += 2 {
		h[session[i]] = []string{session[i+1]}
	}
	return h
}

// BenchmarkIdentify is naming the session of one request: by a header, by an
// agent's header, and by an opening with 60 kB of tools.
func BenchmarkIdentify(b *testing.B) {
	var tools []engine.Tool
	for i := range 24 {
		tools = append(tools, engine.Tool{Name: fmt.Appendf(nil, "tool-%d", i), Description: make([]byte, 500), Schema: make([]byte, 2000)})
	}
	opening := engine.Opening{System: [][]byte{make([]byte, 27000)}, First: [][]byte{make([]byte, 7000)}, Tools: tools}
	for _, c := range []struct {
		name  string
		r     engine.Request
		class engine.Class
	}{
		{"header", engine.Request{Header: agentHeaders("X-Session-Id", "ses_0123456789")}, engine.ClassExplicit},
		{"agent", engine.Request{Header: agentHeaders("X-Claude-Code-Session-Id", "3f0c9a52-7d1e-4b36-9f8a-2c5e71d0b944")}, engine.ClassAgent},
		{"opening=60kB", engine.Request{Header: agentHeaders(), Opening: func() engine.Opening { return opening }}, engine.ClassFingerprint},
	} {
		b.Run(c.name, func(b *testing.B) {
			if s := engine.Identify(c.r, nil); s.Class != c.class {
				b.Fatalf("class %q", s.Class)
			}
			b.ReportAllocs()
			for b.Loop() {
				engine.Identify(c.r, nil)
			}
		})
	}
}

// BenchmarkServe is one whole turn that is promoted, served and settled, with
// pins in memory, eight routes, and no time spent on sending.
func BenchmarkServe(b *testing.B) {
	c := wide(b, 8)
	now := epoch
	g := engine.Gateway{
		Catalog: func() *catalog.Catalog { return c },
		Pins:    inmem.New(inmem.Options{Now: func() time.Time { return now }}),
		Health:  engine.NewHealth(),
		Now:     func() time.Time { return now },
	}
	send := func(_ context.Context, try engine.Try) engine.Attempt {
		if try.Candidate.Route.Vendor.Name != "v7" {
			return engine.Attempt{Failure: engine.FailureServer}
		}
		try.Accepted()
		return engine.Attempt{Stage: engine.StageServed, Committed: true, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 100, CacheRead: 1900, Output: 100}}
	}
	r := engine.Request{Tenant: "default", API: catalog.Chat, Target: "m", Header: agentHeaders("X-Session-Id", "ses_0123456789"), TextBytes: 8000}
	ctx := context.Background()
	if _, err := g.Serve(ctx, r, send); err != nil {
		b.Fatal(err)
	}
	turn, err := g.Serve(ctx, r, send)
	if err != nil || turn.Decision.Models[0].Outcome != engine.Promoted || len(turn.Attempts) != 1 {
		b.Fatal(err, turn.Decision)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = g.Serve(ctx, r, send)
	}
}

// crowded is a record of a session with as many threads as one may have, each
// warm at four of the vendors.
func crowded() (r engine.Record) {
	turn := uint64(0)
	for thread := range uint64(engine.MaxThreads) {
		for v := range engine.MaxWarm {
			turn++
			at := epoch.Add(-time.Minute + time.Duration(turn)*time.Second)
			r = r.Keep("m", engine.Entry{Vendor: fmt.Sprintf("v%d", 4+v), Credential: "k", Thread: thread + 1, Turn: turn, AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second)})
		}
	}
	return r
}

// BenchmarkDecideThreads is one decision among eight routes for a session of
// eight threads, the request being of the one that was served least recently.
func BenchmarkDecideThreads(b *testing.B) {
	f := decideFacts(b, 8)
	f.Record, f.Thread = crowded(), 1
	if d := engine.Decide(f); d.Models[0].Outcome != engine.Promoted || d.Models[0].Used.Thread != 1 {
		b.Fatalf("decided %+v", d)
	}
	b.ReportAllocs()
	for b.Loop() {
		engine.Decide(f)
	}
}

// BenchmarkKeepThreads is one acceptance in the record of such a session.
func BenchmarkKeepThreads(b *testing.B) {
	r := crowded()
	e := r.For("m")[31]
	e.Turn, e.AcceptedAt = 1000, epoch
	if got := r.Keep("m", e).For("m"); len(got) != 32 || !got[0].Is(e) {
		b.Fatal(got)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Keep("m", e)
	}
}
