package edit

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// tree is what a catalog's text says, without its form.
type tree struct {
	kind  yaml.Kind
	text  string
	names []string         // a mapping's keys, in their order
	added map[string]bool  // those that a change added: their place is not fixed
	keys  map[string]*tree // their values
	items []*tree
}

// grow is the tree of a node.
func grow(n *node) *tree {
	t := &tree{kind: n.kind, text: n.text}
	if n.kind == yaml.MappingNode {
		t.keys = make(map[string]*tree, len(n.fields))
		for _, f := range n.fields {
			t.names = append(t.names, f.key.text)
			t.keys[f.key.text] = grow(f.value)
		}
	}
	for _, item := range n.items {
		t.items = append(t.items, grow(item))
	}
	return t
}

// growValue is the tree of a new value.
func growValue(v Value) *tree {
	t := &tree{kind: v.kind, text: v.text}
	if v.kind == yaml.MappingNode {
		t.keys = map[string]*tree{}
	}
	for _, f := range v.fields {
		t.names = append(t.names, f.Key)
		t.keys[f.Key] = growValue(f.Value)
	}
	for _, item := range v.items {
		t.items = append(t.items, growValue(item))
	}
	return t
}

// change makes a change that [editor.change] has found possible.
func (t *tree) change(c Change) {
	for i, s := range c.Path {
		var next *tree
		switch {
		case s.list:
			next = t.items[s.index]
		case s.entry:
			at := slices.IndexFunc(t.items, func(item *tree) bool {
				key, ok := item.keys[s.key]
				return ok && key.text == s.is
			})
			next = t.items[at]
		default:
			next = t.keys[s.key]
		}
		if next == nil {
			v, _ := c.missing(i)
			t.add(s.key, v)
			return
		}
		t = next
	}
	if c.Append {
		t.items = append(t.items, growValue(c.Value))
		return
	}
	t.lay(c.Value)
}

func (t *tree) add(key string, v Value) {
	if t.added == nil {
		t.added = map[string]bool{}
	}
	t.added[key] = true
	t.names = append(t.names, key)
	t.keys[key] = growValue(v)
}

// lay lays a value over the tree.
func (t *tree) lay(v Value) {
	switch {
	case t.kind == v.kind && v.kind == yaml.ScalarNode && v.is(t.text):
	case t.kind == v.kind && v.kind == yaml.MappingNode:
		for _, f := range v.fields {
			if old, ok := t.keys[f.Key]; ok {
				old.lay(f.Value)
				continue
			}
			t.add(f.Key, f.Value)
		}
	case t.kind == v.kind && v.kind == yaml.SequenceNode && len(t.items) == len(v.items):
		for i := range t.items {
			t.items[i].lay(v.items[i])
		}
	case t.kind == v.kind && v.kind == yaml.SequenceNode && t.begins(v):
		for i, item := range v.items {
			if i < len(t.items) {
				t.items[i].lay(item)
				continue
			}
			t.items = append(t.items, growValue(item))
		}
	default:
		*t = *growValue(v)
	}
}

// begins is [node.begins].
func (t *tree) begins(v Value) bool {
	if len(t.items) == 0 || len(t.items) > len(v.items) {
		return false
	}
	for i, item := range t.items {
		w := &v.items[i]
		switch {
		case item.kind != w.kind || w.kind == yaml.ScalarNode && !w.is(item.text):
			return false
		case w.kind == yaml.MappingNode:
			if len(w.fields) == 0 {
				return false
			}
			at, ok := item.keys[w.fields[0].Key]
			if !ok || at.kind != yaml.ScalarNode || !w.fields[0].Value.is(at.text) {
				return false
			}
		}
	}
	return true
}

// equal compares what was wanted with what is there; at is the first place that
// differs.
func (t *tree) equal(is *tree, path Path) (at Path, same bool) {
	if t.kind != is.kind || t.text != is.text || len(t.names) != len(is.names) || len(t.items) != len(is.items) {
		return path, false
	}
	j := 0
	for _, name := range t.names {
		value, ok := is.keys[name]
		if !ok {
			return append(path, Key(name)), false
		}
		if at, same := t.keys[name].equal(value, append(path, Key(name))); !same {
			return at, false
		}
		if t.added[name] {
			continue
		}
		for j < len(is.names) && t.added[is.names[j]] {
			j++
		}
		if j >= len(is.names) || is.names[j] != name {
			return append(path, Key(name)), false // out of its order
		}
		j++
	}
	for i := range t.items {
		if at, same := t.items[i].equal(is.items[i], append(path, Item(i))); !same {
			return at, false
		}
	}
	return nil, true
}

// lostComment is the first comment of a document that another does not have, in
// the same order.
func lostComment(before, after *Document) (text string, lost bool) {
	i := 0
	for _, c := range before.comments {
		text = string(before.Text[c.start:c.end])
		for i < len(after.comments) && string(after.Text[after.comments[i].start:after.comments[i].end]) != text {
			i++
		}
		if i == len(after.comments) {
			return text, true
		}
		i++
	}
	return "", false
}
