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

// opening decodes how the conversation begins.
func (r *Request) opening() engine.Opening {
	o := r.texts()
	if r.opener.tools == 0 {
		return o
	}
	o.Tools = make([]engine.Tool, 0, min(r.opener.tools, maxParts))
	s := scanner{b: r.Body}
	for e := each(&s, r.value(fieldTools).from, 1, false); len(o.Tools) < maxParts && e.nextStart(); {
		var t engine.Tool
		if end := e.from; r.Body[end] != '{' {
			e.ends(s.value(end, 1, false))
		} else {
			t, end = tool(r.Body, end)
			e.ends(end)
		}
		o.Tools = append(o.Tools, t)
	}
	return o
}

// texts decodes the opening's texts alone. `system` and `instructions` stand outside the messages in two of the dialects
// and come first there.
func (r *Request) texts() engine.Opening {
	var o engine.Opening
	switch {
	case r.value(fieldSystem).found():
		o.System = blocks(r.Body, r.value(fieldSystem).from)
	case r.value(fieldInstructions).found():
		o.System = blocks(r.Body, r.value(fieldInstructions).from)
	default:
		o.System = content(r.Body, r.opener.system)
	}
	if v := r.value(fieldInput); v.found() && r.Body[v.from] == '"' {
		o.First = blocks(r.Body, v.from)
		o.FirstUser = o.First
		return o
	}
	o.First = content(r.Body, r.opener.first)
	if o.FirstUser = o.First; r.opener.user != r.opener.first {
		o.FirstUser = content(r.Body, r.opener.user)
	}
	return o
}

// content is the text of the message at v.
func content(b []byte, v span) [][]byte {
	if !v.found() || b[v.from] != '{' {
		return nil
	}
	for w := walk(b, v.from); w.nextKey(); {
		if w.is("content") {
			return blocks(b, w.from)
		}
		if !w.scanValue(false) {
			return nil
		}
	}
	return nil
}

// blocks are the texts of the content at i: a string, or the text of each block.
// What has been decoded or walked is not scanned again.
func blocks(b []byte, i int) [][]byte {
	s := scanner{b: b}
	switch {
	case b[i] == '"':
		text, _ := textOf(b, span{i, s.value(i, 0, false)})
		return [][]byte{text}
	case b[i] != '[':
		return nil
	}
	var texts [][]byte
	size := 0
	add := func(v span) {
		if text, ok := textOf(b, v); ok {
			texts = append(texts, text)
			size += len(text)
		}
	}
	for e := each(&s, i, 1, false); len(texts) < maxParts && size < maxText && e.nextStart(); {
		if b[e.from] != '{' {
			e.ends(s.value(e.from, 1, false))
			add(span{e.from, e.to})
			continue
		}
		w := walk(b, e.from)
		for w.next() {
			if w.is("text") && len(texts) < maxParts {
				add(w.span())
			}
		}
		e.ends(w.end)
	}
	return texts
}

// tool reads the tool of any dialect at i. A chat tool holds its parts one level
// down, under the name of its type; a vendor's own tool has only a type.
func tool(b []byte, i int) (t engine.Tool, end int) {
	kind, end := toolParts(b, i, &t, true)
	if t.Name == nil {
		t.Name = kind
	}
	return t, end
}

// toolParts reads the members of the object at i into t, and those one level
// down where it may be nested.
func toolParts(b []byte, i int, t *engine.Tool, nested bool) (kind []byte, end int) {
	w := walk(b, i)
	for w.nextKey() {
		name := w.name()
		if inner := string(name) == "function" || string(name) == "custom"; inner && nested && b[w.from] == '{' {
			*t = engine.Tool{}
			alone, end := toolParts(b, w.from, t, false)
			if t.Name == nil {
				t.Name = alone
			}
			w.ends(end)
			continue
		}
		if !w.scanValue(false) {
			break
		}
		switch string(name) {
		case "type":
			kind, _ = textOf(b, w.span())
		case "name":
			t.Name, _ = textOf(b, w.span())
		case "description":
			t.Description, _ = textOf(b, w.span())
		case "parameters", "input_schema", "format":
			t.Schema = w.span().of(b)
		}
	}
	return kind, w.end
}
