package vendorsim

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Config says what a vendor is like. The zero Config is a chat vendor named
// "vendor" that caches nothing, knows every model and accepts every key.
type Config struct {
	Name string        // named in every answer
	API  []catalog.API // what it speaks, others are a 404; empty: chat

	Cache Cache

	// Usage is the convention it reports usage by on the API chat: deepseek,
	// moonshot, mistral, alibaba, groq, zai, perplexity, openrouter, xai or gemini,
	// which names no cached tokens there; anything else means openai. The API
	// responses reports as OpenAI does and messages as Anthropic does, always.
	Usage string
	// ReportWrites adds cache_write_tokens to usage in OpenAI's convention, as
	// models with paid writes report it since GPT-5.6.
	ReportWrites bool

	Models  []string // empty: any model; others are a 404 in the dialect
	Keys    []string // accounts; empty: any key, or none; others are a 401
	Accepts []string // members of the gateway that it understands: models, provider
	Refuses []string // further top-level members it answers with 400, such as stream_options

	Now      func() time.Time // nil: time.Now
	EventGap time.Duration    // pause between the events of a stream
	Seed     uint64           // varies the answers
	Files    fs.FS            // where a fault's raw_file is read; nil: raw_file is refused

	// Ended is told of every request once nothing more will happen to it: the log
	// that forgets nothing. It is called from the goroutine of the request.
	Ended func(Seen)
}

// Cache is what a vendor's prompt cache is like. The zero Cache keeps nothing.
type Cache struct {
	Family    catalog.Family
	TTL       time.Duration // zero: 5 minutes if explicit, else 10
	MinPrefix int64         // fewest tokens that are cached; zero: Block if implicit, none if explicit
	Block     int64         // tokens per step of an implicit cache; zero: 128
}

// Vendor is one simulated vendor. It may serve any number of requests at once.
type Vendor struct {
	config Config

	mu    sync.Mutex
	cache cache

	conversations conversations

	faults   []*Fault
	log      []*Seen
	logBytes int
	seq      int64         // requests so far
	changed  chan struct{} // closed and replaced when the log changes
	released chan struct{} // closed and replaced on reset: hanging requests end
}

// New makes a vendor. The configuration must not change afterwards.
func New(config Config) *Vendor {
	if config.Name == "" {
		config.Name = "vendor"
	}
	if len(config.API) == 0 {
		config.API = []catalog.API{catalog.Chat}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Cache = config.Cache.withDefaults()
	return &Vendor{
		config:   config,
		cache:    newCache(),
		changed:  make(chan struct{}),
		released: make(chan struct{}),
	}
}

func (c Cache) withDefaults() Cache {
	if c.Family == "" {
		c.Family = catalog.None
	}
	if c.TTL == 0 {
		c.TTL = 10 * time.Minute
		if c.Family == catalog.Explicit {
			c.TTL = 5 * time.Minute
		}
	}
	if c.Block <= 0 {
		c.Block = 128
	}
	if c.MinPrefix <= 0 && c.Family == catalog.Implicit {
		c.MinPrefix = c.Block
	}
	return c
}

// Name is the vendor's name.
func (v *Vendor) Name() string { return v.config.Name }

// Reset forgets faults, log, cache and stored answers, and ends the requests that
// hang.
func (v *Vendor) Reset() {
	v.ResetFaults()
	v.ResetLog()
	v.ResetCache()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conversations = conversations{}
}

// ResetFaults forgets the queued faults and ends the requests that hang.
func (v *Vendor) ResetFaults() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = nil
	close(v.released)
	v.released = make(chan struct{})
}

// ResetCache forgets every cached prefix.
func (v *Vendor) ResetCache() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cache = newCache()
}

// Account names the account of a key the way [Seen] and [CacheEntry] do,
// without showing the key: eight hex digits of its SHA-256. The account of no
// key is "none".
func Account(key string) string {
	if key == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

func (v *Vendor) speaks(api catalog.API) bool { return slices.Contains(v.config.API, api) }

// presentedKey is the key a request carries, wherever its dialect puts it.
func presentedKey(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	if key := h.Get("Api-Key"); key != "" {
		return key
	}
	const bearer = "Bearer "
	if auth := h.Get("Authorization"); len(auth) > len(bearer) && auth[:len(bearer)] == bearer {
		return auth[len(bearer):]
	}
	return ""
}
