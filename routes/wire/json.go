package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may nest. Real bodies stay below 30;
// the bound keeps the recursion's stack small.
const maxDepth = 128

// span is a half-open range of bytes. The zero span is none: no value of an
// object starts at offset 0.
type span struct{ from, to int }

func (s span) found() bool { return s.to > 0 }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }

// space is the offset of the first byte at or after i that is not JSON white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// The words of eight equal bytes that the string scan compares with.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain is zero if none of the eight bytes of x is a quote, a backslash, a
// control character or part of a character beyond ASCII. Else its lowest bit
// set is in the first such byte; borrows only disturb what is above that.
func plain(x uint64) uint64 {
	quote, slash := x^(ones*'"'), x^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x | x) & highs
}

// scanString scans a string from just after its opening quote to its closing
// quote, eight plain bytes at a time. saved is how many bytes shorter the
// decoded text is. On invalid input end is -1 and saved the offset of the fault.
func scanString(b []byte, i int) (end, saved int) {
	for {
		for i+16 <= len(b) && plain(binary.LittleEndian.Uint64(b[i:]))|plain(binary.LittleEndian.Uint64(b[i+8:])) == 0 {
			i += 16
		}
		for i+8 <= len(b) {
			if mark := plain(binary.LittleEndian.Uint64(b[i:])); mark != 0 {
				i += bits.TrailingZeros64(mark) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1, i
		}
		switch c := b[i]; {
		case c == '"':
			return i, saved
		case c == '\\':
			n, shorter := scanEscape(b, i)
			if n == 0 {
				return -1, i
			}
			i, saved = i+n, saved+shorter
		case c < ' ':
			return -1, i
		case c < utf8.RuneSelf:
			i++
		default:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n <= 1 {
					return -1, i
				}
				i += n
			}
		}
	}
}

// scanEscape is the length of the escape at b[i], 0 if it is none, and by how
// much it is longer than what it stands for.
func scanEscape(b []byte, i int) (n, shorter int) {
	if i+1 >= len(b) {
		return 0, 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, 1
	case 'u':
		r := hex4(b, i+2)
		switch {
		case r < 0:
			return 0, 0
		case utf16.IsSurrogate(r): // each half counts for half of four bytes
			return 6, 4
		}
		return 6, 6 - utf8.RuneLen(r)
	}
	return 0, 0
}

// hex4 reads four hexadecimal digits; -1 if there are none.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// scanNumber is the offset after the number at b[i], or -1.
func scanNumber(b []byte, i int) int {
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

// appendUnescaped appends what the inside of a valid string stands for. A half
// of a surrogate pair becomes U+FFFD, as in encoding/json.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; ; {
		run := bytes.IndexByte(raw[i:], '\\')
		if run < 0 {
			return append(dst, raw[i:]...)
		}
		dst = append(dst, raw[i:i+run]...)
		i += run
		c := raw[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(raw, i)
			i += 4
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(raw, i+2))
				}
				if r = pair; r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
}

// unescaped is what the inside of a valid string stands for: raw itself where
// it holds no escape.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return appendUnescaped(make([]byte, 0, len(raw)), raw)
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < ' ' || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
