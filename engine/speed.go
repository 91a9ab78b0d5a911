package engine

import "time"

// Speed is how fast the served answers of a model at a vendor have been lately: by the
// median of each figure, which a few slow answers do not move. The zero Speed has seen
// nothing.
type Speed struct {
	Firsts    int64         // streams that FirstByte is the median of
	FirstByte time.Duration // from the start of the attempt
	Rates     int64         // answers that Rate is the median of
	Rate      int64         // output tokens per second from the start of the attempt to its end, in thousandths
}

// LeastAnswers is how many answers a median must rest on before anything is ordered by it.
const LeastAnswers = 3

// KnowsFirstByte says whether FirstByte rests on enough to be counted on.
func (s Speed) KnowsFirstByte() bool { return s.Firsts >= LeastAnswers && s.FirstByte > 0 }

// KnowsRate says whether Rate does.
func (s Speed) KnowsRate() bool { return s.Rates >= LeastAnswers && s.Rate > 0 }

// Sooner says whether answers begin strictly sooner than other's. What is not known
// comes after all that is.
func (s Speed) Sooner(other Speed) bool {
	if !s.KnowsFirstByte() || !other.KnowsFirstByte() {
		return s.KnowsFirstByte() && !other.KnowsFirstByte()
	}
	return s.FirstByte < other.FirstByte
}

// Faster says whether answers come with strictly more tokens per second than other's.
// What is not known comes after all that is.
func (s Speed) Faster(other Speed) bool {
	if !s.KnowsRate() || !other.KnowsRate() {
		return s.KnowsRate() && !other.KnowsRate()
	}
	return s.Rate > other.Rate
}

// Paced is a route of a plan that is sorted by [catalog.ByLatency] or
// [catalog.ByThroughput], and what it was sorted by.
type Paced struct {
	Vendor string
	Speed  Speed
}
