// Package inmem keeps pins in memory, and the last turns where there is no ledger
// on disk.
//
// [Pins] is the table every turn asks: it answers from memory alone, and what
// it accepts is written behind to a durable store, if there is one, within
// 20 ms. The request path never waits for that store: when it stalls, what is
// not yet written waits in a queue of fixed length, and beyond it the oldest is
// given up and counted. A pin is a hint: losing one costs money, never
// correctness.
//
// Its promises:
//
//   - never more records than its limit: the one idle longest makes room, and a
//     new session is never refused;
//   - never more records of a tenant than its share, where it has one: its own idle
//     longest makes room, never another tenant's;
//   - records whose every entry expired a day ago are swept without being asked
//     for, through a timer that runs only while there are records;
//   - no pointers per record, so that a million of them cost the garbage
//     collector next to nothing. Records lie encoded in byte arrays, under the
//     SHA-256 of a secret of the process and their key, cut to 128 bits;
//   - while the durable store is still being loaded, what is not in memory is
//     asked of it within the caller's deadline, and what is kept or dropped
//     meanwhile wins over what is loaded.
//
// What the design leaves open: a table of less than 2,048 records is one part in
// which the order of eviction is exact. A larger one is cut into parts, each with an
// order of its own: who makes room is the one idle longest in the part where room is
// needed. The same holds of a tenant's share, which lies in as many parts as leave it
// a thousand records in each. The limits themselves are exact.
// An evicted record is not deleted from the durable store, whose own expiry
// sweeps it; until then a restart may bring it back, warm or expired as it is.
//
// [Ledger] remembers the last turns, up to its limit, and answers for those as the
// ledger on disk does, an auditor's accounts among them: for tests, and for a gateway
// whose ledger cannot be opened. With the last turn of a session goes what the auditor
// remembers of it.
//
// Start reading at [Pins].
package inmem
