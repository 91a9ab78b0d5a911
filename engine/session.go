package engine

// Class says how a session came to its name. The same id by header or by body is
// one session: both are explicit.
type Class string

// The classes of design section 3.
const (
	ClassExplicit    Class = "explicit"
	ClassCacheKey    Class = "cache_key"
	ClassAgent       Class = "agent"
	ClassChain       Class = "chain"
	ClassFingerprint Class = "fingerprint"
)

// Session is one conversation, agent run or workflow of one tenant.
//
// A Session without an ID is none: the request could not be named, is never
// pinned and never promoted. Its tenant and client may be known all the same.
type Session struct {
	Tenant string
	Class  Class
	ID     string // as sent, or the SHA-256 in hex of what was longer than 256 characters
	Client string // label of the client, at most 64 characters; empty if none
	Parent string // id of the session that started this one; empty if none, and ID itself for the sub-agents that share their session's id
	Alone  bool   // neither its parent's pins nor its parent's name at vendors are the session's: see [Profile.Apart]
}

// Found says whether the request belongs to a session.
func (s Session) Found() bool { return s.ID != "" }

// HasParent says whether another session started this one, whose pins are its own
// until it has some.
func (s Session) HasParent() bool { return s.Parent != "" && s.Parent != s.ID && !s.Alone }

// Root is the id by which vendors are told of the session: that of the session which
// started it, as they share a prefix, unless the two are kept apart.
func (s Session) Root() string {
	if s.Parent != "" && !s.Alone {
		return s.Parent
	}
	return s.ID
}

// Source is the word the response uses for how the session was named: explicit
// (cache keys too), agent, chain or fingerprint; empty without a session.
func (s Session) Source() string {
	if s.Class == ClassCacheKey {
		return string(ClassExplicit)
	}
	return string(s.Class)
}

// SelfNamed says whether the gateway, not the caller, chose to treat the
// request as a session. Only such sessions must reach the minimum prefix.
func (s Session) SelfNamed() bool {
	return s.Class == ClassAgent || s.Class == ClassFingerprint
}
