package edit

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
)

// What fits on a line: a flow mapping that was on one line, and one that was not.
const (
	widest    = 400
	collapsed = 100
)

// write writes a block at an indentation. dashed says that its first line has
// begun already, behind the dash of an item.
func (f *former) write(b *block, indent int, path []string, dashed bool) {
	pieces := b.ordered(path)
	for i, p := range pieces {
		open := p.block != nil && !f.inlines(p.block, indent, inner(path, p))
		if open && p.key == nil && p.value.kind == yaml.MappingNode {
			f.hoist(p, inner(path, p))
		}
		first := i == 0
		if section := len(path) == 0 && isSection(p.key.text); !first && (p.blank || section) {
			f.out.WriteString(f.manner.crlf)
		}
		if !first || !dashed { // else its comments stand above the dash
			f.remarks(p.head, indent)
			if p.apart && len(p.head) > 0 {
				f.out.WriteString(f.manner.crlf)
			}
			f.spaces(indent)
		}
		if p.key != nil {
			f.out.Write(f.Text[p.key.start:p.key.end])
			f.out.WriteByte(':')
		} else {
			f.out.WriteByte('-')
		}
		f.value(p, open, indent, inner(path, p))
		f.remarks(p.tail, indent)
	}
	f.remarks(b.foot, indent)
}

// isSection says whether a key of the top holds entries of the catalog's own names.
func isSection(key string) bool { return key == "vendors" || key == "models" || key == "policies" }

// inner is the path of a piece.
func inner(path []string, p *piece) []string {
	key := ""
	if p.key != nil {
		key = p.key.text
	}
	return append(path[:len(path):len(path)], key)
}

// hoist puts what would stand between an item's dash and its first key above the
// dash.
func (f *former) hoist(p *piece, path []string) {
	p.head, p.line = append(p.head, p.line...), nil
	if pieces := p.block.ordered(path); len(pieces) > 0 {
		p.head, pieces[0].head = append(p.head, pieces[0].head...), nil
	}
}

// ordered are the pieces of a block in canonical order. Keys that the schema does
// not know, and names, keep their own.
func (b *block) ordered(path []string) []*piece {
	order := catalog.KeyOrder(path...)
	if b.node.kind != yaml.MappingNode || order == nil {
		return b.pieces
	}
	rank := func(p *piece) int {
		if i := slices.Index(order, p.key.text); i >= 0 {
			return i
		}
		return len(order)
	}
	sorted := slices.Clone(b.pieces)
	slices.SortStableFunc(sorted, func(x, y *piece) int { return rank(x) - rank(y) })
	return sorted
}

func (f *former) spaces(n int) {
	for range n {
		f.out.WriteByte(' ')
	}
}

// remarks writes comments on lines of their own.
func (f *former) remarks(all []remark, indent int) {
	for i, r := range all {
		if r.blank && i > 0 {
			f.out.WriteString(f.manner.crlf)
		}
		f.spaces(indent)
		f.out.WriteString(r.text)
		f.out.WriteString(f.manner.crlf)
	}
}

// endLine writes the comments of a line and ends it.
func (f *former) endLine(p *piece) {
	for _, r := range p.line {
		gap := r.gap
		if gap == "" {
			gap = " "
		}
		f.out.WriteString(gap + r.text)
	}
	f.out.WriteString(f.manner.crlf)
}

// value writes what stands behind a key's colon or an item's dash, to the end of
// its last line.
func (f *former) value(p *piece, open bool, indent int, path []string) {
	v := p.value
	if !open {
		f.out.WriteByte(' ')
		if v.kind == yaml.ScalarNode && v.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			f.literal(v, indent, p)
		} else {
			f.inline(v, path)
		}
		f.endLine(p)
		return
	}
	switch {
	case p.key != nil:
		f.endLine(p)
		f.write(p.block, indent+2, path, false)
	case v.kind == yaml.MappingNode:
		f.out.WriteByte(' ')
		f.write(p.block, indent+2, path, true)
	default:
		f.endLine(p)
		f.write(p.block, indent+2, path, false)
	}
}

// inlines says whether a collection is written on one line.
func (f *former) inlines(b *block, indent int, path []string) bool {
	n := b.node
	if !n.flow || len(path) == 1 && isSection(path[0]) || b.remarked() {
		return false
	}
	var probe former
	probe.Document = f.Document
	probe.inline(n, path)
	width := indent + len(path[len(path)-1]) + 2 + probe.out.Len()
	if f.source.line(n.start) == f.source.line(n.end) {
		return width <= widest
	}
	return width <= collapsed
}

// remarked says whether a block holds a comment.
func (b *block) remarked() bool {
	if len(b.foot) > 0 {
		return true
	}
	for _, p := range b.pieces {
		if len(p.head)+len(p.line)+len(p.tail) > 0 || p.block != nil && p.block.remarked() {
			return true
		}
	}
	return false
}

// inline writes a value on one line.
func (f *former) inline(n *node, path []string) {
	switch n.kind {
	case yaml.ScalarNode:
		raw := f.Text[n.start:n.end]
		if !bytes.ContainsAny(raw, "\r\n") && breaks(raw) == 0 {
			f.out.Write(raw)
			return
		}
		f.out.WriteString(doubleQuoted(n.text))
	case yaml.MappingNode:
		f.out.WriteByte('{')
		order := catalog.KeyOrder(path...)
		fields := slices.Clone(n.fields)
		if order != nil {
			rank := func(x field) int {
				if i := slices.Index(order, x.key.text); i >= 0 {
					return i
				}
				return len(order)
			}
			slices.SortStableFunc(fields, func(x, y field) int { return rank(x) - rank(y) })
		}
		for i, x := range fields {
			if i > 0 {
				f.out.WriteString(", ")
			}
			f.out.Write(f.Text[x.key.start:x.key.end])
			f.out.WriteString(": ")
			f.inline(x.value, append(path[:len(path):len(path)], x.key.text))
		}
		f.out.WriteByte('}')
	default:
		f.out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				f.out.WriteString(", ")
			}
			f.inline(item, append(path[:len(path):len(path)], ""))
		}
		f.out.WriteByte(']')
	}
}

// breaks counts the line breaks of a text that are no ASCII ones.
func breaks(text []byte) int {
	count := 0
	for i := range text {
		if catalog.LineBreak(text[i:]) > 0 {
			count++
		}
	}
	return count
}

// literal writes a literal or folded scalar, as far as its last line, moved with
// what it stands in.
func (f *former) literal(n *node, indent int, p *piece) {
	lines := strings.Split(string(f.Text[n.start:n.end]), "\n")
	was := f.source.column(p.start)
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if i == 0 {
			if f.unended(n) {
				line = line[:1] + "-" + line[1:]
			}
			f.out.WriteString(line)
			continue
		}
		f.out.WriteString(f.manner.crlf)
		body := strings.TrimLeft(line, " ")
		if spaces := len(line) - len(body); body != "" || spaces > was {
			f.spaces(max(indent+spaces-was, 0))
			f.out.WriteString(body)
		}
	}
}
