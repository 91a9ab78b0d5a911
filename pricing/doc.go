// Package pricing holds the arithmetic of money: what a token costs, what a
// turn cost, and whether reading a warm cache is the cheapest thing to do.
//
// Its promise is exactness. A price is decimal from the catalog's text to the
// printed page; no float stands in between, and a price that is not known is
// absent, never zero. Token counts are int64 in five buckets that do not
// overlap (uncached input, cache read, cache write 5m, cache write 1h, output),
// so a cost is a sum of products.
//
// Start with [Rate], then [Price.At], which picks the card of rates that holds on
// the [Terms] of one turn, then [Card.Cost] and [ReadPays]. A price is a list of
// sheets, one for each period; what decides between the rates of a sheet is, in
// this order, the service tier, the hour, the size of the prompt, how the vendor
// came to cache, and the surcharges for speed and region. What a sheet does not
// state is unknown, and so is everything outside its periods: an old price is never
// taken for a new one.
//
// Most vendors move a whole request to the tier of its prompt. One that bills each
// stretch of the prompt at its own rates has a marginal [Band]; the card of such a
// turn carries the stretches, from which costs are computed, and the means, which
// the gates compare.
//
// What a comparison of two routes tips at stands beside the gates: [StayPrefix],
// [MoveOutput], [MoveTurns], [Crossover] and [Card.PayBack] give the exact [Point].
// A [Charge] is what the vendor itself says; it is kept beside our cost, never in
// its place.
//
// The package is pure: it reads no clock, and everything in it may be used from
// several goroutines once built.
package pricing
