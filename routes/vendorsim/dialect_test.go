package vendorsim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestChatStreamEventByEvent(t *testing.T) {
	b := start(t, Config{Name: "Harbour"})
	names, data := b.ask(catalog.Chat, true).events(t)
	if slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		t.Errorf("event names %q in a chat stream", names)
	}
	if !strings.Contains(data[0], `"delta":{"role":"assistant","content":""}`) || strings.Contains(data[0], "usage") {
		t.Errorf("first chunk %s", data[0])
	}
	if n := len(data); data[n-1] != "[DONE]" || !strings.Contains(data[n-2], `"delta":{}`) || !strings.Contains(data[n-2], `"finish_reason":"stop"`) {
		t.Errorf("end %q", data[n-2:])
	}
}

func TestChatStreamReportsUsageOnlyWhenAsked(t *testing.T) {
	b := start(t, Config{})
	ask := with(asks[catalog.Chat].body, `"stream":true,"stream_options":{"include_usage":true}`)
	_, data := b.ok(chatPath, "", ask).events(t)
	n := len(data)
	for _, chunk := range data[:n-2] {
		if !strings.Contains(chunk, `"usage":null`) {
			t.Errorf("chunk without usage null: %s", chunk)
		}
	}
	if !strings.Contains(data[n-2], `"choices":[]`) || !strings.Contains(data[n-2], `"usage":{"prompt_tokens":4,`) || data[n-1] != "[DONE]" {
		t.Errorf("end %q", data[n-2:])
	}
	_, data = b.ok(chatPath, "", strings.Replace(ask, "true}", "false}", 1)).events(t)
	if strings.Contains(strings.Join(data, ""), "usage") {
		t.Errorf("usage although the client said no: %q", data)
	}
}

func TestMessagesStreamEventByEvent(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	body := with(messagesBody(textBlock(words("rules", 2000), mark("1h")), turnOf("user", textBlock(words("go", 10), ""))), `"stream":true`)
	names, data := b.ok(messagesPath, "k", body).events(t)
	deltas := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "content_block_delta" })
	want := []string{"message_start", "content_block_start", "ping", "content_block_stop", "message_delta", "message_stop"}
	if !slices.Equal(deltas, want) {
		t.Errorf("events %q", names)
	}
	for i, name := range names {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(data[i]), &v); err != nil || v.Type != name {
			t.Errorf("event %s holds type %q (%v)", name, v.Type, err)
		}
	}
	if want := `"usage":{"input_tokens":10,"cache_creation_input_tokens":2000,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":2000},"output_tokens":1,"service_tier":"standard"}`; !strings.Contains(data[0], want) {
		t.Errorf("message_start %s", data[0])
	}
	delta := data[len(data)-2]
	if want := `"usage":{"input_tokens":10,"cache_creation_input_tokens":2000,"cache_read_input_tokens":0,"output_tokens":`; !strings.Contains(delta, want) {
		t.Errorf("message_delta %s", delta)
	}
}

func TestResponsesStreamEventByEvent(t *testing.T) {
	b := start(t, Config{})
	names, data := b.ask(catalog.Responses, true).events(t)
	order := slices.Compact(slices.Clone(names))
	want := []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
		"response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"}
	if !slices.Equal(order, want) {
		t.Errorf("events %q", order)
	}
	for i, text := range data {
		var v struct {
			Type     string
			Sequence int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Type != names[i] || v.Sequence != i {
			t.Errorf("event %d %s: %+v (%v)", i, names[i], v, err)
		}
	}
	if !strings.Contains(data[0], `"usage":null`) || !strings.Contains(data[len(data)-1], `"input_tokens_details":{"cached_tokens":0}`) {
		t.Errorf("usage in %s and %s", data[0], data[len(data)-1])
	}
}

func TestOutputLimitIsHonoured(t *testing.T) {
	b := start(t, Config{Name: "Harbour"})
	for _, test := range []struct {
		path, body, reason, last string
	}{
		{chatPath, `{"model":"m","max_tokens":2,"messages":[{"role":"user","content":"hi"}]`, `"finish_reason":"length"`, "[DONE]"},
		{chatPath, `{"model":"m","max_tokens":99,"max_completion_tokens":2,"messages":[{"role":"user","content":"hi"}]`, `"finish_reason":"length"`, "[DONE]"},
		{responsesPath, `{"model":"m","max_output_tokens":2,"input":"hi"`, `"incomplete_details":{"reason":"max_output_tokens"}`, "response.incomplete"},
		{messagesPath, `{"model":"m","max_tokens":2,"messages":[{"role":"user","content":"hi"}]`, `"stop_reason":"max_tokens"`, "message_stop"},
	} {
		whole := b.ok(test.path, "", test.body+"}")
		if u := whole.usage(t); u.Output+u.Completion != 2 || !bytes.Contains(whole.body, []byte(`"This is "`)) || !bytes.Contains(whole.body, []byte(test.reason)) {
			t.Errorf("%s: %s", test.path, whole.body)
		}
		stream := b.ok(test.path, "", test.body+`,"stream":true}`)
		if !bytes.Contains(stream.body, []byte(test.reason)) || !bytes.Contains(stream.body, []byte(test.last)) {
			t.Errorf("%s: %s", test.path, stream.body)
		}
	}
}

func TestAnswersAreDeterministicAndVaryWithTheTurn(t *testing.T) {
	turns := []string{chatBody("In short.", "one"), chatBody("In short.", "one", "first answer", "two")}
	text := func(seed uint64, turn int) string {
		var v struct{ Choices []chatChoice }
		b := start(t, Config{Name: "Harbour", Seed: seed})
		if err := json.Unmarshal(b.ok(chatPath, "", turns[turn]).body, &v); err != nil {
			t.Fatal(err)
		}
		return v.Choices[0].Message.Content
	}
	first, second := text(1, 0), text(1, 1)
	if first != text(1, 0) || second != text(1, 1) {
		t.Error("the same request was answered in two ways")
	}
	if first == second || !strings.Contains(first, "Harbour") || !strings.Contains(second, "2") {
		t.Errorf("turn 1 %q, turn 2 %q", first, second)
	}
}

func TestMembersOfTheGatewayAreRefused(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		for _, member := range []string{"session_id", "sessionId", "providerOptions", "caching", "cache_ttl", "models", "provider"} {
			r := b.post(asks[api].path, "", with(asks[api].body, `"`+member+`":{}`))
			if r.status != 400 || !bytes.Contains(r.body, []byte(member)) {
				t.Errorf("%s %s: status %d, body %s", api, member, r.status, r.body)
			}
		}
	}
	accepting := start(t, Config{Accepts: []string{"provider", "models"}, Refuses: []string{"stream_options"}})
	accepting.ok(chatPath, "", with(asks[catalog.Chat].body, `"provider":{"order":["x"]},"models":["a"]`))
	if r := accepting.post(chatPath, "", with(asks[catalog.Chat].body, `"stream_options":{}`)); r.status != 400 {
		t.Errorf("a refused member got status %d", r.status)
	}
}

func TestRequestsAStrictVendorRefuses(t *testing.T) {
	b := start(t, Config{Models: []string{"m"}, Keys: []string{"good"}, API: []catalog.API{catalog.Chat, catalog.Messages}, Cache: anthropicCache})
	marked := textBlock("x", mark(""))
	for _, test := range []struct {
		name, path, key, body string
		status                int
	}{
		{"wrong key", chatPath, "bad", asks[catalog.Chat].body, 401},
		{"no key", chatPath, "", asks[catalog.Chat].body, 401},
		{"a dialect it does not speak", responsesPath, "good", asks[catalog.Responses].body, 404},
		{"no such path", "/v1/images", "good", "{}", 404},
		{"unknown model", chatPath, "good", `{"model":"x","messages":[{"role":"user","content":"hi"}]}`, 404},
		{"no model", chatPath, "good", `{"messages":[{"role":"user","content":"hi"}]}`, 400},
		{"not JSON", chatPath, "good", `{"model":`, 400},
		{"not an object", chatPath, "good", `[1]`, 400},
		{"no messages", chatPath, "good", `{"model":"m","messages":[]}`, 400},
		{"no max_tokens", messagesPath, "good", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, 400},
		{"max_tokens zero", messagesPath, "good", `{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"hi"}]}`, 400},
		{"five markers", messagesPath, "good", messagesBody(marked+","+marked+","+marked, turnOf("user", marked+","+marked)), 400},
		{"one hour after five minutes", messagesPath, "good", messagesBody(marked, turnOf("user", textBlock("x", mark("1h")))), 400},
		{"a lifetime it does not know", messagesPath, "good", messagesBody(textBlock("x", mark("2h")), turnOf("user", marked)), 400},
		{"content that is a number", chatPath, "good", `{"model":"m","messages":[{"role":"user","content":7}]}`, 400},
	} {
		if r := b.post(test.path, test.key, test.body); r.status != test.status || !json.Valid(r.body) {
			t.Errorf("%s: status %d, want %d: %s", test.name, r.status, test.status, r.body)
		}
	}
	if r := b.post(messagesPath, "good", messagesBody(marked+","+marked, turnOf("user", marked+","+marked))); r.status != 200 {
		t.Errorf("four markers: status %d: %s", r.status, r.body)
	}
}

func TestKeyMayComeInEveryHeaderOfTheDialects(t *testing.T) {
	b := start(t, Config{Keys: []string{"good"}})
	for _, header := range []string{"X-Api-Key", "Api-Key"} {
		r := b.request(t.Context(), chatPath, "", asks[catalog.Chat].body)
		r.Header.Set(header, "good")
		if got := b.do(r); got.status != 200 {
			t.Errorf("%s: status %d", header, got.status)
		}
	}
}

func TestMissingVersionHeaderIsRefused(t *testing.T) {
	b := start(t, Config{})
	r := b.request(t.Context(), messagesPath, "", asks[catalog.Messages].body)
	r.Header.Del("Anthropic-Version")
	if got := b.do(r); got.status != 400 || !bytes.Contains(got.body, []byte("anthropic-version")) {
		t.Errorf("status %d, body %s", got.status, got.body)
	}
}

func TestCompressedRequestIsRefused(t *testing.T) {
	b := start(t, Config{})
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(asks[catalog.Chat].body))
	_ = zip.Close()
	r := b.request(t.Context(), chatPath, "", packed.String())
	r.Header.Set("Content-Encoding", "gzip")
	if got := b.do(r); got.status != 400 {
		t.Errorf("status %d, body %s", got.status, got.body)
	}
	if log := b.Log(); !bytes.Equal(log[0].Bytes(), packed.Bytes()) {
		t.Error("the log does not hold the compressed bytes")
	}
}

func TestHeadAndQueryAreAnswered(t *testing.T) {
	b := start(t, Config{})
	r := b.request(t.Context(), "/", "", "")
	r.Method = http.MethodHead
	if got := b.do(r); got.status != 200 {
		t.Errorf("HEAD /: status %d", got.status)
	}
	b.ok(messagesPath+"?beta=true", "", asks[catalog.Messages].body)
	if log := b.Log(); log[1].Query != "beta=true" {
		t.Errorf("query %q", log[1].Query)
	}
}

func TestCountTokensCostsNothing(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	body := `{"model":"m","system":[` + textBlock(words("rules", 2000), mark("")) + `],"messages":[{"role":"user","content":"` + words("go", 7) + `"}]}`
	if r := b.ok("/v1/messages/count_tokens", "", body); string(r.body) != `{"input_tokens":2007}` {
		t.Errorf("%s", r.body)
	}
	if n := len(b.Cache()); n != 0 {
		t.Errorf("%d entries after counting", n)
	}
}

func TestEmbeddingsDependOnTheTextAlone(t *testing.T) {
	b := start(t, Config{})
	one := b.ok("/v1/embeddings", "", `{"model":"m","input":"the tide"}`)
	if u := one.usage(t); u.Prompt != 2 || u.Total != 2 {
		t.Errorf("%+v", u)
	}
	var v, w struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.Unmarshal(one.body, &v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.ok("/v1/embeddings", "", `{"model":"m","input":["a boat","the tide"]}`).body, &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Data) != 2 || !slices.Equal(v.Data[0].Embedding, w.Data[1].Embedding) || slices.Equal(w.Data[0].Embedding, w.Data[1].Embedding) {
		t.Errorf("%v, %v", v, w)
	}
	for _, bad := range []string{`{"model":"m"}`, `{"model":"m","input":[]}`, `{"input":"x"}`, `{"model":"m","input":"x","session_id":"s"}`} {
		if r := b.post("/v1/embeddings", "", bad); r.status != 400 {
			t.Errorf("%s: status %d", bad, r.status)
		}
	}
	b.queue(Fault{Status: 429})
	if r := b.post("/v1/embeddings", "", `{"model":"m","input":"x"}`); r.status != 429 {
		t.Errorf("scripted: status %d", r.status)
	}
}

func TestUsageByConvention(t *testing.T) {
	for convention, want := range map[string]string{
		"":         `"prompt_tokens_details":{"cached_tokens":1536},"completion_tokens_details":{"reasoning_tokens":0}}`,
		"openai":   `"prompt_tokens_details":{"cached_tokens":1536},"completion_tokens_details":{"reasoning_tokens":0}}`,
		"deepseek": `"prompt_tokens_details":{"cached_tokens":1536},"prompt_cache_hit_tokens":1536,"prompt_cache_miss_tokens":64}`,
		"moonshot": `"cached_tokens":1536}`,
		"mistral":  `"num_cached_tokens":1536}`,
		"alibaba":  `"prompt_tokens_details":{"cached_tokens":1536,"cache_creation_input_tokens":0}}`,
	} {
		b := start(t, Config{Cache: openaiCache, Usage: convention})
		body := chatBody(words("rules", 1600))
		b.ok(chatPath, "k", body)
		r := b.ok(chatPath, "k", body)
		if u := r.usage(t); u.Prompt != 1600 || u.Total != u.Prompt+u.Completion || !bytes.Contains(r.body, []byte(want)) {
			t.Errorf("%q: %s", convention, r.body)
		}
	}
}

func TestPaidWritesAreReported(t *testing.T) {
	b := start(t, Config{Cache: openaiCache, ReportWrites: true})
	u := b.ok(chatPath, "k", chatBody(words("rules", 1600))).usage(t)
	if u.Prompt != 1600 || *u.PromptDetails.WriteTokens != 1536 || u.PromptDetails.CachedTokens != 0 {
		t.Errorf("%+v %+v", u, u.PromptDetails)
	}
}

func TestMediaCountTheSameWhateverTheirSize(t *testing.T) {
	b := start(t, Config{})
	for _, size := range []int{4, 4000} {
		body := `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
			strings.Repeat("A", size) + `"}},{"type":"text","text":"What?!!!"}]}]}`
		if u := b.ok(chatPath, "", body).usage(t); u.Prompt != MediaTokens+2 {
			t.Errorf("%d bytes: prompt %d", size, u.Prompt)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"a":1,"cache_control":{"type":"ephemeral","ttl":"1h"},"b":[true,null,{"cache_control":null}]}`))
	f.Add([]byte(`{"cache_control":{"type":"object"},"x":"\u6d6a <b>"}`))
	f.Add([]byte(`"text"`))
	f.Add([]byte(`[1e400,-0.0]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, markers, err := canonical(raw)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q became %q", raw, text)
		}
		again, left, err := canonical(text)
		if err != nil || !bytes.Equal(text, again) || len(left) != 0 {
			t.Fatalf("%q (%d markers) became %q, then %q with %d markers (%v)", raw, len(markers), text, again, len(left), err)
		}
	})
}

func FuzzReadPrompt(f *testing.F) {
	for _, api := range allAPIs {
		f.Add([]byte(asks[api].body))
	}
	f.Add([]byte(messagesBody(textBlock("x", mark("1h")), turnOf("user", textBlock("y", mark(""))))))
	f.Add([]byte(`{"model":"m","messages":[null],"tools":[1,"x"]}`))
	f.Add([]byte(`{"model":"m","input":[{"type":"function_call","arguments":"{}"}]}`))
	v := New(Config{API: allAPIs, Cache: anthropicCache})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, api := range allAPIs {
			p, err := v.readPrompt(api, raw)
			if err != nil {
				if _, ok := err.(*refused); !ok {
					t.Fatalf("error of type %T", err)
				}
				continue
			}
			if u := v.look("a", p).usage; u.prompt() != p.size() {
				t.Fatalf("usage %+v of a prompt of %d", u, p.size())
			}
		}
	})
}
