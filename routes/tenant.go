package routes

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// Tenant is one team that shares the gateway: how it is known, and what holds
// for its every request.
type Tenant struct {
	ID       string
	Keys     [][sha256.Size]byte // SHA-256 of each of its keys, at least one
	Metadata vendor.Metadata     // where a request says nothing; empty: that of [Options]
	Drain    *vendor.Drain       // how far its answers are read on; nil: as [Options] say
	Rules    engine.Rules
	Own      OwnKeys // keys of its own for vendors

	key string // SHA-256 in hex of the key that was presented; empty where none is asked for
}

// maxTenantID is the longest id of a tenant, in bytes: it stands in every line of
// the log and every row of the books.
const maxTenantID = 64

// Tenants are those who may use the gateway. They do not change; their methods may
// be called from several goroutines.
type Tenants struct {
	list   []Tenant
	pepper [16]byte
	byKey  map[[sha256.Size]byte]int // sealed hash of a key: place in keys
	keys   []tenantKey               // the first is nobody's
}

// tenantKey is one key as it is kept.
type tenantKey struct {
	hash   [sha256.Size]byte
	tenant *Tenant // with this key as the one that was presented
}

// NewTenants makes the tenants of a gateway. Where there are several, each is kept
// apart from the others ([engine.Rules.Apart]). Every mistake is in the error: no
// tenant at all; an id that is missing, given twice, longer than 64 bytes or not
// printable; a tenant without a key; a key that is given twice; a metadata mode
// that is none.
func NewTenants(list []Tenant) (*Tenants, error) {
	t := &Tenants{list: slices.Clone(list), byKey: map[[sha256.Size]byte]int{}, keys: make([]tenantKey, 1)}
	_, _ = rand.Read(t.pepper[:]) // never fails
	_, _ = rand.Read(t.keys[0].hash[:])
	var problems []error
	mistake := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(list) == 0 {
		mistake("there is no tenant; name one, or leave tenants out to serve everyone as one")
	}
	seen := map[string]bool{}
	for i := range t.list {
		tenant := &t.list[i]
		switch {
		case tenant.ID == "":
			mistake("tenant %d has no id; give it one", i+1)
		case len(tenant.ID) > maxTenantID || strings.ContainsFunc(tenant.ID, unprintable):
			mistake("tenant %d: its id must be at most %d printable bytes", i+1, maxTenantID)
		case seen[tenant.ID]:
			mistake("tenant %q is there twice; give it all its keys in one place", tenant.ID)
		}
		seen[tenant.ID] = true
		if len(tenant.Keys) == 0 {
			mistake("tenant %q has no key; give it one, or nobody can be this tenant", tenant.ID)
		}
		if _, ok := vendor.ParseMetadata(string(tenant.Metadata)); !ok && tenant.Metadata != "" {
			mistake("tenant %q: metadata must be body, header or off", tenant.ID)
		}
		tenant.Rules.Apart = tenant.Rules.Apart || len(list) > 1
		for n, hash := range tenant.Keys {
			sealed := t.seal(hash)
			if before, twice := t.byKey[sealed]; twice {
				mistake("tenant %q: its key %d is also a key of tenant %q; every key belongs to one", tenant.ID, n+1, t.keys[before].tenant.ID)
				continue
			}
			t.byKey[sealed] = len(t.keys)
			own := *tenant
			own.key = hex.EncodeToString(hash[:])
			t.keys = append(t.keys, tenantKey{hash, &own})
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return t, nil
}

func unprintable(c rune) bool { return !unicode.IsGraphic(c) || c == unicode.ReplacementChar }

// seal is a hash under this process's pepper: who presents keys cannot know what
// is looked up for them, and so cannot aim at what is stored. Its input has one
// length and fills one block.
func (t *Tenants) seal(hash [sha256.Size]byte) [sha256.Size]byte {
	var block [len(t.pepper) + sha256.Size]byte
	copy(block[:], t.pepper[:])
	copy(block[len(t.pepper):], hash[:])
	return sha256.Sum256(block[:])
}

// find is whose key this is, nil if it is nobody's. It takes as long for one as
// for another of its length: how much of it is right does not show.
func (t *Tenants) find(key string) *Tenant {
	var space [128]byte // a longer key costs an allocation
	hash := sha256.Sum256(append(space[:0], key...))
	kept := &t.keys[t.byKey[t.seal(hash)]] // of an unknown key: nobody's
	if subtle.ConstantTimeCompare(kept.hash[:], hash[:]) != 1 {
		return nil
	}
	return kept.tenant
}

// tenantOf is where a request's tenant lies in its gin context.
const tenantOf = "warmroute.tenant"

// The headers that may hold a tenant's key, in canonical form.
var keyHeaders = [...]string{"Authorization", "X-Api-Key", "Api-Key"}

// The ways a request is not let in; admit gives them their answer.
var (
	errNoKey      = errors.New("no key came with the request; send this gateway's key as Authorization: Bearer, x-api-key or api-key")
	errUnknownKey = errors.New("the key that came with the request is not one of this gateway's")
	errTwoKeys    = errors.New("two different keys came with the request; send one")
)

// presented is the one key of a request. A header that is sent twice counts like
// two headers. An Authorization that is not Bearer's is a key that nobody has.
func presented(h http.Header) (key string, err error) {
	for _, name := range keyHeaders {
		for _, value := range h[name] {
			value = strings.TrimSpace(value)
			if name == keyHeaders[0] {
				value = bearer(value)
			}
			if value == "" {
				continue
			}
			if key != "" && subtle.ConstantTimeCompare([]byte(key), []byte(value)) != 1 {
				return "", errTwoKeys
			}
			key = value
		}
	}
	if key == "" {
		return "", errNoKey
	}
	return key, nil
}

// bearer is the token of an Authorization, or all of it if it has another scheme.
func bearer(value string) string {
	const scheme = "bearer"
	if len(value) < len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) {
		return value
	}
	rest := value[len(scheme):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return value
	}
	return strings.TrimSpace(rest)
}

// whose is the tenant of a request by its header. Without tenants it is the one
// of everybody, whatever key is presented.
func (s *service) whose(h http.Header) (*Tenant, error) {
	if s.Tenants == nil {
		return &s.everybody, nil
	}
	key, err := presented(h)
	if err != nil {
		return nil, err
	}
	tenant := s.Tenants.find(key)
	if tenant == nil {
		return nil, errUnknownKey
	}
	return tenant, nil
}

// admit lets in the requests of tenants, before anything of them but the header
// has been read, and takes the key away: nothing behind it can pass it on.
func (s *service) admit(c *gin.Context) {
	h := c.Request.Header
	tenant, err := s.whose(h)
	for _, name := range keyHeaders {
		delete(h, name)
	}
	if err != nil {
		s.turnAway(c, err)
		return
	}
	c.Set(tenantOf, tenant)
	logEntry(c).tenant = tenant.ID
}

// turnAway answers a request that no tenant has sent.
func (s *service) turnAway(c *gin.Context, err error) {
	c.Abort()
	api := dialect(c.Request.URL.Path)
	if api == catalog.Chat && c.Request.Header.Get("Anthropic-Version") != "" {
		api = catalog.Messages // the list of models has no dialect of its own
	}
	e := logEntry(c)
	e.turn, e.cause = requestID(c.Writer.Header()), "not let in: "+err.Error()
	header := c.Writer.Header()
	header["Www-Authenticate"] = []string{"Bearer"}
	if c.Request.ContentLength != 0 {
		header["Connection"] = []string{"close"} // a stranger's body is not read
		_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(s.BodyTime))
	}
	failAs(c, api, http.StatusUnauthorized, "invalid_api_key", sentence(err))
}

// tenant is whose request it is. Only requests that were let in have one.
func tenant(c *gin.Context) *Tenant {
	t, _ := c.MustGet(tenantOf).(*Tenant)
	return t
}

// take puts on a request what is the tenant's to say.
func (t *Tenant) take(facts *engine.Request) {
	facts.Tenant, facts.Rules, facts.Key = t.ID, t.Rules, t.key
}

// metadata is where the tenant's responses tell what was decided, if a request
// does not say otherwise. general is what holds for everybody.
func (t *Tenant) metadata(general vendor.Metadata) vendor.Metadata {
	if t.Metadata != "" {
		return t.Metadata
	}
	return general
}

// drain is how far an answer is read on once the tenant's client has left. general
// is what holds for everybody.
func (t *Tenant) drain(general vendor.Drain) vendor.Drain {
	if t.Drain != nil {
		return *t.Drain
	}
	return general
}
