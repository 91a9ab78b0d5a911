package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// maxMarkersHashed is how many markers a prompt may have whose marked prefix is told.
// Vendors take four; each costs a hash.
const maxMarkersHashed = 64

// markedPrefix hashes the prompt, in the order in which vendors cache it (tools,
// system, messages), up to and including the last block that carries a cache marker:
// two turns whose marked prefixes are the same have the same hash, wherever markers
// stand before. Source: LiteLLM, the pre-call check prompt_caching.
//
// A marker is not part of what is hashed, nor is the white space between the parts of
// a message. A text is hashed alike whether it stands alone or as the only block: some
// clients write the block out once they mark it. A marker in the middle of a block, such
// as in a tool's result, marks the whole block; one on the body as a whole marks none.
// tokens is the text so far in bytes, by four.
func (r *Request) markedPrefix() (hash string, tokens int64, ok bool) {
	m := marked{scanner: scanner{b: r.Body}, sum: sha256.New()}
	m.section("tools")
	if v := r.value(fieldTools); v.found() {
		m.blocks(v, (*marked).piece)
	}
	m.section("system")
	if v := r.value(fieldSystem); v.found() {
		m.blocks(v, (*marked).block)
	} else if v := r.value(fieldInstructions); v.found() {
		m.blocks(v, (*marked).block)
	}
	m.section("messages")
	v := r.value(fieldMessages)
	if !v.found() {
		v = r.value(fieldInput)
	}
	if v.found() {
		m.blocks(v, (*marked).message)
	}
	if !m.found {
		return "", 0, false
	}
	return hex.EncodeToString(m.last[:]), m.tokens, true
}

// marked is a hash of the prompt so far, and of what lies before its last marker.
type marked struct {
	scanner
	sum    hash.Hash
	last   [sha256.Size]byte
	tokens int64
	found  bool
}

// section begins a part of the prompt, which may be empty.
func (m *marked) section(name string) { _, _ = io.WriteString(m.sum, "\x00"+name) }

// ends notes a marker at what was hashed last.
func (m *marked) ends() {
	m.sum.Sum(m.last[:0])
	m.tokens, m.found = m.text/4, true
}

// blocks hashes a list, each of its elements by one, or a value that is none.
func (m *marked) blocks(v span, one func(m *marked, v span)) {
	if m.b[v.from] != '[' {
		m.block(v)
		return
	}
	s := scanner{b: m.b}
	for e := each(&s, v.from, 1, false); e.next(); {
		one(m, span{e.from, e.to})
	}
}

// piece hashes a value as it stands, without its markers.
func (m *marked) piece(v span) {
	before := m.markers
	m.value(v.from, 1, true)
	_, _ = io.WriteString(m.sum, "\x00piece")
	writeUnmarked(m.sum, v.of(m.b))
	if m.markers > before {
		m.ends()
	}
}

// block hashes a block of content: a text by its text alone.
func (m *marked) block(v span) {
	text := v
	if m.b[v.from] == '{' {
		text = plainText(m.b, v)
	}
	if !text.found() || m.b[text.from] != '"' {
		m.piece(v)
		return
	}
	before := m.markers
	m.value(v.from, 1, true)
	_, _ = io.WriteString(m.sum, "\x00text")
	_, _ = m.sum.Write(text.of(m.b))
	if m.markers > before {
		m.ends()
	}
}

// plainText is the text of a block that has nothing else; none for any other block.
func plainText(b []byte, v span) (text span) {
	for w := walk(b, v.from); w.next(); {
		switch {
		case w.is("text") && !text.found():
			text = w.span()
		case w.is("type") && (w.isText("text") || w.isText("input_text") || w.isText("output_text")):
		case w.is("cache_control"):
		default:
			return span{}
		}
	}
	return text
}

// message hashes a message: its other members, then its content block by block.
func (m *marked) message(v span) {
	if m.b[v.from] != '{' {
		m.piece(v)
		return
	}
	_, _ = io.WriteString(m.sum, "\x00message")
	var content span
	whole := false
	for w := walk(m.b, v.from); w.nextKey(); {
		switch {
		case w.is("content") && !content.found():
			if !w.scanValue(false) {
				return
			}
			content = w.span()
		case w.is("cache_control"):
			text, before := m.text, m.markers
			end := m.value(w.from, 1, true)
			m.text, m.markers = text, before
			if m.b[w.from] == '{' {
				m.mark()
			}
			whole = whole || m.markers > before
			w.ends(end)
		default:
			from := w.member.key
			before := m.markers
			end := m.value(w.from, 1, true)
			w.ends(end)
			_, _ = io.WriteString(m.sum, "\x00member")
			_, _ = m.sum.Write(m.b[from : w.keyEnd+1])
			writeUnmarked(m.sum, w.span().of(m.b))
			whole = whole || m.markers > before
		}
	}
	if content.found() {
		_, _ = io.WriteString(m.sum, "\x00content")
		m.blocks(content, (*marked).block)
	}
	if whole {
		m.ends()
	}
}
