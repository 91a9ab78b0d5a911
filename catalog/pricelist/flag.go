package pricelist

// Code names a kind of doubt.
type Code string

// Codes that [Read] finds in one row. What becomes of the price is said at each.
const (
	ZeroCache        Code = "zero_cache"         // a cache price of 0 beside an input that is not free: left unknown
	ZeroPrice        Code = "zero_price"         // an input or output price of 0 while the other is not: left unknown
	ReadAboveInput   Code = "read_above_input"   // cache read dearer than plain input: kept
	ReadEqualsInput  Code = "read_equals_input"  // kept
	WriteBelowInput  Code = "write_below_input"  // cache write cheaper than plain input: kept
	FarFromInput     Code = "far_from_input"     // a cache price that cannot belong to the input price: left unknown
	OutputBelowInput Code = "output_below_input" // kept; often input and output are swapped
	UnusualPrice     Code = "unusual_price"      // outside 0.001 to 1000 per million: kept
	MisspeltKey      Code = "misspelt_key"       // read as the key it stands for
	NegativePrice    Code = "negative_price"     // left unknown
	UnreadablePrice  Code = "unreadable_price"   // not a number, or one with too many digits: left unknown
	FloatNoise       Code = "float_noise"        // digits beyond what a float holds, such as 0.30000000000000004 or 0.070000002: rounded to 12 or 4 digits
	NotPriced        Code = "not_priced"         // a price for what a route has no place for, such as audio or searches: not read
	UnknownField     Code = "unknown_field"      // a member that looks like money and that this reader does not know: not read
	TierIncomplete   Code = "tier_incomplete"    // a tier without an input or output price: that price is unknown above the threshold
	TierUnreadable   Code = "tier_unreadable"    // a tier without a usable threshold: left out
	Contradiction    Code = "contradiction"      // the entry states a price twice, differently: the first place that its reader looks at counts
	Deprecated       Code = "deprecated"         // the list calls the model deprecated, or names a day: kept
	DuplicateKey     Code = "duplicate_key"      // a member stands twice in the entry: the last one counts, as in every JSON reader
)

// Codes that [Check] finds by comparing rows of a model. All prices are kept.
const (
	UnitSlip      Code = "unit_slip"       // a power of ten off the model's median or off another list
	FarFromMedian Code = "far_from_median" // over 4 times, or under a quarter of, the model's median
	Swapped       Code = "swapped"         // input and output exchanged, going by another list or the medians
	PricedTwice   Code = "priced_twice"    // the list has another row of the vendor, model, region and variant, with other prices
	LostDecimal   Code = "lost_decimal"    // one price ten times off while its neighbour is not
)

// Codes of [Disagreement] between lists about the same pair. All prices are kept.
const (
	RoundedRead   Code = "rounded_cache_read" // one list has the other's cache read, rounded
	StaleRead     Code = "stale_cache_read"   // cache reads differ otherwise: one of them is old
	StalePrice    Code = "stale_price"        // input or output differ otherwise: one of them is old
	WriteDiffers  Code = "cache_write_differs"
	TierMissing   Code = "tier_missing" // one list has a context tier that another lacks
	TiersDiffer   Code = "tiers_differ" // both have the tier and its prices differ
	DatedPrice    Code = "dated_price"  // one list states a further price for an earlier or later time
	ServiceDiffer Code = "service_tier_differs"
)
