package vendorsim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// maxEntries bounds the cache: beyond it the oldest entries go first, as a
// vendor may drop any entry at any time.
const maxEntries = 200_000

// lookBack is at how many blocks an earlier entry is looked for, the marker's own
// counted as the first. Source: Anthropic's documentation of prompt caching.
const lookBack = 20

// prefix is the leading part of a prompt.
type prefix struct {
	hash   [sha256.Size]byte // over account, model and content
	tokens int64
	ttl    time.Duration // lifetime if it is written
}

// entry is one cached prefix.
type entry struct {
	account, model string
	tokens         int64
	ttl            time.Duration
	expires        time.Time
	family         catalog.Family
}

// cache holds the prefixes of every account. It is guarded by its vendor.
type cache struct {
	entries map[[sha256.Size]byte]*entry
	order   [][sha256.Size]byte // oldest first; may name entries that are gone
}

func newCache() cache { return cache{entries: make(map[[sha256.Size]byte]*entry)} }

// usage counts one answer in buckets that do not overlap.
type usage struct {
	input   int64 // prompt tokens neither read nor written
	read    int64
	write5m int64 // written for anything less than an hour
	write1h int64
	output  int64
}

func (u usage) prompt() int64 { return u.input + u.read + u.write() }
func (u usage) write() int64  { return u.write5m + u.write1h }

// look is what one prompt finds in the cache and will leave there.
type look struct {
	usage usage
	write []prefix
}

// look finds the longest cached prefix of a prompt and refreshes it. What is to
// be written waits for [Vendor.commit].
func (v *Vendor) look(account string, p *prompt) look {
	switch v.config.Cache.Family {
	case catalog.Implicit:
		return v.lookImplicit(account, p)
	case catalog.Explicit:
		return v.lookExplicit(account, p)
	}
	return look{usage: usage{input: p.size()}}
}

func (v *Vendor) lookImplicit(account string, p *prompt) look {
	now := v.config.Now()
	pieces := chain(account, p).pieces(v.config.Cache.MinPrefix, v.config.Cache.Block)
	total := p.size()
	v.mu.Lock()
	defer v.mu.Unlock()
	var read int64
	fresh := 0
	for i := range pieces {
		e, live := v.cache.live(pieces[i].hash, now)
		if !live {
			break
		}
		e.expires = now.Add(e.ttl)
		read, fresh = pieces[i].tokens, i+1
	}
	l := look{usage: usage{read: read, input: total - read}, write: pieces[fresh:]}
	ttl := v.config.Cache.TTL
	if p.retention > ttl {
		ttl = p.retention
	}
	for i := range l.write {
		l.write[i].ttl = ttl
	}
	if n := len(l.write); n > 0 && v.config.ReportWrites {
		l.usage.write5m = l.write[n-1].tokens - read
		l.usage.input -= l.usage.write5m
	}
	return l
}

func (v *Vendor) lookExplicit(account string, p *prompt) look {
	now := v.config.Now()
	ends := chain(account, p).ends()
	v.mu.Lock()
	defer v.mu.Unlock()
	var read int64
	for i := range p.segments {
		if !p.segments[i].marked {
			continue
		}
		for j := i; j >= 0 && j > i-lookBack; j-- {
			e, live := v.cache.live(ends[j].hash, now)
			if !live {
				continue
			}
			e.expires = now.Add(e.ttl)
			read = max(read, ends[j].tokens)
			break
		}
	}
	l := look{usage: usage{read: read}}
	held := read
	for i := range p.segments {
		s := &p.segments[i]
		if !s.marked || ends[i].tokens < v.config.Cache.MinPrefix || ends[i].tokens <= read {
			continue
		}
		at := ends[i]
		at.ttl = s.ttl
		if at.ttl == 0 {
			at.ttl = v.config.Cache.TTL
		}
		if at.ttl >= time.Hour {
			l.usage.write1h += at.tokens - held
		} else {
			l.usage.write5m += at.tokens - held
		}
		held = at.tokens
		l.write = append(l.write, at)
	}
	l.usage.input = p.size() - held
	return l
}

// commit makes what a prompt wrote readable. It is called with the answer's first byte.
func (v *Vendor) commit(account string, p *prompt, l look) {
	now := v.config.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range l.write {
		v.cache.put(w.hash, &entry{account: account, model: p.model, tokens: w.tokens, ttl: w.ttl,
			expires: now.Add(w.ttl), family: v.config.Cache.Family})
	}
}

// live finds an entry that has not expired.
func (c *cache) live(key [sha256.Size]byte, now time.Time) (e *entry, live bool) {
	e, held := c.entries[key]
	if !held || !now.Before(e.expires) {
		return nil, false
	}
	return e, true
}

func (c *cache) put(key [sha256.Size]byte, e *entry) {
	if _, held := c.entries[key]; !held {
		c.order = append(c.order, key)
	}
	c.entries[key] = e
	for len(c.entries) > maxEntries {
		delete(c.entries, c.order[0])
		c.order = c.order[1:]
	}
}

// chained hashes a prompt from its beginning.
type chained struct {
	h    hash.Hash
	p    *prompt
	text int64 // bytes counted so far
}

func chain(account string, p *prompt) *chained {
	c := &chained{h: sha256.New(), p: p}
	c.part(account)
	c.part(p.model)
	return c
}

// part hashes a text with its length, so that no two sequences of parts are alike.
func (c *chained) part(text string) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(text)))
	c.h.Write(length[:])
	c.h.Write([]byte(text))
}

func (c *chained) here() prefix {
	p := prefix{tokens: tokens(c.text)}
	c.h.Sum(p.hash[:0])
	return p
}

// ends are the prefixes that end with each block.
func (c *chained) ends() []prefix {
	ends := make([]prefix, len(c.p.segments))
	for i := range c.p.segments {
		s := &c.p.segments[i]
		c.part(s.shape)
		c.h.Write(s.text)
		c.text += int64(len(s.text))
		ends[i] = c.here()
	}
	return ends
}

// pieces are the prefixes of first tokens and of every step more.
func (c *chained) pieces(first, step int64) []prefix {
	var pieces []prefix
	next := first * bytesPerToken
	for i := range c.p.segments {
		s := &c.p.segments[i]
		c.part(s.shape)
		text := s.text
		for c.text+int64(len(text)) >= next {
			n := next - c.text
			c.h.Write(text[:n])
			c.text, text = next, text[n:]
			pieces = append(pieces, c.here())
			next += step * bytesPerToken
		}
		c.h.Write(text)
		c.text += int64(len(text))
	}
	return pieces
}

// CacheEntry is one cached prefix as GET /sim/cache shows it.
type CacheEntry struct {
	Account string         `json:"account"` // see [Account]
	Model   string         `json:"model"`
	Tokens  int64          `json:"tokens"` // length of the prefix
	TTL     string         `json:"ttl"`
	Expires time.Time      `json:"expires"`
	Family  catalog.Family `json:"family"`
	Hash    string         `json:"hash"` // eight hex digits
}

// Cache lists the entries that can be read now, by account, model and length.
func (v *Vendor) Cache() []CacheEntry {
	now := v.config.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]CacheEntry, 0, len(v.cache.entries))
	for key, e := range v.cache.entries {
		if !now.Before(e.expires) {
			continue
		}
		list = append(list, CacheEntry{Account: e.account, Model: e.model, Tokens: e.tokens, TTL: e.ttl.String(),
			Expires: e.expires, Family: e.family, Hash: hex.EncodeToString(key[:4])})
	}
	slices.SortFunc(list, func(a, b CacheEntry) int {
		if c := strings.Compare(a.Account, b.Account); c != 0 {
			return c
		}
		if c := strings.Compare(a.Model, b.Model); c != 0 {
			return c
		}
		if a.Tokens != b.Tokens {
			return int(a.Tokens - b.Tokens)
		}
		return strings.Compare(a.Hash, b.Hash)
	})
	return list
}
