package engine

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

const cardsOfOneVendor = `version: 1
vendors:
  north: {api: [chat, messages], base_url: https://north.example/v1}
models:
  finch:
    routes:
      - vendor: north
        model: finch
        price:
          input: 2.50
          output: 10
          cache_read: 0.25
          service_tiers: {flex: {input: 1.25, output: 5, cache_read: 0.125}, priority: {input: 5, output: 20, cache_read: 0.50}}
  finch-february: {routes: [{vendor: north, model: finch-2026-02-01, price: {input: 4, output: 16}}]}
  robin: {routes: [{vendor: north, model: robin-4-5, price: {input: 3, output: 15}}]}
  stork: {routes: [{vendor: north, model: stork, price: {input: 10, output: 50, cache_read: 1, cache_write: 12.50, cache_write_1h: 20}}]}
  heron: {routes: [{vendor: north, model: heron, price: {input: 5, output: 25, cache_read: 0.50, cache_write: 6.25, cache_write_1h: 10}}]}
`

func TestAnAttemptIsPricedByWhatServedIt(t *testing.T) {
	c, err := catalog.Parse("catalog.yaml", []byte(cardsOfOneVendor))
	if err != nil {
		t.Fatal(err)
	}
	even := pricing.Usage{Input: 1000, Output: 1000}
	half := pricing.Usage{Input: 1000, Output: 500}
	for _, x := range []struct {
		name    string
		asked   string // model
		tier    string // asked for
		attempt Attempt
		cost    string
		priced  string
		assumed bool
	}{
		{"priority asked for, the ordinary tier served", "finch", "priority", Attempt{Usage: even, ServedTier: "default"}, "0.0125", "", false},
		{"flex asked for and served", "finch", "flex", Attempt{Usage: even, ServedTier: "flex"}, "0.00625", "", false},
		{"nothing asked for, priority served", "finch", "auto", Attempt{Usage: even, ServedTier: "priority"}, "0.025", "", false},
		{"flex asked for, the answer names no tier", "finch", "flex", Attempt{Usage: even}, "0.00625", "", true},
		{"a tier without a price", "finch", "", Attempt{Usage: even, ServedTier: "scale"}, "", "", false},
		{"a snapshot of the family", "finch", "", Attempt{Usage: half, ServedModel: "finch-2026-09-09"}, "0.0075", "", false},
		{"a snapshot with an entry of its own", "finch", "", Attempt{Usage: half, ServedModel: "finch-2026-02-01"}, "0.012", "finch-february", false},
		{"the other form of a date", "robin", "", Attempt{Usage: half, ServedModel: "robin-4-5-20260115"}, "0.0105", "", false},
		{"the vendor's own name before it", "finch", "", Attempt{Usage: half, ServedModel: "north/finch"}, "0.0075", "", false},
		{"a deployment's name, which no route has", "finch", "", Attempt{Usage: half, ServedModel: "FINCH"}, "0.0075", "", false},
		{"another model answered", "stork", "", Attempt{Usage: pricing.Usage{Input: 700, Output: 300}, ServedModel: "heron"}, "0.011", "heron", false},
		{"a declined first try at its own price", "stork", "", Attempt{
			Usage: pricing.Usage{Input: 50, CacheWrite5m: 12_000, Output: 400}, ServedModel: "heron",
			Sides: []Side{{Kind: "message", Model: "stork", Usage: pricing.Usage{Input: 50, CacheRead: 12_000, Output: 30}}},
		}, "0.09925", "heron", false},
		{"a compaction by the model that answered", "heron", "", Attempt{
			Usage: pricing.Usage{Input: 1000},
			Sides: []Side{{Kind: "compaction", Usage: pricing.Usage{Output: 1000}}},
		}, "0.03", "", false},
		{"a side without a price for what it used", "robin", "", Attempt{
			Usage: half, Sides: []Side{{Kind: "advisor", Model: "robin-4-5", Usage: pricing.Usage{CacheRead: 10}}},
		}, "0.01053", "", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			target, _ := c.Resolve(x.asked)
			a := x.attempt
			a.Candidate = Candidate{Route: target.Models[0].Routes[0]}
			a.Stage, a.Quality, a.Started = StageServed, pricing.Authoritative, time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
			price(&a, &Request{Service: x.tier})
			booked := bookAttempt(&a)
			if a.Cost.Known != (x.cost != "") || a.Cost.Known && a.Cost.Total.String() != x.cost {
				t.Errorf("it cost %s (known %t), want %s", a.Cost.Total, a.Cost.Known, x.cost)
			}
			if booked.Cost.Known != a.Cost.Known || !booked.Cost.Total.Equal(a.Cost.Total) {
				t.Errorf("it is booked at %s, and cost %s", booked.Cost.Total, a.Cost.Total)
			}
			if booked.Priced != x.priced || booked.TierAssumed != x.assumed || booked.Model != x.asked {
				t.Errorf("priced as %q, assumed %t, model %q", booked.Priced, booked.TierAssumed, booked.Model)
			}
		})
	}
}

// What the vendor tells counts before what the request asked for; what it does not
// tell is taken from the request.
func TestTermsOfAnAttempt(t *testing.T) {
	c, err := catalog.Parse("catalog.yaml", []byte(`version: 1
vendors:
  north: {api: [chat], base_url: https://north.example/v1}
models:
  finch:
    routes:
      - vendor: north
        model: finch
        price:
          input: 2
          output: 10
          cache_read: 0.20
          cache_read_implicit: 0.40
          surcharges: [{speed: fast, times: 6}, {region: us, times: 1.1}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name    string
		request Request
		attempt Attempt
		cost    string // of a million tokens read
	}{
		{"no markers", Request{}, Attempt{}, "0.4"},
		{"markers", Request{Markers: 1}, Attempt{}, "0.2"},
		{"markers, and the vendor read what it kept by itself", Request{Markers: 1}, Attempt{Implicit: true}, "0.4"},
		{"fast asked for, and not told", Request{Markers: 1, Speed: "fast"}, Attempt{}, "1.2"},
		{"fast asked for, and not served", Request{Markers: 1, Speed: "fast"}, Attempt{Speed: "standard"}, "0.2"},
		{"a region asked for, and not told", Request{Markers: 1, Region: "us"}, Attempt{}, "0.22"},
		{"a region asked for, and there is none", Request{Markers: 1, Region: "us"}, Attempt{Region: "not_available"}, "0.2"},
		{"a region told, and not asked for", Request{Markers: 1}, Attempt{Region: "us", Speed: "fast"}, "1.32"},
		{"a speed that has no price", Request{Markers: 1, Speed: "slow"}, Attempt{}, ""},
	} {
		a := x.attempt
		a.Candidate = Candidate{Route: c.Models[0].Routes[0]}
		a.Stage, a.Quality, a.Usage = StageServed, pricing.Authoritative, pricing.Usage{CacheRead: 1_000_000}
		price(&a, &x.request)
		if a.Cost.Known != (x.cost != "") || a.Cost.Known && a.Cost.Total.String() != x.cost {
			t.Errorf("%s: %s (known %t), want %s", x.name, a.Cost.Total, a.Cost.Known, x.cost)
		}
	}
}

// An answer that ends in dearer hours, or after the price has changed, began before.
func TestAnAttemptIsPricedAtItsOwnStart(t *testing.T) {
	c, err := catalog.Parse("catalog.yaml", []byte(`version: 1
vendors:
  north: {api: [chat], base_url: https://north.example/v1}
models:
  finch:
    routes:
      - vendor: north
        model: finch
        price:
          - {valid_to: 2026-11-20, input: 0.50, windows: [{from: "01:00", to: "04:00", zone: UTC, input: 1}]}
          - {valid_from: 2026-11-20, valid_to: 2026-12-01, input: 0.70}
`))
	if err != nil {
		t.Fatal(err)
	}
	for start, want := range map[string]string{
		"2026-11-19T00:59:59.999Z": "0.5",
		"2026-11-19T01:00:00Z":     "1",
		"2026-11-19T23:59:59.999Z": "0.5",
		"2026-11-20T00:00:00Z":     "0.7",
		"2026-11-20T01:00:00Z":     "0.7",
		"2026-12-01T00:00:00Z":     "",
	} {
		a := Attempt{Candidate: Candidate{Route: c.Models[0].Routes[0]}, Stage: StageServed, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 1_000_000}}
		if a.Started, err = time.Parse(time.RFC3339Nano, start); err != nil {
			t.Fatal(err)
		}
		a.Took = time.Hour
		price(&a, &Request{})
		if a.Cost.Known != (want != "") || a.Cost.Known && a.Cost.Total.String() != want {
			t.Errorf("begun at %s: %s (known %t), want %s", start, a.Cost.Total, a.Cost.Known, want)
		}
	}
}
