package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// The parts of chat streams that the cases below are put together from.
const (
	said     = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n"
	saidBare = `data: {"model":"m","choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	saidByGo = `data: {"choices":[{"delta":{"content":"a","tool_calls":[{"index":2}]},"finish_reason":null,"index":0}],"model":"m"}` + "\n\n"
	other    = `data: {"model":"m","choices":[{"index":1,"delta":{"content":"b"},"finish_reason":null}]}` + "\n\n"
	otherPy  = `data: {"model": "m", "choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": null}]}` + "\n\n"
	both     = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}` + "\n\n"
	stops    = `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	stopsToo = `data: {"model":"m","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}` + "\n\n"
	blank    = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}` + "\n\n"
	reports  = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}` + "\n\n"
)

// Some compatible vendors never send [DONE]. Their streams are complete only
// where nothing can be missing.
func TestAChatStreamWithoutItsEndMark(t *testing.T) {
	half := func(event string) string { return event[:len(event)-9] }
	for _, c := range []struct {
		name, stream string
		done         bool
	}{
		{"its choice has ended", said + stops, true},
		{"usage came too", said + stops + reports, true},
		{"usage came, without its blank line", said + stops + strings.TrimSuffix(reports, "\n\n"), true},
		{"half the usage came", said + stops + half(reports), false},
		{"half an event came", said + stops + half(said), false},
		{"half a field's name came", said + stops + "dat", false},
		{"no choice has ended", said + said, false},
		{"an empty finish_reason", blank + blank, false},
		{"an empty finish_reason, then the real one", blank + stops, true},
		{"both choices have ended", said + other + stops + stopsToo, true},
		{"one of two", said + other + stops, false},
		{"one of two, the other begins later", said + stops + other, false},
		{"one of two, the other's first event is cut", said + stops + half(other), false},
		{"one of two, half of the other as an event", said + stops + half(other) + "\n\n", false},
		{"half a chunk as an event", said + stops + half(said) + "\n\n", false},
		{"what is no chunk", said + "data: ping\n\n" + stops, true},
		{"one of two, the other ends last", said + stops + other + stopsToo, true},
		{"one of two, spelled with spaces", said + stops + otherPy, false},
		{"two in a chunk, one has ended", both + both + stops, false},
		{"two in a chunk, both have ended", both + both + stops + stopsToo, true},
		{"no index", saidBare + saidBare + `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\n", true},
		{"the index comes last, tool calls have their own", saidByGo + saidByGo + stops, true},
		{"more choices than can be kept", said + `data: {"choices":[{"index":200}]}` + "\n\n" + stops, false},
		{"an index that is no number", `data: {"choices":[{"index":-1,"finish_reason":"stop"}]}` + "\n\n", false},
		{"an error came", said + stops + `data: {"error":"x"}` + "\n\n", false},
		{"a comment follows", said + stops + ": bye\n\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []RelayOptions{{API: catalog.Chat}, {API: catalog.Chat, HideUsage: true, Metadata: []byte("1")}} {
				for _, n := range []int{1, 7, 100, 10000} {
					r := relay(o, []byte(c.stream), n)
					if r.Done() != c.done {
						t.Errorf("in pieces of %d: done %v", n, r.Done())
					}
					if !c.done && r.Done() != r.Finished() && strings.HasPrefix(c.name, "one of two") && !strings.HasSuffix(c.name, "cut") {
						t.Errorf("finished, though one choice is not")
					}
				}
			}
		})
	}
	// The end mark says that a stream is over, whatever its choices look like.
	if r := relay(RelayOptions{API: catalog.Chat}, []byte(said+other+stops+"data: [DONE]\n\n"), 9); !r.Done() {
		t.Error("[DONE] came")
	}
}

func TestAnEmptyReasonIsNone(t *testing.T) {
	o := RelayOptions{API: catalog.Chat, Metadata: []byte("1")}
	if got, want := relay(o, []byte(blank+blank+stops), 50).out, blank+blank+strings.Replace(stops, "}\n", `,"provider_metadata":1}`+"\n", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	delta := `event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":""},"usage":{"output_tokens":5}}` + "\n\n"
	r := relay(RelayOptions{API: catalog.Messages, Metadata: []byte("1")}, []byte(delta), 50)
	if r.out != delta {
		t.Errorf("metadata in what does not end the answer: %s", r.out)
	}
	if r.Finished() || r.quality.Complete() {
		t.Error("an empty stop_reason is none")
	}
	if r = relay(RelayOptions{API: catalog.Messages}, []byte(strings.Replace(delta, `""`, `"end_turn"`, 1)), 50); !r.Finished() {
		t.Error("the real one ends it")
	}
}

// The last event of a stream may be too long to read. It is over only once that
// event has come to its end.
func TestALastEventThatIsTooLong(t *testing.T) {
	for _, head := range []string{
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"x\":\"",
		"data: {\"type\":\"response.completed\",\"response\":{\"x\":\"",
	} {
		event := head + strings.Repeat("y", 300) + `"}}` + "\n\n"
		for at := len(event) - 10; at <= len(event); at++ {
			for _, n := range []int{1, 50, 1000} {
				r := NewRelay(RelayOptions{API: catalog.Responses})
				r.longest = 200
				got := feed(r, []byte(event[:at]), n)
				if done := at == len(event); got.Done() != done || got.Finished() != done || got.out != event[:at] || got.quality != pricing.Missing {
					t.Errorf("%d of %d in pieces of %d: done %v, %q", at, len(event), n, got.Done(), got.out)
				}
			}
		}
	}
	// In the true size.
	event := "event: response.completed\ndata: {\"x\":\"" + strings.Repeat("y", 17<<20) + "\"}\n\n"
	for _, cut := range []int{1000, 1, 0} {
		if r := relay(RelayOptions{API: catalog.Responses}, []byte(event[:len(event)-cut]), 16<<10); r.Done() != (cut == 0) || len(r.out) != len(event)-cut {
			t.Errorf("%d bytes before its end: done %v, %d bytes", cut, r.Done(), len(r.out))
		}
	}
	for _, name := range []string{"error", "response.failed"} {
		r := NewRelay(RelayOptions{API: catalog.Responses})
		r.longest = 200
		if feed(r, []byte("event: "+name+"\ndata: "+strings.Repeat("y", 300)+"\n\n"), 10); r.Failed() == nil || r.Done() != (name != "error") {
			t.Errorf("%s: failed %v, done %v", name, r.Failed(), r.Done())
		}
	}
	// A chat stream is cut in the middle of what is too long, though it has its finish_reason.
	r := NewRelay(RelayOptions{API: catalog.Chat})
	r.longest = 200
	if feed(r, []byte(said+stops+"data: "+strings.Repeat("y", 300)), 10); r.Done() {
		t.Error("done in the middle of an event")
	}
}

// memory is what a relay holds on to.
func memory(r *Relay) int {
	return cap(r.held) + cap(r.out) + cap(r.joined) + cap(r.pieces)*16 + cap(r.edits)*40
}

func TestALineThatDoesNotEndIsHeldInLittleMemory(t *testing.T) {
	piece := []byte(strings.Repeat("q", 16<<10))
	r := NewRelay(RelayOptions{API: catalog.Chat})
	r.Feed([]byte(`data: {"x":"`))
	most, out := 0, 0
	for range 6 << 20 / len(piece) {
		out += len(r.Feed(piece))
		most = max(most, memory(r))
	}
	if most > 5<<20 {
		t.Errorf("held %d bytes", most)
	}
	if out < 5<<20 || memory(r) > roomy {
		t.Errorf("past the limit %d bytes passed, %d held", out, memory(r))
	}
	// One that ends in time is read, and gives its room back.
	r = NewRelay(RelayOptions{API: catalog.Chat})
	r.Feed([]byte(`data: {"usage":{"prompt_tokens":3,"completion_tokens":4},"x":"`))
	for range 3 << 20 / len(piece) {
		r.Feed(piece)
	}
	r.Feed([]byte("\"}\n\ndata: {"))
	r.Feed([]byte("}"))
	if u, q := r.Usage(); u.Output != 4 || q != pricing.Partial || memory(r) > roomy {
		t.Errorf("%+v %s, %d bytes held", u, q, memory(r))
	}
}

func TestAnEventOfVeryManyLines(t *testing.T) {
	stream := said + strings.Repeat("data:\n", maxLines+1) + "\n" + stops + "data: [DONE]\n\n"
	for _, n := range []int{1000, len(stream)} {
		if r := relay(RelayOptions{API: catalog.Chat}, []byte(stream), n); r.out != stream || !r.Done() || r.quality != pricing.Missing || cap(r.pieces)*16 > 3<<20 {
			t.Errorf("%d bytes of %d, done %v, %s, room for %d lines", len(r.out), len(stream), r.Done(), r.quality, cap(r.pieces))
		}
	}
}

func TestANameWithoutItsDataIsDropped(t *testing.T) {
	stream := "event: message_start\ndata: {\"type\":\"message_start\"}\n\n"
	if r := relay(RelayOptions{API: catalog.Messages}, []byte(stream+"event: message_stop\n"), 5); r.out != stream || r.Done() {
		t.Errorf("%q, done %v", r.out, r.Done())
	}
}

func TestOnlyWhatIsUsageIsHidden(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":3,"completion_tokens":4}`
	for _, c := range []struct{ name, in, want string }{
		{"what every chunk has", `{"id":"x","object":"o","created":1,"model":"m","service_tier":"d","system_fingerprint":"f","choices":[],` + usage + `}`, ``},
		{"and padding", `{"choices":[],` + usage + `,"obfuscation":"xyz"}`, ``},
		{"and what is null", `{"choices":[],` + usage + `,"error":null}`, ``},
		{"citations", `{"choices":[],` + usage + `,"citations":["a"]}`, `{"choices":[],"citations":["a"]}`},
		{"something first", `{"x_groq":{"id":"1"},` + usage + `,"choices":[]}`, `{"x_groq":{"id":"1"},"choices":[]}`},
		{"usage first", `{` + usage + `,"choices":[],"cost":1}`, `{"choices":[],"cost":1}`},
		{"an error", `{"choices":[],` + usage + `,"error":{"message":"x"}}`, `{"choices":[],"error":{"message":"x"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := said
			if c.want != "" {
				want += "data: " + c.want + "\n\n"
			}
			r := relay(RelayOptions{API: catalog.Chat, HideUsage: true}, []byte(said+"data: "+c.in+"\n\n"), 30)
			if r.out != want || r.usage.Output != 4 {
				t.Errorf("got\n%s\nwant\n%s", r.out, want)
			}
		})
	}
}

func TestErrorsThatAreNone(t *testing.T) {
	for _, value := range []string{`""`, `{}`, `{ }`, `null`} {
		stream := fmt.Sprintf(`data: {"model":"m","error":%s,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}`+"\n\n", value) + stops + "data: [DONE]\n\n"
		for _, api := range apis {
			if r := relay(RelayOptions{API: api}, []byte(stream), 20); r.Failed() != nil || api == catalog.Chat && !r.Done() {
				t.Errorf("%s: %s is no error", api, value)
			}
		}
	}
}

func TestErrorEventsThatAreNoJSON(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"data: Overloaded\n", "Overloaded"},
		{"data: \"Over\\u006coaded\"\n", "Overloaded"},
		{"data: {\"error\":\"Overloaded\"}\n", "Overloaded"},
		{"data: {\"error\":{},\"message\":\"Overloaded\"}\n", "Overloaded"},
		{"data: {\"message\":\"Overl\n", `{"message":"Overl`},
		{"data: " + strings.Repeat("é", maxSpoken) + "\n", strings.Repeat("é", maxSpoken/2)},
		{"data:\n", ""},
		{"", ""},
	} {
		for _, api := range apis {
			stream := "event: error\n" + c.data + "\n"
			r := relay(RelayOptions{API: api}, []byte(stream), 4)
			if f := r.Failed(); f == nil || f.Message != c.want || !r.Began() || r.Done() || r.out != stream {
				t.Errorf("%s: %q is %+v, began %v", api, stream[:min(len(stream), 60)], f, r.Began())
			}
		}
	}
}
