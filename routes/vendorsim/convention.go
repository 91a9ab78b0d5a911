package vendorsim

// How vendors report usage on the API chat. Source: each vendor's own reference,
// and answers they have given.

// usagePlace is where in a stream usage stands.
type usagePlace uint8

const (
	ownChunk   usagePlace = iota // in a chunk of its own, without choices, after the last
	lastChunk                    // in the chunk that has the finish_reason
	everyChunk                   // in every chunk, as running totals
)

// convention is how one vendor reports.
type convention struct {
	place  usagePlace
	always bool // on streams too, though nobody has asked for it
	groq   bool // in x_groq as well, always
	hides  bool // reasoning is in the total alone
	beside bool // reasoning is beside completion_tokens
}

// conventions are those that differ from OpenAI's.
var conventions = map[string]convention{
	"deepseek":   {place: lastChunk},
	"moonshot":   {place: lastChunk},
	"zai":        {place: lastChunk},
	"mistral":    {place: lastChunk, always: true},
	"groq":       {place: lastChunk, groq: true},
	"perplexity": {place: everyChunk, always: true},
	"openrouter": {always: true},
	"xai":        {beside: true},
	"gemini":     {hides: true},
}

func (a *answer) convention() convention { return conventions[a.config.Usage] }

// chatUsage has the members of every convention; each answer sets its own.
type chatUsage struct {
	PromptTokens     int64        `json:"prompt_tokens"`
	CompletionTokens int64        `json:"completion_tokens"`
	TotalTokens      int64        `json:"total_tokens"`
	PromptDetails    *chatDetails `json:"prompt_tokens_details,omitempty"`
	OutputDetails    *struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details,omitempty"`
	HitTokens    *int64 `json:"prompt_cache_hit_tokens,omitempty"`  // DeepSeek
	MissTokens   *int64 `json:"prompt_cache_miss_tokens,omitempty"` // DeepSeek
	CachedTokens *int64 `json:"cached_tokens,omitempty"`            // Moonshot
	NumCached    *int64 `json:"num_cached_tokens,omitempty"`        // Mistral
}

type chatDetails struct {
	CachedTokens   int64  `json:"cached_tokens"`
	WriteTokens    *int64 `json:"cache_write_tokens,omitempty"`          // OpenAI's paid writes
	CreationTokens *int64 `json:"cache_creation_input_tokens,omitempty"` // Alibaba
}

// chatGroq is where Groq says once more what it used.
type chatGroq struct {
	ID    string     `json:"id"`
	Usage *chatUsage `json:"usage"`
}

// wholeUsage is the usage of an answer that is not a stream; nil if none is reported.
func (a *answer) wholeUsage() any {
	if a.usage == nil {
		return nil
	}
	return a.chatUsage(a.usage.output)
}

// chatUsage reports usage in the vendor's convention, with output tokens so far. A
// quarter of them are reasoning where the convention treats it in a way of its own.
func (a *answer) chatUsage(output int64) *chatUsage {
	u, c, written := a.usage, a.convention(), a.usage.write()
	out := &chatUsage{PromptTokens: u.prompt(), CompletionTokens: output, TotalTokens: u.prompt() + output}
	reasoning := int64(0)
	if c.hides || c.beside {
		reasoning = output / 4
		out.CompletionTokens -= reasoning
	}
	switch a.config.Usage {
	case "moonshot":
		out.CachedTokens = &u.read
		return out
	case "mistral":
		out.NumCached = &u.read
		return out
	case "perplexity", "gemini":
		return out
	case "groq": // which leaves 0 out
		if u.read > 0 {
			out.PromptDetails = &chatDetails{CachedTokens: u.read}
		}
		return out
	case "deepseek":
		miss := u.prompt() - u.read
		out.HitTokens, out.MissTokens = &u.read, &miss
		out.PromptDetails = &chatDetails{CachedTokens: u.read}
		return out
	case "alibaba":
		out.PromptDetails = &chatDetails{CachedTokens: u.read, CreationTokens: &written}
		return out
	}
	out.PromptDetails = &chatDetails{CachedTokens: u.read}
	if a.config.ReportWrites {
		out.PromptDetails.WriteTokens = &written
	}
	out.OutputDetails = &struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	}{reasoning}
	return out
}
