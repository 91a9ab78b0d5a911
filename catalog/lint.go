package catalog

import (
	"fmt"
	"io"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// Findings are what is remarkable in a catalog that has no mistake.
type Findings struct {
	Problems Problems   // warnings and notes, in the order of the file
	Silenced []Silenced // what the file calls meant, in the same order
}

// Count is how many of the problems have a severity.
func (f *Findings) Count(s Severity) int {
	n := 0
	for i := range f.Problems {
		if f.Problems[i].Severity == s {
			n++
		}
	}
	return n
}

// Lint judges a catalog as its user would: what is most likely a slip, what costs
// money without a word, and where affinity can never engage. text is what c was
// read from; nothing of it is kept. now decides which prices hold and how old they
// are.
//
// c.Warnings are among the findings, unless a finer rule says the same. What the
// file silences is apart, and a silence of nothing is a note. Routes out of use are
// not judged. A text that is not that of c gives findings without places.
func Lint(c *Catalog, text []byte, now time.Time) Findings {
	r := &reader{file: c.Path, what: "catalog"}
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}
	if document, problem := r.document(text, ""); problem == nil && digest(text) == c.Digest {
		root = document
	}
	l := &linter{reader: r, catalog: c, now: now, outline: outlineOf(root), text: text}
	l.silences = r.readSilences(l.outline)
	l.served = map[*Vendor][]*Route{}
	for _, m := range c.Models {
		for _, route := range l.inUse(m) {
			l.served[route.Vendor] = append(l.served[route.Vendor], route)
		}
	}
	l.vendors()
	l.models()
	l.policies()
	l.names()
	return l.findings()
}

// LintFile is [Lint] of the file that c was read from, read once more. It finds
// nothing if the file is another by now.
func LintFile(c *Catalog, now time.Time) (Findings, error) {
	text, err := readRegular(c.Path, MaxSize)
	if err != nil {
		return Findings{}, fmt.Errorf("catalog cannot be read: %w", err)
	}
	if digest(text) != c.Digest {
		return Findings{}, nil
	}
	return Lint(c, text, now), nil
}

// Check is [Load] and [Lint] of one reading. The error is that of Load.
func Check(path string, keys Keys, now time.Time) (c *Catalog, f Findings, err error) {
	c, err = loadFile("catalog", path, func(from io.Reader) (c *Catalog, err error) {
		c, f, err = CheckFrom(path, from, keys, now)
		return c, err
	})
	return c, f, err
}

// CheckFrom is [ParseFrom] and [Lint] of what a reader holds, such as standard
// input. The error is that of ParseFrom.
func CheckFrom(name string, from io.Reader, keys Keys, now time.Time) (*Catalog, Findings, error) {
	text, err := readAll(from)
	if err != nil {
		return nil, Findings{}, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	c, err := ParseKeys(name, text, keys)
	if err != nil {
		return nil, Findings{}, err
	}
	return c, Lint(c, text, now), nil
}

// linter gathers findings.
type linter struct {
	*reader
	catalog  *Catalog
	now      time.Time
	outline  *outline
	text     []byte
	silences silences
	served   map[*Vendor][]*Route // in use
	looks    int                  // so far, see maxLooks
	found    Problems
	silenced []Silenced
}

// finding is where something was found: the node it is shown at, the words for
// it, and the mappings whose silence counts, the innermost first.
type finding struct {
	node   *yaml.Node
	where  string
	scopes []*yaml.Node
}

// say records a finding.
func (l *linter) say(at finding, severity Severity, code, format string, args ...any) {
	n := at.node
	if n == nil {
		n = l.outline.root
	}
	p := Problem{File: l.file, Line: max(n.Line, 1), Column: max(n.Column, 1), Where: at.where,
		Message: fmt.Sprintf(format, args...), Code: code, Severity: severity}
	if one := l.silences.of(code, at.scopes); one != nil {
		one.used = true
		l.silenced = append(l.silenced, Silenced{p, one.reason, one.key.Line})
		return
	}
	l.found = append(l.found, p)
}

// finer are the codes of warnings that the rules here say better than the reader.
var finer = map[string]bool{CodeReadInput: true, CodeMagnitude: true, CodeGap: true}

// findings are all of them, with the reader's warnings.
func (l *linter) findings() Findings {
	l.coverage()
	for _, w := range l.catalog.Warnings {
		if !finer[w.Code] {
			l.found = append(l.found, w)
		}
	}
	for _, s := range l.catalog.silenced {
		if finer[s.Code] {
			continue
		}
		l.silenced = append(l.silenced, s)
		if one := l.silences.of(s.Code, l.outline.scopesAt(s.Line, s.Column)); one != nil {
			one.used = true
		}
	}
	l.outline.each(func(n *yaml.Node, p *part) {
		for _, one := range l.silences[n] {
			// Whether a key is there depends on the machine, not on the file.
			if !one.used && one.code != CodeCredential {
				where := ""
				if p != nil {
					where = p.where(l.reader)
				}
				l.say(finding{one.key, where, []*yaml.Node{n, l.outline.root}}, SeverityNote, CodeUnused, "silence of %s silences nothing; remove it", one.code)
			}
		}
	})
	l.found.sort()
	excerpts(l.found, l.text)
	quiet := make(Problems, len(l.silenced))
	for i := range l.silenced {
		quiet[i] = l.silenced[i].Problem
	}
	excerpts(quiet, l.text)
	for i := range quiet {
		l.silenced[i].Problem = quiet[i]
	}
	slices.SortStableFunc(l.silenced, func(a, b Silenced) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return Findings{Problems: l.found, Silenced: l.silenced}
}

// models judges every model and its routes.
func (l *linter) models() {
	for _, m := range l.catalog.Models {
		used := l.inUse(m)
		for _, r := range used {
			l.route(r)
			l.cacheOf(r)
		}
		l.rivals(m, used)
		l.outliers(m, used)
		l.unknownReads(m, used)
	}
}

// inUse are the routes of a model that are not disabled.
func (l *linter) inUse(m *Model) []*Route {
	var used []*Route
	for _, r := range m.Routes {
		if r.Disabled == "" {
			used = append(used, r)
		}
	}
	return used
}

// atModel is where a model stands.
func (l *linter) atModel(m *Model) finding {
	e := l.outline.models[m.Name]
	return finding{e.key, "model " + l.quote(m.Name), []*yaml.Node{e.value, l.outline.root}}
}

// atVendor is where a vendor stands.
func (l *linter) atVendor(v *Vendor) finding {
	e := l.outline.vendors[v.Name]
	return finding{e.key, "vendor " + l.quote(v.Name), []*yaml.Node{e.value, l.outline.root}}
}

// atPolicy is where a policy stands.
func (l *linter) atPolicy(p *Policy) finding {
	e := l.outline.policies[p.Name]
	return finding{e.key, "policy " + l.quote(p.Name), []*yaml.Node{e.value, l.outline.root}}
}

// atRoute is where a route stands. Its vendor's silence counts before its model's.
func (l *linter) atRoute(r *Route) finding {
	model := l.outline.models[r.Model.Name].value
	f := finding{nil, "model " + l.quote(r.Model.Name) + ", route " + l.quote(r.Vendor.Name), nil}
	if model != nil {
		if all := items(model, "routes"); r.Index < len(all) {
			f.node = all[r.Index]
			f.scopes = append(f.scopes, f.node)
		}
	}
	f.scopes = append(f.scopes, l.outline.vendors[r.Vendor.Name].value, model, l.outline.root)
	return f
}

// in moves a finding to what stands deeper, as far as it is there.
func (f finding) in(keys ...string) finding {
	for _, key := range keys {
		if f.node == nil {
			return f
		}
		n := valueOf(f.node, key)
		if n == nil {
			return f
		}
		f.node = n
	}
	return f
}

// item moves a finding to an entry of a list.
func (f finding) item(i int) finding {
	if f.node != nil && f.node.Kind == yaml.SequenceNode && i < len(f.node.Content) {
		f.node = f.node.Content[i]
	}
	return f
}

// part adds words to where it is.
func (f finding) part(words string) finding {
	if words != "" {
		f.where += ", " + words
	}
	return f
}
