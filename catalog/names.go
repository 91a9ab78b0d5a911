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
	if near, ok := Nearest(word, known); ok {
		return `; did you mean "` + near + `"?`
	}
	if len(known) == 0 || len(known) > 16 {
		return "; remove it"
	}
	return "; the keys are " + strings.Join(known, ", ")
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
