package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/warmroute/warmroute/catalog"
)

// tellInFull is how many findings of one code the text format tells; the others
// are counted, so that one habit of a large catalog does not hide everything else.
const tellInFull = 5

// checkText prints what was found for people.
func checkText(out io.Writer, found *checked) error {
	w := &writer{to: out}
	told, more := map[string]int{}, []string{}
	for i := range found.all() {
		p := &found.all()[i]
		if told[p.Code]++; len(found.mistakes) == 0 && told[p.Code] > tellInFull {
			if told[p.Code] == tellInFull+1 {
				more = append(more, p.Code)
			}
			continue
		}
		w.printf("%s:%d:%d: %s[%s]: %s%s\n", p.File, p.Line, p.Column, severity(p), p.Code, where(p), p.Wrong())
		if text := p.Excerpt.Text; text != "" {
			number := fmt.Sprintf("%5d", p.Line)
			w.printf("%s | %s\n%s | %s^\n", number, text, strings.Repeat(" ", len(number)), strings.Repeat(" ", p.Excerpt.Column-1))
		}
		if remedy := p.Remedy(); remedy != "" {
			w.printf("      = %s\n", remedy)
		}
	}
	for _, code := range more {
		w.printf("and %d more of %s; --format json lists all\n", told[code]-tellInFull, code)
	}
	if len(found.mistakes) > 0 {
		return w.err
	}
	cat, routes := found.catalog, 0
	for _, m := range cat.Models {
		routes += len(m.Routes)
	}
	w.printf("%s is good: %s, %s, %s, %s", found.name, count(len(cat.Vendors), "vendor"),
		count(len(cat.Models), "model"), count(routes, "route"), countOf(len(cat.Policies), "policy", "policies"))
	var rest []string
	for _, n := range []struct {
		n    int
		noun string
	}{{found.Count(catalog.SeverityWarning), "warning"}, {found.Count(catalog.SeverityNote), "note"}} {
		if n.n > 0 {
			rest = append(rest, count(n.n, n.noun))
		}
	}
	if n := len(found.Silenced); n > 0 {
		rest = append(rest, fmt.Sprintf("%d silenced", n))
	}
	if len(rest) > 0 {
		w.printf("; %s", strings.Join(rest, ", "))
	}
	if have, need := keysOf(cat); need > 0 {
		w.printf("; %d of %s a key", have, countOf(need, "vendor has", "vendors have"))
	}
	w.printf("\n")
	return w.err
}

// writer keeps the first error of many small writes.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.to, format, args...)
	}
}

func severity(p *catalog.Problem) catalog.Severity {
	if p.Severity == "" {
		return catalog.SeverityError
	}
	return p.Severity
}

func where(p *catalog.Problem) string {
	if p.Where == "" {
		return ""
	}
	return p.Where + ": "
}

// advice is a problem on one line, with what to do also where its own message does not
// say it.
func advice(p *catalog.Problem) string {
	text := where(p) + p.Message
	if remedy := p.Remedy(); remedy != "" && !strings.Contains(p.Message, remedy) {
		text += "; " + remedy
	}
	return text
}

// everyCode stands for --explain without a code.
const everyCode = "all codes"

// explainCode prints the page on a code, or the list of all.
func explainCode(out io.Writer, code string, asJSON bool) error {
	if code == everyCode {
		return listCodes(out, asJSON)
	}
	page, near, ok := catalog.Explain(code)
	if !ok {
		advice := "warmroute check --explain lists all"
		if near != "" {
			advice = fmt.Sprintf("did you mean %q?", near)
		}
		return usage(fmt.Errorf("there is no code %q; %s", code, advice))
	}
	if asJSON {
		return printJSON(out, pageOf(page))
	}
	_, err := fmt.Fprintf(out, "%s[%s]: %s\n\n%s\n", page.Severity, page.Code, page.Title, page.Text)
	return err
}

// pageJSON is a page, or its heading, as JSON: stable for scripts.
type pageJSON struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Text     string `json:"text,omitempty"`
	Example  string `json:"example,omitempty"`
	Fixed    string `json:"fixed,omitempty"`
}

func pageOf(p catalog.Page) pageJSON {
	return pageJSON{p.Code, string(p.Severity), p.Title, p.Text, p.Example, p.Fixed}
}

func listCodes(out io.Writer, asJSON bool) error {
	var all []pageJSON
	longest := 0
	for _, code := range catalog.Codes() {
		page, _, _ := catalog.Explain(code)
		all = append(all, pageJSON{Code: code, Severity: string(page.Severity), Title: page.Title})
		longest = max(longest, utf8.RuneCountInString(code))
	}
	if asJSON {
		return printJSON(out, all)
	}
	w := &writer{to: out}
	for _, page := range all {
		w.printf("%-7s  %-*s  %s\n", page.Severity, longest, page.Code, page.Title)
	}
	return w.err
}
