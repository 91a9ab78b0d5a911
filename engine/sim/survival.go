package sim

import (
	"math"
	"slices"
	"time"
)

// The prior of a survival, and how fast what was seen is forgotten. Source: the
// reference on economics, section 2.4.
const (
	priorLooks = 5.0 // looks that count before any was made
	priorFound = 0.8 // how many of them found the prefix, where the claimed lifetime is not over

	halfLooks = 200            // looks after which one counts half
	halfLife  = 24 * time.Hour // age at which one counts half
)

// mostLooks is what the weights of ever older looks add up to when each counts half
// after halfLooks further ones: 1 / (1 − 2^(−1/200)).
var mostLooks = 1 / (1 - math.Exp2(-1.0/halfLooks))

// Aged is what was seen in one stretch of time, and how long ago that is.
type Aged struct {
	Learned
	Age time.Duration
}

// Chance is a probability and what it rests on.
type Chance struct {
	P     float64 // best estimate; the prior where nothing was seen
	Lower float64 // less one standard deviation: what a decision should count on
	N     int64   // looks it rests on, whatever their age; 0: the prior alone
}

// Survival is the probability that a live entry is found, by the token: of entries
// whose claimed lifetime is not over. A stretch of time counts half for each day of its
// age; and however many looks there are, together they weigh as if each had counted
// half after 200 further ones.
func Survival(seen ...Aged) Chance {
	return weigh(priorFound, seen, func(l *Learned) Trials { return l.Tried })
}

// Held is the probability that a prefix last used so long ago is still there, by the
// token, whatever lifetime is claimed. Before anything was seen it is the same as a
// live entry's within the claim, and nothing beyond it.
//
// No stretch of age has a higher probability than a shorter one: where looks say so,
// both have what they say together.
func Held(age, claim time.Duration, seen ...Aged) Chance {
	at := stretch(age)
	all := stretches(claim, seen)
	return all[at]
}

// stretches is the chance of every stretch of age, falling.
func stretches(claim time.Duration, seen []Aged) (all [Stretches]Chance) {
	var each [Stretches]pool
	for i := range each {
		prior := 0.0
		if i < len(Ages) && Ages[i] <= claim {
			prior = priorFound
		}
		found, looks, n := weights(seen, func(l *Learned) Trials { return l.Kept[i] })
		each[i] = pool{found + prior*priorLooks, looks + priorLooks, n}
	}
	for i, p := range falling(each) {
		all[i] = chance(p.found/p.looks, p.looks, p.n)
	}
	return all
}

// pool is looks of one stretch, or of several that are taken together.
type pool struct {
	found, looks float64
	n            int64
}

// falling takes neighbours together until no stretch finds more than a shorter one
// does, which is the nearest there is to what was seen; one without looks joins none.
func falling(each [Stretches]pool) [Stretches]pool {
	var pools [Stretches]pool
	var ends [Stretches]int
	n := 0
	for i, p := range each {
		for p.looks > 0 && n > 0 && pools[n-1].found*p.looks < p.found*pools[n-1].looks {
			n--
			p = pool{p.found + pools[n].found, p.looks + pools[n].looks, p.n + pools[n].n}
		}
		if p.looks == 0 && n > 0 {
			ends[n-1] = i + 1
			continue
		}
		pools[n], ends[n] = p, i+1
		n++
	}
	from := 0
	for i := range n {
		for ; from < ends[i]; from++ {
			each[from] = pools[i]
		}
	}
	return each
}

func weigh(prior float64, seen []Aged, of func(*Learned) Trials) Chance {
	found, looks, n := weights(seen, of)
	return chance((found+prior*priorLooks)/(looks+priorLooks), looks+priorLooks, n)
}

func chance(p, looks float64, n int64) Chance {
	p = min(max(p, 0), 1)
	return Chance{P: p, Lower: max(0, p-math.Sqrt(p*(1-p)/looks)), N: n}
}

// weights adds up looks, newest first, so that the result does not depend on the order
// in which stretches of time are given.
func weights(seen []Aged, of func(*Learned) Trials) (found, looks float64, n int64) {
	if len(seen) > 1 {
		seen = slices.Clone(seen)
		slices.SortStableFunc(seen, func(a, b Aged) int { return int(min(max(a.Age-b.Age, -1), 1)) })
	}
	for i := range seen {
		t := of(&seen[i].Learned)
		if t.N <= 0 {
			continue
		}
		weight := math.Exp2(-max(0, seen[i].Age.Hours()) / halfLife.Hours())
		found += weight * float64(t.Parts) / whole
		looks += weight * float64(t.N)
		n += t.N
	}
	if looks > mostLooks {
		found, looks = found*mostLooks/looks, mostLooks
	}
	return found, looks, n
}

// Life is how long a route's cache was seen to keep a prefix, beside what is claimed.
type Life struct {
	Claim time.Duration
	// Least is the end of the longest stretch of age in which at least half of the
	// prefixes were found, 1 h for what was found beyond; 0 where none was. Most is the
	// end of the shortest in which fewer were; 0 where there is none up to an hour.
	Least, Most time.Duration
	Stretches   [Stretches]Trials // what that rests on
}

// Lifetime is how long the cache was seen to live. Ages at which nobody looked say
// nothing: Least may be far below Most. Where more was found after longer pauses than
// after shorter ones, both count with what they say together.
func (l *Learned) Lifetime(claim time.Duration) Life {
	life := Life{Claim: claim, Stretches: l.Kept}
	var each [Stretches]pool
	for i, t := range l.Kept {
		each[i] = pool{float64(t.Found), float64(t.N), t.N}
	}
	for i, p := range falling(each) {
		switch {
		case l.Kept[i].N == 0:
		case 2*p.found >= p.looks:
			life.Least = Ages[min(i, len(Ages)-1)]
		case life.Most == 0 && i < len(Ages):
			life.Most = Ages[i]
		}
	}
	return life
}

// Contradicts says whether what was seen does not fit the claim: prefixes were lost
// well within it, or kept well beyond it.
func (f Life) Contradicts() bool {
	return f.Most > 0 && f.Most <= f.Claim || f.Least > f.Claim && f.Claim > 0
}
