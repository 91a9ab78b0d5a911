package engine

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// cachingFacts are those of a conversation that is marked: its second turn, at a route
// that needs markers.
func cachingFacts() CachingFacts {
	rate := func(text string) pricing.Rate { return pricing.PerMillion(decimal.RequireFromString(text)) }
	v := &catalog.Vendor{Name: "pier", API: []catalog.API{catalog.Messages}}
	return CachingFacts{
		Request: &Request{API: catalog.Messages, Caching: true, History: 1, TextBytes: 40_000, StableBytes: 20_000},
		Session: Session{Tenant: "t", Class: ClassFingerprint, ID: "f"},
		Route:   &catalog.Route{Vendor: v, Cache: catalog.CacheRules{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024}},
		Card:    pricing.Card{Input: rate("1"), CacheRead: rate("0.1"), CacheWrite5m: rate("1.25"), CacheWrite1h: rate("2")},
		Prompt:  Estimate{Tokens: 10_000},
	}
}

func TestWhereMarkersArePlaced(t *testing.T) {
	const placed, none = 5 * time.Minute, time.Duration(0)
	for _, c := range []struct {
		name   string
		change func(f *CachingFacts)
		want   time.Duration
	}{
		{"a conversation with history", func(f *CachingFacts) {}, placed},
		{"nobody asked for it", func(f *CachingFacts) { f.Request.Caching = false }, none},
		{"the client has marked it", func(f *CachingFacts) { f.Request.Markers = 1 }, none},
		{"the vendor caches by itself", func(f *CachingFacts) { f.Route.Cache.Family = catalog.Implicit }, none},
		{"the vendor caches nothing", func(f *CachingFacts) { f.Route.Cache.Family = catalog.None }, none},
		{"a chat vendor that does not say that it knows markers", func(f *CachingFacts) { f.Request.API = catalog.Chat }, none},
		{"a chat vendor that does", func(f *CachingFacts) {
			f.Request.API, f.Route.Vendor.Accepts = catalog.Chat, []string{"cache_control"}
		}, placed},
		{"the vendor refuses them", func(f *CachingFacts) { f.Route.Vendor.Refuses = []string{"cache_control"} }, none},
		{"just long enough", func(f *CachingFacts) { f.Prompt.Tokens = 1024 }, placed},
		{"a token too short", func(f *CachingFacts) { f.Prompt.Tokens = 1023 }, none},
		{"too short where no minimum is documented", func(f *CachingFacts) { f.Prompt.Tokens, f.Route.Cache.MinPrefix = 255, 0 }, none},
		{"one question without a name, with a long system text", func(f *CachingFacts) { f.Request.History = 0 }, placed},
		{"with a short one", func(f *CachingFacts) { f.Request.History, f.Request.StableBytes = 0, 4*1024-1 }, none},
		{"without any session, and a short one", func(f *CachingFacts) {
			f.Request.History, f.Session, f.Request.StableBytes = 0, Session{}, 4*1024-1
		}, none},
		{"history without any session", func(f *CachingFacts) { f.Session = Session{} }, placed},
		{"the first turn of a session by name", func(f *CachingFacts) { f.Request.History, f.Session.Class = 0, ClassExplicit }, placed},
		{"of an agent", func(f *CachingFacts) { f.Request.History, f.Session.Class = 0, ClassAgent }, placed},
		{"of a cache key", func(f *CachingFacts) { f.Request.History, f.Session.Class = 0, ClassCacheKey }, placed},
	} {
		f := cachingFacts()
		c.change(&f)
		if got := Caching(f); got != (Marking{Place: c.want}) {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestHowLongPlacedMarkersLive(t *testing.T) {
	agent := pricing.Pauses{N: 1000, Within5m: 949, Within1h: 997}
	// As much history as the example expects future: 51 user turns of a thousand tokens.
	long := func(f *CachingFacts) {
		f.Pauses, f.Prompt.Tokens = agent, 50_000
		f.Request.History, f.Request.StableBytes, f.Request.TextBytes = 50, 0, 4*1000*51
	}
	for _, c := range []struct {
		name   string
		change func(f *CachingFacts)
		want   time.Duration
	}{
		{"nothing is known", func(f *CachingFacts) {}, ShortMarker},
		{"the request says an hour", func(f *CachingFacts) { f.Request.CacheTTL = time.Hour }, LongMarker},
		{"the request counts before its policy", func(f *CachingFacts) { f.Request.CacheTTL, f.Policy = 5*time.Minute, catalog.CacheTTL1h }, ShortMarker},
		{"and before what pays", func(f *CachingFacts) { long(f); f.Request.CacheTTL = 5 * time.Minute }, ShortMarker},
		{"the policy says an hour", func(f *CachingFacts) { f.Policy = catalog.CacheTTL1h }, LongMarker},
		{"the policy says five minutes", func(f *CachingFacts) { long(f); f.Policy = catalog.CacheTTL5m }, ShortMarker},
		{"fifty turns to come", long, LongMarker},
		{"ten turns to come", func(f *CachingFacts) { long(f); f.Request.History, f.Request.TextBytes = 10, 4*1000*11 }, ShortMarker},
		{"pauses that no five minutes outlast", func(f *CachingFacts) {
			long(f)
			f.Request.History, f.Request.TextBytes, f.Pauses = 10, 4*1000*11, pricing.Pauses{N: 100, Within5m: 80, Within1h: 98}
		}, LongMarker},
		{"too few pauses to go by", func(f *CachingFacts) { long(f); f.Pauses = pricing.Pauses{N: 19, Within5m: 0, Within1h: 19} }, ShortMarker},
		{"what is held for an hour stays so", func(f *CachingFacts) { f.Held = time.Hour }, LongMarker},
		{"what is held for five minutes too", func(f *CachingFacts) { long(f); f.Held = 5 * time.Minute }, ShortMarker},
		{"no rate for an hour's writes", func(f *CachingFacts) { long(f); f.Card.CacheWrite1h = pricing.Rate{} }, ShortMarker},
	} {
		f := cachingFacts()
		c.change(&f)
		if got := Caching(f); got != (Marking{Place: c.want}) {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestThePinGoesByTheMarkersThatTheVendorReads(t *testing.T) {
	route := &catalog.Route{Vendor: &catalog.Vendor{Name: "pier"}, Cache: catalog.CacheRules{Family: catalog.Explicit, TTL: 5 * time.Minute}}
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		m    Marking
		r    Request
		want time.Duration
	}{
		{"none", Marking{}, Request{}, 285 * time.Second},
		{"the client's hour", Marking{}, Request{Markers: 1, MarkerTTL: time.Hour}, 3585 * time.Second},
		{"the client's hour, cut", Marking{Cut: 1}, Request{Markers: 1, MarkerTTL: time.Hour}, 285 * time.Second},
		{"an hour placed", Marking{Place: LongMarker}, Request{}, 3585 * time.Second},
		{"five minutes placed", Marking{Place: ShortMarker}, Request{}, 285 * time.Second},
	} {
		r := c.r
		if got := ExpiryOf(at, Lifetime(c.m.Asked(&r), route)).Sub(at); got != c.want {
			t.Errorf("%s: the pin lasts %s, want %s", c.name, got, c.want)
		}
		if r.Markers != c.r.Markers || r.MarkerTTL != c.r.MarkerTTL {
			t.Errorf("%s: the request was changed", c.name)
		}
	}
}
