package web

import "github.com/warmroute/warmroute/engine"

// unreadTurns is after how many turns running that wrote to the cache and read nothing
// from it a session is warned of: from the third on it is no coincidence, and dearer
// than without a cache.
const unreadTurns = 3

// unread is the longest run of served turns, oldest first, that wrote to the cache
// and read nothing. Turns of which that is not known are left out.
func unread(turns []engine.Booked) (longest int) {
	run := 0
	for i := range turns {
		a, ok := turns[i].Last()
		if !ok || a.Stage != engine.StageServed || !a.Quality.Complete() || a.ReadUnknown {
			continue
		}
		if a.Usage.CacheRead > 0 || a.Usage.CacheWrite5m+a.Usage.CacheWrite1h == 0 {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// warnUnread adds a banner where the turns, oldest first, pay for a cache in vain.
func (f *frame) warnUnread(turns []engine.Booked) {
	n := unread(turns)
	if n < unreadTurns {
		return
	}
	f.Banners = append(f.Banners, banner{Kind: "bad",
		Title: counted(int64(n), "turn") + " running wrote to the cache and read nothing from it: that costs more than no cache.",
		Lines: []string{"Either the prompt changes before its last marker from turn to turn, or the turns come to different accounts, or more time passes than the cache lasts."}})
}
