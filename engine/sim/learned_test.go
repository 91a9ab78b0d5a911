package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func looks(n, found int64) Learned {
	return Learned{Tried: Trials{N: n, Parts: found * whole, Found: found}}
}

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

func TestSurvival(t *testing.T) {
	for _, c := range []struct {
		name     string
		seen     []Aged
		p, lower float64
		n        int64
	}{
		{"nothing seen", nil, 0.8, 0.62111, 0},
		{"47 of 50", []Aged{{looks(50, 47), 0}}, 0.92727, 0.89226, 50},
		{"the same in two parts", []Aged{{looks(20, 19), 0}, {looks(30, 28), 0}}, 0.92727, 0.89226, 50},
		{"a day old counts half", []Aged{{looks(100, 94), 24 * time.Hour}}, 0.92727, 0.89226, 100},
		{"however many, the last few hundred count", []Aged{{looks(1_000_000, 900_000), 0}}, 0.89830, 0.88068, 1_000_000},
	} {
		got := Survival(c.seen...)
		if !near(got.P, c.p) || !near(got.Lower, c.lower) || got.N != c.n {
			t.Errorf("%s: %+v, want %v, %v", c.name, got, c.p, c.lower)
		}
	}
}

func TestHeldFallsWithAge(t *testing.T) {
	if got := Held(time.Minute, 5*time.Minute); !near(got.P, 0.8) || got.N != 0 {
		t.Errorf("within the claim: %+v", got)
	}
	if got := Held(6*time.Minute, 5*time.Minute); got.P != 0 {
		t.Errorf("beyond the claim: %+v", got)
	}
	var l Learned
	for i, n := range []int64{95, 60, 90, 10, 0, 0} { // of 100 looks each: the second and the third are taken together
		l.Kept[i] = Trials{N: 100, Parts: n * whole, Found: n}
	}
	last := 2.0
	for _, age := range []time.Duration{time.Second, 2 * time.Minute, 10 * time.Minute, 11 * time.Minute, time.Hour, 2 * time.Hour} {
		got := Held(age, 5*time.Minute, Aged{l, 0})
		if got.P > last {
			t.Errorf("%v: %v after %v", age, got.P, last)
		}
		last = got.P
	}
	two, ten := Held(2*time.Minute, 5*time.Minute, Aged{l, 0}), Held(10*time.Minute, 5*time.Minute, Aged{l, 0})
	if two != ten || two.N != 200 || !near(two.P, 154.0/210) {
		t.Errorf("%+v and %+v", two, ten)
	}
}

func TestLifetime(t *testing.T) {
	of := func(found ...int64) Learned {
		var l Learned
		for i, n := range found {
			if n >= 0 {
				l.Kept[i] = Trials{N: 10, Parts: n * whole, Found: n}
			}
		}
		return l
	}
	const none = -1
	for _, c := range []struct {
		name        string
		l           Learned
		least, most time.Duration
		contradicts bool
	}{
		{"nothing seen", Learned{}, 0, 0, false},
		{"as claimed", of(10, 9, 1, 0), 5 * time.Minute, 10 * time.Minute, false},
		{"longer than claimed", of(10, 9, 9, 8, 2), 30 * time.Minute, time.Hour, true},
		{"lost within the claim", of(9, 2, 0), time.Minute, 5 * time.Minute, true},
		{"nobody looked in between", of(10, none, none, 0), time.Minute, 30 * time.Minute, false},
		{"kept however long", of(10, 10, 10, 10, 10, 9), time.Hour, 0, true},
		{"one stray hit late", of(10, 9, 0, 0, 0, 1), 5 * time.Minute, 10 * time.Minute, false},
	} {
		got := c.l.Lifetime(5 * time.Minute)
		if got.Least != c.least || got.Most != c.most || got.Contradicts() != c.contradicts || got.Stretches != c.l.Kept {
			t.Errorf("%s: from %v to %v (%t)", c.name, got.Least, got.Most, got.Contradicts())
		}
	}
}

func TestLearnedAddsUpInAnyOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	var all, parts Learned
	var some [4]Learned
	for range 2000 {
		held := 1 + r.Int64N(300_000)
		res := Result{Eligible: r.IntN(10) > 0, Seen: Seen{
			Age: time.Duration(r.Int64N(int64(2 * time.Hour))), Held: held, Read: r.Int64N(held + 1), Alive: r.IntN(2) > 0,
		}}
		res.Usage.CacheRead, res.Usage.Input = res.Seen.Read, r.Int64N(9000)
		all.Learn(&res)
		some[r.IntN(4)].Learn(&res)
	}
	for _, i := range r.Perm(4) {
		parts = parts.Add(some[i])
	}
	if parts != all || all.Sub(some[2]).Add(some[2]) != all {
		t.Fatalf("seed %d: the parts are not the whole", seed)
	}
	var n int64
	for i := range all.Kept {
		n += all.Kept[i].N
	}
	if n != all.Turns || all.Tried.N == 0 || all.HitRate().All != all.Prompt {
		t.Errorf("seed %d: %+v", seed, all)
	}
}

func TestStretchesEndInclusive(t *testing.T) {
	for age, want := range map[time.Duration]int{0: 0, time.Minute: 0, time.Minute + 1: 1, 5 * time.Minute: 1, 10 * time.Minute: 2, 30 * time.Minute: 3, time.Hour: 4, time.Hour + 1: 5} {
		if got := stretch(age); got != want {
			t.Errorf("%v: %d, want %d", age, got, want)
		}
	}
}
