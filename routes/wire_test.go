package routes_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// chunked sends parts, each once the client has the one before, or at once where
// wait is nil.
func chunked(conn net.Conn, contentType string, wait <-chan struct{}, parts ...string) {
	_ = conn.(*net.TCPConn).SetNoDelay(true)
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", contentType)
	for _, p := range parts {
		_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(p), p)
		if wait != nil {
			<-wait
		}
	}
}

const stopped = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

// The end mark without its blank line, however the network cut it up, ends the
// stream though the vendor keeps the connection open.
func TestAnEndMarkInPiecesEndsTheStream(t *testing.T) {
	for at := 1; at < len("data: [DONE]\n"); at++ {
		mark := "data: [DONE]\n"
		url := rawVendor(t, func(conn net.Conn) {
			tick := time.NewTicker(5 * time.Millisecond) // so that each piece is a read of its own
			defer tick.Stop()
			wait := make(chan struct{})
			go func() {
				for range 3 {
					<-tick.C
					wait <- struct{}{}
				}
			}()
			chunked(conn, "text/event-stream", wait, stopped, mark[:at], mark[at:])
			_, _ = conn.Read(make([]byte, 1)) // open until the gateway has had enough
		})
		r := newRig(t, nil, stop{name: "pier", url: url, extra: "    refuses: [stream_options]"})
		began := time.Now()
		got := r.post("chat", bodies[true])
		if got.err != nil || !strings.HasPrefix(got.body, stopped+"data: [DONE]") || time.Since(began) > 2*time.Second {
			t.Errorf("cut at %d: %v %q after %v", at, got.err, got.body, time.Since(began))
		}
		if a := r.last(1); a.Stage != engine.StageServed {
			t.Errorf("cut at %d: attempt %q %q", at, a.Stage, a.Cause)
		}
	}
}

// Text that looks like the end mark, in a piece of its own and followed by a
// pause, is text.
func TestTextThatLooksLikeTheEndMarkIsText(t *testing.T) {
	piece := []string{`data: {"id":"c","choices":[{"index":0,"delta":{"content":"say `, `data: [DONE]`, ` and stop"},"finish_reason":null}]}` + "\n\n"}
	url := rawVendor(t, func(conn net.Conn) {
		pause := make(chan struct{}, 9)
		go func() {
			for _, d := range []time.Duration{time.Millisecond, 150 * time.Millisecond, time.Millisecond, 0, 0} { // the second is longer than a linger
				<-time.After(d)
				pause <- struct{}{}
			}
		}()
		chunked(conn, "text/event-stream", pause, append(piece, stopped, "data: [DONE]\n\n")...)
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	r := newRig(t, nil, stop{name: "pier", url: url, extra: "    refuses: [stream_options]"})
	got := r.post("chat", bodies[true])
	if want := strings.Join(piece, "") + stopped + "data: [DONE]\n\n"; got.body != want || got.err != nil {
		t.Errorf("%v %q", got.err, got.body)
	}
	if a := r.last(1); a.Stage != engine.StageServed {
		t.Errorf("attempt %q %q", a.Stage, a.Cause)
	}
}

// A first event that was never ended was never sent on: the next vendor answers.
func TestAnUnfinishedFirstEventIsServedByTheNextVendor(t *testing.T) {
	for _, first := range []string{
		`data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`,
		`data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n",
		`data: {"id":"c","choi`,
	} {
		url := rawVendor(t, func(conn net.Conn) {
			chunked(conn, "text/event-stream", nil, first)
			_, _ = io.WriteString(conn, "0\r\n\r\n")
		})
		second := input(t, "responses/chat-plain.sse")
		r := newRig(t, nil, stop{name: "first", url: url}, stop{name: "second", serve: &script{text: second}})
		got := r.post("chat", `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`)
		if got.status != http.StatusOK || got.body != second || got.err != nil {
			t.Errorf("%q: %d %v %q", first, got.status, got.err, got.body)
		}
		if a := r.turns(1)[0].Attempts; len(a) != 2 || a[0].Committed || a[0].Failure != engine.FailureCut {
			t.Errorf("attempts %+v", a)
		}
	}
	// Where it is the whole answer it is one.
	whole := `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`
	r := newRig(t, nil, stop{name: "first", serve: &script{text: whole}})
	if got := r.post("chat", bodies[true]); got.status != http.StatusOK || !strings.HasPrefix(got.body, whole) || got.err != nil {
		t.Errorf("%d %v %q", got.status, got.err, got.body)
	}
}

// A stream that calls itself JSON is a stream all the same: each event goes out
// before the next is there.
func TestAStreamThatCallsItselfJSONIsNotHeldBack(t *testing.T) {
	events := []string{"\n: hello\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", stopped, "data: [DONE]\n\n"}
	seen := make(chan struct{}, len(events))
	seen <- struct{}{} // a comment is held until the first event
	url := rawVendor(t, func(conn net.Conn) {
		chunked(conn, "application/json", seen, events...)
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	r := newRig(t, nil, stop{name: "pier", url: url})
	request, _ := http.NewRequest(http.MethodPost, r.url+paths["chat"], strings.NewReader(bodies[true]))
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("content type %q", got)
	}
	text, buffer := "", make([]byte, 4096)
	for i := 1; i < len(events); {
		n, err := response.Body.Read(buffer)
		text += string(buffer[:n])
		for i < len(events) && strings.Contains(text, events[i]) {
			i++
			seen <- struct{}{}
		}
		if err != nil && i < len(events) {
			t.Fatalf("%v after %q", err, text)
		}
	}
	if text != strings.Join(events, "") {
		t.Errorf("client got %q", text)
	}
	// And a whole answer for a client that wanted a stream is passed whole.
	r = newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	if got := r.post("chat", bodies[true]); got.body != jsonAnswer || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		t.Errorf("%v %q", got.header, got.body)
	}
}

// Memory follows what a client has sent, not what it announces.
func TestAnAnnouncedLengthCostsNothing(t *testing.T) {
	const clients, announced = 64, 30 << 20
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	handler := routes.New(routes.Options{Gateway: r.gateway, Vendor: vendor.New(vendor.Options{})})
	var before, after runtime.MemStats
	var all sync.WaitGroup
	runtime.ReadMemStats(&before)
	pipes := make([]*io.PipeWriter, clients)
	for i := range pipes {
		var body *io.PipeReader
		body, pipes[i] = io.Pipe()
		request := httptest.NewRequest(http.MethodPost, paths["chat"], body)
		request.ContentLength = announced
		all.Go(func() { handler.ServeHTTP(httptest.NewRecorder(), request) })
		_, _ = pipes[i].Write([]byte("{")) // returns once it is read
	}
	runtime.ReadMemStats(&after)
	for _, p := range pipes {
		_ = p.CloseWithError(io.ErrUnexpectedEOF)
	}
	all.Wait()
	if each := (after.TotalAlloc - before.TotalAlloc) / clients; each > 128<<10 {
		t.Errorf("%d bytes for a client that sent one", each)
	}
}

// A body that keeps coming is waited for beyond its first time.
func TestABodyThatKeepsComingIsWaitedFor(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, func(o *routes.Options) { o.BodyTime = 100 * time.Millisecond }, stop{name: "pier", serve: v})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"model":"m","x":"` + strings.Repeat("y", 80<<10) + `"}`
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)-2])
	<-time.After(300 * time.Millisecond)
	_, _ = io.WriteString(conn, body[len(body)-2:])
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") || len(v.requests()) != 1 {
		t.Errorf("%v %.200q", err, answer)
	}
}

// A client that is slow and reads all the same keeps its answer, also inside one
// event that is larger than it can read under one deadline.
func TestASlowReaderOfALargeEventKeepsIt(t *testing.T) {
	event := `data: {"id":"c","choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 15<<20) + `"},"finish_reason":null}]}` + "\n\n"
	url := rawVendor(t, func(conn net.Conn) {
		chunked(conn, "text/event-stream", nil, event, stopped, "data: [DONE]\n\n")
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	const deadline = 300 * time.Millisecond
	r := newRig(t, func(o *routes.Options) { o.Vendor = vendor.New(vendor.Options{Write: deadline}) }, stop{name: "pier", url: url})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(bodies[true]), bodies[true])
	began := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	total, tail, buffer := 0, "", make([]byte, 128<<10)
	for {
		n, err := io.ReadFull(conn, buffer)
		total += n
		tail = (tail + string(buffer[:n]))[max(0, len(tail)+n-64):]
		if err != nil {
			break
		}
		<-tick.C
	}
	if took := time.Since(began); took < 2*deadline {
		t.Fatalf("the client read for %v only, which says nothing", took)
	}
	if total < len(event) || !strings.Contains(tail, "[DONE]") {
		t.Errorf("%d bytes of %d, the last %q", total, len(event), tail)
	}
	if a := r.last(1); a.Stage != engine.StageServed {
		t.Errorf("attempt %q %q", a.Stage, a.Cause)
	}
}

// A request that a vendor has read is not sent again behind everybody's back,
// not even one with an idempotency key.
func TestARequestIsSentOnce(t *testing.T) {
	for _, key := range []string{"", "once"} {
		var mu sync.Mutex
		read := 0
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					for readRequest(conn) == nil {
						mu.Lock()
						read++
						first := read == 1
						mu.Unlock()
						if !first {
							return // read, and not answered
						}
						_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(jsonAnswer), jsonAnswer)
					}
				}()
			}
		}()
		r := newRig(t, nil, stop{name: "pier", url: "http://" + listener.Addr().String()})
		r.post("chat", bodies[false], "Idempotency-Key", key)
		got := r.post("chat", bodies[false], "Idempotency-Key", key)
		mu.Lock()
		if read != 2 || got.status != http.StatusBadGateway || !strings.Contains(got.body, "did not answer properly") {
			t.Errorf("key %q: read %d times, %d %s", key, read, got.status, got.body)
		}
		mu.Unlock()
		if turns := r.turns(2); len(turns[1].Attempts) != 1 {
			t.Errorf("%d attempts", len(turns[1].Attempts))
		}
		listener.Close()
		<-done
	}
}
