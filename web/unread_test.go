package web

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

func TestWritesThatNobodyReads(t *testing.T) {
	turn := func(kind rune) engine.Booked {
		a := engine.BookedAttempt{Stage: engine.StageServed, Quality: pricing.Authoritative}
		switch kind {
		case 'w':
			a.Usage.CacheWrite5m = 4400
		case 'h':
			a.Usage.CacheWrite1h = 4400
		case 'r':
			a.Usage.CacheRead = 4400
		case 'b':
			a.Usage.CacheRead, a.Usage.CacheWrite5m = 4400, 20
		case '?':
			a.Usage.CacheWrite5m, a.ReadUnknown = 4400, true
		case 'x':
			a.Stage, a.Usage.CacheWrite5m = engine.StageBroken, 4400
		case '-':
			return engine.Booked{}
		}
		return engine.Booked{Attempts: []engine.BookedAttempt{a}}
	}
	for turns, want := range map[string]int{
		"": 0, "w": 1, "wrr": 1, "www": 3, "whw": 3, "wrwbw": 1, "ww0w": 2, "w?w-xw": 3, "rwwwwr": 4, "wwrwww": 3,
	} {
		var all []engine.Booked
		for _, kind := range turns {
			all = append(all, turn(kind))
		}
		if got := unread(all); got != want {
			t.Errorf("%q: %d, want %d", turns, got, want)
		}
		var f frame
		if f.warnUnread(all); (len(f.Banners) == 1) != (want >= 3) {
			t.Errorf("%q: %d banners", turns, len(f.Banners))
		}
	}
}
