// Package storetest holds the tests that every store must pass: [Pins] for what
// the engine asks of pins, [Backing] for what stands behind the pins in memory,
// [Ledger] for the books. [Market] makes turns to be booked.
//
// The stores they are given must use the wall clock: windows in these tests lie
// around the present.
package storetest
