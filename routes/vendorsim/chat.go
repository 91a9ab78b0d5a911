package vendorsim

// The API chat. Source: OpenAI's chat completions reference, object and chunk; of
// what others add to usage, each vendor's own reference.

type chatAnswer struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             any          `json:"usage,omitempty"`
	ServiceTier       string       `json:"service_tier,omitempty"`
	SystemFingerprint string       `json:"system_fingerprint"`
}

type chatChoice struct {
	Index        int          `json:"index"`
	Message      *chatMessage `json:"message,omitempty"`
	Delta        *chatDelta   `json:"delta,omitempty"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason *string      `json:"finish_reason"`
}

type chatMessage struct {
	Role        string   `json:"role"`
	Content     string   `json:"content"`
	Refusal     *string  `json:"refusal"`
	Annotations []string `json:"annotations"`
}

type chatDelta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

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

func (a *answer) chatID() string { return "chatcmpl-" + a.id }

func (a *answer) chatFinish() *string {
	reason := "stop"
	if a.limited {
		reason = "length"
	}
	return &reason
}

// chatUsage reports usage in the vendor's convention; nil if it reports none.
func (a *answer) chatUsage() any {
	if a.usage == nil {
		return nil
	}
	u, written := a.usage, a.usage.write()
	out := &chatUsage{PromptTokens: u.prompt(), CompletionTokens: u.output, TotalTokens: u.prompt() + u.output}
	switch a.config.Usage {
	case "moonshot":
		out.CachedTokens = &u.read
		return out
	case "mistral":
		out.NumCached = &u.read
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
	}{}
	return out
}

// chatJSON is the whole answer.
func (a *answer) chatJSON() []byte {
	return encode(chatAnswer{
		ID: a.chatID(), Object: "chat.completion", Created: a.created, Model: a.p.model,
		Choices: []chatChoice{{
			Message:      &chatMessage{Role: "assistant", Content: a.text, Annotations: []string{}},
			FinishReason: a.chatFinish(),
		}},
		Usage: a.chatUsage(), ServiceTier: a.tier(), SystemFingerprint: "fp_" + a.id,
	})
}

// chatEvents is the answer as a stream: role, text, finish, usage if it was
// asked for, and the end mark. Chunks before the usage chunk carry "usage":
// null when it was asked for.
func (a *answer) chatEvents() []event {
	chunk := func(choices []chatChoice, usage any) event {
		if usage == nil && a.p.includeUsage && a.usage != nil {
			usage = (*chatUsage)(nil)
		}
		return event{data: encode(chatAnswer{
			ID: a.chatID(), Object: "chat.completion.chunk", Created: a.created, Model: a.p.model,
			Choices: choices, Usage: usage, ServiceTier: a.tier(), SystemFingerprint: "fp_" + a.id,
		})}
	}
	empty := ""
	events := []event{chunk([]chatChoice{{Delta: &chatDelta{Role: "assistant", Content: &empty}}}, nil)}
	for _, piece := range a.pieces() {
		events = append(events, chunk([]chatChoice{{Delta: &chatDelta{Content: &piece}}}, nil))
	}
	events = append(events, chunk([]chatChoice{{Delta: &chatDelta{}, FinishReason: a.chatFinish()}}, nil))
	if usage := a.chatUsage(); usage != nil && a.p.includeUsage {
		events = append(events, chunk([]chatChoice{}, usage))
	}
	return append(events, event{data: []byte("[DONE]")})
}

// tier is the service tier the answer names: the one asked for, "default" for auto or none.
func (a *answer) tier() string {
	if a.p.tier == "" || a.p.tier == "auto" {
		return "default"
	}
	return a.p.tier
}
