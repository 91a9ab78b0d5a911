package wire

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// counter is one number that a usage object may report.
type counter uint8

const (
	promptTokens counter = iota
	completionTokens
	readTokens
	writeTokens // all writes, whatever their lifetime
	write5mTokens
	write1hTokens
	reasoningTokens
	totalTokens
	counters // how many there are
)

// place says where a counter stands in a usage object: at its top, or inside
// one of its objects. The same counter may stand in several places; then the
// greatest counts, and nothing is added.
type place struct {
	inside string // name of the object; empty for the top
	name   string
	counter
}

// convention is how a vendor counts. The zero flags are OpenAI's way: cached
// tokens are part of the prompt, reasoning is part of the output.
type convention struct {
	name   string
	apis   []catalog.API // the dialects in which the vendor counts so
	places []place

	cachedBeside    bool // reads and writes are not part of the prompt number
	cachedMaySpill  bool // where they exceed the prompt number they are not part of it
	reasoningBeside bool // reasoning is not part of the completion number
	restIsOutput    bool // output is the total less the prompt: part of it is not named
	totalDecides    bool // prompt + completion = total shows that cached tokens are inside
}

// openaiPlaces are OpenAI's names and those of vendors that kept its convention
// under other names: DeepSeek, Moonshot, Mistral and Alibaba.
var openaiPlaces = []place{
	{"", "prompt_tokens", promptTokens},
	{"", "input_tokens", promptTokens},
	{"", "completion_tokens", completionTokens},
	{"", "output_tokens", completionTokens},
	{"", "total_tokens", totalTokens},
	{"prompt_tokens_details", "cached_tokens", readTokens},
	{"prompt_tokens_details", "cache_write_tokens", writeTokens},
	{"prompt_tokens_details", "cache_creation_input_tokens", writeTokens},
	{"input_tokens_details", "cached_tokens", readTokens},
	{"input_tokens_details", "cache_write_tokens", writeTokens},
	{"prompt_token_details", "cached_tokens", readTokens},
	{"", "prompt_cache_hit_tokens", readTokens},
	{"", "cached_tokens", readTokens},
	{"", "num_cached_tokens", readTokens},
	{"completion_tokens_details", "reasoning_tokens", reasoningTokens},
	{"output_tokens_details", "reasoning_tokens", reasoningTokens},
}

var anthropicPlaces = []place{
	{"", "input_tokens", promptTokens},
	{"", "output_tokens", completionTokens},
	{"", "cache_read_input_tokens", readTokens},
	{"", "cache_creation_input_tokens", writeTokens},
	{"cache_creation", "ephemeral_5m_input_tokens", write5mTokens},
	{"cache_creation", "ephemeral_1h_input_tokens", write1hTokens},
	{"output_tokens_details", "thinking_tokens", reasoningTokens},
}

// bedrockPlaces holds both spellings of the cache counters; the wire carries each twice.
var bedrockPlaces = []place{
	{"", "inputTokens", promptTokens},
	{"", "outputTokens", completionTokens},
	{"", "totalTokens", totalTokens},
	{"", "cacheReadInputTokens", readTokens},
	{"", "cacheReadInputTokenCount", readTokens},
	{"", "cacheWriteInputTokens", writeTokens},
	{"", "cacheWriteInputTokenCount", writeTokens},
}

var (
	openaiAPIs = []catalog.API{catalog.Chat, catalog.Responses}
	allAPIs    = []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}
)

// conventions are all that are known. A vendor that speaks several dialects
// counts in each by that dialect's custom, so a name holds only for the APIs it
// lists; for another API the default of that API holds.
var conventions = []convention{
	{name: "openai", apis: openaiAPIs, places: openaiPlaces},
	{name: "anthropic", apis: []catalog.API{catalog.Messages}, places: anthropicPlaces, cachedBeside: true},
	{name: "deepseek", apis: openaiAPIs, places: openaiPlaces},
	{name: "moonshot", apis: openaiAPIs, places: openaiPlaces},
	{name: "mistral", apis: openaiAPIs, places: openaiPlaces},
	{name: "xai", apis: []catalog.API{catalog.Chat}, places: openaiPlaces, cachedMaySpill: true, reasoningBeside: true},
	{name: "xai", apis: []catalog.API{catalog.Responses}, places: openaiPlaces, cachedMaySpill: true},
	{name: "gemini", apis: openaiAPIs, places: openaiPlaces, restIsOutput: true},
	{name: "bedrock", apis: allAPIs, places: bedrockPlaces, cachedBeside: true, totalDecides: true},
}

// UsageConventions are the names a catalog may give as a vendor's usage, in a fixed order.
func UsageConventions() []string {
	var names []string
	for i := range conventions {
		names = append(names, conventions[i].name)
	}
	return slices.Compact(names)
}

// conventionFor finds a convention by its name in the catalog; a name that does
// not hold for the API, or is empty, gives the API's default.
func conventionFor(name string, api catalog.API) *convention {
	fallback := "openai"
	if api == catalog.Messages {
		fallback = "anthropic"
	}
	var found *convention
	for i := range conventions {
		c := &conventions[i]
		if !slices.Contains(c.apis, api) {
			continue
		}
		if c.name == name {
			return c
		}
		if c.name == fallback {
			found = c
		}
	}
	return found
}

// maxTokens is more than any vendor can count; what is above is a mistake.
const maxTokens = 1 << 40

// tally is the numbers of one answer. Vendors repeat running totals from event
// to event, so each counter keeps its greatest value and nothing is ever added.
type tally struct {
	count   [counters]int64
	seen    [counters]bool
	any     bool
	invalid bool // some number was negative, broken or impossible
}

// read merges the usage object at v. null and what is missing change nothing.
func (t *tally) read(c *convention, b []byte, v span) {
	switch b[v.from] {
	case 'n':
		return
	case '{':
	default:
		t.any, t.invalid = true, true
		return
	}
	for w := walk(b, v.from); w.next(); {
		name := w.name()
		if b[w.from] != '{' {
			t.number(c, "", name, b, w.span())
			continue
		}
		for inner := walk(b, w.from); inner.next(); {
			t.number(c, string(name), inner.name(), b, inner.span())
		}
	}
}

// number merges one member of a usage object if the convention names it.
func (t *tally) number(c *convention, inside string, name, b []byte, v span) {
	for i := range c.places {
		p := &c.places[i]
		if p.inside != inside || p.name != string(name) {
			continue
		}
		if b[v.from] == 'n' {
			return
		}
		t.any = true
		n, ok := tokenCount(v.of(b))
		if !ok {
			t.invalid = true
			return
		}
		t.seen[p.counter] = true
		t.count[p.counter] = max(t.count[p.counter], n)
		return
	}
}

// tokenCount reads a whole number from 0 to maxTokens.
func tokenCount(text []byte) (n int64, ok bool) {
	if len(text) > 13 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= maxTokens
}

// usage puts the numbers into buckets that do not overlap.
func (t *tally) usage(c *convention) (pricing.Usage, pricing.Quality) {
	if !t.any {
		return pricing.Usage{}, pricing.Missing
	}
	quality := pricing.Authoritative
	u := pricing.Usage{
		Input:        t.count[promptTokens],
		CacheRead:    t.count[readTokens],
		CacheWrite5m: t.count[write5mTokens],
		CacheWrite1h: t.count[write1hTokens],
		Output:       t.count[completionTokens],
		Reasoning:    t.count[reasoningTokens],
	}
	// Writes whose lifetime is not named have the ordinary one.
	u.CacheWrite5m += max(0, t.count[writeTokens]-u.CacheWrite5m-u.CacheWrite1h)
	total := t.count[totalTokens]
	switch {
	case c.reasoningBeside:
		u.Output += u.Reasoning
	case u.Reasoning > u.Output && total == u.Input+u.Output+u.Reasoning:
		u.Output += u.Reasoning
		quality = pricing.Derived
	case u.Reasoning > u.Output:
		u.Reasoning = u.Output
		quality = pricing.Derived
	}
	rest := total - u.Input
	switch {
	case c.restIsOutput && rest > u.Output:
		u.Output = rest
		quality = pricing.Derived
	case t.seen[promptTokens] && t.seen[completionTokens]:
	case t.seen[promptTokens] && t.seen[totalTokens] && rest >= 0:
		u.Output = rest
		quality = pricing.Derived
	default:
		quality = pricing.Partial
	}
	cached := u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
	inside := !c.cachedBeside
	if c.totalDecides && cached > 0 && t.seen[totalTokens] && u.Input+u.Output == total {
		inside = true
	}
	switch {
	case !inside:
	case cached <= u.Input:
		u.Input -= cached
	default:
		if quality == pricing.Authoritative {
			quality = pricing.Derived
		}
		if c.cachedMaySpill {
			break
		}
		// More cached than there was prompt: never below zero, never more than the prompt.
		u.CacheRead = min(u.CacheRead, u.Input)
		u.CacheWrite1h = min(u.CacheWrite1h, u.Input-u.CacheRead)
		u.CacheWrite5m = u.Input - u.CacheRead - u.CacheWrite1h
		u.Input = 0
	}
	if t.invalid {
		quality = pricing.Invalid
	}
	return u, quality
}
