package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
)

// MaxCalls is how many tool calls of one turn are hashed; a turn of more has no
// hash of them.
const MaxCalls = 1024

// Hearing hashes an assistant turn while it passes, piece by piece: see [Said].
// How the text was cut into pieces makes no difference. The zero Hearing has heard
// nothing. It is used by one goroutine, and keeps a hash of each call and nothing
// of the text.
type Hearing struct {
	text  hash.Hash
	cr    bool // the text so far ends with a \r that is not hashed yet
	words bool // it has more than white space
	calls [][sha256.Size]byte
	many  bool // there were more calls than are kept
}

// Text adds a piece of the turn's text. Reasoning and everything else that is no
// text is left out by the caller.
func (h *Hearing) Text(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if h.text == nil {
		h.text = sha256.New()
	}
	h.words = h.words || len(bytes.TrimLeft(piece, " \t\r\n")) > 0
	if h.cr && piece[0] != '\n' {
		_, _ = h.text.Write([]byte{'\r'}) // never fails
	}
	h.cr = false
	for {
		i := bytes.IndexByte(piece, '\r')
		if i < 0 {
			break
		}
		if i+1 == len(piece) {
			h.cr = true
			piece = piece[:i]
			break
		}
		if piece[i+1] != '\n' {
			i++
			_, _ = h.text.Write(piece[:i])
			piece = piece[i:]
			continue
		}
		_, _ = h.text.Write(piece[:i])
		piece = piece[i+1:]
	}
	_, _ = h.text.Write(piece)
}

// Call adds the id of a tool call. The order of calls does not matter, nor that one
// is named twice; an empty id is none.
func (h *Hearing) Call(id []byte) {
	if len(id) == 0 {
		return
	}
	sum := sha256.Sum256(id)
	if n := len(h.calls); n > 0 && h.calls[n-1] == sum {
		return
	}
	if h.many = h.many || len(h.calls) == MaxCalls; !h.many {
		h.calls = append(h.calls, sum)
	}
}

// Said is what was heard so far. A turn whose text is nothing but white space has no
// hash of it, because many turns that only call tools say as little.
func (h *Hearing) Said() (s Said) {
	if h.cr {
		h.cr = false
		_, _ = h.text.Write([]byte{'\r'})
	}
	if h.words {
		s.Text = hex.EncodeToString(h.text.Sum(nil))
	}
	if len(h.calls) == 0 || h.many {
		return s
	}
	slices.SortFunc(h.calls, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h.calls = slices.Compact(h.calls)
	all := sha256.New()
	for i := range h.calls {
		_, _ = all.Write(h.calls[i][:])
	}
	s.Tools = hex.EncodeToString(all.Sum(nil))
	return s
}
