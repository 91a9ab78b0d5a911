package faults_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// brokeOff fails unless the client has an error event and then no proper end.
func (r *rig) brokeOff(a *answer, d dialect) {
	r.Helper()
	if a.status != 200 || !errors.Is(a.err, io.ErrUnexpectedEOF) {
		r.Errorf("%d, and the answer ends with %v; it must be broken off", a.status, a.err)
	}
	if !strings.Contains(a.body, `"error"`) || strings.Contains(a.body, d.end) {
		r.Errorf("the cut answer is %s", a.body)
	}
}

// broken fails unless n attempts ended as said, none of them priced as if it were whole.
func (r *rig) broken(turns []bookedTurn, n int, how string) {
	r.Helper()
	if tried := tally(turns); tried[how] != n {
		r.Errorf("attempts %v, want %d of %q", tried, n, how)
	}
	for i := range turns {
		for _, a := range turns[i].Attempts {
			if a.Stage != "broken" {
				continue
			}
			if !a.Billed || a.Quality == "authoritative" || a.Cost != nil {
				r.Errorf("a broken attempt is booked as billed %v, %s, cost %v", a.Billed, a.Quality, a.Cost)
			}
		}
	}
}

func TestFM06HangsInMidStream(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool { c.upTo(d, d.begun); c.hang(); return false })
			r := newRig(t, setup{timeouts: "idle: 1s", stands: []stand{{name: "only", vendor: only}}})
			began := time.Now()
			for _, a := range r.drive(30, 30, func(i int) ask { return ask{dialect: d, stream: true, session: session("midway", i)} }) {
				r.brokeOff(a, d)
				if a.took < time.Second || a.took > 5*time.Second {
					t.Errorf("took %v, the limit between bytes is 1 s", a.took)
				}
			}
			t.Logf("30 streams took %v", time.Since(began))
			for _, c := range only.log() {
				r.await(5*time.Second, "the vendor sees the request cancelled", func() bool { return !c.left().IsZero() })
			}
			r.broken(r.settled(), 30, "only broken cut")
			for i := range 30 {
				if pins := r.pinned(session("midway", i)); pins != "" {
					t.Fatalf("session %d is still pinned to %s", i, pins)
				}
			}
			r.audit()
		})
	}
}

// A vendor that sends comments or pings is at work.
func TestFM06PingsCountAsLife(t *testing.T) {
	t.Parallel()
	ping := map[string]string{"chat": ": working\n\n", "responses": ": working\n\n", "messages": "event: ping\ndata: {\"type\": \"ping\"}\n\n"}
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool {
				events := d.events(ordinary)
				c.say(head("text/event-stream", chunked))
				for i, e := range events {
					c.chunk(e)
					for range 6 {
						if i != d.begun-1 {
							break
						}
						pause(400 * time.Millisecond)
						c.chunk(ping[d.name])
					}
				}
				if c.say("0\r\n\r\n") {
					c.told(ordinary)
				}
				return true
			})
			r := newRig(t, setup{timeouts: "idle: 1s", stands: []stand{{name: "only", vendor: only}}})
			for _, a := range r.drive(3, 3, func(i int) ask { return ask{dialect: d, stream: true, session: session("pings", i)} }) {
				if !a.ok() || !strings.Contains(a.body, d.end) {
					t.Errorf("%d %v %s", a.status, a.err, a.body)
				}
			}
			r.audit()
		})
	}
}

// pause is a vendor's: it takes its time.
func pause(d time.Duration) { <-time.After(d) }

func TestFM07CutsTheStream(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		for _, c := range []struct {
			name string
			play script
		}{
			{"closes without the last chunk", func(c *call) bool { c.upTo(d, d.begun); return false }},
			{"resets", func(c *call) bool {
				c.upTo(d, d.begun)
				pause(50 * time.Millisecond) // an RST takes along what has not been read
				c.reset()
				return false
			}},
			{"short Content-Length", func(c *call) bool {
				c.say(head("text/event-stream", "Content-Length: 99999"))
				c.say(strings.Join(d.events(ordinary)[:d.begun], ""))
				return false
			}},
			{"ends properly without its last event", func(c *call) bool {
				c.upTo(d, d.begun)
				c.say("0\r\n\r\n")
				return true
			}},
			{"ends in the middle of an event", func(c *call) bool {
				c.upTo(d, d.begun)
				c.chunk(d.events(ordinary)[d.begun-1][:30])
				c.say("0\r\n\r\n")
				return true
			}},
			{"ends in the middle of a chunk", func(c *call) bool {
				c.upTo(d, d.begun)
				c.say("ffff\r\ndata: {\"id\"")
				return false
			}},
			{"garbage for a chunk", func(c *call) bool {
				c.upTo(d, d.begun)
				c.say("zz zz\r\n\r\n\x00\x01")
				return false
			}},
		} {
			t.Run(d.name+", "+c.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, setup{stands: []stand{{name: "only", vendor: newVendor(t, "only", c.play)}}})
				for _, a := range r.drive(24, 8, func(i int) ask { return ask{dialect: d, stream: true, session: session("cut", i)} }) {
					r.brokeOff(a, d)
				}
				r.broken(r.settled(), 24, "only broken cut")
				if pins := r.pinned(session("cut", 0)); pins != "" {
					t.Errorf("still pinned to %s", pins)
				}
				r.audit()
			})
		}
	}
}

// What is cut before any content is answered by the next vendor, whole answers too.
func TestFM07CutsBeforeAnyContent(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]script{
		"a stream of nothing":  func(c *call) bool { c.say(head("text/event-stream", "Content-Length: 0")); return true },
		"a stream of comments": func(c *call) bool { c.say(head("text/event-stream", chunked)); c.chunk(": hello\n\n"); return false },
		"half a whole answer": func(c *call) bool {
			c.say(head("application/json", "Content-Length: 999") + `{"id":"chatc`)
			return false
		},
		"a short Content-Length": func(c *call) bool {
			c.say(head("application/json", "Content-Length: 20") + chat.whole(ordinary))
			return false
		},
		"two Content-Lengths": func(c *call) bool {
			c.say(head("application/json", "Content-Length: 2", "Content-Length: 3") + "{}")
			return false
		},
		"a Content-Length that is no": func(c *call) bool { c.say(head("application/json", "Content-Length: many") + "{}"); return false },
		"gzip that is none": func(c *call) bool {
			c.say(head("application/json", "Content-Encoding: gzip", "Content-Length: 9") + "not gzip!")
			return false
		},
		"gzip broken off": func(c *call) bool {
			c.say(head("application/json", "Content-Encoding: gzip", "Content-Length: 12") + "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaa\x56")
			return false
		},
		"an unknown coding": func(c *call) bool {
			c.say(head("application/json", "Content-Encoding: rot13", "Content-Length: 2") + "{}")
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newVendor(t, "first", play)
			first.greets(nil)
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))}}})
			stream := strings.Contains(name, "stream")
			r.allServed(r.drive(12, 1, func(i int) ask { return ask{dialect: chat, stream: stream, session: session("early", i)} }), "second")
			tried := tally(r.settled())
			if tried["first broken cut"]+tried["first refused connect"] != 3 {
				t.Errorf("attempts %v", tried)
			}
			r.audit()
		})
	}
}

// Two answers to one request: the first counts, and the second is nobody's.
func TestFM07AnswersTwice(t *testing.T) {
	t.Parallel()
	only := newVendor(t, "only", nil)
	only.plays(func(c *call) bool {
		text := chat.whole(usage{1000, 0, int64(c.n)})
		c.told(usage{1000, 0, int64(c.n)})
		c.say(head("application/json", fmt.Sprintf("Content-Length: %d", len(text))) + text + head("application/json", "Content-Length: 30") + `{"choices":[],"stolen":"yes"}   `)
		return true
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	for i, a := range r.drive(20, 1, func(i int) ask { return ask{dialect: chat, session: session("twice", i)} }) {
		if strings.Contains(a.body, "stolen") || a.ok() && !strings.Contains(a.body, fmt.Sprintf(`"completion_tokens":%d,`, i+1)) {
			t.Errorf("request %d: %d %v %s", i+1, a.status, a.err, a.body)
		}
		if !a.ok() {
			t.Errorf("request %d: %d %s", i+1, a.status, a.body)
		}
	}
	r.audit()
}

func TestFM08AnErrorBeforeAnyContent(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", d.name, stream), func(t *testing.T) {
				t.Parallel()
				first := newVendor(t, "first", func(c *call) bool {
					if stream {
						c.say(head("text/event-stream", chunked))
						c.chunk(": wait\n\n")
						c.chunk(d.broken)
						return c.say("0\r\n\r\n")
					}
					return c.say(head("application/json", fmt.Sprintf("Content-Length: %d", len(d.failed))) + d.failed)
				})
				r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", good(d, ordinary))}}})
				r.allServed(r.drive(20, 1, func(i int) ask { return ask{dialect: d, stream: stream, session: session("soon", i)} }), "second")
				turns := r.settled()
				r.broken(turns, 3, "first broken stream")
				if pins := r.pinned(session("soon", 0)); pins != "second/main" {
					t.Errorf("pinned to %s", pins)
				}
				if r.down("first") != 1 {
					t.Error("the first is not down")
				}
				r.audit()
			})
		}
	}
}

func TestFM08AnErrorAmongTheContent(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool {
				c.upTo(d, d.begun)
				c.chunk(d.broken)
				return c.say("0\r\n\r\n")
			})
			r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
			want := strings.Join(d.events(usage{100, 0, 10})[:d.begun], "") + d.broken
			for _, a := range r.drive(30, 5, func(i int) ask { return ask{dialect: d, stream: true, session: session("late", i)} }) {
				if a.status != 200 || !strings.HasPrefix(a.body, want) || strings.Contains(a.body, d.end) {
					t.Errorf("%d %v %q\nwant %q", a.status, a.err, a.body, want)
				}
			}
			r.broken(r.settled(), 30, "only broken stream")
			if pins := r.pinned(session("late", 0)); pins != "" {
				t.Errorf("still pinned to %s", pins)
			}
			r.audit()
		})
	}
}
