// Package sim models what vendors' prompt caches hold, and measures with it what
// affinity was worth.
//
// It answers four questions about a turn that has ended. What should its vendor have
// read from the cache ([Cache])? What would the turn have cost without affinity, and
// so what did affinity save ([Result.Saving])? If less was read than the last turn
// promised, whose doing was it, and what did it cost ([Miss])? And what does all that
// say about the route ([Learned])?
//
// Its promises: cost + saving = counterfactual cost, in exact decimals, for a turn,
// a session and any sum of them; what is not known is counted and never taken for
// zero; and a session whose order is fixed and healthy has a saving of exactly 0,
// whatever its vendor evicted.
//
// Start reading at [Session.Step]: it takes one turn as a [Fact] and says a [Result];
// a [Tally] adds results up, and measures.go reads a tally. Everything is pure: time
// is passed in, nothing is read from a clock, a disk or a random source. A [Session]
// is for one goroutine at a time; the rest are values.
//
// # The two worlds
//
// The counterfactual is the same requests under the same plans, filters, health and
// failures with affinity's step left out. In it a turn goes to the first candidate of
// the plan's own order that would have accepted: one that was tried did what it really
// did, one that was not is taken to accept. Each world has its own caches, and the
// counterfactual's are simulated over the whole session: an order that stays put by
// itself is warm there too, and affinity is given no credit for it.
//
// Where the same candidate serves in both worlds and its cache holds the same for this
// turn, the real attempt stands in both: the difference is 0, or what failed attempts
// cost that only one world made. Elsewhere the counterfactual is the simulated usage
// at the card of its candidate.
//
// Where the rule does not say:
//
//   - A failed attempt that was billed is part of the real cost. It is part of the
//     counterfactual's too if its candidate stands, in the plan's own order, before the
//     one that serves there. If its cost is unknown and only one world made it, the
//     turn is uncovered.
//   - A cost that is not known (no usage, a cut stream, no price) leaves the turn
//     uncovered: counted, with no part in any sum of money. Where both worlds are the
//     same its saving is 0 all the same.
//   - A turn that nobody accepted saves nothing and moves no cache: affinity never
//     makes a request fail, so both worlds failed.
//   - A fallback model has caches of its own. Affinity moves nothing across models, so
//     both worlds fall back together. Tokens are those that were reported, whoever
//     counted them.
//   - A conversation beside the main one has another thread and caches of its own. What
//     a turn keeps of its thread's last prompt cuts what every model and candidate
//     holds of that thread; no cache holds more of it than the prompt just sent.
//   - The first turn of a thread finds what the caches hold of the beginning that it
//     shares with another thread of the session, such as tools and system text, as far
//     as the vendor that really took it says it read. It is promised nothing by that.
//   - A summed-up conversation keeps little ([Kept]); with the summary under other first
//     words it is another thread.
//   - Another account of the same vendor is another cache.
//   - Turns may overlap and be told of in the order in which they end. One that began
//     before its thread's newest reads the caches as they stand, cuts nothing, takes no
//     cache back in time and is promised nothing. One that began before the last was
//     accepted is promised nothing either: there may have been nothing to read yet.
//   - An attempt whose answer had begun (2xx) warmed its candidate's cache, whatever
//     came after. One that timed out did not.
//   - What sessions share (a common system prompt) is not modelled.
//
// # Hold-outs
//
// Savings are modelled. Where a share of sessions is held out, the [Arm] of those and
// that of the sessions beside them are measured: cost of whole turns, failed attempts
// too, to prompt tokens of what was served. [Trial.Difference] is their difference,
// with a 95 % interval over sessions: Welch's by Student's t, variances by the delta
// method for a ratio of two sums.
//
// # Reading less than promised
//
// A turn is promised E tokens: what its thread's last cached prompt and its own have in
// common, in the blocks of the vendor that cached it. It has missed if R, what it
// read, falls short of E by 1,024 tokens and by a tenth. Causes are asked in the
// order of the constants and the first that holds is taken, with one refinement: where
// it is known how much of the last prompt was kept, E is that, and only what is missing
// beyond the client's own change is put to somebody else. So [PrefixChanged] is the
// cause of a turn that read what was kept of a prefix that shrank.
//
// A warm vendor that was passed over because the request's, the tenant's or the
// catalog's own settings say so (an order that goes first, affinity off, no price) is
// [PlanExcluded]. A pin store that did not answer is [PinLost].
package sim
