package catalog

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// LineBreak is the length of the line break at the head of text, 0 if there is
// none. Lines are counted as YAML 1.1 counts them, whatever is wrong with the
// file: LF, CR LF, CR, NEL and the separators U+2028 and U+2029.
func LineBreak(text []byte) int {
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

// ByteOrderMark is what some editors put before a text. It has no column.
const ByteOrderMark = "\xef\xbb\xbf"

var byteOrder = []byte(ByteOrderMark)

// splitLines cuts a text after every line break.
func splitLines(text []byte) [][]byte {
	var lines [][]byte
	eachLine(text, func(line []byte) bool {
		lines = append(lines, line)
		return true
	})
	return lines
}

// eachLine calls with every line of a text, its line break included, until that
// returns false.
func eachLine(text []byte, call func(line []byte) bool) {
	start := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '\n', '\r', 0xc2, 0xe2: // what a line break may begin with
			if size := LineBreak(text[i:]); size > 0 {
				i += size
				if !call(text[start:i]) {
					return
				}
				start = i
				continue
			}
		}
		i++
	}
	if start < len(text) {
		call(text[start:])
	}
}

// cursor walks a text along the places of its nodes, which come in the order of
// the text.
type cursor struct {
	text         []byte
	line, column int // of the head of text, from 1
}

func newCursor(text []byte) cursor {
	return cursor{bytes.TrimPrefix(text, byteOrder), 1, 1}
}

// step goes over one character.
func (c *cursor) step() {
	if size := LineBreak(c.text); size > 0 {
		c.text, c.line, c.column = c.text[size:], c.line+1, 1
		return
	}
	_, size := utf8.DecodeRune(c.text)
	c.text, c.column = c.text[size:], c.column+1
}

// at is the byte at a place, 0 if the cursor is past it.
func (c *cursor) at(line, column int) byte {
	for len(c.text) > 0 && (c.line < line || c.line == line && c.column < column) {
		c.step()
	}
	if len(c.text) == 0 || c.line != line || c.column != column {
		return 0
	}
	return c.text[0]
}

// badByte finds the first byte that cannot stand in a catalog. The YAML package
// refuses such bytes too, without saying where.
func badByte(text []byte) (line, column int, fault string) {
	i := len(text) - len(bytes.TrimPrefix(text, byteOrder))
	for i < len(text) {
		c := text[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fault = "a byte that is not UTF-8; save the file as UTF-8"
		case r < ' ', r == 0x7f, r > 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff, r == 0xfeff:
			fault = "a control character; remove it"
		}
		if fault != "" {
			line, column = placeAt(text, i)
			return line, column, fault
		}
		i += size
	}
	return 0, 0, ""
}

// placeAt is the line and column of an offset in a text.
func placeAt(text []byte, offset int) (line, column int) {
	line, start := 1, len(text)-len(bytes.TrimPrefix(text, byteOrder))
	for i := start; i < offset; {
		switch text[i] {
		case '\n', '\r', 0xc2, 0xe2:
			size := LineBreak(text[i:])
			if size == 0 {
				i++
				continue
			}
			if i += size; i <= offset {
				line, start = line+1, i
			}
		default:
			i++
		}
	}
	return line, 1 + utf8.RuneCount(text[min(start, offset):offset])
}

// both names two places of one file.
func both(first, second *yaml.Node) string {
	if second.Line < first.Line || second.Line == first.Line && second.Column < first.Column {
		first, second = second, first
	}
	if first.Line == second.Line {
		return fmt.Sprintf("on line %d at columns %d and %d", first.Line, first.Column, second.Column)
	}
	return fmt.Sprintf("on lines %d and %d", first.Line, second.Line)
}
