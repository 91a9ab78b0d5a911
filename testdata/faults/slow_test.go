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

// dial is a client's connection to the gateway.
func (r *rig) dial() *net.TCPConn {
	r.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.client, "http://"))
	if err != nil {
		r.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// plain is a request as it goes over the wire, up to the end of its header.
func plain(body string, more ...string) string {
	text := "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer " + shopKey + "\r\nContent-Type: application/json\r\nX-Warmroute-Metadata: header\r\n"
	for _, line := range more {
		text += line + "\r\n"
	}
	return text + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
}

func TestFM17HeadersThatComeSlowly(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: newVendor(t, "only", good(chat, ordinary))}}})
	const lorises = 300
	var wait sync.WaitGroup
	var mu sync.Mutex
	var worst time.Duration
	for range lorises {
		conn := r.dial()
		wait.Go(func() {
			defer conn.Close()
			began, gone := time.Now(), make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = io.Copy(io.Discard, conn)
			}()
			for _, b := range plain("{}") { // at this pace the header takes half a minute
				if _, err := conn.Write([]byte(string(b))); err != nil {
					break
				}
				select {
				case <-gone:
				case <-time.After(200 * time.Millisecond):
					continue
				}
				break
			}
			<-gone
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, time.Since(began))
		})
	}
	answers := r.drive(200, 4, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("beside", i)} })
	r.allServed(answers, "only")
	wait.Wait()
	t.Logf("beside %d slow headers a turn took %v; the last of them was closed after %v", lorises, median(answers), worst)
	if worst > 9*time.Second {
		t.Errorf("a slow header held its connection for %v; 5 s is the limit", worst)
	}
	r.audit()
}

func TestFM17BodiesThatComeSlowly(t *testing.T) {
	t.Parallel()
	only := newVendor(t, "only", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	const slow = 40
	var wait sync.WaitGroup
	for range slow {
		conn := r.dial()
		wait.Go(func() {
			defer conn.Close()
			_, _ = io.WriteString(conn, plain(strings.Repeat(" ", 4000)))
			answered := make(chan *http.Response, 1)
			go func() {
				response, _ := http.ReadResponse(bufio.NewReader(conn), nil)
				answered <- response
			}()
			began := time.Now()
			for tick := time.NewTicker(time.Second); ; {
				select {
				case response := <-answered:
					tick.Stop()
					if took := time.Since(began); response == nil || response.StatusCode != 408 || took < 29*time.Second || took > 40*time.Second {
						t.Errorf("after %v: %v", took, response)
					}
					return
				case <-tick.C:
					_, _ = conn.Write([]byte(" "))
				}
			}
		})
	}
	r.allServed(r.drive(200, 4, func(i int) ask { return ask{dialect: chat, session: session("beside", i)} }), "only")
	wait.Wait()
	if n := len(only.log()); n != 200 {
		t.Errorf("the vendor was asked %d times; a body that is not whole may not reach it", n)
	}
	r.audit()
}

// A client that stops reading stops its vendor, and is cut off; what lies between them
// is bounded.
func TestFM18TheClientStopsReading(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(chat.events(ordinary)[1], 50)
	only := newVendor(t, "only", func(c *call) bool {
		_ = c.conn.SetWriteBuffer(16 << 10)
		c.say(head("text/event-stream", chunked))
		for c.chunk(many) {
		}
		return false
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	before := r.resident("VmRSS")
	const clients = 20
	began := time.Now()
	for i := range clients {
		conn := r.dial()
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetReadBuffer(16 << 10)
		body := chat.request(true)
		_, _ = io.WriteString(conn, plain(body, "X-Session-Id: "+session("deaf", i))+body)
		response, err := http.ReadResponse(bufio.NewReaderSize(conn, 4096), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.keep(&answer{status: response.StatusCode, header: response.Header, turn: true})
	}
	var most int64
	for _, c := range only.log() {
		r.await(45*time.Second, "the vendor is cut off", func() bool { return !c.left().IsZero() })
		c.mu.Lock()
		most = max(most, c.sent)
		c.mu.Unlock()
	}
	grown := (r.resident("VmRSS") - before) / clients
	t.Logf("cut off after %v; at most %d KB of a stream left its vendor, memory grew by %d KB a client", time.Since(began), most>>10, grown>>10)
	if grown > 512<<10 || most > 1<<20 {
		t.Errorf("memory grew by %d KB a client, and %d KB of a stream are on their way", grown>>10, most>>10)
	}
	if took := time.Since(began); took < 25*time.Second || took > 45*time.Second {
		t.Errorf("cut off after %v; 30 s is the limit of one write", took)
	}
	if tried := tally(r.settled()); tried["only abandoned client_left"] != clients {
		t.Errorf("attempts %v", tried)
	}
	r.audit()
}
