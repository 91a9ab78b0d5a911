package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

const (
	chatPath      = "/v1/chat/completions"
	responsesPath = "/v1/responses"
	messagesPath  = "/v1/messages"
)

// kinds are the clients of the feed. Sizes, headers and markers of the three
// coding agents are those that were seen on the wire; the others are what small
// applications do.
var kinds = []kind{
	{
		name: "claude-code", seats: 2, api: catalog.Messages, path: messagesPath + "?beta=true", model: "claude-sonnet-5", marks: markClaude,
		turns: [2]int{7, 14}, pause: [2]time.Duration{3 * time.Second, 10 * time.Second}, rest: 8 * time.Second,
		system: []int{100, 9_000, 18_000}, tools: 24, toolBytes: 81_000, first: []int{2_500, 2_500, 1_800}, result: [2]int{800, 5_000},
		begin: func(s *session) {
			// The line that this agent puts first, with its version and entry point.
			s.talk.system[0] = quoted("x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;")
		},
		shape: func(s *session, p *post) {
			claude(s, p)
			p.leaves = s.asked > 1 && s.rand.IntN(25) == 0 // somebody pressed escape
			if s.asked == 2 {
				p.brings = append(p.brings, s.helper("claude-code-helper", s.id))
			}
		},
	},
	{
		name: "opencode", seats: 1, api: catalog.Messages, path: messagesPath, model: "claude-sonnet-5", marks: markOpenCode,
		turns: [2]int{6, 12}, pause: [2]time.Duration{3 * time.Second, 9 * time.Second}, rest: 6 * time.Second,
		system: []int{9_000}, tools: 10, toolBytes: 21_000, first: []int{400}, result: [2]int{600, 4_000},
		begin: func(s *session) { s.id = "ses_" + hexed(s.rand, 26) },
		shape: func(s *session, p *post) {
			openCode(s, p)
			if s.asked == 0 {
				p.brings = append(p.brings, s.helper("opencode-title", s.id))
			}
		},
	},
	{
		name: "codex", seats: 2, api: catalog.Responses, path: responsesPath, model: "gpt-5.4",
		turns: [2]int{6, 12}, pause: [2]time.Duration{3 * time.Second, 10 * time.Second}, rest: 7 * time.Second,
		system: []int{9_000, 5_000, 3_000}, tools: 9, toolBytes: 19_000, first: []int{3_000}, result: [2]int{600, 4_000},
		shape: func(s *session, p *post) {
			p.header.Set("Authorization", "Bearer demo")
			p.header.Set("Originator", "codex_cli")
			p.header.Set("Session-Id", s.id)
			p.header.Set("Thread-Id", s.id)
			p.header.Set("X-Client-Request-Id", s.id)
			p.members = append(p.members, `"prompt_cache_key":`+quoted(s.id), `"reasoning":{"effort":"medium"}`,
				`"include":["reasoning.encrypted_content"]`, `"parallel_tool_calls":false`)
		},
	},
	{ // Many short talks behind one long handbook, which they name by a common key.
		name: "harbour-support", seats: 3, api: catalog.Chat, path: chatPath, model: "gpt-5.4", chat: true,
		turns: [2]int{2, 4}, pause: [2]time.Duration{5 * time.Second, 12 * time.Second}, rest: 9 * time.Second,
		system: []int{14_000},
		shape: func(s *session, p *post) {
			p.header.Set("X-Warmroute-Client", []string{"portal", "app", "phone"}[s.number%3])
			p.members = append(p.members, `"prompt_cache_key":"pilotage-handbook-7"`)
		},
	},
	{ // Every run opens with the same words and names no session. It goes where input is cheapest.
		name: "review-bot", seats: 1, api: catalog.Chat, path: chatPath, model: "cheap-agents",
		turns: [2]int{3, 5}, pause: [2]time.Duration{2 * time.Second, 6 * time.Second}, rest: 8 * time.Second,
		system: []int{7_000}, tools: 4, toolBytes: 6_000, result: [2]int{600, 3_000},
		begin: func(s *session) {
			s.talk.said = nil
			s.talk.ask("Review the change below by our checklist. Answer with a list of findings, the gravest first.")
			s.talk.ask(source(s.rand, 4_000))
		},
	},
	{ // Too little text to be cached, and no session either.
		name: "ticket-sorter", seats: 1, api: catalog.Chat, path: chatPath, model: "gpt-5.4", whole: true, chat: true,
		turns: [2]int{1, 1}, pause: [2]time.Duration{time.Second, time.Second}, rest: 9 * time.Second,
		system: []int{500},
	},
	{ // Drafts at the quickest vendor and finishes at the cheapest, or the other way round.
		name: "release-notes", seats: 2, api: catalog.Chat, path: chatPath, model: "gpt-oss-120b", chat: true,
		turns: [2]int{3, 6}, pause: [2]time.Duration{4 * time.Second, 9 * time.Second}, rest: 7 * time.Second,
		system: []int{6_000}, first: []int{5_000},
		shape: func(s *session, p *post) {
			p.members = append(p.members, `"session_id":`+quoted("notes-"+s.id))
			if (s.asked+s.number)%2 == 0 {
				p.option(`"order":["groq"]`)
			} else {
				p.option(`"sort":"price"`)
			}
		},
	},
	{
		name: "dispatcher", seats: 2, api: catalog.Chat, path: chatPath, model: "gpt-oss-120b",
		turns: [2]int{4, 8}, pause: [2]time.Duration{3 * time.Second, 8 * time.Second}, rest: 5 * time.Second,
		system: []int{5_000}, tools: 6, toolBytes: 8_000, result: [2]int{400, 2_000},
		shape: func(s *session, p *post) { p.header.Set("X-Session-Id", "dispatch-"+s.id) },
	},
	{ // People who read, think and go for coffee: longer than novita keeps its cache here.
		name: "notebook", seats: 3, api: catalog.Chat, path: chatPath, model: "kimi-k2.6", chat: true,
		turns: [2]int{5, 8}, pause: [2]time.Duration{4 * time.Second, 10 * time.Second}, rest: 9 * time.Second,
		system: []int{4_000}, first: []int{9_000},
		shape: func(s *session, p *post) {
			p.option(`"sessionId":` + quoted("notebook-"+s.id))
			if s.asked%3 == 1 {
				p.pause = time.Duration(between(s.rand, [2]int{40, 65})) * time.Second
			}
		},
	},
	{ // One leader, two helpers beside it, and another model for the summary.
		name: "convoy", seats: 1, api: catalog.Chat, path: chatPath, model: "deepseek-v4-pro",
		turns: [2]int{6, 10}, pause: [2]time.Duration{3 * time.Second, 8 * time.Second}, rest: 8 * time.Second,
		system: []int{8_000}, tools: 8, toolBytes: 14_000, first: []int{1_500}, result: [2]int{800, 4_000},
		shape: func(s *session, p *post) {
			p.header.Set("X-Convoy-Session-Id", s.id)
			switch {
			case s.asked == 1:
				p.brings = append(p.brings, s.helper("convoy-helper", uuid(s.rand)), s.helper("convoy-helper", uuid(s.rand)))
			case s.asked >= s.turns-2:
				p.model = "gpt-5.4"
			}
		},
	},
	{ // Greets from openai; with papers in the talk its policy asks azure first, whatever is warm.
		name: "customs-desk", seats: 1, api: catalog.Chat, path: chatPath, model: "house-rules", chat: true,
		turns: [2]int{6, 10}, pause: [2]time.Duration{4 * time.Second, 9 * time.Second}, rest: 6 * time.Second,
		system: []int{6_000},
		shape: func(s *session, p *post) {
			p.header.Set("X-Session-Affinity", "desk-"+s.id)
			if s.asked == 0 {
				p.option(`"order":["openai"]`)
			}
		},
	},
	{ // One step of its work may be done at azure only.
		name: "auditor", seats: 1, api: catalog.Chat, path: chatPath, model: "gpt-5.4",
		turns: [2]int{6, 9}, pause: [2]time.Duration{4 * time.Second, 9 * time.Second}, rest: 6 * time.Second,
		system: []int{7_000}, tools: 5, toolBytes: 7_000, result: [2]int{500, 3_000},
		shape: func(s *session, p *post) {
			p.members = append(p.members, `"session_id":`+quoted("audit-"+s.id))
			if s.asked == 2 {
				p.option(`"only":["azure"]`)
			}
		},
	},
	{ // Measures vendors and wants no help.
		name: "benchmark", seats: 1, api: catalog.Chat, path: chatPath, model: "kimi-k2.6", chat: true, whole: true,
		turns: [2]int{2, 3}, pause: [2]time.Duration{5 * time.Second, 9 * time.Second}, rest: 15 * time.Second,
		system: []int{3_000},
		shape: func(s *session, p *post) {
			p.header.Set("X-Session-Id", "bench-"+s.id)
			p.header.Set("X-Warmroute-Affinity", "off")
		},
	},

	// Helpers have no seats: a session of another kind brings them.
	{
		name: "claude-code-helper", api: catalog.Messages, path: messagesPath + "?beta=true", model: "claude-haiku-4.5", marks: markClaude,
		turns: [2]int{2, 4}, pause: [2]time.Duration{2 * time.Second, 5 * time.Second},
		system: []int{100, 2_000, 6_000}, tools: 8, toolBytes: 24_000, first: []int{600}, result: [2]int{600, 3_000},
		shape: func(s *session, p *post) {
			claude(s, p)
			p.header.Set("X-Claude-Code-Agent-Id", "agent-"+strconv.Itoa(s.number))
		},
	},
	{
		name: "opencode-title", api: catalog.Messages, path: messagesPath, model: "claude-haiku-4.5", marks: markOpenCode,
		turns: [2]int{1, 1}, pause: [2]time.Duration{time.Second, time.Second}, system: []int{2_400}, first: []int{300},
		shape: openCode,
	},
	{
		name: "convoy-helper", api: catalog.Chat, path: chatPath, model: "deepseek-v4-pro",
		turns: [2]int{2, 4}, pause: [2]time.Duration{2 * time.Second, 5 * time.Second},
		system: []int{5_000}, tools: 8, toolBytes: 14_000, first: []int{1_000}, result: [2]int{600, 3_000},
		shape: func(s *session, p *post) {
			p.header.Set("X-Convoy-Session-Id", s.id)
			p.header.Set("X-Parent-Session-Id", s.parent)
		},
	},
}

// claude is what Claude Code puts into every request.
func claude(s *session, p *post) {
	p.header.Set("X-Api-Key", "demo")
	p.header.Set("X-App", "cli")
	p.header.Set("Anthropic-Version", "2023-06-01")
	p.header.Set("Anthropic-Beta", "claude-code-20250219,interleaved-thinking-2025-05-14")
	p.header.Set("X-Claude-Code-Session-Id", s.id)
	user := `{"device_id":"` + strings.Repeat("d", 32) + `","account_uuid":"","session_id":"` + s.id + `"}`
	p.members = append(p.members, `"metadata":{"user_id":`+quoted(user)+`}`)
}

// openCode is what OpenCode puts into every request.
func openCode(s *session, p *post) {
	p.header.Set("X-Api-Key", "demo")
	p.header.Set("Anthropic-Version", "2023-06-01")
	p.header.Set("X-Session-Id", s.id)
	p.header.Set("X-Session-Affinity", s.id)
}

// helper is a sub-agent that the session starts, or a side call that it makes,
// under an id that may be its own.
func (s *session) helper(name, id string) *session {
	r := rand.New(rand.NewPCG(s.rand.Uint64(), s.rand.Uint64())) // of its own: it may act beside s
	h := newSession(s.world, s.world.settings[name].kind, r, s.name+" "+name, s.number)
	h.id, h.parent = id, s.id
	return h
}

// cast is everybody who takes part: every seat, and the weather.
func (f *feed) cast() []actor {
	seats := f.world.seats()
	all := make([]actor, 0, len(seats)+1)
	for _, c := range seats {
		all = append(all, c)
	}
	return append(all, newWeather(f.world))
}

// seats are the seats of every kind, nobody at work yet.
func (w *world) seats() []*seat {
	var all []*seat
	for i := range kinds {
		for n := range kinds[i].seats {
			all = append(all, &seat{kind: &kinds[i], part: uint64(1000 + 100*i + n), number: n})
		}
	}
	return all
}
