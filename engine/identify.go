package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of design section 3, in characters.
const (
	MaxID     = 256 // a longer session id becomes its SHA-256
	MinOwnID  = 8   // a shorter id in an application's own header is ignored
	MaxClient = 64  // a longer client label is ignored
)

// ClientHeader labels the client of a request.
const ClientHeader = "X-Warmroute-Client"

// agentHeaders are the headers by which coding agents name their sessions, in
// the order in which they are asked, and the label of the client that sends
// them. Header names are in canonical form.
//
// Sources: what Claude Code and Codex were seen to send; of the others, what their
// makers document and their users report in public. Left out on purpose:
// x-session-token (names an endpoint, not a conversation), x-litellm-trace-id
// (may name one call) and x-client-request-id on its own (most clients send a
// fresh one with every request; see [requestIDHeader]).
var agentHeaders = []struct{ header, client string }{
	{claudeSession, claudeCode},
	{"Session-Id", codex},
	{"Session_id", codex},
	{"Thread-Id", codex},
	{"X-Deepseek-Harness-Session-Id", "deepseek-harness"},
	{"X-Grok-Conv-Id", "grok"},
	{"X-Merge-Thread-Id", "merge"},
	{"Agent-Session-Id", ""},
}

// seenOnTheWire is how many of agentHeaders were seen, not read about. The
// session in metadata.user_id comes after these and before the others.
const seenOnTheWire = 4

const (
	claudeCode = "claude-code"
	codex      = "codex"

	sessionHeader       = "X-Session-Id"
	affinityHeader      = "X-Session-Affinity"
	parentHeader        = "X-Parent-Session-Id"
	ownHeaderEnd        = "-Session-Id"
	claudeSession       = "X-Claude-Code-Session-Id"
	claudeAgent         = "X-Claude-Code-Agent-Id"
	claudeParentAgent   = "X-Claude-Code-Parent-Agent-Id"
	requestIDHeader     = "X-Client-Request-Id" // names a session only where prompt_cache_key repeats it, as Codex and pi do
	claudeUserSession   = "_session_"
	claudeUserBeginning = "user_"
)

// Identify names the session of a request: the first source of design section 3
// that yields a valid value wins (sources 1 to 7 and 9; the turn chain is left
// out, as the default profile does).
//
// Without any of them the session is not found; its tenant and client are set
// all the same. A blank value counts as none, and of a header sent twice the
// first value counts. Identify asks for the request's opening only if nothing
// else named the session.
//
// p says which sources there are, and their order; nil is [Warmroute].
func Identify(r Request, p *Profile) Session {
	s := Session{Tenant: r.Tenant}
	names := scan(r.Header)
	s.Parent = names.parent
	s.Client = names.client(r.Header)
	switch {
	case s.is(ClassExplicit, r.OptionID):
	case s.is(ClassExplicit, r.BodyID):
	case s.is(ClassExplicit, first(r.Header, sessionHeader)):
	case s.is(ClassExplicit, first(r.Header, affinityHeader)):
	case s.is(ClassExplicit, names.ownID):
	case agentKey(r) && s.is(ClassAgent, r.CacheKey):
	case s.is(ClassCacheKey, r.CacheKey):
	case s.is(ClassAgent, agentID(r.Header, r.MetadataUser)):
	case r.Opening != nil:
		if id, ok := Fingerprint(r.Tenant, r.Opening()); ok {
			s.Class, s.ID = ClassFingerprint, id
		}
	}
	if s.Parent == "" {
		s.Parent = claudeParent(r.Header, s)
	}
	return s
}

// is takes id for the session's if it is a valid one.
func (s *Session) is(class Class, id string) bool {
	id = bounded(id)
	if id == "" {
		return false
	}
	s.Class, s.ID = class, id
	return true
}

// Key is where the session's pins of one scope are kept.
func (s Session) Key(scope string) PinKey {
	return PinKey{Tenant: s.Tenant, Class: s.Class, ID: s.ID, Scope: scope}
}

// bounded is the id as it is kept: trimmed, and replaced by the SHA-256 of the
// whole if it is too long to keep or not plain text. Cutting instead would make
// one session of two that begin alike.
func bounded(id string) string {
	id = strings.TrimSpace(id)
	if len(id) <= MaxID && plain(id) || utf8.RuneCountInString(id) <= MaxID && plain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// plain says whether text is valid UTF-8 without control characters.
func plain(text string) bool {
	for _, c := range text {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return false
		}
	}
	return true
}

// first is the first value of a header whose name is in canonical form.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return strings.TrimSpace(values[0])
	}
	return ""
}

// ownNames is what the headers x-<name>-session-id and their parents said.
type ownNames struct {
	own    string // <name> of the header that counts; empty if none
	ownID  string
	from   string // <name> of the parent header that counts
	parent string // the parent's id
}

// scan looks for x-<name>-session-id and x-<name>-parent-session-id. Of several
// the name that sorts first counts, since a header map has no order. The
// ordinary x-parent-session-id goes before all of them.
func scan(h http.Header) (n ownNames) {
	n.parent = bounded(first(h, parentHeader))
	general := n.parent != ""
	for key, values := range h {
		if len(key) <= len("X-")+len(ownHeaderEnd) || !strings.HasSuffix(key, ownHeaderEnd) || !strings.HasPrefix(key, "X-") || len(values) == 0 {
			continue
		}
		name := strings.ToLower(key[len("X-") : len(key)-len(ownHeaderEnd)])
		if of, isParent := strings.CutSuffix(name, "-parent"); isParent {
			id := bounded(strings.ToLower(values[0]))
			if !general && validName(of) && id != "" && (n.from == "" || of < n.from) {
				n.from, n.parent = of, id
			}
			continue
		}
		if !validName(name) || reservedName(name) || n.own != "" && n.own < name {
			continue
		}
		id := strings.ToLower(strings.TrimSpace(values[0]))
		if length := utf8.RuneCountInString(id); length < MinOwnID || length > MaxID {
			continue
		}
		n.own, n.ownID = name, id
	}
	return n
}

// client is the label of who sent the request.
func (n ownNames) client(h http.Header) string {
	if label := first(h, ClientHeader); validLabel(label) {
		return label
	}
	if validLabel(n.own) {
		return n.own
	}
	for _, a := range agentHeaders {
		if _, ok := h[a.header]; ok {
			return a.client
		}
	}
	return ""
}

func validLabel(label string) bool {
	return label != "" && utf8.RuneCountInString(label) <= MaxClient && plain(label)
}

// validName says whether a header's <name> is [a-z0-9_-]+.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != ""
}

// reservedName says whether x-<name>-session-id means something else than an
// application's own session: a parent, a known agent, or a request that another
// warmroute has forwarded.
func reservedName(name string) bool {
	switch name {
	case "parent", "warmroute", claudeCode, "deepseek-harness":
		return true
	}
	return false
}

// agentKey says whether prompt_cache_key repeats an agent's session header: then
// it names one conversation, not a prefix that many share.
func agentKey(r Request) bool {
	key := strings.TrimSpace(r.CacheKey)
	if key == "" {
		return false
	}
	for _, a := range agentHeaders {
		if first(r.Header, a.header) == key {
			return true
		}
	}
	return first(r.Header, requestIDHeader) == key
}

// agentID is the session a coding agent names in its headers, or Claude Code in
// metadata.user_id; empty if none does.
func agentID(h http.Header, user string) string {
	for _, a := range agentHeaders[:seenOnTheWire] {
		if id := first(h, a.header); id != "" {
			return id
		}
	}
	if id := userSession(user); id != "" {
		return id
	}
	for _, a := range agentHeaders[seenOnTheWire:] {
		if id := first(h, a.header); id != "" {
			return id
		}
	}
	return ""
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
		return strings.TrimSpace(holds.SessionID)
	}
	if !strings.HasPrefix(user, claudeUserBeginning) {
		return ""
	}
	at := strings.LastIndex(user, claudeUserSession)
	if at < 0 || !isUUID(user[at+len(claudeUserSession):]) {
		return ""
	}
	return user[at+len(claudeUserSession):]
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

// claudeParent is the parent of a turn that one of Claude Code's sub-agents
// makes: the session itself, whose id they all share, however deep they nest. The
// ids of the agents between name no session.
func claudeParent(h http.Header, s Session) string {
	if first(h, claudeAgent) != "" || first(h, claudeParentAgent) != "" {
		return s.ID
	}
	return ""
}
