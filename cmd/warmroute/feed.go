package main

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/warmroute/warmroute/routes/vendorsim"
)

// The bounds of the feed. It shows what the gateway does; it is no load test.
const (
	feedGap      = 170 * time.Millisecond // between two requests, so at most six a second
	feedTurns    = 12                     // under way at once
	feedPatience = time.Minute            // for one request, and for a fault that somebody else scripted
)

// feedOptions say what a feed talks to.
type feedOptions struct {
	Gateway string                       // address of the client APIs, with http://
	Vendors map[string]*vendorsim.Vendor // whose bad days the feed brings about
	Seed    uint64                       // same seed, same request bodies
	Log     *slog.Logger                 // told of failures, at debug only

	// AtOnce is how many turns may be under way; 0 means feedTurns. With one, the
	// order of all requests depends on the seed and the clock alone.
	AtOnce int
	Now    func() time.Time                     // nil: time.Now
	After  func(time.Duration) <-chan time.Time // nil: time.After
}

// feed is a modest, endless stream of agent sessions, as a small team would have
// them. Who takes part is in feed_cast.go, what they say in feed_talk.go and
// feed_world.go, and what goes wrong in feed_weather.go.
//
// What a session says depends on the seed and on its own place in the cast, never
// on the answers: the simulated vendors' answers are one sentence and call no
// tool, so the feed writes both sides of its conversations.
type feed struct {
	feedOptions
	client *http.Client
	world  *world

	waited time.Time // since when somebody else's fault has been waiting; zero: none is
}

// newFeed makes a feed; run starts it.
func newFeed(o feedOptions) *feed {
	if o.AtOnce <= 0 {
		o.AtOnce = feedTurns
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	return &feed{
		feedOptions: o,
		client:      &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: feedTurns, IdleConnTimeout: time.Minute}},
		world:       newWorld(o.Seed),
	}
}

// actor is somebody who does one thing after another.
type actor interface {
	// act does the next thing and says how it goes on.
	act(ctx context.Context, f *feed) next
}

// next is what follows an act.
type next struct {
	pause  time.Duration // until the same actor acts again
	over   bool          // it does not
	brings []actor       // who starts now
}

// entrance is an actor and when it acts next.
type entrance struct {
	actor
	due   time.Time
	order int // between those due at once
}

// stage is a heap of entrances, the earliest first.
type stage []*entrance

func (s stage) Len() int      { return len(s) }
func (s stage) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *stage) Push(e any)   { *s = append(*s, e.(*entrance)) }
func (s stage) Less(i, j int) bool {
	if !s[i].due.Equal(s[j].due) {
		return s[i].due.Before(s[j].due)
	}
	return s[i].order < s[j].order
}

func (s *stage) Pop() any {
	last := len(*s) - 1
	e := (*s)[last]
	(*s)[last], *s = nil, (*s)[:last]
	return e
}

// run lets everybody act, each at its time, until ctx ends. Requests under way
// are then given up, so that it returns at once.
func (f *feed) run(ctx context.Context) {
	var working sync.WaitGroup
	defer f.client.CloseIdleConnections()
	defer working.Wait()

	type end struct {
		who *entrance
		next
	}
	var (
		waiting  stage
		done     = make(chan end)
		busy     int
		earliest time.Time // of the next act
		count    int
	)
	enter := func(a actor, due time.Time) {
		count++
		heap.Push(&waiting, &entrance{actor: a, due: due, order: count})
	}
	goOn := func(e end) {
		busy--
		now := f.Now()
		if !e.over {
			e.who.due = now.Add(e.pause)
			heap.Push(&waiting, e.who)
		}
		for _, a := range e.brings {
			enter(a, now)
		}
	}
	for i, a := range f.cast() {
		enter(a, f.Now().Add(time.Duration(i)*feedGap))
	}
	for {
		var due <-chan time.Time // never, while nobody may act
		if busy < f.AtOnce && len(waiting) > 0 {
			now := f.Now()
			at := waiting[0].due
			if at.Before(earliest) {
				at = earliest
			}
			switch {
			case at.After(now):
				due = f.After(at.Sub(now))
			case ctx.Err() != nil:
				return
			case f.yields(now):
				earliest = now.Add(time.Second)
				continue
			default:
				who := heap.Pop(&waiting).(*entrance)
				earliest = now.Add(feedGap)
				busy++
				working.Go(func() {
					n := who.act(ctx, f)
					select {
					case done <- end{who, n}:
					case <-ctx.Done():
					}
				})
				continue
			}
		}
		select {
		case <-due:
		case e := <-done:
			goOn(e)
		case <-ctx.Done():
			return
		}
	}
}

// yields says whether the feed should keep still: a fault that somebody else has
// scripted, with the README in hand, is for that person's request. After a minute
// the feed takes it for its own weather.
func (f *feed) yields(now time.Time) bool {
	for _, v := range f.Vendors {
		for _, fault := range v.Faults() {
			if strings.HasSuffix(fault.Message, feedMark) {
				continue
			}
			if f.waited.IsZero() {
				f.waited = now
			}
			return now.Sub(f.waited) < feedPatience
		}
	}
	f.waited = time.Time{}
	return false
}

// turn is one request of the feed.
type turn struct {
	name   string // for the log: kind, seat, session, turn
	path   string
	header http.Header
	body   []byte
	leaves bool // the caller leaves once the answer has begun
}

// send sends a turn and reads its answer, and says whether it was answered. What
// fails is for the debug log: failures are part of the show.
func (f *feed) send(ctx context.Context, t *turn) bool {
	ctx, cancel := context.WithTimeout(ctx, feedPatience)
	defer cancel()
	err := f.exchange(ctx, t)
	if err != nil && ctx.Err() == nil {
		f.Log.Debug("a turn of the demo feed failed", "turn", t.name, "error", err.Error())
	}
	return err == nil
}

func (f *feed) exchange(ctx context.Context, t *turn) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Gateway+t.path, bytes.NewReader(t.body))
	if err != nil {
		return err
	}
	r.Header = t.header
	answer, err := f.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if t.leaves {
		_, _ = io.CopyN(io.Discard, answer.Body, 64) // closing the rest is how a caller leaves
		return nil
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	return nil
}
