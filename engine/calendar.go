package engine

import (
	"context"
	"time"
)

// Calendar cuts time into the days, hours or minutes of a zone's clocks.
type Calendar struct {
	Zone  *time.Location
	Width time.Duration // a minute, an hour or a day; anything else is an hour
}

// Slot is the stretch that t lies in, in the calendar's zone: of days that change
// the clock, 23 or 25 hours. A day begins when its date is first shown, which is
// not always at midnight; an hour in which the clock changes ends there.
func (c Calendar) Slot(t time.Time) (start, end time.Time) {
	t = t.In(c.Zone)
	width := SlotWidth(c.Width)
	if width == Day {
		y, m, d := t.Date()
		if end = c.dawn(y, m, d+1); t.Before(end) {
			return c.dawn(y, m, d), end
		}
		return end, c.dawn(y, m, d+2) // the clock was set back over a midnight: the next day had begun
	}
	_, offset := t.Zone()
	shift := time.Duration(offset) * time.Second
	start = t.Add(shift).Truncate(width).Add(-shift)
	end = start.Add(width)
	since, until := t.ZoneBounds()
	if !since.IsZero() && start.Before(since) {
		start = since
	}
	if !until.IsZero() && until.Before(end) {
		end = until
	}
	return start.In(c.Zone), end.In(c.Zone)
}

// dawn is when a date begins.
func (c Calendar) dawn(y int, m time.Month, d int) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, c.Zone)
	y, m, d = noon.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	at := func(t time.Time) time.Time { // midnight by the clock of t
		_, offset := t.Zone()
		return midnight.Add(-time.Duration(offset) * time.Second).In(c.Zone)
	}
	changed, _ := noon.ZoneBounds()
	if changed.IsZero() {
		return at(noon)
	}
	if earlier := at(changed.Add(-1)); earlier.Before(changed) && changed.Sub(earlier) < Day {
		return earlier // by the clock before the change
	}
	if later := at(noon); changed.Before(later) {
		return later
	}
	return changed.In(c.Zone) // the clock was set ahead over midnight
}

// LocalSlot is the sums of one stretch of a calendar.
type LocalSlot struct {
	Start, End time.Time // in the calendar's zone
	Sums       Sums
}

// LocalOverview asks books for an overview whose series is cut by a calendar. Slots
// add up to the total. What the books no longer tell apart stays together: where only
// days in UTC are kept, a slot is the day in UTC that has the most of it; where only
// hours are, a day whose bounds lie inside one begins at the nearest. Start and End
// are of what is in the slot.
func LocalOverview(ctx context.Context, books Books, q Query, c Calendar) (Overview, []LocalSlot, error) {
	width := SlotWidth(c.Width)
	if c.Zone != time.UTC {
		width = min(width, time.Hour)
	}
	o, err := books.Overview(ctx, q, width)
	if err != nil {
		return Overview{}, nil, err
	}
	if width == time.Hour && o.straddled(c) {
		if o, err = books.Overview(ctx, q, time.Minute); err != nil {
			return Overview{}, nil, err
		}
	}
	return o, o.In(c), nil
}

// straddled says whether a bound of the calendar lies inside a slot.
func (o *Overview) straddled(c Calendar) bool {
	for i := range o.Series {
		start := o.Series[i].Start
		if _, end := c.Slot(start); end.Before(start.Add(o.widthAt(start))) {
			return true
		}
	}
	return false
}

// widthAt is the width of the slots of a time.
func (o *Overview) widthAt(t time.Time) time.Duration {
	switch {
	case t.Before(o.Hours):
		return Day
	case t.Before(o.Minutes):
		return max(o.Width, time.Hour)
	}
	return o.Width
}

// In is the series cut by a calendar, as [LocalOverview] says.
func (o *Overview) In(c Calendar) []LocalSlot {
	var slots []LocalSlot
	for i := range o.Series {
		s := &o.Series[i]
		wide := o.widthAt(s.Start)
		start, end := c.Slot(s.Start.Add(wide/2 - 1)) // of two stretches that it lies in equally, the earlier
		start, end = o.kept(start), o.kept(end)
		if last := len(slots) - 1; last >= 0 && slots[last].Start.Equal(start) {
			slots[last].Sums = slots[last].Sums.Add(s.Sums)
			continue
		}
		if kept := s.Start.Add(wide); end.Before(kept) { // narrower than what is kept
			start, end = s.Start.In(c.Zone), kept.In(c.Zone)
		}
		slots = append(slots, LocalSlot{start, end, s.Sums})
	}
	return slots
}

// kept is the bound of a slot that is nearest to t.
func (o *Overview) kept(t time.Time) time.Time { return t.Round(o.widthAt(t)) }

// Zone is a time zone of the IANA database; empty is UTC. ok is false for any other
// name, and for Local, which is another zone on every machine.
func Zone(name string) (zone *time.Location, ok bool) {
	if name == "" || name == "UTC" {
		return time.UTC, true
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil && name != "Local"
}
