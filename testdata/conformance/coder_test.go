package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	audit "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// coder is a coding agent: how it puts a conversation into a request. What the three
// send is as it was seen on the wire; the words are ours.
type coder struct {
	name          string
	path          string
	model, small  string
	first, second string // vendors of both models
	head          http.Header
	parts         func(d *dialogue, thinks bool) (body string)
	answered      func(a *answer) string // what of an answer is sent back, as JSON with commas between
}

// dialogue is one conversation of an agent: the main one, or one beside it.
type dialogue struct {
	model  string
	system string
	tools  bool
	extra  http.Header // beside the agent's own; counts before them
	brief  bool        // its markers ask for five minutes, whatever the agent's own do
	items  []string    // JSON of what was said so far
}

const session = "5e1f4a70-93c2-4d8b-8f06-b1d27c9ae345"

// text is a text of its own as JSON.
func text(bytes int, name string) string { return string(encoded(longText(bytes, name))) }

var coders = []*coder{
	{
		name: "claude-code", path: "/v1/messages?beta=true", model: "opus", small: "haiku", first: "anthropic", second: "bedrock",
		head: http.Header{"X-Claude-Code-Session-Id": {session}, "X-App": {"cli"}, "Anthropic-Version": {"2023-06-01"},
			"Anthropic-Beta": {"claude-code-20250219,interleaved-thinking-2025-05-14"}},
		parts: func(d *dialogue, thinks bool) string {
			marker := `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
			if d.brief {
				marker = `,"cache_control":{"type":"ephemeral"}`
			}
			system := `{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.197.7c1; cc_entrypoint=cli;"},{"type":"text","text":` + text(len(d.system)+4000, d.system) + marker + `}`
			return messagesBody(d, system, 1, marker, thinks) + `,"metadata":{"user_id":"{\"device_id\":\"4f\",\"session_id\":\"` + session + `\"}"}`
		},
		answered: messagesAnswer,
	},
	{
		name: "opencode", path: "/v1/messages", model: "sonnet", small: "haiku", first: "anthropic", second: "bedrock",
		head: http.Header{"X-Session-Id": {session}, "X-Session-Affinity": {session}, "Anthropic-Version": {"2023-06-01"}},
		parts: func(d *dialogue, thinks bool) string {
			const marker = `,"cache_control":{"type":"ephemeral"}`
			return messagesBody(d, `{"type":"text","text":`+text(len(d.system)+4000, d.system)+marker+`}`, 2, marker, thinks)
		},
		answered: messagesAnswer,
	},
	{
		name: "codex", path: "/v1/responses", model: "gpt", small: "gpt-mini", first: "openai", second: "azure",
		head: http.Header{"Session-Id": {session}, "Thread-Id": {session}, "X-Client-Request-Id": {session}, "Originator": {"codex_cli"}},
		parts: func(d *dialogue, thinks bool) string {
			include := ""
			if thinks {
				include = `"reasoning.encrypted_content"`
			}
			items := []string{`{"type":"message","role":"developer","content":[{"type":"input_text","text":` + text(len(d.system)+4000, d.system) + `}]}`}
			for _, item := range d.items {
				if strings.HasPrefix(item, `"`) {
					item = `{"type":"message","role":"user","content":[{"type":"input_text","text":` + item + `}]}`
				}
				items = append(items, item)
			}
			body := `"input":[` + strings.Join(items, ",") + `],"store":false,"include":[` + include + `],"prompt_cache_key":"` + session + `"`
			if d.tools {
				body += `,"tools":[{"type":"function","name":"shell","description":` + text(4000, "shell") + `,"parameters":{"type":"object"}}]`
			}
			return body
		},
		answered: func(a *answer) string {
			var list []string
			for _, item := range a.blocks() {
				var one map[string]any
				_ = json.Unmarshal(item, &one) // blocks are JSON
				delete(one, "id")              // with store: false they mean nothing
				list = append(list, string(encoded(one)))
			}
			return strings.Join(list, ",")
		},
	},
}

// messagesBody is what Claude Code and OpenCode send alike; the last so many messages
// of the user's have a marker.
func messagesBody(d *dialogue, system string, marked int, marker string, thinks bool) string {
	items := make([]string, len(d.items))
	for i := len(d.items) - 1; i >= 0; i-- {
		items[i] = d.items[i]
		if !strings.HasPrefix(items[i], `"`) {
			items[i] = `{"role":"assistant","content":[` + items[i] + `]}`
			continue
		}
		with := ""
		if marked--; marked >= 0 {
			with = marker
		}
		items[i] = `{"role":"user","content":[{"type":"text","text":` + items[i] + with + `}]}`
	}
	body := `"max_tokens":32000,"system":[` + system + `],"messages":[` + strings.Join(items, ",") + `]`
	if thinks {
		body += `,"thinking":{"type":"adaptive"}`
	}
	if d.tools {
		body += `,"tools":[{"name":"shell","description":` + text(4000, "shell") + `,"input_schema":{"type":"object"}}]`
	}
	return body
}

func messagesAnswer(a *answer) string {
	var list []string
	for _, block := range a.blocks() {
		list = append(list, string(block))
	}
	return strings.Join(list, ",")
}

// seen is what became of one turn of the main conversation.
type seen struct {
	outcome, vendor, tried, miss string
	read                         int64
	promised, expected           int64 // by what the books hold of the conversation's prefix
	predicted                    int64 // tokens that they think its vendor still held
}

// desk is one run of an agent.
type desk struct {
	*world
	t      *testing.T
	c      *coder
	thinks bool
	main   *dialogue
	turns  []seen
}

// newDesk is an agent before a gateway whose books are audited as those of the command
// serve are.
func newDesk(t *testing.T, c *coder, profile string, thinks bool) *desk {
	w := newWorld(t, &scenario{Profile: profile, Catalog: "coding"})
	w.ledger.Auditor = audit.Auditor{}
	return &desk{world: w, t: t, c: c, thinks: thinks, main: &dialogue{model: c.model, system: "rules of the yard", tools: true}}
}

// say goes on with a dialogue, and returns the answer.
func (k *desk) say(d *dialogue, words string) *answer {
	k.t.Helper()
	d.items = append(d.items, string(encoded(words)))
	a := k.send(d)
	d.items = append(d.items, k.c.answered(a))
	return a
}

// send sends a dialogue as it stands.
func (k *desk) send(d *dialogue) *answer {
	k.t.Helper()
	body := `{"model":"` + d.model + `","stream":true,` + k.c.parts(d, k.thinks) + `}`
	r, err := http.NewRequest(http.MethodPost, k.url+k.c.path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range []http.Header{k.c.head, d.extra} {
		for name, values := range h {
			r.Header[name] = values
		}
	}
	a, err := k.world.send(r, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	a.asked = []byte(body)
	a.read()
	if a.status != http.StatusOK || a.broken {
		k.t.Fatalf("%d %s", a.status, short(a.body))
	}
	if got := a.text(routing + "clientSessionId"); got != session && d.extra.Get("X-Parent-Session-Id") == "" {
		k.t.Errorf("the session is %q", got)
	}
	last := a.hits[len(a.hits)-1]
	if string(withoutModel(last.body)) != string(withoutModel(a.asked)) {
		k.t.Errorf("%s was sent %s", last.vendor, short(last.body))
	}
	return a
}

// turn is the main conversation's next turn, a minute after the one before.
func (k *desk) turn() {
	k.t.Helper()
	n := len(k.turns)
	k.now.Store(int64(time.Duration(n+1) * time.Minute))
	if n == 0 {
		k.refuse(k.c.first, 2) // it begins at the second vendor, so that being moved shows
	}
	a := k.say(k.main, longText(6000, fmt.Sprint("turn ", n)))
	var s seen
	for _, h := range a.hits {
		s.tried += " " + h.vendor
		s.read = h.read
	}
	id := a.header.Get("X-Warmroute-Request-Id")
	booked, found, err := k.ledger.Turn(context.Background(), "default", id)
	if err != nil || !found {
		k.t.Fatalf("turn %s is not in the books: %v", id, err)
	}
	var judged audit.Judgement
	if err := judged.UnmarshalBinary(booked.Audit); err != nil {
		k.t.Fatal(err)
	}
	s.outcome, s.vendor, s.miss = a.header.Get("X-Warmroute-Outcome"), a.header.Get("X-Warmroute-Vendor"), booked.Miss
	s.promised, s.expected, s.predicted = judged.Promised, judged.Expected, judged.Predicted.CacheRead
	k.turns = append(k.turns, s)
}

// refuse has a vendor refuse its next requests.
func (k *desk) refuse(vendor string, times int) {
	k.t.Helper()
	fault := faultStep{vendor: vendor, times: times}
	if err := k.do(0, &fault, vendorsim.Fault{Status: http.StatusServiceUnavailable}); err != nil {
		k.t.Fatal(err)
	}
}

// aside is a dialogue beside the main one.
func aside(model, system string, extra http.Header) *dialogue {
	return &dialogue{model: model, system: system, extra: extra, brief: true}
}

// later is when the next thing happens.
func (k *desk) later() { k.now.Add(int64(time.Second)) }
