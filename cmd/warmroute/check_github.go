package main

import (
	"io"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// checkGitHub prints what was found as commands of a GitHub workflow, which shows
// them beside the lines of the file (docs.github.com, workflow commands).
func checkGitHub(out io.Writer, found *checked) error {
	w := &writer{to: out}
	for i := range found.all() {
		p := &found.all()[i]
		command := map[catalog.Severity]string{catalog.SeverityError: "error", catalog.SeverityWarning: "warning", catalog.SeverityNote: "notice"}[severity(p)]
		w.printf("::%s file=%s", command, property(p.File))
		if p.Line > 0 {
			w.printf(",line=%d,col=%d", p.Line, max(p.Column, 1))
		}
		w.printf(",title=%s::%s\n", property("warmroute "+p.Code), data(advice(p)))
	}
	return w.err
}

// data escapes the text of a command; lines would end it.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// property escapes a value before the text, where colons and commas separate.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
