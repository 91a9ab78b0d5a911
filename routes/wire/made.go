package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// making is what an answer has shown of content that only its maker can read: the
// last of each kind, which is what the next request is looked up by.
type making struct {
	signed, encrypted, container string    // as [engine.Stateful] has them
	sum                          hash.Hash // of the signature that is being streamed; nil: none is
}

// list is what was made, at most three pieces.
func (m *making) list() (all []engine.Stateful) {
	for _, c := range [...]engine.Stateful{
		{Kind: engine.KindReasoning, ID: m.encrypted}, {Kind: engine.KindSigned, ID: m.signed}, {Kind: engine.KindContainer, ID: m.container},
	} {
		if c.ID != "" {
			all = append(all, c)
		}
	}
	return all
}

// The words whose absence from the bytes spares an event its reading.
var (
	wordSignature = word{[]byte(`signature"`), 0}
	wordContainer = word{[]byte(`container"`), 0}
	wordDetails   = word{[]byte(`reasoning_details"`), len("reasoning_")}
	sealedWords   = [...]word{wordSignature, {[]byte(`encrypted_content"`), 0}, {[]byte(`redacted_thinking"`), 0}, {[]byte(`reasoning.encrypted"`), len("reasoning.")},
		{[]byte(`container_id"`), 0}}
)

// Made is what the answer has shown so far of content that only its maker can read,
// beside the response's own id: see [Relay.ResponseID].
func (r *Relay) Made() []engine.Stateful { return r.made.list() }

// notice looks for such content in the value at v of an answer: a block, an item or
// all of it.
func (r *Relay) notice(data []byte, v span) {
	some := false
	for _, w := range sealedWords {
		some = some || names(v.of(data), w)
	}
	if !some {
		return
	}
	var all stateful
	s := scanner{b: data, state: &all}
	s.value(v.from, 0, true)
	text := func(kind engine.Kind, v span, to *string) {
		if text, ok := textOf(data, v); ok && len(text) > 0 {
			*to = identity(kind, text)
		}
	}
	text(engine.KindSigned, all.signed, &r.made.signed)
	text(engine.KindReasoning, all.encrypted, &r.made.encrypted)
	text(engine.KindContainer, all.container, &r.made.container)
}

// block follows a content block of a messages stream: its signature comes in pieces.
func (r *Relay) block(name string, data []byte) {
	switch name {
	case "content_block_start":
		r.made.sum = nil
		if v := (span{space(data, 0), len(data)}); v.from < v.to && data[v.from] == '{' {
			r.notice(data, v)
		}
	case "content_block_delta":
		if names(data, wordSignature) {
			r.signature(data)
		}
	case "content_block_stop":
		if r.made.sum != nil {
			r.made.signed = hex.EncodeToString(r.made.sum.Sum(nil))
			r.made.sum = nil
		}
	}
}

// signature adds the piece of a signature that an event holds.
func (r *Relay) signature(data []byte) {
	for w := object(data); w.next(); {
		if !w.is("delta") || data[w.from] != '{' {
			continue
		}
		for d := walk(data, w.from); d.next(); {
			text, ok := textOf(data, d.span())
			if !ok || !d.is("signature") || len(text) == 0 {
				continue
			}
			if r.made.sum == nil {
				r.made.sum = sha256.New()
			}
			_, _ = r.made.sum.Write(text) // never fails
		}
	}
}

// boxed notes the container that a message or its delta names.
func (r *Relay) boxed(data []byte, v span) {
	if !v.found() || data[v.from] != '{' || !names(v.of(data), wordContainer) {
		return
	}
	for w := walk(data, v.from); w.next(); {
		if !w.is("container") || data[w.from] != '{' {
			continue
		}
		for c := walk(data, w.from); c.next(); {
			if text, ok := textOf(data, c.span()); ok && c.is("id") && len(text) > 0 {
				r.made.container = identity(engine.KindContainer, text)
			}
		}
	}
}

// madeWhole looks at a whole answer.
func (r *Relay) madeWhole(body []byte, object span) {
	r.notice(body, object)
	if r.o.API == catalog.Messages {
		r.boxed(body, object)
	}
}
