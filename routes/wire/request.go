package wire

import (
	"bytes"
	"fmt"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// RefusedError is a request body that cannot be routed: not JSON, a routing key
// twice, escaped or in another case, a member of the wrong type, no model. Its
// text is for the client and repeats none of the body's values.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }

func refused(format string, args ...any) error {
	return &RefusedError{Message: fmt.Sprintf(format, args...)}
}

// Request is a client's body and the offsets of what routing looks at. It
// refers to the body's bytes, which must not change while it is in use. Once
// read it is not changed and may be used from several goroutines.
type Request struct {
	API    catalog.API
	Body   []byte
	Stream bool
	// UsageAsked: the client set stream_options.include_usage itself, to UsageWanted.
	UsageAsked, UsageWanted bool

	facts       engine.Request
	top         []member      // every member of the body, in order
	which       []field       // what each of them is, parallel to top
	at          [fields]int16 // index into top plus one; 0 where the body has none
	options     streamOptions
	cachingSaid bool // whether markers are to be placed was said
	opener      opener
	state       stateful
	own         []OwnKey
	byok        span // what to cut of providerOptions so that the caller's keys do not go on
	turns       turns
	room        [24]member // what top is made of in an ordinary body
	names       [24]field
}

// streamOptions is where stream_options can be edited.
type streamOptions struct {
	null span // an include_usage that is null
	last int  // end of the last member; just after the brace of an empty object
	some bool // the object has a member
}

// opener is where the conversation begins.
type opener struct {
	system span // first message of the system or a developer
	first  span // first message of anyone else
	user   span // first message of a user
	last   span // last turn of the assistant
	tools  int
}

// ReadRequest reads a body in one pass; the error is a *RefusedError.
//
// The body must be one strict JSON object: UTF-8, nested at most 128 deep,
// nothing after it. Members that routing looks at may stand in it once, spelled
// plainly: what one reader takes for the model and another does not would let a
// client be billed for one model and run another.
func ReadRequest(api catalog.API, body []byte) (*Request, error) {
	r := &Request{API: api, Body: body}
	r.top, r.which = r.room[:0], r.names[:0]
	if err := r.scan(); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// Facts is what the body says that a decision depends on. Tenant and Header are left to the caller.
func (r *Request) Facts() engine.Request { return r.facts }

// value is the span of a member's value; none if the body lacks it or it is null.
func (r *Request) value(f field) span {
	n := r.at[f]
	if n == 0 {
		return span{}
	}
	v := r.top[n-1].span()
	if r.Body[v.from] == 'n' {
		return span{}
	}
	return v
}

// maxMembers is how many members a body may have; real ones have some twenty.
const maxMembers = 1024

// scan is the one pass: it validates, counts and finds offsets.
func (r *Request) scan() error {
	start := space(r.Body, 0)
	switch {
	case start == len(r.Body):
		return refused("the body is empty; send a JSON object")
	case r.Body[start] != '{':
		return refused("the body is not a JSON object")
	}
	w := walk(r.Body, start)
	w.state = &r.state
	for w.nextKey() {
		raw := r.Body[w.member.key+1 : w.keyEnd]
		f, plain := lookup(raw, w.escaped)
		if f != unknown {
			switch {
			case !plain:
				return refused("%q must be spelled exactly so, without escapes", fieldNames[f])
			case r.at[f] != 0:
				return refused("%q stands in the body twice; send it once", fieldNames[f])
			}
			r.at[f] = int16(len(r.top) + 1)
		}
		if len(r.top) == maxMembers {
			return refused("the body has more than %d members", maxMembers)
		}
		text := w.text
		if !r.scanField(&w, f) {
			break
		}
		if f == fieldTools || f == fieldSystem || f == fieldInstructions {
			r.turns.stable += w.text - text
		}
		r.top, r.which = append(r.top, w.member), append(r.which, f)
	}
	if w.end == 0 {
		return refused("the body is not valid JSON: %s (at byte %d)", w.fault, w.bad)
	}
	if end := space(r.Body, w.end); end != len(r.Body) {
		return refused("the body is not valid JSON: something follows the object (at byte %d)", end)
	}
	r.facts.TextBytes, r.facts.Markers, r.facts.MarkerTTL = w.text, w.markers, w.ttl
	r.facts.LongMarkers = w.hours
	r.facts.History, r.facts.StableBytes = r.turns.history, r.turns.stable
	return nil
}

// scanField scans the value of one top-level member.
func (r *Request) scanField(w *members, f field) bool {
	switch f {
	case fieldMessages, fieldInput:
		if w.from < len(w.b) && w.b[w.from] == '[' {
			return r.scanMessages(w)
		}
		return w.scanValue(true)
	case fieldTools:
		if w.from < len(w.b) && w.b[w.from] == '[' {
			e := each(&w.scanner, w.from, w.depth+1, true)
			for e.next() {
				r.opener.tools++
			}
			w.to, w.at = e.end, e.end
			return e.end > 0
		}
		return w.scanValue(true)
	case fieldSystem, fieldInstructions:
		return w.scanValue(true)
	case fieldCacheControl:
		// Of what stands in it only its own type and ttl count.
		text, markers, ttl, hours := w.text, w.markers, w.ttl, w.hours
		if !w.scanValue(true) {
			return false
		}
		w.text, w.markers, w.ttl, w.hours = text, markers, ttl, hours
		if w.b[w.from] == '{' {
			w.mark()
		}
		return true
	}
	return w.scanValue(false)
}

// scanMessages scans the messages of a conversation and notes its opening and its
// last assistant turn: in the API responses the last items that follow each other
// and are the model's, elsewhere the last message of the assistant.
func (r *Request) scanMessages(w *members) bool {
	e := each(&w.scanner, w.from, w.depth+1, true)
	r.turns.text = w.text
	said := false // the item before this one is the model's
	for w.role = (span{}); e.next(); w.role = (span{}) {
		at, before := span{e.from, e.to}, said
		role := unescaped(w.role.of(w.b))
		r.turns.see(role, at, w.text)
		said = string(role) == "assistant" || !w.role.found() && r.API == catalog.Responses && isOutput(&w.scanner, e.from)
		if said {
			if !before || r.API != catalog.Responses {
				r.opener.last.from = at.from
			}
			r.opener.last.to = at.to
		}
		switch {
		case !w.role.found():
		case string(role) == "system", string(role) == "developer":
			if !r.opener.system.found() {
				r.opener.system = at
			}
		default:
			if string(role) == "user" && !r.opener.user.found() {
				r.opener.user = at
			}
			if !r.opener.first.found() {
				r.opener.first = at
			}
		}
	}
	w.to, w.at = e.end, e.end
	return e.end > 0
}

// isOutput says whether the item at i, which was scanned last, is one that a model
// made beside its messages: a call, its reasoning. What answers a call, refers to
// another item or is of no type is none.
func isOutput(s *scanner, i int) bool {
	if s.b[i] != '{' {
		return false
	}
	switch kind, _ := s.short(s.kind); {
	case len(kind) == 0, bytes.HasSuffix(kind, []byte("_output")), bytes.HasSuffix(kind, []byte("_response")):
		return false
	case string(kind) == "item_reference", bytes.HasPrefix(kind, []byte("input_")):
		return false
	}
	return true
}
