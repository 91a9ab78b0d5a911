package engine

import (
	"encoding/json"
	"net/http"
	"strings"
)

// agentHeaders are the headers by which coding agents name their sessions, in
// the order in which they are asked, and the label of the client that sends
// them. Header names are in canonical form.
//
// Sources: the first four were seen on the wire. Of the others, what their makers
// document or their published clients send: DeepSeek's harness, xAI's prompt
// caching pages, OpenCode towards its own vendor, Amp, Kilo Code, Copilot's CLI,
// Open WebUI, Coder; Merge's page, and Envoy's AI Gateway, whose header any agent may
// send. X-Session-Id and X-Session-Affinity, which OpenCode and many others send, are
// generic and have sources of their own.
//
// Left out on purpose: x-session-token (names an endpoint, not a conversation),
// x-litellm-trace-id (may name one call), x-interaction-id (one message of a
// person), workspace ids, and x-client-request-id on its own (most clients send a
// fresh one with every request; see [requestIDHeader]).
var agentHeaders = []struct{ header, client string }{
	{claudeSession, claudeCode},
	{"Session-Id", codex},
	{"Session_id", codex},
	{"Thread-Id", codex},
	{"X-Deepseek-Harness-Session-Id", "deepseek-harness"},
	{"X-Opencode-Session", "opencode"},
	{"X-Amp-Thread-Id", "amp"},
	{"X-Kilocode-Taskid", "kilocode"},
	{"X-Client-Session-Id", "copilot"},
	{"X-Grok-Conv-Id", "grok"},
	{"X-Openwebui-Chat-Id", "openwebui"},
	{"X-Coder-Chat-Id", "coder"},
	{"X-Merge-Thread-Id", "merge"},
	{"Agent-Session-Id", ""},
}

// seenOnTheWire is how many of agentHeaders were seen, not read about. The
// session in metadata.user_id comes after these and before the others.
const seenOnTheWire = 4

const (
	claudeCode = "claude-code"
	codex      = "codex"

	claudeSession       = "X-Claude-Code-Session-Id"
	claudeAgent         = "X-Claude-Code-Agent-Id"
	claudeParentAgent   = "X-Claude-Code-Parent-Agent-Id"
	requestIDHeader     = "X-Client-Request-Id" // names a session only where prompt_cache_key repeats it, as Codex and pi do
	claudeUserSession   = "_session_"
	claudeUserBeginning = "user_"
	userPath            = "metadata.user_id" // as a source's name: Claude Code's session in it
)

// agentKey says whether prompt_cache_key repeats an agent's session header: then
// it names one conversation, not a prefix that many share.
func agentKey(r *Request) bool {
	key := strings.TrimSpace(r.CacheKey)
	if key == "" {
		return false
	}
	for i := range agentHeaders {
		if first(r.Header, agentHeaders[i].header) == key {
			return true
		}
	}
	return first(r.Header, requestIDHeader) == key
}

// agents takes the session that a coding agent names in its headers, or Claude
// Code in metadata.user_id.
func (s *Session) agents(src *Source, r *Request) bool {
	for i := range agentHeaders {
		if i == seenOnTheWire && s.take(src, src.Class, userSession(r.MetadataUser)) {
			return true
		}
		if s.take(src, src.Class, first(r.Header, agentHeaders[i].header)) {
			return true
		}
	}
	return false
}

// agentClient is the label of the agent that sent the request; empty if none did.
func agentClient(h http.Header) string {
	for i := range agentHeaders {
		if _, ok := h[agentHeaders[i].header]; ok {
			return agentHeaders[i].client
		}
	}
	return ""
}

// agentName says whether x-<name>-session-id is a known agent's header.
func agentName(name string) bool {
	for i := range agentHeaders {
		header := agentHeaders[i].header
		inner, ok := strings.CutSuffix(header, ownHeaderEnd)
		if ok && len(inner) == len("X-")+len(name) && strings.EqualFold(inner[len("X-"):], name) {
			return true
		}
	}
	return false
}

// userSession is the session part of Anthropic's metadata.user_id as Claude Code
// fills it: a string that holds JSON with a session_id, or, in older versions,
// user_<hash>_account_<uuid>_session_<uuid>. Any other user id names a user, not
// a session.
func userSession(user string) string {
	user = strings.TrimSpace(user)
	if strings.HasPrefix(user, "{") {
		var holds struct {
			SessionID string `json:"session_id"`
		}
		if json.Unmarshal([]byte(user), &holds) != nil {
			return ""
		}
		return trimmed(holds.SessionID)
	}
	if !strings.HasPrefix(user, claudeUserBeginning) {
		return ""
	}
	at := strings.LastIndex(user, claudeUserSession)
	if at < 0 || !isUUID(user[at+len(claudeUserSession):]) {
		return ""
	}
	return strings.Clone(user[at+len(claudeUserSession):]) // and not all of a user id that may be long
}

// isUUID says whether text has the form 8-4-4-4-12 of hexadecimal digits.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// subAgent is the id of the sub-agent of Claude Code that sent the request; empty
// for its main agent and for other clients.
func subAgent(h http.Header) string {
	if id := first(h, claudeAgent); id != "" {
		return id
	}
	return first(h, claudeParentAgent)
}
