package vendor_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes/vendor"
)

// event is one chat chunk with text.
func event(text string) string {
	return `data: {"id":"berth","object":"chat.completion.chunk","model":"their-m","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

const (
	stopEvent  = `data: {"id":"berth","object":"chat.completion.chunk","model":"their-m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usageEvent = `data: {"id":"berth","object":"chat.completion.chunk","model":"their-m","choices":[],"usage":{"prompt_tokens":310,"completion_tokens":18,"prompt_tokens_details":{"cached_tokens":256}}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
	errorEvent = `data: {"error":{"message":"overloaded","type":"overloaded_error"}}` + "\n\n"
)

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// piece is one chunk of a chunked body.
func piece(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// clean is a whole chunked answer.
func clean(pieces ...string) string {
	b := streamHead
	for _, p := range pieces {
		b += piece(p)
	}
	return b + "0\r\n\r\n"
}

// outcome is what one attempt over TCP came to.
type outcome struct {
	engine.Attempt
	body   string
	err    error // of the client's reading
	header http.Header
	status int
	cut    bool
}

// through sends one call through a real server to a vendor, as the routes do.
func through(t *testing.T, url, body string, options vendor.Options, change func(*vendor.Call)) outcome {
	t.Helper()
	k := newKit(t, url, nil)
	client := vendor.New(options)
	defer client.Close()
	var o outcome
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		_, _ = io.Copy(io.Discard, r.Body)
		call := k.call(body)
		call.Cut = func() { o.cut = true }
		if change != nil {
			change(&call)
		}
		o.Attempt = client.Send(r.Context(), w, call, k.try())
		if o.cut {
			panic(http.ErrAbortHandler)
		}
		if !o.Committed {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	response, err := http.Post(server.URL, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	<-done
	o.body, o.err, o.header, o.status = string(text), err, response.Header, response.StatusCode
	return o
}

func TestAStreamIsRelayedByteForByte(t *testing.T) {
	body := `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`
	text := ": hello\n\n" + event("浪が") + event("高い 🚢") + stopEvent + usageEvent + doneEvent
	// Cut everywhere, in the middle of characters too.
	var pieces []string
	for i := 0; i < len(text); i += 7 {
		pieces = append(pieces, text[i:min(i+7, len(text))])
	}
	o := through(t, answers(t, clean(pieces...)), body, vendor.Options{}, nil)
	if o.body != text || o.err != nil || o.cut || o.Stage != engine.StageServed {
		t.Errorf("attempt %q %q, %v, %q", o.Stage, o.Cause, o.err, o.body)
	}
	if o.header.Get("X-Accel-Buffering") != "no" || o.header.Get("Cache-Control") != "no-store" || o.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("header %v", o.header)
	}
	if o.Usage != (pricing.Usage{Input: 54, CacheRead: 256, Output: 18}) || o.Quality != pricing.Authoritative {
		t.Errorf("usage %+v %q", o.Usage, o.Quality)
	}
	if o.FirstByte <= 0 || o.Took < o.FirstByte {
		t.Errorf("first byte %v of %v", o.FirstByte, o.Took)
	}
}

func TestACutStreamLooksCut(t *testing.T) {
	full := event("one") + event("two")
	for name, text := range map[string]string{
		"the connection ends":            streamHead + piece(full),
		"in the middle of an event":      streamHead + piece(full) + piece(`data: {"id`),
		"a clean end without last event": clean(full),
		"a clean end in mid-event":       clean(full, `data: {"id`),
		"short of its length":            fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(full)+9, full),
		"only the connection's end ends": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + full,
	} {
		t.Run(name, func(t *testing.T) {
			o := through(t, answers(t, text), chatStream, vendor.Options{}, nil)
			if o.Stage != engine.StageBroken || o.Failure != engine.FailureCut || !o.Committed || !o.cut {
				t.Errorf("attempt %q %q committed=%v cut=%v", o.Stage, o.Failure, o.Committed, o.cut)
			}
			if o.err != io.ErrUnexpectedEOF {
				t.Errorf("the client read to %v", o.err)
			}
			rest, ok := strings.CutPrefix(o.body, full)
			if !ok || !strings.HasPrefix(rest, `data: {"error":`) || !strings.HasSuffix(rest, "\n\n") || strings.Contains(rest, "[DONE]") {
				t.Errorf("body %q", o.body)
			}
			if o.Quality.Complete() {
				t.Errorf("usage %+v %q", o.Usage, o.Quality)
			}
		})
	}
}

func TestAResetInMidStreamLooksCut(t *testing.T) {
	arrived := make(chan struct{})
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, streamHead+piece(event("one")))
		<-arrived
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	k := newKit(t, url, nil)
	client := vendor.New(vendor.Options{})
	defer client.Close()
	w := &signalWriter{ResponseRecorder: httptest.NewRecorder(), wrote: func() { close(arrived) }}
	a := client.Send(t.Context(), w, k.call(chatStream), k.try())
	if a.Stage != engine.StageBroken || a.Failure != engine.FailureCut || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("attempt %q %q %q", a.Stage, a.Failure, w.Body)
	}
}

// signalWriter calls wrote after the first write.
type signalWriter struct {
	*httptest.ResponseRecorder
	wrote func()
}

func (w *signalWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(p)
	if w.wrote != nil {
		w.wrote()
		w.wrote = nil
	}
	return n, err
}

func TestAStreamThatGoesSilentIsCutAfterTheIdleTime(t *testing.T) {
	gone := make(chan struct{})
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, streamHead+piece(event("one")))
		_, _ = conn.Read(make([]byte, 1))
		close(gone)
	})
	o := through(t, url, chatStream, vendor.Options{Idle: 50 * time.Millisecond}, nil)
	<-gone
	if o.Stage != engine.StageBroken || o.Failure != engine.FailureCut || o.err != io.ErrUnexpectedEOF || !strings.Contains(o.body, `"error"`) {
		t.Errorf("attempt %q %q %q, %v %q", o.Stage, o.Failure, o.Cause, o.err, o.body)
	}
}

func TestAStreamThatFailsBeforeItBeginsIsNotCommitted(t *testing.T) {
	for _, c := range []struct {
		name, text string
		failure    engine.Failure
	}{
		{"an error first", clean(errorEvent), engine.FailureStream},
		{"an error after comments", clean(": wait\n\n" + ": wait\n\n" + errorEvent), engine.FailureStream},
		{"an error in pieces", clean(errorEvent[:9], errorEvent[9:]), engine.FailureStream},
		{"nothing", clean(), engine.FailureCut},
		{"only comments", clean(": wait\n\n"), engine.FailureCut},
		{"half an event", streamHead + piece(event("x")[:20]), engine.FailureCut},
		{"a page of HTML", respond(200, "Content-Type: text/html\r\n", "<html>hello</html>"), engine.FailureCut},
		{"too many comments", streamHead + piece(strings.Repeat(": wait\n\n", 200_000)), engine.FailureCut},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := through(t, answers(t, c.text), chatStream, vendor.Options{}, nil)
			if o.Stage != engine.StageBroken || o.Failure != c.failure || o.Committed || o.status != http.StatusBadGateway || o.body != "" {
				t.Errorf("attempt %q %q %q committed=%v, %d %q", o.Stage, o.Failure, o.Cause, o.Committed, o.status, o.body)
			}
		})
	}
}

// How the network cut the stream must not decide whether another vendor is
// tried: an event before the error commits, in one packet or in two.
func TestAnErrorAfterTheFirstEventIsPassedOn(t *testing.T) {
	for name, text := range map[string]string{
		"in one piece":  clean(event("half") + errorEvent),
		"in two pieces": clean(event("half"), errorEvent),
	} {
		t.Run(name, func(t *testing.T) {
			o := through(t, answers(t, text), chatStream, vendor.Options{}, nil)
			if o.Stage != engine.StageBroken || o.Failure != engine.FailureStream || !o.Committed || o.body != event("half")+errorEvent || !o.cut {
				t.Errorf("attempt %q %q committed=%v cut=%v %q", o.Stage, o.Failure, o.Committed, o.cut, o.body)
			}
		})
	}
}

func TestAPingOnlyStreamTimesOutAtTheFirstByte(t *testing.T) {
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, streamHead)
		for {
			if _, err := io.WriteString(conn, piece(": ping\n\n")); err != nil {
				return
			}
			if !stillThere(conn, 5*time.Millisecond) {
				return
			}
		}
	})
	o := through(t, url, chatStream, vendor.Options{FirstByte: 80 * time.Millisecond}, nil)
	if o.Stage != engine.StageBroken || o.Failure != engine.FailureTimeout || o.Committed {
		t.Errorf("attempt %q %q %q", o.Stage, o.Failure, o.Cause)
	}
}

// stillThere waits and says whether the other side has not hung up.
func stillThere(conn net.Conn, d time.Duration) bool {
	_ = conn.SetReadDeadline(time.Now().Add(d))
	_, err := conn.Read(make([]byte, 1))
	return os.IsTimeout(err)
}

func TestADoneStreamIsServedThoughTheConnectionStaysOpen(t *testing.T) {
	for name, end := range map[string]string{
		"a whole event":                       doneEvent,
		"an end mark that no blank line ends": "data: [DONE]\n",
		"an end mark that nothing ends":       "data: [DONE]",
	} {
		t.Run(name, func(t *testing.T) {
			url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
				_, _ = io.WriteString(conn, streamHead+piece(event("ok")+stopEvent+usageEvent)+piece(end))
				_, _ = conn.Read(make([]byte, 1))
			})
			o := through(t, url, chatStream, vendor.Options{Linger: 20 * time.Millisecond}, nil)
			if o.Stage != engine.StageServed || o.err != nil || o.cut || !strings.Contains(o.body, "data: [DONE]") || o.Usage.Output != 18 {
				t.Errorf("attempt %q %q %q, %v %q", o.Stage, o.Failure, o.Cause, o.err, o.body)
			}
		})
	}
}

func TestAPackedStreamIsUnpackedAsItComes(t *testing.T) {
	text := event("packed") + stopEvent + usageEvent + doneEvent
	for _, coding := range []string{"gzip", "br", "zstd", "zlib"} {
		t.Run(coding, func(t *testing.T) {
			body := pack(t, coding, []byte(text))
			header := strings.Replace(coding, "zlib", "deflate", 1)
			url := answers(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: "+header+"\r\nTransfer-Encoding: chunked\r\n\r\n"+piece(string(body))+"0\r\n\r\n")
			o := through(t, url, chatStream, vendor.Options{}, nil)
			if o.Stage != engine.StageServed || !strings.Contains(o.body, "packed") || o.header.Get("Content-Encoding") != "" || o.Usage.CacheRead != 256 {
				t.Errorf("attempt %q %q %q", o.Stage, o.Cause, o.body)
			}
		})
	}
}

// leaving is a vendor that sends some events, waits until the client has left,
// and would then go on to rest.
func leaving(t *testing.T, change func(*vendor.Call), first, rest string) (a engine.Attempt, vendorGone bool) {
	t.Helper()
	left, gone := make(chan struct{}), make(chan bool, 1)
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, streamHead+piece(first))
		<-left
		if rest != "" {
			_, _ = io.WriteString(conn, piece(rest)+"0\r\n\r\n")
		}
		_, err := conn.Read(make([]byte, 1))
		gone <- err != nil
	})
	client := vendor.New(vendor.Options{})
	defer client.Close()
	k := newKit(t, url, nil)
	ctx, leave := context.WithCancel(t.Context())
	w := &signalWriter{ResponseRecorder: httptest.NewRecorder(), wrote: func() { leave(); close(left) }}
	call := k.call(chatStream)
	if change != nil {
		change(&call)
	}
	a = client.Send(ctx, w, call, k.try())
	client.Close()
	return a, <-gone
}

func TestAClientThatLeavesInMidStreamCancelsTheVendor(t *testing.T) {
	a, gone := leaving(t, nil, event("once"), "")
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || !a.Committed || !gone || a.Quality.Complete() {
		t.Errorf("attempt %q %q committed=%v gone=%v %q", a.Stage, a.Failure, a.Committed, gone, a.Quality)
	}
}

func TestADrainedVendorStillReportsItsUsage(t *testing.T) {
	a, _ := leaving(t, func(c *vendor.Call) { c.Drain = vendor.Drain{Time: 5 * time.Second, Bytes: 64 << 10} }, event("once"), stopEvent+usageEvent+doneEvent)
	if a.Usage != (pricing.Usage{Input: 54, CacheRead: 256, Output: 18}) || a.Quality != pricing.Authoritative {
		t.Errorf("attempt %q %q, usage %+v %q", a.Stage, a.Failure, a.Usage, a.Quality)
	}
}

func TestAClientThatLeavesAfterTheLastEventIsServed(t *testing.T) {
	a, _ := leaving(t, nil, event("ok")+stopEvent+usageEvent+doneEvent, "")
	if a.Stage != engine.StageServed || a.Failure != "" || a.Usage.Output != 18 || a.Quality != pricing.Authoritative {
		t.Errorf("attempt %q %q, usage %+v %q", a.Stage, a.Failure, a.Usage, a.Quality)
	}
}
