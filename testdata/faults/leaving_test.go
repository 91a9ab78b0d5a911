package faults_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestFM13TheClientLeavesBeforeHeaders(t *testing.T) {
	t.Parallel()
	asked := make(chan *call, 100)
	only := newVendor(t, "only", func(c *call) bool { asked <- c; c.hang(); return false })
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	var worst time.Duration
	const n = 60
	for i := range n {
		var quit time.Time
		a := r.turn(ask{dialect: chat, stream: i%2 == 0, session: session("before", i), abort: func(leave context.CancelFunc) {
			c := <-asked
			quit = time.Now()
			leave()
			asked <- c
		}})
		a.code = 499
		c := <-asked
		r.await(5*time.Second, "the vendor sees the request cancelled", func() bool { return !c.left().IsZero() })
		worst = max(worst, c.left().Sub(quit))
	}
	t.Logf("cancelled at most %v after the client left", worst)
	if worst > 500*time.Millisecond {
		t.Errorf("cancelled %v after the client left", worst)
	}
	if tried := tally(r.settled()); tried["only abandoned client_left"] != n {
		t.Errorf("attempts %v", tried)
	}
	if r.down("only") != 0 {
		t.Error("a client that leaves counts against the vendor")
	}
	r.audit()
}

func TestFM13TheClientLeavesInMidStream(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool { c.upTo(d, d.begun); c.hang(); return false })
			r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
			const n = 60
			quit := make([]time.Time, n)
			r.drive(n, 1, func(i int) ask {
				return ask{dialect: d, stream: true, session: session("mid", i), leave: func(response *http.Response, leave context.CancelFunc) string {
					line, _ := bufio.NewReader(response.Body).ReadString('\n')
					quit[i] = time.Now()
					leave()
					return line
				}}
			})
			var worst time.Duration
			for i, c := range only.log() {
				r.await(5*time.Second, "the vendor sees the request cancelled", func() bool { return !c.left().IsZero() })
				worst = max(worst, c.left().Sub(quit[i]))
			}
			t.Logf("cancelled at most %v after the client left", worst)
			if worst > 500*time.Millisecond {
				t.Errorf("cancelled %v after the client left", worst)
			}
			turns := r.settled()
			if tried := tally(turns); tried["only abandoned client_left"] != n {
				t.Errorf("attempts %v", tried)
			}
			for i := range turns {
				if a := turns[i].Attempts[0]; !a.Billed || a.Cost != nil || a.Quality == "authoritative" {
					t.Fatalf("booked as %+v", a)
				}
			}
			if pins := r.pinned(session("mid", 0)); pins != "only/main" {
				t.Errorf("pinned to %q; the vendor has the prompt", pins)
			}
			r.audit()
		})
	}
}

func TestFM13TheClientLeavesAfterTheLastByte(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{stands: []stand{{name: "only", vendor: newVendor(t, "only", good(d, ordinary))}}})
			r.drive(60, 4, func(i int) ask {
				return ask{dialect: d, stream: i%2 == 0, session: session("after", i), leave: func(response *http.Response, leave context.CancelFunc) string {
					text, _ := io.ReadAll(response.Body)
					leave()
					return string(text)
				}}
			})
			if tried := tally(r.settled()); tried["only served"] != 60 {
				t.Errorf("attempts %v", tried)
			}
			r.audit()
		})
	}
}

// With on_client_left: drain the answer is read on, and the books have all of it.
func TestFM13TheAnswerIsReadOn(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool {
				events := d.events(ordinary)
				c.say(head("text/event-stream", chunked))
				for i, e := range events {
					if i == d.begun {
						pause(300 * time.Millisecond)
					}
					c.chunk(e)
				}
				if !c.say("0\r\n\r\n") {
					return false
				}
				c.told(ordinary)
				return true
			})
			r := newRig(t, setup{config: "on_client_left: drain\ndrain: {time: 5s, bytes: 64KiB}\n", stands: []stand{{name: "only", vendor: only}}})
			r.drive(20, 10, func(i int) ask {
				return ask{dialect: d, stream: true, session: session("drained", i), leave: func(response *http.Response, leave context.CancelFunc) string {
					line, _ := bufio.NewReader(response.Body).ReadString('\n')
					leave()
					return line
				}}
			})
			turns := r.settled()
			for i := range turns {
				if a := turns[i].Attempts[0]; a.Stage != "abandoned" || a.Cost == nil {
					t.Fatalf("booked as %+v", a)
				}
			}
			r.audit()
		})
	}
}
