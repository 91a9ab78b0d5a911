package vendor_test

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/routes/vendor"
)

func TestRetryAfterIsSecondsOrADateWithinBounds(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"5":                             5 * time.Second,
		" 7 ":                           7 * time.Second,
		"0":                             0,
		"-1":                            0,
		"1.5":                           1500 * time.Millisecond,
		"1000000000":                    300 * time.Second,
		"1e400":                         0,
		"NaN":                           0,
		"infinity":                      0,
		"+Inf":                          0,
		"soon":                          0,
		"Sun, 29 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Sun, 29 Nov 2026 11:00:00 GMT": 0,
		"Mon, 30 Nov 2026 12:00:00 GMT": 300 * time.Second,
	} {
		if got := vendor.RetryAfter(value, now); got != want {
			t.Errorf("RetryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}
