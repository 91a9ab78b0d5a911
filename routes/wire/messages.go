package wire

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
	case "message_start", "message_delta":
	case "content_block_start", "content_block_delta", "content_block_stop":
		r.block(name, e.data)
		return
	case "error", "":
		r.failed = first(r.failed, errorEvent(e.data, name == "error"))
		return
	case "message_stop":
		r.done = true
		return
	default:
		return
	}
	var message, delta, last span
	var found usageSpans
	w := object(e.data)
	for w.next() {
		last = w.span()
		found.find(r.conv, &w)
		switch string(w.name()) {
		case "message":
			message = w.span()
		case "delta":
			delta = w.span()
		}
	}
	if !w.closed() {
		return
	}
	r.boxed(e.data, message)
	r.boxed(e.data, delta)
	switch name {
	case "message_start":
		if message.found() && e.data[message.from] == '{' {
			r.answer(e.data, message)
		}
	case "message_delta":
		stops := stopped(e.data, delta)
		r.finished = r.finished || stops
		r.countAll(e.data, &found)
		if stops {
			r.metadata(e, last.to)
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
		if w.is("stop_reason") && filled(data, w.span()) {
			return true
		}
	}
	return false
}
