package sim

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// memory is what is remembered of a session from one turn to the next: what its
// candidates' caches hold, and how each thread's newest prompt began.
type memory struct {
	session Session
	threads []threadMemory // most recent first
	trial   trialMemory
}

// threadMemory is the newest prompt of a thread.
type threadMemory struct {
	thread uint64
	began  int64 // Unix milliseconds
	tokens int64 // of the prompt and its answer
	prefix engine.Prefix
}

const (
	tagMemory     = 'M'
	memoryVersion = 1
)

// maxThreads is how many threads' prompts are remembered.
const maxThreads = engine.MaxThreads

// kept is how much of its thread's last prompt a turn's has.
func (m *memory) kept(thread uint64, now engine.Prefix) Kept {
	i := slices.IndexFunc(m.threads, func(t threadMemory) bool { return t.thread == thread })
	if i < 0 || len(now) == 0 {
		return Kept{}
	}
	last := &m.threads[i]
	kept, total := now.Since(last.prefix)
	switch {
	case total <= 0 || kept >= total:
		return Kept{Known: total > 0, Tokens: last.tokens}
	case kept <= 0:
		return Kept{Known: true}
	}
	high, low := bits.Mul64(uint64(last.tokens), uint64(kept))
	share, _ := bits.Div64(high, low, uint64(total)) // less than tokens, for kept is less than total
	return Kept{Known: true, Tokens: int64(share)}
}

// remember has a turn's prompt take the place of its thread's last one, unless that
// began later. Beyond [maxThreads] the thread whose newest prompt is oldest goes, but
// not the longest, for as long as a pin can live.
func (m *memory) remember(thread uint64, began time.Time, tokens int64, prefix engine.Prefix) {
	at := began.UnixMilli()
	i := slices.IndexFunc(m.threads, func(t threadMemory) bool { return t.thread == thread })
	if len(prefix) == 0 || tokens <= 0 || i >= 0 && m.threads[i].began > at {
		return
	}
	if i >= 0 {
		m.threads = slices.Delete(m.threads, i, i+1)
	}
	m.threads = slices.Insert(m.threads, 0, threadMemory{thread, at, tokens, prefix.Kept()})
	if last := len(m.threads) - 1; last == maxThreads {
		if m.longest() == last && at-m.threads[last].began < engine.MaxLifetime.Milliseconds() {
			last--
		}
		m.threads = slices.Delete(m.threads, last, last+1)
	}
}

// longest is the place of the thread with the longest prompt; of equals the most
// recent.
func (m *memory) longest() (at int) {
	for i := range m.threads {
		if m.threads[i].tokens > m.threads[at].tokens {
			at = i
		}
	}
	return at
}

// append appends the stored form.
func (m *memory) append(b []byte) []byte {
	b = append(b, tagMemory, memoryVersion)
	session, _ := m.session.AppendBinary(nil) // never fails
	b = append(binary.AppendUvarint(b, uint64(len(session))), session...)
	b = binary.AppendUvarint(b, uint64(len(m.threads)))
	for i := range m.threads {
		t := &m.threads[i]
		b = binary.LittleEndian.AppendUint64(b, t.thread)
		b = binary.AppendVarint(b, t.began)
		b = binary.AppendVarint(b, t.tokens)
		b = binary.AppendUvarint(b, uint64(len(t.prefix)))
		var last engine.Mark
		for _, mark := range t.prefix {
			b = binary.AppendUvarint(b, uint64(mark.Index-last.Index))
			b = binary.AppendUvarint(b, uint64(mark.Bytes-last.Bytes))
			b = binary.LittleEndian.AppendUint64(b, mark.Hash)
			last = mark
		}
	}
	return m.trial.append(b)
}

// read reads what append wrote. Anything else leaves an empty memory.
func (m *memory) read(b []byte) {
	*m = memory{}
	in := open(b, tagMemory, memoryVersion)
	n := in.upTo(uint64(len(in.b)))
	if in.bad || int(n) > len(in.b) {
		return
	}
	session := in.b[:n]
	in.b = in.b[n:]
	var threads []threadMemory
	for range in.upTo(maxThreads) {
		t := threadMemory{thread: in.fixed(), began: in.int(), tokens: in.int()}
		var last engine.Mark
		for range in.upTo(engine.MaxMarks) {
			last.Index += int32(in.upTo(1 << 24))
			last.Bytes += in.upTo(1 << 40)
			last.Hash = in.fixed()
			t.prefix = append(t.prefix, last)
		}
		threads = append(threads, t)
	}
	trial := in.trial()
	if in.done() != nil || m.session.UnmarshalBinary(session) != nil {
		*m = memory{}
		return
	}
	m.threads, m.trial = threads, trial
}
