package catalog

import (
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Silenced is a finding that the file itself calls meant, and why.
type Silenced struct {
	Problem
	Reason string // as written in the file
	By     int    // the line of the silence
}

// silence is one entry of a mapping silence: a code, and the reason why what it
// says is meant at this place.
//
// It stands at the top, where it is for the whole file, or in a vendor, a model, a
// route or a policy. That of a vendor is for its routes too, and that of a model
// for its own.
type silence struct {
	code, reason string
	key          *yaml.Node // the code, in the file
	used         bool
}

// silences are those of one file, by the mapping in which they stand.
type silences map[*yaml.Node][]*silence

// of finds the silence for a code in one of the mappings.
func (s silences) of(code string, scopes []*yaml.Node) *silence {
	for _, n := range scopes {
		for _, one := range s[n] {
			if one.code == code {
				return one
			}
		}
	}
	return nil
}

// readSilences reads every silence of a document, whatever else is wrong with it.
func (r *reader) readSilences(o *outline) silences {
	all := silences{}
	o.each(func(n *yaml.Node, p *part) {
		if at := valueOf(n, "silence"); at != nil {
			where := ""
			if p != nil {
				where = p.where(r)
			}
			if read := r.silence(at, where); len(read) > 0 {
				all[n] = read
			}
		}
	})
	return all
}

// silence reads the silences of one mapping.
func (r *reader) silence(n *yaml.Node, where string) []*silence {
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.fail(n, where, "silence is empty; remove it, or write a code with a reason, such as silence: {price-outlier: promotion until March}")
		return nil
	}
	o, _ := r.mapping(n, where, "silence")
	var all []*silence
	for _, e := range o.entries {
		code := e.key.Value
		kind, known := kinds[code]
		switch {
		case !known:
			r.fail(e.key, where, "silence: %s is not a code%s", r.quote(code), suggestCode(code))
			continue
		case kind == SeverityError:
			r.fail(e.key, where, "silence: %s is a mistake, which cannot be silenced; correct it", code)
			continue
		}
		reason, ok := r.text(e.value, where, "silence: the reason for "+code)
		switch {
		case !ok:
		case mayBeKey(reason):
			r.fail(e.value, where, "silence: the reason for %s looks like a key; %s", code, r.neverAKey())
		case !isReason(reason):
			r.fail(e.value, where, `silence: the reason for %s is not one; say in words why it is meant, such as "promotion until March"`, code)
		default:
			all = append(all, &silence{code: code, reason: strings.TrimSpace(reason), key: e.key})
		}
	}
	return all
}

// isReason says whether a text tells a reader something: three letters together,
// and not just yes.
func isReason(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "true", "false", "yes", "off", "null", "none", "todo", "tbd", "ignore", "silence":
		return false
	}
	run := 0
	for _, c := range text {
		if run++; !unicode.IsLetter(c) {
			run = 0
		}
		if run == 3 || run > 0 && c > 0x2e80 { // a single sign of Chinese, Japanese or Korean is a word
			return len(text) <= 1000
		}
	}
	return false
}

// suggestCode says what to do about a code that is none.
func suggestCode(code string) string {
	var lints []string
	for _, known := range Codes() {
		if kinds[known] != SeverityError {
			lints = append(lints, known)
		}
	}
	if near, ok := Nearest(code, lints); ok {
		return `; did you mean "` + near + `"?`
	}
	return "; warmroute check --explain lists them"
}

// outline is where the parts of a catalog stand in its document. Parts that are
// not there, or no mappings, are left out.
type outline struct {
	root                      *yaml.Node
	vendors, models, policies map[string]entry
	order                     []part // vendors, models with their routes, policies, in the order of the file
}

// part is a vendor, a model, a route or a policy.
type part struct {
	key, value         *yaml.Node // key is nil for a route
	kind, name, vendor string     // vendor is empty but for a route
}

// where is the part in words, for a message.
func (p *part) where(r *reader) string {
	r.wary = p.kind == "vendor "
	defer func() { r.wary = false }()
	if p.vendor == "" {
		return p.kind + r.quote(p.name)
	}
	return p.kind + r.quote(p.name) + ", route " + r.quote(p.vendor)
}

// outlineOf walks a document once.
func outlineOf(root *yaml.Node) *outline {
	o := &outline{root: root, vendors: map[string]entry{}, models: map[string]entry{}, policies: map[string]entry{}}
	for _, section := range []struct {
		name, one string
		into      map[string]entry
	}{{"vendors", "vendor ", o.vendors}, {"models", "model ", o.models}, {"policies", "policy ", o.policies}} {
		n := valueOf(root, section.name)
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if _, twice := section.into[key.Value]; twice || value.Kind != yaml.MappingNode {
				continue
			}
			section.into[key.Value] = entry{key, value}
			o.order = append(o.order, part{key, value, section.one, key.Value, ""})
			if section.name != "models" {
				continue
			}
			for _, item := range items(value, "routes") {
				if vendor := valueOf(item, "vendor"); vendor != nil {
					o.order = append(o.order, part{nil, item, section.one, key.Value, vendor.Value})
				}
			}
		}
	}
	return o
}

// items are the entries of a list in a mapping.
func items(n *yaml.Node, key string) []*yaml.Node {
	if list := valueOf(n, key); list != nil && list.Kind == yaml.SequenceNode {
		return list.Content
	}
	return nil
}

// each visits every mapping in which a silence may stand; the top is no part.
func (o *outline) each(visit func(n *yaml.Node, p *part)) {
	visit(o.root, nil)
	for i := range o.order {
		visit(o.order[i].value, &o.order[i])
	}
}

// scopesAt are the mappings around a place, the innermost first.
func (o *outline) scopesAt(line, column int) []*yaml.Node {
	scopes := []*yaml.Node{o.root}
	for _, at := range o.order {
		first := at.value
		if at.key != nil {
			first = at.key
		}
		end := lastOf(at.value)
		if before(first, line, column) && (end.Line > line || end.Line == line && end.Column >= column) {
			scopes = append([]*yaml.Node{at.value}, scopes...)
		}
	}
	return scopes
}

// before says whether a node begins at a place or before it.
func before(n *yaml.Node, line, column int) bool {
	return n.Line < line || n.Line == line && n.Column <= column
}

// lastOf is the last node inside another.
func lastOf(n *yaml.Node) *yaml.Node {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

// quiet takes the silenced ones out of warnings and keeps them apart.
func (s silences) quiet(o *outline, warnings Problems) (loud Problems, silenced []Silenced) {
	if len(s) == 0 {
		return warnings, nil
	}
	for _, w := range warnings {
		if one := s.of(w.Code, o.scopesAt(w.Line, w.Column)); one != nil {
			silenced = append(silenced, Silenced{w, one.reason, one.key.Line})
			continue
		}
		loud = append(loud, w)
	}
	return loud, silenced
}
