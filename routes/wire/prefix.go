package wire

import (
	"bytes"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/warmroute/warmroute/engine"
)

// prefix hashes the prompt piece by piece, in the order in which vendors cache it:
// tools, system text, messages (Anthropic's documentation of prompt caching). It
// reads the body once more, and only where somebody keeps books.
func (r *Request) prefix() engine.Prefix {
	p := prefix{marks: make(engine.Prefix, 0, engine.MaxMarks)}
	p.whole(r.Body, r.value(fieldTools))
	system := r.value(fieldSystem)
	if !system.found() {
		system = r.value(fieldInstructions)
	}
	p.whole(r.Body, system)
	messages := r.value(fieldMessages)
	if !messages.found() {
		messages = r.value(fieldInput)
	}
	if !messages.found() {
		return p.marks
	}
	if r.Body[messages.from] != '[' {
		p.whole(r.Body, messages)
		return p.marks
	}
	s := scanner{b: r.Body}
	for e := each(&s, messages.from, 1, false); len(p.marks) < maxPieces && e.next(); {
		p.add(r.Body[e.from:e.to])
		p.mark()
	}
	return p.marks
}

// prefix is the marks so far and the hash of what lies before the next.
type prefix struct {
	marks engine.Prefix
	hash  xxhash.Digest
	bytes int64
	begun bool
}

// whole marks the end of a member that is one piece; one that is missing is an
// empty piece, so that boundaries keep their places.
func (p *prefix) whole(b []byte, v span) {
	if v.found() {
		p.add(v.of(b))
	}
	p.mark()
}

func (p *prefix) mark() {
	if !p.begun {
		p.begun = true
		p.hash.Reset()
	}
	p.marks = append(p.marks, engine.Mark{Index: int32(len(p.marks)), Hash: p.hash.Sum64(), Bytes: p.bytes})
}

// telemetry begins a line that an agent puts into its system text and changes from
// one request to the next. Seen on the wire: Claude Code. The vendor takes it out
// before it looks into its cache.
var telemetry = []byte("x-anthropic-billing-header:")

// markerName is the name of the member that marks the end of a prefix to be cached. It
// moves from message to message.
var markerName = []byte(`"cache_control"`)

// add hashes a valid JSON value, without its markers and telemetry lines.
func (p *prefix) add(b []byte) {
	if !p.begun {
		p.begun = true
		p.hash.Reset()
	}
	if len(p.marks) == systemPlace {
		if i := bytes.Index(b, telemetry); i >= 0 {
			p.unmarked(b[:i])
			b = b[i:]
			end := bytes.IndexByte(b, '"')
			if line := bytes.Index(b, []byte(`\n`)); line >= 0 && line < end {
				end = line + 2
			}
			b = b[max(end, 0):]
		}
	}
	p.unmarked(b)
}

// maxPieces is how many boundaries of one prompt are told: a body of nothing but tiny
// messages is not remembered at several times its size. What is beyond them counts as
// kept.
const maxPieces = 16 << 10

// systemPlace is the place of the system text among the pieces.
const systemPlace = 1

// unmarked hashes a piece of JSON without its markers.
func (p *prefix) unmarked(b []byte) { p.bytes += writeUnmarked(&p.hash, b) }

// writeUnmarked writes a piece of JSON without its markers to a hash, and says how
// many bytes that were.
func writeUnmarked(to io.Writer, b []byte) (n int64) {
	write := func(piece []byte) {
		n += int64(len(piece))
		_, _ = to.Write(piece) // a hash never fails
	}
	for from := 0; ; {
		i := bytes.Index(b[from:], markerName)
		if i < 0 {
			break
		}
		at := from + i
		colon := space(b, at+len(markerName))
		if at > 0 && b[at-1] == '\\' || colon >= len(b) || b[colon] != ':' { // inside a string
			from = at + len(markerName)
			continue
		}
		s := scanner{b: b}
		end := s.value(space(b, colon+1), 1, false)
		if end < 0 {
			break
		}
		piece := b[:at]
		b, from = b[end:], 0
		if next := space(b, 0); next < len(b) && b[next] == ',' {
			b = b[space(b, next+1):] // the comma behind it goes too
		} else {
			piece = bytes.TrimRight(piece, ", \t\r\n") // it came last: the one before it
		}
		write(piece)
	}
	write(b)
	return n
}
