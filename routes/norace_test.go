//go:build !race

package routes_test

// racing says whether the race detector is on, which takes five times as long.
const racing = false
