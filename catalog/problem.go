package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake of meaning, at its place, with its remedy.
type Problem struct {
	File    string
	Line    int
	Column  int
	Where   string // such as `model "m", route "beta"`; empty at the top
	Message string // what is wrong and what to do
	Code    string // of a lint, such as "price-age"; empty for a mistake
}

// String is the problem as one line: file:line:column: where: message.
func (p Problem) String() string {
	where := p.Where
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", p.File, p.Line, p.Column, where, p.Message)
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

// thousands is a count with commas, such as 199,900.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
