package wire

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
	if last && a.members > 0 {
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
