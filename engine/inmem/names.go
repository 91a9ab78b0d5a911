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
	mu      sync.RWMutex
	numbers map[string]uint64
	words   atomic.Pointer[dictionary] // read without the lock
}

// dictionary is the words by their numbers. It only grows: what one has read
// stays as it is.
type dictionary []string

func newNames() *names {
	n := &names{numbers: map[string]uint64{}}
	n.words.Store(&dictionary{})
	return n
}

// number returns the number of word, giving it one if there is room.
func (n *names) number(word string) (number uint64, ok bool) {
	n.mu.RLock()
	number, ok = n.numbers[word]
	full := len(n.numbers) >= maxNames
	n.mu.RUnlock()
	if ok || full || len(word) > maxNameLen {
		return number, ok
	}
	return n.add(strings.Clone(word))
}

func (n *names) add(word string) (number uint64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, ok = n.numbers[word]; ok || len(n.numbers) >= maxNames {
		return number, ok
	}
	words := append(*n.words.Load(), word)
	n.words.Store(&words)
	number = uint64(len(words) - 1)
	n.numbers[word] = number
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
func (d dictionary) readName(b []byte) (word string, rest []byte) {
	v, n := binary.Uvarint(b)
	b = b[n:]
	if v&1 == 1 {
		return d[v>>1], b
	}
	return string(b[:v>>1]), b[v>>1:]
}
