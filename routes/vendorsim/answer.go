package vendorsim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// answer is what the vendor says to one prompt, before it is put into a dialect.
type answer struct {
	p       *prompt
	id      string // without the dialect's prefix
	created int64  // Unix seconds
	text    string
	limited bool   // cut by the output limit
	seal    string // of what it thought; empty: it holds no thinking
	usage   *usage // nil: not reported
	config  *Config
}

// sentences are what the answers are made of; %d is the turn.
var sentences = []string{
	"At turn %d the harbour is calm and the tide is still coming in.",
	"For turn %d I looked at the chart twice: the channel is deep enough.",
	"Turn %d: the cargo is counted, and nothing is missing from the list.",
	"The lighthouse keeper noted turn %d and lit the lamp on time.",
	"By turn %d the wind has moved to the south-west, so we can sail.",
}

// answer makes the text for a prompt. It depends on the seed, the prompt and
// the turn, and on nothing else.
func (v *Vendor) answer(p *prompt, seq int64, u *usage) *answer {
	var seed [16]byte
	binary.BigEndian.PutUint64(seed[:8], v.config.Seed)
	h := sha256.New()
	h.Write(seed[:])
	c := chained{h: h, p: p}
	c.ends()
	pick := binary.BigEndian.Uint64(h.Sum(nil)) % uint64(len(sentences))
	a := &answer{p: p, created: v.config.Now().Unix(), usage: u, config: &v.config}
	a.id = fmt.Sprintf("%s%04x%08x", slug(v.config.Name), v.config.Seed&0xffff, seq)
	a.text = "This is " + v.config.Name + ". " + fmt.Sprintf(sentences[pick], p.turn)
	if limit := p.maxTokens * bytesPerToken; p.maxTokens > 0 && int64(len(a.text)) > limit {
		a.limited = true
		for limit > 0 && !utf8.RuneStart(a.text[limit]) {
			limit--
		}
		a.text = a.text[:limit]
	}
	u.output = tokens(int64(len(a.text)))
	return a
}

// pieces are the text as a stream brings it.
func (a *answer) pieces() []string {
	var pieces []string
	words := strings.SplitAfter(a.text, " ")
	for len(words) > 0 {
		n := min(3, len(words))
		pieces = append(pieces, strings.Join(words[:n], ""))
		words = words[n:]
	}
	return pieces
}

// slug is what of a name may stand in an id.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// event is one server-sent event.
type event struct {
	name string // empty: no "event:" line
	data []byte
}

// named is an event whose name is its type, as the APIs messages and responses have them.
func named(name string, value any) event { return event{name: name, data: encode(value)} }

// bytes is the event on the wire.
func (e event) bytes() []byte {
	var b strings.Builder
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	b.Write(e.data)
	b.WriteString("\n\n")
	return []byte(b.String())
}
