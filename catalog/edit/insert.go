package edit

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
)

// insert keeps what is new in a mapping or a list until all of it is known.
func (e *editor) insert(change int, n *node, f Field, path Path) {
	if n.bare {
		e.refuse(change, path, "the mapping has no brackets of its own; put {} around it first")
		return
	}
	for _, other := range e.inserts[n] {
		if n.kind == yaml.MappingNode && other.field.Key == f.Key {
			e.refuse(change, path, "is added twice")
			return
		}
	}
	if _, known := e.inserts[n]; !known {
		e.order = append(e.order, n)
	}
	e.inserts[n] = append(e.inserts[n], insert{change, f, path})
}

// flush makes splices of what is new.
func (e *editor) flush() {
	for _, n := range e.order {
		switch {
		case n.flow:
			e.flushFlow(n)
		case n.kind == yaml.MappingNode:
			e.flushMapping(n)
		default:
			e.flushList(n)
		}
	}
}

// anchor is the place of the field behind which a new key goes: the last of those
// that stand before it in the canonical order; -1 if all that are known stand
// behind it, and the last of all for a key that is not known.
func (n *node) anchor(key string, order []string) int {
	place := slices.Index(order, key)
	if place < 0 {
		return len(n.fields) - 1
	}
	found := -1
	for i, f := range n.fields {
		if at := slices.Index(order, f.key.text); at >= 0 && at < place {
			found = i
		}
	}
	return found
}

// orderAt is the canonical order of the keys at a path.
func orderAt(path Path) []string {
	keys := make([]string, len(path))
	for i, s := range path {
		if !s.entry && !s.list {
			keys[i] = s.key
		}
	}
	return catalog.KeyOrder(keys...)
}

// sorted are the inserts of a mapping: before its first key, and behind each of
// its keys; among those of one place in canonical order.
func (e *editor) sorted(n *node) (first []insert, anchors [][]insert) {
	anchors = make([][]insert, max(len(n.fields), 1))
	all := e.inserts[n]
	order := orderAt(all[0].path[:max(len(all[0].path)-1, 0)])
	slices.SortStableFunc(all, func(a, b insert) int {
		return slices.Index(order, a.field.Key) - slices.Index(order, b.field.Key)
	})
	for _, x := range all {
		at := n.anchor(x.field.Key, order)
		if at < 0 && e.leads(n) {
			first = append(first, x)
			continue
		}
		if at < 0 {
			at = max(len(n.fields)-1, 0)
		}
		anchors[at] = append(anchors[at], x)
	}
	return first, anchors
}

// leads says whether something can be written before the first key of a mapping:
// not behind the dash of an item, nor above the head of the file.
func (e *editor) leads(n *node) bool {
	if len(n.fields) == 0 || n == e.root {
		return false
	}
	at := n.fields[0].key.start
	return n.flow || blank(e.Text[at-e.source.column(at):at])
}

// flushMapping writes new keys of a block mapping.
func (e *editor) flushMapping(n *node) {
	apart := e.apart(n)
	depth := 1
	if n == e.root.get("vendors") || n == e.root.get("models") || n == e.root.get("policies") {
		depth = 0
	}
	like := n.fields[len(n.fields)-1].value
	first, groups := e.sorted(n)
	if len(first) > 0 {
		w := &writer{manner: e.manner}
		for _, x := range first {
			w.WriteString(strings.Repeat(" ", n.column))
			w.field(x.field, n.column, e.like(x.path), depth)
			w.endLine()
			w.WriteString(w.crlf)
		}
		at := e.above(n.fields[0].key.start)
		e.splices = append(e.splices, splice{at, at, w.String()})
	}
	for i, group := range groups {
		if len(group) == 0 {
			continue
		}
		w := &writer{manner: e.manner}
		for _, x := range group {
			if apart {
				w.newline(0)
			}
			w.newline(n.column)
			if depth > 0 {
				like = e.like(x.path)
			}
			w.field(x.field, n.column, like, depth)
			w.endLine()
		}
		at := e.after(n.fields[i].value.end, n.column)
		e.splices = append(e.splices, splice{at, at, w.String()})
	}
}

// flushList writes new items of a block list.
func (e *editor) flushList(n *node) {
	apart := e.apart(n)
	w := &writer{manner: e.manner}
	for _, x := range e.inserts[n] {
		key := ""
		if len(x.path) > 0 {
			key = x.path[len(x.path)-1].key
		}
		if apart {
			w.newline(0)
		}
		w.newline(n.column)
		w.note(x.field.Comment)
		w.item(key, x.field.Value, n.column, n.last())
		w.endLine()
	}
	at := e.after(n.end, n.column)
	e.splices = append(e.splices, splice{at, at, w.String()})
}

// like is a value that stands elsewhere in the file at the same place of another
// vendor, model or route, nil without one.
func (e *editor) like(path Path) *node {
	return e.root.like(path)
}

func (n *node) like(path Path) *node {
	if n == nil || len(path) == 0 {
		return n
	}
	step := path[0]
	if step.entry || step.list {
		for i := len(n.items) - 1; i >= 0; i-- {
			if found := n.items[i].like(path[1:]); found != nil {
				return found
			}
		}
		return nil
	}
	if at := n.get(step.key); at != nil {
		if found := at.like(path[1:]); found != nil {
			return found
		}
	}
	for i := len(n.fields) - 1; i >= 0 && len(path) > 1; i-- {
		if v := n.fields[i].value; v.kind != yaml.ScalarNode {
			if found := v.like(path[1:]); found != nil {
				return found
			}
		}
	}
	return nil
}

// after is the end of the line on which something ends, or of the last of the
// comment lines that follow it at once and stand deeper than column.
func (e *editor) after(end, column int) int {
	at := e.source.lineEnd(end)
	for {
		size := catalog.LineBreak(e.Text[at:])
		if size == 0 {
			return at
		}
		start := at + size
		stop := e.source.lineEnd(start)
		line := e.Text[start:stop]
		body := bytes.TrimLeft(line, " ")
		if len(body) == 0 || body[0] != '#' || len(line)-len(body) <= column {
			return at
		}
		at = stop
	}
}

// above is the beginning of the line that holds an offset, or of the first of the
// comment lines just above it that stand as deep.
func (e *editor) above(at int) int {
	s := e.source
	column := s.column(at)
	line := s.line(at)
	for line > 0 {
		body := e.Text[s.lines[line-1]:s.lines[line]]
		if len(body) <= column || body[column] != '#' || !blank(body[:column]) {
			break
		}
		line--
	}
	return s.lines[line]
}

// apart says whether blank lines stand between the last two entries of a
// collection.
func (e *editor) apart(n *node) bool {
	var from, to int
	switch {
	case len(n.fields) > 1:
		if n.fields[len(n.fields)-1].value.kind == yaml.ScalarNode {
			return false // keys of one thing, set apart by whim
		}
		from, to = n.fields[len(n.fields)-2].value.end, n.fields[len(n.fields)-1].key.start
	case len(n.items) > 1:
		from, to = n.items[len(n.items)-2].end, n.dashes[len(n.dashes)-1]
	default:
		return false
	}
	first := true
	for at := from; at < to; {
		stop := e.source.lineEnd(at)
		if !first && blank(e.Text[at:stop]) && stop < to {
			return true
		}
		first = false
		at = stop + max(catalog.LineBreak(e.Text[stop:]), 1)
	}
	return false
}

// flushFlow writes what is new between brackets.
func (e *editor) flushFlow(n *node) {
	ends := make([]int, 0, len(n.fields)+len(n.items))
	starts := make([]int, 0, len(n.fields)+len(n.items))
	for _, f := range n.fields {
		starts, ends = append(starts, f.key.start), append(ends, f.value.end)
	}
	for _, item := range n.items {
		starts, ends = append(starts, item.start), append(ends, item.end)
	}
	groups := [][]insert{e.inserts[n]}
	if n.kind == yaml.MappingNode {
		var first []insert
		if first, groups = e.sorted(n); len(first) > 0 {
			w := &writer{manner: e.manner}
			for _, x := range first {
				w.pair(x.field, e.like(x.path))
				w.WriteString(", ")
			}
			e.splices = append(e.splices, splice{starts[0], starts[0], w.String()})
		}
	} else if len(ends) > 0 {
		groups = append(make([][]insert, len(ends)-1), groups...)
	}
	for i, group := range groups {
		if len(group) == 0 {
			continue
		}
		texts := make([]string, len(group))
		for j, x := range group {
			w := &writer{manner: e.manner}
			if like := e.like(x.path); n.kind == yaml.MappingNode {
				w.pair(x.field, like)
			} else {
				w.inline(x.field.Value, n.last())
			}
			texts[j] = w.String()
		}
		if len(ends) == 0 {
			e.splices = append(e.splices, splice{n.start + 1, n.start + 1, strings.Join(texts, ", ")})
			continue
		}
		next := n.end - 1
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		e.flowAfter(n, starts[i], ends[i], next, texts)
	}
}

// flowAfter writes new entries of a flow collection behind the one that ends at
// end: on lines of their own where the entries have such.
func (e *editor) flowAfter(n *node, start, end, next int, texts []string) {
	s := e.source
	ownLine := s.line(end) < s.line(next) && blank(e.Text[s.lines[s.line(start)]:start])
	if !ownLine {
		e.splices = append(e.splices, splice{end, end, ", " + strings.Join(texts, ", ")})
		return
	}
	lead := s.end() + string(e.Text[s.lines[s.line(start)]:start])
	comma := bytes.IndexByte(e.uncommented(end, next), ',')
	if comma < 0 { // the last, without a comma behind it
		at := s.lineEnd(end)
		e.splices = append(e.splices, splice{end, end, ","}, splice{at, at, lead + strings.Join(texts, ","+lead)})
		return
	}
	if s.line(end+comma) != s.line(end) {
		e.splices = append(e.splices, splice{end, end, ", " + strings.Join(texts, ", ")})
		return
	}
	at := s.lineEnd(end)
	e.splices = append(e.splices, splice{at, at, lead + strings.Join(texts, ","+lead) + ","})
}

// uncommented is a piece of text with its comments blanked.
func (e *editor) uncommented(from, to int) []byte {
	piece := bytes.Clone(e.Text[from:to])
	for _, c := range e.comments {
		for at := max(c.start, from); at < min(c.end, to); at++ {
			piece[at-from] = ' '
		}
	}
	return piece
}
