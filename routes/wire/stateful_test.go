package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

func sealedAs(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// shown is content as a test names it.
func shown(all []engine.Stateful) string {
	var parts []string
	for _, c := range all {
		id := c.ID
		for _, text := range []string{"c2ln", "c2lnMg==", "ZW5j", "ZW5jMg==", "cmVk"} {
			if id == sealedAs(text) {
				id = text
			}
		}
		parts = append(parts, string(c.Kind)+" "+id)
	}
	return strings.Join(parts, ", ")
}

func TestStatefulContentOfRequests(t *testing.T) {
	user := func(parts string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + parts + `]}]}`
	}
	said := func(parts string) string {
		return `{"model":"m","messages":[{"role":"assistant","content":[` + parts + `]},{"role":"user","content":"go on"}]}`
	}
	input := func(items string) string { return `{"model":"m","input":[` + items + `]}` }
	for name, c := range map[string]struct {
		api        catalog.API
		body, want string
	}{
		"nothing":                 {catalog.Chat, user(`{"type":"text","text":"file_id"}`), ""},
		"the last signature":      {catalog.Messages, said(`{"type":"thinking","thinking":"a","signature":"c2ln"},{"type":"text","text":"b"},{"signature":"c2lnMg==","thinking":"","type":"thinking"}`), "signed_thinking c2lnMg=="},
		"redacted thinking":       {catalog.Messages, said(`{"type":"thinking","thinking":"a","signature":"c2ln"},{"type":"redacted_thinking","data":"cmVk"}`), "signed_thinking cmVk"},
		"an empty signature":      {catalog.Messages, said(`{"type":"thinking","thinking":"a","signature":""}`), ""},
		"a signature of no block": {catalog.Messages, said(`{"type":"text","text":"a","signature":"c2ln"}`), ""},
		"a signature in a tool's input": {catalog.Messages,
			said(`{"type":"tool_use","id":"t","name":"n","input":{"type":"thinking","signature":"c2ln","file":{"file_id":"f"}}}`), ""},
		"a schema that knows of files": {catalog.Messages,
			`{"model":"m","tools":[{"name":"n","input_schema":{"default":{"type":"file","file_id":"f"}}}],"messages":[{"role":"user","content":"a"}]}`, ""},
		"the last encrypted reasoning": {catalog.Responses,
			input(`{"type":"reasoning","encrypted_content":"ZW5j","summary":[]},{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}],"encrypted_content":"ZW5jMg=="},{"role":"user","content":"a"}`), "encrypted_reasoning ZW5jMg=="},
		"reasoning without its seal":  {catalog.Responses, input(`{"type":"reasoning","summary":[],"encrypted_content":null}`), ""},
		"a compacted conversation":    {catalog.Responses, input(`{"type":"compaction","encrypted_content":"ZW5j"}`), "encrypted_reasoning ZW5j"},
		"a search result's own seal":  {catalog.Messages, user(`{"type":"web_search_tool_result","content":[{"type":"web_search_result","encrypted_content":"ZW5j"}]}`), ""},
		"reasoning details of a chat": {catalog.Chat, `{"model":"m","messages":[{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.text","text":"x","signature":"c2ln"},{"type":"reasoning.encrypted","data":"ZW5j"}]},{"role":"user","content":"b"}]}`, "encrypted_reasoning ZW5j, signed_thinking c2ln"},
		"files of a chat":             {catalog.Chat, user(`{"type":"file","file":{"file_id":"file-1"}},{"type":"file","file":{"file_id":"file-2"}},{"type":"file","file":{"file_id":"file-1"}}`), "file_id file-1, file_id file-2"},
		"a chat's file that is there": {catalog.Chat, user(`{"type":"file","file":{"filename":"a.pdf","file_data":"data:x"}}`), ""},
		"files of responses":          {catalog.Responses, input(`{"role":"user","content":[{"type":"input_file","file_id":"file-1"},{"type":"input_image","file_id":"file-2"}]}`), "file_id file-1, file_id file-2"},
		"a citation is no file":       {catalog.Responses, input(`{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{"type":"file_citation","file_id":"file-1"}]}]}`), ""},
		"files of messages":           {catalog.Messages, user(`{"type":"document","source":{"type":"file","file_id":"file_1"}},{"type":"container_upload","file_id":"file_2"}`), "file_id file_1, file_id file_2"},
		"no more than four": {catalog.Responses,
			input(`{"role":"user","content":[{"type":"input_file","file_id":"1"},{"type":"input_file","file_id":"2"},{"type":"input_file","file_id":"3"},{"type":"input_file","file_id":"4"},{"type":"input_file","file_id":"5"}]}`),
			"file_id 1, file_id 2, file_id 3, file_id 4"},
		"a container by its id":     {catalog.Messages, `{"model":"m","container":"container_1","messages":[{"role":"user","content":"a"}]}`, "container container_1"},
		"a container as an object":  {catalog.Messages, `{"model":"m","container":{"id":"container_1","skills":[]},"messages":[{"role":"user","content":"a"}]}`, "container container_1"},
		"a container without an id": {catalog.Messages, `{"model":"m","container":{"skills":[]},"messages":[{"role":"user","content":"a"}]}`, ""},
		"a container of a call":     {catalog.Responses, input(`{"type":"code_interpreter_call","container_id":"cntr_1","code":"x"}`), "container cntr_1"},
		"a container of a tool":     {catalog.Responses, `{"model":"m","tools":[{"type":"code_interpreter","container":"cntr_1"}],"input":"a"}`, "container cntr_1"},
		"a conversation":            {catalog.Responses, `{"model":"m","conversation":"conv_1","input":"a"}`, "conversation conv_1"},
		"a conversation's object":   {catalog.Responses, `{"model":"m","conversation":{"id":"conv_1"},"input":"a"}`, "conversation conv_1"},
		"none on the API chat":      {catalog.Chat, `{"model":"m","conversation":"conv_1","container":"c","messages":[{"role":"user","content":"a"}]}`, ""},
	} {
		r, err := ReadRequest(c.api, []byte(c.body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := shown(r.Facts().Stateful); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What an answer holds is known by the hash of what the next request repeats, however
// the answer comes.
func TestStatefulContentOfAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		api          catalog.API
		stream       bool
		answer, want string
	}{
		"thinking": {catalog.Messages, false, `{"type":"message","content":[{"type":"thinking","thinking":"a","signature":"c2ln"},{"type":"text","text":"b"}],"container":{"id":"container_1"}}`,
			"signed_thinking c2ln, container container_1"},
		"streamed thinking": {catalog.Messages, true, event2("message_start", `{"type":"message_start","message":{"id":"m","content":[]}}`) +
			event2("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`) +
			event2("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\"signature\" is c2ln"}}`) +
			event2("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnM"}}`) +
			event2("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"g=="}}`) +
			event2("content_block_stop", `{"type":"content_block_stop","index":0}`) +
			event2("content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`) +
			event2("content_block_stop", `{"type":"content_block_stop","index":1}`) +
			event2("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","container":{"id":"container_1","expires_at":"x"}}}`), "signed_thinking c2lnMg==, container container_1"},
		"streamed redacted thinking": {catalog.Messages, true, event2("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"cmVk"}}`) +
			event2("content_block_stop", `{"type":"content_block_stop","index":0}`), "signed_thinking cmVk"},
		"reasoning": {catalog.Responses, false, `{"id":"resp_1","object":"response","output":[{"type":"reasoning","encrypted_content":"ZW5j","summary":[]},{"type":"message","content":[]}]}`, "encrypted_reasoning ZW5j"},
		"streamed reasoning": {catalog.Responses, true, event2("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[],"encrypted_content":"ZW5j"}}`) +
			event2("response.output_item.done", `{"type":"response.output_item.done","output_index":1,"item":{"type":"code_interpreter_call","container_id":"cntr_1"}}`), "encrypted_reasoning ZW5j, container cntr_1"},
		"reasoning at the end only": {catalog.Responses, true, event2("response.completed", `{"type":"response.completed","response":{"id":"resp_1","output":[{"type":"reasoning","encrypted_content":"ZW5j"}]}}`), "encrypted_reasoning ZW5j"},
		"a chat's details":          {catalog.Chat, false, `{"choices":[{"message":{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j"}]}}]}`, "encrypted_reasoning ZW5j"},
		"a chat's streamed details": {catalog.Chat, true, `data: {"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln"}]}}]}` + "\n\n", "signed_thinking c2ln"},
		"words about it":            {catalog.Chat, false, `{"choices":[{"message":{"role":"assistant","content":"\"signature\": \"c2ln\""}}]}`, ""},
	} {
		if !c.stream {
			if got := shown(JSONResponse(RelayOptions{API: c.api}, []byte(c.answer)).Made); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			continue
		}
		for cut := 1; cut <= len(c.answer); cut += 1 + cut/7 {
			r := NewRelay(RelayOptions{API: c.api})
			for piece := range slices.Chunk([]byte(c.answer), cut) {
				r.Feed(piece)
			}
			if got := shown(r.Made()); got != c.want {
				t.Fatalf("%s, in pieces of %d: %q, want %q", name, cut, got, c.want)
			}
		}
	}
}

func event2(name, data string) string { return fmt.Sprintf("event: %s\ndata: %s\n\n", name, data) }

// Whatever a body holds, what is read of it is bounded and stands in it.
func FuzzStateful(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":[{"type":"reasoning","encrypted_content":"ZW5j"},{"type":"input_file","file_id":"f"}],"conversation":{"id":"c"}}`))
	f.Add([]byte(`{"model":"m","messages":[{"content":[{"type":"file","file":{"file_id":"f"}},{"type":"redacted_thinking","data":"x"}]}],"container":"c"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, api := range []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages} {
			r, err := ReadRequest(api, body)
			if err != nil {
				continue
			}
			all := r.Facts().Stateful
			if len(all) > engine.MaxStateful {
				t.Fatalf("%d pieces", len(all))
			}
			for i, c := range all {
				if c.ID == "" || slices.Contains(all[:i], c) && c.Kind == engine.KindFile && !strings.Contains(string(body), `\`) {
					t.Errorf("%+v", all)
				}
			}
		}
		relay := NewRelay(RelayOptions{API: catalog.Messages})
		relay.Feed(body)
		JSONResponse(RelayOptions{API: catalog.Responses}, body)
	})
}
