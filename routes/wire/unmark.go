package wire

import (
	"bytes"
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// unmarks says whether the client's markers are cut out, and whether there may be any.
func (r *Request) unmarks(e *Edits) bool {
	return slices.Contains(e.Refuses, catalog.MarkerMember) && (r.facts.Markers > 0 || bytes.Contains(r.Body, markerName))
}

// unmark cuts the cache markers out of the valid value at i, however deep they stand,
// and is the offset after it. A marker is a member cache_control that is an object of
// type ephemeral, or null. What a tool was called with and how its arguments are
// described is data, in which nothing is a marker.
func unmark(s *splice, i int) int {
	switch s.b[i] {
	case '{':
		return unmarkObject(s, i)
	case '[':
		scan := scanner{b: s.b}
		e := each(&scan, i, 1, false)
		for e.nextStart() {
			e.ends(unmark(s, e.from))
		}
		return e.end
	}
	scan := scanner{b: s.b}
	return scan.value(i, 1, false)
}

func unmarkObject(s *splice, i int) int {
	stays := false // a member before this one
	from := 0      // of what is cut at the object's beginning; 0: nothing
	w := walk(s.b, i)
	for w.nextKey() {
		key := w.member.key
		if w.is(catalog.MarkerMember) {
			if !w.scanValue(true) {
				break
			}
			if w.isMarker() {
				switch {
				case stays:
					s.cut(w.before, w.to)
				case from == 0:
					from = key
				}
				continue
			}
		}
		if from > 0 {
			s.cut(from, key)
			from = 0
		}
		stays = true
		switch string(w.name()) {
		case catalog.MarkerMember: // scanned, and stays
		case "input", "input_schema", "parameters", "arguments", "schema":
			w.scanValue(false)
		default:
			w.ends(unmark(s, w.from))
		}
	}
	if from > 0 {
		s.cut(from, w.to)
	}
	return w.end
}

// isMarker says whether the value that was scanned last is a marker's.
func (w *members) isMarker() bool {
	if w.b[w.from] != '{' {
		return w.isNull()
	}
	word, ok := w.short(w.kind)
	return ok && string(word) == "ephemeral"
}
