package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// kind is one sort of client and the sessions it has.
type kind struct {
	name   string
	seats  int // how many of them are at work
	api    catalog.API
	path   string
	model  string // a model or a policy
	whole  bool   // it wants whole answers, not streams
	marks  markers
	turns  [2]int           // a session has, from and to
	pause  [2]time.Duration // between turns, from and to
	rest   time.Duration    // between sessions
	system []int            // bytes of each system block
	tools  int              // how many
	// toolBytes is the size of all tools.
	toolBytes int
	first     []int  // bytes of each text of the first message, beside the question
	result    [2]int // bytes of a tool's result, from and to
	chat      bool   // people answer, no tools are called

	begin func(s *session)          // names the session, and whatever else it needs; nil: nothing
	shape func(s *session, p *post) // what this client puts into one request; nil: nothing
}

// post is what may differ from one request of a session to the next.
type post struct {
	path    string
	model   string
	header  http.Header
	members []string // of the body
	talk    *talk
	leaves  bool
	brings  []actor
	pause   time.Duration // until the next turn; zero: as the kind has it
}

// option adds members to providerOptions.gateway, which should be asked for once.
func (p *post) option(members string) {
	p.members = append(p.members, `"providerOptions":{"gateway":{`+members+`}}`)
}

// session is one conversation of one client. It is used by one goroutine at a time.
type session struct {
	kind   *kind
	rand   *rand.Rand
	world  *world
	name   string
	number int    // tells sessions of a kind apart that take turns at something
	id     string // as its client names it
	parent string // of a sub-agent
	talk   *talk
	asked  int // turns answered
	turns  int // it will have

	due    *turn // prepared and not answered yet; nil: none
	post   *post // of due
	failed int   // times that due failed
}

// newSession begins a session, which depends on nothing but r, the kind and its
// place.
func newSession(w *world, k *kind, r *rand.Rand, name string, number int) *session {
	s := &session{kind: k, rand: r, world: w, name: name, number: number, id: uuid(r), turns: between(r, k.turns)}
	s.talk = newTalk(k.api, k.marks, w.settings[k.name])
	var texts []string
	for _, size := range k.first {
		texts = append(texts, source(r, size))
	}
	s.talk.ask(append(texts, words(r, worldAsk))...)
	if k.begin != nil {
		k.begin(s)
	}
	return s
}

// next is the request of the turn that is due.
func (s *session) next() (*turn, *post) {
	p := &post{path: s.kind.path, model: s.kind.model, talk: s.talk, header: http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {s.kind.name + "/1.0"},
	}}
	if s.kind.shape != nil {
		s.kind.shape(s, p)
	}
	if p.pause == 0 {
		p.pause = s.kind.pause[0] + time.Duration(s.rand.Int64N(int64(s.kind.pause[1]-s.kind.pause[0])+1))
	}
	return &turn{
		name:   fmt.Sprintf("%s turn %d", s.name, s.asked+1),
		path:   p.path,
		header: p.header,
		body:   p.talk.body(p.model, !s.kind.whole, p.members),
		leaves: p.leaves,
	}, p
}

// goOn adds what was said since: the answer, and a tool's result or the next
// question. It says whether the session goes on.
func (s *session) goOn() bool {
	s.asked++
	if s.asked >= s.turns {
		return false
	}
	r := s.rand
	if s.kind.chat || r.IntN(5) == 0 {
		s.talk.answer(prose(r, worldRemark, 200))
		s.talk.ask(words(r, worldAsk))
		return true
	}
	s.talk.call(words(r, worldRemark), hexed(r, 20), pick(r, worldTools[:8]),
		`{"path":`+quoted(file(r))+`}`, source(r, between(r, s.kind.result)))
	return true
}

// What a client does about a turn that failed.
const (
	feedRetries = 2               // how often it is sent again
	feedRetry   = 2 * time.Second // after which pause
)

// act sends the turn that is due. A turn that failed is sent again, as it was,
// and after that the session is given up.
func (s *session) act(ctx context.Context, f *feed) next {
	if s.due == nil {
		s.due, s.post = s.next()
	}
	n := next{pause: s.post.pause}
	if !f.send(ctx, s.due) && s.failed < feedRetries {
		s.failed++
		return next{pause: feedRetry}
	}
	n.brings, n.over = s.post.brings, s.failed >= feedRetries || !s.goOn()
	s.due, s.post, s.failed = nil, nil, 0
	return n
}

// seat is where one client works: one session after another.
type seat struct {
	kind   *kind
	part   uint64 // of the world, for a random source of its own
	number int    // among the seats of its kind
	opened int    // sessions so far
	now    *session
}

// act lets the session go on, or begins the next.
func (c *seat) act(ctx context.Context, f *feed) next {
	if c.now == nil {
		c.now = c.open(f.world)
	}
	n := c.now.act(ctx, f)
	if n.over {
		c.now, n.over, n.pause = nil, false, c.kind.rest
	}
	return n
}

// open begins the seat's next session.
func (c *seat) open(w *world) *session {
	c.opened++
	name := fmt.Sprintf("%s %d session %d", c.kind.name, c.number+1, c.opened)
	return newSession(w, c.kind, w.rand(c.part, uint64(c.opened)), name, c.number+c.opened-1)
}
