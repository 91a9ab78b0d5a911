package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// maxFiles is how many files of a request are looked up, the first it names.
const maxFiles = 4

// stateful is what the one pass over a body has met of content that only its maker
// can read: where it stands.
//
// Sources: Anthropic's reference of extended thinking and of files, OpenAI's of
// reasoning items, file inputs and conversations, OpenRouter's of reasoning_details.
type stateful struct {
	signed    span // value of the last signature, or of redacted thinking
	encrypted span // value of the last encrypted reasoning
	container span
	files     [maxFiles]span
	count     int  // of files
	closed    span // file_id of the object that closed last
}

// sealing is what one object holds of such content, until its type is known.
type sealing struct {
	some                             bool
	seal, data, file, inner, machine span
}

// see notes a member of an object.
func (s *sealing) see(role keyRole, b []byte, at, end int, all *stateful) {
	if role == filePart {
		if b[at] == '{' && all.closed.found() {
			s.inner, s.some = all.closed, true
		}
		return
	}
	if b[at] != '"' || end-at <= 2 {
		return
	}
	v := span{at, end}
	switch role {
	case sealed:
		s.seal = v
	case payload:
		s.data = v
	case fileID:
		s.file = v
	case machine:
		s.machine = v
	default:
		return
	}
	s.some = true
}

// note takes over what an object of this type holds.
func (all *stateful) note(s *sealing, kind []byte, b []byte) {
	switch string(kind) {
	case "thinking", "reasoning.text", "reasoning.summary":
		set(&all.signed, s.seal)
	case "redacted_thinking":
		set(&all.signed, s.data)
	case "reasoning", "compaction":
		set(&all.encrypted, s.seal)
	case "reasoning.encrypted":
		set(&all.encrypted, s.data)
	case "input_file", "input_image", "container_upload":
		all.file(s.file, b)
	case "file":
		all.file(s.file, b)
		all.file(s.inner, b)
	case "code_interpreter", "code_interpreter_call":
		set(&all.container, s.machine)
	}
}

func set(to *span, v span) {
	if v.found() {
		*to = v
	}
}

// file adds a file, each once.
func (all *stateful) file(v span, b []byte) {
	if !v.found() || all.count == maxFiles {
		return
	}
	for _, other := range all.files[:all.count] {
		if bytes.Equal(other.of(b), v.of(b)) {
			return
		}
	}
	all.files[all.count] = v
	all.count++
}

// readStateful says which content of the request only its maker can read.
func (r *Request) readStateful() {
	s := &r.state
	add := func(kind engine.Kind, v span) {
		text, ok := textOf(r.Body, v)
		if !ok || len(text) == 0 {
			return
		}
		r.facts.Stateful = append(r.facts.Stateful, engine.Stateful{Kind: kind, ID: identity(kind, text)})
	}
	add(engine.KindReasoning, s.encrypted)
	add(engine.KindSigned, s.signed)
	for _, v := range s.files[:s.count] {
		add(engine.KindFile, v)
	}
	add(engine.KindContainer, s.container)
	switch r.API {
	case catalog.Messages:
		add(engine.KindContainer, r.idAt("container"))
	case catalog.Responses:
		add(engine.KindConversation, r.idAt("conversation"))
	}
}

// idAt is a member that is an id, or an object with one; none if it is neither.
func (r *Request) idAt(name string) span {
	v := r.find(name)
	if !v.found() || r.Body[v.from] != '{' {
		return v
	}
	id := span{}
	for w := walk(r.Body, v.from); w.next(); {
		if w.is("id") {
			id = w.span()
		}
	}
	return id
}

// identity is what content is known by: an id as it is, of sealed text its hash. An id
// that is longer than any vendor's is known by its hash, too: turns that wait for their
// outcome keep it.
func identity(kind engine.Kind, text []byte) string {
	if kind != engine.KindReasoning && kind != engine.KindSigned && len(text) <= engine.MaxID {
		return string(text)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
