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
//     then refused with [ErrLocked];
//   - nothing is written while less than the reserve is free, nor to a directory
//     that was removed or became read-only: [Store.Problem] says so within a
//     tenth of a second, the log once. Writing goes on by itself when there is
//     room again.
//
// Two things would end the process, because they happen in goroutines of Badger's
// where nothing recovers. Both stores are kept from them alike:
//
//   - A damaged table makes Badger panic while it is opened. A database is first
//     opened by another process, see [Options], with Badger's checksums on; if it
//     ends badly, what is there is set aside, and an empty database begun.
//   - Badger writes through mapped files, and a full disk is a bus error there.
//     So each batch is preceded by a look at the disk, and [Store.Close] leaves
//     the log as it is, for the next start, rather than flush it to a table. One
//     flush of both stores and the merges it sets off write less than the
//     reserve of 64 MiB. A neighbour that takes more than that while one is at
//     work, a few tens of milliseconds, is beyond this: give the directory a
//     volume or quota of its own where that may be. So is one that truncates
//     the files under a running process.
//
// A probe that takes longer than ten seconds, or that was killed, proves nothing:
// the database is opened as it is, and damage to it may then still end the
// process. Once open, Badger's own checksums are off: they turn a damaged block
// into a crash. The values have their own. Its expiry, a day after a record's last
// window, only sweeps.
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
// A turn counts in the slot in which it began, with all its attempts and under its
// outcome: each attempt under its own model and vendor, the turn under those of the
// last. Turns in flight count in an overview, as unsettled, and not
// yet in their sessions. Records and sessions are swept after Retention; roll-ups
// by the minute and the hour after their own time; those by the day stay. A
// session's sums are those of all its turns, swept ones included. A roll-up that
// is damaged is begun anew, and what it held is missing from then on.
//
// An [engine.Auditor] judges turns as they are written, in the order in which they
// ended. Its verdict lies in the turn's record, its accounts in roll-ups of their own,
// kept as long as the others, and what it remembers of a session beside that session,
// all in the transaction of the turn. A turn that never ended is judged by nobody.
// Records, roll-ups and sessions that were written before there were any are read as
// they are.
//
// Start reading at [Open] and [OpenLedger].
package badgerstore
