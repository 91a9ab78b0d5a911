package badgerstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Overview adds up the turns that are meant, those in flight among them, from the
// roll-ups; a query for a session or a class, which roll-ups do not know, from
// the records. Its bounds are whole minutes; a bound in a time of which only hours
// or days are kept is widened to the next of those. Where the series reaches back
// into such a time, its slots are as wide as what is kept.
func (l *Ledger) Overview(ctx context.Context, q engine.Query, width time.Duration) (engine.Overview, error) {
	width = engine.SlotWidth(width)
	now := l.options.Now()
	s := l.stretch(q, now)
	q.From, q.To = s.bounds(q)
	o, err := view(ctx, l, func(b *books) (engine.Overview, error) {
		if q.Session != "" || q.Class != "" {
			return b.overview(q, width)
		}
		return b.rolledUp(q, width, s.ranges(l, levelOf(width), now))
	})
	if err != nil {
		return engine.Overview{}, fmt.Errorf("overview: %w", err)
	}
	if q.Session == "" && q.Class == "" {
		o.Hours, o.Minutes = l.toldApart(hours, now), l.toldApart(minutes, now)
	}
	return o, nil
}

// toldApart is from when roll-ups of the level are kept; zero: always.
func (l *Ledger) toldApart(level level, now time.Time) time.Time {
	from := l.keptFrom(level, now)
	if from == farPast {
		return time.Time{}
	}
	return time.Unix(from, 0).UTC()
}

// stretch is a stretch of time in seconds, its end not included.
type stretch struct{ from, to int64 }

// stretch is that of the query, its bounds moved outward to where the roll-ups of
// their time have bounds.
func (l *Ledger) stretch(q engine.Query, now time.Time) stretch {
	s := stretch{farPast, farFuture}
	if !q.From.IsZero() {
		s.from = l.levelAt(q.From.Unix(), now).down(q.From.Unix())
	}
	if !q.To.IsZero() {
		end := q.To.Unix()
		if q.To.Nanosecond() > 0 {
			end++
		}
		s.to = l.levelAt(end-1, now).up(end)
	}
	return s
}

// levelAt is the finest level that is kept of a time.
func (l *Ledger) levelAt(second int64, now time.Time) level {
	switch {
	case second < l.keptFrom(hours, now):
		return days
	case second < l.keptFrom(minutes, now):
		return hours
	}
	return minutes
}

// bounds are those of the stretch where the query has any.
func (s stretch) bounds(q engine.Query) (from, to time.Time) {
	if !q.From.IsZero() {
		from = time.Unix(s.from, 0).UTC()
	}
	if !q.To.IsZero() {
		to = time.Unix(s.to, 0).UTC()
	}
	return from, to
}

// ranged is a stretch to be read from one level.
type ranged struct {
	level level
	stretch
}

// ranges cut the stretch into parts that roll-ups cover exactly, coarse ones
// where they do not show: slots of the series are never coarser than want unless
// nothing finer is kept.
func (s stretch) ranges(l *Ledger, want level, now time.Time) []ranged {
	fromHours, fromMinutes := l.keptFrom(hours, now), l.keptFrom(minutes, now)
	fromMinutes = max(fromMinutes, fromHours)
	var out []ranged
	out = s.clip(farPast, fromHours).cover(out, days, days)
	out = s.clip(fromHours, fromMinutes).cover(out, max(want, hours), hours)
	return s.clip(fromMinutes, farFuture).cover(out, want, minutes)
}

func (s stretch) clip(from, to int64) stretch {
	return stretch{max(s.from, from), min(s.to, to)}
}

// cover appends the parts of a stretch: whole slots of the level, and at its ends
// those of finer levels, down to finest.
func (s stretch) cover(out []ranged, l, finest level) []ranged {
	if s.from >= s.to {
		return out
	}
	if l == finest {
		return append(out, ranged{l, s})
	}
	from, to := l.up(s.from), l.down(s.to)
	if from >= to {
		return s.cover(out, l-1, finest)
	}
	out = stretch{s.from, from}.cover(out, l-1, finest)
	out = append(out, ranged{l, stretch{from, to}})
	return stretch{to, s.to}.cover(out, l-1, finest)
}

// overview adds up records.
func (b *books) overview(q engine.Query, width time.Duration) (engine.Overview, error) {
	var t engine.Tally
	err := b.walk(q.EveryRoute(), begin{}, func(turn *engine.Booked) bool {
		t.Add(q, turn, width)
		return true
	})
	return t.Overview(q, width), err
}

// adder adds up roll-ups without making strings or decimals of each line.
type adder struct {
	q     *engine.Query
	width int64
	lines map[string]*fast // by the bytes of model, vendor and outcome
	slots map[int64]*fast
	key   []byte
}

func (b *books) rolledUp(q engine.Query, width time.Duration, ranges []ranged) (engine.Overview, error) {
	a := adder{q: &q, width: int64(width / time.Second), lines: map[string]*fast{}, slots: map[int64]*fast{}}
	scope := scopeKey(q.Tenant, q.Tenant == "")
	for _, r := range ranges {
		if err := b.addRange(&a, scope, r); err != nil {
			return engine.Overview{}, err
		}
	}
	var t engine.Tally
	for line, f := range a.lines {
		in := input{b: []byte(line)}
		t.AddRoute(in.string(), in.string(), engine.Outcome(in.string()), f.sums())
	}
	for start, f := range a.slots {
		t.AddSlot(time.Unix(start, 0), f.sums())
	}
	for _, in := range b.inFlight(q.EveryRoute(), begin{}) {
		t.Add(q, in, width)
	}
	return t.Overview(q, width), nil
}

func (b *books) addRange(a *adder, scope []byte, r ranged) error {
	slot := max(a.width, r.level.seconds())
	return b.eachRollUp(a.q, scope, r, func(second int64, model, key, value []byte) bool {
		held, ok := unseal(key, value)
		return ok && a.add(floor(second, slot), model, held)
	})
}

// floor is the last multiple of width at or before s.
func floor(s, width int64) int64 {
	m := s % width
	if m < 0 {
		m += width
	}
	return s - m
}

// add takes over the lines of a roll-up that are meant.
func (a *adder) add(slot int64, model, held []byte) bool {
	in := input{b: held}
	series := a.slots[slot]
	a.key = append(binary.AppendUvarint(a.key[:0], uint64(len(model))), model...)
	head := len(a.key)
	for len(in.b) > 0 {
		begin := in.b
		vendor, outcome := in.bytes(), in.bytes()
		a.key = append(a.key[:head], begin[:len(begin)-len(in.b)]...)
		sums := input{b: in.bytes()}
		if in.bad {
			return false
		}
		if a.q.Vendor != "" && string(vendor) != a.q.Vendor || a.q.Outcome != "" && string(outcome) != string(a.q.Outcome) {
			continue
		}
		var one fast
		if one.add(&sums); sums.bad || len(sums.b) > 0 {
			return false
		}
		line := a.lines[string(a.key)]
		if line == nil {
			line = &fast{}
			a.lines[string(a.key)] = line
		}
		if series == nil {
			series = &fast{}
			a.slots[slot] = series
		}
		line.plus(&one)
		series.plus(&one)
	}
	return true
}
