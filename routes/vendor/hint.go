package vendor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// maxHint is the longest session id a vendor takes as a cache key, in bytes
// (OpenAI refuses longer ones).
const maxHint = 64

// hint is what stands for a session at a vendor: one that another session started
// has its hint, as they share a prefix, unless the profile keeps them apart. The same session is the same text at one
// credential, however it was named and whatever its letters' case, for a child may
// name its parent otherwise than the parent itself. Without the key no one can tell
// who it is, nor can one tenant name the session of another.
func (c *Client) hint(h catalog.Hint, s engine.Session, credential string) string {
	id := s.Root()
	if h.Raw && len(id) <= maxHint && sendable(id) {
		return id
	}
	return c.hashed(s.Tenant, credential, strings.ToLower(id))
}

// hashed is a keyed hash of its parts, each behind its length.
func (c *Client) hashed(parts ...string) string {
	mac := hmac.New(sha256.New, c.o.HintKey)
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// apart is what a vendor is sent for a word of the client's own that names
// something at the account: the word, or where tenants share the account and are
// kept apart, a hash of it that is the tenant's.
func (c *Client) apart(call *Call, try *engine.Try, word string) string {
	if !call.Apart || try.Candidate.Group == engine.GroupClient {
		return word
	}
	return c.hashed("word", try.Session.Tenant, try.Candidate.Credential, word)
}

// sendable says whether text may stand in a header: visible ASCII and inner spaces.
func sendable(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && text[0] != ' ' && text[len(text)-1] != ' '
}

// cacheKey is the prompt_cache_key to append for a session, empty for none.
func (c *Client) cacheKey(call *Call, try *engine.Try) string {
	if call.Body.API == catalog.Messages || !try.Session.Found() {
		return ""
	}
	v := try.Candidate.Route.Vendor
	for _, h := range v.Hints {
		if h.Member != "prompt_cache_key" {
			continue
		}
		return c.hint(h, try.Session, try.Candidate.Credential)
	}
	return ""
}
