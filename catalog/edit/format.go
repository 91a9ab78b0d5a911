package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
)

// ErrNotFormatted is a catalog whose form cannot be put right without losing
// something. Its text says what.
var ErrNotFormatted = errors.New("cannot be formatted")

// Format is a catalog in its canonical form: keys in the order of the schema, two
// spaces for each level, one blank line at most, flow mappings on one line where
// they fit. Comments move with what they stand at, scalars keep their text, and
// what the catalog means does not change: it is read again and compared.
//
// A format of a format changes nothing. The error is [catalog.Problems] for a file
// that is not valid, and [ErrNotFormatted] for one whose form cannot be kept.
func Format(file string, text []byte) ([]byte, error) {
	d, err := Open(file, text)
	if err != nil {
		return nil, err
	}
	f := &former{Document: d}
	formatted, err := f.document()
	if err != nil {
		return nil, err
	}
	after, err := Open(file, formatted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: it would no longer be read: %w", file, ErrNotFormatted, err)
	}
	if at, same := grow(d.root).means(grow(after.root), nil); !same {
		return nil, fmt.Errorf("%s: %w: %s would change", file, ErrNotFormatted, strings.Join(at, "."))
	}
	if differences := Differences(d.Catalog, after.Catalog); len(differences) > 0 {
		return nil, fmt.Errorf("%s: %w: it would change its meaning: %s", file, ErrNotFormatted, differences[0])
	}
	if was, is := d.remarks(), after.remarks(); !slices.Equal(was, is) {
		return nil, fmt.Errorf("%s: %w: a comment would be lost", file, ErrNotFormatted)
	}
	return formatted, nil
}

// remarks are the comments of a document, sorted.
func (d *Document) remarks() []string {
	all := make([]string, len(d.comments))
	for i, c := range d.comments {
		all[i] = strings.TrimSpace(string(d.Text[c.start:c.end]))
	}
	slices.Sort(all)
	return all
}

// means compares two trees whose keys may stand in another order where the schema
// gives them one.
func (t *tree) means(is *tree, path []string) (at []string, same bool) {
	if t.kind != is.kind || t.text != is.text || len(t.names) != len(is.names) || len(t.items) != len(is.items) {
		return path, false
	}
	if catalog.KeyOrder(path...) == nil && !slices.Equal(t.names, is.names) {
		return path, false
	}
	for _, name := range t.names {
		value, ok := is.keys[name]
		if !ok {
			return append(path, name), false
		}
		if at, same := t.keys[name].means(value, append(slices.Clone(path), name)); !same {
			return at, false
		}
	}
	for i := range t.items {
		if at, same := t.items[i].means(is.items[i], append(slices.Clone(path), "")); !same {
			return at, false
		}
	}
	return nil, true
}

// former writes a document in its canonical form.
type former struct {
	*Document
	next int // of the comments that have no place yet
	out  bytes.Buffer
}

// remark is a comment with what stands before it.
type remark struct {
	text  string
	gap   string // between the value and the comment, on its line
	blank bool   // a blank line above, of a comment on a line of its own
}

// piece is a key with its value, or an item of a list, with its comments.
type piece struct {
	key   *node // nil for an item
	value *node
	block *block // of the value where it is written over several lines

	start int
	blank bool     // a blank line above it and its comments
	head  []remark // above it
	apart bool     // a blank line between them and it
	line  []remark // on its line
	tail  []remark // below it
}

// block is a collection that is written over several lines.
type block struct {
	node   *node
	pieces []*piece
	foot   []remark
}

// document writes the whole text.
func (f *former) document() ([]byte, error) {
	root := f.root
	lines := f.source.lines
	first := lines[f.source.line(root.start)]
	prelude := f.uncommentedBefore(root.start)
	var marker int
	if i := strings.Index(prelude, "---"); i >= 0 {
		marker = f.source.lineEnd(lines[0] + i)
		if marker > first || !blank([]byte(prelude[i+3:min(len(prelude), marker-lines[0])])) {
			return nil, fmt.Errorf("%s: %w: something stands on the line of ---; begin it on the next", f.File, ErrNotFormatted)
		}
	}
	if rest := (&editor{Document: f.Document}).uncommented(root.end, len(f.Text)); !blank(rest) {
		return nil, fmt.Errorf("%s: %w: the file ends with ...; remove that line", f.File, ErrNotFormatted)
	}
	f.out.Write(f.Text[:lines[0]])
	if marker > 0 {
		f.out.Write(f.Text[lines[0]:marker])
		f.out.WriteString(f.source.end())
		f.until(marker)
	}
	head := f.header(root)
	for i, r := range head {
		if r.blank && i > 0 {
			f.out.WriteString(f.manner.crlf)
		}
		f.out.WriteString(r.text + f.manner.crlf)
	}
	below := root.start
	if f.next < len(f.comments) {
		below = min(below, f.comments[f.next].start)
	}
	if len(head) > 0 && f.blankAbove(below) {
		f.out.WriteString(f.manner.crlf)
	}
	b, err := f.collect(root, nil, len(f.Text), -1)
	if err != nil {
		return nil, err
	}
	for f.next < len(f.comments) { // below everything else
		b.foot = append(b.foot, f.remark(f.comments[f.next]))
		f.next++
	}
	f.write(b, 0, nil, false)
	return f.out.Bytes(), nil
}

func (f *former) uncommentedBefore(to int) string {
	return string((&editor{Document: f.Document}).uncommented(f.source.lines[0], to))
}

// header are the comments that stay at the head of the file whatever key comes
// first: those that a blank line sets apart, and the line that names the schema.
func (f *former) header(root *node) []remark {
	start := root.start
	stop := f.next
	for i := f.next; i < len(f.comments) && f.comments[i].start < start; i++ {
		c := f.comments[i]
		next := start
		if i+1 < len(f.comments) {
			next = min(next, f.comments[i+1].start)
		}
		if f.blankAbove(next) || strings.HasPrefix(string(f.Text[c.start:c.end]), "# yaml-language-server:") {
			stop = i + 1
		}
	}
	var head []remark
	for ; f.next < stop; f.next++ {
		head = append(head, f.remark(f.comments[f.next]))
	}
	return head
}

// until takes the comments before an offset.
func (f *former) until(to int) []remark {
	var all []remark
	for f.next < len(f.comments) && f.comments[f.next].start < to {
		all = append(all, f.remark(f.comments[f.next]))
		f.next++
	}
	return all
}

func (f *former) remark(c comment) remark {
	line := f.source.lines[f.source.line(c.start)]
	before := f.Text[line:c.start]
	gap := before[len(bytes.TrimRight(before, " \t")):]
	return remark{
		text:  strings.TrimRight(string(f.Text[c.start:c.end]), " \t"),
		gap:   strings.ReplaceAll(string(gap), "\t", " "),
		blank: f.blankAbove(c.start),
	}
}

// blankAbove says whether the line above the one that holds an offset is blank.
func (f *former) blankAbove(at int) bool {
	line := f.source.line(at)
	return line > 0 && blank(f.Text[f.source.lines[line-1]:f.source.lines[line]])
}

// collect gives the comments of a collection their places. lead are comments that
// go to its first piece, limit is where the next thing after it begins, and outer
// the column of the collection that it stands in.
func (f *former) collect(n *node, lead []remark, limit, outer int) (*block, error) {
	b := &block{node: n}
	for _, x := range n.fields {
		b.pieces = append(b.pieces, &piece{key: x.key, value: x.value, start: x.key.start})
	}
	for i, item := range n.items {
		p := &piece{value: item, start: item.start}
		if !n.flow {
			p.start = n.dashes[i]
		}
		b.pieces = append(b.pieces, p)
	}
	for i, p := range b.pieces {
		next := limit
		if i+1 < len(b.pieces) {
			next = b.pieces[i+1].start
		} else if n.flow && !n.bare {
			next = n.end - 1
		}
		p.head = append(lead, f.until(p.start)...)
		lead = nil
		if i > 0 {
			b.pieces[i-1].takeTail(p, f.blankAbove(p.start))
		}
		p.blank = f.blankAbove(p.start)
		if len(p.head) > 0 {
			p.blank, p.apart = p.head[0].blank, p.blank
		}
		if err := f.piece(p, n, next); err != nil {
			return nil, err
		}
	}
	if n.flow {
		b.foot = append(lead, f.until(n.end)...)
		return b, nil
	}
	for f.next < len(f.comments) {
		c := f.comments[f.next]
		if column := f.source.column(c.start); c.start >= limit || column < n.column || column <= outer {
			break
		}
		b.foot = append(b.foot, f.remark(c))
		f.next++
	}
	return b, nil
}

// takeTail takes from the comments above the next piece those that stand close
// below this one and are set apart from the next.
func (p *piece) takeTail(next *piece, blank bool) {
	if len(next.head) == 0 || next.head[0].blank {
		return
	}
	for i := range next.head {
		if last := i == len(next.head)-1; last && blank || !last && next.head[i+1].blank {
			p.tail, next.head = append(p.tail, next.head[:i+1]...), next.head[i+1:]
			return
		}
	}
}

// piece gives the comments of one piece their places.
func (f *former) piece(p *piece, n *node, next int) error {
	keyLine := f.source.line(p.start)
	if p.key != nil {
		keyLine = f.source.line(p.key.end)
		if bytes.ContainsAny(f.Text[p.key.start:p.key.end], "\r\n") {
			return fmt.Errorf("%s:%d: %w: a key that goes over several lines; write it on one", f.File, keyLine+1, ErrNotFormatted)
		}
	}
	var below []remark
	for f.next < len(f.comments) && f.comments[f.next].start < p.value.start {
		c := f.comments[f.next]
		r := f.remark(c)
		f.next++
		if f.source.line(c.start) == keyLine && p.key != nil {
			p.line = append(p.line, r)
			continue
		}
		below = append(below, r)
	}
	column := -1
	if !n.flow {
		column = n.column
	}
	v := p.value
	switch {
	case v.kind == yaml.ScalarNode:
		p.head = append(p.head, below...)
		f.until(v.end) // the head of a literal, which keeps its text
	case len(v.fields)+len(v.items) == 0 && !f.commented(v):
		p.head = append(p.head, below...)
	default:
		var err error
		if p.block, err = f.collect(v, below, next, column); err != nil {
			return err
		}
	}
	stop := f.source.lineEnd(v.end)
	for f.next < len(f.comments) && f.comments[f.next].start < min(stop, max(next, v.end)) {
		p.line = append(p.line, f.remark(f.comments[f.next]))
		f.next++
	}
	if v.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && v.kind == yaml.ScalarNode {
		p.head, p.line = append(p.head, p.line...), nil
	}
	if n.flow { // behind the comma
		for f.next < len(f.comments) && f.comments[f.next].start < next && f.source.line(f.comments[f.next].start) == f.source.line(v.end) {
			p.line = append(p.line, f.remark(f.comments[f.next]))
			f.next++
		}
	}
	return nil
}

// commented says whether a comment stands in a value.
func (f *former) commented(n *node) bool {
	for i := f.next; i < len(f.comments) && f.comments[i].start < n.end; i++ {
		if f.comments[i].start >= n.start {
			return true
		}
	}
	return false
}
