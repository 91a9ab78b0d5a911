package engine

import (
	"net/http"
	"testing"
)

// What each known agent names its session by, and the label it has in the books. An
// application's own header and those that many send are sources of their own.
func TestAgentsByTheirHeaders(t *testing.T) {
	const json = `{"device_id":"4f","account_uuid":"","session_id":"` + aUUID + `"}`
	cases := []struct {
		agent  string
		r      Request
		class  Class
		id     string
		client string
	}{
		{"Claude Code", Request{Header: headers("x-claude-code-session-id", aUUID), MetadataUser: json}, ClassAgent, aUUID, "claude-code"},
		{"Claude Code by metadata.user_id", Request{MetadataUser: json}, ClassAgent, aUUID, ""},
		{"Codex", Request{CacheKey: aUUID, Header: headers("session-id", aUUID, "thread-id", aUUID, "x-client-request-id", aUUID, "x-codex-window-id", aUUID+":0")}, ClassAgent, aUUID, "codex"},
		{"Codex, an older one", Request{CacheKey: aUUID, Header: headers("session_id", aUUID)}, ClassAgent, aUUID, "codex"},
		{"Codex by its thread", Request{Header: headers("thread-id", aUUID)}, ClassAgent, aUUID, "codex"},
		{"pi, whose cache key says the same", Request{CacheKey: aUUID, Header: headers("x-client-request-id", aUUID)}, ClassAgent, aUUID, ""},
		{"pi, whose cache key says something else", Request{CacheKey: "prefix-7", Header: headers("x-client-request-id", aUUID)}, ClassCacheKey, "prefix-7", ""},
		{"OpenCode", Request{Header: headers("x-session-id", "ses_1", "x-session-affinity", "ses_1")}, ClassExplicit, "ses_1", ""},
		{"OpenCode at its own vendor", Request{Header: headers("x-opencode-session", "ses_1")}, ClassAgent, "ses_1", "opencode"},
		{"DeepSeek's harness", Request{Header: headers("x-deepseek-harness-session-id", "Tide-7")}, ClassAgent, "Tide-7", "deepseek-harness"},
		{"Amp", Request{Header: headers("x-amp-thread-id", "T-7")}, ClassAgent, "T-7", "amp"},
		{"Kilo Code", Request{Header: headers("x-kilocode-taskid", "task-7")}, ClassAgent, "task-7", "kilocode"},
		{"Copilot", Request{Header: headers("x-client-session-id", "c-7")}, ClassAgent, "c-7", "copilot"},
		{"Grok", Request{Header: headers("x-grok-conv-id", "g-7")}, ClassAgent, "g-7", "grok"},
		{"Grok with a cache key that says the same", Request{CacheKey: "g-7", Header: headers("x-grok-conv-id", "g-7")}, ClassAgent, "g-7", "grok"},
		{"Open WebUI", Request{Header: headers("x-openwebui-chat-id", "chat-7")}, ClassAgent, "chat-7", "openwebui"},
		{"Coder", Request{Header: headers("x-coder-chat-id", "chat-7")}, ClassAgent, "chat-7", "coder"},
		{"Merge's thread", Request{Header: headers("x-merge-thread-id", "t-7")}, ClassAgent, "t-7", "merge"},
		{"any agent before Envoy's gateway", Request{Header: headers("agent-session-id", "a-7")}, ClassAgent, "a-7", ""},
		{"LangChain, as an application of its own", Request{Header: headers("x-langchain-session-id", "Tide-Table-7")}, ClassExplicit, "tide-table-7", "langchain"},
		{"an application with a label beside it", Request{Header: headers("x-langchain-session-id", "tide-table-7", "x-warmroute-client", "almanac")}, ClassExplicit, "tide-table-7", "almanac"},
	}
	met := http.Header{}
	for _, c := range cases {
		t.Run(c.agent, func(t *testing.T) {
			s := Identify(c.r, nil)
			if s.Class != c.class || s.ID != c.id || s.Client != c.client {
				t.Errorf("%s %q of %q, want %s %q of %q", s.Class, s.ID, s.Client, c.class, c.id, c.client)
			}
		})
		for name := range c.r.Header {
			met[name] = nil
		}
	}
	for _, known := range agentHeaders {
		if _, ok := met[known.header]; !ok {
			t.Errorf("%s has no line here", known.header)
		}
	}
}
