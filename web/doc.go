// Package web is the dashboard: HTML from templates with one stylesheet, whole
// without scripts. Every number is text in the page.
//
// Overview shows what the books come to: token hit rate, cost, net cache saving,
// affinity saving, avoidable loss, outcomes, vendors and models, and the hit rate over
// time. Sessions lists conversations; a Session is its path by turn; a Turn is the
// whole decision with every price that was compared, the cost by bucket, and what it
// would have been without affinity. Turns is the list behind a number of the Overview,
// Misses the turns that read less than they could have and why, and Routes what turns
// have shown of every route's cache beside what the catalog claims.
//
// The three savings have three baselines, which stand beside each: the same tokens at
// the input price, the same sessions without affinity, and no miss that affinity should
// have prevented. They are never added together.
//
// A rate stands beside the counts behind it. What is not known says so and is
// never a zero: a hit rate without traffic is a dash, a cost that misses attempts
// says "at least" and how many. Times are those of the zone in the address, UTC if it
// names none, and the pages say so; days are that zone's. What came
// from a client is text on every page; characters that would not print, or would
// turn the direction of the text, are written as escapes. The content policy
// allows the package's own files and nothing else.
//
// The pages are an operator's: they show every tenant unless asked for one.
//
// Start with pages.go, which serves. Each page has a file that makes its text
// (overview.go, sessions.go, session.go, turns.go, turn.go, misses.go, routes.go), account.go the
// cards of what affinity did, bill.go and without.go parts of a turn; format.go writes
// numbers, and the templates hold no arithmetic. The scripts in src are built
// into dist by build.sh: live.ts patches fresh numbers into the page and needs
// nothing but esbuild, plots.ts draws the page's own table and needs npm. Pages
// name the scripts that were built, and do without the others.
package web
