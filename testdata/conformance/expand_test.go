package conformance_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// helper is {{WORD}} or {{WORD ARGUMENT…}} in a text of a scenario.
var helper = regexp.MustCompile(`\{\{([a-z0-9]+)((?: [A-Za-z0-9_-]+)*)\}\}`)

// expand replaces the helpers of a text. In JSON what they stand for is written as
// it must be inside a string, but for what was named, which was so already, and the
// blocks of an answer, which are JSON.
func (w *world) expand(line int, text string, inJSON bool) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var failed error
	full := helper.ReplaceAllStringFunc(text, func(found string) string {
		m := helper.FindStringSubmatch(found)
		if text, named := w.lets[m[1]]; named && m[2] == "" {
			return text
		}
		if m[1] == "blocks" {
			blocks, err := w.blocks(line, strings.Fields(m[2]))
			if err != nil && failed == nil {
				failed = err
			}
			return blocks
		}
		value, err := w.help(line, m[1], strings.Fields(m[2]))
		if err != nil && failed == nil {
			failed = err
		}
		if inJSON {
			quoted, _ := json.Marshal(value) // a string always can be
			return string(quoted[1 : len(quoted)-1])
		}
		return value
	})
	if failed == nil && strings.Contains(full, "{{") && !inJSON {
		failed = mistake(line, "%q has braces that are no helper", text)
	}
	return full, failed
}

// help is what one helper stands for.
func (w *world) help(line int, word string, args []string) (string, error) {
	number := func(i, otherwise int) (int, error) {
		if i >= len(args) {
			return otherwise, nil
		}
		n, err := strconv.Atoi(args[i])
		if err != nil || n < 1 {
			return 0, mistake(line, "{{%s}}: %q is no number from 1", word, args[i])
		}
		return n, nil
	}
	switch word {
	case "text", "sha256":
		n, err := number(0, 0)
		if err != nil || len(args) == 0 || len(args) > 2 {
			return "", mistake(line, "write {{%s BYTES}} or {{%s BYTES NAME}}", word, word)
		}
		name := ""
		if len(args) == 2 {
			name = args[1]
		}
		long := longText(n, name)
		if word == "text" {
			return long, nil
		}
		sum := sha256.Sum256([]byte(long))
		return hex.EncodeToString(sum[:]), nil
	case "said", "session", "id":
		n, err := number(0, len(w.answers))
		if err != nil || len(args) > 1 || n > len(w.answers) || n < 1 {
			return "", mistake(line, "{{%s}}: there is no such answer yet", word)
		}
		a := w.answers[n-1]
		switch word {
		case "said":
			return a.said(), nil
		case "id":
			return a.text("id"), nil
		}
		return a.text(routing + "clientSessionId"), nil
	}
	return "", mistake(line, "there is no helper {{%s}}", word)
}

// blocks are what {{blocks}} or {{blocks N}} stands for.
func (w *world) blocks(line int, args []string) (string, error) {
	n := len(w.answers)
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil {
			return "", mistake(line, "{{blocks}}: %q is no number from 1", args[0])
		}
	}
	if len(args) > 1 || n < 1 || n > len(w.answers) {
		return "", mistake(line, "{{blocks}}: there is no such answer yet")
	}
	list := w.answers[n-1].blocks()
	if len(list) == 0 {
		return "", mistake(line, "{{blocks}}: answer %d holds none", n)
	}
	return string(bytes.Join(list, []byte(","))), nil
}

// longText is a text of so many bytes that is always the same. A name makes
// another one of it, different from the first byte on.
func longText(bytes int, name string) string {
	const stock = "The crane lifts the second crate while the tide is out and the clerk writes its number down. "
	var b strings.Builder
	if name != "" {
		b.WriteString(name + ": ")
	}
	for n := 1; b.Len() < bytes; n++ {
		b.WriteString(strconv.Itoa(n) + ". " + stock)
	}
	return b.String()[:bytes]
}
