package engine

import (
	"crypto/sha256"
	"encoding/binary"
)

// Thread tells apart the conversations that share a session's id: the main one,
// the title it is given, sub-agents. They open with other words, and so have
// other prefixes in a vendor's cache.
//
// It is a hash of the first system text and the first other text, read as
// [Fingerprint] reads them up to [MaxOpening] characters, without the tools: those may change in the middle of
// a conversation. 0 means that the request opens with no text. Later turns of a
// conversation have the thread of the first; one that is summed up and goes on
// under other first words has a new one.
func Thread(o Opening) uint64 {
	h := digest{Hash: sha256.New()}
	system := h.texts(o.System)
	first := h.texts(o.First)
	if system == 0 && first == 0 {
		return 0
	}
	var sum [sha256.Size]byte
	return max(1, binary.BigEndian.Uint64(h.Sum(sum[:0])))
}

// texts adds the blocks' text and then its length, which is returned.
func (h *digest) texts(blocks [][]byte) (n int) {
	eachText(blocks, MaxOpening, func(text []byte) {
		n += len(text)
		h.text(text)
	})
	h.length(n)
	return n
}

// HasThreads says whether the requests of this session may belong to several
// threads: where the id is a conversation's. A fingerprint is of one thread
// already, and a cache key is a label that many conversations share.
func (s Session) HasThreads() bool { return s.Class == ClassExplicit || s.Class == ClassAgent }

// lineUp appends the entries of a model in the order in which they are judged:
// those of its marked prefix, those of the request's own thread, then the other threads', then, if its own
// thread has none, those of the session that started this one. Each part has the
// newest first, and a candidate that stands in the line already is left out: what
// is known of the nearest thread is what counts.
func (f *Facts) lineUp(line []*Entry, model string) []*Entry {
	ahead := f.Ahead.For(model)
	for i := range ahead {
		if !ahead[i].ExpiredAt(f.Now) {
			line = join(line, &ahead[i])
		}
	}
	warm := f.Record.For(model)
	for i := range warm {
		if warm[i].Thread == f.Thread {
			line = join(line, &warm[i])
		}
	}
	own := len(line)
	for i := range warm {
		if warm[i].Thread != f.Thread {
			line = join(line, &warm[i])
		}
	}
	for i := range ahead { // those that have expired tell no more than that
		line = join(line, &ahead[i])
	}
	if own > 0 {
		return line
	}
	parent := f.Parent.For(model)
	for i := range parent {
		line = join(line, &parent[i])
	}
	return line
}

// join appends e unless its candidate stands in the line.
func join(line []*Entry, e *Entry) []*Entry {
	for _, other := range line {
		if other.SameCandidate(*e) {
			return line
		}
	}
	return append(line, e)
}
