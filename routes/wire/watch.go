package wire

import (
	"bytes"

	"github.com/warmroute/warmroute/catalog"
)

// watch is what a relay has seen of its stream.
type watch struct {
	began    bool
	done     bool
	finished bool // every choice has its finish_reason, or a stop_reason has come
	final    bool // usage with the output came with it or after it
	lost     bool // an event was too long to read
	placed   bool // the stream carries metadata: ours, or another gateway's
	failed   *StreamError
	choices  choices
	tally    tally
	words    []word // in which usage may be announced, besides "usage"
	model    string
	tier     string
	id       string    // of a response
	heard    *listener // nil: nobody wants to know what is said
	made     making
	edits    changes
	joined   []byte
	pieces   []piece
}

// terminal says whether an event of this name is the last of its dialect.
func terminal(name string) bool {
	switch name {
	case "message_stop", "response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}

// look reads one event and notes its edits; false means it is left out.
func (r *Relay) look(b []byte) bool {
	e := r.parse(b)
	if e.lines > maxLines {
		r.lose(b)
		r.closed()
		return true
	}
	r.first = true
	data := bytes.TrimSpace(e.data)
	switch {
	case len(data) > 0:
	case string(e.name) == "error":
		r.began, r.failed = true, first(r.failed, &StreamError{})
		return true
	default:
		return true
	}
	if bytes.Equal(data, doneMark) {
		if r.o.API == catalog.Chat {
			r.began, r.done = true, true
		}
		return r.o.API != catalog.Messages
	}
	if r.heard != nil {
		r.heard.hear(r.o.API, &e)
	}
	r.placed = r.placed || r.o.Metadata != nil && carriesMetadata(e.data)
	switch r.o.API {
	case catalog.Messages:
		r.messages(&e)
	case catalog.Responses:
		r.responses(&e)
	default:
		return r.chat(&e)
	}
	return true
}

// word is a name that is searched in an event's bytes. It is searched without
// its opening quote, which is the commonest byte in JSON, and from its rarest
// part on, because the search stops at each byte that may begin it.
type word struct {
	text []byte // with its closing quote
	rare int    // where in it the search begins
}

// The words whose absence from the bytes spares an event its parsing.
var (
	wordUsage  = word{[]byte(`usage"`), 0}
	wordFinish = word{[]byte(`finish_reason"`), len("finish")}
	wordError  = word{[]byte(`error"`), 1}
	wordModel  = word{[]byte(`model"`), 0}
	wordIndex  = word{[]byte(`index"`), 0} // of a choice or a tool call
	wordOurs   = word{[]byte(`provider_metadata"`), len("pro")}
)

// carriesMetadata says whether an answer or a part of one carries
// provider_metadata already, as a chained gateway's does: at its top, or where
// it describes the answer or a choice.
func carriesMetadata(data []byte) bool {
	start := space(data, 0)
	return names(data, wordOurs) && start < len(data) && data[start] == '{' && holdsMetadata(data, start, 2)
}

// holdsMetadata looks into the object at i and into so many levels of what
// describes an answer in it: a delta of a choice is the second.
func holdsMetadata(data []byte, i, levels int) bool {
	for w := walk(data, i); w.next(); {
		switch string(w.name()) {
		case "provider_metadata":
			return true
		case "response", "message", "delta":
			if levels > 0 && data[w.from] == '{' && holdsMetadata(data, w.from, levels-1) {
				return true
			}
		case "choices":
			if levels == 0 || data[w.from] != '[' {
				continue
			}
			s := scanner{b: data}
			for c := each(&s, w.from, 1, false); c.next(); {
				if data[c.from] == '{' && holdsMetadata(data, c.from, levels-1) {
					return true
				}
			}
		}
	}
	return false
}

// names says whether a string of this word stands in the bytes.
func names(data []byte, w word) bool { return nameAt(data, 0, w) >= 0 }

// nameAt is the offset of the first such string at or after from, -1 if there is none.
func nameAt(data []byte, from int, w word) int {
	for {
		i := bytes.Index(data[from:], w.text[w.rare:])
		if i < 0 {
			return -1
		}
		from += i + len(w.text) - w.rare
		if start := from - len(w.text); start > 0 && data[start-1] == '"' && bytes.HasPrefix(data[start:], w.text[:w.rare]) {
			return start - 1
		}
	}
}

// holds says whether a member of this name, at any depth, has a value other
// than null, and where the first that is null stands: its key to the end of null.
func holds(data []byte, w word) (some bool, null span) {
	for from := 0; ; {
		i := nameAt(data, from, w)
		if i < 0 {
			return false, null
		}
		from = i + 1 + len(w.text)
		at := space(data, from)
		if at >= len(data) || data[at] != ':' {
			continue
		}
		at = space(data, at+1)
		switch {
		case at >= len(data):
		case data[at] != 'n':
			return true, null
		case !null.found():
			null = span{i, min(at+len("null"), len(data))}
		}
	}
}

// topLevel says whether what follows offset i closes the object that is data,
// which makes the member that ends at i one of its own. It spares a chunk that
// repeats "usage":null its parsing.
func topLevel(data []byte, i int) bool {
	w := members{scanner: scanner{b: data}, member: member{to: i}, depth: 1, at: i, begun: true}
	for w.next() {
	}
	return w.closed()
}

// object starts to walk data's top level, white space before it allowed.
func object(data []byte) members { return walk(data, space(data, 0)) }

// closed says whether the walk ended at the end of data.
func (w *members) closed() bool { return w.end > 0 && space(w.b, w.end) == len(w.b) }

// wordsOf are the words that a place of usage objects ends with, where it is not
// "usage".
func wordsOf(c *catalog.Usage) []word {
	var words []word
	for _, place := range c.Places {
		if last := place[len(place)-1]; last != "usage" {
			words = append(words, word{[]byte(last + `"`), 0})
		}
	}
	return words
}

// announced says whether one of the words has a value other than null.
func (r *Relay) announced(data []byte) bool {
	for _, w := range r.words {
		if some, _ := holds(data, w); some {
			return true
		}
	}
	return false
}

// usageSpans are the usage objects found in one answer or event.
type usageSpans struct {
	at [4]span
	n  int
}

// find notes the usage objects in one member, where the convention has any there.
func (f *usageSpans) find(c *catalog.Usage, w *members) {
	for _, place := range c.Places {
		if !w.is(place[0]) {
			continue
		}
		if v := inside(w.b, w.span(), place[1:]); v.found() && f.n < len(f.at) {
			f.at[f.n] = v
			f.n++
		}
	}
}

// inside is the value that the names lead to, not found if there is none.
func inside(data []byte, v span, names []string) span {
	for _, name := range names {
		if data[v.from] != '{' {
			return span{}
		}
		w, next := walk(data, v.from), span{}
		for w.next() {
			if w.is(name) {
				next = w.span()
			}
		}
		if v = next; !v.found() {
			return v
		}
	}
	return v
}

// countAll merges what was found.
func (r *Relay) countAll(data []byte, f *usageSpans) {
	for _, v := range f.at[:f.n] {
		r.count(data, v)
	}
}

// count merges a usage object into what was reported so far.
func (r *Relay) count(data []byte, v span) {
	r.tally.read(r.conv, data, v)
	r.served("", r.tally.tier)
	if r.finished && r.tally.told {
		r.final = true
	}
}

// word is a string value's text; empty if it is none.
func (r *Relay) word(data []byte, v span) string {
	text, _ := textOf(data, v)
	switch string(text) {
	case r.model:
		return r.model
	case r.tier:
		return r.tier
	}
	return string(text)
}

func (r *Relay) served(model, tier string) {
	if model != "" {
		r.model = model
	}
	if tier != "" {
		r.tier = tier
	}
}

// kind is an event's type: its event line, else the `type` of its JSON.
func kind(e *event) string {
	if len(e.name) > 0 {
		return known(e.name)
	}
	const lead = `{"type":"`
	if bytes.HasPrefix(e.data, []byte(lead)) {
		rest := e.data[len(lead):]
		if n := bytes.IndexByte(rest, '"'); n > 0 && bytes.IndexByte(rest[:n], '\\') < 0 {
			return known(rest[:n])
		}
	}
	for w := object(e.data); w.next(); {
		if text, ok := textOf(e.data, w.span()); ok && w.is("type") {
			return known(text)
		}
	}
	return ""
}

// known is name as a string, without a copy for the events there are most of.
func known(name []byte) string {
	switch string(name) {
	case "content_block_delta":
		return "content_block_delta"
	case "message_delta":
		return "message_delta"
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.function_call_arguments.delta":
		return "response.function_call_arguments.delta"
	}
	return string(name)
}

// seenAnswer is what an object that describes an answer says besides its usage.
type seenAnswer struct {
	last    int // end of its last member
	members int
	failure span
}

// answer reads the object that describes an answer: a message, a response.
func (r *Relay) answer(data []byte, v span) seenAnswer {
	var a seenAnswer
	var found usageSpans
	for w := walk(data, v.from); w.next(); {
		a.last = w.to
		a.members++
		found.find(r.conv, &w)
		switch string(w.name()) {
		case "model":
			r.served(r.word(data, w.span()), "")
		case "service_tier":
			r.served("", r.word(data, w.span()))
		case "id":
			if text, ok := textOf(data, w.span()); ok && r.o.API == catalog.Responses && string(text) != r.id {
				r.id = string(text)
			}
		case "error":
			a.failure = w.span()
		}
	}
	r.countAll(data, &found)
	return a
}
