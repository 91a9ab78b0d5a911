package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// quoted is text as a JSON string.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""` // never: every string can be written
	}
	return string(b)
}

// markers says where a client of the API messages puts cache_control.
type markers int

const (
	markNothing  markers = iota
	markClaude           // the last two system blocks, and the last block of the last message
	markOpenCode         // the system prompt, and the last block of the last two messages
)

const cacheControl = `,"cache_control":{"type":"ephemeral"}`

// talk is one conversation as its client sends it: the parts are written once, and
// put together anew for every turn.
type talk struct {
	api     catalog.API
	markers markers
	system  []string // JSON strings
	tools   []string // JSON objects
	said    []message
}

// message is one message, in the form of its API.
type message struct {
	role   string   // of the API messages
	blocks []string // of the API messages, JSON objects
	item   string   // of the others: a JSON object
}

// newTalk begins a conversation with what the client sends ahead of it.
func newTalk(api catalog.API, marks markers, s setting) *talk {
	t := &talk{api: api, markers: marks}
	for _, text := range s.system {
		t.system = append(t.system, quoted(text))
	}
	for _, tool := range s.tools {
		name, about := quoted(tool.name), quoted(tool.description)
		switch api {
		case catalog.Messages:
			t.tools = append(t.tools, `{"name":`+name+`,"description":`+about+`,"input_schema":`+tool.schema+`}`)
		case catalog.Responses:
			t.tools = append(t.tools, `{"type":"function","name":`+name+`,"description":`+about+`,"parameters":`+tool.schema+`,"strict":false}`)
		default:
			t.tools = append(t.tools, `{"type":"function","function":{"name":`+name+`,"description":`+about+`,"parameters":`+tool.schema+`}}`)
		}
	}
	return t
}

// ask adds what the user says, each text a block.
func (t *talk) ask(texts ...string) {
	switch t.api {
	case catalog.Messages:
		t.said = append(t.said, message{role: "user", blocks: textBlocks("text", texts)})
	case catalog.Responses:
		t.said = append(t.said, message{item: `{"type":"message","role":"user","content":[` + strings.Join(textBlocks("input_text", texts), ",") + `]}`})
	default:
		t.said = append(t.said, message{item: `{"role":"user","content":` + quoted(strings.Join(texts, "\n\n")) + `}`})
	}
}

func textBlocks(kind string, texts []string) []string {
	blocks := make([]string, len(texts))
	for i, text := range texts {
		blocks[i] = `{"type":"` + kind + `","text":` + quoted(text) + `}`
	}
	return blocks
}

// answer adds what the assistant says.
func (t *talk) answer(text string) {
	switch t.api {
	case catalog.Messages:
		t.said = append(t.said, message{role: "assistant", blocks: textBlocks("text", []string{text})})
	case catalog.Responses:
		t.said = append(t.said, message{item: `{"type":"message","role":"assistant","content":[` + textBlocks("output_text", []string{text})[0] + `]}`})
	default:
		t.said = append(t.said, message{item: `{"role":"assistant","content":` + quoted(text) + `}`})
	}
}

// call adds an answer that calls a tool, and the tool's result.
func (t *talk) call(text, id, name, arguments, result string) {
	switch t.api {
	case catalog.Messages:
		t.said = append(t.said,
			message{role: "assistant", blocks: append(textBlocks("text", []string{text}),
				`{"type":"tool_use","id":"toolu_`+id+`","name":`+quoted(name)+`,"input":`+arguments+`}`)},
			message{role: "user", blocks: []string{`{"type":"tool_result","tool_use_id":"toolu_` + id + `","content":` + quoted(result) + `}`}})
	case catalog.Responses:
		t.answer(text)
		t.said = append(t.said,
			message{item: `{"type":"function_call","call_id":"call_` + id + `","name":` + quoted(name) + `,"arguments":` + quoted(arguments) + `}`},
			message{item: `{"type":"function_call_output","call_id":"call_` + id + `","output":` + quoted(result) + `}`})
	default:
		t.said = append(t.said,
			message{item: `{"role":"assistant","content":` + quoted(text) + `,"tool_calls":[{"id":"call_` + id + `","type":"function","function":{"name":` +
				quoted(name) + `,"arguments":` + quoted(arguments) + `}}]}`},
			message{item: `{"role":"tool","tool_call_id":"call_` + id + `","content":` + quoted(result) + `}`})
	}
}

// body is the conversation so far as a request for model. Members are whole
// members of the body, such as `"session_id":"x"`.
func (t *talk) body(model string, stream bool, members []string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":` + quoted(model) + `,"stream":` + strconv.FormatBool(stream))
	for _, m := range members {
		b.WriteString("," + m)
	}
	if len(t.tools) > 0 {
		b.WriteString(`,"tools":[` + strings.Join(t.tools, ",") + `]`)
	}
	switch t.api {
	case catalog.Messages:
		t.writeMessages(&b)
	case catalog.Responses:
		b.WriteString(`,"instructions":` + t.system[0] + `,"store":false,"input":[`)
		for _, text := range t.system[1:] {
			b.WriteString(`{"type":"message","role":"developer","content":[{"type":"input_text","text":` + text + `}]},`)
		}
		t.writeItems(&b)
	default:
		if stream {
			b.WriteString(`,"stream_options":{"include_usage":true}`)
		}
		b.WriteString(`,"messages":[`)
		for _, text := range t.system {
			b.WriteString(`{"role":"system","content":` + text + `},`)
		}
		t.writeItems(&b)
	}
	b.WriteString("}")
	return []byte(b.String())
}

func (t *talk) writeItems(b *strings.Builder) {
	for i, m := range t.said {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.item)
	}
	b.WriteByte(']')
}

// writeMessages writes system and messages with the client's moving markers.
func (t *talk) writeMessages(b *strings.Builder) {
	b.WriteString(`,"max_tokens":32000,"system":[`)
	for i, text := range t.system {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"type":"text","text":` + text)
		if t.marksSystem(i) {
			b.WriteString(cacheControl)
		}
		b.WriteByte('}')
	}
	b.WriteString(`],"messages":[`)
	for i, m := range t.said {
		if i > 0 {
			b.WriteByte(',')
		}
		blocks := strings.Join(m.blocks, ",")
		if t.marksMessage(i) {
			blocks = strings.TrimSuffix(blocks, "}") + cacheControl + "}"
		}
		b.WriteString(`{"role":"` + m.role + `","content":[` + blocks + `]}`)
	}
	b.WriteByte(']')
}

func (t *talk) marksSystem(i int) bool {
	last := len(t.system) - 1
	return t.markers == markClaude && i >= last-1 || t.markers == markOpenCode && i == last
}

func (t *talk) marksMessage(i int) bool {
	last := len(t.said) - 1
	return t.markers == markClaude && i == last || t.markers == markOpenCode && i >= last-1
}
