package wire

import "bytes"

// chat reads a chunk.
func (r *Relay) chat(e *event) bool {
	r.began = true
	data := e.data
	if names(data, wordDetails) {
		r.notice(data, span{space(data, 0), len(data)})
	}
	usage, null := holds(data, wordUsage)
	usage = usage || r.announced(data)
	finish := false
	if !r.finished {
		finish, _ = holds(data, wordFinish)
	}
	named := string(e.name) == "error"
	parse := finish || named || !r.choices.lone(data) || !closesObject(data)
	if null.found() && r.o.HideUsage {
		if !usage && !parse && r.cutNull(e, null) {
			return true
		}
		usage = true
	}
	if !usage && !parse && !names(data, wordError) && (r.model != "" || !names(data, wordModel)) {
		return true
	}
	c, ok := r.chunk(data)
	if !ok {
		if named {
			r.failed = first(r.failed, spoken(data))
		}
		r.choices.unclear = r.choices.unclear || data[c.whole.from] == '{'
		r.finished = r.finished && !r.choices.unclear
		return true
	}
	failure := c.failing.error(data, c.whole)
	if named && failure == nil {
		failure = streamError(data, c.whole)
	}
	r.failed = first(r.failed, failure)
	ended, empty := r.choices.read(data, c.choices)
	r.finished = r.choices.over()
	r.countAll(data, &c.found)
	if c.usage.to > 0 && r.o.HideUsage {
		reports := data[c.usage.from] != 'n'
		if empty && !c.more && (reports || c.members == 1) && r.failed == nil {
			return false
		}
		r.hide(e, &c)
	}
	if ended {
		r.metadata(e, c.last)
	}
	return true
}

// chunk is what stands at the top of a chat chunk.
type chunk struct {
	failing
	whole   span
	usage   member     // which may have to be hidden
	found   usageSpans // which says what was used
	choices span
	second  int  // of the second member's key
	last    int  // end of the last member
	members int  // how many there are
	more    bool // there is something beside what every chunk has and usage
}

// chunk reads a chunk's top; ok is false if it is no JSON object.
func (r *Relay) chunk(data []byte) (c chunk, ok bool) {
	var model, tier string
	c.whole.from = space(data, 0)
	w := walk(data, c.whole.from)
	for w.next() {
		if c.members++; c.members == 2 {
			c.second = w.member.key
		}
		c.last = w.to
		c.see(&w)
		c.found.find(r.conv, &w)
		switch string(w.name()) {
		case "usage":
			c.usage = w.member
		case "choices":
			c.choices = w.span()
		case "model":
			model = r.word(data, w.span())
		case "service_tier":
			tier = r.word(data, w.span())
		case "id", "object", "created", "system_fingerprint":
		case "obfuscation": // padding, which hides how long the chunk would be
		default:
			c.more = c.more || !w.isNull()
		}
	}
	if !w.closed() {
		return c, false
	}
	c.whole.to = w.end
	r.served(model, tier)
	return c, true
}

// hide cuts a chunk's usage out.
func (r *Relay) hide(e *event, c *chunk) {
	switch {
	case c.usage.key != firstKey(e.data):
		r.remove(e, c.usage.before, c.usage.to)
	case c.members > 1:
		r.remove(e, c.usage.key, c.second)
	default:
		r.remove(e, c.usage.key, c.usage.to)
	}
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

// closesObject says whether a chunk ends as an object does; what is cut rarely does.
func closesObject(data []byte) bool {
	data = bytes.TrimSpace(data)
	return data[len(data)-1] == '}'
}

// firstKey is the offset of an object's first key.
func firstKey(data []byte) int { return space(data, space(data, 0)+1) }
