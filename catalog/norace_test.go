//go:build !race

package catalog

import "time"

// bound is how long something may take.
func bound(d time.Duration) time.Duration { return d }
