// Package engine decides which vendor serves a turn, and remembers who did.
//
// The pipeline of a turn is a row of pure functions, each in the file of its
// verb: [Identify] names the session, [BuildPlan] lists who may serve,
// [Decide] puts the warm vendor first while that is the cheapest thing to do,
// [Next] says who is tried after a failure, [Settle] says what becomes of the
// pin. They take values and return values: time arrives as Now, and none of
// them reads a clock, a disk, a socket, a random source or a package variable.
//
// A [Gateway] carries decisions out, and nothing else has effects: prepare.go is the
// pipeline up to the decision, serve.go what follows from it, sidecar.go the same for
// attempts that somebody else makes. Its methods in other files are what they recall
// and keep: memory.go of a session, origin.go of who made something, chain.go of turns,
// marked.go of prefixes. deadline.go is its timer and health.go what it remembers of
// failures.
//
// Its promises: affinity never adds a candidate, never fails a request, never
// moves one model before another nor an operator's key before the caller's own;
// and every number that was compared is in the [Decision].
//
// Start reading at [Decide]; then the words it uses, in plan.go, pin.go and outcome.go;
// then [Profile], which says what of this holds for whom, and [Gateway.Serve].
//
// Where the design leaves something open, this package does as follows.
//
// Rung 4 of the ladder asks first for the least minimum of the model's candidates
// that cache, then, of each entry, for its own route's. A request without a
// session is no_pin with [DetailNoSession]; the store is not asked.
// [DetailNoCacheMarker] and [DetailSingleRoute] say why a pin may not matter, and
// decide nothing. Where markers are placed ([Caching]), the request counts as marked,
// and for as long as they ask.
//
// Which of these rules hold is a [Profile]'s to say: the tenant's, else the
// gateway's, else [Warmroute], which is what the design's sections describe. A profile
// is data, one file for each, with the page that every rule comes from and what the
// page leaves open beside it; [Profile.With] puts what is said in a configuration
// before its values. Whatever the profile, the promises above hold: a model's
// pin stands in the plan, so that nothing crosses a model, and who served a marked
// prefix ([Marked]) is one more entry to judge, in front of the session's own.
//
// An explicit or agent session may hold several threads: the conversation, the
// title it is given, sub-agents, what goes on after it was summed up. They share
// the id and nothing of a vendor's cache, so [Thread] tells their requests apart by
// how they open, and entries are kept for each. A request is judged by the entries
// of its own thread first, then by those of the others, newest first in both, and
// by each candidate once: a vendor that is cold for this thread is not warm because
// another thread was there. What the design calls the newest entry is the first in
// that line. So an own entry that has expired gives pin_expired unless an entry
// further down is confirmed or promoted: the rule of the design for several warm
// vendors, which keeps a session together where its own cache is gone anyway. The
// size of the prompt and the turns without a read are the thread's alone.
//
// An entry that two turns running found no cache at ([DetailNeverEngaged]) counts
// as no_pin, not as pin_expired: its window has not passed, and there is nothing
// warm to name. Such a turn is one in the window of the thread's last, at the same
// candidate, with no less text and a prompt that reaches the minimum; after the
// window, or with less text, the count starts again.
//
// A pin that names a credential means that account's cache. Another credential of
// the same vendor is as cold as another vendor, so moving to the pinned one is a
// promotion, which the gate may decline; no vendor is displaced by it. When the
// catalog no longer has the credential, the session's next turn drops the entry.
//
// A session that names its parent is judged by the parent's entries, behind its
// own, for every model that its thread has none of. The parent is looked for by its
// id, as sent and in small letters, among explicit, agent and cache key sessions,
// for a header does not say how the parent itself was named. Its record is only
// read. Claude Code's sub-agents share their session's id, and so are threads of it.
// Where the profile keeps them apart ([Profile.Apart]), a child has nothing of its
// parent's, and each of Claude Code's sub-agents is a session of its own, unless the
// profile asks for that header alone.
//
// Where a profile names sessions by the turns that were served, a turn is kept for a
// day by what was said in it ([TurnKey]), with affinity off too: it is the name of the
// conversation, and no pin. Of a turn that was carried out elsewhere it must be told
// what was said.
//
// Content that only its maker can read is no affinity: it goes to its maker with
// affinity off and without a session too. Who made a response of the API responses
// is kept for a day under the id its vendor gave it ([OriginKey]), unless store was
// false; its vendor and account alone are then in the plan. Without that record the
// candidate that served the model last in the session counts, or any model if this
// one never was, however long ago. Where neither tells and several vendors are left,
// the turn ends in a [NoRouteError] that says what to do, for a guess would fail at
// all but one of them; where the store did not answer the plan is left as it is.
//
// So it is with the rest of what only its maker can read ([Stateful]): encrypted
// reasoning, files, containers and conversations bind the plan to the account that
// made them or has accepted them ([Bound]), and to nobody where that is not known,
// but for ids that several vendors could be asked for. Signed thinking is a wish: the
// vendor that signed the last of it leads its group, ahead of an order and of a pin.
// Sealed content is remembered by its hash, the last piece of an answer, for a day
// from when it was last of use. A vendor's word that a seal is not its own ends the
// turn and touches nothing; the turn's detail says [DetailForeignSignature].
//
// Callers' own keys are a group that stands first in each model, in the order of the
// plan. Their pins name the credential whatever the class, for callers share no
// account, and where they lead, their pins are judged first. A pin of the operator's
// group is then said to stand behind them ([DetailBehindOwnKeys]).
//
// A tenant's [Rules] come before what a request asks for, and after a policy's
// gate. An error tells a tenant of no vendor that it may not use. Where tenants are
// kept apart, a stored response without a record of its own is continued nowhere,
// not even if the store did not answer: the vendor would give it to anyone.
//
// A blended sort puts first what a prompt token is expected to cost least: h·read +
// (1−h)·input at this turn's rates ([Blend]), compared as exact fractions. h is the
// route's token hit rate as turns have shown it ([Learner]), 0 with fewer than
// [LeastTurns] of them or without a read rate of its own: nothing is promised on a
// vendor's behalf. A route of unknown input rate goes last. Writes, answers and what
// this session has warm are not looked at; the last is what affinity is for.
//
// Sorts by latency and throughput compare the medians of the last hours' answers
// ([Speed]), as long as [LeastAnswers] have shown one; the others go last and, where
// nothing else sends them turns, stay there. A weighted sort draws the vendors of each
// turn without replacement, by a hash of the turn's id and the vendor's name, so that the
// same turn is drawn alike wherever it is decided. A name that is followed by :nitro or
// :floor, where there is none of that very name, sorts its own target by throughput or
// price. Without backups ([Request].NoBackup) an explicit order is all the vendors there
// are; where there is none, each model has the first vendor of the decision's order, all
// of whose accounts may be tried. Models to fall back to are not backups: they were asked for.
//
// A [Holdout] draws sessions, not turns: a session of two kinds of turn would tell of
// neither. A session in it has affinity off with [DetailHoldout], whatever switches
// it off otherwise comes first and is no trial.
//
// What a turn was worth is not asked on its way: the books have an [Auditor] judge it
// once it is over. It is told what the request asked for ([Asked]), its thread also
// where affinity is off, and the boundaries of its prompt ([Prefix]) where a vendor took
// it. Days of the books are those of any zone's clocks by [LocalOverview].
//
// A limit on a price takes out routes whose price is not known. With several
// targets each model is filtered and ordered by the policy that named it, while
// scope and affinity settings are those of the first target.
package engine
