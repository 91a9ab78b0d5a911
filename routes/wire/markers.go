package wire

import (
	"bytes"
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Where markers are placed (`caching: auto`), and why there. The rules are those of
// Anthropic's documentation of prompt caching: a request may have four markers; each
// writes one entry, of the prompt up to its block, in the order tools, system,
// messages; each looks for an entry at its own block and at the 19 before it; and
// markers cost nothing by themselves.
//
//   - The last tool and the last block of the system text: what other conversations
//     share, and what is left where a conversation is cut back or summed up.
//   - The last block of the user's latest turn: all of this prompt is written, for the
//     next turn to read.
//   - The last block of the user's turn before. It is where the request before this one
//     had its last marker, so there is an entry at this very block, and none of the 20
//     blocks of the look-back is used up by what has come since: one turn of a tool loop
//     may add any number of calls and results.
//
// Both user turns are found at every step of a loop, as its results are the user's; a
// prompt that is sent again with another last turn finds the turn before, too.
//
// A marker moves along with the conversation: the message that had it one turn ago has
// it still, then no more. That is no change of the prompt to the vendor, nor is a string
// that becomes a list of one block of text.

// The markers.
var (
	shortMarker = []byte(`"cache_control":{"type":"ephemeral"}`)
	longMarker  = []byte(`"cache_control":{"type":"ephemeral","ttl":"1h"}`)
)

// marked says whether markers are placed: never beside one of the client's own, and
// only in the dialects that have a place for them.
func (r *Request) marked(e *Edits) bool {
	return e.Mark > 0 && r.facts.Markers == 0 && r.API != catalog.Responses && !slices.Contains(e.Refuses, catalog.MarkerMember)
}

// mark places the markers of one member.
func (r *Request) mark(s *splice, f field, v span, e *Edits) {
	m := marking{s: s, api: r.API, text: shortMarker}
	if e.Mark >= time.Hour {
		m.text = longMarker
	}
	switch {
	case f == fieldTools && r.API == catalog.Messages:
		m.tool(v)
	case f == fieldSystem && r.API == catalog.Messages:
		m.content(v, true)
	case f == fieldMessages:
		places := [...]span{{}, r.turns.before, r.turns.last}
		if r.API == catalog.Chat && r.opener.system.from < r.opener.first.from { // where system text is a message
			places[0] = r.opener.system
		}
		for _, at := range places {
			m.message(at)
		}
	}
}

// marking is markers on their way into a body, from left to right.
type marking struct {
	s    *splice
	api  catalog.API
	text []byte // the marker as a member
}

// place is where a marker goes in one block.
type place struct {
	at   int  // behind the block's last member
	null span // or in the place of a marker that is null
}

func (p *place) found() bool { return p.at > 0 }

// put places one.
func (m *marking) put(p place) {
	if p.null.found() {
		value := m.text[bytes.IndexByte(m.text, '{'):]
		m.s.cut(p.null.from, p.null.to)
		m.s.dst = append(m.s.dst, value...)
		return
	}
	m.s.upTo(p.at)
	m.s.dst = append(m.s.dst, ',')
	m.s.dst = append(m.s.dst, m.text...)
}

// tool marks the last of the tools that may be: one whose definition is loaded later is
// no part of the prompt, and a vendor refuses a marker on it.
func (m *marking) tool(v span) {
	b := m.s.b
	if b[v.from] != '[' {
		return
	}
	m.last(v, func(k *block) bool { return !k.deferred && k.kind != "mcp_toolset" })
}

// last marks the last object of the list at v that can be marked and may.
func (m *marking) last(v span, may func(*block) bool) {
	b := m.s.b
	var last place
	s := scanner{b: b}
	for e := each(&s, v.from, 1, false); e.nextStart(); {
		if b[e.from] != '{' {
			e.ends(s.value(e.from, 1, false))
			continue
		}
		k, end := look(b, e.from)
		e.ends(end)
		if k.ok() && may(&k) {
			last = k.place
		}
	}
	if last.found() {
		m.put(last)
	}
}

// message marks the message at v, where there is one.
func (m *marking) message(v span) {
	b := m.s.b
	if !v.found() || b[v.from] != '{' {
		return
	}
	content := span{}
	for w := walk(b, v.from); w.next(); {
		switch {
		case w.is("content") && content.found(): // the vendor may read the other one
			return
		case w.is("content"):
			content = w.span()
		}
	}
	if content.found() {
		m.content(content, false)
	}
}

// content marks the last block of a content that may be marked: a string becomes a list
// of one block.
func (m *marking) content(v span, system bool) {
	b := m.s.b
	switch b[v.from] {
	case '"':
		if text := b[v.from+1 : v.to-1]; isBlank(text) || system && telemetryOnly(text) {
			return
		}
		m.s.put(v.from, v.from, `[{"type":"text","text":`)
		m.s.upTo(v.to)
		m.s.dst = append(m.s.dst, ',')
		m.s.dst = append(m.s.dst, m.text...)
		m.s.dst = append(m.s.dst, `}]`...)
	case '[':
		m.last(v, func(k *block) bool { return m.takes(k) && !(system && k.telemetry) })
	}
}

// takes says whether a block of the user's or of the system text may be marked. Empty
// text and thinking may not; what is not known is left alone. Compatible vendors of
// the API chat document markers on text only.
func (m *marking) takes(k *block) bool {
	switch k.kind {
	case "text":
		return k.filled
	case "image", "document", "search_result", "tool_result":
		return m.api == catalog.Messages
	}
	return false
}

// block is what of a block decides whether it may be marked.
type block struct {
	place
	kind      string
	filled    bool // it has text that is more than white space
	telemetry bool // and is an agent's telemetry line
	deferred  bool // a tool that is loaded later
	odd       bool // it has a cache_control that is not null, or two
}

// ok says whether the block can be marked at all.
func (k *block) ok() bool { return k.found() && !k.odd }

// look reads the object at i; end is the offset after it, 0 if it is not valid.
func look(b []byte, i int) (k block, end int) {
	w := walk(b, i)
	for w.next() {
		k.at = w.to
		switch string(w.name()) {
		case "type":
			if word, ok := w.short(w.span()); ok {
				k.kind = string(word)
			}
		case "text":
			if b[w.from] == '"' {
				text := b[w.from+1 : w.to-1]
				k.filled, k.telemetry = !isBlank(text), telemetryOnly(text)
			}
		case "defer_loading":
			k.deferred = b[w.from] != 'f' && b[w.from] != 'n'
		case catalog.MarkerMember:
			if !w.isNull() || k.null.found() {
				k.odd = true
			}
			k.null = w.span()
		}
	}
	return k, w.end
}

// isBlank says whether the inside of a valid string stands for nothing but white space.
func isBlank(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == ' ':
		case c == '\\' && i+1 < len(raw) && bytes.IndexByte([]byte("ntrbf"), raw[i+1]) >= 0:
			i++
		case c == '\\' || c >= 0x80:
			return len(bytes.TrimSpace(unescaped(raw[i:]))) == 0
		default:
			return false
		}
	}
	return true
}

// telemetryOnly says whether the inside of a valid string is a telemetry line and
// nothing else. The vendor takes such a line out before it looks into its cache, so a
// marker on it would stand on nothing.
func telemetryOnly(raw []byte) bool {
	if !bytes.HasPrefix(raw, telemetry) {
		return false
	}
	line := bytes.Index(raw, []byte(`\n`))
	return line < 0 || isBlank(raw[line:])
}
