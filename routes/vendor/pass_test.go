package vendor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

const vectors = "{ \"object\":\"list\", \"data\":[], \"usage\":{\"prompt_tokens\":8} }"

// passed makes one attempt at /embeddings of a vendor at url.
func passed(t *testing.T, url, body string) (engine.Attempt, *httptest.ResponseRecorder) {
	t.Helper()
	client := vendor.New(vendor.Options{MaxJSON: 1000})
	defer client.Close()
	k := newKit(t, url+"/v1", nil)
	call := k.call(body)
	call.Query = "api-version=7"
	call.Metadata = vendor.MetadataBody // has no meaning here
	w := httptest.NewRecorder()
	return client.Pass(context.Background(), w, call, "/embeddings", k.try()), w
}

func TestPassRelaysWhatTheVendorSays(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, vectors)
	_ = z.Close()
	for _, c := range []struct{ name, encoding, body string }{
		{"plain", "", vectors}, {"compressed", "gzip", packed.String()},
	} {
		t.Run(c.name, func(t *testing.T) {
			var uri, sent, key string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				uri, sent, key = r.RequestURI, string(body), r.Header.Get("Authorization")
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Request-Id", "r1")
				w.Header().Set("Set-Cookie", "a=b")
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			a, w := passed(t, server.URL, `{"model":"m", "input":[1,2],"stream":true,"session_id":"s"}`)
			if a.Stage != engine.StageServed || !a.Committed || a.Status != 200 || w.Body.String() != vectors {
				t.Fatalf("%+v\n%q", a, w.Body)
			}
			if uri != "/v1/embeddings?api-version=7" || sent != `{"model":"their-m", "input":[1,2],"stream":true}` || key != "Bearer "+vendorKey {
				t.Errorf("the vendor got %s %s with %q", uri, sent, key)
			}
			if w.Header().Get("X-Request-Id") != "r1" || w.Header().Get("Set-Cookie") != "" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%v", w.Header())
			}
		})
	}
}

func TestPassLeavesTheClientAloneUntilThereIsAnAnswer(t *testing.T) {
	const json = "Content-Type: application/json\r\n"
	for _, c := range []struct {
		name, answer string
		stage        engine.Stage
		failure      engine.Failure
		reply        string
	}{
		{"no such path", respond(404, json, `{"error":{}}`), engine.StageRefused, engine.FailureNotFound, `{"error":{}}`},
		{"a redirect", respond(307, "Location: http://127.0.0.1:1/\r\n", ""), engine.StageRefused, engine.FailureServer, ""},
		{"a key in the refusal", respond(400, json, `{"error":"`+vendorKey+`"}`), engine.StageRefused, engine.FailureRequest, ""},
		{"a refusal in an unknown packing", respond(429, json+"Content-Encoding: rot13\r\n", `x`), engine.StageRefused, engine.FailureThrottled, ""},
		{"an answer in an unknown packing", respond(200, json+"Content-Encoding: rot13\r\n", `x`), engine.StageBroken, engine.FailureCut, ""},
		{"events", respond(200, "Content-Type: text/event-stream\r\n", "data: {}\n\n"), engine.StageBroken, engine.FailureStream, ""},
		{"an error that calls itself 200", respond(200, json, `{"error":{"message":"no"}}`), engine.StageBroken, engine.FailureStream, ""},
		{"nothing", respond(200, json, ""), engine.StageBroken, engine.FailureCut, ""},
		{"half an answer", "HTTP/1.1 200 X\r\nContent-Length: 99\r\n" + json + "\r\n{", engine.StageBroken, engine.FailureCut, ""},
		{"more than is taken", respond(200, json, `{"data":"`+strings.Repeat("x", 1000)+`"}`), engine.StageBroken, engine.FailureCut, ""},
		{"no answer", "", engine.StageRefused, engine.FailureConnect, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, w := passed(t, answers(t, c.answer), chatBody)
			if a.Stage != c.stage || a.Failure != c.failure || a.Committed || a.Cause == "" || strings.Contains(a.Cause, vendorKey) {
				t.Errorf("%+v, want stage %q and failure %q", a, c.stage, c.failure)
			}
			if w.Body.Len() > 0 || len(w.Header()) > 0 {
				t.Errorf("the client was told %v %q", w.Header(), w.Body)
			}
			var said string
			if a.Reply != nil {
				said = string(a.Reply.Body)
			}
			if said != c.reply && !(c.failure == engine.FailureStream && strings.Contains(said, "server_error")) {
				t.Errorf("kept of the refusal: %q, want %q", said, c.reply)
			}
		})
	}
}

func TestPassEndsWhenTheClientLeaves(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	url := rawVendor(t, func(conn net.Conn, r *http.Request) {
		close(asked)
		_, _ = io.Copy(io.Discard, conn) // until the other end closes
		close(gone)
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-asked; leave() }()
	client := vendor.New(vendor.Options{})
	defer client.Close()
	k := newKit(t, url+"/v1", nil)
	a := client.Pass(ctx, httptest.NewRecorder(), k.call(chatBody), "/embeddings", k.try())
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft {
		t.Errorf("%+v", a)
	}
	<-gone
}
