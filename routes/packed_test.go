package routes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

const packedStream = `data: {"id":"tight-lid","object":"chat.completion.chunk","created":1790000012,"model":"barge-7","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"tight-lid","object":"chat.completion.chunk","created":1790000012,"model":"barge-7","choices":[{"index":0,"delta":{"content":"Nail the lid "},"finish_reason":null}]}

data: {"id":"tight-lid","object":"chat.completion.chunk","created":1790000012,"model":"barge-7","choices":[{"index":0,"delta":{"content":"shut"},"finish_reason":null}]}

data: {"id":"tight-lid","object":"chat.completion.chunk","created":1790000012,"model":"barge-7","choices":[{"index":0,"delta":{"content":"."},"finish_reason":"stop"}]}

data: {"id":"tight-lid","object":"chat.completion.chunk","created":1790000012,"model":"barge-7","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":9,"total_tokens":129}}

data: [DONE]

`

// A vendor is not told which packings the client knows; what it packs all the same
// is unpacked here.
func TestAPackedStreamIsReadable(t *testing.T) {
	packs := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		if accepted := r.Header.Get("Accept-Encoding"); accepted != "identity" {
			t.Errorf("Accept-Encoding %q", accepted)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, gzipped(t, packedStream))
	}}
	r := newRig(t, nil, stop{name: "pier", serve: packs})
	got := r.post("chat", `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`, "Accept-Encoding", "gzip, br, zstd")
	if got.body != packedStream || got.header.Get("Content-Encoding") != "" {
		t.Errorf("%v\n%s", got.header, got.body)
	}
	a := r.last(1)
	if a.Usage.Input != 120 || a.Usage.Output != 9 {
		t.Errorf("usage %+v", a.Usage)
	}
	money(t, a, "0.000390")
}

func TestTheLengthIsThatOfWhatIsSent(t *testing.T) {
	v := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, gzipped(t, jsonAnswer))
	}}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	body := input(t, "requests/length-79.json")
	if len(body) != 79 {
		t.Fatalf("the input has %d bytes", len(body))
	}
	got := r.post("chat", body)
	if sent := v.requests()[0]; sent.length != 85 || len(sent.body) != 85 || sent.chunky {
		t.Errorf("vendor got length %d, %d bytes, chunked %v", sent.length, len(sent.body), sent.chunky)
	}
	if got.body != jsonAnswer {
		t.Errorf("client got %v %s", got.header, got.body)
	}
}

// As the bytes are on the connection: a client library would hide a second
// length, or a length beside chunks.
func TestAnAnswerHasOneLength(t *testing.T) {
	stream := input(t, "responses/chat-plain.sse")
	for _, c := range []struct {
		name, answer, coding, body string
		mode                       vendor.Metadata
		status                     int
	}{
		{"whole", jsonAnswer, "", bodies[false], vendor.MetadataOff, 200},
		{"whole, unpacked here", jsonAnswer, "gzip", bodies[false], vendor.MetadataOff, 200},
		{"whole, longer by the metadata", jsonAnswer, "", bodies[false], vendor.MetadataBody, 200},
		{"whole, unpacked and longer", jsonAnswer, "gzip", bodies[false], vendor.MetadataBody, 200},
		{"a stream", stream, "", bodies[true], vendor.MetadataOff, 200},
		{"a stream, unpacked here", stream, "gzip", bodies[true], vendor.MetadataBody, 200},
		{"a refusal of ours", "", "", "{", vendor.MetadataBody, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &script{answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[c.answer == stream])
				text := c.answer
				if c.coding != "" {
					w.Header().Set("Content-Encoding", c.coding)
					text = gzipped(t, text)
				}
				_, _ = io.WriteString(w, text)
			}}
			r := newRig(t, func(o *routes.Options) { o.Metadata = c.mode }, stop{name: "pier", serve: v})
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(c.body), c.body)
			raw, err := io.ReadAll(conn)
			head, body, found := strings.Cut(string(raw), "\r\n\r\n")
			if err != nil || !found || !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", c.status)) {
				t.Fatalf("%v %q", err, raw)
			}
			fields := "\r\n" + strings.ToLower(head) + "\r\n"
			lengths, chunks := strings.Count(fields, "\r\ncontent-length:"), strings.Count(fields, "\r\ntransfer-encoding:")
			if strings.Contains(fields, "\r\ncontent-encoding:") {
				t.Errorf("unpacked bytes are called packed: %s", head)
			}
			if c.answer == stream {
				if lengths != 0 || chunks != 1 || !strings.HasSuffix(body, "\r\n0\r\n\r\n") || !strings.Contains(body, "data: [DONE]") {
					t.Errorf("%d lengths, %d times chunked: %q", lengths, chunks, raw)
				}
				return
			}
			if lengths != 1 || chunks != 0 || !strings.Contains(fields, fmt.Sprintf("\r\ncontent-length: %d\r\n", len(body))) || !json.Valid([]byte(body)) {
				t.Errorf("%d lengths, %d times chunked, %d bytes: %q", lengths, chunks, len(body), raw)
			}
		})
	}
}

func TestAPackedRequestIsTheSameRequest(t *testing.T) {
	body := input(t, "requests/responses-brief.json")
	answer := "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"sinks\",\"model\":\"barge-7\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}}\n\n"
	v := &script{text: answer}
	r := newRig(t, nil, stop{name: "pier", api: "responses", serve: v})
	for _, c := range []struct{ encoding, body string }{{"", body}, {"identity", body}, {"gzip", gzipped(t, body)}, {"zstd", zstandard(t, body)}} {
		header := []string{}
		if c.encoding != "" {
			header = []string{"Content-Encoding", c.encoding}
		}
		got := r.post("responses", c.body, header...)
		if got.status != http.StatusOK || got.body != answer {
			t.Errorf("%q: %d %q", c.encoding, got.status, got.body)
		}
	}
	for i, sent := range v.requests() {
		if sent.body != body || sent.length != int64(len(body)) || sent.header.Get("Content-Encoding") != "" {
			t.Errorf("request %d: length %d, %v, %s", i, sent.length, sent.header, sent.body)
		}
	}
}

func TestABodyThatCannotBeReadIsRefused(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	big := `{"model":"m","x":"` + strings.Repeat("y", 32<<20) + `"}`
	var bomb bytes.Buffer
	z, _ := zstd.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	var gzipBomb bytes.Buffer
	g, _ := gzip.NewWriterLevel(&gzipBomb, gzip.BestCompression)
	for range 64 {
		_, _ = g.Write(zeros)
	}
	_ = g.Close()
	for _, c := range []struct {
		name, encoding, body string
		status               int
	}{
		{"unknown encoding", "sdch", jsonAnswer, 415},
		{"broken gzip", "gzip", "not gzip at all", 400},
		{"cut gzip", "gzip", gzipped(t, big)[:1000], 400},
		{"broken zstd", "zstd", "not zstd at all", 400},
		{"over the limit", "", big, 413},
		{"a gigabyte in zstd", "zstd", bomb.String(), 413},
		{"64 MiB in gzip", "gzip", gzipBomb.String(), 413},
		{"not JSON", "", "model=m", 400},
		{"no model", "", `{"messages":[]}`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := []string{}
			if c.encoding != "" {
				header = []string{"Content-Encoding", c.encoding}
			}
			got := r.post("chat", c.body, header...)
			if got.status != c.status || !strings.HasPrefix(got.body, `{"error":{"message":`) {
				t.Errorf("%d %s, want %d", got.status, got.body, c.status)
			}
			if len(v.requests()) > 0 {
				t.Error("the vendor was called")
			}
		})
	}
}
