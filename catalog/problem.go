package catalog

import (
	"fmt"
	"strings"
)

// Problem is one mistake of meaning, at its place, with its remedy.
type Problem struct {
	File    string
	Line    int
	Column  int
	Where   string // such as `model "m", route "beta"`; empty at the top
	Message string // what is wrong and what to do
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
// error of [Parse] and [Load] for a file that could be read.
type Problems []Problem

// Error is one line per problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}
