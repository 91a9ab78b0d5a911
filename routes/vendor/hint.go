package vendor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// maxHint is the longest text a vendor takes as a cache key, in characters (OpenAI
// refuses longer ones).
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

// ownKey is what stands for the client's own prompt_cache_key where that is longer than
// vendors take: a hash of all of it, so that two that begin alike are told apart and
// one is always the same. Pins go by the key itself. Empty: the key stays as it is.
func (c *Client) ownKey(call *Call, try *engine.Try) string {
	key := call.Body.Facts().CacheKey
	if len(key) <= maxHint || utf8.RuneCountInString(key) <= maxHint {
		return ""
	}
	return c.hashed("key", try.Session.Tenant, try.Candidate.Credential, key)
}

// maxPassed is how long a client's header may be that is passed on as it came.
const maxPassed = 1024

// passed adds the client's own headers that its profile has the vendor sent. One the
// client did not send is not made up, and one that no header may hold is left out.
func passed(h, client http.Header, names []string) {
	for _, name := range names {
		if values := client[name]; len(values) > 0 && len(values[0]) <= maxPassed && sendable(values[0]) {
			h[name] = values[:1:1]
		}
	}
}

// cacheKey is the prompt_cache_key to append for a session, empty for none.
func (c *Client) cacheKey(call *Call, try *engine.Try) string {
	if call.Body.API == catalog.Messages || !try.Session.Found() {
		return ""
	}
	v := try.Candidate.Route.Vendor
	for _, h := range v.Hints {
		if h.Member != "prompt_cache_key" || !h.For(call.Body.API) {
			continue
		}
		return c.hint(h, try.Session, try.Candidate.Credential)
	}
	return ""
}
