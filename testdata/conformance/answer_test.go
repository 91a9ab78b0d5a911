package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   []byte
	broken bool   // the body ended before it was over
	asked  []byte // the client's body
	hits   []hit  // the attempts that were made for it
	docs   []any  // the JSON of the body: one document, or those of a stream's events
}

// routing is where the body tells what affinity did.
const routing = "provider_metadata.gateway.routing."

// read decodes the body. A stream of the API responses carries its response inside
// events, one level down.
func (a *answer) read() {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		var doc any
		if json.Unmarshal(a.body, &doc) == nil {
			a.docs = append(a.docs, doc)
		}
		return
	}
	for _, line := range bytes.Split(a.body, []byte("\n")) {
		data, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\r")), []byte("data:"))
		var doc any
		if !ok || json.Unmarshal(bytes.TrimSpace(data), &doc) != nil {
			continue
		}
		a.docs = append(a.docs, doc)
		if inner, ok := at(doc, "response"); ok {
			a.docs = append(a.docs, inner)
		}
		if inner, ok := at(doc, "message"); ok {
			a.docs = append(a.docs, inner)
		}
	}
}

// at finds what is at a dotted path; numbers count the items of a list from 0.
func at(doc any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			inner, ok := v[name]
			if !ok {
				return nil, false
			}
			doc = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// find is what the last document of the body that has it has at a path.
func (a *answer) find(path string) (any, bool) {
	for i := len(a.docs) - 1; i >= 0; i-- {
		if v, ok := at(a.docs[i], path); ok && v != nil {
			return v, true
		}
	}
	return nil, false
}

// text is the string at a path, empty where there is none.
func (a *answer) text(path string) string {
	v, _ := a.find(path)
	s, _ := v.(string)
	return s
}

// said is the assistant's text of the answer, in any of the dialects.
func (a *answer) said() string {
	for _, path := range []string{"choices.0.message.content", "content.0.text", "output.0.content.0.text"} {
		if s := a.text(path); s != "" {
			return s
		}
	}
	var b strings.Builder
	for _, doc := range a.docs {
		for _, path := range []string{"choices.0.delta.content", "delta.text", "delta"} {
			if v, ok := at(doc, path); ok {
				if s, isText := v.(string); isText {
					b.WriteString(s)
					break
				}
			}
		}
	}
	return b.String()
}

// blocks are what the answer holds, as its client sends it back: the content of a
// message, or the output of a response. That of a stream is put together, with its
// members in the order of their names.
func (a *answer) blocks() (list [][]byte) {
	for _, name := range []string{"content", "output"} {
		var whole map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(a.body, &whole) == nil && json.Unmarshal(whole[name], &items) == nil && len(items) > 0 {
			for _, item := range items {
				list = append(list, item)
			}
			return list
		}
	}
	if items, ok := a.find("output"); ok {
		for _, item := range items.([]any) {
			list = append(list, encoded(item))
		}
		return list
	}
	var open map[string]any
	for _, doc := range a.docs {
		if block, ok := at(doc, "content_block"); ok {
			open, _ = block.(map[string]any)
			list = append(list, nil)
		}
		delta, ok := at(doc, "delta")
		part, isDelta := delta.(map[string]any)
		if !ok || !isDelta || open == nil {
			continue
		}
		for name, value := range part {
			text, isText := value.(string)
			if before, _ := open[name].(string); isText && name != "type" && name != "stop_reason" {
				open[name] = before + text
			}
		}
		list[len(list)-1] = encoded(open)
	}
	return list
}

func encoded(v any) []byte {
	text, _ := json.Marshal(v) // it was decoded from JSON
	return text
}
