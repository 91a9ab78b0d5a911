package engine_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/warmroute/warmroute/engine"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// A slow clock: it looks at every quarter of an hour and sees when the date changes.
func TestDaysBeginWhenTheirDateIsFirstShown(t *testing.T) {
	for _, c := range []struct {
		zone       string
		year       int
		short, big int // days of other than 24 hours
	}{
		{"UTC", 2026, 0, 0},
		{"America/Los_Angeles", 2026, 1, 1},
		{"Asia/Kolkata", 2026, 0, 0},
		{"Asia/Kathmandu", 2026, 0, 0},
		{"Australia/Lord_Howe", 2026, 1, 1}, // by half an hour
		{"America/Havana", 2026, 1, 1},      // midnight comes twice, or not at all
		{"Africa/Cairo", 2024, 1, 1},        // a day that begins at one
		{"Pacific/Apia", 2011, 2, 1},        // a date that never was; its neighbour is counted once
	} {
		t.Run(c.zone, func(t *testing.T) {
			calendar := engine.Calendar{Zone: zone(t, c.zone), Width: engine.Day}
			from := time.Date(c.year, 1, 3, 0, 0, 0, 0, time.UTC)
			var short, big int
			seen := ""
			var began time.Time
			for at := from; at.Year() == c.year; at = at.Add(15 * time.Minute) {
				date := at.In(calendar.Zone).Format(time.DateOnly)
				start, end := calendar.Slot(at)
				if at.Before(start) || !at.Before(end) || start.Location() != calendar.Zone {
					t.Fatalf("%s lies in %s to %s", at, start, end)
				}
				if date == seen {
					if !start.Equal(began) {
						t.Fatalf("%s: the day of %s begins at %s and at %s", at, date, began, start)
					}
					continue
				}
				if seen != "" && !start.Equal(at) {
					t.Fatalf("%s: %s begins at %s", at, date, start)
				}
				seen, began = date, start
				switch long := end.Sub(start); {
				case long < engine.Day:
					short++
				case long > engine.Day:
					big++
				}
			}
			if c.year != 2011 && (short != c.short || big != c.big) {
				t.Errorf("%d days are shorter and %d longer than 24 hours, want %d and %d", short, big, c.short, c.big)
			}
		})
	}
}

func TestHoursAreThoseOfTheClock(t *testing.T) {
	for _, c := range []struct{ zone, at, start, end string }{
		{"Asia/Kolkata", "2026-08-05T19:10:00Z", "2026-08-06T00:00:00+05:30", "2026-08-06T01:00:00+05:30"},
		{"America/Los_Angeles", "2026-11-01T09:30:00Z", "2026-11-01T01:00:00-08:00", "2026-11-01T02:00:00-08:00"},
		{"Australia/Lord_Howe", "2026-10-03T15:40:00Z", "2026-10-04T02:30:00+11:00", "2026-10-04T03:00:00+11:00"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		start, end := engine.Calendar{Zone: zone(t, c.zone)}.Slot(at)
		if got := start.Format(time.RFC3339); got != c.start || end.Format(time.RFC3339) != c.end {
			t.Errorf("%s in %s: %s to %s", c.at, c.zone, got, end.Format(time.RFC3339))
		}
	}
}

func TestWhatIsNotToldApartStaysTogether(t *testing.T) {
	day := func(d, h, m int) time.Time { return time.Date(2026, 8, d, h, m, 0, 0, time.UTC) }
	slot := func(at time.Time, turns int64) engine.Slot {
		return engine.Slot{Start: at, Sums: engine.Sums{Turns: turns}}
	}
	o := engine.Overview{Width: time.Hour, Hours: day(3, 0, 0), Series: []engine.Slot{
		slot(day(1, 0, 0), 1), slot(day(2, 0, 0), 2), slot(day(3, 5, 0), 4), slot(day(3, 6, 0), 8), slot(day(3, 7, 0), 16), slot(day(4, 6, 0), 32),
	}}
	type want struct {
		start, end string
		turns      int64
	}
	check := func(what string, got []engine.LocalSlot, wants []want) {
		t.Helper()
		if len(got) != len(wants) {
			t.Fatalf("%s: %d slots: %+v", what, len(got), got)
		}
		for i, w := range wants {
			if s := got[i]; s.Start.Format("02T15:04Z07:00") != w.start || s.End.Format("02T15:04Z07:00") != w.end || s.Sums.Turns != w.turns {
				t.Errorf("%s: slot %d is %s to %s with %d turns, want %+v", what, i, s.Start, s.End, s.Sums.Turns, w)
			}
		}
	}
	check("behind UTC", o.In(engine.Calendar{Zone: zone(t, "America/Los_Angeles"), Width: engine.Day}), []want{
		{"31T17:00-07:00", "01T17:00-07:00", 1},  // a day in UTC
		{"01T17:00-07:00", "03T00:00-07:00", 14}, // one, and what is left of the zone's own
		{"03T00:00-07:00", "04T00:00-07:00", 48},
	})
	check("hours of days", o.In(engine.Calendar{Zone: zone(t, "America/Los_Angeles"), Width: time.Hour})[:2], []want{
		{"31T17:00-07:00", "01T17:00-07:00", 1}, {"01T17:00-07:00", "02T17:00-07:00", 2},
	})
	half := engine.Overview{Width: time.Minute, Minutes: day(3, 0, 0), Series: []engine.Slot{
		slot(day(1, 18, 0), 1), slot(day(1, 19, 0), 2), slot(day(3, 18, 29), 4), slot(day(3, 18, 30), 8),
	}}
	check("half an hour off", half.In(engine.Calendar{Zone: zone(t, "Asia/Kolkata"), Width: engine.Day}), []want{
		{"01T00:30+05:30", "02T00:30+05:30", 1}, {"02T00:30+05:30", "03T00:30+05:30", 2},
		{"03T00:30+05:30", "04T00:00+05:30", 4}, {"04T00:00+05:30", "05T00:00+05:30", 8},
	})
}
