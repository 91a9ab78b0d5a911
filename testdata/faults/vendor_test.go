package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// usage is what a vendor says that an answer took, in tokens.
type usage struct{ prompt, cached, output int64 }

// call is one request at a vendor, and the vendor's log of it.
type call struct {
	n    int // 1 for the vendor's first
	conn *net.TCPConn
	in   *bufio.Reader

	method, path string
	header       http.Header
	body         string
	at           time.Time

	mu   sync.Mutex
	said *usage    // told to the caller, the whole answer with it
	gone time.Time // when the caller was seen to be gone
	sent int64     // bytes written
	err  error     // of the first write that failed
}

// script is what a vendor does with a request. The connection is used again where it
// says so.
type script func(c *call) (again bool)

// vendor is a scripted vendor on loopback. Its log is read when the gateway is at rest.
type vendor struct {
	name     string
	listener net.Listener

	mu        sync.Mutex
	play      script
	greet     func(*net.TCPConn) bool // before a request is read; false: over
	loose     bool                    // connections break: an attempt may need two, or end unread
	calls     []*call
	dials     int // connections accepted
	greetings int // connections that greet ended
	conns     map[net.Conn]bool
	wait      sync.WaitGroup
}

// newVendor is a vendor that listens, until the test ends.
func newVendor(t *testing.T, name string, play script) *vendor {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &vendor{name: name, listener: listener, play: play, conns: map[net.Conn]bool{}}
	v.wait.Go(v.accept)
	t.Cleanup(func() {
		listener.Close()
		v.hangUp()
		v.wait.Wait()
	})
	return v
}

func (v *vendor) url() string { return "http://" + v.listener.Addr().String() + "/v1" }

// plays is what the vendor does from now on.
func (v *vendor) plays(play script) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.play = play
}

// greets is what the vendor does with a connection before it reads; it may be nothing. Its
// log need not be exact from now on.
func (v *vendor) greets(greet func(*net.TCPConn) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.greet, v.loose = greet, true
}

// log is what the vendor was asked so far.
func (v *vendor) log() []*call {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]*call(nil), v.calls...)
}

// attempts is how many attempts reached the vendor in any form.
func (v *vendor) attempts() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.calls) + v.greetings
}

// hangUp closes every connection.
func (v *vendor) hangUp() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for conn := range v.conns {
		conn.Close()
	}
}

func (v *vendor) accept() {
	for {
		conn, err := v.listener.Accept()
		if err != nil {
			return
		}
		v.mu.Lock()
		v.dials++
		v.conns[conn] = true
		v.mu.Unlock()
		v.wait.Go(func() {
			defer func() {
				conn.Close()
				v.mu.Lock()
				delete(v.conns, conn)
				v.mu.Unlock()
			}()
			v.serve(conn.(*net.TCPConn))
		})
	}
}

func (v *vendor) serve(conn *net.TCPConn) {
	v.mu.Lock()
	greet := v.greet
	v.mu.Unlock()
	if greet != nil && !greet(conn) {
		v.mu.Lock()
		v.greetings++
		v.mu.Unlock()
		return
	}
	for in := bufio.NewReader(conn); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c := &call{conn: conn, in: in, method: r.Method, path: r.URL.RequestURI(), header: r.Header, body: string(body), at: time.Now()}
		v.mu.Lock()
		v.calls = append(v.calls, c)
		c.n = len(v.calls)
		play := v.play
		v.mu.Unlock()
		if !play(c) {
			return
		}
	}
}

// say writes; ok is false once the caller takes no more.
func (c *call) say(text string) (ok bool) {
	n, err := io.WriteString(c.conn, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent += int64(n)
	if err != nil && c.err == nil {
		c.err, c.gone = err, time.Now()
	}
	return err == nil
}

// chunk writes a piece of a chunked answer.
func (c *call) chunk(text string) bool {
	return c.say(fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
}

// told notes that the caller has the whole of an answer with this usage.
func (c *call) told(u usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = &u
}

// hang says nothing more and waits for the caller to go.
func (c *call) hang() {
	_, _ = io.Copy(io.Discard, c.in)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.IsZero() {
		c.gone = time.Now()
	}
}

// left is when the caller went; zero if it was not seen to.
func (c *call) left() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// reset breaks the connection off with an RST.
func (c *call) reset() { _ = c.conn.SetLinger(0) }

// key is the credential that the request came with.
func (c *call) key() string { return strings.TrimPrefix(c.header.Get("Authorization"), "Bearer ") }

// head begins an answer of 200.
func head(contentType string, more ...string) string {
	text := "HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\n"
	for _, line := range more {
		text += line + "\r\n"
	}
	return text + "\r\n"
}

// refusal is an answer that is none.
func refusal(status int, more ...string) string {
	body := `{"error":{"message":"not now","type":"server_error","code":null}}`
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	for _, line := range more {
		text += line + "\r\n"
	}
	return text + "\r\n" + body
}

const chunked = "Transfer-Encoding: chunked"

// good answers whole, or streams, as it is asked.
func good(d dialect, u usage) script {
	return func(c *call) bool {
		if !strings.Contains(c.body, `"stream":true`) {
			text := d.whole(u)
			if c.say(head("application/json", fmt.Sprintf("Content-Length: %d", len(text)))) && c.say(text) {
				c.told(u)
			}
			return true
		}
		ok := c.say(head("text/event-stream", chunked))
		for _, event := range d.events(u) {
			ok = ok && c.chunk(event)
		}
		if ok && c.say("0\r\n\r\n") {
			c.told(u)
		}
		return ok
	}
}
