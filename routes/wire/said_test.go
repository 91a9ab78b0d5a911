package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// spoken is an assistant turn as a model makes it, before any dialect has it.
type spokenTurn struct {
	texts     []string // one for each block
	calls     []string // ids
	reasoning string
}

// sayings are pieces of text that are easily read two ways.
var sayings = []string{"plane", "\r\n", "\r", "\n", "浪が", "🚢", " ", `"`, `\`, "é", "\t", "<b>"}

func randomTurn(rng *rand.Rand) (turn spokenTurn) {
	for range rng.IntN(3) {
		var text strings.Builder
		for range rng.IntN(9) {
			text.WriteString(sayings[rng.IntN(len(sayings))])
		}
		turn.texts = append(turn.texts, text.String())
	}
	for i := range rng.IntN(3) {
		turn.calls = append(turn.calls, fmt.Sprintf("call_%d_%d", i, rng.IntN(1e6)))
	}
	if rng.IntN(2) == 0 {
		turn.reasoning = "first the hull"
	}
	return turn
}

// want is what the turn must be taken for, by hashing it whole.
func (turn *spokenTurn) want() engine.Said {
	var h engine.Hearing
	h.Text([]byte(strings.Join(turn.texts, "")))
	for _, id := range turn.calls {
		h.Call([]byte(id))
	}
	return h.Said()
}

type made = map[string]any

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// cuts are the pieces of a text as a model would stream it; characters stay whole.
func cuts(rng *rand.Rand, text string) (pieces []string) {
	for runes := []rune(text); len(runes) > 0; {
		n := 1 + rng.IntN(len(runes))
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return pieces
}

// dialect is how a turn is said, streamed and repeated in an API.
type dialect struct {
	api    catalog.API
	answer func(spokenTurn) any
	events func(*rand.Rand, spokenTurn) []any
	repeat func(spokenTurn) any // the body of a request that goes on from it
}

func chatCalls(turn spokenTurn) (calls []any) {
	for _, id := range turn.calls {
		calls = append(calls, made{"id": id, "type": "function", "function": made{"name": "look", "arguments": `{"id":"x"}`}})
	}
	return calls
}

func chatMessage(turn spokenTurn) made {
	m := made{"role": "assistant", "content": nil}
	if len(turn.texts) > 0 {
		m["content"] = strings.Join(turn.texts, "")
	}
	if len(turn.calls) > 0 {
		m["tool_calls"] = chatCalls(turn)
	}
	return m
}

func messageBlocks(turn spokenTurn) []any {
	blocks := []any{}
	if turn.reasoning != "" {
		blocks = append(blocks, made{"type": "thinking", "thinking": turn.reasoning, "signature": "c2ln"})
	}
	for _, text := range turn.texts {
		blocks = append(blocks, made{"type": "text", "text": text})
	}
	for _, id := range turn.calls {
		blocks = append(blocks, made{"type": "tool_use", "id": id, "name": "look", "input": made{"id": "x", "text": "y"}})
	}
	return blocks
}

func responseItems(turn spokenTurn) []any {
	items := []any{}
	if turn.reasoning != "" {
		items = append(items, made{"type": "reasoning", "id": "rs_1", "summary": []any{made{"type": "summary_text", "text": turn.reasoning}}})
	}
	if len(turn.texts) > 0 {
		parts := []any{}
		for _, text := range turn.texts {
			parts = append(parts, made{"type": "output_text", "text": text, "annotations": []any{}})
		}
		items = append(items, made{"type": "message", "id": "msg_1", "role": "assistant", "content": parts})
	}
	for i, id := range turn.calls {
		kind := []string{"function_call", "custom_tool_call"}[i%2]
		items = append(items, made{"type": kind, "id": fmt.Sprintf("fc_%d", i), "call_id": id, "name": "look", "arguments": "{}"})
	}
	return items
}

var dialects = []dialect{
	{
		api: catalog.Chat,
		answer: func(turn spokenTurn) any {
			m := chatMessage(turn)
			m["reasoning_content"] = turn.reasoning
			return made{"id": "c", "object": "chat.completion", "model": "m", "choices": []any{made{"index": 0, "finish_reason": "stop", "message": m}}}
		},
		events: func(rng *rand.Rand, turn spokenTurn) (events []any) {
			chunk := func(delta made, finish any) {
				events = append(events, made{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": []any{made{"index": 0, "delta": delta, "finish_reason": finish}}})
			}
			chunk(made{"role": "assistant", "content": ""}, nil)
			if turn.reasoning != "" {
				chunk(made{"reasoning_content": turn.reasoning}, nil)
			}
			for _, piece := range cuts(rng, strings.Join(turn.texts, "")) {
				chunk(made{"content": piece}, nil)
			}
			for i, id := range turn.calls {
				chunk(made{"tool_calls": []any{made{"index": i, "id": id, "type": "function", "function": made{"name": "look", "arguments": ""}}}}, nil)
				chunk(made{"tool_calls": []any{made{"index": i, "function": made{"arguments": "{}"}}}}, nil)
			}
			chunk(made{}, "stop")
			return events
		},
		repeat: func(turn spokenTurn) any {
			messages := []any{made{"role": "user", "content": "look"}, made{"role": "assistant", "content": "earlier"}, made{"role": "user", "content": "more"}, chatMessage(turn)}
			for _, id := range turn.calls {
				messages = append(messages, made{"role": "tool", "tool_call_id": id, "content": "seen"})
			}
			return made{"model": "m", "messages": append(messages, made{"role": "user", "content": "go on"})}
		},
	},
	{
		api: catalog.Messages,
		answer: func(turn spokenTurn) any {
			return made{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": messageBlocks(turn), "stop_reason": "end_turn"}
		},
		events: func(rng *rand.Rand, turn spokenTurn) (events []any) {
			events = append(events, made{"type": "message_start", "message": made{"id": "msg", "model": "m", "content": []any{}}})
			for i, b := range messageBlocks(turn) {
				block := b.(made)
				start := made{}
				for k, v := range block {
					start[k] = v
				}
				var deltas []any
				switch block["type"] {
				case "text":
					start["text"] = ""
					for _, piece := range cuts(rng, block["text"].(string)) {
						deltas = append(deltas, made{"type": "text_delta", "text": piece})
					}
				case "thinking":
					start["thinking"] = ""
					deltas = append(deltas, made{"type": "thinking_delta", "thinking": block["thinking"]}, made{"type": "signature_delta", "signature": "c2ln"})
				default:
					start["input"] = made{}
					deltas = append(deltas, made{"type": "input_json_delta", "partial_json": `{"text":"y"}`})
				}
				events = append(events, made{"type": "content_block_start", "index": i, "content_block": start})
				for _, d := range deltas {
					events = append(events, made{"type": "content_block_delta", "index": i, "delta": d})
				}
				events = append(events, made{"type": "content_block_stop", "index": i})
			}
			return append(events, made{"type": "message_delta", "delta": made{"stop_reason": "end_turn"}}, made{"type": "message_stop"})
		},
		repeat: func(turn spokenTurn) any {
			messages := []any{made{"role": "user", "content": "look"}, made{"role": "assistant", "content": messageBlocks(turn)}}
			results := []any{made{"type": "text", "text": "go on"}}
			for _, id := range turn.calls {
				results = append(results, made{"type": "tool_result", "tool_use_id": id, "content": "seen"})
			}
			return made{"model": "m", "max_tokens": 9, "messages": append(messages, made{"role": "user", "content": results})}
		},
	},
	{
		api: catalog.Responses,
		answer: func(turn spokenTurn) any {
			return made{"id": "resp_1", "object": "response", "status": "completed", "model": "m", "error": nil, "output": responseItems(turn)}
		},
		events: func(rng *rand.Rand, turn spokenTurn) (events []any) {
			events = append(events, made{"type": "response.created", "response": made{"id": "resp_1", "output": []any{}}})
			for i, it := range responseItems(turn) {
				item := it.(made)
				if item["type"] == "message" {
					for _, part := range item["content"].([]any) {
						for _, piece := range cuts(rng, part.(made)["text"].(string)) {
							events = append(events, made{"type": "response.output_text.delta", "output_index": i, "delta": piece})
						}
					}
				}
				events = append(events, made{"type": "response.output_item.done", "output_index": i, "item": item})
			}
			end := made{"id": "resp_1", "status": "completed", "output": responseItems(turn)}
			if rng.IntN(2) == 0 {
				end["output"] = []any{} // some vendors do not repeat it
			}
			return append(events, made{"type": "response.completed", "response": end})
		},
		repeat: func(turn spokenTurn) any {
			input := []any{made{"role": "user", "content": "look"}, made{"role": "assistant", "content": "earlier"}, made{"type": "message", "role": "user", "content": []any{made{"type": "input_text", "text": "more"}}}}
			input = append(input, responseItems(turn)...)
			for i, id := range turn.calls {
				kind := []string{"function_call_output", "custom_tool_call_output"}[i%2]
				input = append(input, made{"type": kind, "call_id": id, "output": "seen"})
			}
			return made{"model": "m", "input": append(input, made{"role": "user", "content": "go on"})}
		},
	},
}

// streamOf is the events as a vendor sends them.
func streamOf(api catalog.API, events []any) []byte {
	var b []byte
	for _, e := range events {
		data := encoded(e)
		if name, ok := e.(made)["type"].(string); ok && api != catalog.Chat {
			b = fmt.Appendf(b, "event: %s\n", name)
		}
		b = fmt.Appendf(b, "data: %s\n\n", data)
	}
	if api == catalog.Chat {
		b = append(b, "data: [DONE]\n\n"...)
	}
	return b
}

// hears relays a stream in pieces and is what was said.
func hears(api catalog.API, stream []byte, next func(left int) int) engine.Said {
	r := NewRelay(RelayOptions{API: api, Hears: true})
	for len(stream) > 0 {
		n := next(len(stream))
		r.Feed(stream[:n])
		stream = stream[n:]
	}
	r.Finish()
	return r.Said()
}

// What is served is what the next request repeats, in every dialect, whole and
// streamed, however the network cuts it.
func TestWhatIsServedIsWhatIsRepeated(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 7))
	for range 3000 {
		turn := randomTurn(rng)
		want := turn.want()
		for _, d := range dialects {
			say := func(where string, got engine.Said) {
				if got != want {
					t.Fatalf("seed %d, %s, %s: %+v is heard as %+v, not %+v", seed, d.api, where, turn, got, want)
				}
			}
			answer := JSONResponse(RelayOptions{API: d.api, Hears: true}, encoded(d.answer(turn)))
			say("whole", answer.Said)
			if other := JSONResponse(RelayOptions{API: d.api}, encoded(d.answer(turn))); other.Said != (engine.Said{}) {
				t.Fatal("heard without being asked to")
			}
			stream := streamOf(d.api, d.events(rng, turn))
			say("streamed", hears(d.api, stream, func(left int) int { return left }))
			say("streamed in pieces", hears(d.api, stream, func(left int) int { return 1 + rng.IntN(min(left, 40)) }))
			if rng.IntN(10) == 0 {
				say("streamed byte by byte", hears(d.api, stream, func(int) int { return 1 }))
			}
			facts := read(t, d.api, encoded(d.repeat(turn))).Facts()
			if facts.Last == nil {
				if len(turn.texts)+len(turn.calls) > 0 || d.api != catalog.Responses {
					t.Fatalf("%s: the last turn is not found", d.api)
				}
				continue
			}
			if got := facts.Last(); got != want && !(d.api == catalog.Responses && len(turn.texts)+len(turn.calls) == 0) {
				say("repeated", got)
			}
		}
	}
}

func TestTheLastTurnIsTheLastOfTheAssistant(t *testing.T) {
	text := func(s string, calls ...string) engine.Said {
		turn := spokenTurn{texts: []string{s}, calls: calls}
		return turn.want()
	}
	for _, c := range []struct {
		name string
		api  catalog.API
		body string
		want engine.Said
	}{
		{"parts of a chat message", catalog.Chat, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"x"},{"type":"text","text":"b"}]}]}`, text("ab")},
		{"content twice: the last counts, as clients read it", catalog.Chat, `{"model":"m","messages":[{"role":"assistant","content":"x","content":"b"}]}`, text("b")},
		{"no text at all", catalog.Chat, `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]}]}`, text("", "c1")},
		{"a marker on it", catalog.Messages, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}`, text("a")},
		{"a vendor's own tool", catalog.Messages, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s1"},{"type":"text","text":"a"},{"type":"tool_use","id":"t1"}]}]}`, text("a", "t1")},
		{"items that follow each other", catalog.Responses, `{"model":"m","input":[{"type":"function_call","call_id":"old"},{"type":"function_call_output","call_id":"old"},{"type":"reasoning"},{"role":"assistant","content":"a"},{"type":"function_call","call_id":"c1"},{"type":"custom_tool_call","call_id":"c2"},{"type":"function_call_output","call_id":"c1"},{"type":"custom_tool_call_output","call_id":"c2"}]}`, text("a", "c1", "c2")},
		{"a tool that ran at the vendor", catalog.Responses, `{"model":"m","input":[{"type":"web_search_call","id":"ws"},{"role":"assistant","content":[{"type":"output_text","text":"a"}]},{"role":"user","content":"b"}]}`, text("a")},
		{"an item that is no object", catalog.Responses, `{"model":"m","input":[{"role":"assistant","content":"a"},"b",5]}`, text("a")},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := read(t, c.api, []byte(c.body)).Facts()
			if f.Last == nil {
				t.Fatal("there is none")
			}
			if got := f.Last(); got != c.want {
				t.Errorf("%+v, not %+v", got, c.want)
			}
		})
	}
	for _, body := range []string{`{"model":"m","messages":[{"role":"user","content":"a"}]}`, `{"model":"m","messages":"a"}`} {
		if f := read(t, catalog.Chat, []byte(body)).Facts(); f.Last != nil {
			t.Errorf("%s: a last turn", body)
		}
	}
}

// What did not come to its end, failed or was too long to read says nothing.
func TestHalfAnAnswerSaysNothing(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		api          catalog.API
	}{
		{"cut", `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n", catalog.Chat},
		{"failed", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", catalog.Messages},
	} {
		if got := hears(c.api, []byte(c.stream), func(n int) int { return n }); got != (engine.Said{}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	failed := JSONResponse(RelayOptions{API: catalog.Responses, Hears: true}, []byte(`{"status":"failed","error":{"code":"server_error"},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}]}`))
	if failed.Said != (engine.Said{}) {
		t.Errorf("failed: %+v", failed.Said)
	}
}

// Of several choices the first is the one that is kept.
func TestTheFirstChoiceIsHeard(t *testing.T) {
	stream := `data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	want := (&spokenTurn{texts: []string{"a"}}).want()
	if got := hears(catalog.Chat, []byte(stream), func(n int) int { return n }); got != want {
		t.Errorf("%+v", got)
	}
	whole := JSONResponse(RelayOptions{Hears: true}, []byte(`{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]}`))
	if whole.Said != want {
		t.Errorf("%+v", whole.Said)
	}
}

// FuzzSaid: wherever a stream is cut, the same is heard, and no body breaks a reader.
func FuzzSaid(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, d := range dialects {
		turn := randomTurn(rng)
		f.Add(uint8(i), string(streamOf(d.api, d.events(rng, turn))), 7)
		f.Add(uint8(i), string(encoded(d.answer(turn))), 3)
		f.Add(uint8(i), string(encoded(d.repeat(turn))), 3)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string, step int) {
		api := dialects[int(which)%len(dialects)].api
		step = max(1, step&1023)
		whole := hears(api, []byte(text), func(left int) int { return left })
		if pieces := hears(api, []byte(text), func(left int) int { return min(left, step) }); pieces != whole {
			t.Errorf("cut every %d bytes: %+v, whole: %+v", step, pieces, whole)
		}
		JSONResponse(RelayOptions{API: api, Hears: true}, []byte(text))
		if r, err := ReadRequest(api, []byte(text)); err == nil {
			if last := r.Facts().Last; last != nil {
				last()
			}
		}
	})
}
