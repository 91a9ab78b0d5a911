//go:build race

package catalog

// manyKeys is how many keys a large catalog of the tests has: fewer here, because
// the race detector slows all down.
const manyKeys = 4_000

// slower is how much the race detector slows what is timed, at most.
const slower = 20
