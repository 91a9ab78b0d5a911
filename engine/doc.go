// Package engine decides which vendor serves a turn, and remembers who did.
//
// The pipeline of a turn is a row of pure functions, each in the file of its
// verb: [Identify] names the session, [BuildPlan] lists who may serve,
// [Decide] puts the warm vendor first while that is the cheapest thing to do,
// [Next] says who is tried after a failure, [Settle] says what becomes of the
// pin. They take values and return values: time arrives as Now, and none of
// them reads a clock, a disk, a socket, a random source or a package variable.
// serve.go is the one file that carries decisions out; deadline.go is its timer
// and health.go what it remembers of failures.
//
// Its promises: affinity never adds a candidate, never fails a request, never
// moves one model before another nor an operator's key before the caller's own;
// and every number that was compared is in the [Decision].
//
// Start reading at [Decide].
//
// Where the design leaves something open, this package does as follows.
//
// Rung 4 of the ladder asks first for the least minimum of the model's candidates
// that cache, then, of each entry, for its own route's. An entry that two turns
// running found no cache at ([DetailNeverEngaged]) counts as no_pin, not as
// pin_expired: its window has not passed, and there is nothing warm to name. The
// prefix of two turns is taken to be unchanged if the later has no less text. A
// request without a session is no_pin with [DetailNoSession]; the store is not
// asked. [DetailNoCacheMarker] and [DetailSingleRoute] say why a pin may not
// matter, and decide nothing.
//
// A pin that names a credential means that account's cache. Another credential of
// the same vendor is as cold as another vendor, so moving to the pinned one is a
// promotion, which the gate may decline; no vendor is displaced by it.
//
// A sub-agent that names its parent and has no pins of its own is decided by the
// parent's, and keeps its own from then on. Claude Code's sub-agents share their
// session's id, and so its pins.
//
// Content that only its maker can read goes to the candidate that served the
// model last in the session, or any model if this one never was, however long
// ago; where nothing is remembered the plan is left as it is.
//
// A limit on a price takes out routes whose price is not known. With several
// targets each model is filtered and ordered by the policy that named it, while
// scope and affinity settings are those of the first target.
package engine
