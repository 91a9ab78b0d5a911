package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
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

const (
	sessionHeader  = "X-Session-Id"
	affinityHeader = "X-Session-Affinity"
	parentHeader   = "X-Parent-Session-Id"
	ownHeaderEnd   = "-Session-Id"
)

// Identify names the session of a request: the first of the profile's sources that
// yields a valid value wins. nil is [Warmroute].
//
// Without any of them the session is not found; its tenant and client are set
// all the same. A blank value counts as none, and of a header sent twice the
// first value counts. A session that only the turns before it can name has the
// class chain and no id: [Gateway] finds it. Identify asks for the request's
// opening only if nothing else named the session.
func Identify(r Request, p *Profile) Session { return identify(&r, p.or()) }

func identify(r *Request, p *Profile) Session {
	s := Session{Tenant: r.Tenant, Alone: p.Apart}
	names := scan(r.Header, p)
	s.Parent = names.parent
	s.Client = names.client(r.Header, p)
	for i := range p.Sources {
		if s.named(&p.Sources[i], r, &names, p) {
			break
		}
	}
	if agent := subAgent(r.Header); agent != "" && s.Parent == "" {
		s.Parent = s.ID // which all its agents share, however deep they nest; the ids of those between name no session
		if p.Apart && s.Class == ClassAgent && p.allAgents() != nil {
			s.ID = hashOf(s.ID, agent)
		}
	}
	return s
}

// named takes the session's name from a source; false means that it is not there.
func (s *Session) named(src *Source, r *Request, own *ownNames, p *Profile) bool {
	if len(src.APIs) > 0 && !slices.Contains(src.APIs, r.API) {
		return false
	}
	switch src.In {
	case InOwn:
		return s.is(src.Class, own.ownID)
	case InCacheKey:
		if all := p.allAgents(); all != nil && agentKey(r) {
			return s.take(src, all.Class, r.CacheKey)
		}
		return s.take(src, src.Class, r.CacheKey)
	case InAgent:
		if len(src.Names) == 0 {
			return s.agents(src, r)
		}
	case InChain:
		if r.Opening == nil && r.Last == nil {
			return false // no conversation
		}
		s.Class = src.Class
		return true
	case InOpener:
		if r.Opening == nil {
			return false
		}
		id, ok := Fingerprint(r.Tenant, r.Opening(), p.Opener)
		return ok && s.is(src.Class, id)
	case InKey:
		return s.is(src.Class, keySession(r.Key))
	case InFields:
		return s.is(src.Class, fieldsOf(r, src.Names))
	}
	for _, name := range src.Names {
		if s.take(src, src.Class, src.value(r, name)) {
			return true
		}
	}
	return false
}

// value is what the request has under one of the source's names; empty if nothing.
func (src *Source) value(r *Request, name string) string {
	switch {
	case src.In == InHeader:
		return first(r.Header, name)
	case src.In == InAgent && name == userPath:
		return userSession(r.MetadataUser)
	case src.In == InAgent:
		return first(r.Header, name)
	case src.In == InOption && name == "sessionId":
		return r.OptionID
	case src.In == InOption:
		return r.field("providerOptions.gateway." + name)
	case src.In == InBody && name == "session_id":
		return r.BodyID
	case src.In == InBody && name == "sessionId":
		return r.BodyCamelID
	case src.In == InMetadata && name == "user_id":
		return r.MetadataUser
	case src.In == InMetadata:
		return r.field("metadata." + name)
	}
	return r.field(name)
}

// field is a plain value of the body; empty where it has none there.
func (r *Request) field(path string) string {
	if r.Field == nil {
		return ""
	}
	value, _ := r.Field(path)
	return value
}

// fieldsOf is the hash of the fields that the request has of those that are
// nominated, with their paths; empty if it has none of them.
func fieldsOf(r *Request, paths []string) string {
	if r.Field == nil {
		return ""
	}
	h := digest{Hash: sha256.New()}
	some := false
	for _, path := range paths {
		value, ok := r.Field(path)
		if !ok || strings.TrimSpace(value) == "" {
			continue
		}
		some = true
		h.part([]byte(path))
		h.part([]byte(value))
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// allAgents is the profile's source that knows every coding agent; nil if it has none.
func (p *Profile) allAgents() *Source {
	for i := range p.Sources {
		if src := &p.Sources[i]; src.In == InAgent && len(src.Names) == 0 {
			return src
		}
	}
	return nil
}

// take takes value for the session's id if it is what the source asks for.
func (s *Session) take(src *Source, class Class, value string) bool {
	value = trimmed(value)
	if value == "" || !src.fits(value) {
		return false
	}
	if src.Lower {
		value = strings.ToLower(value)
	}
	return s.is(class, value)
}

// fits says whether a value is as long as the source asks for.
func (src *Source) fits(value string) bool {
	if src.Least == 0 && src.Most == 0 {
		return true
	}
	n := utf8.RuneCountInString(value)
	return n >= src.Least && (src.Most == 0 || n <= src.Most)
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
	id = trimmed(id)
	if len(id) <= MaxID && plain(id) || utf8.RuneCountInString(id) <= MaxID && plain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// trimmed is text without the white space around it. Who keeps it does not keep all of
// that, too: a client may put megabytes of it around one letter.
func trimmed(text string) string {
	if cut := strings.TrimSpace(text); len(cut) < len(text) {
		return strings.Clone(cut)
	}
	return text
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
		return trimmed(values[0])
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

// scan looks for x-<name>-session-id and x-<name>-parent-session-id, where the
// profile has a source for them. Of several the name that sorts first counts, since
// a header map has no order. The ordinary x-parent-session-id goes before all of
// them.
func scan(h http.Header, p *Profile) (n ownNames) {
	n.parent = bounded(first(h, parentHeader))
	src := p.own()
	if src == nil {
		return n
	}
	general := n.parent != ""
	for key, values := range h {
		if len(key) <= len("X-")+len(ownHeaderEnd) || !strings.HasSuffix(key, ownHeaderEnd) || !strings.HasPrefix(key, "X-") || len(values) == 0 {
			continue
		}
		name := strings.ToLower(key[len("X-") : len(key)-len(ownHeaderEnd)])
		id := trimmed(values[0])
		if src.Lower {
			id = strings.ToLower(id)
		}
		if of, isParent := strings.CutSuffix(name, "-parent"); isParent {
			id = bounded(id)
			if !general && validName(of) && id != "" && (n.from == "" || of < n.from) {
				n.from, n.parent = of, id
			}
			continue
		}
		if !validName(name) || p.reserves(name) || n.own != "" && n.own < name || id == "" || !src.fits(id) {
			continue
		}
		n.own, n.ownID = name, id
	}
	return n
}

// own is the profile's source of x-<name>-session-id; nil if it has none.
func (p *Profile) own() *Source {
	for i := range p.Sources {
		if p.Sources[i].In == InOwn {
			return &p.Sources[i]
		}
	}
	return nil
}

// client is the label of who sent the request.
func (n ownNames) client(h http.Header, p *Profile) string {
	for _, name := range p.Labels {
		if label := first(h, name); validLabel(label) {
			return label
		}
	}
	if label := first(h, ClientHeader); validLabel(label) {
		return label
	}
	if validLabel(n.own) {
		return n.own
	}
	return agentClient(h)
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

// reserves says whether x-<name>-session-id means something else than an
// application's own session: a parent, a known agent, a request that another
// warmroute has forwarded, or what the profile keeps for itself.
func (p *Profile) reserves(name string) bool {
	return name == "parent" || name == "warmroute" || agentName(name) || slices.Contains(p.Reserved, name)
}

// hashOf is the SHA-256 in hex of its parts, each behind its length.
func hashOf(parts ...string) string {
	h := digest{Hash: sha256.New()}
	for _, part := range parts {
		h.part([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keySession is the session of everything that one gateway key asks for: a hash of
// the key's hash, since that is what a configuration keeps to know the key by.
func keySession(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("session of key " + key))
	return hex.EncodeToString(sum[:])
}
