package routes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
)

// spent is a turn that cost whole dollars.
func spent(c engine.Turn, id string, at string, dollars int64) engine.Turn {
	began, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	c.ID, c.Started = id, began
	a := &c.Attempts[0]
	a.Started, a.AcceptedAt = began, began
	a.Card = pricing.Card{Input: pricing.PerMillion(decimal.NewFromInt(dollars)), Output: pricing.PerMillion(decimal.Zero)}
	a.Usage = pricing.Usage{Input: 1_000_000}
	a.Cost = a.Card.Cost(a.Usage)
	return c
}

type day struct {
	Start, End string
	Cost       string
	Turns      int64
}

// days are the days of an overview, and the zone it names.
func (d desk) days(query string) (zone, total string, list []day) {
	d.t.Helper()
	var o struct {
		Zone, Width string
		Total       struct{ Cost string }
		Series      []day
	}
	d.read("/api/v1/overview?width=day&"+query, &o)
	sum := decimal.Zero
	for _, s := range o.Series {
		sum = sum.Add(decimal.RequireFromString(s.Cost))
	}
	if o.Width != "day" || !sum.Equal(decimal.RequireFromString(o.Total.Cost)) {
		d.t.Errorf("%s: the days of width %s add up to %s, the total is %s", query, o.Width, sum, o.Total.Cost)
	}
	return o.Zone, o.Total.Cost, o.Series
}

// Bug case 59: rows summed by the day in UTC, asked for and labelled in local time.
func TestTheEveningBelongsToTheDayOfItsZone(t *testing.T) {
	for name, books := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			c := shop(t)
			for i, row := range []struct {
				at      string
				dollars int64
			}{{"2026-08-05T06:59:59Z", 1}, {"2026-08-05T07:00:00Z", 2}, {"2026-08-06T04:30:00Z", 4}, {"2026-08-06T07:00:00Z", 8}} {
				books.Record(spent(sold(c, 0), fmt.Sprint(i), row.at, row.dollars))
			}
			flush(t, books)
			d := newDesk(t, routes.APIOptions{Books: books})
			for _, want := range []struct {
				query, zone string
				days        []day
			}{
				{"zone=America/Los_Angeles", "America/Los_Angeles", []day{
					{"2026-08-04T00:00:00-07:00", "2026-08-05T00:00:00-07:00", "1", 1},
					{"2026-08-05T00:00:00-07:00", "2026-08-06T00:00:00-07:00", "6", 2},
					{"2026-08-06T00:00:00-07:00", "2026-08-07T00:00:00-07:00", "8", 1},
				}},
				{"", "UTC", []day{
					{"2026-08-05T00:00:00Z", "2026-08-06T00:00:00Z", "3", 2},
					{"2026-08-06T00:00:00Z", "2026-08-07T00:00:00Z", "12", 2},
				}},
				{"zone=America/Los_Angeles&from=2026-08-05T07:00:00Z&to=2026-08-06T07:00:00Z", "America/Los_Angeles", []day{
					{"2026-08-05T00:00:00-07:00", "2026-08-06T00:00:00-07:00", "6", 2},
				}},
			} {
				zone, _, days := d.days(want.query)
				if zone != want.zone || fmt.Sprint(days) != fmt.Sprint(want.days) {
					t.Errorf("%q: %s %v, want %s %v", want.query, zone, days, want.zone, want.days)
				}
			}
			if _, total, _ := d.days("zone=Asia/Kolkata"); total != "15" {
				t.Errorf("the total in another zone is %s", total)
			}
		})
	}
}

func TestDaysThatChangeTheClockAreWhole(t *testing.T) {
	for name, books := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			c := shop(t)
			began := time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
			for i := range 5 * 24 * 2 { // every half an hour
				at := began.Add(time.Duration(i) * 30 * time.Minute)
				books.Record(spent(sold(c, 0), fmt.Sprint(i), at.Format(time.RFC3339), 1))
			}
			flush(t, books)
			d := newDesk(t, routes.APIOptions{Books: books})
			_, _, days := d.days("zone=America/Los_Angeles")
			if got := days[3]; got.Start != "2026-11-01T00:00:00-07:00" || got.End != "2026-11-02T00:00:00-08:00" || got.Turns != 50 {
				t.Errorf("the day of 25 hours is %+v", got)
			}
			if name == "in Badger" {
				return // minutes of that time are no longer kept
			}
			_, _, days = d.days("zone=Asia/Kolkata")
			if got := days[1]; got.Start != "2026-10-31T00:00:00+05:30" || got.Turns != 48 {
				t.Errorf("a day of a zone off by half an hour is %+v", got)
			}
		})
	}
}

func TestSlotsSayWhatIsLeftOfThePast(t *testing.T) {
	books, err := badgerstore.OpenLedger(t.TempDir(), badgerstore.LedgerOptions{
		Now: func() time.Time { return apiNow }, Reserve: -1, Wait: time.Minute, Hours: 5 * engine.Day, Minutes: engine.Day,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = books.Close(context.Background()) })
	c := shop(t)
	for i, at := range []string{"2026-11-10T01:00:00Z", "2026-11-10T20:00:00Z", "2026-11-18T01:00:00Z", "2026-11-18T20:00:00Z"} {
		books.Record(spent(sold(c, 0), fmt.Sprint(i), at, 1))
	}
	flush(t, books)
	d := newDesk(t, routes.APIOptions{Books: books})
	_, _, days := d.days("zone=" + url.QueryEscape("America/New_York"))
	if want := fmt.Sprint([]day{
		{"2026-11-09T19:00:00-05:00", "2026-11-10T19:00:00-05:00", "2", 2}, // a day in UTC: its hours are gone
		{"2026-11-17T00:00:00-05:00", "2026-11-18T00:00:00-05:00", "1", 1},
		{"2026-11-18T00:00:00-05:00", "2026-11-19T00:00:00-05:00", "1", 1},
	}); fmt.Sprint(days) != want {
		t.Errorf("%v, want %v", days, want)
	}
}

// flush waits until what was recorded is booked.
func flush(t testing.TB, books any) {
	t.Helper()
	if stored, ok := books.(*badgerstore.Ledger); ok {
		if err := stored.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Slow and obvious: the turns themselves, by the date that their zone's clocks showed.
func TestSlotsOfAZoneAreTheSumOfTheirTurns(t *testing.T) {
	for name, books := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			market := storetest.NewMarket()
			seed := uint64(59)
			r := rand.New(rand.NewPCG(seed, seed))
			for n := range 800 {
				books.Record(market.Turn(r, n, apiNow.Add(-time.Duration(r.Int64N(int64(5*engine.Day))))))
			}
			flush(t, books)
			d := newDesk(t, routes.APIOptions{Books: books})
			turns := d.allTurns(url.Values{})
			for _, name := range []string{"UTC", "America/Los_Angeles", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Kiritimati"} {
				zone, err := time.LoadLocation(name)
				if err != nil {
					t.Fatal(err)
				}
				for width, layout := range map[string]string{"day": time.DateOnly, "hour": "2006-01-02 15"} {
					want := map[string]*pile{}
					for i := range turns {
						into(want, turns[i].Started.In(zone).Format(layout)).add(&turns[i])
					}
					var o plainOverview
					d.read("/api/v1/overview?width="+width+"&zone="+url.QueryEscape(name), &o)
					if len(o.Series) != len(want) {
						t.Errorf("%s by the %s: %d slots, want %d (seed %d)", name, width, len(o.Series), len(want), seed)
					}
					for _, slot := range o.Series {
						into(want, slot.Start.In(zone).Format(layout)).agrees(t, name+" "+slot.Start.String(), slot.plainSums)
					}
				}
			}
		})
	}
}
