package catalog

import (
	"strings"
	"unicode"
)

// maxName is the longest name of a model, an alias or a policy, in bytes.
const maxName = 256

// nameFault says what is wrong with a name, empty if nothing is.
func nameFault(text string) string {
	switch {
	case len(text) > maxName:
		return "is longer than 256 bytes; shorten it"
	case strings.IndexFunc(text, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }) >= 0:
		return "has a space or a character that does not print; a name has neither"
	}
	return ""
}

// isSlug says whether text may name a vendor or a credential. Vendor names
// stand in header names, which know no capitals.
func isSlug(text string) bool {
	if text == "" || len(text) > 64 || !isLowerOrDigit(text[0]) {
		return false
	}
	for _, c := range []byte(text) {
		if !isLowerOrDigit(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isLowerOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// isToken says whether text is a header name (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	for _, c := range []byte(text) {
		if !isLowerOrDigit(c) && (c < 'A' || c > 'Z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != "" && len(text) <= 128
}

// isHeaderValue says whether text may be sent as a header's value.
func isHeaderValue(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return len(text) <= 4096
}

// isMember says whether text may be a member of a request body.
func isMember(text string) bool {
	for i, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return text != "" && len(text) <= 64
}

// suggest is "; did you mean …?" where a known word is close, else the list of
// the known words.
func suggest(word string, known []string) string {
	if near, ok := nearest(word, known); ok {
		return `; did you mean "` + near + `"?`
	}
	if len(known) == 0 || len(known) > 16 {
		return "; remove it"
	}
	return "; the keys are " + strings.Join(known, ", ")
}

// nearest is the known word with the fewest edits from word, the first in the
// list among equals; ok is false where even that one is another word.
func nearest(word string, known []string) (near string, ok bool) {
	if len(word) > 64 {
		return "", false
	}
	best := 1 + (len(word)+1)/4 // edits at which it is another word
	best = min(best+1, 4)
	for _, k := range known {
		if d := edits(strings.ToLower(word), strings.ToLower(k), best); d < best {
			near, best, ok = k, d, true
		}
	}
	return near, ok
}

// edits counts the letters to add, drop, change or swap that turn a into b;
// it may stop counting at most.
func edits(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// isLiteralKey says whether a key of the file looks like the place for a secret.
func isLiteralKey(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", "")) {
	case "key", "apikey", "token", "apitoken", "secret", "secretkey", "accesskey", "password", "authorization", "value":
		return true
	}
	return false
}
