package wire

import (
	"bytes"

	"github.com/warmroute/warmroute/catalog"
)

// StreamError is an error event. Both parts are the vendor's words and may be empty.
type StreamError struct{ Type, Message string }

// watch is what a relay has seen of its stream.
type watch struct {
	began    bool
	done     bool
	finished bool // a finish_reason or stop_reason has come
	final    bool // usage came with it or after it
	lost     bool // an event was too long to read
	placed   bool // the metadata is in
	failed   *StreamError
	tally    tally
	model    string
	tier     string
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
	r.first = true
	data := bytes.TrimSpace(e.data)
	if len(data) == 0 {
		return true
	}
	if string(data) == "[DONE]" {
		if r.o.API == catalog.Chat {
			r.began, r.done = true, true
		}
		return r.o.API != catalog.Messages
	}
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

// The words whose absence from the bytes spares an event its parsing. Inside a
// JSON string the quotes would be escaped, so a match is a whole string.
var (
	wordUsage  = []byte(`"usage"`)
	wordFinish = []byte(`"finish_reason"`)
	wordError  = []byte(`"error"`)
	wordModel  = []byte(`"model"`)
)

// holds says whether a member of this name, at any depth, has a value other
// than null, and where the first that is null stands: its key and the end of null.
func holds(data, word []byte) (some bool, null span) {
	for from := 0; ; {
		i := bytes.Index(data[from:], word)
		if i < 0 {
			return false, null
		}
		i += from
		from = i + len(word)
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

// chat reads a chunk.
func (r *Relay) chat(e *event) bool {
	r.began = true
	data := e.data
	usage, null := holds(data, wordUsage)
	finish := false
	if !r.finished {
		finish, _ = holds(data, wordFinish)
	}
	named := string(e.name) == "error"
	if null.found() && r.o.HideUsage {
		at := null.from - 1
		for at > 0 && data[at] != ',' && data[at] != '{' {
			at--
		}
		simple := !usage && !finish && at > 0 && data[at] == ',' && len(bytes.TrimSpace(data[at+1:null.from])) == 0
		if simple && topLevel(data, null.to) && r.model != "" && !bytes.Contains(data, wordError) {
			r.remove(e, at, null.to)
			return true
		}
		usage = true
	}
	if !usage && !finish && !named && !bytes.Contains(data, wordError) && (r.model != "" || !bytes.Contains(data, wordModel)) {
		return true
	}
	var usageAt, next member
	var count int
	var choices, failure, last span
	var model, tier string
	hasMetadata := false
	w := object(data)
	for w.next() {
		if count++; count == 2 {
			next = w.member
		}
		last = w.span()
		switch string(w.name()) {
		case "usage":
			usageAt = w.member
		case "choices":
			choices = w.span()
		case "error":
			failure = w.span()
		case "model":
			model = r.word(data, w.span())
		case "service_tier":
			tier = r.word(data, w.span())
		case "provider_metadata":
			hasMetadata = true
		}
	}
	if !w.closed() {
		return true
	}
	r.served(model, tier)
	switch {
	case failure.found() && data[failure.from] != 'n':
		r.fail(data, failure)
	case named:
		r.fail(data, span{space(data, 0), w.end})
	}
	ended, empty := choicesOf(data, choices)
	r.finished = r.finished || ended
	if usageAt.to > 0 {
		r.count(data, usageAt.span())
		if r.o.HideUsage {
			reports := data[usageAt.from] != 'n'
			if empty && (reports || count == 1) && r.failed == nil {
				return false
			}
			switch {
			case usageAt.key != firstKey(data):
				r.remove(e, usageAt.before, usageAt.to)
			case count > 1:
				r.remove(e, usageAt.key, next.key)
			default:
				r.remove(e, usageAt.key, usageAt.to)
			}
		}
	}
	if ended && !hasMetadata {
		r.metadata(e, last.to, false)
	}
	return true
}

// firstKey is the offset of an object's first key.
func firstKey(data []byte) int { return space(data, space(data, 0)+1) }

// choicesOf says whether a choice has its finish_reason, and whether there is none.
func choicesOf(data []byte, v span) (ended, empty bool) {
	if !v.found() || data[v.from] != '[' {
		return false, true
	}
	empty = true
	s := scanner{b: data}
	for c := each(&s, v.from, 1, false); c.next(); {
		empty = false
		if data[c.from] != '{' {
			continue
		}
		for w := walk(data, c.from); w.next(); {
			if w.is("finish_reason") && !w.isNull() {
				ended = true
			}
		}
	}
	return ended, empty
}

// count merges a usage object into what was reported so far.
func (r *Relay) count(data []byte, v span) {
	r.tally.read(r.conv, data, v)
	if r.finished && data[v.from] == '{' {
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

// fail notes the first error event. v is an error object or its text.
func (r *Relay) fail(data []byte, v span) {
	if r.failed != nil {
		return
	}
	r.failed = streamError(data, v)
}

func streamError(data []byte, v span) *StreamError {
	var f StreamError
	if text, ok := textOf(data, v); ok {
		f.Message = string(text)
	}
	if !v.found() || data[v.from] != '{' {
		return &f
	}
	var kind, code string
	for w := walk(data, v.from); w.next(); {
		text, ok := textOf(data, w.span())
		switch string(w.name()) {
		case "type":
			kind = string(text)
		case "code":
			code = string(text)
			if !ok && !w.isNull() {
				code = string(w.span().of(data))
			}
		case "message":
			f.Message = string(text)
		}
	}
	if f.Type = kind; kind == "" || kind == "error" && code != "" {
		f.Type = code
	}
	return &f
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
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.function_call_arguments.delta":
		return "response.function_call_arguments.delta"
	}
	return string(name)
}

// messages reads an event of the messages dialect.
func (r *Relay) messages(e *event) {
	name := kind(e)
	if len(e.name) == 0 && name != "" && plainName(name) {
		// The official clients go by the event line and see nothing without it.
		line := append(append([]byte("event: "), name...), e.eol...)
		if len(e.eol) == 0 {
			line = append(line, '\n')
		}
		r.edits = append(r.edits, change{e.at, e.at, line})
	}
	if name == "ping" {
		return
	}
	r.began = true
	switch name {
	case "message_start", "message_delta", "error", "":
	case "message_stop":
		r.done = true
		return
	default:
		return
	}
	var usage, message, delta, failure, last span
	count, hasMetadata := 0, false
	w := object(e.data)
	for w.next() {
		count++
		last = w.span()
		switch string(w.name()) {
		case "usage":
			usage = w.span()
		case "message":
			message = w.span()
		case "delta":
			delta = w.span()
		case "error":
			failure = w.span()
		case "provider_metadata":
			hasMetadata = true
		}
	}
	if !w.closed() {
		return
	}
	switch {
	case name == "error" || name == "" && failure.found():
		r.fail(e.data, failure)
	case name == "message_start":
		if message.found() && e.data[message.from] == '{' {
			r.answer(e.data, message)
		}
	case name == "message_delta":
		r.finished = r.finished || stopped(e.data, delta)
		if usage.found() {
			r.count(e.data, usage)
			r.served("", usageTier(e.data, usage))
		}
		if !hasMetadata {
			r.metadata(e, last.to, count == 0)
		}
	}
}

// plainName says whether a type may stand on an event line.
func plainName(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' {
			return false
		}
	}
	return len(name) <= 128
}

// stopped says whether a message_delta's delta names its stop_reason.
func stopped(data []byte, v span) bool {
	if !v.found() || data[v.from] != '{' {
		return false
	}
	for w := walk(data, v.from); w.next(); {
		if w.is("stop_reason") && !w.isNull() {
			return true
		}
	}
	return false
}

// usageTier is the service tier that the messages dialect keeps in its usage.
func usageTier(data []byte, v span) string {
	if data[v.from] != '{' {
		return ""
	}
	for w := walk(data, v.from); w.next(); {
		if text, ok := textOf(data, w.span()); ok && w.is("service_tier") {
			return string(text)
		}
	}
	return ""
}

// seenAnswer is what an object that describes an answer says besides its usage.
type seenAnswer struct {
	last        int // end of its last member
	members     int
	hasMetadata bool
	failure     span
}

// answer reads the object that describes an answer: a message, a response.
func (r *Relay) answer(data []byte, v span) seenAnswer {
	var a seenAnswer
	for w := walk(data, v.from); w.next(); {
		a.last = w.to
		a.members++
		switch string(w.name()) {
		case "usage":
			r.count(data, w.span())
			r.served("", usageTier(data, w.span()))
		case "model":
			r.served(r.word(data, w.span()), "")
		case "service_tier":
			r.served("", r.word(data, w.span()))
		case "provider_metadata":
			a.hasMetadata = true
		case "error":
			a.failure = w.span()
		}
	}
	return a
}

// responses reads an event of the responses dialect.
func (r *Relay) responses(e *event) {
	name := kind(e)
	if name == "ping" || name == "keepalive" {
		return
	}
	r.began = true
	last := terminal(name)
	switch {
	case last:
		r.done, r.finished = true, true
	case name == "error" || name == "":
		if failure, ok := responsesError(e.data, name); ok && r.failed == nil {
			r.failed = failure
		}
		return
	case name == "response.created" || name == "response.in_progress":
	default:
		return
	}
	var response span
	w := object(e.data)
	for w.next() {
		if w.is("response") && e.data[w.from] == '{' {
			response = w.span()
		}
	}
	if !w.closed() || !response.found() {
		if name == "response.failed" && r.failed == nil {
			r.failed = &StreamError{}
		}
		return
	}
	a := r.answer(e.data, response)
	if name == "response.failed" {
		r.fail(e.data, a.failure)
	}
	if last && !a.hasMetadata && a.members > 0 {
		r.metadata(e, a.last, false)
	}
}

// responsesError reads an error event, whose error stands at its top or, at
// some vendors, in an object of its own.
func responsesError(data []byte, name string) (failure *StreamError, ok bool) {
	var inner span
	w := object(data)
	for w.next() {
		if w.is("error") && !w.isNull() {
			inner = w.span()
		}
	}
	switch {
	case !w.closed():
		return &StreamError{}, name == "error"
	case inner.found():
		return streamError(data, inner), true
	case name == "error":
		start := space(data, 0)
		return streamError(data, span{start, w.end}), start > 0 || name == "error"
	}
	return nil, false
}
