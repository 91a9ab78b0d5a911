package catalog

// usageShape is how a vendor counts, said as the difference from a convention. Every
// path counts from the usage object; a list replaces that of the convention.
type usageShape struct {
	// The convention this one starts from; that of the API unless said.
	Like conventionWord `yaml:"like,omitempty"`
	// Where usage objects stand in an answer, or in an event of its stream.
	Object either[pathText, []pathText] `yaml:"object,omitempty"`
	// Prompt tokens.
	Prompt either[pathText, []pathText] `yaml:"prompt,omitempty"`
	// Tokens of the answer.
	Output either[pathText, []pathText] `yaml:"output,omitempty"`
	// Prompt tokens read from the cache. Several paths are spellings of one number: the greatest counts.
	CacheRead either[pathText, []pathText] `yaml:"cache_read,omitempty"`
	// Prompt tokens written to the cache, whatever the lifetime.
	CacheWrite either[pathText, []pathText] `yaml:"cache_write,omitempty"`
	// Those written with the ordinary lifetime.
	CacheWrite5m either[pathText, []pathText] `yaml:"cache_write_5m,omitempty"`
	// Those written for an hour.
	CacheWrite1h either[pathText, []pathText] `yaml:"cache_write_1h,omitempty"`
	// Prompt tokens that were not read, where the vendor states them as well.
	Uncached either[pathText, []pathText] `yaml:"uncached,omitempty"`
	// Tokens spent on reasoning.
	Reasoning either[pathText, []pathText] `yaml:"reasoning,omitempty"`
	// Prompt tokens of tools that the vendor runs, beside the prompt number.
	ToolPrompt either[pathText, []pathText] `yaml:"tool_prompt,omitempty"`
	// Prompt and answer together; the other numbers must add up to it. An empty list: there is none to check against.
	Total either[pathText, []pathText] `yaml:"total,omitempty"`
	// The service tier that served.
	Tier either[pathText, []pathText] `yaml:"tier,omitempty"`
	// The speed that served.
	Speed either[pathText, []pathText] `yaml:"speed,omitempty"`
	// Where the answer was computed.
	Region either[pathText, []pathText] `yaml:"region,omitempty"`
	// A word that is there only where markers asked for the cache.
	CacheMode either[pathText, []pathText] `yaml:"cache_mode,omitempty"`
	// What the vendor charged, in US dollars.
	Cost either[pathText, []pathText] `yaml:"cost,omitempty"`
	// What the vendor charged, in units of 1e-10 US dollars.
	CostTicks either[pathText, []pathText] `yaml:"cost_ticks,omitempty"`
	// The list of an answer's steps, each with a usage of its own.
	Iterations either[pathText, []pathText] `yaml:"iterations,omitempty"`
	// Kinds of step that the numbers at the top leave out.
	Sides []nameText `yaml:"sides,omitempty"`
	// Whether cached tokens are part of the prompt number; either: they are, unless they exceed it.
	Cached standingWord `yaml:"cached,omitempty"`
	// Whether reasoning is part of the output number.
	Reasoned reasonedWord `yaml:"reasoned,omitempty"`
	// output: what the total has above all that is named is output.
	Rest restWord `yaml:"rest,omitempty"`
	// What it means that no cache read is reported.
	NoCacheRead noReadWord `yaml:"no_cache_read,omitempty"`
}

type (
	pathText     string
	standingWord string
	reasonedWord string
	restWord     string
	noReadWord   string
)
