package catalog

// cardShape are the prices of one card.
type cardShape struct {
	// Of prompt tokens that the cache neither gave nor took.
	Input rateText `yaml:"input,omitempty"`
	// Of output tokens, reasoning included.
	Output rateText `yaml:"output,omitempty"`
	// Of prompt tokens read from the cache.
	CacheRead rateText `yaml:"cache_read,omitempty"`
	// Of prompt tokens written to the cache for five minutes.
	CacheWrite rateText `yaml:"cache_write,omitempty"`
	// Of prompt tokens written to the cache for an hour.
	CacheWrite1h rateText `yaml:"cache_write_1h,omitempty"`
}

// rateKeys are the prices of a card, in the order of the schema.
var rateKeys = keysIn[cardShape]()

type sheetShape struct {
	cardShape
	// The day the prices were read, such as 2026-11-20.
	AsOf dayText `yaml:"as_of,omitempty"`
	// Where they were read.
	Source text `yaml:"source,omitempty"`
	// Prices of a whole request whose prompt has more tokens than the threshold; lowest threshold first.
	Tiers []tierShape `yaml:"tiers,omitempty"`
	// Hours at which other prices hold; none may overlap another.
	Windows []windowShape `yaml:"windows,omitempty" most:"64"`
	// Prices of the vendor's service tiers, such as flex.
	ServiceTiers map[anyName]serviceTierShape `yaml:"service_tiers,omitempty"`
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
}

type serviceTierShape struct {
	cardShape
	// Context tiers of this service tier.
	Tiers []tierShape `yaml:"tiers,omitempty"`
}
