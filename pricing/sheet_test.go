package pricing

import (
	"testing"
	"time"
)

func in(t testing.TB, text string) Card { return Card{Input: rate(t, text)} }

func at(t testing.TB, text string) time.Time {
	t.Helper()
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

const hour = time.Hour

func TestTiersAreStrictlyAbove(t *testing.T) {
	s := Sheet{Band: Band{Card: in(t, "3"), Tiers: []Tier{{200_000, in(t, "6")}, {500_000, in(t, "9")}}}}
	now := at(t, "2026-03-04T12:00:00Z")
	for tokens, want := range map[int64]string{
		0: "3", 1: "3", 200_000: "3", 200_001: "6", 500_000: "6", 500_001: "9", 1 << 62: "9",
	} {
		if got := s.At(Terms{Prompt: tokens, At: now}).Input; !got.Equal(rate(t, want)) {
			t.Errorf("%d tokens: %s, want %s", tokens, got, want)
		}
	}
}

func TestATierKeepsNothingOfTheOrdinaryCard(t *testing.T) {
	s := Sheet{Band: Band{
		Card:  Card{Input: rate(t, "3"), CacheRead: rate(t, "0.30")},
		Tiers: []Tier{{200_000, in(t, "6")}},
	}}
	if got := s.At(Terms{Prompt: 200_001, At: time.Time{}}); got.CacheRead.Known() {
		t.Errorf("a read price the tier does not state is %s", got.CacheRead)
	}
}

func TestWindows(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*3600)
	weekdays := [7]bool{time.Monday: true, time.Tuesday: true, time.Wednesday: true, time.Thursday: true, time.Friday: true}
	for _, c := range []struct {
		name   string
		window Window
		holds  map[string]bool
	}{
		{"inside one day, every day", Window{From: 1 * hour, To: 4 * hour}, map[string]bool{
			"2026-03-04T00:59:59Z": false, "2026-03-04T01:00:00Z": true,
			"2026-03-04T03:59:59.999Z": true, "2026-03-04T04:00:00Z": false, "2026-03-08T02:00:00Z": true,
		}},
		{"weekdays, wrapping midnight", Window{Days: weekdays, From: 22 * hour, To: 6 * hour}, map[string]bool{
			"2026-03-06T21:59:59Z": false, // Friday
			"2026-03-06T22:00:00Z": true,
			"2026-03-07T05:59:59Z": true, // Saturday morning belongs to Friday
			"2026-03-07T06:00:00Z": false,
			"2026-03-07T23:00:00Z": false,
			"2026-03-09T01:00:00Z": false, // Monday morning belongs to Sunday
			"2026-03-09T22:00:00Z": true,
		}},
		{"another zone", Window{From: 0, To: 8 * hour, Zone: shanghai}, map[string]bool{
			"2026-03-04T15:59:59Z": false, "2026-03-04T16:00:00Z": true,
			"2026-03-04T23:59:59Z": true, "2026-03-05T00:00:00Z": false,
		}},
		{"to the end of the day", Window{From: 20 * hour, To: 24 * hour}, map[string]bool{
			"2026-03-04T23:59:59.999999999Z": true, "2026-03-05T00:00:00Z": false, "2026-03-04T19:00:00Z": false,
		}},
	} {
		for when, want := range c.holds {
			if got := c.window.Holds(at(t, when)); got != want {
				t.Errorf("%s: %s = %t, want %t", c.name, when, got, want)
			}
		}
	}
}

func TestAWindowFollowsTheClockOnTheWall(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatalf("the zone database is needed for this test: %v", err)
	}
	w := Window{From: 8 * hour, To: 9 * hour, Zone: berlin}
	for when, want := range map[string]bool{
		"2026-01-15T07:30:00Z": true, "2026-01-15T06:30:00Z": false, // winter: UTC+1
		"2026-07-15T06:30:00Z": true, "2026-07-15T07:30:00Z": false, // summer: UTC+2
	} {
		if got := w.Holds(at(t, when)); got != want {
			t.Errorf("%s = %t, want %t", when, got, want)
		}
	}
}

func TestSheetAt(t *testing.T) {
	s := Sheet{
		Band: Band{Card: in(t, "3"), Tiers: []Tier{{200_000, in(t, "6")}}},
		Windows: []Window{
			{From: 1 * hour, To: 4 * hour, Band: Band{Card: in(t, "1")}},
			{From: 5 * hour, To: 6 * hour, Band: Band{Card: in(t, "2"), Tiers: []Tier{{200_000, in(t, "4")}}}},
		},
		ServiceTiers: map[string]Band{
			"flex":     {Card: in(t, "1.5")},
			"priority": {Card: in(t, "5"), Tiers: []Tier{{100_000, in(t, "7")}}},
		},
	}
	for _, c := range []struct {
		name   string
		tokens int64
		when   string
		tier   string
		want   string // empty: unknown
	}{
		{"ordinary", 1000, "2026-03-04T12:00:00Z", "", "3"},
		{"ordinary words for the tier", 1000, "2026-03-04T12:00:00Z", "Default", "3"},
		{"auto", 1000, "2026-03-04T12:00:00Z", "auto", "3"},
		{"long prompt", 200_001, "2026-03-04T12:00:00Z", "", "6"},
		{"in a window", 1000, "2026-03-04T02:00:00Z", "", "1"},
		{"in a window without tiers, at the threshold", 200_000, "2026-03-04T02:00:00Z", "", "1"},
		{"in a window without tiers, above the threshold", 200_001, "2026-03-04T02:00:00Z", "", ""},
		{"in a window with its own tiers", 200_001, "2026-03-04T05:30:00Z", "", "4"},
		{"service tier", 1000, "2026-03-04T12:00:00Z", "flex", "1.5"},
		{"service tier in a window", 1000, "2026-03-04T02:00:00Z", "flex", "1.5"},
		{"service tier without tiers, long prompt", 200_001, "2026-03-04T12:00:00Z", "flex", ""},
		{"service tier with its own tiers", 100_001, "2026-03-04T12:00:00Z", "priority", "7"},
		{"service tier the sheet does not price", 1000, "2026-03-04T12:00:00Z", "batch", ""},
	} {
		got := s.At(Terms{Prompt: c.tokens, At: at(t, c.when), Tier: c.tier}).Input
		want := Rate{}
		if c.want != "" {
			want = rate(t, c.want)
		}
		if !got.Equal(want) {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
	if got := new(Sheet).At(Terms{Prompt: 1, At: time.Time{}}); got.Input.Known() {
		t.Errorf("the zero Sheet charges %s", got.Input)
	}
}

func TestAPriceOutsideItsPeriods(t *testing.T) {
	p := Price{
		{To: at(t, "2026-08-01T00:00:00Z"), Band: Band{Card: in(t, "5")}},
		{From: at(t, "2026-09-01T00:00:00Z"), To: at(t, "2026-10-01T00:00:00Z"), Band: Band{Card: in(t, "4")}},
	}
	for when, want := range map[string]string{
		"1996-01-01T00:00:00Z":           "5",
		"2026-07-31T23:59:59.999999999Z": "5",
		"2026-08-01T00:00:00Z":           "unknown",
		"2026-09-01T00:00:00Z":           "4",
		"2026-10-01T01:59:59+02:00":      "4",
		"2026-10-01T02:00:00+02:00":      "unknown",
	} {
		if got := p.At(Terms{At: at(t, when)}).Input.String(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	if got := Price(nil).At(Terms{}); got.Input.Known() || got.Request.Known() {
		t.Errorf("no price at all charges %+v", got)
	}
}

func TestTheReadPriceOfATurn(t *testing.T) {
	both := Card{Input: rate(t, "3"), CacheRead: rate(t, "0.30"), CacheReadImplicit: rate(t, "0.60")}
	one := Card{Input: rate(t, "3"), CacheRead: rate(t, "0.30")}
	own := Card{Input: rate(t, "3"), CacheReadImplicit: rate(t, "0.60")}
	for _, c := range []struct {
		name     string
		card     Card
		implicit bool
		want     string
	}{
		{"what markers asked to keep", both, false, "0.3"},
		{"what the vendor kept by itself", both, true, "0.6"},
		{"one price for both, markers", one, false, "0.3"},
		{"one price for both, none", one, true, "0.3"},
		{"a price of what it keeps by itself only", own, true, "0.6"},
		{"and nothing known of the other", own, false, "unknown"},
	} {
		s := Sheet{Band: Band{Card: c.card}}
		got := s.At(Terms{Implicit: c.implicit})
		if got.CacheRead.String() != c.want || got.CacheReadImplicit.Known() {
			t.Errorf("%s: %s (and %s), want %s", c.name, got.CacheRead, got.CacheReadImplicit, c.want)
		}
	}
}

func TestPriceAtAllocatesNothing(t *testing.T) {
	p := Price{{Band: Band{Card: card(t, "3", "15", "0.30", "3.75", "6"), Tiers: []Tier{{200_000, in(t, "6")}}}}}
	now := at(t, "2026-03-04T02:00:00Z")
	if n := testing.AllocsPerRun(100, func() { p.At(Terms{Prompt: 200_001, At: now}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSheetAtAllocatesNothing(t *testing.T) {
	s := Sheet{Band: Band{Card: in(t, "3")}, Windows: []Window{{From: hour, To: 4 * hour, Zone: time.UTC, Band: Band{Card: in(t, "1")}}}}
	now := at(t, "2026-03-04T02:00:00Z")
	if n := testing.AllocsPerRun(100, func() { s.At(Terms{Prompt: 1000, At: now}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestUsagePrompt(t *testing.T) {
	u := Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, CacheWrite1h: 8, Output: 100, Reasoning: 60}
	if got := u.Prompt(); got != 2772 {
		t.Errorf("prompt of %d tokens", got)
	}
	for q, want := range map[Quality]bool{Authoritative: true, Derived: true, Partial: false, Invalid: false, Missing: false} {
		if q.Complete() != want {
			t.Errorf("%q complete = %t", q, q.Complete())
		}
	}
}

// One iteration is the card of one route for one turn.
func BenchmarkSheetAt(b *testing.B) {
	s := Sheet{
		Band:    Band{Card: in(b, "3"), Tiers: []Tier{{200_000, in(b, "6")}}},
		Windows: []Window{{From: 1 * hour, To: 4 * hour, Zone: time.UTC, Band: Band{Card: in(b, "1")}}},
	}
	now := at(b, "2026-03-04T12:00:00Z")
	if !s.At(Terms{Prompt: 1000, At: now}).Input.Equal(rate(b, "3")) {
		b.Fatal("wrong result")
	}
	b.ReportAllocs()
	for b.Loop() {
		s.At(Terms{Prompt: 1000, At: now})
	}
}

// One iteration is the card of one route whose price has one period and no hours of
// its own, for one turn.
func BenchmarkPriceAt(b *testing.B) {
	p := Price{{Band: Band{Card: card(b, "3", "15", "0.30", "3.75", "6"), Tiers: []Tier{{200_000, card(b, "6", "22.50", "0.60", "7.50", "12")}}}}}
	t := Terms{Prompt: 200_001, At: at(b, "2026-03-04T12:00:00Z")}
	if !p.At(t).Input.Equal(rate(b, "6")) {
		b.Fatal("wrong result")
	}
	b.ReportAllocs()
	for b.Loop() {
		p.At(t)
	}
}
