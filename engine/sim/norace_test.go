//go:build !race

package sim

// fewer is by how much there are fewer random turns.
const fewer = 1
