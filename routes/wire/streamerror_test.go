package wire

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestAnswersThatAreErrors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       *StreamError
	}{
		{"OpenAI's", `{"error":{"message":"the saw broke","type":"server_error","param":null,"code":"saw_broke"}}`, &StreamError{"server_error", "saw_broke", "the saw broke"}},
		{"not the first member", ` {"id":"x","error":{"message":"the saw broke","type":"server_error"}}`, &StreamError{"server_error", "", "the saw broke"}},
		{"a code that is a number", `{"error":{"message":"full","code":429}}`, &StreamError{"429", "429", "full"}},
		{"a text", `{"error":"the saw broke"}`, &StreamError{"", "", "the saw broke"}},
		{"Anthropic's", `{"type":"error","error":{"type":"overloaded_error","message":"full"},"request_id":"r"}`, &StreamError{"overloaded_error", "", "full"}},
		{"Anthropic's, flat", `{"type":"error","message":"full"}`, &StreamError{"error", "", "full"}},
		{"an object of its own", `{"object":"error","message":"too long","type":"BadRequestError","code":400}`, &StreamError{"BadRequestError", "400", "too long"}},
		{"spelled with escapes", `{"\u0065rror":{"message":"f\u0075ll"}}`, &StreamError{"", "", "full"}},
		{"null", `{"error":null,"choices":[]}`, nil},
		{"an empty text", `{"error":"","choices":[]}`, nil},
		{"an empty object", `{"error":{ },"choices":[]}`, nil},
		{"a number", `{"error":0}`, nil},
		{"deeper", `{"choices":[{"error":{"message":"x"}}]}`, nil},
		{"an answer", `{"type":"message","object":"chat.completion"}`, nil},
		{"half a body", `{"error":{"message":"x"}`, nil},
		{"a list", `[{"error":"x"}]`, nil},
		{"null alone", `null`, nil},
		{"nothing", ``, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := JSONResponse(RelayOptions{API: catalog.Chat}, []byte(c.body)).Error
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTheEndMarkWithoutItsBlankLine(t *testing.T) {
	text := `data: {"choices":[{"delta":{"content":"write data: [DONE]`
	for _, c := range []struct {
		name, stream string
		api          catalog.API
		want         bool
	}{
		{"no line end", "data: {}\n\ndata: [DONE]", catalog.Chat, true},
		{"a line end", "data: {}\n\ndata: [DONE]\n", catalog.Chat, true},
		{"a line end of Windows", "data: {}\r\n\r\ndata:[DONE]\r\n", catalog.Chat, true},
		{"after a comment", "data: {}\n\n: x\ndata: [DONE]", catalog.Chat, true},
		{"with its blank line", "data: {}\n\ndata: [DONE]\n\n", catalog.Chat, false},
		{"not whole", "data: {}\n\ndata: [DONE", catalog.Chat, false},
		{"inside a text", text, catalog.Chat, false},
		{"one line of several", "data: {}\n\ndata: {\ndata: [DONE]\n", catalog.Chat, false},
		{"in a comment", ": data: [DONE]", catalog.Chat, false},
		{"another dialect", "data: [DONE]", catalog.Messages, false},
		{"nothing", "", catalog.Chat, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := 1; n <= max(1, len(c.stream)); n++ {
				r := NewRelay(RelayOptions{API: c.api})
				for rest := c.stream; rest != ""; {
					k := min(n, len(rest))
					r.Feed([]byte(rest[:k]))
					rest = rest[k:]
				}
				if r.Ending() != c.want || r.Done() != (c.name == "with its blank line") {
					t.Errorf("in pieces of %d: ending %v, done %v", n, r.Ending(), r.Done())
				}
			}
		})
	}
	// The line goes on after a pause: it was no end mark.
	r := NewRelay(RelayOptions{API: catalog.Chat})
	r.Feed([]byte("data: [DONE]"))
	r.Feed([]byte(" is what I wrote\n"))
	if r.Ending() {
		t.Error("the line went on")
	}
}
