package catalog

// cardShape are the prices of one card.
type cardShape struct {
	// Of prompt tokens that the cache neither gave nor took.
	Input rateText `yaml:"input,omitempty"`
	// Of output tokens, reasoning included.
	Output rateText `yaml:"output,omitempty"`
	// Of prompt tokens read from the cache.
	CacheRead rateText `yaml:"cache_read,omitempty"`
	// Of prompt tokens read from a cache that the vendor filled by itself, where that has a price of its own beside cache_read, which is then for what markers asked to cache.
	CacheReadImplicit rateText `yaml:"cache_read_implicit,omitempty"`
	// Of prompt tokens written to the cache for five minutes.
	CacheWrite rateText `yaml:"cache_write,omitempty"`
	// Of prompt tokens written to the cache for an hour.
	CacheWrite1h rateText `yaml:"cache_write_1h,omitempty"`
}

// rateKeys are the prices of a card, in the order of the schema.
var rateKeys = keysIn[cardShape]()

type sheetShape struct {
	cardShape
	// The fee of one request, in the currency of the catalog whatever its unit.
	Request feeText `yaml:"request,omitempty"`
	// When the price begins to hold, inclusive: a day, which begins at 00:00 UTC, or a time such as 2026-08-16T16:00:00Z. Always before valid_to unless said.
	ValidFrom momentText `yaml:"valid_from,omitempty"`
	// When it ceases to hold, exclusive. Never unless said.
	ValidTo momentText `yaml:"valid_to,omitempty"`
	// The day the prices were read, such as 2026-11-20.
	AsOf dayText `yaml:"as_of,omitempty"`
	// Where they were read.
	Source text `yaml:"source,omitempty"`
	// Prices of a whole request whose prompt has more tokens than the threshold; lowest threshold first.
	Tiers []tierShape `yaml:"tiers,omitempty"`
	// Bill each prompt token at the prices of the tier that its own place falls into, instead of the whole request at one tier's.
	Marginal bool `yaml:"marginal,omitempty" default:"false"`
	// Hours at which other prices hold; none may overlap another.
	Windows []windowShape `yaml:"windows,omitempty" most:"64"`
	// Prices of the vendor's service tiers, such as flex.
	ServiceTiers map[anyName]serviceTierShape `yaml:"service_tiers,omitempty"`
	// What every price is multiplied by at some speed or in some region, the fee of a request apart. Those that apply multiply each other.
	Surcharges []surchargeShape `yaml:"surcharges,omitempty" most:"16"`
}

type surchargeShape struct {
	// The vendor's word for the speed, such as fast; at any speed unless said.
	Speed nameText `yaml:"speed,omitempty" some:"one"`
	// The vendor's word for the region, such as us; in any region unless said.
	Region nameText `yaml:"region,omitempty" some:"one"`
	// What the prices are multiplied by, such as 1.1; more than 0, at most 100.
	Times timesText `yaml:"times"`
}

type tierShape struct {
	cardShape
	// It holds for prompts with more tokens than this.
	Above tokens `yaml:"above"`
}

type windowShape struct {
	cardShape `some:"one"`
	// Days on which it begins, such as [mon-fri]; every day unless said.
	Days []daysText `yaml:"days,omitempty" least:"1"`
	// The hour it begins, inclusive, such as "01:00".
	From hourText `yaml:"from"`
	// The hour it ends, exclusive; before from it ends on the next day.
	To hourText `yaml:"to"`
	// The zone of its hours, such as UTC or Asia/Shanghai.
	Zone text `yaml:"zone"`
	// Context tiers within these hours.
	Tiers []tierShape `yaml:"tiers,omitempty" some:"one"`
	// Bill these tiers piece by piece.
	Marginal bool `yaml:"marginal,omitempty" default:"false"`
}

type serviceTierShape struct {
	cardShape
	// Context tiers of this service tier.
	Tiers []tierShape `yaml:"tiers,omitempty"`
	// Bill these tiers piece by piece.
	Marginal bool `yaml:"marginal,omitempty" default:"false"`
}
