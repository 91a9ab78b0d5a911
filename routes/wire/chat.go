package wire

import "bytes"

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
		if !usage && !finish && !named && r.cutNull(e, null) {
			return true
		}
		usage = true
	}
	if !usage && !finish && !named && !names(data, wordError) && (r.model != "" || !names(data, wordModel)) {
		return true
	}
	var usageAt, next member
	var count int
	var choices, failure, last span
	var model, tier string
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
	if ended {
		r.metadata(e, last.to, false)
	}
	return true
}

// cutNull cuts out the "usage":null that every chunk of an asked-for stream
// carries, at null, without parsing the chunk. It leaves alone what is not as
// simple as that.
func (r *Relay) cutNull(e *event, null span) bool {
	data := e.data
	before := bytes.TrimRight(data[:null.from], " \t\r\n")
	if len(before) == 0 || before[len(before)-1] != ',' || r.model == "" {
		return false
	}
	if names(data, wordError) || !topLevel(data, null.to) {
		return false
	}
	r.remove(e, len(before)-1, null.to)
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
