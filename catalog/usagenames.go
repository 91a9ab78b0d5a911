package catalog

import "slices"

// Native stands for a vendor's own API, where it is none of the three that clients
// speak: Bedrock's Converse and InvokeModel, Google's generateContent.
const Native API = ""

// usageRow is a convention that a catalog may name, as data.
type usageRow struct {
	name  string
	apis  []API // where it holds; elsewhere the API's own does
	like  string
	paths map[UsageField][]string // instead of those of like
	more  map[UsageField][]string // besides them
	own   func(*Usage)            // what else is different; nil: nothing
}

var openaiAPIs = []API{Chat, Responses, Native}

// namedUsages are all conventions, those first that others are like. The facts are
// the vendors' own references and recorded answers.
//
// A vendor that speaks several dialects counts in each by that dialect's custom, so
// a name holds only where it says so. OpenAI's list holds the spellings of those
// who kept its convention under other names; what is not there costs nothing.
var namedUsages = []usageRow{
	{name: "openai", apis: openaiAPIs, paths: map[UsageField][]string{
		PromptCount: {"prompt_tokens", "input_tokens"},
		OutputCount: {"completion_tokens", "output_tokens"},
		TotalCount:  {"total_tokens"},
		ReadCount: {
			"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens",
			"prompt_token_details.cached_tokens", // Mistral has spelled it so
			"prompt_cache_hit_tokens",            // DeepSeek
			"cached_tokens",                      // Moonshot, and Anthropic's chat endpoint
			"num_cached_tokens",                  // Mistral
		},
		UncachedCount: {"prompt_cache_miss_tokens"},
		WriteCount: {
			"prompt_tokens_details.cache_write_tokens", "input_tokens_details.cache_write_tokens",
			"prompt_tokens_details.cache_creation_input_tokens", "input_tokens_details.cache_creation_input_tokens",
		},
		Write5mCount:   {"prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens"},
		Write1hCount:   {"prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens"},
		ReasoningCount: {"completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"},
		TierWord:       {"service_tier"},
		ChargeTicks:    {"cost_in_usd_ticks"},
	}, own: func(u *Usage) {
		// Groq repeats its usage there, and on streams it may stand nowhere else.
		u.Places = [][]string{{"usage"}, {"x_groq", "usage"}}
	}},
	{name: "anthropic", apis: []API{Messages, Native}, paths: map[UsageField][]string{
		PromptCount:    {"input_tokens"},
		OutputCount:    {"output_tokens"},
		ReadCount:      {"cache_read_input_tokens"},
		WriteCount:     {"cache_creation_input_tokens"},
		Write5mCount:   {"cache_creation.ephemeral_5m_input_tokens"},
		Write1hCount:   {"cache_creation.ephemeral_1h_input_tokens"},
		ReasoningCount: {"output_tokens_details.thinking_tokens"},
		TierWord:       {"service_tier"},
		SpeedWord:      {"speed"},
		RegionWord:     {"inference_geo"},
		IterationList:  {"iterations"},
	}, own: func(u *Usage) {
		u.Cached = Beside
		u.Places = [][]string{{"usage"}}
		u.SideKinds = []string{"compaction", "advisor_message"}
	}},

	{name: "azure", apis: openaiAPIs, like: "openai"},
	{name: "deepseek", apis: openaiAPIs, like: "openai"},
	{name: "moonshot", apis: openaiAPIs, like: "openai"},
	{name: "mistral", apis: openaiAPIs, like: "openai"},
	{name: "fireworks", apis: openaiAPIs, like: "openai"},
	{name: "together", apis: openaiAPIs, like: "openai"},
	{name: "zai", apis: openaiAPIs, like: "openai"},
	{name: "minimax", apis: openaiAPIs, like: "openai"},
	{name: "cerebras", apis: openaiAPIs, like: "openai"},
	// Groq leaves the cached count out where it is 0.
	{name: "groq", apis: openaiAPIs, like: "openai", own: func(u *Usage) { u.NoReadIsZero = true }},
	{name: "openrouter", apis: openaiAPIs, like: "openai", paths: map[UsageField][]string{ChargeUSD: {"cost"}}},
	{name: "perplexity", apis: openaiAPIs, like: "openai", paths: map[UsageField][]string{ChargeUSD: {"cost.total_cost"}}},
	// Alibaba names a type of cache only where markers asked for it, and its own
	// caching has another price.
	{name: "alibaba", apis: openaiAPIs, like: "openai", paths: map[UsageField][]string{
		CacheModeWord: {"prompt_tokens_details.cache_type", "input_tokens_details.cache_type", "cache_type"},
	}},
	// xAI bills reasoning on top of completion_tokens; its responses include it.
	{name: "xai", apis: []API{Chat}, like: "openai", own: func(u *Usage) { u.Cached, u.Reasoned = Either, Beside }},
	{name: "xai", apis: []API{Responses, Native}, like: "openai", own: func(u *Usage) { u.Cached = Either }},

	// Google: generateContent, interactions, and the chat endpoint, which names no
	// thoughts. Its JSON leaves zeros out.
	{name: "gemini", apis: openaiAPIs, like: "openai", more: geminiPaths, own: countsLikeGoogle},
	{name: "vertex", apis: openaiAPIs, like: "openai", more: geminiPaths, own: countsLikeGoogle},

	// Bedrock's wire carries each cache count under two names. InvokeModel gives
	// Anthropic's own object, other families a few counts of its own.
	{name: "bedrock", apis: []API{Messages, Native}, like: "anthropic", more: map[UsageField][]string{
		PromptCount:  {"inputTokens", "inputTokenCount"},
		OutputCount:  {"outputTokens", "outputTokenCount"},
		TotalCount:   {"totalTokens"},
		ReadCount:    {"cacheReadInputTokens", "cacheReadInputTokenCount"},
		WriteCount:   {"cacheWriteInputTokens", "cacheWriteInputTokenCount"},
		Write5mCount: {"cacheDetails[ttl=5m].inputTokens"},
		Write1hCount: {"cacheDetails[ttl=1h].inputTokens"},
	}},
	{name: "bedrock", apis: []API{Chat, Responses}, like: "openai"},
}

var geminiPaths = map[UsageField][]string{
	PromptCount:    {"promptTokenCount", "total_input_tokens"},
	OutputCount:    {"candidatesTokenCount", "responseTokenCount", "total_output_tokens"},
	ReadCount:      {"cachedContentTokenCount", "total_cached_tokens"},
	ReasoningCount: {"thoughtsTokenCount", "total_thought_tokens"},
	ToolCount:      {"toolUsePromptTokenCount", "total_tool_use_tokens"},
	TotalCount:     {"totalTokenCount"},
	TierWord:       {"serviceTier", "trafficType"},
}

func countsLikeGoogle(u *Usage) {
	u.Reasoned, u.RestIsOutput, u.NoReadIsZero = Beside, true, true
}

// namedUsage is a convention with where it holds.
type namedUsage struct {
	apis  []API
	usage *Usage
}

// conventionTable and conventions are the compiled conventions and their names.
var conventionTable, conventions = compileNamed()

func compileNamed() (table []namedUsage, names []string) {
	for _, n := range namedUsages {
		u := &Usage{}
		for i := range table {
			if n.like != "" && table[i].usage.Name == n.like {
				copied := *table[i].usage
				u = &copied
				break
			}
		}
		u.Name = n.name
		for f := range usageFields {
			if paths := n.paths[f]; paths != nil {
				u.paths[f] = paths
			}
			u.paths[f] = append(slices.Clip(u.paths[f]), n.more[f]...)
		}
		if n.own != nil {
			n.own(u)
		}
		u.compile()
		table = append(table, namedUsage{n.apis, u})
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	return table, names
}

// UsageConventions are the names that a catalog may give as a vendor's usage, in a
// fixed order.
func UsageConventions() []string { return slices.Clone(conventions) }

// UsageConvention finds a convention by its name. A name that does not hold for the
// API, or is empty or unknown, gives the API's own: openai for chat and responses,
// anthropic for messages; for [Native] it is openai.
func UsageConvention(name string, api API) *Usage {
	fallback := "openai"
	if api == Messages {
		fallback = "anthropic"
	}
	var found *Usage
	for i := range conventionTable {
		c := &conventionTable[i]
		if !slices.Contains(c.apis, api) {
			continue
		}
		if c.usage.Name == name {
			return c.usage
		}
		if c.usage.Name == fallback {
			found = c.usage
		}
	}
	return found
}
