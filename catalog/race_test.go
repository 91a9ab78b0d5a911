//go:build race

package catalog

import "time"

// bound is how long something may take: the race detector slows all down.
func bound(d time.Duration) time.Duration { return 10 * d }
