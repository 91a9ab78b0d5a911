package sim

import (
	"slices"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The bounds of what is remembered of a session; beyond them, what was used least
// recently goes. Of tracks, those of the thread with the longest prompt stay for as
// long as a pin can live: a conversation may start a dozen others between two of its
// turns. What is forgotten counts as cold in both worlds.
const (
	MaxTracks = 16 // a model in a scope, for one thread
	MaxCaches = 8  // candidates of a track, in each world
)

// Session is what the model remembers of one session: what its candidates' caches
// hold, in the real world and in the one without affinity. The zero Session
// remembers nothing. It is for one goroutine at a time.
type Session struct {
	tracks []track // most recent first
}

// The worlds.
const (
	actual = iota
	without
	worlds
)

// track is one thread of a session at one model, in one scope.
type track struct {
	key    uint64 // of the scope and the model
	thread uint64
	last   int64          // when its newest turn began, Unix milliseconds
	held   [worlds][]hold // most recently used first
	given  promise
}

// hold is what one candidate holds.
type hold struct {
	id    ID
	cache Cache
}

// promise is what the last prompt that was really cached lets the next one expect of
// the candidate that cached it, which is the first of held[actual].
type promise struct {
	tokens  int64 // as far as later prompts kept it
	block   int64
	minimum int64
	ready   int64 // when it was accepted, Unix milliseconds
}

func trackKey(scope, model string) uint64 { return mix(text(text(fnvOffset, scope), model)) }

// Clone is a session that goes its own way from here.
func (s *Session) Clone() Session {
	c := Session{tracks: slices.Clone(s.tracks)}
	for i := range c.tracks {
		for w := range c.tracks[i].held {
			c.tracks[i].held[w] = slices.Clone(c.tracks[i].held[w])
		}
	}
	return c
}

// Empty says whether nothing is remembered.
func (s *Session) Empty() bool { return len(s.tracks) == 0 }

// Last is when the newest turn began that is remembered; ok is false if none is. What
// is kept for longer than any cache lives can be forgotten.
func (s *Session) Last() (at time.Time, ok bool) {
	var last int64
	for i := range s.tracks {
		if t := &s.tracks[i]; !ok || t.last > last {
			last, ok = t.last, true
		}
	}
	if !ok {
		return time.Time{}, false
	}
	return time.UnixMilli(last).UTC(), true
}

// find is the place of a track, -1 if there is none.
func (s *Session) find(key, thread uint64) int {
	for i := range s.tracks {
		if s.tracks[i].key == key && s.tracks[i].thread == thread {
			return i
		}
	}
	return -1
}

// touch makes the track the most recent one; it is made if there is none.
func (s *Session) touch(key, thread uint64) *track {
	i := s.find(key, thread)
	if i < 0 {
		if i = len(s.tracks); i < MaxTracks {
			s.tracks = append(s.tracks, track{})
		} else {
			i = s.spare()
		}
		s.tracks[i] = track{key: key, thread: thread}
	}
	if i > 0 {
		t := s.tracks[i]
		copy(s.tracks[1:i+1], s.tracks[:i])
		s.tracks[0] = t
	}
	return &s.tracks[0]
}

// spare is the place of the track that goes when another comes.
func (s *Session) spare() int {
	longest, last := 0, len(s.tracks)-1
	for i := range s.tracks {
		if s.tracks[i].given.tokens > s.tracks[longest].given.tokens {
			longest = i
		}
	}
	main := s.tracks[longest].thread
	if newest, known := s.newest(main); !known || s.tracks[0].last-newest >= engine.MaxLifetime.Milliseconds() {
		return last
	}
	for i := last; i >= 0; i-- {
		if s.tracks[i].thread != main {
			return i
		}
	}
	return last
}

// newest is when the newest turn of a thread began; ok is false for a new thread.
func (s *Session) newest(thread uint64) (at int64, ok bool) {
	for i := range s.tracks {
		if t := &s.tracks[i]; t.thread == thread && (!ok || t.last > at) {
			at, ok = t.last, true
		}
	}
	return at, ok
}

// cut takes from every cache of a thread what the newest prompt has not kept.
func (s *Session) cut(thread uint64, kept int64) {
	for i := range s.tracks {
		t := &s.tracks[i]
		if t.thread != thread {
			continue
		}
		t.given.tokens = min(t.given.tokens, kept)
		for w := range t.held {
			for j := range t.held[w] {
				h := &t.held[w][j]
				h.cache = h.cache.Cut(kept)
			}
		}
	}
}

// cache is what a candidate holds in one world; cold where the track is nil.
func (t *track) cache(world int, id ID) Cache {
	if t == nil {
		return Cache{}
	}
	for i := range t.held[world] {
		if t.held[world][i].id == id {
			return t.held[world][i].cache
		}
	}
	return Cache{}
}

// warm has a candidate's cache take a prompt in one world. renewed says whether that
// made it the cache that was used last.
func (t *track) warm(world int, id ID, r *Rules, p *Prompt) (renewed bool) {
	if r.caches(p) == 0 {
		return false
	}
	held := t.held[world]
	i := slices.IndexFunc(held, func(h hold) bool { return h.id == id })
	late := len(held) > 0 && p.At.UnixMilli() < held[0].cache.used
	switch {
	case i >= 0:
		held[i].cache = held[i].cache.After(r, p)
	case len(held) < MaxCaches:
		i = len(held)
		held = append(held, hold{id, Cache{}.After(r, p)})
	case late:
		return false
	default:
		i = len(held) - 1
		held[i] = hold{id, Cache{}.After(r, p)}
	}
	if !late {
		h := held[i]
		copy(held[1:i+1], held[:i])
		held[0] = h
	}
	t.held[world] = held
	return !late
}
