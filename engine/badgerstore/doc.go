// Package badgerstore keeps pins on disk, in a Badger database, so that a
// restart finds them again. It implements [engine.PinBacking] and stands behind
// the table of package inmem: nothing here is on the path of a turn.
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
// Start reading at [Open].
package badgerstore
