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
	Groq              *chatGroq    `json:"x_groq,omitempty"`
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

func (a *answer) chatID() string { return "chatcmpl-" + a.id }

func (a *answer) chatFinish() *string {
	reason := "stop"
	if a.limited {
		reason = "length"
	}
	return &reason
}

// chatJSON is the whole answer.
func (a *answer) chatJSON() []byte {
	return encode(chatAnswer{
		ID: a.chatID(), Object: "chat.completion", Created: a.created, Model: a.p.model,
		Choices: []chatChoice{{
			Message:      &chatMessage{Role: "assistant", Content: a.text, Annotations: []string{}},
			FinishReason: a.chatFinish(),
		}},
		Usage: a.wholeUsage(), ServiceTier: a.tier(), SystemFingerprint: "fp_" + a.id,
	})
}

// chatEvents is the answer as a stream: role, text, finish, usage where its
// convention has it, and the end mark. In OpenAI's convention the chunks before
// that of the usage carry "usage": null when it was asked for.
func (a *answer) chatEvents() []event {
	c := a.convention()
	reports := a.usage != nil && (a.p.includeUsage || c.always)
	chunk := func(choices []chatChoice, usage any, groq *chatGroq) event {
		if usage == nil && reports && c.place == ownChunk {
			usage = (*chatUsage)(nil)
		}
		return event{data: encode(chatAnswer{
			ID: a.chatID(), Object: "chat.completion.chunk", Created: a.created, Model: a.p.model,
			Choices: choices, Usage: usage, Groq: groq, ServiceTier: a.tier(), SystemFingerprint: "fp_" + a.id,
		})}
	}
	empty := ""
	pieces := a.pieces()
	running := func(n int) any { // what was used once n pieces are out
		if !reports || c.place != everyChunk {
			return nil
		}
		return a.chatUsage(a.usage.output * int64(n) / int64(max(len(pieces), 1)))
	}
	events := []event{chunk([]chatChoice{{Delta: &chatDelta{Role: "assistant", Content: &empty}}}, running(0), nil)}
	for i, piece := range pieces {
		events = append(events, chunk([]chatChoice{{Delta: &chatDelta{Content: &piece}}}, running(i+1), nil))
	}
	last, groq := running(len(pieces)), (*chatGroq)(nil)
	if c.groq && a.usage != nil {
		groq = &chatGroq{ID: "req_" + a.id, Usage: a.chatUsage(a.usage.output)}
	}
	if reports && c.place == lastChunk {
		last = a.chatUsage(a.usage.output)
	}
	events = append(events, chunk([]chatChoice{{Delta: &chatDelta{}, FinishReason: a.chatFinish()}}, last, groq))
	if reports && c.place == ownChunk {
		events = append(events, chunk([]chatChoice{}, a.chatUsage(a.usage.output), nil))
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
