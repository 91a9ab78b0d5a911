package sim

import (
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Pauses is how long the prefixes of a route waited for their next use, over all the
// turns that are known of it.
func (l *Learner) Pauses(model, vendor string) pricing.Pauses {
	return pauses(l.of(model, vendor).seen)
}

// pauses counts looks by the age of what was looked for, found or not.
func pauses(seen []Aged) (p pricing.Pauses) {
	short, long := slices.Index(Ages[:], 5*time.Minute), slices.Index(Ages[:], time.Hour)
	for i := range seen {
		for at, t := range seen[i].Kept {
			p.N += t.N
			if at <= short {
				p.Within5m += t.N
			}
			if at <= long {
				p.Within1h += t.N
			}
		}
	}
	return p
}

var _ engine.PauseLearner = (*Learner)(nil)
