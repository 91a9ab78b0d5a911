package vendor

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest pause a vendor can ask for.
const maxRetryAfter = 300 * time.Second

// RetryAfter reads a Retry-After value: seconds or an HTTP date, brought into
// 0 to 300 s. What is neither is 0, as if the vendor had named none.
func RetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(seconds, 0) {
		switch {
		case !(seconds > 0):
			return 0
		case seconds >= maxRetryAfter.Seconds():
			return maxRetryAfter
		}
		return time.Duration(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
