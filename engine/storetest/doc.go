// Package storetest holds the tests that every store of pins must pass:
// [Pins] for what the engine asks, [Backing] for what stands behind the pins in
// memory.
//
// The stores they are given must use the wall clock: windows in these tests lie
// around the present.
package storetest
