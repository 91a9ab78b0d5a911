package vendorsim

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// bytesPerToken is the one rule of this vendor's tokenizer.
const bytesPerToken = 4

// MediaTokens is what an image, a document or a sound counts, whatever its size.
const MediaTokens = 85

// tokens counts text.
func tokens(text int64) int64 { return (text + bytesPerToken - 1) / bytesPerToken }

// prompt is what a request asks, in the vendor's own order.
type prompt struct {
	api          catalog.API
	model        string
	stream       bool
	includeUsage bool
	maxTokens    int64 // zero: no limit
	turn         int   // answers given so far in this conversation, plus one
	tier         string
	retention    time.Duration // lifetime the request asked an implicit cache for; zero: the vendor's
	segments     []segment
	items        int    // where the conversation's items begin: behind tools and instructions; responses only
	previous     string // id of the answer it continues; empty: none
	unstored     bool   // its answer is not to be kept
	thinks       bool   // its answer holds thinking that is sealed
	markerCount  int
	misplaced    string // what is wrong with a marker's block; empty: nothing
}

// segment is one block of a prompt.
type segment struct {
	shape  string // kind, role and place: hashed, not counted
	text   []byte // hashed and counted
	marked bool
	ttl    time.Duration // of its marker; zero: the vendor's
	unfit  string        // why it may have no marker of its own; empty: it may
}

// size is the length of the whole prompt in tokens.
func (p *prompt) size() int64 {
	var text int64
	for i := range p.segments {
		text += int64(len(p.segments[i].text))
	}
	return tokens(text)
}

// add appends one block given as JSON.
func (p *prompt) add(shape string, raw json.RawMessage) error {
	text, markers, err := canonical(raw)
	if err != nil {
		return err
	}
	var block struct {
		Type     string  `json:"type"`
		Text     *string `json:"text"`
		Deferred bool    `json:"defer_loading"`
	}
	s := segment{shape: shape, text: text}
	if text[0] == '{' {
		// A block that is no object has no type: its JSON is its content.
		if err := json.Unmarshal(text, &block); err != nil {
			return err
		}
	}
	switch block.Type {
	case "text", "input_text", "output_text":
		if block.Text != nil {
			s.text = []byte(*block.Text)
		}
	case "image", "image_url", "input_image", "document", "file", "input_file", "input_audio":
		s.shape += "\x00" + string(text)
		s.text = make([]byte, MediaTokens*bytesPerToken)
	}
	switch {
	case block.Type == "text" && len(bytes.TrimSpace(s.text)) == 0:
		s.unfit = "cache_control cannot be set for empty text blocks"
	case block.Type == "thinking", block.Type == "redacted_thinking":
		s.unfit = "cache_control: Extra inputs are not permitted"
	case block.Deferred && shape == "tool":
		s.unfit = "A tool cannot have both defer_loading=true and cache_control set"
	}
	if s.unfit != "" && len(markers) > 0 && p.misplaced == "" {
		p.misplaced = s.unfit
	}
	for _, m := range markers {
		if err := p.mark(&s, m); err != nil {
			return err
		}
	}
	p.segments = append(p.segments, s)
	return nil
}

// addText appends one block of plain text.
func (p *prompt) addText(shape, text string) {
	s := segment{shape: shape, text: []byte(text)}
	if strings.TrimSpace(text) == "" {
		s.unfit = "cache_control cannot be set for empty text blocks"
	}
	p.segments = append(p.segments, s)
}

// markTop sets a marker of the whole request: on the last block that may have one. One
// that stands there already must ask for the same.
func (p *prompt) markTop(m marker) error {
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := &p.segments[i]
		if s.unfit != "" {
			continue
		}
		if !s.marked {
			return p.mark(s, m)
		}
		if top := (segment{}); p.mark(&top, m) != nil || top.ttl != s.ttl {
			return refusal("cache_control", "cache_control: the last block has a marker of another ttl")
		}
		p.markerCount--
		return nil
	}
	return nil
}

// mark sets a marker on a block.
func (p *prompt) mark(s *segment, m marker) error {
	s.marked = true
	p.markerCount++
	switch m.TTL {
	case "":
	case "5m":
		s.ttl = 5 * time.Minute
	case "1h":
		s.ttl = time.Hour
	default:
		return refusal("cache_control.ttl", "cache_control.ttl: Input should be '5m' or '1h'")
	}
	return nil
}

// addContent appends the content of one message: a string or a list of blocks.
func (p *prompt) addContent(kind, role string, raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	first := kind + " " + role + " first"
	switch {
	case len(raw) == 0 || string(raw) == "null":
		p.addText(first, "")
		return nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		p.addText(first, text)
		return nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return refusal(kind, kind+": Input should be a string or a list of blocks")
	}
	for i, block := range blocks {
		shape := first
		if i > 0 {
			shape = kind + " " + role + " next"
		}
		if err := p.add(shape, block); err != nil {
			return err
		}
	}
	return nil
}

// addMessages appends every message; what a message holds beside its content,
// such as tool calls, counts as one block more.
func (p *prompt) addMessages(messages []json.RawMessage) error {
	for _, raw := range messages {
		var m struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCalls  json.RawMessage `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Role == "assistant" {
			p.turn++
		}
		if err := p.addContent("message", m.Role+m.ToolCallID, m.Content); err != nil {
			return err
		}
		if len(m.ToolCalls) > 0 && string(m.ToolCalls) != "null" {
			if err := p.add("tool_calls", m.ToolCalls); err != nil {
				return err
			}
		}
	}
	return nil
}

// addItems appends the items of a responses request.
func (p *prompt) addItems(items []json.RawMessage) error {
	for _, raw := range items {
		var item struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &item); err != nil {
			return err
		}
		if item.Role == "" {
			if err := p.add("item "+item.Type, raw); err != nil {
				return err
			}
			continue
		}
		if item.Role == "assistant" {
			p.turn++
		}
		if err := p.addContent("message", item.Role, item.Content); err != nil {
			return err
		}
	}
	return nil
}
