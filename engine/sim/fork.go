package sim

import (
	"slices"

	"github.com/warmroute/warmroute/engine"
)

// fork gives a thread that is new to the session what the caches hold of the
// beginning that it shares with another one, such as the tools and the system text of
// an agent that asks one question after the other. That caches hold it for both is
// believed only where the vendor says so, and as far as it says: a prompt may be
// marked at its end alone. It says whether there was anything to give.
func (m *memory) fork(f *Fact, now engine.Prefix) bool {
	i := f.taker()
	if i < 0 || !f.Tries[i].Quality.Complete() || f.Tries[i].Usage.CacheRead <= 0 {
		return false
	}
	if _, known := m.session.newest(f.Thread); known || len(now) == 0 {
		return false
	}
	from, shared := uint64(0), int64(0)
	for _, t := range m.threads {
		if k := m.kept(t.thread, now); t.thread != f.Thread && k.Tokens > shared {
			from, shared = t.thread, k.Tokens
		}
	}
	return shared > 0 && m.session.fork(from, f.Thread, min(shared, f.Tries[i].Usage.CacheRead))
}

// fork has a thread begin with so many tokens of what the caches hold of another. It
// is promised nothing.
func (s *Session) fork(from, to uint64, tokens int64) (forked bool) {
	for _, t := range slices.Clone(s.tracks) {
		if t.thread != from {
			continue
		}
		mine := s.touch(t.key, to)
		for w := range t.held {
			mine.held[w] = slices.Clone(t.held[w])
			for i := range mine.held[w] {
				h := &mine.held[w][i]
				h.cache = h.cache.Cut(tokens)
			}
		}
		forked = true
	}
	return forked
}
