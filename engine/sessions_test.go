package engine

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestSessionRates(t *testing.T) {
	rates := NewSessionRates(func(tenant string) int { return map[string]int{"gull": 3, "tern": 60}[tenant] })
	take := func(tenant string, after time.Duration, want bool) {
		t.Helper()
		now := pinEpoch.Add(after)
		if room := rates.Room(tenant, now); room != want {
			t.Errorf("%s at %v: room %v, want %v", tenant, after, room, want)
		}
		if ok := rates.Take(tenant, now); ok != want {
			t.Errorf("%s at %v: took %v, want %v", tenant, after, ok, want)
		}
	}
	for range 3 {
		take("gull", 0, true)
	}
	take("gull", 0, false)
	take("gull", 19999*time.Millisecond, false)
	take("gull", 20*time.Second, true)
	take("gull", 20*time.Second, false)
	take("gull", 10*time.Second, false) // the clock is set back
	for range 60 {
		take("tern", 0, true) // the other tenant has what it had
	}
	take("tern", time.Millisecond*999, false)
	take("tern", time.Second, true)
	for range 3 {
		take("gull", time.Hour, true) // full, and not fuller
	}
	take("gull", time.Hour, false)
	for range 100_000 {
		take("heron", 0, true) // no bound
	}
}

// The twin is a bucket that is never refilled at once, counted in fractions of a
// session.
func TestSessionRatesAgreeWithTheirSlowTwin(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		perMinute := 1 + rnd.IntN(200)
		rates := NewSessionRates(func(string) int { return perMinute })
		// In units of a session divided by the nanoseconds of a minute.
		now, level, unit := pinEpoch, int64(perMinute)*int64(time.Minute), int64(time.Minute)
		for step := range 2000 {
			wait := time.Duration(rnd.Int64N(int64(2 * time.Second)))
			now = now.Add(wait)
			level = min(level+int64(wait)*int64(perMinute), int64(perMinute)*unit)
			want := level >= unit
			if want {
				level -= unit
			}
			if got := rates.Take("gull", now); got != want {
				t.Fatalf("seed %d, step %d, %d a minute: %v, want %v", seed, step, perMinute, got, want)
			}
		}
	}
}
