package routes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

// route decides a turn that somebody else will carry out. Its errors are OpenAI's,
// whatever the turn's own dialect, with the statuses of a turn.
func (s *service) route(c *gin.Context) {
	if slipped(c.Request.Header) {
		refuse(c, catalog.Chat, errSlipped)
		return
	}
	buffer := bodies.Get().(*[]byte)
	defer func() { recycle(buffer) }()
	body, err := s.readBody(c.Writer, c.Request, (*buffer)[:0])
	*buffer = body
	if err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	request, facts, err := readAsk(body)
	if err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	tenant(c).take(&facts)
	addOwnKeys(facts.Header, c.Request.Header) // whichever of the two headers a gateway passes its client's on in
	if _, err := s.ownKeys(facts.Header, request, tenant(c), &facts); err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	if _, err := read(facts.Header, &facts, vendor.MetadataOff); err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	facts.DisregardStrangers(s.Gateway.Catalog())
	pending, err := s.Gateway.Defer(c.Request.Context(), facts)
	turn := pending.Turn()
	untried(c.Writer.Header(), vendor.MetadataHeader, &turn)
	note(logEntry(c), &turn, false)
	if err != nil {
		unserved(c, catalog.Chat, s.Gateway.Catalog(), err)
		return
	}
	answer(c, decidedOf(&turn, facts.Ignored, s.Sidecar.put(turn.Tenant, turn.ID, pending, s.now())))
}

// now is the gateway's clock.
func (s *service) now() time.Time {
	if s.Gateway.Now != nil {
		return s.Gateway.Now()
	}
	return time.Now()
}

// dialects are the APIs that a turn may be of.
var dialects = [...]catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}

// readAsk reads what /v1/route is asked into the facts of the client's request. The
// error is a *wire.RefusedError. The facts refer to text's bytes.
func readAsk(text []byte) (request *wire.Request, facts engine.Request, err error) {
	members, err := wire.Object(text)
	if err != nil {
		return nil, facts, err
	}
	var (
		ask  askShape
		body []byte
	)
	for _, m := range members {
		switch m.Name {
		case "api":
			err = strict(m.Value, m.Name, &ask.API)
		case "path":
			err = strict(m.Value, m.Name, &ask.Path)
		case "headers":
			err = strict(m.Value, m.Name, &ask.Headers)
		case "prompt":
			err = strict(m.Value, m.Name, &ask.Prompt)
		case "body":
			body = m.Value
		default:
			err = complaint("there is no member %q here; there are api, path, headers, body and prompt", echo(m.Name))
		}
		if err != nil {
			return nil, facts, err
		}
	}
	api, err := ask.api()
	switch {
	case err != nil:
		return nil, facts, err
	case len(body) == 0:
		return nil, facts, complaint(`"body" is missing; send the client's request, with or without its conversation`)
	case body[0] != '{':
		return nil, facts, complaint(`"body" must be the client's request as a JSON object`)
	}
	if request, err = wire.ReadRequest(api, body); err != nil {
		return nil, facts, err
	}
	facts = request.Facts()
	facts.API = api
	if facts.Header, err = ask.header(); err != nil {
		return nil, facts, err
	}
	if ask.Prompt != nil {
		err = ask.Prompt.take(&facts)
	}
	return request, facts, err
}

// complaint is a request that cannot be read; its text is for the client.
func complaint(format string, args ...any) error {
	return &wire.RefusedError{Message: fmt.Sprintf(format, args...)}
}

// api is the dialect of the client's request, by its name or its path.
func (a *askShape) api() (catalog.API, error) {
	var byName, byPath catalog.API
	for _, api := range dialects {
		if a.API == string(api) {
			byName = api
		}
		if path := api.Path(); a.Path == path || a.Path == "/v1"+path {
			byPath = api
		}
	}
	switch {
	case a.API == "" && a.Path == "":
		return "", complaint(`"api" is missing; it is chat, responses or messages`)
	case a.API != "" && byName == "":
		return "", complaint(`"api" must be chat, responses or messages`)
	case a.Path != "" && byPath == "":
		return "", complaint(`"path" must be /v1/chat/completions, /v1/responses or /v1/messages`)
	case byName != "" && byPath != "" && byName != byPath:
		return "", complaint(`"api" and "path" name two dialects`)
	case byName != "":
		return byName, nil
	}
	return byPath, nil
}

// maxHeaders is how many headers of a client are read.
const maxHeaders = 256

// secretHeaders are the client's headers that are not read: they hold its keys, and
// name no session.
var secretHeaders = append([]string{"Cookie", "Proxy-Authorization", "X-Goog-Api-Key"}, keyHeaders[:]...)

// header is the client's headers that a decision may depend on.
func (a *askShape) header() (http.Header, error) {
	if len(a.Headers) > maxHeaders {
		return nil, complaint(`"headers" has more than %d members`, maxHeaders)
	}
	h, size := make(http.Header, len(a.Headers)), 0
	for name, value := range a.Headers {
		if size += len(name) + len(value); size > maxHeader {
			return nil, complaint(`"headers" is longer than %d KiB`, maxHeader>>10)
		}
		canonical := http.CanonicalHeaderKey(name)
		if slices.Contains(secretHeaders, canonical) {
			continue
		}
		if h[canonical] != nil {
			return nil, complaint(`"headers" has %q twice`, echo(canonical))
		}
		h[canonical] = []string{value}
	}
	return h, nil
}

// bytesPerToken is what an estimate takes a token to be: prompts told in tokens and in
// bytes are judged alike.
const bytesPerToken = 4

// maxPrompt is more tokens than any prompt or answer has, and more bytes of text than
// any prompt that is told of.
const maxPrompt = 1 << 30

// take puts what is known of a prompt in the place of what was counted in the body.
func (p *promptShape) take(facts *engine.Request) error {
	switch {
	case (p.Tokens == nil) == (p.TextBytes == nil):
		return complaint(`"prompt" must have either tokens or text_bytes`)
	case p.Tokens != nil && (*p.Tokens < 0 || *p.Tokens > maxPrompt), p.TextBytes != nil && (*p.TextBytes < 0 || *p.TextBytes > maxPrompt):
		return complaint(`"prompt" has an impossible size`)
	case p.Markers < 0 || p.Markers > maxPrompt:
		return complaint(`"prompt.markers" must be how many there are`)
	}
	facts.TextBytes = 0
	if p.Tokens != nil {
		facts.TextBytes = *p.Tokens * bytesPerToken
	} else {
		facts.TextBytes = *p.TextBytes
	}
	facts.Markers, facts.MarkerTTL = p.Markers, 0
	switch p.MarkerTTL {
	case "":
	case "5m", "1h":
		facts.MarkerTTL, _ = time.ParseDuration(p.MarkerTTL)
	default:
		return complaint(`"prompt.marker_ttl" must be 5m or 1h`)
	}
	facts.Prefix, facts.MarkedPrefix, facts.Last = nil, nil, nil // those of the whole prompt
	return nil
}

// strict reads one JSON value that has no members but those of the type. name is what
// it is called in an error, empty for the whole body.
func strict(text []byte, name string, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, after := d.Token(); !errors.Is(after, io.EOF) {
			return complaint("the body is not valid JSON: something follows the object")
		}
		return nil
	}
	var (
		kind   *json.UnmarshalTypeError
		syntax *json.SyntaxError
	)
	at := func(field string) string { return echo(strings.Trim(name+"."+field, ".")) }
	switch {
	case errors.As(err, &kind):
		if where := at(kind.Field); where != "" {
			return complaint("%q must not be a %s", where, kind.Value)
		}
		return complaint("the body is not a JSON object")
	case errors.As(err, &syntax):
		return complaint("the body is not valid JSON (at byte %d)", syntax.Offset)
	case errors.Is(err, io.EOF):
		return complaint("the body is empty; send a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return complaint("the body is not valid JSON: it ends too early")
	}
	if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return complaint("there is no member %s here; the OpenAPI document names those that there are", echo(field))
	}
	if where := at(""); where != "" {
		return complaint("%q cannot be read", where)
	}
	return complaint("the body cannot be read: times are as RFC 3339 has them")
}
