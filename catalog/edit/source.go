package edit

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/warmroute/warmroute/catalog"
)

// source is a text with the places of its lines.
type source struct {
	text  []byte
	lines []int // where each begins
}

var byteOrder = []byte(catalog.ByteOrderMark)

func newSource(text []byte) *source {
	s := &source{text: text}
	start := len(text) - len(bytes.TrimPrefix(text, byteOrder))
	s.lines = append(s.lines, start)
	for i := start; i < len(text); {
		size := catalog.LineBreak(text[i:])
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
	for at < len(s.text) && catalog.LineBreak(s.text[at:]) == 0 {
		at++
	}
	return at
}

// end is the line break of the file: that of its first line.
func (s *source) end() string {
	at := s.lineEnd(s.lines[0])
	if size := catalog.LineBreak(s.text[at:]); size > 0 {
		return string(s.text[at : at+size])
	}
	return "\n"
}

// blank says whether a piece of text holds nothing but white space.
func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
