package vendorsim

import "github.com/warmroute/warmroute/catalog"

// The API responses. Source: OpenAI's responses and streaming-events reference.

type response struct {
	ID                string              `json:"id"`
	Object            string              `json:"object"`
	CreatedAt         int64               `json:"created_at"`
	Status            string              `json:"status"`
	Error             *responseError      `json:"error"`
	IncompleteDetails *responseIncomplete `json:"incomplete_details"`
	Instructions      *string             `json:"instructions"`
	MaxOutputTokens   *int64              `json:"max_output_tokens"`
	Model             string              `json:"model"`
	Output            []any               `json:"output"` // reasoningItem and responseItem
	ParallelToolCalls bool                `json:"parallel_tool_calls"`
	PreviousID        *string             `json:"previous_response_id"`
	ServiceTier       string              `json:"service_tier"`
	Store             bool                `json:"store"`
	ToolChoice        string              `json:"tool_choice"`
	Tools             []string            `json:"tools"`
	Usage             *responseUsage      `json:"usage"`
	Metadata          struct{}            `json:"metadata"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responseIncomplete struct {
	Reason string `json:"reason"`
}

type responseItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Status  string         `json:"status"`
	Role    string         `json:"role"`
	Content []responsePart `json:"content"`
}

type responsePart struct {
	Type        string   `json:"type"`
	Annotations []string `json:"annotations"`
	Text        string   `json:"text"`
}

type responseUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	InputDetails struct {
		CachedTokens int64  `json:"cached_tokens"`
		WriteTokens  *int64 `json:"cache_write_tokens,omitempty"`
	} `json:"input_tokens_details"`
	OutputTokens  int64 `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int64 `json:"total_tokens"`
}

func (a *answer) responseUsage() *responseUsage {
	if a.usage == nil {
		return nil
	}
	u, written := a.usage, a.usage.write()
	out := &responseUsage{InputTokens: u.prompt(), OutputTokens: u.output, TotalTokens: u.prompt() + u.output}
	out.InputDetails.CachedTokens = u.read
	if a.config.ReportWrites {
		out.InputDetails.WriteTokens = &written
	}
	return out
}

// keeps says whether the answer can be continued by its id.
func (a *answer) keeps() bool { return a.p.api == catalog.Responses && !a.p.unstored }

func (a *answer) responseID() string { return "resp_" + a.id }

// begun is the response as the first events show it.
func (a *answer) begun() response {
	r := response{
		ID: a.responseID(), Object: "response", CreatedAt: a.created, Status: "in_progress", Model: a.p.model,
		Output: []any{}, ParallelToolCalls: true, ServiceTier: a.tier(), ToolChoice: "auto", Tools: []string{},
		Store: a.keeps(),
	}
	if a.p.previous != "" {
		r.PreviousID = &a.p.previous
	}
	if a.p.maxTokens > 0 {
		r.MaxOutputTokens = &a.p.maxTokens
	}
	return r
}

// ended is the response as it stands at the end, with the name of its last event.
func (a *answer) ended() (r response, event string) {
	r = a.begun()
	if a.seal != "" {
		r.Output = append(r.Output, a.reasoning())
	}
	r.Output = append(r.Output, a.item())
	r.Usage = a.responseUsage()
	if a.limited {
		r.Status, r.IncompleteDetails = "incomplete", &responseIncomplete{Reason: "max_output_tokens"}
		return r, "response.incomplete"
	}
	r.Status = "completed"
	return r, "response.completed"
}

func (a *answer) item() responseItem {
	status := "completed"
	if a.limited {
		status = "incomplete"
	}
	return responseItem{ID: "item_" + a.id, Type: "message", Status: status, Role: "assistant",
		Content: []responsePart{a.part(a.text)}}
}

func (a *answer) part(text string) responsePart {
	return responsePart{Type: "output_text", Annotations: []string{}, Text: text}
}

// responsesJSON is the whole answer.
func (a *answer) responsesJSON() []byte {
	r, _ := a.ended()
	return encode(r)
}

// head is what every event of a responses stream begins with.
type head struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence_number"`
}

// within is the place of an event about one item.
type within struct {
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
}

// responsesEvents is the answer as a stream.
func (a *answer) responsesEvents() []event {
	var events []event
	next := func(name string) head { return head{Type: name, Sequence: len(events)} }
	whole := func(name string, r response) {
		events = append(events, named(name, struct {
			head
			Response response `json:"response"`
		}{next(name), r}))
	}
	at := 0
	item := func(name string, i any) {
		events = append(events, named(name, struct {
			head
			OutputIndex int `json:"output_index"`
			Item        any `json:"item"`
		}{next(name), at, i}))
	}
	place := within{ItemID: "item_" + a.id}
	part := func(name, text string) {
		events = append(events, named(name, struct {
			head
			within
			ContentIndex int          `json:"content_index"`
			Part         responsePart `json:"part"`
		}{next(name), place, 0, a.part(text)}))
	}
	whole("response.created", a.begun())
	whole("response.in_progress", a.begun())
	if a.seal != "" {
		begun := a.reasoning()
		begun.Encrypted = ""
		item("response.output_item.added", begun)
		item("response.output_item.done", a.reasoning())
		at++
		place.OutputIndex = at
	}
	empty := a.item()
	empty.Status, empty.Content = "in_progress", []responsePart{}
	item("response.output_item.added", empty)
	part("response.content_part.added", "")
	for _, piece := range a.pieces() {
		const name = "response.output_text.delta"
		events = append(events, named(name, struct {
			head
			within
			ContentIndex int        `json:"content_index"`
			Delta        string     `json:"delta"`
			Logprobs     []struct{} `json:"logprobs"`
		}{next(name), place, 0, piece, []struct{}{}}))
	}
	const done = "response.output_text.done"
	events = append(events, named(done, struct {
		head
		within
		ContentIndex int        `json:"content_index"`
		Text         string     `json:"text"`
		Logprobs     []struct{} `json:"logprobs"`
	}{next(done), place, 0, a.text, []struct{}{}}))
	part("response.content_part.done", a.text)
	item("response.output_item.done", a.item())
	r, last := a.ended()
	whole(last, r)
	return events
}
