package wire

import "bytes"

// event is one event of a stream, taken apart.
type event struct {
	name   []byte // of its event line; empty if it has none
	data   []byte // of its data lines, joined by \n
	at     int    // offset of the first data line
	offset int    // offset of the data in the event, if it has one data line
	eol    []byte // how the first data line ends
	lines  int    // how many data lines there are
	pieces []piece
}

// piece maps one data line of several to where it stands in the event.
type piece struct{ joined, event int }

// in is the place in the event of the byte at i of the data.
func (e *event) in(i int) int {
	at := e.offset
	for _, p := range e.pieces {
		if p.joined > i {
			break
		}
		at = p.event - p.joined
	}
	return at + i
}

var bom = []byte("\xef\xbb\xbf")

// lineEnd is the offset of the line end at or after i, or len(b). Most streams
// hold no \r, and what is known of that spares each line a search.
func (r *Relay) lineEnd(b []byte, i int) int {
	end := len(b)
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		end = i + n
	}
	if !r.returns {
		return end
	}
	if n := bytes.IndexByte(b[i:end], '\r'); n >= 0 {
		end = i + n
	}
	return end
}

// maxLines is how many data lines of an event are joined.
const maxLines = 1 << 16

// parse takes an event apart. Data in several lines is joined in a buffer that
// the next call uses again; where there are too many lines, lines says so and
// the data is not whole.
func (r *Relay) parse(b []byte) event {
	e := event{at: -1}
	i := 0
	if !r.first && bytes.HasPrefix(b, bom) {
		i = len(bom)
	}
	for i < len(b) {
		end := r.lineEnd(b, i)
		next := end
		if next < len(b) {
			next++
			if b[end] == '\r' && next < len(b) && b[next] == '\n' {
				next++
			}
		}
		line := b[i:end]
		switch {
		case bytes.HasPrefix(line, []byte("data")):
			from, ok := fieldValue(line, len("data"))
			if !ok {
				break
			}
			from += i
			if e.lines++; e.lines == 1 {
				e.at, e.offset, e.data, e.eol = i, from, b[from:end], b[end:next]
				break
			}
			if e.lines > maxLines {
				return e
			}
			if e.lines == 2 {
				r.joined = append(r.joined[:0], e.data...)
				r.pieces = append(r.pieces[:0], piece{0, e.offset})
			}
			r.joined = append(r.joined, '\n')
			r.pieces = append(r.pieces, piece{len(r.joined), from})
			r.joined = append(r.joined, b[from:end]...)
			e.data, e.pieces = r.joined, r.pieces
		case bytes.HasPrefix(line, []byte("event")):
			if from, ok := fieldValue(line, len("event")); ok {
				e.name = line[from:]
			}
		}
		i = next
	}
	return e
}

// fieldValue is the offset of a field's value in its line, given the length of
// its name; ok is false if the name is longer.
func fieldValue(line []byte, n int) (from int, ok bool) {
	switch {
	case len(line) == n:
		return n, true
	case line[n] != ':':
		return 0, false
	case n+1 < len(line) && line[n+1] == ' ':
		return n + 2, true
	}
	return n + 1, true
}

// change is one edit of an event: b[from:to] becomes text.
type change struct {
	from, to int
	text     []byte
}

// changes are edits from left to right.
type changes []change

func (c changes) apply(dst, b []byte) []byte {
	at := 0
	for _, e := range c {
		dst = append(dst, b[at:e.from]...)
		dst = append(dst, e.text...)
		at = e.to
	}
	return append(dst, b[at:]...)
}

// remove cuts data[from:to] out of an event.
func (r *Relay) remove(e *event, from, to int) {
	r.edits = append(r.edits, change{from: e.in(from), to: e.in(to-1) + 1})
}

// metadata puts provider_metadata after the byte before at, which ends the last
// member of an object.
func (r *Relay) metadata(e *event, at int) {
	if r.o.Metadata == nil || r.placed {
		return
	}
	r.placed = true
	i := e.in(at-1) + 1
	r.edits = append(r.edits, change{i, i, []byte(`,"provider_metadata":`)}, change{i, i, r.o.Metadata})
}
