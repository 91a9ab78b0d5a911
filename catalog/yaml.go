package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// reader walks one document and collects what is wrong with it.
//
// Nodes are read by their text: yaml.v3 turns null into a zero price, 4.10 into
// 4.1, and needs quadratic time for a mapping with many keys.
type reader struct {
	file     string
	what     string // what the file is: catalog, or config file
	source   cursor
	wary     bool // inside a vendor or a tenant, where keys are put by mistake
	problems report
	warnings report
}

// fail records a mistake at a node.
func (r *reader) fail(n *yaml.Node, where, format string, args ...any) {
	r.note(&r.problems, n, where, format, args)
}

// warn records what a reader of the file should know.
func (r *reader) warn(n *yaml.Node, where, format string, args ...any) {
	r.note(&r.warnings, n, where, format, args)
}

func (r *reader) note(to *report, n *yaml.Node, where, format string, args []any) {
	line, column := max(n.Line, 1), max(n.Column, 1)
	if to.past(line, column) {
		to.more++
		return
	}
	to.add(Problem{File: r.file, Line: line, Column: column, Where: where, Message: fmt.Sprintf(format, args...)})
}

// beyond counts a mistake at a node that is past those that are told, before
// anything is spent on its message.
func (r *reader) beyond(n *yaml.Node) bool {
	if !r.problems.past(max(n.Line, 1), max(n.Column, 1)) {
		return false
	}
	r.problems.more++
	return true
}

// maxDepth is how deep mappings and lists may nest; the schema needs ten.
const maxDepth = 32

// structure refuses, anywhere in the document, what neither file uses.
func (r *reader) structure(n *yaml.Node, depth int) {
	if depth > maxDepth {
		r.fail(n, "", "is nested more than %d levels deep; a %s needs far fewer", maxDepth, r.what)
		return
	}
	if n.Kind == yaml.AliasNode {
		r.fail(n, "", "aliases such as *name are not used in a %s; write the value out", r.what)
		return
	}
	if n.Anchor != "" {
		r.fail(n, "", "anchors such as &name are not used in a %s; remove it", r.what)
	}
	// The YAML package keeps no trace of the tag "!" but where it stands.
	if n.Style&yaml.TaggedStyle != 0 || r.source.at(n.Line, n.Column) == '!' {
		r.fail(n, "", "tags such as !!str are not used in a %s; remove it, or put the value in quotes", r.what)
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isMerge(n.Content[i]) {
				r.fail(n.Content[i], "", "merge keys (<<) are not used in a %s; write the keys out", r.what)
			}
		}
	}
	for _, child := range n.Content {
		r.structure(child, depth+1)
	}
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" }

// entry is one key of a mapping with its value.
type entry struct{ key, value *yaml.Node }

// object is a mapping as read: each key once, in the order of the file.
//
// The zero object has no keys.
type object struct {
	node    *yaml.Node
	where   string
	entries []entry
	partial bool // some of it could not be read: a missing key is not reported
}

// mapping reads a mapping; ok is false if it is none, which is then reported.
// Of a key that stands twice the first counts, and both lines are named.
func (r *reader) mapping(n *yaml.Node, where, what string) (o object, ok bool) {
	o = object{node: n, where: where, partial: true}
	switch {
	case n.Kind == yaml.AliasNode: // reported by structure
		return o, false
	case isNull(n):
		r.fail(n, where, "%s is empty; remove the key or fill it", what)
		return o, false
	case n.Kind != yaml.MappingNode:
		r.fail(n, where, "%s must be a mapping of keys to values", what)
		return o, false
	}
	o.partial = false
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case isMerge(key), key.Kind == yaml.AliasNode: // reported by structure
			o.partial = true
			continue
		case key.Kind != yaml.ScalarNode:
			r.fail(key, where, "a key of %s is not a plain word", what)
			o.partial = true
			continue
		}
		if first, twice := seen[key.Value]; twice {
			if !r.beyond(key) {
				r.fail(key, where, "key %s stands twice in %s, %s; remove one of them", r.quote(key.Value), what, both(first, key))
			}
			continue
		}
		seen[key.Value] = key
		o.entries = append(o.entries, entry{key, value})
	}
	return o, true
}

// fixed reads a mapping that may have only the named keys.
func (r *reader) fixed(n *yaml.Node, where, what string, known ...string) (o object, ok bool) {
	o, ok = r.mapping(n, where, what)
	for _, e := range o.entries {
		name := e.key.Value
		switch {
		case slices.Contains(known, name):
		case oneKey(what, e):
			o.partial = true
			r.fail(e.key, where, "key is not a key of a tenant; it may have several, so write keys: [{env: NAME}]")
		case isLiteralKey(name):
			o.partial = true
			r.fail(e.key, where, "%s", r.neverAKey())
		case r.beyond(e.key):
		case name == "silence" && r.what == "catalog":
			r.fail(e.key, where, "%s is not a key of %s; write it further out: in the route, the model, the vendor, the policy or at the top of the file", r.quote(name), what)
		case isThousands(name) && isNull(e.value):
			r.fail(e.key, where, "%s is what follows a comma, which ends a value between braces; write a number without commas, such as 1000 for 1,000", r.quote(name))
		default:
			remedy := r.elsewhere(what, name)
			if remedy == "" {
				remedy = suggest(name, known)
			}
			r.fail(e.key, where, "%s is not a key of %s%s", r.quote(name), what, remedy)
		}
	}
	return o, ok
}

// isThousands says whether a key is the rest of a number written with commas.
func isThousands(name string) bool {
	whole, part, _ := strings.Cut(name, ".")
	return len(whole) == 3 && strings.Trim(whole+part, "0123456789") == ""
}

// get is the value of a key, nil if it is not there.
func (o *object) get(name string) *yaml.Node {
	for i := range o.entries {
		if o.entries[i].key.Value == name {
			return o.entries[i].value
		}
	}
	return nil
}

// need is the value of a key that must be there.
func (r *reader) need(o *object, name, remedy string) *yaml.Node {
	n := o.get(name)
	if n == nil && !o.partial {
		r.fail(o.node, o.where, "%s is missing; %s", name, remedy)
	}
	return n
}

// isNull says whether a node has no value: nothing, ~ or an unquoted null.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// list reads a sequence; what is none is reported.
func (r *reader) list(n *yaml.Node, where, what, example string) []*yaml.Node {
	switch {
	case n.Kind == yaml.AliasNode:
	case isNull(n):
		r.fail(n, where, "%s is empty; remove the key or give a list such as %s", what, example)
	case n.Kind != yaml.SequenceNode:
		r.fail(n, where, "%s must be a list, such as %s", what, example)
	default:
		return n.Content
	}
	return nil
}

// text reads a scalar as it is written, unquoted numbers and dates included.
func (r *reader) text(n *yaml.Node, where, what string) (text string, ok bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		return "", false
	case n.Kind != yaml.ScalarNode:
		r.fail(n, where, "%s must be a single value, not a list or a mapping", what)
		return "", false
	case isNull(n) || strings.TrimSpace(n.Value) == "":
		r.fail(n, where, "%s is empty; remove the key or give a value", what)
		return "", false
	}
	return n.Value, true
}

// name reads a name by its text: null, no, 4.10 and 0x10 are names like any other.
func (r *reader) name(n *yaml.Node, where, what string) (text string, ok bool) {
	if isNull(n) && n.Value != "" && n.Value != "~" {
		return n.Value, true
	}
	if text, ok = r.text(n, where, what); !ok {
		return "", false
	}
	if fault := nameFault(text); fault != "" {
		r.fail(n, where, "%s %s %s", what, r.quote(text), fault)
		return "", false
	}
	return text, true
}

// names reads a list of names, none of them twice.
func (r *reader) names(n *yaml.Node, where, what, example string) []entryName {
	var all []entryName
	seen := map[string]*yaml.Node{}
	for _, item := range r.list(n, where, what, example) {
		text, ok := r.name(item, where, what+" entry")
		if !ok {
			continue
		}
		if first, twice := seen[text]; twice {
			r.fail(item, where, "%s names %s twice, %s; remove one of them", what, r.quote(text), both(first, item))
			continue
		}
		seen[text] = item
		all = append(all, entryName{text, item})
	}
	return all
}

// entryName is a name in a list, with its place.
type entryName struct {
	text string
	node *yaml.Node
}

func texts(names []entryName) []string {
	if len(names) == 0 {
		return nil
	}
	all := make([]string, len(names))
	for i := range names {
		all[i] = names[i].text
	}
	return all
}

// choice reads one of a few words.
func (r *reader) choice(n *yaml.Node, where, what string, words ...string) (word string, ok bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, text) {
		r.fail(n, where, "%s %s is not known; use %s", what, r.quote(text), orList(words))
		return "", false
	}
	return text, true
}

// truth reads true or false, unquoted.
func (r *reader) truth(n *yaml.Node, where, what string) (value, ok bool) {
	if n.Kind == yaml.AliasNode {
		return false, false
	}
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		switch n.Value {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	}
	r.fail(n, where, "%s must be true or false", what)
	return false, false
}

// count reads a whole number of tokens, one or more.
func (r *reader) count(n *yaml.Node, where, what string) (value int64, ok bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return 0, false
	}
	if len(text) <= 15 && text[0] != '0' {
		for _, c := range []byte(text) {
			if c < '0' || c > '9' {
				value = 0
				break
			}
			value = value*10 + int64(c-'0')
		}
	}
	if value == 0 {
		r.fail(n, where, "%s must be a whole number of tokens, one or more, such as 1024", what)
		return 0, false
	}
	return value, true
}

// quote shows a word of the file, cut to a length that fits a line.
func quote(text string) string {
	const most = 64
	if len(text) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return fmt.Sprintf("%q", text)
}
