package edit

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Diff is the edit as a unified diff with three lines of context, empty where
// nothing changed. It has no colours.
func (r *Result) Diff() string {
	if len(r.splices) == 0 {
		return ""
	}
	old, now := linesOf(r.Before), linesOf(r.Text)
	from, to := startsOf(old), startsOf(now)
	type part struct{ a, b, c, d int } // lines a to b became lines c to d, from 0 and exclusive
	var parts []part
	shift := 0
	for _, s := range r.splices {
		p := part{a: lineAt(from, s.start), b: lineAt(from, s.end) + 1, c: lineAt(to, s.start+shift), d: lineAt(to, s.start+shift+len(s.text)) + 1}
		shift += len(s.text) - (s.end - s.start)
		if last := len(parts) - 1; last >= 0 && p.a < parts[last].b {
			parts[last].b, parts[last].d = max(parts[last].b, p.b), max(parts[last].d, p.d)
			continue
		}
		parts = append(parts, p)
	}
	for i := range parts { // what a splice's lines have in common is no change
		p := &parts[i]
		p.b, p.d = min(p.b, len(old)), min(p.d, len(now))
		for p.a < p.b && p.c < p.d && bytes.Equal(old[p.a], now[p.c]) {
			p.a, p.c = p.a+1, p.c+1
		}
		for p.a < p.b && p.c < p.d && bytes.Equal(old[p.b-1], now[p.d-1]) {
			p.b, p.d = p.b-1, p.d-1
		}
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.a == p.b && p.c == p.d })
	const context = 3
	var w strings.Builder
	fmt.Fprintf(&w, "--- %s\n+++ %s\n", r.File, r.File)
	for i := 0; i < len(parts); {
		j := i + 1
		for j < len(parts) && parts[j].a-parts[j-1].b <= 2*context {
			j++
		}
		first, last := parts[i], parts[j-1]
		lead := min(context, first.a)
		tail := min(context, len(old)-last.b)
		fmt.Fprintf(&w, "@@ -%s +%s @@\n", hunkRange(first.a-lead, last.b+tail), hunkRange(first.c-lead, last.d+tail))
		at := first.a - lead
		for _, p := range parts[i:j] {
			printLines(&w, ' ', old[at:p.a])
			printLines(&w, '-', old[p.a:p.b])
			printLines(&w, '+', now[p.c:p.d])
			at = p.b
		}
		printLines(&w, ' ', old[at:last.b+tail])
		i = j
	}
	return w.String()
}

// hunkRange is where a piece stands, as diffs name it: its first line and how many.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprintf("%d", from+1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func printLines(w *strings.Builder, mark byte, lines [][]byte) {
	for _, line := range lines {
		w.WriteByte(mark)
		w.Write(line)
		if !bytes.HasSuffix(line, []byte("\n")) {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// startsOf is where each line begins.
func startsOf(lines [][]byte) []int {
	starts := make([]int, len(lines))
	at := 0
	for i, line := range lines {
		starts[i] = at
		at += len(line)
	}
	return starts
}

// lineAt is the line that holds an offset, from 0.
func lineAt(starts []int, at int) int {
	return max(sort.SearchInts(starts, at+1)-1, 0)
}

// linesOf cuts a text after every line feed, as diffs count lines.
func linesOf(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}
