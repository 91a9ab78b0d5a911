package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// The rules by which a candidate is down (design section 2).
const (
	FailuresUntilDown = 3                // running
	MaxCooling        = 5 * time.Minute  // of a vendor's Retry-After
	CredentialCooling = 60 * time.Second // after 401 or 402
	FirstProbe        = 30 * time.Second // until a candidate that is down is tried again
	LastProbe         = 5 * time.Minute  // the wait doubles up to this
)

// maxTracked bounds how many candidates are remembered of the operator's, and how
// many of callers' own keys. Only those that failed are, so a catalog would have to
// be very large to reach it; and keys that callers make up take the room of none of
// the operator's.
const maxTracked = 16384

// forgotten is how long after its last failure a candidate may be forgotten to
// make room for another.
const forgotten = time.Hour

// Health remembers which candidates fail. It says who goes to the end of a plan
// and never takes anyone out of it.
//
// A candidate is a vendor's credential serving one model. It is down after
// [FailuresUntilDown] failures running, until a wait of [FirstProbe] has passed;
// each failure after such a wait doubles it, up to [LastProbe]. While the
// vendor's Retry-After runs, or [CredentialCooling] after it refused the
// credential, it is cooling, which is down too. A success ends the row of
// failures, not a Retry-After.
//
// A Health is used from any number of goroutines. Its zero value is ready.
type Health struct {
	tracked atomic.Int64 // len(all), so that asking costs nothing while all is well
	mu      sync.RWMutex
	all     map[healthKey]ailment
	own     int                                // of those, callers' own keys
	told    atomic.Pointer[map[string]*Health] // by tenants, each for itself; see Told
}

type healthKey struct{ vendor, model, credential string }

func keyOf(route *catalog.Route, credential string) healthKey {
	return healthKey{route.Vendor.Name, route.Model.Name, credential}
}

// ailment is what is known of a candidate that has failed.
type ailment struct {
	failures int           // running
	wait     time.Duration // of the row of failures; 0 until it is down
	probe    time.Time     // when the wait ends
	cooling  time.Time     // when Retry-After ends
	last     time.Time     // of the failures
}

func (a ailment) down(now time.Time) bool {
	return now.Before(a.cooling) || a.failures >= FailuresUntilDown && now.Before(a.probe)
}

// NewHealth returns a Health in which nobody is down.
func NewHealth() *Health { return &Health{} }

// Down says whether the candidate is down or cooling.
func (h *Health) Down(route *catalog.Route, credential string, now time.Time) bool {
	if h == nil || h.tracked.Load() == 0 {
		return false
	}
	h.mu.RLock()
	a, ok := h.all[keyOf(route, credential)]
	h.mu.RUnlock()
	return ok && a.down(now)
}

// Failed records a failed attempt. The client's own mistakes, and callers who
// leave, say nothing of the vendor and count for nothing; nor do a 404 and a 403, which
// one caller's stale id or forbidden wish may bring about. retryAfter is what the
// vendor asked for, 0 if it did not; it counts between nothing and [MaxCooling].
func (h *Health) Failed(route *catalog.Route, credential string, now time.Time, failure Failure, retryAfter time.Duration) {
	switch failure {
	case FailureNone, FailureRequest, FailureNotFound, FailureForbidden, FailureClientLeft, FailureShutdown:
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := keyOf(route, credential)
	a, known := h.all[key]
	if !known && !h.room(IsOwnKey(credential), now) {
		return
	}
	a.last = now
	if until := now.Add(min(max(retryAfter, 0), MaxCooling)); until.After(a.cooling) {
		a.cooling = until
	}
	if failure == FailureCredential {
		if until := now.Add(CredentialCooling); until.After(a.cooling) {
			a.cooling = until
		}
	} else {
		a.fail(now)
	}
	if h.all == nil {
		h.all = map[healthKey]ailment{}
	}
	h.all[key] = a
	h.count(key, !known, 1)
}

// count notes that a candidate has come or gone, if so.
func (h *Health) count(key healthKey, changed bool, by int) {
	if changed && IsOwnKey(key.credential) {
		h.own += by
	}
	h.tracked.Store(int64(len(h.all)))
}

// fail adds one to the row of failures. Those that arrive while the candidate is
// down already were sent before, or because all were down: they do not make the
// wait longer.
func (a *ailment) fail(now time.Time) {
	a.failures++
	switch {
	case a.failures < FailuresUntilDown:
		return
	case a.wait == 0:
		a.wait = FirstProbe
	case now.Before(a.probe):
		return
	default:
		a.wait = min(2*a.wait, LastProbe)
	}
	a.probe = now.Add(a.wait)
}

// Succeeded records an attempt that was served: the row of failures is over.
func (h *Health) Succeeded(route *catalog.Route, credential string) {
	if h.tracked.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := keyOf(route, credential)
	a, ok := h.all[key]
	if !ok {
		return
	}
	if a.cooling.After(a.last) {
		// A Retry-After may still run; without a clock it is kept until it is over.
		h.all[key] = ailment{cooling: a.cooling, last: a.last}
		return
	}
	delete(h.all, key)
	h.count(key, true, -1)
}

// room says whether one more candidate can be remembered, one of a caller's own or
// one of the operator's, forgetting old failures of such if need be. Call it with the
// lock held.
func (h *Health) room(own bool, now time.Time) bool {
	if h.held(own) < maxTracked {
		return true
	}
	for key, a := range h.all {
		// Keys of callers' own are made up faster than an hour passes.
		if IsOwnKey(key.credential) == own && !a.down(now) && (own || now.Sub(a.last) > forgotten) {
			delete(h.all, key)
			h.count(key, true, -1)
		}
	}
	return h.held(own) < maxTracked
}

// held is how many candidates are remembered of callers' own keys, or of the others.
func (h *Health) held(own bool) int {
	if own {
		return h.own
	}
	return len(h.all) - h.own
}
