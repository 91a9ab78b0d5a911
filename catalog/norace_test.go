//go:build !race

package catalog

// manyKeys is how many keys a large catalog of the tests has.
const manyKeys = 40_000
