package wire

import (
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Edits are what is changed in a body for one candidate. The zero Edits cut
// what is ours and change nothing else.
type Edits struct {
	Model    string   // the vendor's own id, appended where the client named only `models`; empty: the client's stays
	Accepts  []string // members that are cut out of others' bodies and that the vendor understands, left in
	Refuses  []string // members the vendor must never be sent, cut out
	AskUsage bool     // ask for usage where [Request.AsksUsage] says so
	CacheKey string   // append prompt_cache_key unless the client sent one; empty: do not
	OwnKey   string   // put in the place of the client's own prompt_cache_key; empty: that stays
	// Mark is the lifetime of the cache markers that are placed where the client set
	// none: five minutes, or from an hour on an hour; 0: none are. See markers.go.
	Mark time.Duration
}

// Upstream appends the edited body to dst and returns it.
//
// Everything but the edits is the client's body byte for byte: order, white
// space and the spelling of numbers stay. What is appended stands at a fixed
// place, so equal bodies with equal edits give equal bytes.
func (r *Request) Upstream(dst []byte, e Edits) []byte {
	s := splice{b: r.Body, dst: dst}
	last := 0 // end of the last member that stays
	for i := range r.top {
		m := &r.top[i]
		switch {
		case !r.cuts(i, &e):
			r.change(&s, i, &e)
			last = m.to
		case last > 0:
			s.cut(m.before, m.to)
		case i+1 < len(r.top):
			s.cut(m.key, r.top[i+1].key)
		default:
			s.cut(m.key, m.to)
		}
	}
	s.upTo(last)
	if e.Model != "" && r.at[fieldModel] == 0 {
		s.name(last == 0, "model")
		s.dst = appendString(s.dst, e.Model)
		last = len(r.Body)
	}
	if r.asks(&e) && r.at[fieldStreamOptions] == 0 {
		s.name(last == 0, "stream_options")
		s.dst = append(s.dst, `{"include_usage":true}`...)
		last = len(r.Body)
	}
	if r.keys(&e) && r.at[fieldCacheKey] == 0 {
		s.name(last == 0, "prompt_cache_key")
		s.dst = appendString(s.dst, e.CacheKey)
	}
	return s.rest()
}

// cuts says whether the i-th member is left out.
func (r *Request) cuts(i int, e *Edits) bool {
	f := r.which[i]
	switch {
	case f == fieldModel:
		return false
	case (f.ours() || f == fieldCacheKey && r.API == catalog.Messages) && !slices.Contains(e.Accepts, fieldNames[f]):
		return true
	case f != unknown:
		return slices.Contains(e.Refuses, fieldNames[f])
	}
	m := &r.top[i]
	name := r.Body[m.key+1 : m.keyEnd]
	if m.escaped {
		name = unescaped(name)
	}
	for _, never := range e.Refuses {
		if string(name) == never {
			return true
		}
	}
	return false
}

// AsksUsage says whether a vendor that refuses these members is asked for the
// usage of a stream on the client's behalf, and the answer then hidden from the
// client: chat vendors keep it to themselves otherwise.
func (r *Request) AsksUsage(refuses []string) bool {
	return r.API == catalog.Chat && r.Stream && !r.UsageAsked && !slices.Contains(refuses, fieldNames[fieldStreamOptions])
}

func (r *Request) asks(e *Edits) bool { return e.AskUsage && r.AsksUsage(e.Refuses) }

// keys says whether the upstream cache key is ours to send: the vendor knows it
// and the client has sent none.
func (r *Request) keys(e *Edits) bool {
	name := fieldNames[fieldCacheKey]
	return e.CacheKey != "" && !r.value(fieldCacheKey).found() && !slices.Contains(e.Refuses, name) &&
		(r.API != catalog.Messages || slices.Contains(e.Accepts, name))
}

// change edits inside a member that stays.
func (r *Request) change(s *splice, i int, e *Edits) {
	m := &r.top[i]
	switch r.which[i] {
	case fieldTools, fieldSystem, fieldMessages, fieldInput:
		switch {
		case r.unmarks(e):
			unmark(s, m.from)
		case r.marked(e):
			r.mark(s, r.which[i], m.span(), e)
		}
	case fieldProviderOptions: // kept for a vendor that understands it, which is not told the caller's keys
		if r.byok.found() {
			s.cut(r.byok.from, r.byok.to)
		}
	case fieldModel:
		if e.Model != "" {
			s.cut(m.from, m.to)
			s.dst = appendString(s.dst, e.Model)
		}
	case fieldStreamOptions:
		if !r.asks(e) {
			return
		}
		switch {
		case r.Body[m.from] == 'n':
			s.put(m.from, m.to, `{"include_usage":true}`)
		case r.options.null.found():
			s.put(r.options.null.from, r.options.null.to, `true`)
		case r.options.some:
			s.put(r.options.last, r.options.last, `,"include_usage":true`)
		default:
			s.put(r.options.last, r.options.last, `"include_usage":true`)
		}
	case fieldCacheKey:
		switch {
		case r.keys(e): // it is null
			s.cut(m.from, m.to)
			s.dst = appendString(s.dst, e.CacheKey)
		case e.OwnKey != "" && r.Body[m.from] == '"':
			s.cut(m.from, m.to)
			s.dst = appendString(s.dst, e.OwnKey)
		}
	}
}

// splice copies b to dst but for the edits, which are made from left to right.
type splice struct {
	b, dst []byte
	at     int // what stands before it is copied or cut
}

func (s *splice) upTo(i int) {
	if i > s.at {
		s.dst = append(s.dst, s.b[s.at:i]...)
		s.at = i
	}
}

// cut leaves b[from:to] out.
func (s *splice) cut(from, to int) {
	s.upTo(from)
	s.at = to
}

// put replaces b[from:to] by text.
func (s *splice) put(from, to int, text string) {
	s.cut(from, to)
	s.dst = append(s.dst, text...)
}

// name begins a member that is appended; alone says that it is the object's first.
func (s *splice) name(alone bool, name string) {
	if !alone {
		s.dst = append(s.dst, ',')
	}
	s.dst = append(s.dst, '"')
	s.dst = append(s.dst, name...)
	s.dst = append(s.dst, `":`...)
}

// rest copies what is left and returns the result.
func (s *splice) rest() []byte {
	s.upTo(len(s.b))
	return s.dst
}
