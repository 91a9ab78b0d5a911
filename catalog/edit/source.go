package edit

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// source is a text with the places of its lines.
type source struct {
	text  []byte
	lines []int // where each begins
}

// breakAt is the length of the line break at an offset, 0 if there is none. Lines
// are counted as YAML 1.1 counts them.
func breakAt(text []byte, at int) int {
	text = text[at:]
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '\n':
		return 1
	case text[0] == '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2
		}
		return 1
	case text[0] == 0xc2 && len(text) > 1 && text[1] == 0x85:
		return 2
	case text[0] == 0xe2 && len(text) > 2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9):
		return 3
	}
	return 0
}

// byteOrder is the mark that some editors put before a text. It has no column.
var byteOrder = []byte("\xef\xbb\xbf")

func newSource(text []byte) *source {
	s := &source{text: text}
	start := len(text) - len(bytes.TrimPrefix(text, byteOrder))
	s.lines = append(s.lines, start)
	for i := start; i < len(text); {
		size := breakAt(text, i)
		if size == 0 {
			i++
			continue
		}
		i += size
		s.lines = append(s.lines, i)
	}
	return s
}

// offset is the place of a line and a column, both from 1 and in characters; ok
// is false if there is no such place.
func (s *source) offset(line, column int) (at int, ok bool) {
	if line < 1 || line > len(s.lines) {
		return 0, false
	}
	at = s.lines[line-1]
	for ; column > 1 && at < len(s.text); column-- {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at, column == 1
}

// line is the number of the line that holds an offset, from 0.
func (s *source) line(at int) int {
	return max(sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > at })-1, 0)
}

// column is how many bytes an offset lies behind the start of its line.
func (s *source) column(at int) int { return at - s.lines[s.line(at)] }

// lineEnd is where the line that holds an offset ends, its break not counted.
func (s *source) lineEnd(at int) int {
	for at < len(s.text) && breakAt(s.text, at) == 0 {
		at++
	}
	return at
}

// end is the line break of the file: that of its first line.
func (s *source) end() string {
	at := s.lineEnd(s.lines[0])
	if size := breakAt(s.text, at); size > 0 {
		return string(s.text[at : at+size])
	}
	return "\n"
}

// blank says whether a piece of text holds nothing but white space.
func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
