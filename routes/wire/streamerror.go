package wire

import "bytes"

// StreamError is an error that a vendor put into an answer it had accepted: an
// event of a stream, or a whole JSON answer. All parts are the vendor's words
// and may be empty.
type StreamError struct {
	Type    string // its type; its code where it has no type of its own
	Code    string // its code; a number is given as it is written
	Message string
}

// answerError is the error that a whole JSON answer is, nil where it is none:
// some vendors say 200 and put the failure into the body. It is one if `error`
// at its top is a string or an object that is not empty, or if its `type` or
// `object` is "error". A body that is no JSON object is no error of this kind, and
// then object, where the answer lies in its body, is not found.
func answerError(body []byte) (e *StreamError, object span) {
	start := space(body, 0)
	if start == len(body) || body[start] != '{' {
		return nil, span{}
	}
	var f failing
	w := walk(body, start)
	for w.next() {
		f.see(&w)
	}
	if !w.closed() {
		return nil, span{}
	}
	object = span{start, w.end}
	return f.error(body, object), object
}

// failing is what the top of an answer or of an event says of a failure.
type failing struct {
	inner span // the value of its error member, if that says anything
	named bool // its type or its object is "error"
}

// see looks at one member of the object.
func (f *failing) see(w *members) {
	switch string(w.name()) {
	case "error":
		if says(w.b, w.span()) {
			f.inner = w.span()
		}
	case "type", "object":
		f.named = f.named || w.isText("error")
	}
}

// error is the error that the object at v is, nil if it is none.
func (f *failing) error(data []byte, v span) *StreamError {
	switch {
	case f.inner.found():
		return streamError(data, f.inner)
	case f.named:
		return streamError(data, v)
	}
	return nil
}

// says whether an error member's value says anything: vendors send null, an
// empty string and an empty object where there is no error.
func says(data []byte, v span) bool {
	return filled(data, v) || data[v.from] == '{' && data[space(data, v.from+1)] != '}'
}

// filled says whether a value is a string that is not empty.
func filled(data []byte, v span) bool { return data[v.from] == '"' && v.to-v.from > len(`""`) }

// errorEvent is the error that an event is, nil if it is none. named says that
// its name is error: then it is one whatever its data.
func errorEvent(data []byte, named bool) *StreamError {
	var f failing
	w := object(data)
	for w.next() {
		f.see(&w)
	}
	if !w.closed() {
		if named {
			return spoken(data)
		}
		return nil
	}
	v := span{space(data, 0), w.end}
	if failure := f.error(data, v); failure != nil || !named {
		return failure
	}
	return streamError(data, v)
}

// maxSpoken is how much of an error is kept that is no JSON object.
const maxSpoken = 1 << 10

// spoken is an error whose data is no JSON object but a text.
func spoken(data []byte) *StreamError {
	data = bytes.TrimSpace(data)
	s := scanner{b: data}
	if len(data) > 0 && data[0] == '"' && s.value(0, 0, false) == len(data) {
		data, _ = textOf(data, span{0, len(data)})
	}
	return &StreamError{Message: string(bytes.ToValidUTF8(data[:min(len(data), maxSpoken)], []byte("\ufffd")))}
}

// first is the error that came first.
func first(known, now *StreamError) *StreamError {
	if known != nil {
		return known
	}
	return now
}

// streamError reads an error object, or the text that stands in its place.
func streamError(data []byte, v span) *StreamError {
	var f StreamError
	if text, ok := textOf(data, v); ok {
		f.Message = string(text)
	}
	if !v.found() || data[v.from] != '{' {
		return &f
	}
	for w := walk(data, v.from); w.next(); {
		text, isText := textOf(data, w.span())
		switch string(w.name()) {
		case "type":
			f.Type = string(text)
		case "code":
			if f.Code = string(text); !isText && !w.isNull() {
				f.Code = string(bytes.TrimSpace(w.span().of(data)))
			}
		case "message":
			f.Message = string(text)
		}
	}
	if f.Type == "" || f.Type == "error" && f.Code != "" {
		f.Type = f.Code
	}
	return &f
}
