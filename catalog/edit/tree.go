package edit

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/warmroute/warmroute/catalog"
	"gopkg.in/yaml.v3"
)

// node is a value of the text with the place it takes.
type node struct {
	kind       yaml.Kind
	style      yaml.Style
	text       string // of a scalar
	start, end int    // end exclusive; of a block collection that of its last value
	flow       bool   // a collection between brackets
	bare       bool   // a flow mapping without brackets of its own: the one pair of a list's item
	column     int    // of a block collection: that of its keys or dashes, from 0
	fields     []field
	items      []*node
	dashes     []int // where the items of a block list begin
}

type field struct{ key, value *node }

// get is the value of a key, nil if it is not there.
func (n *node) get(key string) *node {
	if n == nil || n.kind != yaml.MappingNode {
		return nil
	}
	for _, f := range n.fields {
		if f.key.text == key {
			return f.value
		}
	}
	return nil
}

// last is the last item of a list, nil without one.
func (n *node) last() *node {
	if n == nil || len(n.items) == 0 {
		return nil
	}
	return n.items[len(n.items)-1]
}

// comment is one comment, from its # to the end of its line.
type comment struct{ start, end int }

// planter places the nodes of a document that [catalog.Parse] has accepted: no
// anchors, no tags, no aliases, one document.
type planter struct {
	*source
	at       int // how far the text has been read
	comments []comment
}

// plant places a whole document.
func plant(s *source, root *yaml.Node) (n *node, comments []comment, err error) {
	p := &planter{source: s, at: s.lines[0]}
	defer func() {
		if e, is := recover().(misplaced); is {
			n, comments, err = nil, nil, e
		}
	}()
	n = p.node(root, -1)
	p.gap(len(s.text))
	return n, p.comments, nil
}

// misplaced says that the text is not where its nodes say. It means a form of
// YAML that this package does not know.
type misplaced struct{ line, column int }

func (m misplaced) Error() string {
	return fmt.Sprintf("line %d, column %d: this form of YAML cannot be edited in place; write it plainly", m.line, m.column)
}

func (p *planter) fail(at int) {
	panic(misplaced{p.line(at) + 1, p.column(at) + 1})
}

// gap reads what stands between two nodes, comments among it, and gives the place
// of the last dash outside them, -1 without one.
func (p *planter) gap(to int) (dash int) {
	dash = -1
	if to < p.at {
		p.fail(to)
	}
	for p.at < to {
		switch p.text[p.at] {
		case '#':
			end := p.lineEnd(p.at)
			p.comments = append(p.comments, comment{p.at, end})
			p.at = end
			continue
		case '-':
			dash = p.at
		}
		p.at++
	}
	if p.at != to {
		p.fail(to)
	}
	return dash
}

func (p *planter) node(n *yaml.Node, indent int) *node {
	start, ok := p.offset(n.Line, n.Column)
	if !ok {
		p.fail(p.at)
	}
	p.gap(start)
	to := &node{kind: n.Kind, style: n.Style, start: start}
	switch n.Kind {
	case yaml.ScalarNode:
		to.text = n.Value
		p.at = p.scalarEnd(n, start, indent)
	case yaml.MappingNode:
		p.open(to, n, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := p.node(n.Content[i], to.column)
			to.fields = append(to.fields, field{key, p.node(n.Content[i+1], to.column)})
		}
		p.close(to, '}')
	case yaml.SequenceNode:
		p.open(to, n, '[')
		for _, item := range n.Content {
			at, ok := p.offset(item.Line, item.Column)
			if !ok {
				p.fail(p.at)
			}
			if dash := p.gap(at); !to.flow {
				if dash < 0 {
					p.fail(at)
				}
				to.dashes = append(to.dashes, dash)
			}
			to.items = append(to.items, p.node(item, to.column))
		}
		p.close(to, ']')
	default:
		p.fail(start)
	}
	to.end = p.at
	return to
}

func (p *planter) open(to *node, n *yaml.Node, bracket byte) {
	to.flow = n.Style&yaml.FlowStyle != 0
	to.column = p.column(to.start)
	if !to.flow {
		return
	}
	if to.start >= len(p.text) || p.text[to.start] != bracket {
		to.bare = true
		return
	}
	p.at++
}

// close reads up to the bracket that ends a flow collection.
func (p *planter) close(to *node, bracket byte) {
	if !to.flow || to.bare {
		return
	}
	for p.at < len(p.text) && p.text[p.at] != bracket {
		switch c := p.text[p.at]; {
		case c == '#':
			p.gap(p.lineEnd(p.at))
			continue
		case c != ',' && c != ' ' && c != '\t' && catalog.LineBreak(p.text[p.at:]) == 0:
			p.fail(p.at)
		}
		p.at++
	}
	if p.at >= len(p.text) {
		p.fail(to.start)
	}
	p.at++
}

// scalarEnd is where a scalar ends.
func (p *planter) scalarEnd(n *yaml.Node, start, indent int) int {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return p.quotedEnd(start, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return p.quotedEnd(start, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return p.blockEnd(start, indent)
	}
	at, end := start, start
	for _, c := range n.Value { // line breaks in it are folded, so white space is not compared
		if c == ' ' || c == '\t' || c == '\n' {
			continue
		}
		for at < len(p.text) && (p.text[at] == ' ' || p.text[at] == '\t' || catalog.LineBreak(p.text[at:]) > 0) {
			at += max(catalog.LineBreak(p.text[at:]), 1)
		}
		r, size := utf8.DecodeRune(p.text[at:])
		if r != c {
			p.fail(start)
		}
		at += size
		end = at
	}
	return end
}

func (p *planter) quotedEnd(start int, quote byte) int {
	if start >= len(p.text) || p.text[start] != quote {
		p.fail(start)
	}
	for at := start + 1; at < len(p.text); at++ {
		switch {
		case p.text[at] == '\\' && quote == '"':
			at++
		case p.text[at] != quote:
		case quote == '\'' && at+1 < len(p.text) && p.text[at+1] == quote:
			at++
		default:
			return at + 1
		}
	}
	p.fail(start)
	return 0
}

// blockEnd is where a literal or folded scalar ends: with its last line that is
// not blank, or with the blank ones too where its head says that they count.
func (p *planter) blockEnd(start, indent int) int {
	head := p.text[start:p.lineEnd(start)]
	if i := bytes.IndexByte(head, '#'); i >= 0 {
		p.at = start + i
		p.gap(start + len(head))
		head = head[:i]
	}
	content := 0
	for _, c := range head {
		if c >= '1' && c <= '9' {
			content = max(indent, 0) + int(c-'0')
		}
	}
	keep := bytes.IndexByte(head, '+') >= 0
	at := p.lineEnd(start)
	end := at
	for size := catalog.LineBreak(p.text[at:]); size > 0; size = catalog.LineBreak(p.text[at:]) {
		line := at + size
		at = p.lineEnd(line)
		body := p.text[line:at]
		spaces := len(body) - len(bytes.TrimLeft(body, " "))
		if spaces == len(body) {
			if keep {
				end = at
			}
			continue
		}
		if content == 0 {
			content = max(spaces, indent+1)
		}
		if spaces < content {
			break
		}
		end = at
	}
	return end
}
