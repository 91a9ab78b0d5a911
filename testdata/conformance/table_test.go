package conformance_test

import (
	"fmt"
	"slices"
	"strings"
)

// gatewayResults are the scenarios of one gateway and how they went.
type gatewayResults struct {
	Title, Folder string
	Scenarios     []*scenario
	Failed        []string
	Cannot        []cannot
	Pages         []string // pages and sections in their own order; empty: as the scenarios have them
}

// pageList reads pages.txt: a page and section on each line.
func pageList(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// strays are pages that scenarios and cannot.txt name and pages.txt does not.
func (g *gatewayResults) strays() []string {
	if len(g.Pages) == 0 {
		return nil
	}
	var strays []string
	note := func(page, where string) {
		if !slices.Contains(g.Pages, page) {
			strays = append(strays, fmt.Sprintf("%q of %s", page, where))
		}
	}
	for _, s := range g.Scenarios {
		note(s.Page, s.File)
	}
	for _, c := range g.Cannot {
		note(c.Page, "cannot")
	}
	return strays
}

// cannot is a statement that no scenario shows, and why.
type cannot struct{ Statement, Page, Reason string }

// parseCannot reads cannot.txt: entries of statement, page and reason, with blank
// lines between them.
func parseCannot(text string) ([]cannot, error) {
	all, err := lines(text)
	if err != nil {
		return nil, err
	}
	var list []cannot
	var into *string
	for i, l := range all {
		if i == 0 || l.blanks {
			list = append(list, cannot{})
			into = nil
		}
		entry := &list[len(list)-1]
		if l.depth == 2 {
			if into == nil {
				return nil, mistake(l.line, "continues nothing")
			}
			*into += " " + l.text
			continue
		}
		name, value, _ := strings.Cut(l.text, ":")
		switch name {
		case "statement":
			into = &entry.Statement
		case "page":
			into = &entry.Page
		case "reason":
			into = &entry.Reason
		default:
			return nil, mistake(l.line, "%q is none of statement, page and reason", name)
		}
		if *into != "" {
			return nil, mistake(l.line, "%s stands twice", name)
		}
		*into = strings.TrimSpace(value)
	}
	for i, c := range list {
		if c.Statement == "" || c.Page == "" || c.Reason == "" {
			return nil, mistake(1, "entry %d lacks statement, page or reason", i+1)
		}
	}
	return list, nil
}

// render writes the table of every gateway.
func render(all []gatewayResults) string {
	var b strings.Builder
	b.WriteString(`# What other gateways document, and what shows that it holds here

Each line is a statement of a gateway's public documentation in our own words, and the scenario that shows that
warmroute with that gateway's profile does the same; the last part is about coding agents, and what must become of the
requests that they were seen to send. Scenarios are played against the real client APIs over simulated
vendors by ` + "`go test ./testdata/conformance`" + `, which also writes this file (` + "`-run TestConformance -update`" + `) and
fails where it is stale.

| gateway | scenarios | pass | statements that cannot be shown |
|---|---:|---:|---:|
`)
	for _, g := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %d | %d |\n", g.Title, anchor(g.Title), len(g.Scenarios), len(g.Scenarios)-len(g.Failed), len(g.Cannot))
	}
	for _, g := range all {
		fmt.Fprintf(&b, "\n## %s\n", g.Title)
		for _, page := range pages(&g) {
			fmt.Fprintf(&b, "\n### %s\n\n| statement | scenario | |\n|---|---|---|\n", page)
			for _, s := range g.Scenarios {
				if s.Page != page {
					continue
				}
				result := "pass"
				if slices.Contains(g.Failed, s.File) {
					result = "**fails**"
				}
				fmt.Fprintf(&b, "| %s | [%s](%s/%s.txt) | %s |\n", cell(s.Statement), s.File, g.Folder, s.File, result)
			}
		}
		if len(g.Cannot) == 0 {
			continue
		}
		b.WriteString("\n### Cannot hold, or cannot be shown\n\n| statement | page | why |\n|---|---|---|\n")
		for _, c := range g.Cannot {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(c.Statement), cell(c.Page), cell(c.Reason))
		}
	}
	return b.String()
}

// pages are the pages and sections that scenarios are of, in the order of pages.txt,
// else in the one in which they first stand.
func pages(g *gatewayResults) []string {
	var found []string
	for _, s := range g.Scenarios {
		if !slices.Contains(found, s.Page) {
			found = append(found, s.Page)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return slices.Index(g.Pages, a) - slices.Index(g.Pages, b) })
	return found
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func anchor(title string) string { return strings.ToLower(strings.ReplaceAll(title, " ", "-")) }
