package wire

import "github.com/warmroute/warmroute/engine"

// The bounds of what is decoded of an opening. A fingerprint looks at the first
// 4,096 characters of each message, so nothing is lost, and a body made of
// nothing but tiny parts costs no more than its own size.
const (
	maxParts = 4096     // tools, or blocks of a message
	maxText  = 64 << 10 // bytes of a message after which no further block is decoded
)

// hasOpening says whether the body has any first words.
func (r *Request) hasOpening() bool {
	return r.opener.system.found() || r.opener.first.found() || r.opener.tools > 0 ||
		r.value(fieldSystem).found() || r.value(fieldInstructions).found() || r.value(fieldInput).found()
}

// opening decodes how the conversation begins. `system` and `instructions`
// stand outside the messages in two of the dialects and come first there.
func (r *Request) opening() engine.Opening {
	var o engine.Opening
	switch {
	case r.value(fieldSystem).found():
		o.System = blocks(r.Body, r.value(fieldSystem))
	case r.value(fieldInstructions).found():
		o.System = blocks(r.Body, r.value(fieldInstructions))
	default:
		o.System = content(r.Body, r.opener.system)
	}
	if v := r.value(fieldInput); v.found() && r.Body[v.from] == '"' {
		o.First = blocks(r.Body, v)
	} else {
		o.First = content(r.Body, r.opener.first)
	}
	if r.opener.tools == 0 {
		return o
	}
	o.Tools = make([]engine.Tool, 0, min(r.opener.tools, maxParts))
	s := scanner{b: r.Body}
	for e := each(&s, r.value(fieldTools).from, 1, false); len(o.Tools) < maxParts && e.next(); {
		o.Tools = append(o.Tools, tool(r.Body, e.from))
	}
	return o
}

// content is the text of the message at v.
func content(b []byte, v span) [][]byte {
	if !v.found() || b[v.from] != '{' {
		return nil
	}
	for w := walk(b, v.from); w.next(); {
		if w.is("content") {
			return blocks(b, w.span())
		}
	}
	return nil
}

// blocks are the texts of a content: a string, or the text of each block.
func blocks(b []byte, v span) [][]byte {
	if text, ok := textOf(b, v); ok {
		return [][]byte{text}
	}
	if !v.found() || b[v.from] != '[' {
		return nil
	}
	var texts [][]byte
	size := 0
	s := scanner{b: b}
	for e := each(&s, v.from, 1, false); len(texts) < maxParts && size < maxText && e.next(); {
		if text, ok := textOf(b, span{e.from, e.to}); ok {
			texts = append(texts, text)
			size += len(text)
		}
		if b[e.from] != '{' {
			continue
		}
		for w := walk(b, e.from); w.next(); {
			if text, ok := textOf(b, w.span()); ok && w.is("text") && len(texts) < maxParts {
				texts = append(texts, text)
				size += len(text)
			}
		}
	}
	return texts
}

// tool reads one tool of any dialect. A chat tool holds its parts one level
// down, under the name of its type; a vendor's own tool has only a type.
func tool(b []byte, i int) engine.Tool {
	var t engine.Tool
	if b[i] != '{' {
		return t
	}
	var kind []byte
	for w := walk(b, i); w.next(); {
		switch text, isText := textOf(b, w.span()); string(w.name()) {
		case "type":
			kind = text
		case "name":
			t.Name = text
		case "description":
			t.Description = text
		case "parameters", "input_schema", "format":
			t.Schema = b[w.from:w.to]
		case "function", "custom":
			if isText || b[w.from] != '{' {
				break
			}
			inner := tool(b, w.from)
			t.Name, t.Description, t.Schema = inner.Name, inner.Description, inner.Schema
		}
	}
	if t.Name == nil {
		t.Name = kind
	}
	return t
}
