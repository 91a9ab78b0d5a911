package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// streams are whole streams and what they report; the shared name is a collected
// one of the same situation.
var streams = []struct {
	file, shared string
	api          catalog.API
	usage        pricing.Usage
	quality      pricing.Quality
	done         bool
	model        string
}{
	{"messages-running-totals.sse", "case-01-anthropic-stream.sse", catalog.Messages, pricing.Usage{Input: 12, CacheRead: 18400, Output: 205}, pricing.Authoritative, true, "schooner-1"},
	{"chat-usage-asked-for.sse", "case-04-upstream-answer.sse", catalog.Chat, pricing.Usage{Input: 54, CacheRead: 256, Output: 18}, pricing.Authoritative, true, "barge-7"},
	{"chat-plain.sse", "case-12-serve-gzipped.sse", catalog.Chat, pricing.Usage{Input: 120, Output: 9}, pricing.Authoritative, true, "barge-7"},
	{"chat-cut.sse", "case-14-cut-mid-answer.sse", catalog.Chat, pricing.Usage{}, pricing.Missing, false, "barge-7"},
	{"responses-incomplete.sse", "case-23-responses-incomplete.sse", catalog.Responses, pricing.Usage{Input: 440, CacheRead: 2560, Output: 4096, Reasoning: 1024}, pricing.Authoritative, true, "barge-7"},
	{"chat-no-usage.sse", "case-26-usage-unknown.sse", catalog.Chat, pricing.Usage{}, pricing.Missing, true, "barge-7"},
	{"chat-running-totals.sse", "case-35-cumulative-usage.sse", catalog.Chat, pricing.Usage{Input: 500, Output: 30}, pricing.Authoritative, true, "barge-7"},
	{"chat-null-usage.sse", "case-36-null-usage-empty-choices.sse", catalog.Chat, pricing.Usage{Input: 33, Output: 5}, pricing.Authoritative, true, "barge-7"},
	{"messages-other-model.sse", "case-40-served-model.sse", catalog.Messages, pricing.Usage{Input: 700, Output: 300}, pricing.Authoritative, true, "clipper1"},
	{"messages-late-counters.sse", "case-44-late-only-counters.sse", catalog.Messages, pricing.Usage{Input: 40, CacheRead: 3600, Output: 88}, pricing.Authoritative, true, "schooner-1"},
	{"messages-zeros-at-end.sse", "case-44-zero-in-delta.sse", catalog.Messages, pricing.Usage{Input: 40, CacheRead: 3600, Output: 88}, pricing.Authoritative, true, "schooner-1"},
	{"messages-error.sse", "case-45-error-after-output.sse", catalog.Messages, pricing.Usage{Input: 900, Output: 1}, pricing.Partial, false, "schooner-1"},
	{"chat-done-without-blank-line.sse", "case-46-done-without-blank-line.sse", catalog.Chat, pricing.Usage{Input: 75, Output: 11}, pricing.Authoritative, true, "barge-7"},
	{"chat-comments.sse", "case-50-comments-and-pings.sse", catalog.Chat, pricing.Usage{Input: 90, Output: 7}, pricing.Authoritative, true, "barge-7"},
	{"", "case-50-anthropic-ping-for-chat-client.sse", catalog.Messages, pricing.Usage{Input: 10, Output: 2}, pricing.Authoritative, true, "schooner-1"},
}

func TestStreamsReportTheirUsageAndStayAsTheyAre(t *testing.T) {
	for _, c := range streams {
		try := func(name string, stream []byte, served string) {
			for _, n := range []int{1, 7, len(stream)} {
				r := relay(RelayOptions{API: c.api}, stream, n)
				if r.out != string(stream) {
					t.Errorf("%s in pieces of %d: bytes changed:\n%s", name, n, r.out)
				}
				model, _ := r.Served()
				if r.usage != c.usage || r.quality != c.quality || r.Done() != c.done || model != served || !r.Began() {
					t.Errorf("%s in pieces of %d: %+v %q done %v by %q", name, n, r.usage, r.quality, r.Done(), model)
				}
			}
		}
		if c.file != "" {
			try(c.file, input(t, "responses", c.file), c.model)
		}
		t.Run(c.shared, func(t *testing.T) { try(c.shared, sharedInput(t, c.shared), theirModels[c.model]) })
	}
}

func TestUsageTheClientDidNotAskForIsHidden(t *testing.T) {
	meta := []byte(`{"g":1}`)
	for _, name := range []string{"chat-usage-asked-for.sse", "chat-running-totals.sse", "chat-null-usage.sse"} {
		stream := input(t, "responses", name)
		plain := relay(RelayOptions{API: catalog.Chat}, stream, 1000)
		for _, n := range []int{1, len(stream)} {
			r := relay(RelayOptions{API: catalog.Chat, HideUsage: true, Metadata: meta}, stream, n)
			if strings.Contains(r.out, `"usage"`) {
				t.Errorf("%s: usage in %s", name, r.out)
			}
			if r.usage != plain.usage || r.quality != pricing.Authoritative {
				t.Errorf("%s: %+v %s", name, r.usage, r.quality)
			}
			if strings.Count(r.out, `"provider_metadata":{"g":1}`) != 1 || !strings.HasSuffix(r.out, "data: [DONE]\n\n") {
				t.Errorf("%s: %s", name, r.out)
			}
			for event := range strings.SplitSeq(strings.TrimSpace(r.out), "\n\n") {
				data := strings.TrimPrefix(event, "data: ")
				if data != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("%s: not JSON: %s", name, data)
				}
			}
		}
	}
	stream := input(t, "responses", "chat-usage-asked-for.sse")
	want := bytes.ReplaceAll(stream, []byte(`,"usage":null`), nil)
	from, to := bytes.Index(want, []byte(`data: {"id":"two-woods","object":"chat.completion.chunk","created":1790000004,"model":"barge-7","choices":[],`)), bytes.Index(want, []byte("data: [DONE]"))
	want = append(want[:from:from], want[to:]...)
	if r := relay(RelayOptions{API: catalog.Chat, HideUsage: true}, stream, 64); r.out != string(want) {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
}

func TestHiddenUsageIsCutWhereverItStands(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"in the middle", `{"choices":[{"delta":{}}],"usage":null,"obfuscation":"x"}`, `{"choices":[{"delta":{}}],"obfuscation":"x"}`},
		{"first", `{ "usage" : null , "choices":[{}]}`, `{ "choices":[{}]}`},
		{"last, with spaces", `{"choices":[{}] , "usage": {"prompt_tokens":1} }`, `{"choices":[{}] }`},
		{"deeper is another's", `{"choices":[{}],"x_groq":{"id":"1","usage":null}}`, `{"choices":[{}],"x_groq":{"id":"1","usage":null}}`},
		{"a text of that name", `{"choices":[{"delta":{"content":"usage"}}],"note":"usage"}`, `{"choices":[{"delta":{"content":"usage"}}],"note":"usage"}`},
		{"a chunk of its own", `{"choices":[],"usage":{"prompt_tokens":1}}`, ``},
		{"nothing else", `{"usage":null}`, ``},
		{"no JSON", `{"usage":null`, `{"usage":null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := ""
			if c.want != "" {
				want = "data: " + c.want + "\n\n"
			}
			// Once as the first chunk, once when the model is known.
			head := `data: {"model":"m","choices":[{}]}` + "\n\n"
			o := RelayOptions{API: catalog.Chat, HideUsage: true}
			if got := relay(o, []byte("data: "+c.in+"\n\n"), 5).out; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := relay(o, []byte(head+"data: "+c.in+"\n\n"), 500).out; got != head+want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestMetadataGoesIn(t *testing.T) {
	meta := []byte(`{"gateway":{}}`)
	for _, c := range []struct {
		file   string
		api    catalog.API
		before string // what stands just before the metadata
	}{
		{"chat-running-totals.sse", catalog.Chat, `"usage":{"prompt_tokens":500,"completion_tokens":30,"total_tokens":530}`},
		{"chat-usage-asked-for.sse", catalog.Chat, `"delta":{},"finish_reason":"stop"}],"usage":null`},
		{"messages-running-totals.sse", catalog.Messages, `"output_tokens":205}`},
		{"responses-incomplete.sse", catalog.Responses, `"total_tokens":7096}`},
		{"responses-failed.sse", catalog.Responses, `"message":"out of glue"},"usage":null`},
	} {
		stream := string(input(t, "responses", c.file))
		want := strings.Replace(stream, c.before, c.before+`,"provider_metadata":{"gateway":{}}`, 1)
		for _, n := range []int{1, 100, len(stream)} {
			if r := relay(RelayOptions{API: c.api, Metadata: meta}, []byte(stream), n); r.out != want || want == stream {
				t.Errorf("%s:\n%s\nwant\n%s", c.file, r.out, want)
			}
		}
		// A chained gateway has put its own in.
		if r := relay(RelayOptions{API: c.api, Metadata: []byte(`2`)}, []byte(want), 100); r.out != want {
			t.Errorf("%s: put in twice:\n%s", c.file, r.out)
		}
	}
}

func TestMessagesGetTheirEventLines(t *testing.T) {
	check := func(t *testing.T, stream []byte) {
		for _, n := range []int{1, len(stream)} {
			r := relay(RelayOptions{API: catalog.Messages}, stream, n)
			if (r.usage != pricing.Usage{Input: 21, CacheRead: 1536, Output: 17}) || r.quality != pricing.Authoritative || !r.Done() {
				t.Errorf("%+v %s", r.usage, r.quality)
			}
			if strings.Contains(r.out, "[DONE]") {
				t.Error("[DONE] reached a messages client")
			}
			for event := range strings.SplitSeq(strings.TrimSpace(r.out), "\n\n") {
				name, data, _ := strings.Cut(event, "\n")
				var v struct{ Type string }
				if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &v); err != nil || name != "event: "+v.Type {
					t.Errorf("event %q: %v", event, err)
				}
			}
		}
	}
	check(t, input(t, "responses", "messages-no-event-lines.sse"))
	t.Run("shared", func(t *testing.T) { check(t, sharedInput(t, "case-71-no-event-lines.sse")) })
}

func TestErrorEvents(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		api          catalog.API
		want         StreamError
	}{
		{"messages", string(input(t, "responses", "messages-error.sse")), catalog.Messages, StreamError{"api_error", "", "jammed"}},
		{"messages without an event line", "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"full\"}}\n\n", catalog.Messages, StreamError{"overloaded_error", "", "full"}},
		{"messages in OpenAI's shape", "data: {\"error\":{\"message\":\"no\"}}\n\n", catalog.Messages, StreamError{"", "", "no"}},
		{"chat, inside a chunk", string(input(t, "responses", "chat-error-chunk.sse")), catalog.Chat, StreamError{"502", "502", "the saw broke"}},
		{"chat, alone", "data: {\"error\":{\"message\":\"full\",\"type\":\"server_error\",\"code\":null}}\n\n", catalog.Chat, StreamError{"server_error", "", "full"}},
		{"chat, a text", "data: {\"error\":\"full\"}\n\n", catalog.Chat, StreamError{"", "", "full"}},
		{"chat, by its event line", "event: error\ndata: {\"message\":\"full\"}\n\n", catalog.Chat, StreamError{"", "", "full"}},
		{"responses", "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\",\"param\":null}\n\n", catalog.Responses, StreamError{"rate_limit_exceeded", "rate_limit_exceeded", "slow"}},
		{"responses, nested", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"message\":\"slow\"}}\n\n", catalog.Responses, StreamError{"server_error", "", "slow"}},
		{"responses failed", string(input(t, "responses", "responses-failed.sse")), catalog.Responses, StreamError{"server_error", "server_error", "out of glue"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 1000} {
				r := relay(RelayOptions{API: c.api}, []byte(c.stream), n)
				if f := r.Failed(); f == nil || *f != c.want {
					t.Errorf("failed %+v, want %+v", f, c.want)
				}
				if !r.Began() || r.Done() != (c.name == "responses failed") {
					t.Errorf("began %v, done %v", r.Began(), r.Done())
				}
				if !strings.Contains(r.out, c.want.Message) {
					t.Errorf("not passed on: %s", r.out)
				}
			}
		})
	}
	if r := relay(RelayOptions{API: catalog.Chat}, []byte("data: {\"error\":null,\"choices\":[]}\n\n"), 9); r.Failed() != nil {
		t.Error("a null error is none")
	}
}

func TestCommentsAndPingsAreNoBeginning(t *testing.T) {
	for _, c := range []struct {
		api    catalog.API
		stream string
	}{
		{catalog.Chat, ": PROCESSING\n\n\n:\n\nretry: 100\n\ndata:\n\n"},
		{catalog.Messages, "event: ping\ndata: {\"type\":\"ping\"}\n\n: x\n\n"},
		{catalog.Messages, "event: ping\ndata: {\"type\": \"ping\"}\n\n"},
		{catalog.Responses, ": x\n\nevent: keepalive\ndata: {\"type\":\"keepalive\"}\n\n"},
	} {
		r := NewRelay(RelayOptions{API: c.api})
		if got := string(r.Feed([]byte(c.stream))); got != c.stream || r.Began() {
			t.Errorf("%q: %q, began %v", c.stream, got, r.Began())
		}
	}
}

func TestLineEnds(t *testing.T) {
	chunk := `data: {"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	for _, eol := range []string{"\n", "\r\n", "\r"} {
		stream := "\xef\xbb\xbf: hello" + eol + chunk + eol + eol + ": x" + eol + eol + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}" + eol + eol + "data: [DONE]" + eol + eol
		want := "\xef\xbb\xbf: hello" + eol + `data: {"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"provider_metadata":1}` + eol + eol + ": x" + eol + eol + "data: [DONE]" + eol + eol
		for n := 1; n < 20; n++ {
			r := relay(RelayOptions{API: catalog.Chat, HideUsage: true, Metadata: []byte("1")}, []byte(stream), n)
			if r.out != want || !r.Done() || r.usage.Input != 3 {
				t.Errorf("%q in pieces of %d:\n%q\nwant\n%q", eol, n, r.out, want)
			}
		}
	}
}

func TestDataOfSeveralLines(t *testing.T) {
	stream := "data: {\"model\":\"m\",\ndata:\"choices\":[{\"finish_reason\":\"stop\"}],\ndata: \"usage\":\ndata: {\"prompt_tokens\":3,\ndata: \"completion_tokens\":4}\ndata: }\n\n"
	want := "data: {\"model\":\"m\",\ndata:\"choices\":[{\"finish_reason\":\"stop\"}],\"provider_metadata\":1\ndata: }\n\n"
	r := relay(RelayOptions{API: catalog.Chat, HideUsage: true, Metadata: []byte("1")}, []byte(stream), 3)
	if r.out != want || r.usage.Output != 4 {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
}

func TestOnlyWholeEventsGoOut(t *testing.T) {
	r := NewRelay(RelayOptions{API: catalog.Chat})
	if got := string(r.Feed([]byte("data: {}\n\ndata: {\"x\""))); got != "data: {}\n\n" {
		t.Errorf("%q", got)
	}
	if got := string(r.Feed([]byte(":1}\n"))); got != "" {
		t.Errorf("%q", got)
	}
	if got := string(r.Feed([]byte("\ndata: {}"))); got != "data: {\"x\":1}\n\n" {
		t.Errorf("%q", got)
	}
}

func TestPiecesThatCutACharacter(t *testing.T) {
	stream := input(t, "responses", "chat-utf8.sse")
	if r := relay(RelayOptions{API: catalog.Chat}, stream, 1); r.out != string(stream) || !strings.Contains(r.out, "樫の木 🌳") || !r.Done() {
		t.Errorf("%s", r.out)
	}
	t.Run("shared", func(t *testing.T) {
		var c struct {
			Pieces [][]byte `json:"pieces_base64"`
		}
		if err := json.Unmarshal(sharedInput(t, "case-47-utf8-chunks.json"), &c); err != nil {
			t.Fatal(err)
		}
		r, out := NewRelay(RelayOptions{API: catalog.Chat}), ""
		for _, p := range c.Pieces {
			out += string(r.Feed(p))
		}
		if out != string(bytes.Join(c.Pieces, nil)) || !strings.Contains(out, "浪が高い 🚢") || strings.ContainsRune(out, '\ufffd') {
			t.Errorf("%s", out)
		}
	})
}

func TestALongLineIsRead(t *testing.T) {
	long := func(size int) []byte {
		return []byte(`data: {"model":"m","choices":[{"delta":{"content":"` + strings.Repeat("q", size) + `"},"finish_reason":null}]}` + "\n\n" +
			`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":300000,"total_tokens":300040}}` + "\n\ndata: [DONE]\n\n")
	}
	stream := long(1_200_000)
	r := relay(RelayOptions{API: catalog.Chat}, stream, 32<<10)
	if r.out != string(stream) || (r.usage != pricing.Usage{Input: 40, Output: 300000}) || r.quality != pricing.Authoritative {
		t.Errorf("%d bytes of %d, %+v %s", len(r.out), len(stream), r.usage, r.quality)
	}
	// Above the limit all bytes still pass, in bounded memory, and usage is unknown.
	stream = long(maxEvent)
	for _, n := range []int{256 << 10, len(stream)} {
		r = relay(RelayOptions{API: catalog.Chat, Metadata: []byte("1")}, stream, n)
		if len(r.out) != len(stream)+len(`,"provider_metadata":1`) || r.quality != pricing.Missing || !r.Done() || !r.Began() {
			t.Errorf("%d bytes of %d, quality %q", len(r.out), len(stream), r.quality)
		}
		if cap(r.held) > 2*maxEvent {
			t.Errorf("held %d", cap(r.held))
		}
	}
	stream = []byte("event: response.completed\ndata: " + strings.Repeat("x", maxEvent) + "\n\n")
	if r = relay(RelayOptions{API: catalog.Responses}, stream, 1<<20); !r.Done() || r.quality != pricing.Missing {
		t.Error("the last event is known by its name")
	}
}

func TestEndsOfStreams(t *testing.T) {
	stop := "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n"
	for _, c := range []struct {
		name, in, out  string
		api            catalog.API
		done, finished bool
	}{
		{"no [DONE] after a finish_reason", stop, stop, catalog.Chat, true, true},
		{"half an event", "data: {\"choices\":[]}\n\ndata: {\"cho", "data: {\"choices\":[]}\n\n", catalog.Chat, false, false},
		{"half a line that would parse", "data: {\"choices\":[]}", "data: {\"choices\":[]}\n\n", catalog.Chat, false, false},
		{"no blank line, not done", "data: {\"choices\":[]}\n", "data: {\"choices\":[]}\n\n", catalog.Chat, false, false},
		{"no blank line, done", "data: [DONE]", "data: [DONE]", catalog.Chat, true, true},
		{"no message_stop", "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n", "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n", catalog.Messages, false, true},
		{"a comment", ": bye\n", ": bye\n\n", catalog.Messages, false, false},
		{"nothing", "", "", catalog.Chat, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 1000} {
				r := relay(RelayOptions{API: c.api}, []byte(c.in), n)
				if r.out != c.out || r.Done() != c.done || r.Finished() != c.finished {
					t.Errorf("%q, done %v, finished %v", r.out, r.Done(), r.Finished())
				}
			}
		})
	}
	// A client that leaves at the end mark leaves the usage complete, without Finish.
	r := NewRelay(RelayOptions{API: catalog.Chat})
	r.Feed(input(t, "responses", "chat-done-without-blank-line.sse"))
	if u, q := r.Usage(); u.Input != 75 || q != pricing.Authoritative {
		t.Errorf("%+v %s", u, q)
	}
	// One that leaves in the middle leaves a lower bound.
	r = NewRelay(RelayOptions{API: catalog.Messages})
	r.Feed(input(t, "responses", "messages-running-totals.sse")[:500])
	if u, q := r.Usage(); u.CacheRead != 18400 || q != pricing.Partial {
		t.Errorf("%+v %s", u, q)
	}
}

func TestAnEventInOnePieceIsNotCopied(t *testing.T) {
	r := NewRelay(RelayOptions{API: catalog.Chat})
	r.Feed([]byte("data: {\"model\":\"m\",\"choices\":[{}]}\n\n"))
	chunk := []byte("data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":null}],\"usage\":null}\n\n")
	if got := r.Feed(chunk); &got[0] != &chunk[0] {
		t.Error("copied")
	}
	if n := testing.AllocsPerRun(100, func() { r.Feed(chunk) }); n != 0 {
		t.Errorf("%v allocations for an event", n)
	}
}

func TestJSONAnswers(t *testing.T) {
	meta := []byte(`{"gateway":{}}`)
	for _, c := range []struct {
		file, shared string
		api          catalog.API
		usage        pricing.Usage
		quality      pricing.Quality
		model, tier  string
	}{
		{"chat-cached.json", "case-05-openai-cached.json", catalog.Chat, pricing.Usage{Input: 204, CacheRead: 4096, Output: 220}, pricing.Authoritative, "barge-7", "default"},
		{"messages-split-writes.json", "case-06-anthropic-1h-write.json", catalog.Messages, pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, pricing.Authoritative, "schooner-1", "standard"},
		{"chat-reasoning.json", "case-37-reasoning.json", catalog.Chat, pricing.Usage{Input: 810, Output: 1400, Reasoning: 1152}, pricing.Authoritative, "barge-7", ""},
		{"chat-cached-above-prompt.json", "case-60-cached-above-prompt.json", catalog.Chat, pricing.Usage{CacheRead: 1000, Output: 10}, pricing.Derived, "barge-7", ""},
		{"", "case-40-iterations.json", catalog.Messages, pricing.Usage{Input: 50, CacheWrite5m: 12000, Output: 400}, pricing.Authoritative, "clipper1", ""},
	} {
		try := func(t *testing.T, name string, body []byte, served string) {
			a := JSONResponse(RelayOptions{API: c.api, Metadata: meta, HideUsage: true}, body)
			if a.Usage != c.usage || a.Quality != c.quality || a.Model != served {
				t.Errorf("%s: %+v %s by %q", name, a.Usage, a.Quality, a.Model)
			}
			i := bytes.LastIndexByte(bytes.TrimRight(body, " \n}"), '}') + 1
			if !bytes.HasPrefix(a.Body, body[:i]) || !bytes.Contains(a.Body, []byte(`,"provider_metadata":{"gateway":{}}`)) || !json.Valid(a.Body) ||
				len(a.Body) != len(body)+len(`,"provider_metadata":{"gateway":{}}`) {
				t.Errorf("%s: %s", name, a.Body)
			}
			if again := JSONResponse(RelayOptions{API: c.api, Metadata: []byte("2")}, a.Body); !bytes.Equal(again.Body, a.Body) {
				t.Errorf("%s: put in twice", name)
			}
			if plain := JSONResponse(RelayOptions{API: c.api}, body); &plain.Body[0] != &body[0] {
				t.Errorf("%s: copied for nothing", name)
			}
		}
		if c.file != "" {
			body := input(t, "responses", c.file)
			try(t, c.file, body, c.model)
			if a := JSONResponse(RelayOptions{API: c.api}, body); a.Tier != c.tier {
				t.Errorf("%s: tier %q", c.file, a.Tier)
			}
		}
		t.Run(c.shared, func(t *testing.T) { try(t, c.shared, sharedInput(t, c.shared), theirModels[c.model]) })
	}
	for _, body := range []string{"", "[]", "null", `{"usage":`, `{} x`, `{"usage":{"prompt_tokens":1}} {}`, "<html>"} {
		if a := JSONResponse(RelayOptions{API: catalog.Chat, Metadata: meta}, []byte(body)); string(a.Body) != body || a.Quality != pricing.Missing {
			t.Errorf("%q became %q, %q", body, a.Body, a.Quality)
		}
	}
	if a := JSONResponse(RelayOptions{API: catalog.Chat, Metadata: meta}, []byte(`{"error":{"message":"x"}}`)); strings.Contains(string(a.Body), "provider") {
		t.Error("an error body gets headers only")
	}
	if a := JSONResponse(RelayOptions{API: catalog.Responses, Metadata: meta}, []byte(`{"error":null,"usage":{"input_tokens":5,"output_tokens":1}}`)); a.Usage.Input != 5 || !strings.HasSuffix(string(a.Body), `,"provider_metadata":{"gateway":{}}}`) {
		t.Errorf("%s", a.Body)
	}
}
