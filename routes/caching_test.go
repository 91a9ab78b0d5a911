package routes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// markedPrice is the price and cache of a route whose cache needs markers, as the rest
// of a rig's route.
const markedPrice = reefPrice + ", cache: {family: explicit, ttl: 5m, min_prefix: 1024}"

// slow is a time that moves only when told to.
type slow struct {
	mu  sync.Mutex
	now time.Time
}

func (s *slow) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *slow) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// conversation is what its client sends turn by turn, and how long it waits
// before each.
type conversation struct {
	tools, system string // JSON
	turns         []exchange
}

type exchange struct {
	pause    time.Duration
	answer   string // JSON of what the assistant said before; empty on the first turn
	question string // JSON of what the user or its tools say
}

// prose is text of so many tokens, as the simulated vendor counts.
func prose(r *rand.Rand, tokens int) string {
	var b strings.Builder
	for range tokens {
		fmt.Fprintf(&b, "%c%c%c ", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26))
	}
	return b.String()
}

// conversationOf makes up a conversation of a shape.
func conversationOf(shape string, r *rand.Rand, turns int) conversation {
	quoted := func(tokens int) string { return `"` + prose(r, tokens) + `"` }
	block := func(tokens int) string { return `{"type":"text","text":` + quoted(tokens) + `}` }
	t := conversation{tools: `[]`, system: quoted(1200 + r.IntN(2000))}
	if r.IntN(2) == 0 {
		t.system = `[{"type":"text","text":"x-anthropic-billing-header: v=1;"},` + block(1500) + `,` + block(300) + `]`
	}
	say := func() string { // a string or blocks, the last of them empty now and then
		switch r.IntN(4) {
		case 0:
			return `[` + block(20+r.IntN(100)) + `,` + block(20+r.IntN(400)) + `]`
		case 1:
			return `[` + block(20+r.IntN(400)) + `,{"type":"text","text":" "}]`
		}
		return quoted(20 + r.IntN(500))
	}
	if shape == "tool loop" {
		t.tools = `[{"name":"weigh","description":` + quoted(900) + `,"input_schema":{"type":"object","properties":{}}},{"name":"sound","description":` + quoted(900) + `,"input_schema":{"type":"object"}},{"name":"later","defer_loading":true,"input_schema":{"type":"object"}}]`
	}
	for i := range turns {
		turn := exchange{pause: time.Duration(1+r.IntN(120)) * time.Second, question: say()}
		if shape == "long gaps" {
			turn.pause = []time.Duration{20 * time.Second, 4 * time.Minute, 6 * time.Minute, 40 * time.Minute, 61 * time.Minute}[r.IntN(5)]
		}
		if i > 0 {
			turn.answer = say()
		}
		if shape == "tool loop" && i > 0 { // up to sixty blocks in one turn
			calls, results := []string{block(30)}, []string(nil)
			for n := range 1 + r.IntN(30) {
				id := fmt.Sprintf(`"c%d-%d"`, i, n)
				calls = append(calls, `{"type":"tool_use","id":`+id+`,"name":"weigh","input":{"depth":`+fmt.Sprint(n)+`}}`)
				results = append(results, `{"type":"tool_result","tool_use_id":`+id+`,"content":`+quoted(10+r.IntN(60))+`}`)
			}
			turn.answer, turn.question = `[`+strings.Join(calls, ",")+`]`, `[`+strings.Join(results, ",")+`]`
		}
		t.turns = append(t.turns, turn)
	}
	return t
}

// body is what the client sends at the nth turn, without markers.
func (t *conversation) body(n int, extra string) string {
	var messages []string
	for _, turn := range t.turns[:n+1] {
		if turn.answer != "" {
			messages = append(messages, `{"role":"assistant","content":`+turn.answer+`}`)
		}
		messages = append(messages, `{"role":"user","content":`+turn.question+`}`)
	}
	return `{"model":"m","max_tokens":16` + extra + `,"tools":` + t.tools + `,"system":` + t.system + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

// byHand is a body as a careful client of the vendor's own would mark it: the last
// tool, the end of the system text, and the ends of the last two user messages.
func byHand(t *testing.T, body, ttl string) string {
	t.Helper()
	var b struct {
		Model     string           `json:"model"`
		MaxTokens int              `json:"max_tokens"`
		Tools     []map[string]any `json:"tools"`
		System    any              `json:"system"`
		Messages  []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	marker := map[string]any{"type": "ephemeral", "ttl": ttl}
	mark := func(content any) any {
		if text, ok := content.(string); ok {
			return []any{map[string]any{"type": "text", "text": text, "cache_control": marker}}
		}
		blocks := content.([]any)
		for i := len(blocks) - 1; i >= 0; i-- {
			block := blocks[i].(map[string]any)
			if text, ok := block["text"].(string); ok && strings.TrimSpace(text) == "" {
				continue
			}
			block["cache_control"] = marker
			break
		}
		return blocks
	}
	for i := len(b.Tools) - 1; i >= 0; i-- {
		if b.Tools[i]["defer_loading"] == nil {
			b.Tools[i]["cache_control"] = marker
			break
		}
	}
	b.System = mark(b.System)
	left := 2
	for i := len(b.Messages) - 1; i >= 0 && left > 0; i-- {
		if b.Messages[i].Role == "user" {
			b.Messages[i].Content = mark(b.Messages[i].Content)
			left--
		}
	}
	out, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// reads is what the turns of a conversation read of how many prompt tokens.
type reads struct{ read, prompt []int64 }

func (r *reads) total() (read, prompt int64) {
	for i := range r.read {
		read += r.read[i]
		prompt += r.prompt[i]
	}
	return read, prompt
}

// hold has the conversation through a gateway of its own.
func hold(t *testing.T, talk *conversation, send func(n int) string, header ...string) reads {
	t.Helper()
	clock := &slow{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	ended := make(chan vendorsim.Seen, len(talk.turns))
	sim := vendorsim.New(vendorsim.Config{
		Name: "reef", API: []catalog.API{catalog.Messages}, Keys: []string{vendorKey}, Now: clock.Now,
		Cache: vendorsim.Cache{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024},
		Ended: func(s vendorsim.Seen) { ended <- s },
	})
	g := newRig(t, nil, stop{name: "reef", api: "messages", serve: sim, price: markedPrice,
		extra: "    headers: {anthropic-version: \"2023-06-01\"}"})
	g.gateway.Now = clock.Now
	for n, turn := range talk.turns {
		clock.pass(turn.pause)
		if got := g.post("messages", send(n), header...); got.status != http.StatusOK || got.err != nil {
			t.Fatalf("turn %d: %d %s", n, got.status, got.body)
		}
	}
	r := reads{make([]int64, len(talk.turns)), make([]int64, len(talk.turns))}
	for range talk.turns {
		s := <-ended
		r.read[s.Seq-1], r.prompt[s.Seq-1] = s.Read, s.Prompt
	}
	return r
}

// A client that knows nothing of markers and says `caching: auto` has the token hit rate
// of one that places them with care: in a chat, in a tool loop whose turns have more
// blocks than a marker looks at, and across pauses that some entries do not outlive.
// WARMROUTE_CONVERSATIONS is how many there are of each shape.
func TestMarkersPlacedForAClientReadAsMuchAsByHand(t *testing.T) {
	conversations := number(t, "WARMROUTE_CONVERSATIONS", 1)
	const seed = 20261130
	for _, shape := range []string{"chat", "tool loop", "long gaps"} {
		t.Run(shape, func(t *testing.T) {
			var autoRead, handRead, prompts int64
			for i := range conversations {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				talk := conversationOf(shape, r, 10+r.IntN(6))
				for _, ttl := range []string{"5m", "1h"} {
					hand := hold(t, &talk, func(n int) string { return byHand(t, talk.body(n, ""), ttl) }, "x-session-id", "dory-7")
					extra := `,"caching":"auto","cache_ttl":"` + ttl + `"`
					if ttl == "5m" {
						extra = `,"caching":"auto"` // what is taken where nothing is known of pauses
					}
					auto := hold(t, &talk, func(n int) string { return talk.body(n, extra) }, "x-session-id", "dory-7")
					ar, ap := auto.total()
					hr, hp := hand.total()
					if ap != hp || ar < hr || hr == 0 {
						t.Errorf("seed %d, conversation %d, %s: read %d of %d, by hand %d of %d", seed, i, ttl, ar, ap, hr, hp)
					}
					autoRead, handRead, prompts = autoRead+ar, handRead+hr, prompts+ap
				}
				// Nor is anything lost by a client that does not even name its session.
				hand := hold(t, &talk, func(n int) string { return byHand(t, talk.body(n, ""), "5m") })
				auto := hold(t, &talk, func(n int) string { return talk.body(n, `,"caching":"auto"`) })
				for n := range talk.turns {
					if auto.read[n] < hand.read[n] {
						t.Errorf("seed %d, conversation %d, turn %d without a name: read %d, by hand %d", seed, i, n, auto.read[n], hand.read[n])
					}
				}
			}
			t.Logf("%d conversations: token hit rate %.4f, by hand %.4f", 2*conversations,
				float64(autoRead)/float64(prompts), float64(handRead)/float64(prompts))
		})
	}
}
