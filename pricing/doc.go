// Package pricing holds the arithmetic of money: what a token costs, what a
// turn cost, and whether reading a warm cache is the cheapest thing to do.
//
// Its promise is exactness. A price is decimal from the catalog's text to the
// printed page; no float stands in between, and a price that is not known is
// absent, never zero. Token counts are int64 in five buckets that do not
// overlap (uncached input, cache read, cache write 5m, cache write 1h, output),
// so a cost is a sum of products.
//
// Start with [Rate], then [Sheet.At], which picks the card of rates that holds
// for one turn, then [Card.Cost] and [ReadPays].
//
// The package is pure: it reads no clock, and everything in it may be used from
// several goroutines once built.
package pricing
