package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object whose members keep the order in which they were set.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) set(name string, value any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, there := o.values[name]; !there {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// put sets the member at a dotted path, and the objects on the way to it.
func (o *object) put(path string, value any) error {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		o.set(name, value)
		return nil
	}
	inner, isObject := o.values[name].(*object)
	if _, there := o.values[name]; there && !isObject {
		return fmt.Errorf("%s is no object", name)
	}
	if inner == nil {
		inner = &object{}
		o.set(name, inner)
	}
	return inner.put(rest, value)
}

// usual is the conversation of a request that says nothing of its own: 2,000
// tokens and a few.
var usual = []words{{role: "system", text: "{{text 8000}}"}, {role: "user", text: "Begin the task."}}

// bodyOf makes the body of a request in the dialect of its API.
func (r *requestStep) bodyOf(api string, w *world) ([]byte, error) {
	if r.raw != "" {
		raw, err := w.expand(r.line, r.raw, true)
		return []byte(raw), err
	}
	if r.api == "" {
		return nil, nil
	}
	spoken := r.words
	if len(spoken) == 0 {
		spoken = usual
	}
	said := make([]words, len(spoken))
	for i, one := range spoken {
		var err error
		if one.text, err = w.expand(one.line, one.text, one.role == "call"); err != nil {
			return nil, err
		}
		said[i] = one
	}
	tools := make([]words, len(r.tools))
	for i, one := range r.tools {
		var err error
		if one.text, err = w.expand(one.line, one.text, false); err != nil {
			return nil, err
		}
		if one.schema, err = w.expand(one.line, one.schema, true); err != nil {
			return nil, err
		}
		if !json.Valid([]byte(one.schema)) {
			return nil, mistake(one.line, "the schema of tool %s is not JSON", one.name)
		}
		tools[i] = one
	}
	body := &object{}
	body.set("model", r.model)
	switch api {
	case "messages":
		inMessages(body, said, tools)
	case "responses":
		inResponses(body, said, tools)
	default:
		inChat(body, said, tools)
	}
	for _, m := range r.members {
		text, err := w.expand(m.line, m.value, true)
		if err != nil {
			return nil, err
		}
		if !json.Valid([]byte(text)) {
			return nil, mistake(m.line, "%s: %s is not JSON", m.name, text)
		}
		if err := body.put(m.name, json.RawMessage(text)); err != nil {
			return nil, mistake(m.line, "%v", err)
		}
	}
	return json.Marshal(body)
}

// make a JSON object of names and values in turn.
func of(members ...any) *object {
	o := &object{}
	for i := 0; i+1 < len(members); i += 2 {
		o.set(members[i].(string), members[i+1])
	}
	return o
}

// mark adds a cache marker to a block or tool where the scenario has one.
func mark(o *object, w words) *object {
	switch w.cached {
	case "":
	case "default":
		o.set("cache_control", of("type", "ephemeral"))
	default:
		o.set("cache_control", of("type", "ephemeral", "ttl", w.cached))
	}
	return o
}

// content is a text, as a string or, where it is marked, as one block of a kind.
func content(kind string, w words) any {
	if w.cached == "" {
		return w.text
	}
	return []any{mark(of("type", kind, "text", w.text), w)}
}

func inChat(body *object, said, tools []words) {
	var messages []any
	for _, w := range said {
		switch w.role {
		case "call":
			messages = append(messages, of("role", "assistant", "content", nil, "tool_calls", []any{
				of("id", w.id, "type", "function", "function", of("name", w.name, "arguments", w.text))}))
		case "result":
			messages = append(messages, of("role", "tool", "tool_call_id", w.id, "content", w.text))
		default:
			messages = append(messages, of("role", w.role, "content", content("text", w)))
		}
	}
	body.set("messages", messages)
	if len(tools) == 0 {
		return
	}
	var list []any
	for _, t := range tools {
		list = append(list, mark(of("type", "function", "function",
			of("name", t.name, "description", t.text, "parameters", json.RawMessage(t.schema))), t))
	}
	body.set("tools", list)
}

func inResponses(body *object, said, tools []words) {
	var input []any
	for _, w := range said {
		switch w.role {
		case "call":
			input = append(input, of("type", "function_call", "call_id", w.id, "name", w.name, "arguments", w.text))
		case "result":
			input = append(input, of("type", "function_call_output", "call_id", w.id, "output", w.text))
		case "assistant":
			input = append(input, of("type", "message", "role", w.role, "content", []any{mark(of("type", "output_text", "text", w.text), w)}))
		default:
			input = append(input, of("type", "message", "role", w.role, "content", content("input_text", w)))
		}
	}
	body.set("input", input)
	if len(tools) == 0 {
		return
	}
	var list []any
	for _, t := range tools {
		list = append(list, mark(of("type", "function", "name", t.name, "description", t.text, "parameters", json.RawMessage(t.schema)), t))
	}
	body.set("tools", list)
}

// inMessages puts what the system says where this dialect has it. A developer is
// the system here.
func inMessages(body *object, said, tools []words) {
	body.set("max_tokens", 64)
	var system, messages []any
	for _, w := range said {
		switch w.role {
		case "system", "developer":
			system = append(system, mark(of("type", "text", "text", w.text), w))
		case "call":
			messages = append(messages, of("role", "assistant", "content", []any{
				of("type", "tool_use", "id", w.id, "name", w.name, "input", json.RawMessage(w.text))}))
		case "result":
			messages = append(messages, of("role", "user", "content", []any{
				of("type", "tool_result", "tool_use_id", w.id, "content", w.text)}))
		default:
			messages = append(messages, of("role", w.role, "content", content("text", w)))
		}
	}
	if len(tools) > 0 {
		var list []any
		for _, t := range tools {
			list = append(list, mark(of("name", t.name, "description", t.text, "input_schema", json.RawMessage(t.schema)), t))
		}
		body.set("tools", list)
	}
	if len(system) > 0 {
		body.set("system", system)
	}
	body.set("messages", messages)
}
