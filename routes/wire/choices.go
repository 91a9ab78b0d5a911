package wire

import "bytes"

// choices keeps which choices of a chat stream have begun and which have their
// finish_reason.
type choices struct {
	begun, ended [2]uint64 // by index, as bits
	unclear      bool      // nobody can say that all have ended: an index above 127, a chunk that is cut
	several      bool      // a chunk held more than one choice
	lead         []byte    // how a chunk begins whose only choice has the index 0
}

// over says whether every choice that has begun has ended.
func (c *choices) over() bool {
	return !c.unclear && c.ended != [2]uint64{} && c.begun == c.ended
}

// see notes a chunk's part of the choice of this index; -1 is one that is no number.
func (c *choices) see(index int, ended bool) {
	if index < 0 || index > 127 {
		c.unclear = true
		return
	}
	bit := uint64(1) << (index & 63)
	c.begun[index>>6] |= bit
	if ended {
		c.ended[index>>6] |= bit
	}
}

// firstChoice is what stands before a choice's index in most streams.
var firstChoice = []byte(`"choices":[{`)

// lone says whether no choice of a chunk can have an index but 0, without
// parsing it. Chunks of one stream begin alike: it looks for the indices once
// and then goes by the beginning.
func (c *choices) lone(data []byte) bool {
	if c.several {
		return false
	}
	if len(c.lead) > 0 && bytes.HasPrefix(data, c.lead) {
		return true
	}
	some := false
	for from := 0; ; some = true {
		i := nameAt(data, from, wordIndex)
		if i < 0 {
			if some {
				c.see(0, false)
			}
			return true
		}
		from = i + 1 + len(wordIndex.text)
		at := space(data, from)
		if at == len(data) || data[at] != ':' {
			continue
		}
		at = space(data, at+1)
		if at+1 >= len(data) || data[at] != '0' || data[at+1] == '.' || data[at+1] == 'e' || data[at+1] == 'E' {
			return false
		}
		if !some && data[at+1] == ',' && bytes.HasSuffix(data[:i], firstChoice) {
			c.lead = append(c.lead[:0], data[:at+2]...)
		}
	}
}

// read notes the choices at v; ended says that one of them has its
// finish_reason here, empty that there is none.
func (c *choices) read(data []byte, v span) (ended, empty bool) {
	if !v.found() || data[v.from] != '[' {
		return false, true
	}
	n := 0
	s := scanner{b: data}
	for e := each(&s, v.from, 1, false); e.next(); n++ {
		if data[e.from] != '{' {
			continue
		}
		index, done := n, false
		for w := walk(data, e.from); w.next(); {
			switch string(w.name()) {
			case "index":
				index = smallNumber(w.span().of(data))
			case "finish_reason":
				done = filled(data, w.span())
			}
		}
		c.see(index, done)
		ended = ended || done
	}
	c.several = c.several || n > 1
	return ended, n == 0
}

// smallNumber reads a whole number below 1000, -1 if it is none.
func smallNumber(text []byte) int {
	n, ok := tokenCount(text)
	if !ok || n > 999 {
		return -1
	}
	return int(n)
}
