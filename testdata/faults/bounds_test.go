package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFM12HeadersThatDoNotEnd(t *testing.T) {
	t.Parallel()
	repeat := func(c *call, text string, each time.Duration) bool {
		for c.say(text) {
			if each > 0 {
				pause(each)
			}
		}
		return false
	}
	for name, play := range map[string]script{
		"a byte now and then": func(c *call) bool {
			for _, b := range head("application/json") + strings.Repeat("x", 100) {
				if !c.say(string(b)) {
					return false
				}
				pause(100 * time.Millisecond)
			}
			return false
		},
		"a header of a megabyte": func(c *call) bool {
			c.say("HTTP/1.1 200 OK\r\nX-Big: " + strings.Repeat("x", 1<<20) + "\r\n\r\n")
			return false
		},
		"a header without end": func(c *call) bool {
			c.say("HTTP/1.1 200 OK\r\nX-Big: ")
			return repeat(c, strings.Repeat("x", 4096), 0)
		},
		"ten thousand headers": func(c *call) bool {
			c.say("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Many: yes\r\n", 10_000) + "\r\n")
			return false
		},
		"1xx without end":  func(c *call) bool { return repeat(c, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 0) },
		"1xx now and then": func(c *call) bool { return repeat(c, "HTTP/1.1 103 Early Hints\r\n\r\n", 200*time.Millisecond) },
		"comments now and then": func(c *call) bool {
			c.say(head("text/event-stream"))
			return repeat(c, ": wait\n\n", 200*time.Millisecond)
		},
		"comments without end": func(c *call) bool {
			c.say(head("text/event-stream"))
			return repeat(c, strings.Repeat(": wait\n\n", 500), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newVendor(t, "first", play)
			r := newRig(t, setup{timeouts: "first_byte: 1s, idle: 1s", stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))}}})
			before := r.resident("VmHWM")
			answers := r.drive(6, 1, func(i int) ask { return ask{dialect: chat, stream: true, session: session("header", i)} })
			r.allServed(answers, "second")
			if answers[0].took > 4*time.Second {
				t.Errorf("took %v, the first byte may take 1 s", answers[0].took)
			}
			if grown := r.resident("VmHWM") - before; grown > 32<<20 {
				t.Errorf("memory grew by %d MB", grown>>20)
			}
			if got := first.log()[0].header.Get("Accept-Encoding"); got != "" && got != "identity" {
				t.Errorf("the vendor is asked for %q", got)
			}
			r.audit()
		})
	}
}

func TestFM12AFewInformationalResponsesAreNoFault(t *testing.T) {
	t.Parallel()
	serve := good(chat, ordinary)
	only := newVendor(t, "only", func(c *call) bool {
		c.say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nSet-Cookie: early=" + theirCookie + "\r\n\r\n")
		return serve(c)
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	r.allServed(r.drive(10, 2, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("hints", i)} }), "only")
	r.audit()
}

// A line may be longer than anybody reads: the bytes pass, and memory does not follow.
// What was not read may have held usage, so what the answer cost is not known.
func TestFM12ALineOf64MB(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	events := chat.events(ordinary)
	piece := strings.Repeat("x", 64<<10)
	only := newVendor(t, "only", func(c *call) bool {
		c.say(head("text/event-stream", chunked))
		c.chunk(events[0])
		c.chunk(`data: {"choices":[{"index":0,"delta":{"content":"`)
		for range size / len(piece) {
			c.chunk(piece)
		}
		c.chunk("\"}}]}\n\n")
		for _, e := range events[2:] {
			c.chunk(e)
		}
		return c.say("0\r\n\r\n")
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	before := r.resident("VmHWM")
	const streams = 4
	for _, a := range r.drive(streams, streams, func(i int) ask {
		return ask{dialect: chat, stream: true, session: session("line", i), leave: func(response *http.Response, _ context.CancelFunc) string {
			n, err := io.Copy(io.Discard, response.Body)
			return fmt.Sprint(n, err)
		}}
	}) {
		if want := fmt.Sprint(size+int64(len(events[0]+strings.Join(events[2:], "")))+int64(len(`data: {"choices":[{"index":0,"delta":{"content":"`+"\"}}]}\n\n")), nil); a.body != want {
			t.Errorf("the client read %s, want %s", a.body, want)
		}
	}
	if tried := tally(r.settled()); tried["only served"] != streams {
		t.Errorf("attempts %v", tried)
	}
	grown := (r.resident("VmHWM") - before) >> 20
	t.Logf("memory grew by %d MB with %d streams", grown, streams)
	if grown > 48 {
		t.Errorf("memory grew by %d MB with %d streams of %d MB each", grown, streams, size>>20)
	}
	r.audit()
}

// A stream without an end lasts as long as its client wants it.
func TestFM12AStreamWithoutEnd(t *testing.T) {
	t.Parallel()
	event := chat.events(ordinary)[1]
	only := newVendor(t, "only", func(c *call) bool {
		c.say(head("text/event-stream", chunked))
		for many := strings.Repeat(event, 100); c.chunk(many); {
		}
		return false
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	before := r.resident("VmHWM")
	r.drive(4, 4, func(i int) ask {
		return ask{dialect: chat, stream: true, session: session("endless", i), leave: func(response *http.Response, _ context.CancelFunc) string {
			_, _ = io.CopyN(io.Discard, response.Body, 24<<20)
			return ""
		}}
	})
	for _, c := range only.log() {
		r.await(5*time.Second, "the vendor sees the client leave", func() bool { return !c.left().IsZero() })
	}
	if grown := (r.resident("VmHWM") - before) >> 20; grown > 48 {
		t.Errorf("memory grew by %d MB", grown)
	}
	if tried := tally(r.settled()); tried["only abandoned client_left"] != 4 {
		t.Errorf("attempts %v", tried)
	}
	r.audit()
}

// bomb is n bytes of x after begin, packed: members of a megabyte, one like the other.
func bomb(begin string, n int) string {
	pack := func(text string) string {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return packed.String()
	}
	return pack(begin) + strings.Repeat(pack(strings.Repeat("x", 1<<20)), n>>20)
}

// What unpacks to more than anybody wants costs no more memory than an answer may have.
func TestFM12AGzipBomb(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, begin string
		stream            bool
		most              int64 // MB that memory may grow by
	}{
		{"a whole answer", "application/json", `{"id":"`, false, 320}, // of 64 MB, and what it grew through
		{"an event", "text/event-stream", `data: {"id":"`, true, 48},
		{"a comment", "text/event-stream", `: `, true, 48},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 256 << 20
			text := bomb(c.begin, size)
			first := newVendor(t, "first", func(call *call) bool {
				return call.say(head(c.kind, "Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(text))) + text)
			})
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))}}})
			before := r.resident("VmHWM")
			a := r.turn(ask{dialect: chat, stream: c.stream, session: session("bomb", 0), leave: func(response *http.Response, _ context.CancelFunc) string {
				_, err := io.Copy(io.Discard, response.Body)
				return fmt.Sprint(err)
			}})
			grown := (r.resident("VmHWM") - before) >> 20
			t.Logf("%d bytes that unpack to %d MB: memory grew by %d MB", len(text), size>>20, grown)
			if grown > c.most {
				t.Errorf("memory grew by %d MB", grown)
			}
			switch a.served() { // a stream has begun, and then has to be broken off
			case "second":
			default:
				if !c.stream || !strings.Contains(a.body, "EOF") {
					t.Errorf("%d by %s, which ends with %s", a.status, a.served(), a.body)
				}
			}
			if tried := tally(r.settled()); tried["first broken cut"] != 1 {
				t.Errorf("attempts %v", tried)
			}
			r.audit()
		})
	}
}
