package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

var yardWords = strings.Fields("the plank returns an oak error when cache timber session provider saw budget stream joint prefix routing replica glue and so we should check whether request body contains tool call results before file line test build module")

func prose(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(yardWords[rnd.IntN(len(yardWords))])
		switch rnd.IntN(24) {
		case 0:
			b.WriteString(".\\n")
		case 1:
			b.WriteString(` \"x\": `)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// agentBody is a chat request of about this many bytes in the shape of an
// agent's, messages before the model as many clients send them.
func agentBody(size int) []byte {
	rnd := rand.New(rand.NewPCG(7, uint64(size)))
	tools, messages := 10, 20
	switch {
	case size < 4<<10:
		tools, messages = 1, 2
	case size > 500<<10:
		tools, messages = 20, 120
	}
	each := (size - tools*min(900, size/4)) / messages
	var b bytes.Buffer
	b.WriteString(`{"messages":[{"role":"system","content":"` + prose(rnd, each) + `"}`)
	for i := 1; i < messages; i++ {
		switch i % 3 {
		case 1:
			fmt.Fprintf(&b, `,{"role":"user","content":"%s"}`, prose(rnd, each))
		case 2:
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"saw","arguments":"{\"path\":\"%s\"}"}}]}`, i, prose(rnd, each))
		default:
			fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i-1, prose(rnd, each))
		}
	}
	b.WriteString(`],"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"%s","parameters":{"type":"object","properties":{"p":{"type":"string","description":"%s"}},"required":["p"]}}}`,
			i, prose(rnd, min(500, size/8)), prose(rnd, 60))
	}
	b.WriteString(`],"model":"yard/agent","stream":true,"temperature":0.2}`)
	return b.Bytes()
}

var benchSizes = []struct {
	name string
	size int
}{{"1kB", 700}, {"60kB", 60 << 10}, {"1MB", 1 << 20}}

// One iteration is the scan of one request body.
func BenchmarkScan(b *testing.B) {
	for _, s := range benchSizes {
		b.Run(s.name, func(b *testing.B) {
			body := agentBody(s.size)
			if f := read(b, catalog.Chat, body).Facts(); f.Target != "yard/agent" || f.TextBytes == 0 {
				b.Fatalf("facts %+v", f)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			var r Request
			for b.Loop() {
				r = Request{API: catalog.Chat, Body: body}
				r.top, r.which = r.room[:0], r.names[:0]
				if err := r.scan(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Reading a body over takes no memory beyond the request's own, whatever its size.
func TestTheScanAllocatesNothing(t *testing.T) {
	for _, s := range benchSizes {
		body := agentBody(s.size)
		var r Request
		if n := testing.AllocsPerRun(10, func() {
			r = Request{API: catalog.Chat, Body: body}
			r.top, r.which = r.room[:0], r.names[:0]
			if err := r.scan(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}

// One iteration is one body read into facts.
func BenchmarkReadRequest(b *testing.B) {
	for _, s := range benchSizes {
		b.Run(s.name, func(b *testing.B) {
			body := agentBody(s.size)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadRequest(catalog.Chat, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One iteration is one body read and named by its opening, since it carries no id.
func BenchmarkIdentify(b *testing.B) {
	for _, s := range benchSizes {
		b.Run(s.name, func(b *testing.B) {
			body := agentBody(s.size)
			var session engine.Session
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := ReadRequest(catalog.Chat, body)
				if err != nil {
					b.Fatal(err)
				}
				facts := r.Facts()
				facts.Tenant = "default"
				session = engine.Identify(facts, nil)
			}
			if session.Class != engine.ClassFingerprint || len(session.ID) != 64 {
				b.Fatalf("session %+v", session)
			}
		})
	}
}

// One iteration is the splicing of one body into a buffer that is used again.
func BenchmarkUpstream(b *testing.B) {
	body := agentBody(60 << 10)
	r := read(b, catalog.Chat, body)
	dst := r.Upstream(nil, Edits{Model: "m", AskUsage: true})
	if !bytes.Contains(dst, []byte(`"model":"m"`)) {
		b.Fatal("not edited")
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Upstream(dst[:0], Edits{Model: "m", AskUsage: true})
	}
}

// chatStream is a stream of about this many bytes.
func chatStream(size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString(`data: {"id":"oak-by-oak","object":"chat.completion.chunk","created":1790000000,"model":"barge-7","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" oak"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n")
	}
	b.WriteString(`data: {"id":"oak-by-oak","model":"barge-7","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}` + "\n\n")
	b.WriteString(`data: {"id":"oak-by-oak","model":"barge-7","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

func messagesStream(size int) []byte {
	var b bytes.Buffer
	b.WriteString("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"schooner-1\",\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n")
	for b.Len() < size {
		b.WriteString("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" oak\"}}\n\n")
	}
	b.WriteString("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.Bytes()
}

// One iteration is one stream of 1 MB, relayed in reads of 4 kB.
func BenchmarkRelay(b *testing.B) {
	meta := []byte(`{"gateway":{"routing":{"affinity":{"outcome":"promoted"}}}}`)
	plain := bytes.ReplaceAll(chatStream(1<<20), []byte(`,"usage":null`), nil)
	for _, c := range []struct {
		name   string
		o      RelayOptions
		stream []byte
	}{
		{"chat", RelayOptions{API: catalog.Chat, Metadata: meta}, plain},
		{"chat-null-usage", RelayOptions{API: catalog.Chat, Metadata: meta}, chatStream(1 << 20)},
		{"chat-hide-usage", RelayOptions{API: catalog.Chat, Metadata: meta, HideUsage: true}, chatStream(1 << 20)},
		{"messages", RelayOptions{API: catalog.Messages, Metadata: meta}, messagesStream(1 << 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.stream)))
			b.ReportAllocs()
			var r *Relay
			for b.Loop() {
				r = NewRelay(c.o)
				for s := c.stream; len(s) > 0; {
					n := min(4096, len(s))
					r.Feed(s[:n])
					s = s[n:]
				}
				r.Finish()
			}
			if u, q := r.Usage(); u.Input != 10 || u.Output != 5 || !q.Complete() || !r.Done() {
				b.Fatalf("usage %+v %s", u, q)
			}
		})
	}
}
