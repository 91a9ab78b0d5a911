package pricing

import "time"

// Window is the band that holds at certain hours, by the clock on the wall of
// its zone.
type Window struct {
	Days [7]bool        // by time.Weekday; all false means every day
	From time.Duration  // since midnight in Zone, inclusive
	To   time.Duration  // since midnight in Zone, exclusive; at or before From it wraps midnight
	Zone *time.Location // nil means UTC
	Band Band
}

// Holds says whether now lies inside the window. A window that wraps midnight
// belongs to the day on which it starts. An hour that a zone's clock skips holds
// never on that day, and one that it shows twice holds twice.
func (w *Window) Holds(now time.Time) bool {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	local := now.In(zone)
	h, m, sec := local.Clock()
	since := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second + time.Duration(local.Nanosecond())
	day := local.Weekday()
	if w.From < w.To {
		return since >= w.From && since < w.To && w.on(day)
	}
	if since >= w.From {
		return w.on(day)
	}
	return since < w.To && w.on((day+6)%7)
}

func (w *Window) on(day time.Weekday) bool {
	return w.Days == [7]bool{} || w.Days[day]
}
