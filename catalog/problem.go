package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity says how much a problem matters.
//
// The zero Severity is that of a mistake.
type Severity string

// The severities. A mistake keeps a file from being used; a warning makes check
// --strict fail; a note does neither.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Problem is one mistake of meaning, or one finding of [Lint], at its place.
type Problem struct {
	File     string
	Line     int // from 1; 0 where the file could not be read at all
	Column   int // in characters, from 1
	Where    string
	Message  string   // what is wrong and what to do: [Problem.Wrong] and [Problem.Remedy] take it apart
	Code     string   // its kind, such as "price-age": [Explain] has a page on each
	Severity Severity // empty: error
	Excerpt  Excerpt  // the line of the file; empty where there is no text to show
}

// String is the problem as one line: file:line:column: where: message.
func (p Problem) String() string {
	where := p.Where
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", p.File, p.Line, p.Column, where, p.Message)
}

// Wrong is the part of the message that says what is wrong.
func (p Problem) Wrong() string {
	if p.Code == CodeCredential { // whose rest is what follows from it
		return p.Message
	}
	wrong, _ := cutRemedy(p.Message)
	return wrong
}

// Remedy is what to do: the rest of the message after what is wrong or, where the
// message says it all at once, what the page of the code advises. It is empty
// only for a problem without a code.
func (p Problem) Remedy() string {
	if _, remedy := cutRemedy(p.Message); remedy != "" && p.Code != CodeCredential {
		return remedy
	}
	return remedies[p.Code]
}

// cutRemedy cuts a message at its first semicolon outside the words that it quotes.
func cutRemedy(message string) (wrong, remedy string) {
	quoted := false
	for i := 0; i < len(message); i++ {
		switch c := message[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted && strings.HasPrefix(message[i:], "; "):
			return message[:i], message[i+2:]
		}
	}
	return message, ""
}

// Problems is every mistake of one file, in the order of its lines. It is the
// error of [Parse], [Load] and [LoadConfig] for a file that could be read. Of more
// than [MaxProblems] the first are kept, and one more entry says how many others
// there are.
type Problems []Problem

// MaxProblems is how many mistakes of one file are told in full.
const MaxProblems = 100

// Error is one line per problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// sort puts problems in the order of the file.
func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}

// report keeps the first [MaxProblems] of a file, in its order, at little cost
// for the others. A file is read section by section, not from top to bottom, so
// up to twice as many are kept for a while.
type report struct {
	kept         Problems
	more         int // not kept
	full         bool
	line, column int // where the last of a full report is
}

// past says whether a problem at this place would not be kept.
func (r *report) past(line, column int) bool {
	return r.full && (line > r.line || line == r.line && column >= r.column)
}

// add keeps a problem that is not past.
func (r *report) add(p Problem) {
	r.kept = append(r.kept, p)
	if len(r.kept) >= 2*MaxProblems {
		r.cut()
	}
}

// cut drops what is beyond the first.
func (r *report) cut() {
	r.kept.sort()
	if len(r.kept) <= MaxProblems {
		return
	}
	r.more += len(r.kept) - MaxProblems
	clear(r.kept[MaxProblems:])
	r.kept, r.full = r.kept[:MaxProblems], true
	last := r.kept[MaxProblems-1]
	r.line, r.column = last.Line, last.Column
}

// all is what was reported; what names the kind of the entries, such as mistake.
func (r *report) all(what string) Problems {
	r.cut()
	if r.more == 0 {
		return r.kept
	}
	last := r.kept[len(r.kept)-1]
	if r.more > 1 {
		what += "s"
	}
	return append(r.kept, Problem{File: last.File, Line: last.Line, Column: last.Column,
		Message: "and " + thousands(r.more) + " more " + what + ", not listed; put these right first"})
}

// told gives mistakes their codes and their lines of the file.
func told(problems Problems, text []byte) Problems {
	for i := range problems {
		if p := &problems[i]; p.Code == "" {
			p.Code, p.Severity = codeOf(p.Message), SeverityError
		}
	}
	excerpts(problems, text)
	return problems
}

// warned gives warnings their codes and their lines of the file.
func warned(warnings Problems, text []byte) Problems {
	for i := range warnings {
		w := &warnings[i]
		w.Code, w.Severity = codeOf(w.Message), SeverityWarning
		if kinds[w.Code] == SeverityNote {
			w.Severity = SeverityNote
		}
	}
	excerpts(warnings, text)
	return warnings
}

// thousands is a count with commas, such as 199,900.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
