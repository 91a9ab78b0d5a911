//go:build race

package sim

// fewer is by how much there are fewer random turns, because the race detector slows
// all down.
const fewer = 10
