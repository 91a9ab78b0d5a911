package vendor

import (
	"net/http"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/wire"
)

// Metadata says where a response tells what the gateway decided.
//
// The zero Metadata leaves the choice to the next wider setting; at the end of
// the line it is body.
type Metadata string

// The modes of design section 9.
const (
	MetadataBody   Metadata = "body"   // in headers and in the body
	MetadataHeader Metadata = "header" // in headers; the body is the vendor's
	MetadataOff    Metadata = "off"    // nowhere, but for the request's id
)

// ParseMetadata reads a mode; ok is false for a word that is none.
func ParseMetadata(text string) (mode Metadata, ok bool) {
	switch m := Metadata(text); m {
	case MetadataBody, MetadataHeader, MetadataOff:
		return m, true
	}
	return "", false
}

// Call is what one client request brings to each of its attempts.
type Call struct {
	Body     *wire.Request
	Header   http.Header // the client's; only what is named in this package is read
	Query    string      // the client's, as sent
	Metadata Metadata
	// Apart: tenants who must not meet share the vendors' accounts. What a client
	// names there by a word of its own, such as an idempotency key, is sent as a
	// hash that is its tenant's.
	Apart bool
	// Key is the caller's own key for a vendor by its id, asked for candidates of the
	// client's group only. nil: there is none.
	Key func(vendor, id string) (key catalog.Secret, ok bool)
	// Drain is how far an answer is read on after the client has left.
	Drain Drain
	// Began is called once, when a stream has begun to go out: no other candidate
	// will be tried, and the bytes of Body are not read again here. nil: nobody is told.
	Began func()
	// Cut is called when the client holds part of an answer that will not be
	// completed. Whoever owns the connection must abort it (panic with
	// http.ErrAbortHandler), once the turn is recorded: ended cleanly, a cut
	// answer looks complete. nil: nobody is told.
	Cut func()
}

// stream says whether the client asked for a stream.
func (c *Call) stream() bool { return c.Body.Stream }
