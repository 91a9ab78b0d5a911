package catalog

import (
	"bytes"
	"math/bits"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

var (
	syntaxLine   = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)
	syntaxQuoted = regexp.MustCompile(`'[^']*'`)
)

// maxSearch bounds the search for the place of a syntax error, which reads the
// text again and again: the weight of the text times the readings. Beyond, that
// would take longer than a reload may, and what the YAML package says stands.
const maxSearch = 250_000

// readings is how often a binary search among n reads.
func readings(n int) int { return 2 + bits.Len(uint(n)) }

// syntaxError turns an error of the YAML package into a place and a sentence.
//
// The package names the line on which the surrounding block began, and for
// errors of its parser one line too few; the line that breaks the text is the
// first whose addition gives the same error, and so for the character. weight is
// the text's, as it was measured.
func syntaxError(text []byte, err error, weight int) (line, column int, message string) {
	line, message = 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(strings.TrimSpace(err.Error())); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	message = syntaxQuoted.ReplaceAllStringFunc(message, func(quoted string) string {
		if name := strings.Trim(quoted, "'"); mayBeKey(name) {
			return concealed
		}
		return quoted
	})
	lines := splitLines(text)
	line = min(max(line, 1), max(len(lines), 1))
	if len(lines) == 0 {
		return 1, 1, "this is not YAML: " + message
	}
	if at := directive(lines); at > 0 {
		return at, 1, "this is not YAML: " + message + remedy(lines[at-1])
	}
	column = 1
	weight += len(text) / 16
	if weight*readings(len(lines)) <= maxSearch {
		failsBy := func(n int) bool { return sameError(bytes.Join(lines[:n], nil), err) }
		if !failsBy(line) || failsBy(line-1) {
			line = max(1+sort.Search(len(lines)-1, func(i int) bool { return failsBy(i + 1) }), 1)
		}
		if weight*(readings(len(lines))+readings(len(lines[line-1]))) <= maxSearch {
			column = syntaxColumn(bytes.Join(lines[:line-1], nil), lines[line-1], err)
		}
	}
	return line, column, "this is not YAML: " + message + remedy(lines[line-1])
}

// syntaxColumn is the column of the character of a line with which the text
// fails. Where the end of the text would fail the same, the parser missed
// something rather than found it, and the first character of the line stands.
func syntaxColumn(before, line []byte, err error) int {
	indent := leading(line)
	if bytes.Contains(indent, []byte("\t")) {
		return 1 + bytes.IndexByte(indent, '\t')
	}
	first := 1 + len(indent)
	if strings.Contains(err.Error(), "did not find expected") || strings.Contains(err.Error(), "could not find expected") {
		return first
	}
	failsBy := func(n int) bool { return sameError(append(bytes.Clone(before), line[:n]...), err) }
	n := 1 + sort.Search(len(line)-1, func(i int) bool { return failsBy(i + 1) })
	for n > 1 && n < len(line) && !utf8.RuneStart(line[n]) {
		n++
	}
	if !failsBy(n) || failsBy(n-1) {
		return first
	}
	return max(utf8.RuneCount(bytes.TrimPrefix(line[:n], byteOrder)), 1)
}

// sameError says whether the beginning of a text already fails as the whole does.
func sameError(text []byte, want error) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := decode(decoder)
		if err != nil {
			return err.Error() == want.Error()
		}
	}
}

// directive is the line of the directive that a text begins with, 0 if there is
// none. What it breaks is found only further down.
func directive(lines [][]byte) int {
	for i, line := range lines {
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrder)); len(line) > 0 && line[0] != '#' {
			if line[0] == '%' {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// remedy names the most common cause.
func remedy(line []byte) string {
	switch {
	case bytes.Contains(leading(line), []byte("\t")):
		return "; indent with spaces, not tabs"
	case bytes.HasPrefix(bytes.TrimPrefix(line, byteOrder), []byte("%")):
		return "; directives such as %YAML are not used here, so remove the line"
	}
	return "; check indentation, colons and quotes here and just above"
}

// leading is the white space a line begins with.
func leading(line []byte) []byte {
	return line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
}
