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
//   - records whose every entry expired a day ago are swept without being asked
//     for, through a timer that runs only while there are records;
//   - no pointers per record, so that a million of them cost the garbage
//     collector next to nothing. Records lie encoded in byte arrays, under the
//     SHA-256 of a secret of the process and their key, cut to 128 bits;
//   - while the durable store is still being loaded, what is not in memory is
//     asked of it within the caller's deadline, and what is kept or dropped
//     meanwhile wins over what is loaded.
//
// What the design leaves open: a limit of less than 2,048 records is one table
// in which the order of eviction is exact. A larger one is cut into parts of
// equal limits, each with an order of its own, so single parts may begin to
// evict at about nineteen twentieths of the whole.
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
