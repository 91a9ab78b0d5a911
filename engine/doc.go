// Package engine decides which vendor serves a turn, and remembers who did.
//
// The pipeline of a turn is a row of pure functions, each in the file of its
// verb: [Identify] names the session, [BuildPlan] lists who may serve,
// [Decide] puts the warm vendor first while that is the cheapest thing to do,
// [Next] says who is tried after a failure, [Settle] says what becomes of the
// pin. They take values and return values: time arrives as Now, and none of
// them reads a clock, a disk, a socket, a random source or a package variable.
// serve.go is the one file that carries decisions out.
//
// Its promises: affinity never adds a candidate, never fails a request, never
// moves one model before another nor an operator's key before the caller's own;
// and every number that was compared is in the [Decision].
//
// Start reading at [Decide].
package engine
