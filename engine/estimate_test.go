package engine

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

func TestEstimatePrompt(t *testing.T) {
	reported := Entry{Reported: true, Prompt: 2000, Output: 1600, TextBytes: 8000}
	cases := []struct {
		name  string
		bytes int64
		last  Entry
		want  Estimate
	}{
		{"first turn", 4003, Entry{}, Estimate{1000, BasisTextBytes}},
		{"the answer sent back is part of the new text", 8000 + 6400 + 80, reported, Estimate{3620, BasisReported}},
		{"the answer counts more than its bytes", 8000 + 400, reported, Estimate{3600, BasisReported}},
		{"the answer is not sent back and nothing is new", 8000, reported, Estimate{3600, BasisReported}},
		{"a long tool result", 8000 + 40000, reported, Estimate{12000, BasisReported}},
		{"less text than reported on is another prompt", 7999, reported, Estimate{1999, BasisTextBytes}},
		{"a report without an answer", 8400, Entry{Reported: true, Prompt: 2000, TextBytes: 8000}, Estimate{2100, BasisReported}},
		{"no report yet", 4800, Entry{TextBytes: 4000}, Estimate{1200, BasisTextBytes}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := EstimatePrompt(&Request{TextBytes: c.bytes}, c.last); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	continued := Request{TextBytes: 80, PreviousResponse: "resp_1"}
	if got := EstimatePrompt(&continued, reported); got != (Estimate{3620, BasisReported}) {
		t.Errorf("continued response: %+v", got)
	}
	if got := EstimatePrompt(&continued, Entry{}); got != (Estimate{20, BasisTextBytes}) {
		t.Errorf("continued response of which nothing is known: %+v", got)
	}
}

func TestTheLastReportIsTheThreads(t *testing.T) {
	entry := func(vendor string, minute int, thread uint64, reported bool) Entry {
		e := entryAt(vendor, uint64(minute+1), minute)
		e.Thread, e.Reported = thread, reported
		return e
	}
	r := Record{}.
		Keep("m", entry("a", 0, 7, true)).
		Keep("n", entry("b", 1, 7, true)). // newest report of thread 7, of another model
		Keep("m", entry("c", 2, 7, false)).
		Keep("m", entry("d", 3, 8, true))
	for thread, want := range map[uint64]string{7: "b", 8: "d", 9: "", 0: ""} {
		if e, ok := r.Reported(thread); e.Vendor != want || ok != (want != "") {
			t.Errorf("thread %d: %q, %v, want %q", thread, e.Vendor, ok, want)
		}
	}
}

func TestLifetimeAndExpiry(t *testing.T) {
	vendor := func(name string) *catalog.Vendor { return &catalog.Vendor{Name: name} }
	explicit := &catalog.Route{Vendor: vendor("anthropic"), Cache: catalog.CacheRules{Family: catalog.Explicit, TTL: 5 * time.Minute}}
	openai := &catalog.Route{Vendor: vendor("openai"), Cache: catalog.CacheRules{Family: catalog.Implicit, TTL: 10 * time.Minute}}
	azure := &catalog.Route{Vendor: vendor("azure-eastus"), Cache: openai.Cache}
	other := &catalog.Route{Vendor: vendor("fireworks"), Cache: catalog.CacheRules{Family: catalog.Implicit}}
	accepts := &catalog.Route{Vendor: &catalog.Vendor{Name: "proxy", Accepts: []string{"prompt_cache_retention"}}, Cache: openai.Cache}
	refuses := &catalog.Route{Vendor: &catalog.Vendor{Name: "openai", Refuses: []string{"prompt_cache_retention"}}, Cache: openai.Cache}
	day := Request{Retention: 24 * time.Hour}
	marked := func(ttl time.Duration) Request { return Request{Markers: 2, MarkerTTL: ttl} }
	cases := []struct {
		name  string
		r     Request
		route *catalog.Route
		want  time.Duration // of the pin
	}{
		{"catalog's five minutes", Request{}, explicit, 285 * time.Second},
		{"catalog's ten minutes", Request{}, openai, 585 * time.Second},
		{"nothing stated", Request{}, other, 285 * time.Second},
		{"one-hour marker", marked(time.Hour), explicit, 3585 * time.Second},
		{"five-minute marker", marked(5 * time.Minute), explicit, 285 * time.Second},
		{"marker without a lifetime", marked(0), explicit, 285 * time.Second},
		{"one-hour marker where it means nothing", marked(time.Hour), openai, 585 * time.Second},
		{"retention of a day is an hour", day, openai, 3585 * time.Second},
		{"retention at azure", day, azure, 3585 * time.Second},
		{"retention of 30 minutes", Request{Retention: 30 * time.Minute}, openai, 1785 * time.Second},
		{"retention where it means nothing", day, other, 285 * time.Second},
		{"retention at an explicit route", day, explicit, 285 * time.Second},
		{"retention where the vendor accepts it", day, accepts, 3585 * time.Second},
		{"retention where the vendor refuses it", day, refuses, 585 * time.Second},
		{"a lifetime within the margin", marked(15 * time.Second), explicit, 285 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := ExpiryOf(pinEpoch, Lifetime(&c.r, c.route)).Sub(pinEpoch)
			if got != c.want {
				t.Errorf("the pin lives %v, want %v", got, c.want)
			}
		})
	}
}
