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
		r.failed = first(r.failed, errorEvent(e.data, name == "error"))
		return
	case name == "response.output_item.done":
		if v := (span{space(e.data, 0), len(e.data)}); e.data[v.from] == '{' {
			r.notice(e.data, v)
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
		if name == "response.failed" {
			r.failed = first(r.failed, &StreamError{})
		}
		return
	}
	if last && len(r.made.list()) == 0 {
		r.notice(e.data, response) // a vendor may leave out the events of items
	}
	a := r.answer(e.data, response)
	if name == "response.failed" {
		r.failed = first(r.failed, streamError(e.data, a.failure))
	}
	if last && a.members > 0 {
		r.metadata(e, a.last)
	}
}
