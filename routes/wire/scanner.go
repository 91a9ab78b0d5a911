package wire

import (
	"bytes"
	"time"
)

// scanner validates JSON strictly in one pass and allocates nothing. On the way
// it counts what the prompt part of a body holds.
type scanner struct {
	b       []byte
	text    int64         // bytes of decoded text in the prompt part, base64 not counted
	markers int           // cache_control markers
	ttl     time.Duration // longest lifetime a marker names
	hours   int           // markers that name an hour or more
	role    span          // inside of the last "role" string of a message
	kind    span          // value of "type" in the object that closed last
	life    span          // value of "ttl" in it
	state   *stateful     // where content that only its maker can read is noted; nil: nowhere
	bad     int           // where the input is not JSON; meaningful once fault is set
	fault   string
}

func (s *scanner) fail(i int, fault string) int {
	if s.fault == "" {
		s.bad, s.fault = i, fault
	}
	return -1
}

// value scans the value at i and is the offset after it, or -1. depth is how
// many containers it stands in; prompt says that it belongs to the prompt part.
func (s *scanner) value(i, depth int, prompt bool) int {
	if i >= len(s.b) {
		return s.fail(i, "it ends too early")
	}
	switch c := s.b[i]; c {
	case '"':
		end, saved := scanString(s.b, i+1)
		if end < 0 {
			return s.fail(saved, "invalid string")
		}
		if prompt && !bytes.HasPrefix(s.b[i+1:end], dataURL) {
			s.text += int64(end - i - 1 - saved)
		}
		return end + 1
	case '{':
		return s.object(i, depth+1, prompt)
	case '[':
		return s.array(i, depth+1, prompt)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end := scanNumber(s.b, i); end > 0 {
			return end
		}
		return s.fail(i, "invalid number")
	}
	return s.fail(i, "unexpected character")
}

var dataURL = []byte("data:")

func (s *scanner) literal(i int, word string) int {
	if end := i + len(word); end <= len(s.b) && string(s.b[i:end]) == word {
		return end
	}
	return s.fail(i, "unexpected character")
}

func (s *scanner) array(i, depth int, prompt bool) int {
	if depth > maxDepth {
		return s.fail(i, "it nests deeper than 128 levels")
	}
	i = space(s.b, i+1)
	if i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for {
		if i = s.value(i, depth, prompt); i < 0 {
			return -1
		}
		i = space(s.b, i)
		switch {
		case i < len(s.b) && s.b[i] == ',':
			i = space(s.b, i+1)
		case i < len(s.b) && s.b[i] == ']':
			return i + 1
		default:
			return s.fail(i, "a comma or ] is missing")
		}
	}
}

// messageDepth is the depth of the objects in a top-level array.
const messageDepth = 3

func (s *scanner) object(i, depth int, prompt bool) int {
	if depth > maxDepth {
		return s.fail(i, "it nests deeper than 128 levels")
	}
	var kind, life span
	var seen sealing
	noting := prompt && s.state != nil
	i = space(s.b, i+1)
	if i < len(s.b) && s.b[i] == '}' {
		s.kind, s.life = kind, life
		if noting {
			s.state.closed = span{}
		}
		return i + 1
	}
	for {
		key, escaped, at := s.key(i)
		if at < 0 {
			return -1
		}
		role := ordinary
		if prompt {
			role = special(key, escaped)
		}
		before := s.text
		var end int
		if role == foreignJSON && noting {
			end = s.unnoted(at, depth)
		} else {
			end = s.value(at, depth, prompt)
		}
		if end < 0 {
			return -1
		}
		if role >= sealed && noting {
			seen.see(role, s.b, at, end, s.state)
		}
		switch role {
		case marker:
			if s.b[at] == '{' {
				s.mark()
			}
		case typed:
			kind = span{at, end}
		case lasting:
			life = span{at, end}
		case sealed:
			if s.b[at] == '"' {
				s.text = before
			}
		case payload:
			if s.b[at] == '"' && looksBase64(s.b[at+1:end-1]) {
				s.text = before
			}
		case speaker:
			if depth == messageDepth && s.b[at] == '"' {
				s.role = span{at + 1, end - 1}
			}
		}
		i = space(s.b, end)
		switch {
		case i < len(s.b) && s.b[i] == ',':
			i = space(s.b, i+1)
		case i < len(s.b) && s.b[i] == '}':
			s.kind, s.life = kind, life
			if noting {
				s.state.closed = seen.file
				if seen.some {
					word, _ := s.short(kind)
					s.state.note(&seen, word, s.b)
				}
			}
			return i + 1
		default:
			return s.fail(i, "a comma or } is missing")
		}
	}
}

// unnoted scans a value of the prompt that is somebody else's JSON, such as the input
// of a tool: nothing in it is content of ours.
func (s *scanner) unnoted(i, depth int) int {
	state := s.state
	s.state = nil
	end := s.value(i, depth, true)
	s.state = state
	return end
}

// key scans the key at i and its colon; at is the offset of the value, or -1.
func (s *scanner) key(i int) (key []byte, escaped bool, at int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return nil, false, s.fail(i, "a member's name is missing")
	}
	end, saved := scanString(s.b, i+1)
	if end < 0 {
		return nil, false, s.fail(saved, "invalid string")
	}
	at = space(s.b, end+1)
	if at >= len(s.b) || s.b[at] != ':' {
		return nil, false, s.fail(at, "a colon is missing")
	}
	return s.b[i+1 : end], saved > 0, space(s.b, at+1)
}

// mark counts the object that closed last if it is a cache marker: one of type
// ephemeral, the only type there is. A schema's property of that name is none.
//
// It goes by what the scan has noted: looking into the object once more would
// make markers inside markers cost their depth times their size.
func (s *scanner) mark() {
	if word, ok := s.short(s.kind); !ok || string(word) != "ephemeral" {
		return
	}
	s.markers++
	if word, ok := s.short(s.life); ok {
		asked := lifetime(string(word))
		s.ttl = max(s.ttl, asked)
		if asked >= time.Hour {
			s.hours++
		}
	}
}

// maxWord is how long a word may be, as it stands in the body, that the scan looks at.
const maxWord = 64

// short is the text of a string that is a word; ok is false for any other value.
func (s *scanner) short(v span) (text []byte, ok bool) {
	if v.to-v.from > maxWord {
		return nil, false
	}
	return textOf(s.b, v)
}

// lifetime reads a lifetime such as 5m, 1h or 24h; 0 if it is none.
func lifetime(text string) time.Duration {
	if len(text) > 8 {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0
	}
	return d
}

// keyRole is what a key inside the prompt part means to the scan.
type keyRole uint8

const (
	ordinary    keyRole = iota
	marker              // cache_control
	speaker             // role
	typed               // type
	lasting             // ttl
	foreignJSON         // input of a tool's call, and the schemas of tools
	sealed              // always base64: encrypted_content, signature
	payload             // base64 or text: data, file_data
	fileID              // file_id
	filePart            // file
	machine             // container, container_id
)

func special(key []byte, escaped bool) keyRole {
	if escaped {
		if len(key) > 6*len("encrypted_content") {
			return ordinary
		}
		key = unescaped(key)
	}
	switch string(key) {
	case "cache_control":
		return marker
	case "encrypted_content", "signature":
		return sealed
	case "data", "file_data":
		return payload
	case "role":
		return speaker
	case "type":
		return typed
	case "ttl":
		return lasting
	case "input", "input_schema", "parameters":
		return foreignJSON
	case "file_id":
		return fileID
	case "file":
		return filePart
	case "container", "container_id":
		return machine
	}
	return ordinary
}

// looksBase64 judges by the first bytes: text has a space or a stop before long.
func looksBase64(raw []byte) bool {
	if bytes.HasPrefix(raw, dataURL) {
		return true
	}
	for _, c := range raw[:min(len(raw), 64)] {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '+', c == '/', c == '=', c == '-', c == '_', c == '\\', c == 'n', c == 'r':
		default:
			return false
		}
	}
	return true
}

// member is one member of an object, by offsets.
type member struct {
	before   int // end of the member before it; just after the brace for the first
	key      int // of the key's opening quote
	keyEnd   int // of the key's closing quote
	from, to int // of the value
	escaped  bool
}

func (m *member) span() span { return span{m.from, m.to} }

// members walks one object: for w := walk(b, i); w.next(); { … }. Afterwards
// end is the offset after the closing brace, 0 if the object is not valid JSON.
type members struct {
	scanner
	member
	depth int
	at    int // where the next member may start
	begun bool
	end   int
}

// walk starts at the brace at i.
func walk(b []byte, i int) members {
	return members{scanner: scanner{b: b}, at: i, depth: 1}
}

// nextKey goes to the next member and stops before its value, which
// scanValue must scan.
func (w *members) nextKey() bool {
	i := w.at
	if !w.begun {
		w.begun = true
		if i >= len(w.b) || w.b[i] != '{' {
			w.fail(i, "it is not an object")
			return false
		}
		w.before = i + 1
		i = space(w.b, i+1)
		if i < len(w.b) && w.b[i] == '}' {
			w.end = i + 1
			return false
		}
	} else {
		w.before = w.to
		i = space(w.b, i)
		switch {
		case i < len(w.b) && w.b[i] == '}':
			w.end = i + 1
			return false
		case i >= len(w.b) || w.b[i] != ',':
			w.fail(i, "a comma or } is missing")
			return false
		}
		i = space(w.b, i+1)
	}
	key, escaped, at := w.scanner.key(i)
	if at < 0 {
		return false
	}
	w.member.key, w.keyEnd, w.escaped, w.from = i, i+1+len(key), escaped, at
	return true
}

// scanValue scans the value nextKey stopped at.
func (w *members) scanValue(prompt bool) bool {
	w.ends(w.value(w.from, w.depth, prompt))
	return w.to > 0
}

// ends says where the value nextKey stopped at ends, in place of scanValue.
func (w *members) ends(at int) { w.to, w.at = at, at }

// next goes to the next member and scans it whole.
func (w *members) next() bool { return w.nextKey() && w.scanValue(false) }

// name is the member's name, decoded.
func (w *members) name() []byte {
	raw := w.b[w.member.key+1 : w.keyEnd]
	if !w.escaped {
		return raw
	}
	return unescaped(raw)
}

// is says whether the member has this name.
func (w *members) is(name string) bool { return string(w.name()) == name }

// isNull says whether the value is null.
func (w *members) isNull() bool { return w.b[w.from] == 'n' }

// isText says whether the value is this string.
func (w *members) isText(text string) bool {
	return w.b[w.from] == '"' && string(unescaped(w.b[w.from+1:w.to-1])) == text
}

// textOf is the decoded string at a valid value's span; ok is false if it is none.
func textOf(b []byte, v span) (text []byte, ok bool) {
	if !v.found() || b[v.from] != '"' {
		return nil, false
	}
	return unescaped(b[v.from+1 : v.to-1]), true
}

// elements walks one array, as members does an object.
type elements struct {
	*scanner
	at       int
	begun    bool
	depth    int
	prompt   bool
	from, to int
	end      int
}

// each starts at the bracket at i.
func each(s *scanner, i, depth int, prompt bool) elements {
	return elements{scanner: s, at: i, depth: depth, prompt: prompt}
}

// next goes to the next element and scans it whole.
func (w *elements) next() bool {
	if !w.nextStart() {
		return false
	}
	w.ends(w.value(w.from, w.depth, w.prompt))
	return w.to > 0
}

// ends says where the element nextStart stopped at ends.
func (w *elements) ends(at int) { w.to, w.at = at, at }

// nextStart goes to the next element and stops before it; ends must be told of
// its end.
func (w *elements) nextStart() bool {
	i := w.at
	if !w.begun {
		w.begun = true
		if i >= len(w.b) || w.b[i] != '[' {
			w.fail(i, "it is not an array")
			return false
		}
		i = space(w.b, i+1)
		if i < len(w.b) && w.b[i] == ']' {
			w.end = i + 1
			return false
		}
	} else {
		i = space(w.b, i)
		switch {
		case i < len(w.b) && w.b[i] == ']':
			w.end = i + 1
			return false
		case i >= len(w.b) || w.b[i] != ',':
			w.fail(i, "a comma or ] is missing")
			return false
		}
		i = space(w.b, i+1)
	}
	w.from = i
	return true
}
