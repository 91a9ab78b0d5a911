package pricing

// Usage counts the tokens of one attempt in buckets that do not overlap.
//
// The zero Usage is no tokens at all; whether anything was reported is said by
// the Quality that travels with it.
type Usage struct {
	Input        int64 // prompt tokens neither read from nor written to a cache
	CacheRead    int64 // prompt tokens read from the vendor's cache
	CacheWrite5m int64 // prompt tokens written with the ordinary lifetime
	CacheWrite1h int64 // prompt tokens written with the one-hour lifetime
	Output       int64 // completion tokens, reasoning included
	Reasoning    int64 // the part of Output that was reasoning; shown, never added
}

// Prompt is the whole prompt: uncached, read and written.
func (u Usage) Prompt() int64 {
	return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
}

// Quality says how far a reported usage can be trusted.
//
// The zero Quality is missing.
type Quality string

// The qualities, best first.
const (
	Authoritative Quality = "authoritative" // the vendor's own complete report
	Derived       Quality = "derived"       // complete only by inference from what was reported
	Partial       Quality = "partial"       // cut or abandoned: a lower bound
	Invalid       Quality = "invalid"       // contradictory or impossible numbers
	Missing       Quality = ""              // nothing was reported
)

// Complete says whether a cost may be computed from a usage of this quality.
func (q Quality) Complete() bool { return q == Authoritative || q == Derived }
