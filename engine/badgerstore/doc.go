// Package badgerstore keeps pins and books on disk, each in a Badger database of
// its own.
//
// [Store] keeps pins, so that a restart finds them again. It implements
// [engine.PinBacking] and stands behind the table of package inmem: nothing of it
// is on the path of a turn.
//
// Its promises:
//
//   - what Write reported as stored survives a restart and a kill of the
//     process; it reaches the disk itself within about a second, so a power cut
//     may cost the last second of pins, which is money and never correctness;
//   - a damaged record is skipped and counted, never read as another one: every
//     value carries a version and a checksum over its key and itself;
//   - no call outlives its context, Load excepted, even if the disk hangs;
//   - a directory that another process uses is waited for up to two seconds,
//     then refused with [ErrLocked]; one with too little space is refused with
//     [ErrNoSpace], as is every later write: Badger writes through mapped files,
//     and a full disk would kill the process instead of returning an error.
//     What others write between that look and Badger's own flush is beyond it:
//     give the directory a volume or quota of its own where disks run full.
//
// Badger's expiry, a day after a record's last window, only sweeps. Its own
// checksums are off on purpose: they turn a damaged block into a crash.
//
// [Ledger] keeps the books: a record of every turn, sums by the minute, hour and
// day (UTC) for each tenant and for all, and a book of every session. Its promises:
//
//   - Record never waits and Intend hardly; what is given up, because the queue or
//     the disk is full, is counted;
//   - records, roll-ups and sessions of a batch are one transaction: they agree
//     after a kill as well, and a turn recorded twice counts once;
//   - what Flush waited for survives a kill of the process, and is on the disk
//     itself within 100 ms, but for what lies in a full memtable that Badger is just
//     writing to a table. A power cut may cost that;
//   - a turn that was begun and never ended is booked as unsettled by the next
//     process, or after a day. So is, in the end, one whose settlement was given up;
//   - what is one tenant's lies under keys that begin with the tenant, and a query
//     for a tenant reads no others.
//
// A turn counts in the slot in which it began, whole, under the model and vendor
// of its last attempt. Turns in flight count in an overview, as unsettled, and not
// yet in their sessions. Records and sessions are swept after Retention; roll-ups
// by the minute and the hour after their own time; those by the day stay. A
// session's sums are those of all its turns, swept ones included. A roll-up that
// is damaged is begun anew, and what it held is missing from then on.
//
// Start reading at [Open] and [OpenLedger].
package badgerstore
