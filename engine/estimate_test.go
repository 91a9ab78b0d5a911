package engine

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

func TestEstimatePrompt(t *testing.T) {
	reported := entryAt("a", 1, 0)
	reported.Reported, reported.Prompt, reported.TextBytes = true, 1100, 4000
	unreported := entryAt("b", 2, 1)
	unreported.TextBytes = 4000
	cases := []struct {
		name   string
		bytes  int64
		record Record
		want   Estimate
	}{
		{"first turn", 4003, Record{}, Estimate{1000, BasisTextBytes}},
		{"new text on top of the last report", 4800, Record{}.Keep("m", reported), Estimate{1300, BasisReported}},
		{"nothing new", 4000, Record{}.Keep("m", reported), Estimate{1100, BasisReported}},
		{"less text than reported on is another prompt", 400, Record{}.Keep("m", reported), Estimate{100, BasisTextBytes}},
		{"the newest entry has no report yet", 4800, Record{}.Keep("m", reported).Keep("m", unreported), Estimate{1200, BasisTextBytes}},
		{"the last report was of another model", 4800, Record{}.Keep("other", reported), Estimate{1300, BasisReported}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := EstimatePrompt(c.bytes, c.record); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
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
		{"automatic caching for an hour", Request{AutoCaching: true, AutoTTL: time.Hour}, explicit, 3585 * time.Second},
		{"cache_ttl without automatic caching", Request{AutoTTL: time.Hour}, explicit, 285 * time.Second},
		{"longest of marker and automatic", Request{AutoCaching: true, AutoTTL: 5 * time.Minute, Markers: 1, MarkerTTL: time.Hour}, explicit, 3585 * time.Second},
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
