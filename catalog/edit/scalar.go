package edit

import (
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// plainly says whether a text may stand without quotes. What YAML allows in rare
// places only, such as a colon at the end, is quoted everywhere.
func plainly(text string, flow bool) bool {
	if text == "" || text == "~" || text == "<<" || text == "---" || text == "..." || strings.TrimSpace(text) != text {
		return false
	}
	if strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", text[0]) >= 0 {
		return false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") {
		return false
	}
	if flow && strings.ContainsAny(text, ",[]{}") {
		return false
	}
	return strings.IndexFunc(text, func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }) < 0
}

// isWord says whether a reader of YAML takes a text for text, not for a number, a
// date, a truth or nothing.
func isWord(text string) bool {
	switch strings.ToLower(text) {
	case "yes", "no", "on", "off", "y", "n":
		return false // so did YAML 1.1
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	return n.ShortTag() == "!!str"
}

// doubleQuoted is a text between double quotes, as YAML and JSON both read it.
func doubleQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c == 0x7f || c == 0xfeff || c > 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// singleQuoted is a text between single quotes; ok is false for one that cannot
// stand there on one line.
func singleQuoted(text string) (quoted string, ok bool) {
	if strings.IndexFunc(text, func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }) >= 0 {
		return "", false
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
}

// scalarText is a new scalar.
func scalarText(v Value, flow, json bool) string {
	switch {
	case v.quoted:
	case v.plain && plainly(v.text, flow):
		return v.text
	case !json && plainly(v.text, flow) && isWord(v.text):
		return v.text
	}
	return doubleQuoted(v.text)
}

// respelled is a scalar in the quotes of the one whose place it takes.
func respelled(was *node, v Value, flow, json bool) string {
	switch {
	case was.style&yaml.SingleQuotedStyle != 0:
		if quoted, ok := singleQuoted(v.text); ok {
			return quoted
		}
		return doubleQuoted(v.text)
	case was.style&yaml.DoubleQuotedStyle != 0:
		return doubleQuoted(v.text)
	case was.style == 0 && !v.quoted && plainly(v.text, flow) && (!isWord(was.text) || isWord(v.text)):
		return v.text // somebody who left 4.10 bare wants 4.11 so
	}
	return scalarText(v, flow, json)
}
