package vendorsim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// The log keeps the last requests, and no more than so many bytes of bodies.
const (
	maxSeen      = 512
	maxSeenBytes = 64 << 20
)

// Seen is one request as it was received, and how it went.
type Seen struct {
	Seq     int64       `json:"seq"` // first is 1
	At      time.Time   `json:"at"`
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Query   string      `json:"query,omitempty"` // without the question mark
	Header  http.Header `json:"header"`          // keys shortened
	Body    string      `json:"body,omitempty"`  // exactly as received, if it is UTF-8
	Binary  []byte      `json:"body_base64,omitempty"`
	SHA256  string      `json:"sha256"` // of the body
	Length  int64       `json:"content_length"`
	Account string      `json:"account"`
	Model   string      `json:"model,omitempty"`
	Stream  bool        `json:"stream"`

	Status     int    `json:"status"`      // zero: nothing answered yet
	Events     int    `json:"events"`      // events or pieces sent
	Fault      *Fault `json:"fault"`       // what was scripted for it
	ClientGone bool   `json:"client_gone"` // the client left before the end
	Done       bool   `json:"done"`        // nothing more will happen
	Prompt     int64  `json:"prompt_tokens"`
	Read       int64  `json:"cache_read_tokens"`
	Written    int64  `json:"cache_write_tokens"`
	Used       *Used  `json:"used,omitempty"` // what its answer reports when it is whole; nil: none was to be sent, or none is reported
}

// Used is what an answer used, in buckets that do not overlap. Reasoning is part of
// Output, whatever the vendor's convention.
type Used struct {
	Input   int64 `json:"input_tokens"`
	Read    int64 `json:"cache_read_tokens"`
	Write5m int64 `json:"cache_write_5m_tokens"`
	Write1h int64 `json:"cache_write_1h_tokens"`
	Output  int64 `json:"output_tokens"`
}

// Bytes is the body as received.
func (s *Seen) Bytes() []byte {
	if s.Binary != nil {
		return s.Binary
	}
	return []byte(s.Body)
}

// Log is what was received, oldest first, as far as it is still kept. Bodies
// are shared with the log and must not be changed.
func (v *Vendor) Log() []Seen {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]Seen, len(v.log))
	for i, s := range v.log {
		list[i] = *s
	}
	return list
}

// ResetLog forgets what was received.
func (v *Vendor) ResetLog() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log, v.logBytes = nil, 0
	v.tell()
}

// Await returns the log as soon as it satisfies done, or the context's error.
func (v *Vendor) Await(ctx context.Context, done func([]Seen) bool) ([]Seen, error) {
	for {
		v.mu.Lock()
		changed := v.changed
		v.mu.Unlock()
		if log := v.Log(); done(log) {
			return log, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return v.Log(), ctx.Err()
		}
	}
}

// tell wakes who waits for the log. The vendor is locked.
func (v *Vendor) tell() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// receive notes a request.
func (v *Vendor) receive(r *http.Request, body []byte) *Seen {
	sum := sha256.Sum256(body)
	s := &Seen{
		At: v.config.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Header: shortened(r.Header), SHA256: hex.EncodeToString(sum[:]), Length: r.ContentLength,
		Account: Account(presentedKey(r.Header)),
	}
	if utf8.Valid(body) {
		s.Body = string(body)
	} else {
		s.Binary = body
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq++
	s.Seq = v.seq
	v.log = append(v.log, s)
	v.logBytes += len(body)
	for len(v.log) > maxSeen || v.logBytes > maxSeenBytes && len(v.log) > 1 {
		v.logBytes -= len(v.log[0].Body) + len(v.log[0].Binary)
		v.log = v.log[1:]
	}
	v.tell()
	return s
}

// note changes what is known of a request.
func (v *Vendor) note(s *Seen, change func(*Seen)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(s)
	v.tell()
}

// secretHeaders hold keys.
var secretHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "Proxy-Authorization", "Cookie"}

// shortened copies headers with the keys cut to what tells them apart.
func shortened(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range secretHeaders {
		for i, value := range h[name] {
			scheme, key, two := strings.Cut(value, " ")
			if !two {
				scheme, key = "", value
			} else {
				scheme += " "
			}
			h[name][i] = scheme + shortKey(key)
		}
	}
	return h
}

// shortKey keeps the last four characters of a key long enough to hide the rest.
func shortKey(key string) string {
	if len(key) < 12 {
		return "…"
	}
	return "…" + key[len(key)-4:]
}
