package inmem

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
)

// Bounds of the names that are stored once instead of in every record.
const (
	maxNames   = 4096
	maxNameLen = 256
)

// names gives short numbers to words that many records share: models, vendors,
// the operator's credentials. There are as many as the catalog has; beyond the
// bounds a word stands in the record itself.
type names struct {
	now atomic.Pointer[dictionary]
	mu  sync.Mutex // held while a dictionary is replaced
}

// dictionary is never changed once it is in force.
type dictionary struct {
	words   []string
	numbers map[string]uint64
}

func newNames() *names {
	n := &names{}
	n.now.Store(&dictionary{numbers: map[string]uint64{}})
	return n
}

// number returns the number of word, giving it one if there is room.
func (n *names) number(word string) (number uint64, ok bool) {
	d := n.now.Load()
	if number, ok = d.numbers[word]; ok {
		return number, true
	}
	if len(word) > maxNameLen || len(d.words) >= maxNames {
		return 0, false
	}
	return n.add(strings.Clone(word))
}

func (n *names) add(word string) (number uint64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.now.Load()
	if number, ok = old.numbers[word]; ok {
		return number, true
	}
	if len(old.words) >= maxNames {
		return 0, false
	}
	numbers := make(map[string]uint64, len(old.words)+1)
	for i, w := range old.words {
		numbers[w] = uint64(i)
	}
	number = uint64(len(old.words))
	numbers[word] = number
	words := append(old.words[:len(old.words):len(old.words)], word)
	n.now.Store(&dictionary{words: words, numbers: numbers})
	return number, true
}

// appendName appends word as its number, or as itself if it has none or shared
// is false. The lowest bit tells which.
func (n *names) appendName(b []byte, word string, shared bool) []byte {
	if shared || word == "" {
		if number, ok := n.number(word); ok {
			return binary.AppendUvarint(b, number<<1|1)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(word))<<1)
	return append(b, word...)
}

// readName reads what appendName wrote.
func (d *dictionary) readName(b []byte) (word string, rest []byte) {
	v, n := binary.Uvarint(b)
	b = b[n:]
	if v&1 == 1 {
		return d.words[v>>1], b
	}
	return string(b[:v>>1]), b[v>>1:]
}
