package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"unicode/utf8"
)

// MaxOpening is how many characters of each opening message a fingerprint
// covers. Source: the Vercel page, "Fingerprint requests without a session ID".
const MaxOpening = 4096

// telemetryLines begin lines that an agent puts into its prompt and changes from
// one version or request to the next. They are no part of the conversation.
// Seen on the wire: the first system block of Claude Code.
var telemetryLines = [][]byte{[]byte("x-anthropic-billing-header:")}

// Fingerprint derives a session id from how a conversation begins: the SHA-256
// in hex of the tenant, the first system text, the first other text (or the first
// of a user) and the set of tools, as far as of asks for them, each behind its
// length. Telemetry lines are taken out, and then the first characters of each text
// count, as many as of says; blocks are read as one text, so a list of blocks equals
// the plain string, and where their cache markers stand does not matter. Tools count
// as a set: their order and repetitions do not matter.
//
// ok is false if the opening has nothing of what is asked for. Later turns do not
// change a fingerprint; two conversations of one tenant that open alike share it.
func Fingerprint(tenant string, o Opening, of Opener) (id string, ok bool) {
	if of.User {
		o.First = o.FirstUser
	}
	if !of.Tools {
		o.Tools = nil
	}
	limit := of.Characters
	if limit <= 0 {
		limit = math.MaxInt / utf8.UTFMax
	}
	system, first := textLength(o.System, limit), textLength(o.First, limit)
	if system == 0 && first == 0 && len(o.Tools) == 0 {
		return "", false
	}
	h := digest{Hash: sha256.New()}
	tools := h.tools(o.Tools)
	h.Reset()
	h.part([]byte(tenant))
	h.length(system)
	eachText(o.System, limit, h.text)
	h.length(first)
	eachText(o.First, limit, h.text)
	h.length(len(tools))
	for i := range tools {
		h.text(tools[i][:])
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])), true
}

// digest is a hash that takes parts behind their lengths.
type digest struct {
	hash.Hash
	space [8]byte
}

func (h *digest) text(text []byte) { _, _ = h.Write(text) } // never fails

func (h *digest) length(n int) {
	binary.BigEndian.PutUint64(h.space[:], uint64(n))
	h.text(h.space[:])
}

func (h *digest) part(part []byte) {
	h.length(len(part))
	h.text(part)
}

// tools are the digests of the set of tools, in an order of their own.
func (h *digest) tools(tools []Tool) [][sha256.Size]byte {
	if len(tools) == 0 {
		return nil
	}
	digests := make([][sha256.Size]byte, len(tools))
	for i := range tools {
		h.Reset()
		h.part(tools[i].Name)
		h.part(tools[i].Description)
		h.part(tools[i].Schema)
		h.Sum(digests[i][:0])
	}
	slices.SortFunc(digests, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(digests)
}

// textLength is how many bytes eachText passes on.
func textLength(blocks [][]byte, limit int) (n int) {
	eachText(blocks, limit, func(text []byte) { n += len(text) })
	return n
}

// eachText calls write with the pieces of the blocks' text, one after the other,
// without telemetry lines and up to so many characters in all.
func eachText(blocks [][]byte, left int, write func([]byte)) {
	for _, block := range blocks {
		for len(block) > 0 && left > 0 {
			var text []byte
			text, block = untilTelemetry(block, left)
			var runes int
			text, runes = clip(text, left)
			left -= runes
			if len(text) > 0 {
				write(text)
			}
		}
	}
}

// untilTelemetry cuts block before its first telemetry line; rest is what follows
// that line. What is beyond the first limit characters is not looked at.
func untilTelemetry(block []byte, limit int) (text, rest []byte) {
	for at := 0; at < min(len(block), limit*utf8.UTFMax); {
		end := len(block)
		if i := bytes.IndexByte(block[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if telemetry(block[at:end]) {
			return block[:at], block[end:]
		}
		at = end
	}
	return block, nil
}

func telemetry(line []byte) bool {
	for _, beginning := range telemetryLines {
		if len(line) >= len(beginning) && bytes.EqualFold(line[:len(beginning)], beginning) {
			return true
		}
	}
	return false
}

// clip returns at most limit characters of text, and how many it returns.
func clip(text []byte, limit int) (clipped []byte, runes int) {
	at := ascii(text[:min(len(text), limit)])
	for runes = at; at < len(text) && runes < limit; runes++ {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return text[:at], runes
}

// ascii is how many bytes text has before the first that is not ASCII.
func ascii(text []byte) (n int) {
	for ; n+8 <= len(text) && binary.LittleEndian.Uint64(text[n:])&0x8080808080808080 == 0; n += 8 {
	}
	for n < len(text) && text[n] < utf8.RuneSelf {
		n++
	}
	return n
}
