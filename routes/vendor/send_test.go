package vendor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// answers is a raw vendor that sends text and closes.
func answers(t testing.TB, text string) string {
	return rawVendor(t, func(conn net.Conn, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(conn, text)
	})
}

const (
	chatAnswer = `{"id":"a1","object":"chat.completion","model":"their-m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":310,"completion_tokens":18,"prompt_tokens_details":{"cached_tokens":256}}}`
)

func respond(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), header, body)
}

func TestAStatusSaysWhatKindOfFailureItIs(t *testing.T) {
	for _, c := range []struct {
		status  int
		failure engine.Failure
		reply   bool
	}{
		{301, engine.FailureServer, false},
		{307, engine.FailureServer, false},
		{400, engine.FailureRequest, true},
		{401, engine.FailureCredential, true},
		{402, engine.FailureCredential, true},
		{403, engine.FailureForbidden, true},
		{404, engine.FailureNotFound, true},
		{408, engine.FailureServer, true},
		{409, engine.FailureServer, true},
		{413, engine.FailureRequest, true},
		{422, engine.FailureRequest, true},
		{429, engine.FailureThrottled, true},
		{500, engine.FailureServer, true},
		{529, engine.FailureServer, true},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			url := answers(t, respond(c.status, "Content-Type: application/json\r\nRetry-After: 7\r\nLocation: http://127.0.0.1:1/\r\n", `{"error":{"message":"no"}}`))
			w := httptest.NewRecorder()
			client := vendor.New(vendor.Options{})
			defer client.Close()
			k := newKit(t, url, nil)
			try := k.try()
			try.Accepted = func() { t.Error("accepted") }
			a := client.Send(t.Context(), w, k.call(chatBody), try)
			if a.Stage != engine.StageRefused || a.Failure != c.failure || a.Status != c.status || a.Committed || a.RetryAfter != 7*time.Second {
				t.Errorf("attempt: %q %q %d committed=%v after %v", a.Stage, a.Failure, a.Status, a.Committed, a.RetryAfter)
			}
			if (a.Reply != nil) != c.reply {
				t.Errorf("reply %+v", a.Reply)
			}
			if len(w.Header()) > 0 || w.Body.Len() > 0 {
				t.Errorf("the client was sent something: %v %s", w.Header(), w.Body)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	hit := make(chan struct{}, 1)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit <- struct{}{} }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		k := newKit(t, answers(t, respond(status, "Location: "+other.URL+"/steal\r\n", "")), nil)
		if a := sendTo(t, k, k.call(chatBody)); a.Failure != engine.FailureServer || a.Reply != nil {
			t.Errorf("%d: %q %+v", status, a.Failure, a.Reply)
		}
	}
	if len(hit) > 0 {
		t.Error("the other host was called")
	}
}

func TestAVendorsWordsWithItsKeyAreNotKept(t *testing.T) {
	k := newKit(t, answers(t, respond(400, "Content-Type: application/json\r\n", `{"error":{"message":"bad key `+vendorKey+`"}}`)), nil)
	if a := sendTo(t, k, k.call(chatBody)); a.Reply == nil || len(a.Reply.Body) > 0 || strings.Contains(a.Cause, "CANARY") {
		t.Errorf("reply %+v, cause %q", a.Reply, a.Cause)
	}
}

func TestAVendorThatIsNotThereIsAFailedConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	k := newKit(t, url, nil)
	a := sendTo(t, k, k.call(chatBody))
	if a.Stage != engine.StageRefused || a.Failure != engine.FailureConnect || a.Status != 0 || a.Took > time.Second {
		t.Errorf("attempt: %q %q %d %v", a.Stage, a.Failure, a.Status, a.Took)
	}
}

func TestAConnectionThatEndsBeforeAnAnswerIsAFailedConnection(t *testing.T) {
	for name, url := range map[string]string{
		"closed":         rawVendor(t, func(net.Conn, *http.Request) {}),
		"reset":          rawVendor(t, func(c net.Conn, _ *http.Request) { _ = c.(*net.TCPConn).SetLinger(0) }),
		"half a header":  answers(t, "HTTP/1.1 200 OK\r\nContent-Ty"),
		"not HTTP":       answers(t, "vk-CANARY is not HTTP\r\n\r\n"),
		"huge header":    answers(t, "HTTP/1.1 200 OK\r\nX-Big: "+strings.Repeat("x", 1<<20)+"\r\n\r\n"),
		"endless header": answers(t, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Many: y\r\n", 10_000)+"\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, url, nil)
			a := sendTo(t, k, k.call(chatBody))
			if a.Stage != engine.StageRefused || a.Failure != engine.FailureConnect || a.Committed || strings.Contains(a.Cause, "CANARY") {
				t.Errorf("attempt: %q %q %q", a.Stage, a.Failure, a.Cause)
			}
		})
	}
}

// TLS that cannot be trusted is a failed attempt, never a plain one.
func TestTLSIsNeverDowngraded(t *testing.T) {
	plain := answers(t, respond(200, "Content-Type: application/json\r\n", chatAnswer))
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for name, url := range map[string]string{
		"plaintext on the TLS port": "https" + strings.TrimPrefix(plain, "http"),
		"unknown authority":         secure.URL,
	} {
		k := newKit(t, url, nil)
		if a := sendTo(t, k, k.call(chatBody)); a.Failure != engine.FailureConnect {
			t.Errorf("%s: %q %q", name, a.Failure, a.Cause)
		}
	}
}

func TestAVendorThatSaysNothingTimesOut(t *testing.T) {
	cancelled := make(chan struct{})
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = conn.Read(make([]byte, 1)) // ends when the gateway hangs up
		close(cancelled)
	})
	client := vendor.New(vendor.Options{FirstByte: 50 * time.Millisecond})
	defer client.Close()
	k := newKit(t, url, nil)
	a := client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), k.try())
	if a.Stage != engine.StageRefused || a.Failure != engine.FailureTimeout || a.Committed {
		t.Errorf("attempt: %q %q", a.Stage, a.Failure)
	}
	<-cancelled
}

func TestAWholeAnswerIsRelayed(t *testing.T) {
	url := answers(t, respond(200, strings.Join([]string{
		"Content-Type: application/json", "Set-Cookie: s=1", "Location: http://x/", "X-Goog-Api-Key: CANARY", "Connection: x-hop",
		"X-Hop: 1", "Keep-Alive: 5", "Request-Id: r1", "X-Request-Id: r2", "X-Ratelimit-Remaining-Requests: 3",
		"Anthropic-Ratelimit-Tokens-Limit: 4", "Openai-Processing-Ms: 5", "Openai-Organization: acme", "Server: x", "",
	}, "\r\n"), chatAnswer))
	client := vendor.New(vendor.Options{})
	defer client.Close()
	k := newKit(t, url, nil)
	w := httptest.NewRecorder()
	accepted := 0
	try := k.try()
	try.Accepted = func() {
		accepted++
		if w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Error("the client was sent something before the engine knew")
		}
	}
	a := client.Send(t.Context(), w, k.call(chatBody), try)
	if a.Stage != engine.StageServed || !a.Committed || accepted != 1 || a.AcceptedAt.IsZero() || a.Failure != "" {
		t.Fatalf("attempt: %+v", a)
	}
	if w.Body.String() != chatAnswer {
		t.Errorf("body %s", w.Body)
	}
	if u := a.Usage; u.Input != 54 || u.CacheRead != 256 || u.Output != 18 || !a.Quality.Complete() || a.ServedModel != "their-m" {
		t.Errorf("usage %+v %q %q", u, a.Quality, a.ServedModel)
	}
	want := map[string]string{
		"Content-Type": "application/json", "Content-Length": fmt.Sprint(len(chatAnswer)), "Cache-Control": "no-store",
		"Request-Id": "r1", "X-Request-Id": "r2", "X-Ratelimit-Remaining-Requests": "3",
		"Anthropic-Ratelimit-Tokens-Limit": "4", "Openai-Processing-Ms": "5",
	}
	for name, values := range w.Header() {
		if len(values) != 1 || values[0] != want[name] {
			t.Errorf("%s: %q", name, values)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s did not reach the client", name)
	}
}

func TestAnAnswerThatIsNotWholeIsNotGivenOut(t *testing.T) {
	bomb := pack(t, "gzip", bytes.Repeat([]byte(" "), 2<<20))
	for name, text := range map[string]string{
		"short of its length":        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + chatAnswer,
		"chunks without their end":   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n",
		"cut where only EOF ends it": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + chatAnswer[:60],
		"empty":                      respond(200, "Content-Type: application/json\r\n", ""),
		"too large":                  respond(200, "Content-Type: application/json\r\n", strings.Repeat(" ", 1<<20+1)),
		"too large unpacked":         respond(200, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", string(bomb)),
		"packed and cut":             respond(200, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", string(pack(t, "gzip", []byte(chatAnswer))[:40])),
		"packed beyond recognition":  respond(200, "Content-Type: application/json\r\nContent-Encoding: sdch\r\n", chatAnswer),
	} {
		t.Run(name, func(t *testing.T) {
			client := vendor.New(vendor.Options{MaxJSON: 1 << 20})
			defer client.Close()
			k := newKit(t, answers(t, text), nil)
			w := httptest.NewRecorder()
			accepted := false
			try := k.try()
			try.Accepted = func() { accepted = true }
			a := client.Send(t.Context(), w, k.call(chatBody), try)
			if a.Stage != engine.StageBroken || a.Failure != engine.FailureCut || a.Committed || !accepted || w.Body.Len() > 0 {
				t.Errorf("attempt: %q %q %q committed=%v", a.Stage, a.Failure, a.Cause, a.Committed)
			}
		})
	}
}

func TestAnErrorInAnAcceptedAnswerIsAFailure(t *testing.T) {
	for api, body := range map[string]string{
		"chat":     ` {"error": {"message":"overloaded"}}`,
		"messages": `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`,
	} {
		k := newKit(t, answers(t, respond(200, "Content-Type: application/json\r\n", body)), func(v *vendorSpec) { v.api = api })
		if a := sendTo(t, k, k.call(chatBody)); a.Stage != engine.StageBroken || a.Failure != engine.FailureStream || a.Committed {
			t.Errorf("%s: %q %q", api, a.Stage, a.Failure)
		}
	}
}

func TestAnAnswerPackedUnaskedIsUnpacked(t *testing.T) {
	for _, coding := range []string{"gzip", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			k := newKit(t, answers(t, respond(200, "Content-Type: application/json\r\nContent-Encoding: "+coding+"\r\n", string(pack(t, coding, []byte(chatAnswer))))), nil)
			client := vendor.New(vendor.Options{})
			defer client.Close()
			w := httptest.NewRecorder()
			a := client.Send(t.Context(), w, k.call(chatBody), k.try())
			if a.Stage != engine.StageServed || w.Body.String() != chatAnswer || w.Header().Get("Content-Encoding") != "" ||
				w.Header().Get("Content-Length") != fmt.Sprint(len(chatAnswer)) {
				t.Errorf("attempt %q %q, %v, %s", a.Stage, a.Cause, w.Header(), w.Body)
			}
		})
	}
}

func TestAClientThatLeavesBeforeTheAnswerCancelsTheVendor(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		close(asked)
		_, _ = conn.Read(make([]byte, 1))
		close(gone)
	})
	client := vendor.New(vendor.Options{})
	defer client.Close()
	k := newKit(t, url, nil)
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-asked; leave() }()
	a := client.Send(ctx, httptest.NewRecorder(), k.call(chatBody), k.try())
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || !a.AcceptedAt.IsZero() {
		t.Errorf("attempt: %q %q", a.Stage, a.Failure)
	}
	<-gone
}
