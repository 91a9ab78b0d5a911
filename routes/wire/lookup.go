package wire

import "strings"

// find is the value of the body's first member of this name; none if there is none.
func (r *Request) find(name string) span {
	for i := range r.top {
		m := &r.top[i]
		key := r.Body[m.key+1 : m.keyEnd]
		if m.escaped {
			key = unescaped(key)
		}
		if string(key) == name {
			return m.span()
		}
	}
	return span{}
}

// has says whether the body has a top-level member of this name; one that is null
// says nothing and does not count.
func (r *Request) has(name string) bool {
	v := r.find(name)
	return v.found() && r.Body[v.from] != 'n'
}

// maxPath is how many names a path may have.
const maxPath = 8

// field reads a field of the body by its dotted path: a text decoded, a number or a
// truth as it is written. ok is false for a path of more than maxPath names, and where
// it leads to nothing, to null, or to a list or an object. Of a name that stands twice
// the first counts. The work is bounded by maxPath times the member's size.
func (r *Request) field(path string) (value string, ok bool) {
	if strings.Count(path, ".") >= maxPath {
		return "", false
	}
	name, rest, deeper := strings.Cut(path, ".")
	v := r.find(name)
	for v.found() && deeper {
		if r.Body[v.from] != '{' {
			return "", false
		}
		name, rest, deeper = strings.Cut(rest, ".")
		w := walk(r.Body, v.from)
		v = span{}
		for w.next() {
			if w.is(name) {
				v = w.span()
				break
			}
		}
	}
	if !v.found() {
		return "", false
	}
	switch r.Body[v.from] {
	case '"':
		text, _ := textOf(r.Body, v)
		return string(text), true
	case '{', '[', 'n':
		return "", false
	}
	return string(v.of(r.Body)), true
}
