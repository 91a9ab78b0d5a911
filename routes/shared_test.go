package routes_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
)

// sharedCase reads an input that lies beside the project, or skips.
func sharedCase(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "bug-cases", name))
	if err != nil {
		t.Skipf("the case files are not beside the project: %v", err)
	}
	return string(text)
}

// The same situations on the inputs the cases came with.
func TestSharedStreams(t *testing.T) {
	for _, c := range []struct {
		file, api, price string
		stage            engine.Stage
		input, read, out int64
		cost             string // empty: unknown
	}{
		{"case-04-upstream-answer.sse", "chat", pierPrice, engine.StageServed, 54, 256, 18, "0.000379"},
		{"case-12-serve-gzipped.sse", "chat", pierPrice, engine.StageServed, 120, 0, 9, "0.000390"},
		{"case-14-cut-mid-answer.sse", "chat", pierPrice, engine.StageBroken, 0, 0, 0, ""},
		{"case-26-usage-unknown.sse", "chat", pierPrice, engine.StageServed, 0, 0, 0, ""},
		{"case-45-error-after-output.sse", "messages", reefPrice, engine.StageBroken, 900, 0, 1, ""},
		{"case-46-done-without-blank-line.sse", "chat", pierPrice, engine.StageServed, 75, 0, 11, "0.0002975"},
		{"case-50-comments-and-pings.sse", "chat", pierPrice, engine.StageServed, 90, 0, 7, "0.000295"},
		{"case-71-no-event-lines.sse", "messages", reefPrice, engine.StageServed, 21, 1536, 17, "0.0007788"},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := sharedCase(t, c.file)
			r := newRig(t, nil, stop{name: "pier", api: c.api, price: c.price, serve: &script{text: text, contentType: "text/event-stream"}})
			got := r.post(c.api, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
			a := r.last(1)
			if a.Stage != c.stage || a.Usage.Input != c.input || a.Usage.CacheRead != c.read || a.Usage.Output != c.out {
				t.Errorf("attempt %q %q, usage %+v", a.Stage, a.Cause, a.Usage)
			}
			if c.cost == "" {
				if a.Cost.Known {
					t.Errorf("cost %v", a.Cost.Total)
				}
			} else {
				money(t, a, c.cost)
			}
			if (got.err != nil) != (c.stage == engine.StageBroken) {
				t.Errorf("the client read to %v", got.err)
			}
		})
	}
}

func TestSharedPiecesOfCharacters(t *testing.T) {
	var file struct {
		Pieces []string `json:"pieces_base64"`
	}
	if err := json.Unmarshal([]byte(sharedCase(t, "case-47-utf8-chunks.json")), &file); err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for _, p := range file.Pieces {
		b, err := base64.StdEncoding.DecodeString(p)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, string(b))
	}
	url := rawVendor(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for _, p := range pieces {
			_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(p), p)
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	r := newRig(t, nil, stop{name: "pier", url: url})
	if got := r.post("chat", bodies[true]); got.body != strings.Join(pieces, "") || got.err != nil {
		t.Errorf("client got %q %v", got.body, got.err)
	}
}

func TestSharedRequests(t *testing.T) {
	const streamed = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"sinks\",\"model\":\"barge-7\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}}\n\n"
	for _, c := range []struct{ file, api, alias, answer string }{
		{"case-02-request-order.json", "chat", "front-alias", jsonAnswer},
		{"case-70-compress-me.json", "responses", "ref-gpt", streamed},
	} {
		t.Run(c.file, func(t *testing.T) {
			body := sharedCase(t, c.file)
			v := &script{text: c.answer}
			r := newRig(t, nil, stop{name: "pier", api: c.api, serve: v, also: []string{c.alias}})
			for _, packed := range []struct{ encoding, body string }{{"identity", body}, {"gzip", gzipped(t, body)}, {"zstd", zstandard(t, body)}} {
				if got := r.post(c.api, packed.body, "Content-Encoding", packed.encoding); got.status != http.StatusOK || got.body != c.answer {
					t.Fatalf("%q: %d %s", packed.encoding, got.status, got.body)
				}
			}
			want := strings.Replace(body, `"`+c.alias+`"`, `"barge-7"`, 1)
			for i, sent := range v.requests() {
				if sent.body != want || sent.length != int64(len(want)) || sent.header.Get("Content-Encoding") != "" {
					t.Errorf("request %d: %s", i, sent.body)
				}
			}
			if len(v.requests()) != 3 {
				t.Errorf("%d requests", len(v.requests()))
			}
		})
	}
}

func TestSharedVendorWordsAboutAKey(t *testing.T) {
	body := sharedCase(t, "case-73-vendor-401.json")
	r := newRig(t, nil, stop{name: "pier", serve: &script{status: 401, text: body, contentType: "application/json"}})
	got := r.post("chat", bodies[false], "Authorization", "Bearer gwk_LOG_CANARY_A", "x-api-key", "gwk_LOG_CANARY_B", "Cookie", "s=LOG_CANARY_C")
	a := r.last(1)
	if got.status != http.StatusBadGateway || strings.Contains(got.body+r.log.String()+a.Cause, "CANARY") || a.Reply != nil && len(a.Reply.Body) > 0 {
		t.Errorf("%d %s\n%s", got.status, got.body, r.log)
	}
}
