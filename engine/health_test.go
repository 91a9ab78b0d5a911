package engine

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

func routeFor(model, vendor string) *catalog.Route {
	return &catalog.Route{Model: &catalog.Model{Name: model}, Vendor: &catalog.Vendor{Name: vendor}}
}

func TestHealth(t *testing.T) {
	route := routeFor("m", "v")
	at := func(s float64) time.Time { return pinEpoch.Add(time.Duration(s * float64(time.Second))) }
	type step struct {
		at      float64 // seconds
		failure Failure // none: a success
		retry   time.Duration
	}
	fail := func(times ...float64) (steps []step) {
		for _, s := range times {
			steps = append(steps, step{at: s, failure: FailureServer})
		}
		return steps
	}
	cases := []struct {
		name     string
		steps    []step
		up, down []float64 // moments after the steps
	}{
		{"nothing happened", nil, []float64{0}, nil},
		{"two failures", fail(0, 1), []float64{1}, nil},
		{"three running are down until the first probe", fail(0, 1, 2), []float64{32}, []float64{2, 31.9}},
		{"a success between starts the row anew", []step{{at: 0, failure: FailureServer}, {at: 1, failure: FailureServer}, {at: 2}, {at: 3, failure: FailureServer}}, []float64{3}, nil},
		{"a failed probe doubles the wait", fail(0, 1, 2, 32), []float64{92}, []float64{32, 91.9}},
		{"failures while down do not", fail(0, 1, 2, 3, 4), []float64{32}, []float64{31.9}},
		{"the wait ends at five minutes", fail(0, 1, 2, 100, 1000, 2000, 3000, 4000, 5000), []float64{5300}, []float64{5299}},
		{"one success after being down", append(fail(0, 1, 2), step{at: 33}), []float64{33}, nil},
		{"retry-after cools at once", []step{{failure: FailureThrottled, retry: 20 * time.Second}}, []float64{20}, []float64{0, 19.9}},
		{"retry-after is clamped", []step{{failure: FailureThrottled, retry: time.Hour}}, []float64{300}, []float64{299}},
		{"a negative retry-after is none", []step{{failure: FailureThrottled, retry: -time.Hour}}, []float64{0}, nil},
		{"a success does not end a retry-after", []step{{failure: FailureThrottled, retry: 20 * time.Second}, {at: 1}}, []float64{20}, []float64{1}},
		{"a shorter retry-after does not end a longer one", []step{{failure: FailureThrottled, retry: 20 * time.Second}, {at: 1, failure: FailureThrottled, retry: time.Second}}, []float64{20}, []float64{19}},
		{"a refused credential cools", []step{{failure: FailureCredential}}, []float64{60}, []float64{0, 59}},
		{"what is forbidden to one request is none to others", []step{{failure: FailureForbidden}, {failure: FailureForbidden}, {failure: FailureForbidden}, {failure: FailureForbidden}}, []float64{0, 1}, nil},
		{"the client's own mistakes count for nothing", []step{{failure: FailureRequest}, {failure: FailureRequest}, {failure: FailureRequest, retry: time.Minute}}, []float64{0}, nil},
		{"callers who leave count for nothing", []step{{failure: FailureClientLeft}, {failure: FailureClientLeft}, {failure: FailureClientLeft}}, []float64{0}, nil},
		{"cut streams count", []step{{failure: FailureCut}, {failure: FailureStream}, {failure: FailureCut}}, nil, []float64{0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := NewHealth()
			for _, s := range c.steps {
				if s.failure == FailureNone {
					h.Succeeded(route, "k")
					continue
				}
				h.Failed(route, "k", at(s.at), s.failure, s.retry)
			}
			for _, s := range c.up {
				if h.Down(route, "k", at(s)) {
					t.Errorf("down at %v s", s)
				}
			}
			for _, s := range c.down {
				if !h.Down(route, "k", at(s)) {
					t.Errorf("not down at %v s", s)
				}
			}
		})
	}
}

func TestHealthIsKeptForEachCandidate(t *testing.T) {
	h := NewHealth()
	for range FailuresUntilDown {
		h.Failed(routeFor("m", "v"), "k1", pinEpoch, FailureConnect, 0)
	}
	for _, other := range []struct {
		route      *catalog.Route
		credential string
	}{{routeFor("m", "v"), "k2"}, {routeFor("n", "v"), "k1"}, {routeFor("m", "w"), "k1"}} {
		if h.Down(other.route, other.credential, pinEpoch) {
			t.Errorf("%s of %s for %s is down, and never failed", other.credential, other.route.Vendor.Name, other.route.Model.Name)
		}
	}
	if !h.Down(routeFor("m", "v"), "k1", pinEpoch) {
		t.Error("the one that failed is not down: names count, not pointers, so that a reload keeps them")
	}
}

func TestHealthIsBounded(t *testing.T) {
	h := NewHealth()
	for i := range maxTracked + 10 {
		h.Failed(routeFor("m", fmt.Sprint(i)), "k", pinEpoch, FailureServer, 0)
	}
	if len(h.all) != maxTracked {
		t.Errorf("%d candidates remembered", len(h.all))
	}
	h.Failed(routeFor("m", "late"), "k", pinEpoch.Add(2*forgotten), FailureServer, 0)
	if len(h.all) != 1 {
		t.Errorf("%d candidates remembered after old failures were forgotten", len(h.all))
	}
}

func TestHealthConcurrently(t *testing.T) {
	h := NewHealth()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			route := routeFor("m", fmt.Sprint(i%3))
			for range 200 {
				h.Failed(route, "k", pinEpoch, FailureServer, time.Second)
				h.Down(route, "k", pinEpoch)
				h.Succeeded(route, "k")
			}
		})
	}
	wg.Wait()
	if len(h.all) != 3 || h.tracked.Load() != 3 {
		t.Errorf("%d candidates are remembered and %d counted, want 3", len(h.all), h.tracked.Load())
	}
	for key, a := range h.all { // each route's last word was a success
		want := ailment{cooling: pinEpoch.Add(time.Second), last: pinEpoch}
		if a != want {
			t.Errorf("%v is left with %+v, want %+v", key, a, want)
		}
	}
	for i := range 3 {
		route := routeFor("m", fmt.Sprint(i))
		if !h.Down(route, "k", pinEpoch) || h.Down(route, "k", pinEpoch.Add(time.Second)) {
			t.Errorf("vendor %d is not down for its Retry-After and no longer", i)
		}
	}
}

// A stale id of one caller's, answered with a 404, does not take a route away
// from everybody else.
func TestNotFoundSaysNothingOfTheVendor(t *testing.T) {
	h, route := NewHealth(), routeFor("m", "a")
	for range 2 * FailuresUntilDown {
		h.Failed(route, "k", pinEpoch, FailureNotFound, time.Minute)
	}
	if h.Down(route, "k", pinEpoch) {
		t.Error("down after 404s")
	}
}

// Keys that callers make up take no room from the operator's candidates, and one
// key's failures are nobody else's.
func TestMadeUpKeysTakeNoRoomInHealth(t *testing.T) {
	h, route := NewHealth(), routeFor("m", "v")
	for i := range maxTracked + 100 {
		h.Failed(route, OwnKeyID(fmt.Sprint(i)), pinEpoch, FailureCredential, 0)
	}
	if h.own != maxTracked || len(h.all) != maxTracked || h.Down(route, "main", pinEpoch) || !h.Down(route, OwnKeyID("1"), pinEpoch) {
		t.Fatalf("%d of %d are callers' own", h.own, len(h.all))
	}
	for range FailuresUntilDown {
		h.Failed(route, "main", pinEpoch, FailureServer, 0)
	}
	if !h.Down(route, "main", pinEpoch) {
		t.Error("the operator's own candidate is not remembered")
	}
	later := pinEpoch.Add(2 * CredentialCooling)
	h.Failed(route, OwnKeyID("later"), later, FailureCredential, 0)
	if h.own != 1 || len(h.all) != 2 || !h.Down(route, OwnKeyID("later"), later) {
		t.Errorf("%d of %d are callers' own", h.own, len(h.all))
	}
	h.Failed(route, OwnKeyID("server"), later, FailureServer, 0)
	h.Succeeded(route, OwnKeyID("server"))
	if h.own != 1 {
		t.Errorf("%d are callers' own after a success", h.own)
	}
}
