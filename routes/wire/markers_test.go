package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

const (
	brief = `"cache_control":{"type":"ephemeral"}`
	hour  = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// marks is the body with what is between ⟨ and ⟩ put in, and without: the markers that
// are expected and the body that is sent. § stands for a marker.
func marks(text, marker string) (with, without string) {
	with = strings.NewReplacer("⟨", "", "⟩", "", "§", marker).Replace(text)
	for {
		from := strings.Index(text, "⟨")
		if from < 0 {
			return with, text
		}
		to := strings.Index(text, "⟩")
		text = text[:from] + text[to+len("⟩"):]
	}
}

func TestMarkersArePlaced(t *testing.T) {
	for _, c := range []struct {
		name string
		api  catalog.API
		body string
	}{
		{"one question", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":⟨[{"type":"text","text":⟩"Where?"⟨,§}]⟩}]}`},
		{"tools, system text and two user turns", catalog.Messages, `{"tools":[{"name":"a"},{"name":"b"⟨,§⟩}],"system":[{"type":"text","text":"r"},{"type":"text","text":"s"⟨,§⟩}],` +
			`"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"1"},{"role":"user","content":⟨[{"type":"text","text":⟩"two"⟨,§}]⟩},` +
			`{"role":"assistant","content":"2"},{"content":[{"type":"text","text":"three"},{"type":"text","text":"3"⟨,§⟩}],"role":"user"}],"model":"m"}`},
		{"members in another order, and white space", catalog.Messages, "{ \"messages\" : [ { \"role\" : \"user\" , \"content\" : [ { \"type\" : \"text\" , \"text\" : \"x\"⟨,§⟩ } ] } ] ,\n \"system\" : ⟨[{\"type\":\"text\",\"text\":⟩\"ru\\u006ces\"⟨,§}]⟩ , \"model\" : \"m\" }\n"},
		{"results of tools", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]⟨,§⟩}]},{"role":"assistant","content":[{"type":"tool_use","id":"2","name":"a","input":{}},{"type":"tool_use","id":"3","name":"a","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"y"},{"type":"tool_result","tool_use_id":"3","content":"z"⟨,§⟩}]}]}`},
		{"a turn of two messages is one turn", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":⟨[{"type":"text","text":⟩"b"⟨,§}]⟩},{"role":"assistant","content":"1"},{"role":"user","content":"c"},{"role":"user","content":⟨[{"type":"text","text":⟩"d"⟨,§}]⟩}]}`},
		{"an answer that was begun is not marked", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":⟨[{"type":"text","text":⟩"json"⟨,§}]⟩},{"role":"assistant","content":"{"}]}`},
		{"a greeting of the assistant's stands before", catalog.Messages, `{"model":"m","messages":[{"role":"assistant","content":"Hello"},{"role":"user","content":⟨[{"type":"text","text":⟩"hi"⟨,§}]⟩}]}`},
		{"a tool that is loaded later is passed over", catalog.Messages, `{"model":"m","tools":[{"name":"a"⟨,§⟩},{"name":"b","defer_loading":true}],"messages":[]}`},
		{"a tool that is not", catalog.Messages, `{"model":"m","tools":[{"name":"a"},{"name":"b","defer_loading":false⟨,§⟩}],"messages":[]}`},
		{"all tools are loaded later", catalog.Messages, `{"model":"m","tools":[{"name":"b","defer_loading":true}],"messages":[]}`},
		{"empty text and thinking are passed over", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{}⟨,§⟩},{"type":"thinking","thinking":"t"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":""},{"type":"text","text":" \n\u0020\u00a0"},{"type":"newer","text":"x"}]}]}`},
		{"nothing but empty text", catalog.Messages, `{"model":"m","system":"","messages":[{"role":"user","content":" \t"},{"role":"user","content":[]}]}`},
		{"a telemetry line is passed over", catalog.Messages, `{"model":"m","system":[{"type":"text","text":"rules"⟨,§⟩},{"type":"text","text":"x-anthropic-billing-header: cc_version=1; "}],"messages":[]}`},
		{"a telemetry line alone", catalog.Messages, `{"model":"m","system":"x-anthropic-billing-header: cc_version=1;\n","messages":[]}`},
		{"a telemetry line with rules behind it", catalog.Messages, `{"model":"m","system":⟨[{"type":"text","text":⟩"x-anthropic-billing-header: v;\nRules."⟨,§}]⟩,"messages":[]}`},
		{"a word like a marker is none", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":⟨[{"type":"text","text":⟩"\"cache_control\":{\"type\":\"ephemeral\"}"⟨,§}]⟩}]}`},
		{"odd shapes are left alone", catalog.Messages, `{"model":"m","tools":{"a":1},"system":7,"messages":[1,{"role":"user","content":7},{"role":"user"}]}`},
		{"content that stands twice", catalog.Messages, `{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}`},
		{"chat", catalog.Chat, `{"model":"m","tools":[{"type":"function"}],"messages":[{"role":"system","content":⟨[{"type":"text","text":⟩"r"⟨,§}]⟩},{"role":"user","content":⟨[{"type":"text","text":⟩"a"⟨,§}]⟩},` +
			`{"role":"assistant","tool_calls":[]},{"role":"tool","content":"x"},{"role":"tool","content":⟨[{"type":"text","text":⟩"y"⟨,§}]⟩}]}`},
		{"chat with a picture", catalog.Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"⟨,§⟩},{"type":"image_url","image_url":{}}]}]}`},
		{"a system message in the middle of a chat", catalog.Chat, `{"model":"m","messages":[{"role":"user","content":⟨[{"type":"text","text":⟩"a"⟨,§}]⟩},{"role":"assistant","content":"1"},{"role":"system","content":"r"},{"role":"user","content":⟨[{"type":"text","text":⟩"b"⟨,§}]⟩}]}`},
		{"responses have no place for them", catalog.Responses, `{"model":"m","instructions":"r","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for ttl, marker := range map[time.Duration]string{5 * time.Minute: brief, time.Hour: hour} {
				want, body := marks(c.body, marker)
				r := read(t, c.api, []byte(body))
				if got := string(r.Upstream(nil, Edits{Mark: ttl})); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if got := string(r.Upstream(nil, Edits{})); got != body {
					t.Errorf("without markers %s", got)
				}
			}
		})
	}
}

// A marker that is null is one that the client's library left empty.
func TestAMarkerThatIsNullIsTakenOver(t *testing.T) {
	body := `{"model":"m","system":[{"type":"text","cache_control":null,"text":"r"}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control" : null}]}]}`
	want := `{"model":"m","system":[{"type":"text","cache_control":{"type":"ephemeral"},"text":"r"}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control" : {"type":"ephemeral"}}]}]}`
	if got := string(read(t, catalog.Messages, []byte(body)).Upstream(nil, Edits{Mark: time.Minute})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Where the client has set any marker, wherever it stands, none is added and none is
// changed.
func TestNoMarkerJoinsTheClients(t *testing.T) {
	const turn = `{"role":"user","content":[{"type":"text","text":"a"%s}]}`
	m := `,` + brief
	for name, body := range map[string]string{
		"four":                   `{"model":"m","tools":[{"name":"t"` + m + `}],"system":[{"type":"text","text":"r"` + m + `},{"type":"text","text":"s"` + m + `}],"messages":[` + fmt.Sprintf(turn, m) + `]}`,
		"one":                    `{"model":"m","system":"r","messages":[` + fmt.Sprintf(turn, `,`+hour) + `]}`,
		"inside a tool's result": `{"model":"m","system":"r","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"` + m + `}]}]}]}`,
		"at the top":             `{"model":"m",` + brief + `,"system":"r","messages":[` + fmt.Sprintf(turn, ``) + `]}`,
		"in an escaped name":     `{"model":"m","system":"r","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_\u0063ontrol":{"type":"ephemeral"}}]}]}`,
	} {
		for _, ttl := range []time.Duration{5 * time.Minute, time.Hour} {
			if got := string(read(t, catalog.Messages, []byte(body)).Upstream(nil, Edits{Mark: ttl})); got != body {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

func TestMarkersAreCutForAVendorThatRefusesThem(t *testing.T) {
	refuses := Edits{Refuses: []string{"cache_control"}, Mark: time.Hour}
	for _, c := range []struct{ name, body, want string }{
		{"on every kind of block, and at the top", `{"model":"m","cache_control":{"type":"ephemeral"},"tools":[{"name":"t","cache_control":{"type":"ephemeral"}}],"system":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"r"}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`,
			`{"model":"m","tools":[{"name":"t"}],"system":[{"type":"text","text":"r"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`},
		{"inside a result, in the middle, twice and alone", `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text", "cache_control":{"type":"ephemeral"}, "text":"x"}],"cache_control":{"type":"ephemeral"},"cache_control":null },{ "cache_control":{"type":"ephemeral"} }]}]}`,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text", "text":"x"}] },{  }]}]}`},
		{"first and second", `{"model":"m","messages":[{ "cache_control":null , "cache_control":{"type":"ephemeral"} ,"role":"user","content":"a"}]}`, `{"model":"m","messages":[{ "role":"user","content":"a"}]}`},
		{"what is data stays", `{"model":"m","tools":[{"name":"t","input_schema":{"properties":{"cache_control":{"type":"ephemeral"}}}}],"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"cache_control":{"type":"ephemeral"}}}]},{"role":"user","content":"\"cache_control\":null"}]}`, ``},
		{"so does what is no marker", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"other"}},{"cache_control":7}]}]}`, ``},
	} {
		if c.want == "" {
			c.want = c.body
		}
		for _, api := range apis {
			body, want := c.body, c.want
			if api == catalog.Responses {
				body, want = strings.Replace(body, `"messages"`, `"input"`, 1), strings.Replace(want, `"messages"`, `"input"`, 1)
			}
			if got := string(read(t, api, []byte(body)).Upstream(nil, refuses)); got != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", c.name, api, got, want)
			}
			if got := string(read(t, api, []byte(body)).Upstream(nil, Edits{})); got != body {
				t.Errorf("%s, %s: a vendor that does not refuse them got %s", c.name, api, got)
			}
		}
	}
}

// A long prompt grows and is sent turn after turn: every body is a list of blocks whose
// beginning has not changed, whatever its markers.
func TestAMarkedPromptBeginsAsTheOneBefore(t *testing.T) {
	var before []byte
	messages := ""
	for i := range 12 {
		if i > 0 {
			messages += fmt.Sprintf(`,{"role":"assistant","content":"a%d"},`, i)
		}
		messages += fmt.Sprintf(`{"role":"user","content":"u%d"}`, i)
		body := `{"model":"m","system":"rules","messages":[` + messages + `]}`
		got := read(t, catalog.Messages, []byte(body)).Upstream(nil, Edits{Mark: time.Hour})
		again := read(t, catalog.Messages, []byte(body)).Upstream(nil, Edits{Mark: time.Hour})
		if !bytes.Equal(got, again) {
			t.Fatal("the same body is marked in two ways")
		}
		plain := plainPrompt(t, got)
		if !bytes.HasPrefix(plain, before) {
			t.Fatalf("turn %d begins otherwise:\n%s\n%s", i, plain, before)
		}
		before = bytes.TrimSuffix(plain, []byte("]"))
	}
}

// plainPrompt is the messages of a body as lists of blocks, without markers.
func plainPrompt(t testing.TB, body []byte) []byte {
	t.Helper()
	var b struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, m := range b.Messages {
		var text string
		var blocks []map[string]any
		if json.Unmarshal(m.Content, &text) == nil {
			blocks = []map[string]any{{"type": "text", "text": text}}
		} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			delete(block, "cache_control")
		}
		all = append(all, m.Role, blocks)
	}
	out, _ := json.Marshal(all)
	return out
}

func TestHistoryAndStableText(t *testing.T) {
	for _, c := range []struct {
		api     catalog.API
		body    string
		history int
		stable  int64
	}{
		{catalog.Messages, `{"model":"m","messages":[{"role":"user","content":"abc"}]}`, 0, 0},
		{catalog.Messages, `{"model":"m","system":"12345","tools":[{"name":"ab"}],"messages":[{"role":"user","content":"abc"},{"role":"assistant","content":"{"}]}`, 0, 7},
		{catalog.Messages, `{"model":"m","messages":[{"role":"assistant","content":"hello"},{"role":"user","content":"abc"}]}`, 0, 0},
		{catalog.Messages, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"},{"role":"user","content":"g"}]}`, 2, 0},
		{catalog.Chat, `{"model":"m","messages":[{"role":"system","content":"1234"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"tool","content":"c"},{"role":"tool","content":"c"}],"tools":[{"type":"function"}]}`, 1, 4 + 6 + 8},
	} {
		f := read(t, c.api, []byte(c.body)).Facts()
		if f.History != c.history || f.StableBytes != c.stable {
			t.Errorf("%s: history %d, stable %d; want %d, %d", c.body, f.History, f.StableBytes, c.history, c.stable)
		}
	}
}

// FuzzMarkers marks and unmarks any body: what comes out is valid, has at most four
// markers, none where the client had one, and without markers is the same prompt.
func FuzzMarkers(f *testing.F) {
	f.Add([]byte(`{"model":"m","tools":[{"name":"a"}],"system":"r","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[]},{"role":"user","content":[{"type":"text","text":"y"},{"type":"thinking"}]}]}`), uint8(0))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"cache_control":null,"type":"text","text":"\u0020a"}]}]}`), uint8(1))
	f.Add([]byte(`{"model":"m","cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[{"cache_control":{"type":"ephemeral"},"a":[{"cache_control":null}]}]}]}`), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		api := apis[int(kind)%len(apis)]
		if len(body) > 1<<16 {
			return
		}
		r, err := ReadRequest(api, body)
		if err != nil {
			return
		}
		had := r.Facts().Markers
		marked := r.Upstream(nil, Edits{Mark: time.Hour})
		again, err := ReadRequest(api, marked)
		if err != nil {
			t.Fatalf("marked body is refused: %v: %s", err, marked)
		}
		n := again.Facts().Markers
		if had > 0 && n != had || n > max(4, had) {
			t.Fatalf("%d markers became %d: %s", had, n, marked)
		}
		if again.Facts().TextBytes-r.Facts().TextBytes > 4*int64(len(`typetextcache_controltypeephemeralttl1h`+`textephemeral1h`)) {
			t.Fatalf("text was added: %s", marked)
		}
		cut := r.Upstream(nil, Edits{Refuses: []string{"cache_control"}})
		if !json.Valid(cut) {
			t.Fatalf("cut body is not valid: %s", cut)
		}
		if !bytes.Contains(body, []byte("cache")) && !bytes.Contains(body, []byte(`\u`)) {
			if !bytes.Equal(cut, r.Upstream(nil, Edits{})) {
				t.Fatalf("a body without markers was cut: %s", cut)
			}
			// What was placed is cut again; a string that became a list stays one.
			if back := again.Upstream(nil, Edits{Refuses: []string{"cache_control"}}); !sameButLists(body, back) {
				t.Fatalf("%s\nwas marked and unmarked:\n%s", body, back)
			}
		}
	})
}

// sameButLists compares two bodies without white space, a list of one text block for the
// same as its text.
func sameButLists(a, b []byte) bool {
	unlist := func(text []byte) string {
		var c bytes.Buffer
		if json.Compact(&c, text) != nil {
			return ""
		}
		return strings.NewReplacer(`[{"type":"text","text":`, "", `}]`, "").Replace(c.String())
	}
	return unlist(a) == unlist(b)
}

// The slow twin decodes the body and says by the rules' words which blocks are marked.
func TestMarkersStandWhereTheSlowTwinPutsThem(t *testing.T) {
	const seed = 20261130
	rnd := rand.New(rand.NewPCG(seed, 1))
	for n := range 3000 {
		body := randomBody(rnd)
		got := read(t, catalog.Messages, []byte(body)).Upstream(nil, Edits{Mark: 5 * time.Minute})
		if want := slowlyMarked(t, body); !sameJSON(t, got, want) {
			t.Fatalf("seed %d, body %d:\n%s\ngot  %s\nwant %s", seed, n, body, got, want)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

func randomBody(rnd *rand.Rand) string {
	block := func() string {
		return []string{`{"type":"text","text":"a"}`, `{"type":"text","text":" "}`, `{"type":"image"}`, `{"type":"thinking"}`, `{"type":"tool_result","content":"x"}`, `{"type":"odd"}`}[rnd.IntN(6)]
	}
	list := func() string {
		var all []string
		for range rnd.IntN(4) {
			all = append(all, block())
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	content := func() string {
		return []string{`"a"`, `""`, list(), list()}[rnd.IntN(4)]
	}
	var tools, messages []string
	for range rnd.IntN(3) {
		tools = append(tools, []string{`{"name":"t"}`, `{"name":"t","defer_loading":true}`}[rnd.IntN(2)])
	}
	for range 1 + rnd.IntN(7) {
		messages = append(messages, `{"role":"`+[]string{"user", "assistant"}[rnd.IntN(2)]+`","content":`+content()+`}`)
	}
	return `{"model":"m","tools":[` + strings.Join(tools, ",") + `],"system":` + content() + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func slowlyMarked(t *testing.T, body string) []byte {
	t.Helper()
	var b map[string]any
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	marker := map[string]any{"type": "ephemeral"}
	mark := func(content any) any {
		if text, ok := content.(string); ok {
			if strings.TrimSpace(text) == "" {
				return text
			}
			return []any{map[string]any{"type": "text", "text": text, "cache_control": marker}}
		}
		blocks := content.([]any)
		for i := len(blocks) - 1; i >= 0; i-- {
			block := blocks[i].(map[string]any)
			switch block["type"] {
			case "thinking", "odd":
				continue
			case "text":
				if strings.TrimSpace(block["text"].(string)) == "" {
					continue
				}
			}
			block["cache_control"] = marker
			break
		}
		return blocks
	}
	tools := b["tools"].([]any)
	for i := len(tools) - 1; i >= 0; i-- {
		if tool := tools[i].(map[string]any); tool["defer_loading"] == nil {
			tool["cache_control"] = marker
			break
		}
	}
	b["system"] = mark(b["system"])
	messages := b["messages"].([]any)
	role := func(i int) any { return messages[i].(map[string]any)["role"] }
	last := -1
	for i := range messages {
		if role(i) == "user" {
			last = i
		}
	}
	if last >= 0 {
		// Back over the turn, then over the answers before it, to the user's turn before.
		i := last
		for i >= 0 && role(i) == "user" {
			i--
		}
		for i >= 0 && role(i) == "assistant" {
			i--
		}
		for _, at := range []int{i, last} {
			if at >= 0 {
				m := messages[at].(map[string]any)
				m["content"] = mark(m["content"])
			}
		}
	}
	out, _ := json.Marshal(b)
	return out
}
