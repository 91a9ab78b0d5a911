package sim

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

func TestPausesAreCountedByAgeWhetherFoundOrNot(t *testing.T) {
	var day, other Learned
	for _, age := range []time.Duration{0, time.Minute, 5 * time.Minute, 5*time.Minute + 1, 10 * time.Minute, time.Hour, time.Hour + 1} {
		for _, read := range []int64{0, 100} {
			day.Learn(&Result{Eligible: true, Seen: Seen{Age: age, Held: 100, Read: read}})
		}
	}
	other.Learn(&Result{Eligible: true, Seen: Seen{Age: time.Second, Held: 100}})
	other.Learn(&Result{Eligible: true}) // nothing was held: no pause ended
	if got, want := pauses([]Aged{{day, 0}, {other, time.Hour}}), (pricing.Pauses{N: 15, Within5m: 7, Within1h: 13}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := new(Learner).Pauses("heron", "north"); got != (pricing.Pauses{}) {
		t.Errorf("of a route nobody used: %+v", got)
	}
}
