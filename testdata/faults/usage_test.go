package faults_test

import (
	"fmt"
	"strings"
	"testing"
)

// A usage that cannot be is not priced, and the answer is the vendor's to the byte.
func TestFM09NonsenseForUsage(t *testing.T) {
	t.Parallel()
	whole := func(prompt, completion, rest string) string {
		return `{"prompt_tokens":` + prompt + `,"completion_tokens":` + completion + rest + `}`
	}
	cases := []struct {
		name, usage string
		known       *usage // what it still says; nil: its cost is not known
	}{
		{"as it should be", whole("1000", "50", ""), &usage{1000, 0, 50}},
		{"negative", whole("-1000", "50", ""), nil},
		{"a negative output", whole("1000", "-50", ""), nil},
		{"1e400", whole("1e400", "50", ""), nil},
		{"text", whole(`"a lot"`, "50", ""), nil},
		{"a fraction", whole("1000.5", "50", ""), nil},
		{"2^63", whole("9223372036854775808", "50", ""), nil},
		{"2^62 and 2^62", whole("4611686018427387904", "4611686018427387904", ""), nil},
		{"null", "null", nil},
		{"nulls", whole("null", "null", ""), nil},
		{"a list", "[1000,50]", nil},
		{"an empty object", "{}", nil},
		{"no output", `{"prompt_tokens":1000}`, nil},
		{"a thousand digits", whole(strings.Repeat("9", 1000), "50", ""), nil},
		{"five million digits", whole(strings.Repeat("9", 5_000_000), "50", ""), nil},
		{"a total that is none", whole("1000", "50", `,"total_tokens":7`), nil},
		{"nesting of a thousand", whole("1000", "50", `,"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), nil},
		{"more cached than there was prompt", whole("1000", "50", `,"prompt_tokens_details":{"cached_tokens":1200}`), &usage{1000, 1000, 50}}, // no more than all of it was
		{"negative cached", whole("1000", "50", `,"prompt_tokens_details":{"cached_tokens":-1}`), nil},
	}
	texts := map[string]string{}
	said := map[string]*usage{}
	for _, c := range cases {
		texts[c.name], said[c.name] = c.usage, c.known
	}
	only := newVendor(t, "only", func(c *call) bool {
		name := caseIn(c.body)
		text := answerWith(texts[name], strings.Contains(c.body, `"stream":true`))
		kind := "application/json"
		if strings.Contains(c.body, `"stream":true`) {
			kind = "text/event-stream"
		}
		if c.say(head(kind, fmt.Sprintf("Content-Length: %d", len(text)))) && c.say(text) && said[name] != nil {
			c.told(*said[name])
		}
		return true
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	for _, c := range cases {
		for _, stream := range []bool{false, true} {
			a := r.turn(ask{dialect: chat, stream: stream, session: session("usage", 0), body: caseBody(c.name, stream)})
			if want := answerWith(c.usage, stream); !a.ok() || a.body != want {
				t.Errorf("%s, stream %v: %d %v, %d bytes for %d", c.name, stream, a.status, a.err, len(a.body), len(want))
				continue
			}
			turn := r.bookedFor(a)
			if len(turn.Attempts) != 1 || turn.Attempts[0].Stage != "served" || (turn.Attempts[0].Cost != nil) != (c.known != nil) {
				t.Errorf("%s, stream %v: booked as %+v", c.name, stream, turn.Attempts)
			}
		}
	}
	r.audit()
}

// caseBody is a request that names its case.
func caseBody(name string, stream bool) string {
	return fmt.Sprintf(`{"model":"sea/charts","stream":%v,"stream_options":{"include_usage":true},"user":"case %s.","messages":[{"role":"user","content":%q}]}`, stream, name, promptText)
}

func caseIn(body string) string {
	_, rest, _ := strings.Cut(body, `"user":"case `)
	name, _, _ := strings.Cut(rest, `."`)
	return name
}

// answerWith is an answer with a usage of any text.
func answerWith(text string, stream bool) string {
	if !stream {
		before, after, _ := strings.Cut(chat.whole(ordinary), chatUsage(ordinary))
		return before + text + after
	}
	before, after, _ := strings.Cut(strings.Join(chat.events(ordinary), ""), chatUsage(ordinary))
	return before + text + after
}

// Where a usage is missing, said twice, or contradicts one before, no sum may be wrong.
func TestFM09UsageThatContradictsItself(t *testing.T) {
	t.Parallel()
	stream := func(usages ...string) string {
		events := chat.events(ordinary)
		text := strings.Join(events[:3], "")
		for _, u := range usages {
			text += strings.Replace(events[3], chatUsage(ordinary), u, 1)
		}
		return text + events[4]
	}
	for _, c := range []struct {
		name, text string
		known      *usage
	}{
		{"missing", stream(), nil},
		{"twice the same", stream(chatUsage(ordinary), chatUsage(ordinary)), &ordinary},
		{"running totals", stream(chatUsage(usage{1000, 400, 20}), chatUsage(ordinary)), &ordinary},
		{"nonsense after sense", stream(chatUsage(ordinary), `{"prompt_tokens":-1,"completion_tokens":50}`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(call *call) bool {
				if call.say(head("text/event-stream", fmt.Sprintf("Content-Length: %d", len(c.text)))) && call.say(c.text) && c.known != nil {
					call.told(*c.known)
				}
				return true
			})
			r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
			for _, a := range r.drive(5, 1, func(i int) ask { return ask{dialect: chat, stream: true, session: session("contradicts", i)} }) {
				if !a.ok() || a.body != c.text {
					t.Errorf("%d %v %s", a.status, a.err, a.body)
				}
			}
			r.audit()
		})
	}
}
