package vendorsim

// The API messages. Source: Anthropic's messages and streaming reference; usage
// in message_start, and again in message_delta as running totals.

type message struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []any         `json:"content"` // thinkingBlock and messageBlock
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	Usage        *messageUsage `json:"usage,omitempty"`
}

type messageBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type messageUsage struct {
	InputTokens    int64            `json:"input_tokens"`
	CreationTokens int64            `json:"cache_creation_input_tokens"`
	ReadTokens     int64            `json:"cache_read_input_tokens"`
	Creation       *messageCreation `json:"cache_creation,omitempty"`
	OutputTokens   int64            `json:"output_tokens"`
	ServiceTier    string           `json:"service_tier,omitempty"`
}

type messageCreation struct {
	Ephemeral5m int64 `json:"ephemeral_5m_input_tokens"`
	Ephemeral1h int64 `json:"ephemeral_1h_input_tokens"`
}

func (a *answer) stopReason() *string {
	reason := "end_turn"
	if a.limited {
		reason = "max_tokens"
	}
	return &reason
}

// messageUsage reports usage with the given output, nil if none is reported.
func (a *answer) messageUsage(output int64) *messageUsage {
	if a.usage == nil {
		return nil
	}
	u := a.usage
	return &messageUsage{
		InputTokens: u.input, ReadTokens: u.read, CreationTokens: u.write(),
		Creation:     &messageCreation{Ephemeral5m: u.write5m, Ephemeral1h: u.write1h},
		OutputTokens: output, ServiceTier: "standard",
	}
}

func (a *answer) message() message {
	return message{ID: "msg_" + a.id, Type: "message", Role: "assistant", Model: a.p.model, Content: []any{}}
}

// messagesJSON is the whole answer.
func (a *answer) messagesJSON() []byte {
	m := a.message()
	if a.seal != "" {
		m.Content = append(m.Content, a.thinking())
	}
	m.Content = append(m.Content, messageBlock{Type: "text", Text: a.text})
	m.StopReason = a.stopReason()
	if a.usage != nil {
		m.Usage = a.messageUsage(a.usage.output)
	}
	return encode(m)
}

// messagesEvents is the answer as a stream.
func (a *answer) messagesEvents() []event {
	type indexed struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block any    `json:"content_block,omitempty"`
		Delta any    `json:"delta,omitempty"`
	}
	type plain struct {
		Type string `json:"type"`
	}
	m := a.message()
	m.Usage = a.messageUsage(1)
	events := []event{
		named("message_start", struct {
			plain
			Message message `json:"message"`
		}{plain{"message_start"}, m}),
	}
	at := 0
	if a.seal != "" {
		think := a.thinking()
		events = append(events,
			named("content_block_start", indexed{Type: "content_block_start", Index: at, Block: thinkingBlock{Type: think.Type}}),
			named("content_block_delta", indexed{Type: "content_block_delta", Index: at, Delta: map[string]string{"type": "thinking_delta", "thinking": think.Thinking}}),
			named("content_block_delta", indexed{Type: "content_block_delta", Index: at, Delta: map[string]string{"type": "signature_delta", "signature": think.Signature}}),
			named("content_block_stop", indexed{Type: "content_block_stop", Index: at}))
		at++
	}
	events = append(events,
		named("content_block_start", indexed{Type: "content_block_start", Index: at, Block: messageBlock{Type: "text"}}),
		named("ping", plain{"ping"}))
	for _, piece := range a.pieces() {
		events = append(events, named("content_block_delta",
			indexed{Type: "content_block_delta", Index: at, Delta: messageBlock{Type: "text_delta", Text: piece}}))
	}
	events = append(events, named("content_block_stop", indexed{Type: "content_block_stop", Index: at}))
	type stop struct {
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	delta := struct {
		plain
		Delta stop          `json:"delta"`
		Usage *messageUsage `json:"usage,omitempty"`
	}{plain: plain{"message_delta"}, Delta: stop{StopReason: a.stopReason()}}
	if a.usage != nil {
		delta.Usage = a.messageUsage(a.usage.output)
		delta.Usage.Creation, delta.Usage.ServiceTier = nil, ""
	}
	return append(events, named("message_delta", delta), named("message_stop", plain{"message_stop"}))
}
