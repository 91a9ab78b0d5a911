package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
)

// MaxCalls is how many different tool calls of one turn are hashed; a turn of more has
// no hash of them.
const MaxCalls = 1024

// Hearing hashes an assistant turn while it passes, piece by piece: see [Said].
// How the text was cut into pieces makes no difference. The zero Hearing has heard
// nothing. It is used by one goroutine, and keeps a hash of each call and nothing
// of the text.
type Hearing struct {
	text   hash.Hash // from the first that is no white space; nil until then
	cr     bool      // the text so far ends with a \r that is not hashed yet
	paused bool      // the text so far ends with white space
	before []byte    // the hash of what came before that
	calls  [][sha256.Size]byte
	many   bool // there were more calls than are kept
}

// white is what around a turn's text makes no difference: many clients cut it off
// before they send the turn back, and some vendors ask them to.
const white = " \t\r\n"

// Text adds a piece of the turn's text. Reasoning and everything else that is no
// text is left out by the caller.
func (h *Hearing) Text(piece []byte) {
	if h.text == nil {
		if piece = bytes.TrimLeft(piece, white); len(piece) == 0 {
			return
		}
		h.text = sha256.New()
	}
	end := len(bytes.TrimRight(piece, white))
	if end > 0 {
		h.paused = false
		h.write(piece[:end])
	}
	if end == len(piece) {
		return
	}
	if !h.paused {
		h.before, h.paused = h.text.Sum(h.before[:0]), true
	}
	h.write(piece[end:])
}

// write hashes a piece, with all line ends made one.
func (h *Hearing) write(piece []byte) {
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

// Call adds the id of a tool call. The order of calls does not matter, nor how often
// one is named, as some vendors do with every piece of its arguments; an empty id is
// none.
func (h *Hearing) Call(id []byte) {
	if len(id) == 0 || h.many {
		return
	}
	sum := sha256.Sum256(id)
	if n := len(h.calls); n > 0 && h.calls[n-1] == sum {
		return
	}
	if h.calls = append(h.calls, sum); len(h.calls) == 2*MaxCalls {
		h.sort()
	}
}

// sort puts the calls in order, each once.
func (h *Hearing) sort() {
	slices.SortFunc(h.calls, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	if h.calls = slices.Compact(h.calls); len(h.calls) > MaxCalls {
		h.calls, h.many = nil, true
	}
}

// Said is what was heard so far. A turn whose text is nothing but white space has no
// hash of it, because many turns that only call tools say as little.
func (h *Hearing) Said() (s Said) {
	switch {
	case h.paused:
		s.Text = hex.EncodeToString(h.before)
	case h.text != nil:
		s.Text = hex.EncodeToString(h.text.Sum(nil))
	}
	if h.sort(); len(h.calls) == 0 {
		return s
	}
	all := sha256.New()
	for i := range h.calls {
		_, _ = all.Write(h.calls[i][:])
	}
	s.Tools = hex.EncodeToString(all.Sum(nil))
	return s
}
