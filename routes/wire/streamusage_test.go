package wire

import (
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// The parts of messages streams that the cases below are put together from.
func messageStart(usage string) string {
	return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"clipper1\",\"usage\":" + usage + "}}\n\n"
}

func messageDelta(usage string) string {
	return "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":" + usage + "}\n\n"
}

const (
	messageText = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
	messageStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	chatDone    = "data: [DONE]\n\n"
)

// Usage stands where each dialect puts it, and is what it was at the end of what came.
func TestUsageOfStreams(t *testing.T) {
	counts := func(prompt, read, output string) string {
		return `{"prompt_tokens":` + prompt + `,"completion_tokens":` + output + `,"prompt_tokens_details":{"cached_tokens":` + read + `}}`
	}
	chunk := func(choices, usage string) string {
		return `data: {"model":"m","choices":` + choices + `,"usage":` + usage + "}\n\n"
	}
	stopped := `[{"index":0,"delta":{},"finish_reason":"stop"}]`
	response := func(name, usage string) string {
		return "event: " + name + "\ndata: {\"type\":\"" + name + "\",\"response\":{\"id\":\"r\",\"model\":\"m\",\"usage\":" + usage + "}}\n\n"
	}
	answered := `{"input_tokens":30,"output_tokens":9,"total_tokens":39,"input_tokens_details":{"cached_tokens":10},"output_tokens_details":{"reasoning_tokens":4}}`
	for _, c := range []struct {
		name, convention string
		api              catalog.API
		stream           string
		want             pricing.Usage
		quality          pricing.Quality
		done, failed     bool
	}{
		{"in a chunk of its own", "", catalog.Chat, said + stops + chunk("[]", counts("30", "10", "9")) + chatDone,
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9}, pricing.Authoritative, true, false},
		{"with the last choice", "zai", catalog.Chat, said + chunk(stopped, counts("30", "10", "9")) + chatDone,
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9}, pricing.Authoritative, true, false},
		{"in every chunk, running totals", "perplexity", catalog.Chat,
			chunk(`[{"index":0,"delta":{}}]`, counts("30", "0", "2")) + chunk(`[{"index":0,"delta":{}}]`, counts("30", "10", "7")) + chunk(stopped, counts("30", "10", "9")) + chatDone,
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9}, pricing.Authoritative, true, false},
		{"Groq's, twice in one chunk", "groq", catalog.Chat,
			said + `data: {"choices":` + stopped + `,"x_groq":{"id":"q","usage":{"prompt_tokens":30,"completion_tokens":9}},"usage":{"prompt_tokens":30,"completion_tokens":9}}` + "\n\n" + chatDone,
			pricing.Usage{Input: 30, Output: 9}, pricing.Authoritative, true, false},
		{"Groq's, in its own place alone", "", catalog.Chat,
			said + `data: {"choices":` + stopped + `,"x_groq":{"id":"q","usage":{"prompt_tokens":30,"completion_tokens":9}}}` + "\n\n" + chatDone,
			pricing.Usage{Input: 30, Output: 9}, pricing.Authoritative, true, false},
		{"Groq's inner models are in it already", "groq", catalog.Chat,
			said + `data: {"choices":` + stopped + `,"x_groq":{"usage":{"prompt_tokens":30,"completion_tokens":9},"usage_breakdown":{"models":[{"usage":{"prompt_tokens":500,"completion_tokens":50}}]}}}` + "\n\n" + chatDone,
			pricing.Usage{Input: 30, Output: 9}, pricing.Authoritative, true, false},
		{"in no chunk", "", catalog.Chat, said + stops + chatDone, pricing.Usage{}, pricing.Missing, true, false},
		{"cut before its chunk", "", catalog.Chat, said, pricing.Usage{}, pricing.Missing, false, false},
		{"cut, running totals", "perplexity", catalog.Chat, chunk(`[{"index":0,"delta":{}}]`, counts("30", "10", "2")), pricing.Usage{Input: 20, CacheRead: 10, Output: 2}, pricing.Partial, false, false},

		{"the beginning and the end", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"output_tokens":1}`) + messageText + messageDelta(`{"output_tokens":9}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 9}, pricing.Authoritative, true, false},
		{"all of it at the end", "", catalog.Messages,
			messageStart(`{"input_tokens":0,"output_tokens":0}`) + messageDelta(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":9}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 9}, pricing.Authoritative, true, false},
		{"zeros and nulls at the end", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":1}`) + messageDelta(`{"input_tokens":0,"cache_creation_input_tokens":null,"cache_read_input_tokens":0,"output_tokens":9}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 9}, pricing.Authoritative, true, false},
		{"totals that grow, the split from the beginning", "", catalog.Messages,
			messageStart(`{"input_tokens":2,"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":0},"output_tokens":1}`) +
				messageDelta(`{"input_tokens":6,"cache_creation_input_tokens":330,"cache_read_input_tokens":62,"output_tokens":19}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 62, CacheWrite5m: 330, Output: 19}, pricing.Authoritative, true, false},
		{"no prompt was ever reported", "", catalog.Messages, messageStart(`{"input_tokens":0,"output_tokens":0}`) + messageDelta(`{"output_tokens":9}`) + messageStop,
			pricing.Usage{Output: 9}, pricing.Partial, true, false},
		{"cut after the prompt", "", catalog.Messages, messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":1}`) + messageText,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 1}, pricing.Partial, false, false},
		{"an error after the prompt", "", catalog.Messages,
			messageStart(`{"input_tokens":900,"output_tokens":1}`) + messageText + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}\n\n",
			pricing.Usage{Input: 900, Output: 1}, pricing.Partial, false, true},

		{"an end that names no output", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":1}`) + messageText + messageDelta(`{"input_tokens":6}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 1}, pricing.Partial, true, false},
		{"an end without usage", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":1}`) + messageText + messageDelta("null") + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 1}, pricing.Partial, true, false},
		{"no end but the stop", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"cache_read_input_tokens":40,"output_tokens":1}`) + messageText + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 1}, pricing.Partial, true, false},
		{"the whole prompt first, what was cached of it at the end", "", catalog.Messages,
			messageStart(`{"input_tokens":46,"output_tokens":0}`) + messageText + messageDelta(`{"input_tokens":6,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"output_tokens":9}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 9}, pricing.Authoritative, true, false},
		{"the same, all of it cached or written", "", catalog.Messages,
			messageStart(`{"input_tokens":46,"output_tokens":0}`) + messageText + messageDelta(`{"input_tokens":0,"cache_read_input_tokens":40,"cache_creation_input_tokens":6,"output_tokens":9}`) + messageStop,
			pricing.Usage{CacheRead: 40, CacheWrite5m: 6, Output: 9}, pricing.Authoritative, true, false},
		{"a zero at the end beside what was read late", "", catalog.Messages,
			messageStart(`{"input_tokens":6,"output_tokens":0}`) + messageText + messageDelta(`{"input_tokens":0,"cache_read_input_tokens":40,"output_tokens":9}`) + messageStop,
			pricing.Usage{Input: 6, CacheRead: 40, Output: 9}, pricing.Authoritative, true, false},
		{"an error after running totals, then the end mark", "perplexity", catalog.Chat,
			chunk(`[{"index":0,"delta":{}}]`, counts("30", "10", "2")) + `data: {"error":{"message":"x","type":"server_error"}}` + "\n\n" + chatDone,
			pricing.Usage{Input: 20, CacheRead: 10, Output: 2}, pricing.Partial, true, true},

		{"a response whose end has no usage", "", catalog.Responses,
			response("response.created", `{"input_tokens":30,"output_tokens":0,"input_tokens_details":{"cached_tokens":10}}`) + response("response.completed", "null"),
			pricing.Usage{Input: 20, CacheRead: 10}, pricing.Partial, true, false},
		{"a response that is complete", "", catalog.Responses, response("response.created", "null") + response("response.completed", answered),
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9, Reasoning: 4}, pricing.Authoritative, true, false},
		{"one that is not, by its own word", "", catalog.Responses, response("response.created", "null") + response("response.incomplete", answered),
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9, Reasoning: 4}, pricing.Authoritative, true, false},
		{"one that failed, and is billed", "", catalog.Responses, response("response.failed", answered),
			pricing.Usage{Input: 20, CacheRead: 10, Output: 9, Reasoning: 4}, pricing.Authoritative, true, true},
		{"one that is cut", "", catalog.Responses, response("response.created", "null"), pricing.Usage{}, pricing.Missing, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, hide := range []bool{false, true} {
				for _, n := range []int{1, 17, len(c.stream)} {
					r := relay(RelayOptions{API: c.api, Usage: catalog.UsageConvention(c.convention, c.api), HideUsage: hide}, []byte(c.stream), n)
					if r.usage != c.want || r.quality != c.quality || r.Done() != c.done || (r.Failed() != nil) != c.failed {
						t.Errorf("in pieces of %d: %+v %q, done %v, failed %v", n, r.usage, r.quality, r.Done(), r.Failed())
					}
					if all := r.Report(); all.Usage != r.usage || all.Quality != r.quality {
						t.Errorf("the report says %+v %q", all.Usage, all.Quality)
					}
				}
			}
		})
	}
}

func TestTheReportOfAStream(t *testing.T) {
	const last = `{"output_tokens":9,"iterations":[{"type":"compaction","input_tokens":70,"output_tokens":8},{"type":"message","input_tokens":6,"output_tokens":9}]}`
	stream := messageStart(`{"input_tokens":6,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"priority","speed":"fast","inference_geo":"us"}`) + messageText + messageDelta(last) + messageStop
	for _, n := range []int{1, 23, len(stream)} {
		r := relay(RelayOptions{API: catalog.Messages}, []byte(stream), n)
		all := r.Report()
		model, tier := r.Served()
		if model != "clipper1" || tier != "priority" || all.Tier != tier || all.Speed != "fast" || all.Region != "us" || all.ReadUnknown {
			t.Errorf("%q %q %+v", model, tier, all)
		}
		if len(all.Sides) != 1 || all.Sides[0].Usage != (pricing.Usage{Input: 70, Output: 8}) || string(all.Raw) != last {
			t.Errorf("sides %+v, kept %s", all.Sides, all.Raw)
		}
	}
	// A stream with an event too long to read has told nothing that can be relied on.
	r := NewRelay(RelayOptions{API: catalog.Messages})
	r.longest = 500
	feed(r, []byte(stream+"data: "+strings.Repeat("x", 600)+"\n\n"), 100)
	if all := r.Report(); all.Quality != pricing.Missing || len(all.Sides) > 0 || all.Raw != nil || all.Tier != "priority" {
		t.Errorf("%+v", all)
	}
}

// Usage in every chunk costs no memory: what is known is not copied again.
func TestAStreamOfRunningTotalsAllocatesNothing(t *testing.T) {
	for _, api := range []catalog.API{catalog.Chat, catalog.Messages} {
		chunk := []byte(`data: {"model":"m","service_tier":"default","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":{"prompt_tokens":30,"completion_tokens":2,"service_tier":"default","prompt_tokens_details":{"cached_tokens":4}},"x_groq":{"usage":{"prompt_tokens":30}}}` + "\n\n")
		if api == catalog.Messages {
			chunk = []byte(messageDelta(`{"input_tokens":30,"output_tokens":2,"service_tier":"standard","speed":"fast"}`))
		}
		r := NewRelay(RelayOptions{API: api})
		r.Feed(chunk)
		if n := testing.AllocsPerRun(100, func() { r.Feed(chunk) }); n != 0 {
			t.Errorf("%s: %v allocations for an event", api, n)
		}
	}
}
