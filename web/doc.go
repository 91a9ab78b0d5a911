// Package web is the dashboard: HTML from templates with one stylesheet, whole
// without scripts. Every number is text in the page.
//
// Overview shows what the books come to: token hit rate, cost, net cache saving,
// outcomes, vendors and models, and the hit rate over time. Sessions lists
// conversations; a Session is its path by turn; a Turn is the whole decision with
// every price that was compared and the cost by bucket. Turns is the list behind
// a number of the Overview.
//
// A rate stands beside the counts behind it. What is not known says so and is
// never a zero: a hit rate without traffic is a dash, a cost that misses attempts
// says "at least" and how many. Times are UTC, and the pages say so. What came
// from a client is text on every page; characters that would not print, or would
// turn the direction of the text, are written as escapes. The content policy
// allows the package's own files and nothing else.
//
// The pages are an operator's: they show every tenant unless asked for one.
//
// Start with pages.go, which serves. Each page has a file that makes its text
// (overview.go, sessions.go, session.go, turns.go, turn.go), format.go writes
// numbers, and the templates hold no arithmetic. The scripts in src are built
// into dist by build.sh: live.ts patches fresh numbers into the page and needs
// nothing but esbuild, plots.ts draws the page's own table and needs npm. Pages
// name the scripts that were built, and do without the others.
package web
