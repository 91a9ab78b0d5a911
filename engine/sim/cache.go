package sim

import (
	"math"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Rules are what is known of one candidate's prompt cache on one turn.
//
// The zero Rules is a candidate that caches nothing.
type Rules struct {
	Family    catalog.Family
	TTL       time.Duration // how long an entry lives from its last use; of marked prefixes, the ordinary ones
	MinPrefix int64         // fewest tokens that are cached
	Block     int64         // reads are whole blocks of so many tokens; 0 and 1: any number
	Writes    bool          // what is put into the cache is billed as written, not as input
	Answer    bool          // the answer is kept too, to be read as part of the next prompt
}

// Whole, as a place in a prompt, is its end.
const Whole = math.MaxInt64

// Marks are the cache markers of one request, as far as routes need them. The zero
// Marks is a request without any.
type Marks struct {
	Any  bool
	End  int64 // prompt tokens up to the last marker; 0 where that is not known: all of them
	Hour int64 // prompt tokens up to the last marker of one hour; 0: none, [Whole]: all up to End
}

// Prompt is what one turn puts to a cache.
type Prompt struct {
	At     time.Time // when the attempt began
	Tokens int64     // of the whole prompt
	Answer int64     // output tokens that the next prompt may send back: all but the reasoning
	Marks  Marks
}

// hour is how long a prefix marked for an hour lives from its last use.
const hour = time.Hour

// Cache is what one candidate holds of one conversation. The zero Cache is cold.
//
// An entry that has expired is still known, so that how long it was really kept can
// be learned. Times are kept to the millisecond, and before 1970 nothing is cached.
type Cache struct {
	held int64 // tokens of the last prompt that was cached
	hour int64 // of those, the ones marked for an hour
	used int64 // when it was last used, Unix milliseconds
	life int64 // of the ordinary part, in milliseconds
}

// any says whether the candidate caches at all.
func (r *Rules) any() bool { return r.Family == catalog.Implicit || r.Family == catalog.Explicit }

// caches is how many tokens of the prompt may be cached; 0 where none are: nothing
// is read, written or renewed then.
func (r *Rules) caches(p *Prompt) int64 {
	end := max(p.Tokens, 0)
	switch r.Family {
	case catalog.Implicit:
	case catalog.Explicit:
		if !p.Marks.Any {
			return 0
		}
		if p.Marks.End > 0 {
			end = min(end, p.Marks.End)
		}
	default:
		return 0
	}
	if end < r.MinPrefix {
		return 0
	}
	return end
}

// readable is how many of the tokens held can be read by a prompt of which so many
// may be cached: whole blocks, at least the minimum. A vendor that caches by itself
// has to compute the last token of every prompt.
func (r *Rules) readable(held, caches, tokens int64) int64 {
	x := min(held, caches)
	if r.Family == catalog.Implicit {
		x = min(x, tokens-1)
	}
	return r.blocks(x)
}

// blocks is x in whole blocks, or 0 if that is less than the minimum.
func (r *Rules) blocks(x int64) int64 { return floor(x, r.Block, r.MinPrefix) }

func floor(x, block, minimum int64) int64 {
	if block > 1 {
		x -= x % block
	}
	if x < minimum || x < 0 {
		return 0
	}
	return x
}

// alive is how many tokens are held at this moment, in Unix milliseconds.
func (c *Cache) alive(at int64) int64 {
	var held int64
	if at < c.used+c.life {
		held = c.held
	}
	if at < c.used+hour.Milliseconds() {
		held = max(held, c.hour)
	}
	return held
}

// Predict is the prompt side of the usage that the vendor should report. A token is
// in one bucket: read, written or input. Output is left to the caller.
func (c *Cache) Predict(r *Rules, p *Prompt) pricing.Usage {
	tokens, caches := max(p.Tokens, 0), r.caches(p)
	if caches == 0 {
		return pricing.Usage{Input: tokens}
	}
	u := pricing.Usage{CacheRead: r.readable(c.alive(p.At.UnixMilli()), caches, tokens)}
	if r.Writes {
		if r.Family == catalog.Explicit {
			u.CacheWrite1h = max(0, min(p.Marks.Hour, caches)-u.CacheRead)
		}
		u.CacheWrite5m = caches - u.CacheRead - u.CacheWrite1h
	}
	u.Input = tokens - u.CacheRead - u.CacheWrite5m - u.CacheWrite1h
	return u
}

// After is the cache once the prompt was processed: renewed, whether or not anything
// was found. A prompt that is not cached leaves it as it is, and so does one that
// began before the last use.
//
// A prefix that was marked for an hour stays so while each use comes within the hour,
// whatever the later markers ask for.
func (c Cache) After(r *Rules, p *Prompt) Cache {
	at, caches := p.At.UnixMilli(), r.caches(p)
	if caches == 0 || at < c.used {
		return c
	}
	next := Cache{held: caches, used: at, life: r.TTL.Milliseconds()}
	if r.Answer {
		next.held += max(p.Answer, 0)
	}
	if r.Family == catalog.Explicit {
		if at < c.used+hour.Milliseconds() {
			next.hour = min(c.hour, caches)
		}
		next.hour = max(next.hour, min(p.Marks.Hour, caches))
	}
	return next
}

// Cut is the cache after the client has changed the prompt: nothing beyond the first
// so many tokens can be read again.
func (c Cache) Cut(kept int64) Cache {
	c.held, c.hour = min(c.held, kept), min(c.hour, kept)
	return c
}
