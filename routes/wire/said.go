package wire

import (
	"bytes"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// What the assistant said is read twice: where a vendor says it, whole or in a
// stream, and where the next request repeats it. Both are the same hashes, of the
// text blocks and of the ids of calls that the client answers:
//
//   - chat: the message's content, a text or its text parts; tool_calls[].id. Of an
//     answer with several choices the first counts, as clients keep one.
//   - messages: text blocks; the ids of tool_use blocks. Tools that run at the vendor
//     have blocks of their own, which clients leave out, and do not count.
//   - responses: the output_text parts of the output's messages; the call_id of each
//     call that has one, whatever its kind.

// said is the last assistant turn of the conversation that is sent.
func (r *Request) said() engine.Said {
	var h engine.Hearing
	v := r.opener.last
	if r.API != catalog.Responses {
		hearMessage(&h, r.Body, v.from)
		return h.Said()
	}
	s := scanner{b: r.Body}
	for at := v.from; at < v.to; {
		end := s.value(at, 1, false)
		if end < 0 {
			break
		}
		hearItem(&h, r.Body, at)
		at = space(r.Body, end)
		if at < v.to && r.Body[at] == ',' {
			at = space(r.Body, at+1)
		}
	}
	return h.Said()
}

// hearMessage hears the message at i, of the dialects chat or messages, or a delta
// of one.
func hearMessage(h *engine.Hearing, b []byte, i int) {
	if b[i] != '{' {
		return
	}
	var content, calls span
	for w := walk(b, i); w.next(); {
		switch string(w.name()) {
		case "content":
			content = w.span()
		case "tool_calls":
			calls = w.span()
		}
	}
	hearContent(h, b, content)
	if !calls.found() || b[calls.from] != '[' {
		return
	}
	s := scanner{b: b}
	for e := each(&s, calls.from, 1, false); e.next(); {
		if b[e.from] != '{' {
			continue
		}
		for w := walk(b, e.from); w.next(); {
			if w.is("id") {
				id, _ := textOf(b, w.span())
				h.Call(id)
			}
		}
	}
}

// hearItem hears the item at i of a response's output, or of an input.
func hearItem(h *engine.Hearing, b []byte, i int) {
	if b[i] != '{' {
		return
	}
	var kind, content, call span
	for w := walk(b, i); w.next(); {
		switch string(w.name()) {
		case "type":
			kind = w.span()
		case "content":
			content = w.span()
		case "call_id":
			call = w.span()
		}
	}
	name, _ := textOf(b, kind)
	switch {
	case string(name) == "message", len(name) == 0:
		hearContent(h, b, content)
	case bytes.HasSuffix(name, []byte("_call")):
		id, _ := textOf(b, call)
		h.Call(id)
	}
}

// hearContent hears a message's content: a text, or its blocks.
func hearContent(h *engine.Hearing, b []byte, v span) {
	if !v.found() {
		return
	}
	if text, ok := textOf(b, v); ok {
		h.Text(text)
		return
	}
	if b[v.from] != '[' {
		return
	}
	s := scanner{b: b}
	for e := each(&s, v.from, 1, false); e.next(); {
		if b[e.from] == '{' {
			hearBlock(h, b, e.from)
		} else if text, ok := textOf(b, span{e.from, e.to}); ok {
			h.Text(text)
		}
	}
}

// hearBlock hears the block at i of a content. What is neither text nor a call of a
// tool, such as reasoning or a refusal, is left out.
func hearBlock(h *engine.Hearing, b []byte, i int) {
	var kind, text, id span
	for w := walk(b, i); w.next(); {
		switch string(w.name()) {
		case "type":
			kind = w.span()
		case "text":
			text = w.span()
		case "id":
			id = w.span()
		}
	}
	name, _ := textOf(b, kind)
	switch string(name) {
	case "text", "output_text", "input_text", "":
		piece, _ := textOf(b, text)
		h.Text(piece)
	case "tool_use":
		call, _ := textOf(b, id)
		h.Call(call)
	}
}

// hearAnswer is what a whole answer says; the object is valid JSON.
func hearAnswer(api catalog.API, b []byte, object span) engine.Said {
	var h engine.Hearing
	switch api {
	case catalog.Messages:
		hearMessage(&h, b, object.from)
	case catalog.Responses:
		hearOutput(&h, b, object.from)
	default:
		hearChoices(&h, b, object.from, "message")
	}
	return h.Said()
}

// hearOutput hears the output of the response at i; some says that it has any.
func hearOutput(h *engine.Hearing, b []byte, i int) (some bool) {
	var output span
	for w := walk(b, i); w.next(); {
		if w.is("output") {
			output = w.span()
		}
	}
	if !output.found() || b[output.from] != '[' {
		return false
	}
	s := scanner{b: b}
	for e := each(&s, output.from, 1, false); e.next(); some = true {
		hearItem(h, b, e.from)
	}
	return some
}

// hearChoices hears the choice of index 0 of the chat answer or chunk at i, under
// the name of what it holds.
func hearChoices(h *engine.Hearing, b []byte, i int, holds string) {
	var choices span
	for w := walk(b, i); w.next(); {
		if w.is("choices") {
			choices = w.span()
		}
	}
	if !choices.found() || b[choices.from] != '[' {
		return
	}
	s := scanner{b: b}
	n := 0
	for e := each(&s, choices.from, 1, false); e.next(); n++ {
		if b[e.from] != '{' {
			continue
		}
		index, message := n, span{}
		for w := walk(b, e.from); w.next(); {
			switch {
			case w.is("index"):
				index = smallNumber(w.span().of(b))
			case w.is(holds):
				message = w.span()
			}
		}
		if index == 0 && message.found() {
			hearMessage(h, b, message.from)
		}
	}
}

// listener hears a stream.
type listener struct {
	engine.Hearing
	whole *engine.Hearing // of the responses dialect: what its last event repeats; nil if that repeats nothing
}

// hear hears an event of a stream.
func (l *listener) hear(api catalog.API, e *event) {
	if start := space(e.data, 0); start == len(e.data) || e.data[start] != '{' {
		return
	}
	switch api {
	case catalog.Messages:
		l.messages(e)
	case catalog.Responses:
		l.responses(e)
	default:
		hearChoices(&l.Hearing, e.data, space(e.data, 0), "delta")
	}
}

func (l *listener) messages(e *event) {
	name := kind(e)
	if name != "content_block_start" && name != "content_block_delta" {
		return
	}
	var block, delta span
	for w := object(e.data); w.next(); {
		switch string(w.name()) {
		case "content_block":
			block = w.span()
		case "delta":
			delta = w.span()
		}
	}
	switch {
	case name == "content_block_start":
		if block.found() && e.data[block.from] == '{' {
			hearBlock(&l.Hearing, e.data, block.from)
		}
	case delta.found() && e.data[delta.from] == '{':
		var kind, text span
		for w := walk(e.data, delta.from); w.next(); {
			switch string(w.name()) {
			case "type":
				kind = w.span()
			case "text":
				text = w.span()
			}
		}
		if name, _ := textOf(e.data, kind); string(name) == "text_delta" {
			piece, _ := textOf(e.data, text)
			l.Text(piece)
		}
	}
}

func (l *listener) responses(e *event) {
	name := kind(e)
	last := terminal(name)
	if !last && name != "response.output_text.delta" && name != "response.output_item.done" {
		return
	}
	for w := object(e.data); w.next(); {
		switch {
		case last && w.is("response") && e.data[w.from] == '{':
			var whole engine.Hearing
			if hearOutput(&whole, e.data, w.from) {
				l.whole = &whole
			}
		case w.is("delta") && !last:
			piece, _ := textOf(e.data, w.span())
			l.Text(piece)
		case w.is("item") && !last:
			hearCall(&l.Hearing, e.data, w.from)
		}
	}
}

// hearCall is hearItem for an item whose text was heard already.
func hearCall(h *engine.Hearing, b []byte, i int) {
	if b[i] != '{' {
		return
	}
	for w := walk(b, i); w.next(); {
		if w.isText("message") && w.is("type") {
			return
		}
	}
	hearItem(h, b, i)
}

// said is what was heard.
func (l *listener) said() engine.Said {
	if l.whole != nil {
		return l.whole.Said()
	}
	return l.Said()
}

// Said is what the assistant said, where [RelayOptions.Hears] asks for it and the
// answer is over and whole; else nothing.
func (r *Relay) Said() engine.Said {
	if r.heard == nil || !r.done || r.lost || r.failed != nil {
		return engine.Said{}
	}
	return r.heard.said()
}
