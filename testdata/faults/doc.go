// Package faults drives the built gateway through the faults of vendors and clients. It
// has tests only; `make test-faults` runs them.
//
// Each test is one row of the fault matrix, FM-01 and so on, and is named after its
// number and its situation. A row has a gateway of its own: the binary as users run it,
// as a process with a catalog, a config file with a tenant, and a data folder. Its
// vendors are scripted at the level of bytes ([script]): they accept a connection, read a
// request, and then do exactly what the row says. They keep a log of their own of what
// they were asked and what they said, which shares no code with the gateway.
//
// At its end every row is audited ([rig.audit]): what the clients got, what the
// vendors' logs hold, the books and the metrics must tell one story, the sum of money to
// its last digit. Goroutines and descriptors must be back where they were, the process
// must end by itself, and no canary may be in anything that it wrote or showed.
//
// Rows about time use short limits in the config file where it has them; the others wait
// as long as the gateway does. All run beside each other. Times that the matrix names
// for an idle machine are printed; what is asserted leaves room for a busy one.
//
// [hurtPins] and [deafLedger] are the same for the engine's stores, in process.
package faults
