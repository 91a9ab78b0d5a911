package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

var apis = []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}

// FuzzRelay feeds a stream whole, byte by byte and in random pieces: output and
// findings must be the same, and without edits the output is the input. Some
// relays take an event of few bytes for too long.
func FuzzRelay(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "responses", "*.sse"))
	if err != nil || len(files) == 0 {
		f.Fatal("no streams", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i := range apis {
			f.Add(b, uint64(i), true)
		}
		f.Add(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")), uint64(7), true)
		f.Add(bytes.ReplaceAll(b, []byte("\n"), []byte("\r")), uint64(9), true)
	}
	f.Add([]byte("event: response.completed\ndata: {\"response\":{\"id\":\"r\",\"usage\":{\"input_tokens\":1}}}\r\n\r\n"), uint64(8+16*40), false)
	f.Add([]byte("data: {\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]"), uint64(0), true)
	f.Add([]byte("\xef\xbb\xbfdata: {\"usage\":null}\r\n\r\r\n\n"), uint64(3), true)
	// Too long, and the beginning that says what it is goes on beyond what is read of it.
	f.Add([]byte("note: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}\n\n"), uint64(76), true)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, edits bool) {
		if len(stream) > 1<<16 {
			return
		}
		o := RelayOptions{API: apis[seed%3]}
		if edits {
			o.Metadata, o.HideUsage = []byte(`{"g":[1]}`), true
		}
		begin := func() *Relay {
			r := NewRelay(o)
			if seed&8 != 0 {
				r.longest = 40 + int(seed>>4)%200
			}
			return r
		}
		whole := feed(begin(), stream, max(1, len(stream)))
		same := func(r relayed, how string) {
			m1, t1 := whole.Served()
			m2, t2 := r.Served()
			if r.out != whole.out || r.usage != whole.usage || r.quality != whole.quality || r.Done() != whole.Done() ||
				r.Began() != whole.Began() || r.Finished() != whole.Finished() || r.ResponseID() != whole.ResponseID() ||
				(r.Failed() == nil) != (whole.Failed() == nil) || r.Failed() != nil && *r.Failed() != *whole.Failed() || m1 != m2 || t1 != t2 {
				t.Fatalf("%s:\n%q\nwhole:\n%q\n%+v %+v", how, r.out, whole.out, r.usage, whole.usage)
			}
		}
		same(feed(begin(), stream, 1), "byte by byte")
		rnd := rand.New(rand.NewPCG(seed, 5))
		r := begin()
		var out []byte
		for rest := stream; len(rest) > 0; {
			n := 1 + rnd.IntN(len(rest))
			// The caller uses its buffer again: what was held must not be in it.
			chunk := bytes.Clone(rest[:n])
			out = append(out, r.Feed(chunk)...)
			clear(chunk)
			rest = rest[n:]
		}
		once := begin()
		if once.Feed(stream); once.Ending() != r.Ending() {
			t.Fatalf("ending %v in pieces, %v whole: %q", r.Ending(), once.Ending(), stream)
		}
		out = append(out, r.Finish()...)
		u, q := r.Usage()
		same(relayed{r, string(out), u, q}, "random pieces")
		if u.Input < 0 || u.CacheRead < 0 || u.CacheWrite5m < 0 || u.CacheWrite1h < 0 || u.Output < 0 || u.Reasoning < 0 {
			t.Fatalf("negative: %+v", u)
		}
		if !edits && o.API != catalog.Messages && !strings.HasPrefix(whole.out, string(stream)) && !strings.HasPrefix(string(stream), whole.out) {
			t.Fatalf("changed without an edit:\n%q\n%q", stream, whole.out)
		}
	})
}

// FuzzReadRequest reads arbitrary bodies: what is accepted is JSON in which a
// lenient reader sees what we saw, and edits keep it so.
func FuzzReadRequest(f *testing.F) {
	for _, name := range []string{"key-order.json", "agent.json", "gateway-members.json", "responses-brief.json", "stream-without-usage.json"} {
		f.Add(input(f, "requests", name))
	}
	f.Add([]byte(`{"model":"m","mode\u006c":"n"}`))
	f.Add([]byte(`{"MODEL":"m","x":[1e5,-0.0,true,null,"\ud800"]}`))
	f.Add([]byte(`{"model":"m","stream":true,"providerOptions":{"gateway":{"sessionId":"x"}}}`))
	f.Add([]byte(`{"model":"m:nitro","provider":{"order":["a"],"allow_fallbacks":false,"max_price":{"prompt":"0.5","request":1e-3},"quantizations":["fp8"],"sort":{"by":"price","partition":"none"},"preferred_max_latency":1}}`))
	f.Add([]byte(`{"model":"m","caching":"off","cache_ttl":"1h","providerOptions":{"gateway":{"caching":"auto","cacheTtl":"5m","hipaaCompliant":true,"tags":["t"],"byok":{"a":[{"apiKey":"k"}]}},"x\u0000":{}}}`))
	f.Add([]byte(`{"model":"m","tools":[{"name":"t","cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"s"}],"messages":[{"content":[{"text":"a","type":"text","cache_control":{"type":"ephemeral"}}],"role":"user"},7]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ReadRequest(catalog.Chat, body)
		if err != nil {
			if _, ok := err.(*RefusedError); !ok {
				t.Fatalf("error is %T", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatal("accepted what is not JSON")
		}
		// A lenient reader must see what we saw.
		var lenient struct {
			Model            string   `json:"model"`
			Stream           *bool    `json:"stream"`
			Models           []string `json:"models"`
			SessionID        any      `json:"session_id"`
			SessionIDCamel   any      `json:"sessionId"`
			Prompt_cache_key any      `json:"prompt_cache_key"`
		}
		if err := json.Unmarshal(body, &lenient); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		facts := r.Facts()
		id, _ := lenient.SessionID.(string)
		camel, _ := lenient.SessionIDCamel.(string)
		key, _ := lenient.Prompt_cache_key.(string)
		if facts.Target != lenient.Model || facts.CacheKey != key || facts.BodyID != id || facts.BodyCamelID != camel ||
			r.Stream != (lenient.Stream != nil && *lenient.Stream) {
			t.Fatalf("facts %+v, encoding/json %+v", facts, lenient)
		}
		if facts.Opening != nil {
			facts.Opening()
		}
		if value, ok := facts.Field("model"); ok != facts.Has("model") && facts.Target != "" || value != facts.Target {
			t.Fatalf("model is %q, %v: %q", value, ok, facts.Target)
		}
		facts.Field("metadata.user_id.x")
		for _, name := range facts.Ignored {
			if len(facts.Ignored) > engine.MaxIgnored || len(name) > engine.MaxIgnoredName || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) {
				t.Fatalf("ignored %q", facts.Ignored)
			}
		}
		if facts.CacheTTL != 0 && facts.CacheTTL != 5*time.Minute && facts.CacheTTL != time.Hour {
			t.Fatalf("markers last %s", facts.CacheTTL)
		}
		if facts.MarkedPrefix != nil {
			hash, tokens, ok := facts.MarkedPrefix()
			again, _, _ := facts.MarkedPrefix()
			if hash != again || ok != (len(hash) == 64) || tokens < 0 || tokens > facts.TextBytes/4 {
				t.Fatalf("marked %q, then %q, of %d tokens, %v", hash, again, tokens, ok)
			}
		}
		// The caller's own keys go whatever else stays.
		if got := r.Upstream(nil, Edits{Accepts: fieldNames[:]}); !bytes.Equal(got, body) && !r.byok.found() {
			t.Fatalf("an edit of nothing changed the body: %s", got)
		}
		got := r.Upstream(nil, Edits{Model: "m2", AskUsage: true, CacheKey: "k"})
		again, err := ReadRequest(catalog.Chat, got)
		if err != nil {
			t.Fatalf("edited body is refused: %v: %s", err, got)
		}
		if again.Facts().Target != "m2" || again.Facts().BodyID+again.Facts().BodyCamelID != "" || again.Stream && !again.UsageAsked {
			t.Fatalf("edited to %s", got)
		}
	})
}
