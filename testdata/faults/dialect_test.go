package faults_test

import (
	"fmt"
	"strings"
)

// answerText is what vendors answer with: a canary.
const answerText = "Brambleholt answers that oak floats quillwise"

// dialect is how a client API is spoken.
type dialect struct {
	name, path string
	end        string // what the end of a whole stream has, and a cut one must not
	begun      int    // events after which content has begun
	request    func(stream bool) string
	whole      func(u usage) string
	events     func(u usage) []string
	broken     string // an error event
	failed     string // an error as a whole body
}

var dialects = []dialect{chat, messages, responses}

var chat = dialect{
	name: "chat", path: "/v1/chat/completions", end: "[DONE]", begun: 2,
	request: func(stream bool) string {
		return fmt.Sprintf(`{"model":"sea/charts","stream":%v,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":%q},{"role":"user","content":%q}]}`, stream, promptText, promptText)
	},
	whole: func(u usage) string {
		return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"charts","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":%s}`, answerText, chatUsage(u))
	},
	events: func(u usage) []string {
		piece := func(delta, finish string) string {
			return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"charts","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
		}
		return []string{
			piece(`{"role":"assistant","content":""}`, "null"), piece(fmt.Sprintf(`{"content":%q}`, answerText), "null"), piece("{}", `"stop"`),
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"charts","choices":[],"usage":` + chatUsage(u) + "}\n\n", "data: [DONE]\n\n",
		}
	},
	broken: "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"code\":null}}\n\n",
	failed: `{"error":{"message":"overloaded","type":"server_error","code":null}}`,
}

func chatUsage(u usage) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, u.prompt, u.output, u.prompt+u.output, u.cached)
}

var messages = dialect{
	name: "messages", path: "/v1/messages", end: "message_stop", begun: 3,
	request: func(stream bool) string {
		return fmt.Sprintf(`{"model":"sea/charts","stream":%v,"max_tokens":64,"system":%q,"messages":[{"role":"user","content":%q}]}`, stream, promptText, promptText)
	},
	whole: func(u usage) string {
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"charts","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","stop_sequence":null,"usage":%s}`, answerText, messageUsage(u, u.output))
	},
	events: func(u usage) []string {
		return []string{
			event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"charts","content":[],"stop_reason":null,"stop_sequence":null,"usage":`+messageUsage(u, 1)+`}`),
			event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`),
			event("content_block_delta", fmt.Sprintf(`"index":0,"delta":{"type":"text_delta","text":%q}`, answerText)),
			event("content_block_stop", `"index":0`),
			event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":`+messageUsage(u, u.output)),
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		}
	},
	broken: event("error", `"error":{"type":"overloaded_error","message":"Overloaded"}`),
	failed: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
}

func event(name, members string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, members)
}

func messageUsage(u usage, output int64) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}`, u.prompt-u.cached, u.cached, output)
}

var responses = dialect{
	name: "responses", path: "/v1/responses", end: "response.completed", begun: 2,
	request: func(stream bool) string {
		return fmt.Sprintf(`{"model":"sea/charts","stream":%v,"instructions":%q,"input":%q}`, stream, promptText, promptText)
	},
	whole: func(u usage) string { return response("completed", u) },
	events: func(u usage) []string {
		return []string{
			event("response.created", `"sequence_number":0,"response":`+response("in_progress", u)),
			event("response.output_text.delta", fmt.Sprintf(`"sequence_number":1,"item_id":"item_1","output_index":0,"content_index":0,"delta":%q`, answerText)),
			event("response.completed", `"sequence_number":2,"response":`+response("completed", u)),
		}
	},
	broken: event("error", `"sequence_number":1,"code":"server_error","message":"overloaded","param":null`),
	failed: `{"error":{"message":"overloaded","type":"server_error","code":null}}`,
}

func response(status string, u usage) string {
	output, used := "", "null"
	if status == "completed" {
		output = fmt.Sprintf(`{"id":"item_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%q}]}`, answerText)
		used = fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, u.prompt, u.cached, u.output, u.prompt+u.output)
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":%q,"error":null,"model":"charts","output":[%s],"usage":%s}`, status, output, used)
}

// upTo sends the first events of a stream, chunked.
func (c *call) upTo(d dialect, n int) {
	c.say(head("text/event-stream", chunked))
	for _, e := range d.events(usage{100, 0, 10})[:n] {
		c.chunk(e)
	}
}

// promptText is the prompt: a canary, long enough to be worth a pin.
var promptText = "Quillfeather asks which wood floats. " + strings.Repeat("Tell of the tides. ", 20)
