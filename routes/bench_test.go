package routes_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// benchBody is a conversation of about size bytes.
func benchBody(size int, stream bool) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","stream":%v,"messages":[{"role":"system","content":"Answer for joiners."}`, stream)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,{"role":"user","content":"Question %d: %s"},{"role":"assistant","content":"Answer %d."}`, i, strings.Repeat("which wood floats? ", 20), i)
	}
	b.WriteString(`,{"role":"user","content":"And now?"}]}`)
	return []byte(b.String())
}

// benchVendor answers at once: JSON of 1 kB, or a stream of 100 events.
func benchVendor(stream bool) http.Handler {
	answer := []byte(strings.Replace(jsonAnswer, `"41"`, `"`+strings.Repeat("a", 800)+`"`, 1))
	var events [][]byte
	for i := range 100 {
		events = append(events, fmt.Appendf(nil, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"barge-7\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d \"},\"finish_reason\":null}]}\n\n", i))
	}
	events = append(events,
		[]byte("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
		[]byte("data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":9}}\n\n"),
		[]byte("data: [DONE]\n\n"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for _, e := range events {
			_, _ = w.Write(e)
			_ = rc.Flush()
		}
	})
}

// BenchmarkServe is one whole turn over loopback TCP, client and vendor in the
// same process: through warmroute with a session, pins and ledger, and through a
// plain reverse proxy that flushes at once. The difference is warmroute's price.
func BenchmarkServe(b *testing.B) {
	for _, stream := range []bool{false, true} {
		kind := map[bool]string{false: "json", true: "sse"}[stream]
		upstream := httptest.NewServer(benchVendor(stream))
		defer upstream.Close()
		body := benchBody(60<<10, stream)
		b.Run(kind+"/proxy", func(b *testing.B) {
			target, _ := url.Parse(upstream.URL)
			proxy := httputil.NewSingleHostReverseProxy(target)
			proxy.FlushInterval = -1
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// Without it the server closes the request's body as the answer
				// begins, under the transport that is about to see its end.
				_ = http.NewResponseController(w).EnableFullDuplex()
				proxy.ServeHTTP(w, r)
			}))
			defer server.Close()
			benchTurns(b, server.URL, body, stream)
		})
		b.Run(kind+"/warmroute", func(b *testing.B) {
			r := newRig(b, func(o *routes.Options) {
				o.Metadata = vendor.MetadataBody
				o.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
			}, stop{name: "pier", url: upstream.URL}, stop{name: "quay", url: upstream.URL})
			benchTurns(b, r.url, body, stream)
		})
	}
}

// benchTurns sends the same turn again and again on one connection.
func benchTurns(b *testing.B, to string, body []byte, stream bool) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	once := func() ([]byte, error) {
		r, err := http.NewRequest(http.MethodPost, to+"/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("X-Session-Id", "dory-bench")
		response, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		return io.ReadAll(response.Body)
	}
	answer, err := once()
	if err != nil || !bytes.Contains(answer, []byte(`"choices"`)) || stream && !bytes.Contains(answer, []byte("[DONE]")) {
		b.Fatalf("%v %s", err, answer)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := once(); err != nil {
			b.Fatal(err)
		}
	}
}
