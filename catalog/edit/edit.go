package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
)

// Document is a valid catalog with the places of its parts. It does not change
// and may be used by several goroutines.
type Document struct {
	File    string
	Text    []byte
	Catalog *catalog.Catalog

	source   *source
	root     *node
	comments []comment
	manner   manner
}

// Open reads a catalog that is to be changed. The error is [catalog.Problems]
// where it is not valid: what cannot be read is not edited.
func Open(file string, text []byte) (*Document, error) {
	c, err := catalog.Parse(file, text)
	if err != nil {
		return nil, err
	}
	d := &Document{File: file, Text: text, Catalog: c, source: newSource(text)}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) != 1 {
		return nil, fmt.Errorf("%s: cannot be read twice the same way: %w", file, err)
	}
	if d.root, d.comments, err = plant(d.source, document.Content[0]); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d.manner = mannerOf(d.source, d.root)
	return d, nil
}

// Refusal is a change that cannot be made.
type Refusal struct {
	Change int // its place among those asked for
	Path   Path
	Why    string
}

// Refusals are all the changes of one edit that cannot be made; none of the
// others was made either.
type Refusals []Refusal

// Error is one line per refusal.
func (r Refusals) Error() string {
	lines := make([]string, len(r))
	for i, x := range r {
		lines[i] = fmt.Sprintf("%s: %s", x.Path, x.Why)
	}
	return strings.Join(lines, "\n")
}

// ErrUnsure is an edit whose result was not exactly what was asked for, so that
// it was thrown away.
var ErrUnsure = errors.New("the edit would not be exactly what was asked for, so nothing was changed")

// Result is an edited catalog beside what it was.
type Result struct {
	*Document        // the new one
	Before    []byte // the text it had
	splices   []splice
}

// Changed says whether the edit changed anything.
func (r *Result) Changed() bool { return len(r.splices) > 0 }

// Edit makes all the changes, or none.
//
// The error is [Refusals] where single changes cannot be made, [ErrUnsure] where
// the result is not exactly as asked, and [catalog.Problems] where it would not be
// a valid catalog.
func (d *Document) Edit(changes ...Change) (*Result, error) {
	e := &editor{Document: d, inserts: map[*node][]insert{}}
	want := grow(d.root)
	for i, c := range changes {
		e.change(i, c)
		if len(e.refused) == 0 {
			want.change(c)
		}
	}
	e.flush()
	e.end()
	if len(e.refused) > 0 {
		return nil, e.refused
	}
	text, err := spliced(d.Text, e.splices)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", d.File, ErrUnsure, err)
	}
	after, err := Open(d.File, text)
	if err != nil {
		return nil, err
	}
	if at, same := want.equal(grow(after.root), nil); !same {
		return nil, fmt.Errorf("%s: %w: %s is not as asked", d.File, ErrUnsure, at)
	}
	if lost, ok := lostComment(d, after); ok {
		return nil, fmt.Errorf("%s: %w: the comment %q would be lost", d.File, ErrUnsure, lost)
	}
	return &Result{Document: after, Before: d.Text, splices: e.splices}, nil
}

// splice is a piece of text that takes the place of another.
type splice struct {
	start, end int
	text       string
}

// spliced is the text with all the splices made; those that begin at the same
// place follow each other in their order.
func spliced(text []byte, splices []splice) ([]byte, error) {
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var to bytes.Buffer
	at := 0
	for _, s := range splices {
		if s.start < at {
			return nil, errors.New("two changes are at the same place")
		}
		to.Write(text[at:s.start])
		to.WriteString(s.text)
		at = s.end
	}
	to.Write(text[at:])
	return to.Bytes(), nil
}

// editor turns changes into splices.
type editor struct {
	*Document
	splices []splice
	inserts map[*node][]insert // what is new in a mapping or a list
	order   []*node            // of inserts
	refused Refusals
}

// insert is one thing that is new in a mapping or a list.
type insert struct {
	change int
	field  Field // its Value alone for a list
	path   Path
}

func (e *editor) refuse(change int, path Path, format string, args ...any) {
	e.refused = append(e.refused, Refusal{change, path, fmt.Sprintf(format, args...)})
}

// unended says whether a literal or folded scalar ends the file without a line
// break that its value would have. What follows it gives it one, unless its head
// says otherwise.
func (d *Document) unended(n *node) bool {
	head := d.Text[n.start:d.source.lineEnd(n.start)]
	return n.end == len(d.Text) && n.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && !bytes.ContainsAny(head, "+-\n")
}

// end keeps the value of a scalar that the end of the file has ended so far.
func (e *editor) end() {
	n := e.root
	for n.kind != yaml.ScalarNode {
		switch {
		case len(n.fields) > 0:
			n = n.fields[len(n.fields)-1].value
		case len(n.items) > 0:
			n = n.last()
		default:
			return
		}
	}
	if e.unended(n) && slices.ContainsFunc(e.splices, func(s splice) bool { return s.start == len(e.Text) && s.text != "" }) {
		e.splices = append(e.splices, splice{n.start + 1, n.start + 1, "-"})
	}
}

// change finds the place of a change.
func (e *editor) change(index int, c Change) {
	n := e.root
	for i, step := range c.Path {
		next, fault := n.step(step)
		if fault != "" {
			e.refuse(index, c.Path, "%s", fault)
			return
		}
		if next != nil {
			n = next
			continue
		}
		value, ok := c.missing(i)
		if !ok {
			e.refuse(index, c.Path, "there is no such place")
			return
		}
		e.insert(index, n, Field{Key: step.key, Value: value, Comment: c.Comment}, c.Path[:i+1])
		return
	}
	if c.Append {
		if n.kind != yaml.SequenceNode {
			e.refuse(index, c.Path, "is no list")
			return
		}
		e.insert(index, n, Field{Value: c.Value, Comment: c.Comment}, c.Path)
		return
	}
	e.lay(index, n, c.Value, c.Path)
}

// missing is what the key at step i of the path is to hold, where it is not there.
func (c *Change) missing(i int) (v Value, ok bool) {
	v = c.Value
	if c.Append {
		v = List(v)
	}
	for j := len(c.Path) - 1; j >= i; j-- {
		if c.Path[j].entry || c.Path[j].list {
			return Value{}, false
		}
		if j > i {
			v = Map(Field{Key: c.Path[j].key, Value: v})
		}
	}
	return v, true
}

// step goes one step down; next is nil where there is nothing yet.
func (n *node) step(s Step) (next *node, fault string) {
	switch {
	case s.list:
		if n.kind != yaml.SequenceNode || s.index < 0 || s.index >= len(n.items) {
			return nil, "there is no such item"
		}
		return n.items[s.index], ""
	case s.entry:
		for _, item := range n.items {
			if at := item.get(s.key); at != nil && at.text == s.is {
				return item, ""
			}
		}
		return nil, "there is no such item"
	case n.kind != yaml.MappingNode:
		return nil, "a mapping is expected before " + s.key
	}
	return n.get(s.key), ""
}

// lay lays a value over the one that is there.
func (e *editor) lay(index int, n *node, v Value, path Path) {
	switch {
	case n.kind != v.kind:
		e.replace(index, n, v, path)
	case v.kind == yaml.ScalarNode:
		if !v.is(n.text) {
			e.splices = append(e.splices, splice{n.start, n.end, respelled(n, v, e.inFlow(n), e.manner.json)})
		}
	case v.kind == yaml.MappingNode:
		for _, f := range v.fields {
			at := append(slices.Clone(path), Key(f.Key))
			if old := n.get(f.Key); old != nil {
				e.lay(index, old, f.Value, at)
				continue
			}
			e.insert(index, n, f, at)
		}
	case len(n.items) == len(v.items):
		for i, item := range v.items {
			e.lay(index, n.items[i], item, append(slices.Clone(path), Item(i)))
		}
	case n.begins(v):
		for i, item := range v.items {
			if i < len(n.items) {
				e.lay(index, n.items[i], item, append(slices.Clone(path), Item(i)))
				continue
			}
			e.insert(index, n, Field{Value: item}, path)
		}
	default:
		e.replace(index, n, v, path)
	}
}

// begins says whether a list's items are, by their first key, the first of a longer
// one, which can then be appended to.
func (n *node) begins(v Value) bool {
	if len(n.items) == 0 || len(n.items) > len(v.items) {
		return false
	}
	for i, item := range n.items {
		w := &v.items[i]
		switch {
		case item.kind != w.kind:
			return false
		case w.kind == yaml.ScalarNode && !w.is(item.text):
			return false
		case w.kind == yaml.MappingNode:
			if len(w.fields) == 0 {
				return false
			}
			if at := item.get(w.fields[0].Key); at == nil || at.kind != yaml.ScalarNode || !w.fields[0].Value.is(at.text) {
				return false
			}
		}
	}
	return true
}

// inFlow says whether a node stands between brackets.
func (e *editor) inFlow(n *node) bool {
	at := e.root
	for {
		if at.flow && at != n {
			return true
		}
		next := at.child(n.start)
		if next == nil || next == at {
			return false
		}
		at = next
	}
}

// child is the value inside n that holds an offset, nil without one.
func (n *node) child(at int) *node {
	for i := range n.fields {
		f := &n.fields[i]
		switch {
		case at >= f.key.start && at < f.key.end:
			return f.key
		case at >= f.value.start && at < f.value.end:
			return f.value
		}
	}
	for _, item := range n.items {
		if at >= item.start && at < item.end {
			return item
		}
	}
	return nil
}

// replace puts a value of another form in the place of the one that is there. It
// is written between brackets: what stood around it stays.
func (e *editor) replace(index int, n *node, v Value, path Path) {
	end := n.end
	if n.kind != yaml.ScalarNode && !n.flow { // what is on its last line is about its last item
		end = e.source.lineEnd(n.end)
	}
	for _, c := range e.comments {
		if c.start >= n.start && c.start < end {
			e.refuse(index, path, "there is a comment inside the value, on line %d, which would be lost; change it by hand", e.source.line(c.start)+1)
			return
		}
	}
	w := &writer{manner: e.manner}
	if v.kind == yaml.SequenceNode && len(v.items) > 0 && e.ownLines(n) {
		key := ""
		if last := len(path) - 1; last >= 0 {
			key = path[last].key
		}
		for i, item := range v.items {
			if i > 0 {
				w.newline(n.column)
			}
			w.item(key, item, n.column, cmp.Or(n.last(), n))
		}
		e.splices = append(e.splices, splice{n.start, n.end, w.String()})
		return
	}
	w.inline(v, n)
	e.splices = append(e.splices, splice{n.start, n.end, w.String()})
}

// ownLines says whether a list can take the place of a node over several lines.
func (e *editor) ownLines(n *node) bool {
	return !n.flow && (n.kind == yaml.SequenceNode || n.kind == yaml.MappingNode && blank(e.Text[n.start-e.source.column(n.start):n.start]))
}
