package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const (
	hourMember = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	hourValue  = `{"type":"ephemeral","ttl":"1h"}`
	listBegins = `[{"type":"text","text":`
)

// onlyMarked walks two bodies side by side and says how many markers the second has
// more, and where they differ in anything else: byte by byte, what may be added is a
// marker behind a member, a marker in the place of null, and the list around a text.
func onlyMarked(body, marked []byte) (markers int, ok bool) {
	i, j, lists := 0, 0, 0
	for j < len(marked) {
		rest := marked[j:]
		switch {
		case bytes.HasPrefix(rest, []byte(hourMember)) && !bytes.HasPrefix(body[i:], []byte(`,"cache_control":null`)):
			j += len(hourMember)
			markers++
			if lists > 0 && bytes.HasPrefix(marked[j:], []byte(`}]`)) {
				lists--
				j += len(`}]`)
			}
		case i < len(body) && body[i] == '"' && bytes.HasPrefix(rest, []byte(listBegins)):
			j += len(listBegins)
			lists++
		case bytes.HasPrefix(rest, []byte(hourValue)) && bytes.HasPrefix(body[i:], []byte("null")):
			i, j = i+len("null"), j+len(hourValue)
			markers++
		case i < len(body) && body[i] == marked[j]:
			i, j = i+1, j+1
		default:
			return markers, false
		}
	}
	return markers, i == len(body) && lists == 0
}

// oddBodies are as clients that build JSON by hand, or badly, send it.
var oddBodies = []string{
	"\n{ \"model\" :\t\"m\" ,\r\n\"messages\" : [ { \"role\" : \"user\" , \"content\" : \"a\" } , { \"role\":\"assistant\",\"content\": [ ] },{\"content\" : [ { \"type\":\"text\" , \"text\" : \"b\" \n} ] , \"role\":\"user\" } ] \n}\n",
	`{"model":"m","messages":[{"r\u006fle":"us\u0065r","c\u006fntent":[{"typ\u0065":"te\u0078t","te\u0078t":"\u0061"}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":"a","content":"b"},{"role":"user","role":"assistant","content":"c"},{"role":"user","content":[{"type":"text","type":"image","text":"x"},{"type":"image","type":"text","text":"y","text":""}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":null,"cache_control":null}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"cache_control" : null , "type":"text","text":"x"}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"c\u0061che_control":null,"type":"text","text":"x"}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[]},{"role":"assistant","content":null},{"role":"user","content":null}]}`,
	`{"model":"m","system":[{"type":"text","text":""}],"tools":[],"messages":[{"role":"user"}]}`,
	`{"model":"m","system":[],"tools":{},"messages":{}}`,
	`{"model":"m","system":{"type":"text","text":"x"},"tools":"x","messages":"x"}`,
	`{"model":"m","system":null,"tools":null,"messages":[null,1,"x",[],{"role":"user","content":{"type":"text","text":"x"}}]}`,
	`{"model":"m","tools":[null,{},{"name":"a"},{"name":"b","defer_loading":true},{"type":"mcp_toolset"}],"messages":[{"role":"user","content":"a"}]}`,
	`{"model":"m","tools":[{}],"system":"r","messages":[{"role":"user","content":[{}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"document","source":{"type":"text","data":"d"}}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image","source":{}}]}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"A prefill"}]}`,
	`{"model":"m","messages":[{"role":"system","content":"late"},{"role":"user","content":"a"},{"role":"system","content":"later"},{"role":"tool","content":"b"},{"role":"tool","content":[{"type":"text","text":"c"}]}]}`,
	`{"model":"m","messages":[{"role":"user","content":"\ud800\u0020\\\""},{"role":"assistant","content":"b"},{"role":"user","content":"\u2028\u0009"}]}`,
	`{"model":"m","messages":[{"role":"user","content":"[{\"type\":\"text\",\"text\":"}]}`,
	`{"messages":[{"role":"user","content":"before the model"}],"model":"m","tools":[{"name":"after"}],"system":"last"}`,
	`{"model":"m","tools":[` + strings.Repeat(`{"name":"t","input_schema":{"properties":{"cache_control":{}}}},`, 2000) + `{"name":"u"}],"messages":[{"role":"user","content":"a"}]}`,
}

// FuzzMarkersOnly marks any body: the result is valid, differs in nothing but markers,
// of which there are at most four, and is the same each time.
func FuzzMarkersOnly(f *testing.F) {
	for _, body := range oddBodies {
		for kind := range apis {
			f.Add([]byte(body), uint8(kind))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		if len(body) > 1<<17 || bytes.Contains(body, []byte("ephemeral")) {
			return
		}
		r, err := ReadRequest(apis[int(kind)%len(apis)], body)
		if err != nil {
			return
		}
		plain := r.Upstream(nil, Edits{})
		marked := r.Upstream(nil, Edits{Mark: time.Hour})
		n, ok := onlyMarked(plain, marked)
		if !ok || n > 4 || !json.Valid(marked) {
			t.Fatalf("%d markers:\n%s\n%s", n, plain, marked)
		}
		if again := r.Upstream(nil, Edits{Mark: time.Hour}); !bytes.Equal(marked, again) {
			t.Fatalf("marked in two ways:\n%s\n%s", marked, again)
		}
	})
}
