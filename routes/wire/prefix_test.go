package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// prefixOf is the marks of a body.
func prefixOf(t testing.TB, api catalog.API, body string) engine.Prefix {
	t.Helper()
	facts := read(t, api, []byte(body)).Facts()
	if facts.Prefix == nil {
		t.Fatalf("no prefix in %s", body)
	}
	return facts.Prefix()
}

func TestAConversationThatGoesOnKeepsItsPrefix(t *testing.T) {
	const (
		tools  = `"tools":[{"name":"saw","input_schema":{"type":"object"}}],`
		system = `"system":[{"type":"text","text":"You mend fences.","cache_control":{"type":"ephemeral"}}],`
		first  = `{"role":"user","content":[{"type":"text","text":"Mend the gate."}]}`
		marked = `{"role":"user","content":[{"type":"text","text":"Mend the gate.","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`
		answer = `{"role":"assistant","content":"Done."}`
		next   = `{"role":"user","content":[{"type":"text","text":"And the post?","cache_control":{"type":"ephemeral"}}]}`
	)
	body := func(system, tools string, messages ...string) string {
		return `{"model":"m",` + tools + system + `"messages":[` + strings.Join(messages, ", ") + `],"max_tokens":9}`
	}
	whole := int64(-1)
	for _, c := range []struct {
		name           string
		earlier, later string
		kept           int64 // of the earlier prompt; -1: all of it
	}{
		{"one message more", body(system, tools, first), body(system, tools, first, answer, next), whole},
		{"the marker moved on", body(system, tools, marked), body(system, tools, first, answer, next), whole},
		{"the marker stands first in its block", body(system, tools, marked),
			body(system, tools, strings.Replace(marked, `"type":"text","text":"Mend the gate.","cache_control":{"type":"ephemeral","ttl":"1h"}`,
				`"cache_control": {"type":"ephemeral"} , "type":"text","text":"Mend the gate."`, 1), answer), whole},
		{"members in another order around it", body(system, tools, first), body(tools, system, first, answer), whole},
		{"another system text", body(system, tools, first), body(strings.Replace(system, "fences", "nets", 1), tools, first, answer), int64(len(tools)) - 9},
		{"other tools", body(system, tools, first), body(system, strings.Replace(tools, "saw", "axe", 1), first, answer), 0},
		{"a telemetry line that moves",
			body(`"system":[{"type":"text","text":"x-anthropic-billing-header: a=1;"},{"type":"text","text":"You mend."}],`, tools, first),
			body(`"system":[{"type":"text","text":"x-anthropic-billing-header: a=27; b=3;"},{"type":"text","text":"You mend."}],`, tools, first, answer), whole},
		{"a telemetry line and text behind it",
			body(`"system":"x-anthropic-billing-header: a=1\nYou mend.",`, tools, first),
			body(`"system":"x-anthropic-billing-header: a=27\nYou mend.",`, tools, first, answer), whole},
		{"words like a marker in a text", body(system, tools, `{"role":"user","content":"say \"cache_control\": 1"}`),
			body(system, tools, `{"role":"user","content":"say \"cache_control\": 2"}`), int64(len(tools)-9) + 57 - 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			earlier, later := prefixOf(t, catalog.Messages, c.earlier), prefixOf(t, catalog.Messages, c.later)
			kept, total := later.Since(earlier.Kept())
			if c.kept == whole && kept != total || c.kept != whole && (kept == total || kept > total) {
				t.Errorf("%d of %d kept; want %d", kept, total, c.kept)
			}
			if c.kept == 0 && kept != 0 {
				t.Errorf("%d of %d kept; want none", kept, total)
			}
		})
	}
}

func TestEveryDialectHasAPrefix(t *testing.T) {
	for _, c := range []struct {
		api            catalog.API
		earlier, later string
	}{
		{catalog.Chat, `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}]}`,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
		{catalog.Responses, `{"model":"m","instructions":"s","input":[{"role":"user","content":"a"}]}`,
			`{"model":"m","instructions":"s","input":[{"role":"user","content":"a"},{"type":"function_call","name":"f"}]}`},
		{catalog.Responses, `{"model":"m","instructions":"s","input":"a"}`, `{"model":"m","instructions":"s","input":"a"}`},
		{catalog.Messages, `{"model":"m","system":"s","messages":[{"role":"user","content":"a"}]}`,
			`{"model":"m","system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
	} {
		earlier := prefixOf(t, c.api, c.earlier)
		if kept, total := prefixOf(t, c.api, c.later).Since(earlier.Kept()); kept != total || total == 0 {
			t.Errorf("%s: %d of %d kept", c.api, kept, total)
		}
		other := strings.Replace(c.later, `"s"`, `"t"`, 1)
		if kept, total := prefixOf(t, c.api, other).Since(earlier.Kept()); kept == total {
			t.Errorf("%s: another system text, and %d of %d kept", c.api, kept, total)
		}
	}
}

// FuzzPrefix: a marker in a message changes nothing, and a message more keeps all
// that was.
func FuzzPrefix(f *testing.F) {
	f.Add("Mend the gate.", "And then?", uint8(0))
	f.Add(`"cache_control":{}`, `\`, uint8(3))
	f.Add(`x-anthropic-billing-header: q`, "\n", uint8(1))
	f.Fuzz(func(t *testing.T, first, next string, place uint8) {
		text := func(words string, marked bool) string {
			mark := ""
			if marked {
				mark = `"cache_control":{"type":"ephemeral"}`
			}
			quoted := fmt.Sprintf("%q", strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return '.'
				}
				return r
			}, words))
			switch {
			case mark == "":
				return `{"role":"user","content":[{"type":"text","text":` + quoted + `}]}`
			case place%3 == 0:
				return `{"role":"user","content":[{` + mark + `,"type":"text","text":` + quoted + `}]}`
			case place%3 == 1:
				return `{"role":"user","content":[{"type":"text",` + mark + `,"text":` + quoted + `}]}`
			}
			return `{"role":"user","content":[{"type":"text","text":` + quoted + `,` + mark + `}]}`
		}
		body := func(messages ...string) string {
			return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
		}
		marked := prefixOf(t, catalog.Messages, body(text(first, true)))
		plain := prefixOf(t, catalog.Messages, body(text(first, false), text(next, true)))
		if kept, total := plain.Since(marked.Kept()); kept != total {
			t.Fatalf("%d of %d kept of %s", kept, total, text(first, true))
		}
		if first != next {
			other := prefixOf(t, catalog.Messages, body(text(first+"!", false), text(next, true)))
			if kept, total := other.Since(marked.Kept()); kept == total {
				t.Fatalf("another first message, and %d of %d kept", kept, total)
			}
		}
	})
}

// One iteration marks the prompt of one turn.
func BenchmarkPrefix(b *testing.B) {
	for _, size := range []int{1 << 10, 60 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dkB", size>>10), func(b *testing.B) {
			message := `{"role":"user","content":"` + strings.Repeat("mend the gate ", 50) + `"}`
			n := max(1, size/len(message))
			body := []byte(`{"model":"m","messages":[` + strings.Repeat(message+",", n-1) + message + `]}`)
			prefix := read(b, catalog.Chat, body).Facts().Prefix
			if got := len(prefix()); got != n+2 {
				b.Fatalf("%d marks", got)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				prefix()
			}
		})
	}
}

func TestAPromptOfTinyMessagesHasABoundedPrefix(t *testing.T) {
	body := `{"model":"m","messages":[` + `{"role":"user","content":"a"}` + strings.Repeat(`,{}`, 3*maxPieces) + `]}`
	if got := len(read(t, catalog.Messages, []byte(body)).Facts().Prefix()); got != maxPieces {
		t.Errorf("%d marks, want %d", got, maxPieces)
	}
}
