package sim

import "time"

// Seen is what one turn shows of its candidate's cache: a prefix that was put there,
// and how much of it was still found. The zero Seen is nothing.
type Seen struct {
	Age   time.Duration // since its last use
	Held  int64         // tokens that could have been read, had it been kept
	Read  int64         // of those, read
	Alive bool          // the claimed lifetime was not over
}

// Ages are the upper ends of the stretches by which the life of caches is learned,
// inclusive; the last stretch has none.
var Ages = [...]time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// Stretches is the number of stretches of age.
const Stretches = len(Ages) + 1

// stretch is the place of an age.
func stretch(age time.Duration) int {
	for i, end := range Ages {
		if age <= end {
			return i
		}
	}
	return len(Ages)
}

// Learned is what turns have shown of one route, or one candidate. Two of them add up
// to what all their turns have shown, exactly and in any order: a ledger keeps one for
// a stretch of time and adds what a reader asks for. The zero Learned has seen nothing.
type Learned struct {
	Turns  int64 // whose usage says what was read, at a prompt that could be cached
	Hits   int64 // of those, that read anything
	Prompt int64 // their prompt tokens
	Read   int64 // of those, read
	Tried  Trials
	Kept   [Stretches]Trials // by age, whatever lifetime is claimed
}

// Trials are looks at a prefix that should have been there. Parts is their token
// share found, each in millionths, rounded down: a sum of whole numbers, so that
// sums do not depend on their order.
type Trials struct {
	N     int64
	Parts int64
	Found int64 // looks that found at least half
}

const whole = 1_000_000

func (t *Trials) add(s Seen) {
	t.N++
	t.Parts += s.Read * whole / s.Held
	if s.Read >= s.Held-s.Held/2 {
		t.Found++
	}
}

func (t Trials) plus(o Trials, sign int64) Trials {
	return Trials{t.N + sign*o.N, t.Parts + sign*o.Parts, t.Found + sign*o.Found}
}

// Learn adds what a turn has shown.
func (l *Learned) Learn(res *Result) {
	if !res.Eligible {
		return
	}
	l.Turns++
	l.Prompt += res.Usage.Prompt()
	l.Read += res.Usage.CacheRead
	if res.Usage.CacheRead > 0 {
		l.Hits++
	}
	if s := res.Seen; s.Held > 0 {
		l.Kept[stretch(s.Age)].add(s)
		if s.Alive {
			l.Tried.add(s)
		}
	}
}

// Add is what both have seen.
func (l Learned) Add(other Learned) Learned { return l.combine(&other, 1) }

// Sub is l without other, which was once added to it.
func (l Learned) Sub(other Learned) Learned { return l.combine(&other, -1) }

func (l Learned) combine(other *Learned, sign int64) Learned {
	l.Turns += sign * other.Turns
	l.Hits += sign * other.Hits
	l.Prompt += sign * other.Prompt
	l.Read += sign * other.Read
	l.Tried = l.Tried.plus(other.Tried, sign)
	for i := range l.Kept {
		l.Kept[i] = l.Kept[i].plus(other.Kept[i], sign)
	}
	return l
}

// HitRate is the token hit rate.
func (l *Learned) HitRate() Share { return Share{l.Read, l.Prompt} }
