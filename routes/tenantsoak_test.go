//go:build soak

package routes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The time of the check does not tell how much of a key is right: Welch's t of
// keys that are right but for their end against keys that are wrong throughout, in
// random order, with the slowest tenth left out. Only full-size runs make it: a
// busy machine could fail it by chance.
func TestTheTimeOfAKeyTellsNothing(t *testing.T) {
	const rounds, limit = 400_000, 5
	tenants := hundred(t)
	right := testKey(57, 1)
	keys := [2]string{right[:len(right)-1] + "9", "xyz_" + testKey(999, 7)[4:]}
	if len(keys[0]) != len(keys[1]) {
		t.Fatal("the keys differ in length")
	}
	dice := rand.New(rand.NewPCG(1, 2))
	var times [2][]float64
	for range rounds {
		which := dice.IntN(2)
		began := time.Now()
		for range 8 {
			if tenants.find(keys[which]) != nil {
				t.Fatal("found")
			}
		}
		times[which] = append(times[which], float64(time.Since(began)))
	}
	mean0, var0 := moments(times[0])
	mean1, var1 := moments(times[1])
	welch := (mean0 - mean1) / math.Sqrt(var0+var1)
	t.Logf("%.1f ns and %.1f ns for 8, t = %.2f", mean0, mean1, welch)
	if math.Abs(welch) > limit {
		t.Errorf("t = %.2f, beyond %d", welch, limit)
	}
}

// moments are the mean of the fastest nine tenths and the variance of that mean.
func moments(x []float64) (mean, variance float64) {
	slices.Sort(x)
	x = x[:len(x)*9/10]
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1) / float64(len(x))
}
