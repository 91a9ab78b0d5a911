package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
)

const (
	// speedHours is how far back answers count: a vendor's speed changes by the hour.
	speedHours = 6 * time.Hour
	// speedOverlap is how long before the last look answers are read again: a turn is
	// booked when it ends, in the place of its start.
	speedOverlap = 15 * time.Minute
	// speedPages is how many pages of the books one look reads at most, newest first.
	speedPages = 20
	// speedAnswers is how many answers of a route count, the newest.
	speedAnswers = 255
	// speedTokens is how long an answer must be for its rate to count: in a shorter one
	// the wait for the first byte outweighs the rest.
	speedTokens = 64
)

// answer is how fast one served attempt was. Zero figures are not known.
type answer struct {
	at    time.Time
	turn  string
	first time.Duration
	rate  int64 // tokens per second, in thousandths
}

// speeds are the newest answers of each route, newest first.
type speeds map[routeName][]answer

// readSpeeds is what was known, with what has been booked since, without what is too
// long ago.
func readSpeeds(ctx context.Context, books engine.Books, known speeds, asked, now time.Time) (speeds, error) {
	all := make(speeds, len(known))
	for route, answers := range known {
		if kept := lately(answers, now); len(kept) > 0 {
			all[route] = slices.Clone(kept)
		}
	}
	from := now.Add(-speedHours)
	if again := asked.Add(-speedOverlap); again.After(from) {
		from = again
	}
	page := engine.Page{Limit: engine.MaxPageSize}
	for range speedPages {
		turns, next, err := books.Turns(ctx, engine.Query{From: from}, page)
		if err != nil {
			return nil, fmt.Errorf("how fast routes answer cannot be read: %w", err)
		}
		for i := range turns {
			all.add(&turns[i])
		}
		if next == "" {
			break
		}
		page.After = next
	}
	return all, nil
}

// lately are the answers, newest first, that still count.
func lately(answers []answer, now time.Time) []answer {
	old := slices.IndexFunc(answers, func(a answer) bool { return now.Sub(a.at) > speedHours })
	if old >= 0 {
		return answers[:old]
	}
	return answers
}

// add counts the attempt that served a turn, once.
func (s speeds) add(b *engine.Booked) {
	if b.State != engine.Settled || len(b.Attempts) == 0 {
		return
	}
	a := &b.Attempts[len(b.Attempts)-1]
	if a.Stage != engine.StageServed {
		return
	}
	next := answer{at: b.Started, turn: b.Tenant + "\x00" + b.ID}
	if b.Stream {
		next.first = a.FirstByte
	}
	if output := a.Usage.Output; a.Quality.Complete() && output >= speedTokens && a.Took > 0 {
		next.rate = int64(float64(output) * 1000 / a.Took.Seconds())
	}
	if next.first <= 0 && next.rate <= 0 {
		return
	}
	route := routeName{a.Model, a.Vendor}
	known := s[route]
	place, found := slices.BinarySearchFunc(known, next, func(x, y answer) int {
		if d := y.at.Compare(x.at); d != 0 {
			return d
		}
		return cmp.Compare(x.turn, y.turn)
	})
	if found || place >= speedAnswers {
		return
	}
	known = slices.Insert(known, place, next)
	s[route] = known[:min(len(known), speedAnswers)]
}

// speed is the medians of a route's answers.
func speed(answers []answer) (s engine.Speed) {
	firsts, rates := make([]time.Duration, 0, len(answers)), make([]int64, 0, len(answers))
	for _, a := range answers {
		if a.first > 0 {
			firsts = append(firsts, a.first)
		}
		if a.rate > 0 {
			rates = append(rates, a.rate)
		}
	}
	s.Firsts, s.Rates = int64(len(firsts)), int64(len(rates))
	s.FirstByte, s.Rate = median(firsts), median(rates)
	return s
}

// median is the middle of the values, the lower of two; zero if there are none.
func median[T cmp.Ordered](values []T) (middle T) {
	if len(values) == 0 {
		return middle
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
