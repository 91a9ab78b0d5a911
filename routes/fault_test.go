package routes_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// sim is a simulated vendor with faults.
func sim(t testing.TB, name string, api catalog.API, faults ...vendorsim.Fault) *vendorsim.Vendor {
	t.Helper()
	v := vendorsim.New(vendorsim.Config{Name: name, API: []catalog.API{api}, Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 10 * time.Minute}})
	if len(faults) > 0 {
		if err := v.Queue(faults...); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// closedPort is an address where nobody listens.
func closedPort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

var bodies = map[bool]string{
	false: `{"model":"m","messages":[{"role":"user","content":"Which wood floats?"}]}`,
	true:  `{"model":"m","stream":true,"messages":[{"role":"user","content":"Which wood floats?"}]}`,
}

// A fault before the first byte is answered by the next vendor, and the client
// sees nothing of it.
func TestAFaultBeforeTheFirstByteIsServedByTheNextVendor(t *testing.T) {
	closed := func(net.Conn) {}
	reset := func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }
	waits := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }
	says := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	simulated := func(f vendorsim.Fault) func(t *testing.T) stop {
		f.Times = -1
		return func(t *testing.T) stop { return stop{name: "first", serve: sim(t, "first", catalog.Chat, f)} }
	}
	raw := func(serve func(net.Conn)) func(t *testing.T) stop {
		return func(t *testing.T) stop { return stop{name: "first", url: rawVendor(t, serve)} }
	}
	for _, c := range []struct {
		name    string
		first   func(t *testing.T) stop
		stream  []bool
		stage   engine.Stage
		failure engine.Failure // where it is a timeout, the vendors have little time
	}{
		{"FM-01 refuses the connection", func(t *testing.T) stop { return stop{name: "first", url: closedPort(t)} }, []bool{false, true}, engine.StageRefused, engine.FailureConnect},
		{"FM-02 closes after the request", raw(closed), []bool{false, true}, engine.StageRefused, engine.FailureConnect},
		{"FM-02 resets after the request", raw(reset), []bool{false, true}, engine.StageRefused, engine.FailureConnect},
		{"FM-04 hangs before headers", raw(waits), []bool{false, true}, engine.StageRefused, engine.FailureTimeout},
		{"FM-04 hangs after headers", raw(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			waits(c)
		}), []bool{true}, engine.StageBroken, engine.FailureTimeout},
		{"FM-05 plaintext where TLS is spoken", func(t *testing.T) stop {
			return stop{name: "first", url: "https" + strings.TrimPrefix(rawVendor(t, says("HTTP/1.1 200 OK\r\n\r\n")), "http")}
		}, []bool{false}, engine.StageRefused, engine.FailureConnect},
		{"FM-07 a short whole answer", raw(says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"id\"")), []bool{false}, engine.StageBroken, engine.FailureCut},
		{"FM-07 an empty stream", raw(says("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n")), []bool{true}, engine.StageBroken, engine.FailureCut},
		{"FM-08 an error as the first event", simulated(vendorsim.Fault{ErrorEventFirst: true}), []bool{false, true}, engine.StageBroken, engine.FailureStream},
		{"FM-10 throttled", simulated(vendorsim.Fault{Status: 429, RetryAfter: "5"}), []bool{false, true}, engine.StageRefused, engine.FailureThrottled},
		{"FM-11 overloaded", simulated(vendorsim.Fault{Status: 529}), []bool{false, true}, engine.StageRefused, engine.FailureServer},
		{"FM-11 failing", simulated(vendorsim.Fault{Status: 500}), []bool{false, true}, engine.StageRefused, engine.FailureServer},
		{"a rejected key", simulated(vendorsim.Fault{Status: 401}), []bool{false, true}, engine.StageRefused, engine.FailureCredential},
		{"an unknown model", simulated(vendorsim.Fault{Status: 404}), []bool{false, true}, engine.StageRefused, engine.FailureNotFound},
		{"FM-12 a header of a megabyte", raw(says("HTTP/1.1 200 OK\r\nX-Big: " + strings.Repeat("x", 1<<20) + "\r\n\r\n")), []bool{false}, engine.StageRefused, engine.FailureConnect},
		{"FM-12 ten thousand headers", raw(says("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 12_000) + "\r\n")), []bool{false}, engine.StageRefused, engine.FailureConnect},
		{"FM-12 a flood of 1xx", raw(says(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 10_000))), []bool{false}, engine.StageRefused, engine.FailureConnect},
		{"FM-14 redirects", simulated(vendorsim.Fault{Redirect: "http://127.0.0.1:1/"}), []bool{false, true}, engine.StageRefused, engine.FailureServer},
	} {
		for _, stream := range c.stream {
			t.Run(fmt.Sprintf("%s, stream %v", c.name, stream), func(t *testing.T) {
				second := sim(t, "second", catalog.Chat)
				r := newRig(t, func(o *routes.Options) {
					if c.failure == engine.FailureTimeout {
						o.Vendor = vendor.New(vendor.Options{FirstByte: 300 * time.Millisecond})
					}
				}, c.first(t), stop{name: "second", serve: second})
				began := time.Now()
				got := r.post("chat", bodies[stream], "x-session-id", "dory-1", "x-warmroute-metadata", "header")
				if got.status != http.StatusOK || got.err != nil || got.header.Get("X-Warmroute-Vendor") != "second" {
					t.Fatalf("%d %v %v %s", got.status, got.err, got.header, got.body)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("took %v", took)
				}
				turn := r.turns(1)[0]
				if len(turn.Attempts) != 2 {
					t.Fatalf("%d attempts", len(turn.Attempts))
				}
				if a := turn.Attempts[0]; a.Stage != c.stage || a.Failure != c.failure || a.Committed {
					t.Errorf("first attempt %q %q %q committed=%v", a.Stage, a.Failure, a.Cause, a.Committed)
				}
				if a := turn.Attempts[1]; a.Stage != engine.StageServed {
					t.Errorf("second attempt %q %q %q", a.Stage, a.Failure, a.Cause)
				}
				if pins := r.pinned("dory-1"); !slices.Equal(pins, []string{"second"}) {
					t.Errorf("pinned %v", pins)
				}
				if strings.Contains(r.log.String(), vendorKey) {
					t.Error("the log holds the key")
				}
			})
		}
	}
}

// A fault in mid-stream is an error event in the client's dialect and a broken
// connection, in every dialect.
func TestAFaultInMidStreamLooksLikeOne(t *testing.T) {
	type fault struct {
		name  string
		fault vendorsim.Fault
	}
	for _, api := range []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages} {
		for _, f := range []fault{
			{"FM-06 hangs", vendorsim.Fault{HangAfterEvents: vendorsim.After(2)}},
			{"FM-07 closes", vendorsim.Fault{CutAfterEvents: vendorsim.After(2)}},
			{"FM-07 resets", vendorsim.Fault{CutAfterEvents: vendorsim.After(2), Cut: vendorsim.CutReset}},
			{"FM-07 ends cleanly", vendorsim.Fault{CutAfterEvents: vendorsim.After(2), Cut: vendorsim.CutClean}},
			{"FM-08 an error event", vendorsim.Fault{ErrorEventAfter: vendorsim.After(2)}},
		} {
			t.Run(string(api)+", "+f.name, func(t *testing.T) {
				v := sim(t, "first", api, f.fault)
				defer v.Reset() // lets what hangs go
				r := newRig(t, func(o *routes.Options) {
					if f.fault.HangAfterEvents != nil {
						o.Vendor = vendor.New(vendor.Options{Idle: 300 * time.Millisecond})
					}
				}, stop{name: "first", api: string(api), serve: v}, stop{name: "second", api: string(api), serve: sim(t, "second", api)})
				body := `{"model":"m","stream":true,"max_tokens":20,"messages":[{"role":"user","content":"Which wood floats, and which one sinks at once?"}]}`
				if api == catalog.Responses {
					body = `{"model":"m","stream":true,"input":"Which wood floats, and which one sinks at once?"}`
				}
				got := r.post(string(api), body, "x-session-id", "dory-2", "anthropic-version", "2023-06-01")
				if got.err == nil {
					t.Errorf("the client read a clean end: %q", got.body)
				}
				for _, end := range []string{"[DONE]", "event: message_stop", "event: response.completed"} {
					if strings.Contains(got.body, end) {
						t.Errorf("the client got %s", end)
					}
				}
				if !strings.Contains(got.body, `"error"`) {
					t.Errorf("no error event: %q", got.body)
				}
				turn := r.turns(1)[0]
				if len(turn.Attempts) != 1 {
					t.Fatalf("%d attempts", len(turn.Attempts))
				}
				a := turn.Attempts[0]
				if a.Stage != engine.StageBroken || !a.Committed || a.Failure != engine.FailureCut && a.Failure != engine.FailureStream || a.Cost.Known {
					t.Errorf("attempt %q %q %q, cost known %v", a.Stage, a.Failure, a.Cause, a.Cost.Known)
				}
				if pins := r.pinned("dory-2"); len(pins) > 0 {
					t.Errorf("pinned %v", pins)
				}
			})
		}
	}
}

// When nobody serves, the client gets the last vendor's refusal in its dialect,
// or ours where the fault lies between gateway and vendor.
func TestTheLastFailureIsTheAnswer(t *testing.T) {
	said := func(status int, contentType, body string, header http.Header) *script {
		return &script{status: status, contentType: contentType, text: body, header: header}
	}
	const vendorBody = `{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"x","extra":1}}`
	for _, c := range []struct {
		name   string
		api    string
		stop   func(t *testing.T) stop
		status int
		body   string // exact, if not empty
		has    string
		retry  string
	}{
		{"a refusal as it is", "chat", func(*testing.T) stop {
			return stop{serve: said(429, "application/json", vendorBody, http.Header{"Retry-After": {"7"}})}
		}, 429, vendorBody, "", "7"},
		{"a refusal with junk for Retry-After", "chat", func(*testing.T) stop {
			return stop{serve: said(503, "application/json", vendorBody, http.Header{"Retry-After": {"soon"}})}
		}, 503, vendorBody, "", ""},
		{"the client's mistake", "chat", func(*testing.T) stop { return stop{serve: said(400, "application/json", vendorBody, nil)} }, 400, vendorBody, "", ""},
		{"a page of HTML", "chat", func(*testing.T) stop { return stop{serve: said(502, "text/html", "<html>oops", nil)} }, 502, "", `{"error":{"message":`, ""},
		{"a page of HTML for a messages client", "messages", func(*testing.T) stop {
			return stop{api: "messages", serve: said(529, "text/html", "<html>oops", nil)}
		}, 529, "", `{"type":"error","error":{"type":"overloaded_error"`, ""},
		{"a rejected key", "messages", func(*testing.T) stop {
			return stop{api: "messages", serve: said(401, "application/json", vendorBody, nil)}
		}, 502, "", `{"type":"error","error":{"type":"api_error"`, ""},
		{"no money", "chat", func(*testing.T) stop { return stop{serve: said(402, "application/json", vendorBody, nil)} }, 502, "", "key", ""},
		{"a redirect", "chat", func(*testing.T) stop {
			return stop{serve: said(307, "text/html", "moved", http.Header{"Location": {"http://127.0.0.1:1/?secret"}})}
		}, 502, "", `"error"`, ""},
		{"nobody there", "chat", func(t *testing.T) stop { return stop{url: closedPort(t)} }, 502, "", "reached", ""},
		{"no answer in time", "chat", func(t *testing.T) stop {
			return stop{url: rawVendor(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) })}
		}, 504, "", "in time", ""},
		{"half an answer", "chat", func(t *testing.T) stop {
			return stop{url: rawVendor(t, func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
			})}
		}, 502, "", "cut", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.stop(t)
			s.name = "only"
			r := newRig(t, func(o *routes.Options) {
				o.Vendor = vendor.New(vendor.Options{FirstByte: 100 * time.Millisecond})
				o.Metadata = vendor.MetadataBody
			}, s)
			got := r.post(c.api, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`)
			if got.status != c.status || c.body != "" && got.body != c.body || !strings.Contains(got.body, c.has) || got.header.Get("Retry-After") != c.retry {
				t.Errorf("%d, retry after %q, %s", got.status, got.header.Get("Retry-After"), got.body)
			}
			if got.header.Get("Location") != "" || strings.Contains(got.body, "127.0.0.1") {
				t.Errorf("the vendor's address is shown: %v %s", got.header, got.body)
			}
			if got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Warmroute-Vendor") != "only" || got.header.Get("X-Warmroute-Outcome") == "" || got.header.Get("X-Warmroute-Request-Id") == "" {
				t.Errorf("header %v", got.header)
			}
		})
	}
}

// FM-13: the client leaves before the vendor has answered.
func TestAClientThatLeavesBeforeTheAnswerIsARow(t *testing.T) {
	gone := make(chan struct{})
	asked := make(chan struct{})
	v := &script{answer: func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(gone)
	}}
	second := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "first", serve: v}, stop{name: "second", serve: second})
	ctx, leave := context.WithCancel(t.Context())
	request, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(bodies[false]))
	go func() { <-asked; leave() }()
	if _, err := r.client.Do(request); err == nil {
		t.Error("the client got an answer")
	}
	<-gone
	a := r.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || len(second.requests()) > 0 {
		t.Errorf("attempt %q %q", a.Stage, a.Failure)
	}
}

// FM-15: what a vendor's header may not tell the client.
func TestTheVendorsHeaderIsFiltered(t *testing.T) {
	url := rawVendor(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\nx-goog-api-key: k\r\n"+
			"Location: http://x/\r\nConnection: close, x-hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nProxy-Authenticate: x\r\nUpgrade: x\r\nTrailer: X-Late\r\nTransfer-Encoding: chunked\r\n"+
			"Access-Control-Allow-Origin: *\r\nX-Request-Id: r1\r\n\r\n"+fmt.Sprintf("%x\r\n%s\r\n0\r\nX-Late: 1\r\n\r\n", len(jsonAnswer), jsonAnswer))
	})
	r := newRig(t, nil, stop{name: "pier", url: url})
	got := r.post("chat", bodies[false])
	allowed := []string{"Content-Type", "Content-Length", "Cache-Control", "Date", "X-Request-Id", "X-Warmroute-Request-Id"}
	for name := range got.header {
		if !slices.Contains(allowed, name) {
			t.Errorf("the client got %s: %q", name, got.header[name])
		}
	}
	if got.header.Get("X-Request-Id") != "r1" || got.header.Get("Content-Type") != "application/json" || got.body != jsonAnswer {
		t.Errorf("%v %s", got.header, got.body)
	}
}

// FM-17: a body that does not come is not waited for beyond its time, and no
// vendor is called meanwhile.
func TestABodyThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, func(o *routes.Options) { o.BodyTime = 50 * time.Millisecond }, stop{name: "pier", serve: v})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"model\":")
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") || len(v.requests()) > 0 {
		t.Errorf("%q %v", answer, err)
	}
}

// FM-18: a client that stops reading is given up.
func TestAClientThatStopsReadingIsGivenUp(t *testing.T) {
	gone := make(chan struct{})
	v := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		line := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 64<<10) + "\"}}]}\n\n"
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}}
	r := newRig(t, func(o *routes.Options) { o.Vendor = vendor.New(vendor.Options{Write: 100 * time.Millisecond}) }, stop{name: "pier", serve: v})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(bodies[true]), bodies[true])
	<-gone
	a := r.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft {
		t.Errorf("attempt %q %q", a.Stage, a.Failure)
	}
}

// FM-18, an answer in one piece: what the client does not take is not waited for.
func TestAClientThatDoesNotReadAWholeAnswerIsGivenUp(t *testing.T) {
	big := strings.Replace(jsonAnswer, `"41"`, `"`+strings.Repeat("x", 16<<20)+`"`, 1)
	r := newRig(t, func(o *routes.Options) { o.Vendor = vendor.New(vendor.Options{Write: 100 * time.Millisecond}) }, stop{name: "pier", serve: &script{text: big}})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(bodies[false]), bodies[false])
	a := r.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || !a.Quality.Complete() {
		t.Errorf("attempt %q %q, usage %q", a.Stage, a.Failure, a.Quality)
	}
}

// The fault of gin's recovery: it swallows the abort, and net/http then ends a
// cut answer like a whole one.
func TestAnAbortReachesTheConnection(t *testing.T) {
	cut := input(t, "responses/chat-cut.sse")
	url := rawVendor(t, func(c net.Conn) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(cut), cut)
	})
	r := newRig(t, nil, stop{name: "pier", url: url})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(bodies[true]), bodies[true])
	raw, err := io.ReadAll(conn)
	if err != nil || strings.HasSuffix(string(raw), "0\r\n\r\n") || !strings.Contains(string(raw), `data: {"error"`) {
		t.Errorf("%v %q", err, raw)
	}
}

// Over HTTP/2 a cut stream is reset.
func TestAnAbortReachesAnHTTP2Client(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: sim(t, "pier", catalog.Chat, vendorsim.Fault{CutAfterEvents: vendorsim.After(1)})})
	server := httptest.NewUnstartedServer(routes.New(routes.Options{Gateway: r.gateway, Vendor: vendor.New(vendor.Options{})}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	response, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(bodies[true]))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil || response.ProtoMajor != 2 || !strings.Contains(string(body), `"error"`) {
		t.Errorf("HTTP/%d, %v, %q", response.ProtoMajor, err, body)
	}
}
