package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// theatre is the demo in one process, on a clock that moves only while nobody
// acts: pauses take no time, and a seed's whole play is the same every time.
type theatre struct {
	feed    *feed
	vendors map[string]*vendorsim.Vendor
	ledger  *inmem.Ledger
	begins  time.Time

	mu    sync.Mutex
	now   time.Time
	seen  []request
	acted sync.WaitGroup // requests at the gateway
}

// request is what the gateway received from the feed.
type request struct {
	path, session string
	size          int
	sum           string
}

func (s *theatre) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// after moves the clock, once the gateway is done with all it was sent.
func (s *theatre) after(d time.Duration) <-chan time.Time {
	s.acted.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	passed := make(chan time.Time, 1)
	passed <- s.now
	return passed
}

func newTheatre(t *testing.T, seed uint64) *theatre {
	t.Helper()
	s := &theatre{vendors: map[string]*vendorsim.Vendor{}, ledger: &inmem.Ledger{Max: 5000}}
	s.begins = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	s.now = s.begins
	addresses := map[string]string{}
	for _, config := range demoVendors {
		config.Now = s.clock
		v := vendorsim.New(config)
		server := httptest.NewServer(v)
		t.Cleanup(server.Close)
		s.vendors[config.Name], addresses[config.Name] = v, server.URL
	}
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := writeDemoCatalog(path, addresses); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.ParseKeys(path, text, func(catalog.Credential) (string, bool) { return "demo-key-0123456789", true })
	if err != nil {
		t.Fatal(err)
	}
	pins := inmem.New(inmem.Options{Now: s.clock})
	dial := vendor.New(vendor.Options{})
	gateway := routes.New(routes.Options{
		Gateway: &engine.Gateway{
			Catalog:  func() *catalog.Catalog { return c },
			Pins:     pins,
			Health:   engine.NewHealth(),
			Ledger:   s.ledger,
			Deadline: time.Minute, // a slow machine is not what is tested
			Now:      s.clock,
		},
		Vendor:   dial,
		Log:      slog.New(slog.DiscardHandler),
		Metadata: vendor.MetadataBody,
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = routes.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.acted.Add(1)
		defer s.acted.Done()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the feed has ended
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		s.mu.Lock()
		s.seen = append(s.seen, request{r.URL.RequestURI(), r.Header.Get("X-Claude-Code-Session-Id"), len(body), hex.EncodeToString(sum[:])})
		s.mu.Unlock()
		gateway.ServeHTTP(w, r)
	}))
	server.Start()
	t.Cleanup(func() {
		server.Close()
		dial.Close()
		_ = pins.Close(context.Background())
	})
	s.feed = newFeed(feedOptions{Gateway: server.URL, Vendors: s.vendors, Seed: seed, Log: slog.New(slog.DiscardHandler),
		AtOnce: 1, Now: s.clock, After: s.after})
	return s
}

// play runs the feed until so many turns are booked, or enough says so.
func (s *theatre) play(t *testing.T, turns int64, enough func([]engine.Turn) bool) []engine.Turn {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.feed.run(ctx) })
	defer running.Wait()
	defer stop()
	for n := int64(1); ; n += 20 {
		if err := s.ledger.Wait(ctx, min(n, turns)); err != nil {
			t.Fatal(err)
		}
		booked := s.ledger.Recorded()
		if n >= turns || enough(booked) {
			return booked
		}
	}
}

// seenOf is what a turn shows: the outcome of the model that served, and its detail.
func seenOf(turn *engine.Turn) []string {
	last, ok := turn.Last()
	if !ok {
		return nil
	}
	found := turn.Decision.Models[last.Finding]
	shown := []string{string(found.Outcome)}
	if found.Detail != "" {
		shown = append(shown, string(found.Detail))
	}
	return shown
}

// firsts are how long after the beginning each outcome and detail was first seen.
func (s *theatre) firsts(turns []engine.Turn) map[string]time.Duration {
	first := map[string]time.Duration{}
	for i := range turns {
		for _, name := range seenOf(&turns[i]) {
			if _, known := first[name]; !known {
				first[name] = turns[i].Started.Sub(s.begins)
			}
		}
	}
	return first
}

// shown are the outcomes and details that five minutes of the feed must show.
var shown = []string{
	string(engine.Promoted), string(engine.Confirmed), string(engine.NoPin), string(engine.PinExpired),
	string(engine.SkippedNotCheaper), string(engine.SkippedPriceUnknown), string(engine.SkippedHealthDown),
	string(engine.SkippedNotInPlan), string(engine.SkippedBelowMinPrefix), string(engine.SkippedModeOff), string(engine.SkippedOrder),
	string(engine.DetailModelChanged), string(engine.DetailOlderWarmVendor),
}

func TestFeedShowsEveryOutcomeWithinFiveMinutes(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			s := newTheatre(t, seed)
			turns := s.play(t, 600, func(turns []engine.Turn) bool {
				first := s.firsts(turns)
				return !slices.ContainsFunc(shown, func(name string) bool { _, seen := first[name]; return !seen })
			})
			first := s.firsts(turns)
			for _, name := range shown {
				if at, seen := first[name]; !seen || at > 5*time.Minute {
					t.Errorf("%s: seen %t, after %s, in %d turns", name, seen, at, len(turns))
				}
			}
			t.Logf("%d turns in %s: %v", len(turns), s.clock().Sub(s.begins), first)
		})
	}
}

func TestFeedSaysTheSameForTheSameSeed(t *testing.T) {
	play := func(seed uint64, turns int64) []request {
		s := newTheatre(t, seed)
		s.play(t, turns, func([]engine.Turn) bool { return false })
		return s.seen[:turns]
	}
	one, again, other := play(11, 120), play(11, 120), play(12, 10)
	for i := range one {
		if one[i] != again[i] {
			t.Fatalf("request %d is %+v and then %+v", i+1, one[i], again[i])
		}
	}
	if slices.Equal(one[:len(other)], other) {
		t.Error("another seed says the same")
	}
	var coding []int
	for _, r := range one {
		if r.size > 300_000 {
			t.Errorf("a request has %d bytes: sessions must stay small enough to end", r.size)
		}
		if r.session != "" && strings.HasPrefix(r.path, "/v1/messages?beta=true") {
			coding = append(coding, r.size)
		}
	}
	if len(coding) == 0 || coding[0] < 105_000 || coding[0] > 130_000 {
		t.Errorf("Claude Code's requests have %d bytes; the first should have about 116 kB", coding)
	}
}

// TestFeedLeavesOthersFaultsAlone keeps the README's walk-through true: the fault
// that a reader scripts is for the reader's own request.
func TestFeedLeavesOthersFaultsAlone(t *testing.T) {
	s := newTheatre(t, 1)
	if err := s.vendors["fireworks"].Queue(vendorsim.Fault{Times: 500, Status: 503}); err != nil {
		t.Fatal(err)
	}
	turns := s.play(t, 1, nil)
	if waited := turns[0].Started.Sub(s.begins); waited < feedPatience || waited > feedPatience+2*time.Second {
		t.Errorf("the feed began %s after somebody scripted a fault, want %s", waited, feedPatience)
	}
}

func TestFeedStopsAtOnceWhileAVendorHangs(t *testing.T) {
	s := newTheatre(t, 1)
	for _, v := range s.vendors {
		if err := v.Queue(vendorsim.Fault{Times: -1, Hang: true, Message: feedMark}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.feed.run(ctx)
		close(ended)
	}()
	first := demoVendors[0].Name // whom the first session asks first
	if _, err := s.vendors[first].Await(t.Context(), func(log []vendorsim.Seen) bool { return len(log) > 0 }); err != nil {
		t.Fatal(err)
	}
	stop()
	<-ended
}
