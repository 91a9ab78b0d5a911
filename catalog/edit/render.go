package edit

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// manner is how a file is written.
type manner struct {
	json bool   // keys and words in double quotes, no comments
	step int    // by how much a mapping's keys stand right of the key they belong to
	dash int    // and a list's dashes
	crlf string // its line break
}

// mannerOf reads the manner of a file from its parts.
func mannerOf(s *source, root *node) manner {
	m := manner{step: 2, dash: 2, crlf: s.end()}
	if root.flow {
		m.json = len(root.fields) > 0 && root.fields[0].key.style&yaml.DoubleQuotedStyle != 0
		return m
	}
	var steps, dashes []int
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.flow || depth > 32 {
			return
		}
		for _, f := range n.fields {
			switch {
			case f.value.flow:
			case f.value.kind == yaml.MappingNode:
				steps = append(steps, f.value.column-n.column)
			case f.value.kind == yaml.SequenceNode:
				dashes = append(dashes, f.value.column-n.column)
			}
			walk(f.value, depth+1)
		}
		for _, item := range n.items {
			walk(item, depth+1)
		}
	}
	walk(root, 0)
	if len(steps) > 0 && steps[0] > 0 {
		m.step = steps[0]
	}
	if len(dashes) > 0 {
		m.dash = max(dashes[0], 0)
	}
	return m
}

// keptOpen are the keys whose mapping or list is written over several lines where
// nothing in the file says otherwise.
var keptOpen = []string{"vendors", "models", "policies", "routes", "price", "credentials", "headers", "tiers", "windows", "service_tiers", "surcharges"}

// opens says whether a new value is written over several lines. like is a value
// of the same meaning that is in the file already, nil without one.
func opens(key string, depth int, v Value, like *node) bool {
	switch {
	case v.Empty():
		return false
	case like != nil && like.kind == v.kind:
		return !like.flow
	case slices.Contains(keptOpen, key):
		return true
	}
	return depth == 0
}

// writer writes new values.
type writer struct {
	manner
	strings.Builder
	comments []string // of the line that is being written
}

func (w *writer) key(name string, flow bool) {
	if w.json {
		w.WriteString(doubleQuoted(name))
		return
	}
	w.WriteString(scalarText(Text(name), flow, false))
}

func (w *writer) newline(indent int) {
	w.endLine()
	w.WriteString(w.crlf)
	for range indent {
		w.WriteByte(' ')
	}
}

// endLine writes the comments of a line.
func (w *writer) endLine() {
	if len(w.comments) == 0 {
		return
	}
	w.WriteString("  # " + strings.Join(w.comments, "; "))
	w.comments = nil
}

func (w *writer) note(comment string) {
	comment = strings.Join(strings.Fields(comment), " ")
	if comment != "" && !w.json {
		w.comments = append(w.comments, comment)
	}
}

// field writes a key of a block mapping and its value. depth is how many names
// of mappings lie between the value and what the file says of it: 0 is an entry
// of a section.
func (w *writer) field(f Field, indent int, like *node, depth int) {
	w.key(f.Key, false)
	w.WriteByte(':')
	w.note(f.Comment)
	switch {
	case f.Value.kind == yaml.ScalarNode:
		w.WriteByte(' ')
		w.scalar(f.Value, like, false)
	case !opens(f.Key, depth, f.Value, like) && !w.wide(f.Value, like):
		w.WriteByte(' ')
		w.inline(f.Value, like)
	case f.Value.kind == yaml.MappingNode:
		at := indent + w.step
		for _, g := range f.Value.fields {
			w.newline(at)
			w.field(g, at, like.get(g.Key), depth+1)
		}
	default:
		at := indent + w.dash
		for _, item := range f.Value.items {
			w.newline(at)
			w.item(f.Key, item, at, like.last())
		}
	}
}

// item writes an item of a block list.
func (w *writer) item(key string, v Value, indent int, like *node) {
	w.WriteString("- ")
	switch {
	case v.kind == yaml.ScalarNode:
		w.scalar(v, like, false)
	case v.Empty(), v.kind == yaml.SequenceNode, !itemOpens(key, v, like) && !w.wide(v, like):
		w.inline(v, like)
	default:
		at := indent + 2
		for i, f := range v.fields {
			if i > 0 {
				w.newline(at)
			}
			w.field(f, at, like.get(f.Key), 1)
		}
	}
}

// itemOpens says whether an item of a list is written over several lines.
func itemOpens(key string, v Value, like *node) bool {
	if like != nil && like.kind == v.kind {
		return !like.flow
	}
	return key == "routes" || key == "price"
}

// wide says whether a value is too long for one line of a format.
func (w *writer) wide(v Value, like *node) bool {
	probe := &writer{manner: w.manner}
	probe.inline(v, like)
	return probe.Len() > widest-100 && !w.json
}

func (w *writer) scalar(v Value, like *node, flow bool) {
	if like != nil && like.kind == yaml.ScalarNode && (like.style != 0 || !v.plain) && like.style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		w.WriteString(respelledLike(like, v, flow, w.json))
		return
	}
	w.WriteString(scalarText(v, flow, w.json))
}

// respelledLike is a new scalar in the quotes of one of the same meaning.
func respelledLike(like *node, v Value, flow, json bool) string {
	if like.style == 0 {
		return scalarText(v, flow, json)
	}
	return respelled(like, v, flow, json)
}

// inline writes a value between brackets.
func (w *writer) inline(v Value, like *node) {
	switch v.kind {
	case yaml.ScalarNode:
		w.scalar(v, like, true)
	case yaml.MappingNode:
		w.WriteByte('{')
		for i, f := range v.fields {
			if i > 0 {
				w.WriteString(", ")
			}
			w.pair(f, like.get(f.Key))
		}
		w.WriteByte('}')
	default:
		w.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				w.WriteString(", ")
			}
			w.inline(item, like.last())
		}
		w.WriteByte(']')
	}
}

// pair writes a key of a flow mapping and its value.
func (w *writer) pair(f Field, like *node) {
	w.key(f.Key, true)
	w.WriteString(": ")
	w.note(f.Comment)
	w.inline(f.Value, like)
}
