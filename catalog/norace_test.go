//go:build !race

package catalog

// manyKeys is how many keys a large catalog of the tests has.
const manyKeys = 40_000

// slower is how much the race detector slows what is timed, at most.
const slower = 1
