package vendorsim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// maxBody is the largest request body that is read.
const maxBody = 32 << 20

// paths are where the APIs are.
var paths = map[string]catalog.API{
	"/v1/chat/completions":      catalog.Chat,
	"/v1/responses":             catalog.Responses,
	"/v1/messages":              catalog.Messages,
	"/v1/messages/count_tokens": catalog.Messages,
	"/v1/embeddings":            catalog.Chat,
}

// ServeHTTP answers as the vendor, and /sim/… as its script.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/sim/") {
		v.control(w, r)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	c := &call{v: v, w: w, r: r, seen: v.receive(r, raw)}
	defer c.end()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		c.refuse(&refused{status: 413, kind: "request_too_large", message: "Request exceeds the maximum size"})
	case err != nil: // the client left while it was sending
		c.v.note(c.seen, func(s *Seen) { s.ClientGone = true })
	default:
		c.serve(raw)
	}
}

// call is one request on its way.
type call struct {
	v    *Vendor
	w    http.ResponseWriter
	r    *http.Request
	api  catalog.API
	seen *Seen
}

func (c *call) serve(raw []byte) {
	if c.r.URL.Path == "/" && (c.r.Method == http.MethodHead || c.r.Method == http.MethodGet) {
		c.status(http.StatusOK)
		return
	}
	api, known := paths[c.r.URL.Path]
	c.api = api
	if !known || !c.v.speaks(api) {
		c.refuse(&refused{status: 404, kind: "not_found_error", message: "Not found: " + c.r.Method + " " + c.r.URL.Path})
		return
	}
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", "POST")
		c.refuse(&refused{status: 405, kind: "invalid_request_error", message: "Method not allowed"})
		return
	}
	if r := c.v.admit(c.r, api); r != nil {
		c.refuse(r)
		return
	}
	switch c.r.URL.Path {
	case "/v1/messages/count_tokens":
		c.count(raw)
		return
	case "/v1/embeddings":
		c.embed(raw)
		return
	}
	p, err := c.v.readPrompt(api, raw)
	if err == nil {
		err = c.v.resume(c.seen.Account, p)
	}
	if err == nil {
		err = c.v.checkSeals(c.seen.Account, api, raw)
	}
	if err != nil {
		c.refuse(err)
		return
	}
	c.v.note(c.seen, func(s *Seen) { s.Model, s.Stream = p.model, p.stream })
	c.infer(p)
}

// admit checks what comes before the body: the key, the version and the encoding.
func (v *Vendor) admit(r *http.Request, api catalog.API) *refused {
	if len(v.config.Keys) > 0 {
		key, known := presentedKey(r.Header), false
		for _, k := range v.config.Keys {
			known = known || k == key
		}
		if !known {
			return &refused{status: 401, kind: "authentication_error", code: "invalid_api_key",
				message: "Incorrect API key provided"}
		}
	}
	if api == catalog.Messages && r.Header.Get("Anthropic-Version") == "" {
		return refusal("anthropic-version", "anthropic-version: header is required")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return refusal("", "Request bodies must not be compressed, but Content-Encoding is "+strconv.Quote(encoding))
	}
	return nil
}

// infer answers a prompt, or does to it what was scripted.
func (c *call) infer(p *prompt) {
	f := c.fault(p)
	if c.instead(f) {
		return
	}
	c.answer(p, f)
}

// fault is what was scripted for a prompt, the zero Fault if nothing was.
func (c *call) fault(p *prompt) *Fault {
	f, scripted := c.v.take(p)
	if scripted {
		c.v.note(c.seen, func(s *Seen) { said := f; s.Fault = &said })
	}
	return &f
}

// instead does what was scripted to happen in place of an answer, and says
// whether anything was.
func (c *call) instead(f *Fault) bool {
	if f.DelayMS > 0 && !c.wait(time.Duration(f.DelayMS)*time.Millisecond) {
		return true
	}
	if f.Hang {
		c.hang()
		return true
	}
	if f.RetryAfter != "" {
		c.w.Header().Set("Retry-After", f.RetryAfter)
	}
	if chunks, raw := f.raw(); raw {
		c.play(chunks, f, func() {})
		return true
	}
	if f.Redirect != "" {
		c.w.Header().Set("Location", f.Redirect)
		if f.Status == 0 {
			f.Status = http.StatusTemporaryRedirect
		}
	}
	if f.Status >= 300 {
		c.refuse(f.refused(c.api))
		return true
	}
	return false
}

func (c *call) answer(p *prompt, f *Fault) {
	account := c.seen.Account
	l := c.v.look(account, p)
	u := l.usage
	a := c.v.answer(p, c.seen.Seq, &u)
	if p.thinks {
		a.seal = c.v.seal(account, a.id)
		u.output += tokens(int64(len(thought)))
	}
	c.v.note(c.seen, func(s *Seen) {
		s.Prompt, s.Read, s.Written = u.prompt(), u.read, written(l)
		if !f.NoUsage {
			s.Used = &Used{Input: u.input, Read: u.read, Write5m: u.write5m, Write1h: u.write1h, Output: u.output}
		}
	})
	if f.NoUsage {
		a.usage = nil
	}
	c.w.Header().Set(requestIDHeader(c.api), "req_"+a.id)
	commit := func() {
		c.v.commit(account, p, l)
		c.v.keep(account, a)
	}
	if f.ErrorEventFirst { // the prompt was never worked on
		commit = func() {}
	}
	if !p.stream {
		c.whole(a, f, commit)
		return
	}
	events := a.events()
	if f.ErrorEventFirst {
		events = []event{f.errorEvent(c.api, 0)}
	} else if n := f.ErrorEventAfter; n != nil && *n < len(events) {
		events = append(events[:*n:*n], f.errorEvent(c.api, *n))
	}
	if f.ExtraDone {
		events = append(events, event{data: []byte("[DONE]")})
	}
	pieces := make([][]byte, len(events))
	for i, e := range events {
		if f.NoEventLines {
			e.name = ""
		}
		pieces[i] = e.bytes()
	}
	c.play(pieces, f, commit)
}

// written is how many tokens an answer leaves in the cache anew, reported or not.
func written(l look) int64 {
	if n := len(l.write); n > 0 {
		return l.write[n-1].tokens - l.usage.read
	}
	return 0
}

// events is the answer as a stream of its dialect.
func (a *answer) events() []event {
	switch a.p.api {
	case catalog.Messages:
		return a.messagesEvents()
	case catalog.Responses:
		return a.responsesEvents()
	}
	return a.chatEvents()
}

// json is the answer as one object of its dialect.
func (a *answer) json() []byte {
	switch a.p.api {
	case catalog.Messages:
		return a.messagesJSON()
	case catalog.Responses:
		return a.responsesJSON()
	}
	return a.chatJSON()
}

// requestIDHeader is where a vendor of the API names the request.
func requestIDHeader(api catalog.API) string {
	if api == catalog.Messages {
		return "Request-Id"
	}
	return "X-Request-Id"
}

// count answers count_tokens, which costs nothing and touches no cache.
func (c *call) count(raw []byte) {
	p, err := c.v.readPrompt(c.api, withLimit(raw))
	if err != nil {
		c.refuse(err)
		return
	}
	c.v.note(c.seen, func(s *Seen) { s.Model, s.Prompt = p.model, p.size() })
	c.json(http.StatusOK, encode(struct {
		InputTokens int64 `json:"input_tokens"`
	}{p.size()}))
}

// embed answers embeddings.
func (c *call) embed(raw []byte) {
	var b struct {
		body
		Format string `json:"encoding_format"`
	}
	err := c.v.checkMembers(c.api, raw)
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err == nil {
		err = c.v.checkModel(b.Model)
	}
	if err != nil {
		c.refuse(err)
		return
	}
	c.v.note(c.seen, func(s *Seen) { s.Model = b.Model })
	if c.instead(c.fault(&prompt{model: b.Model})) {
		return
	}
	answer, err := c.v.embed(b.Model, b.Input, b.Format)
	if err != nil {
		c.refuse(err)
		return
	}
	c.json(http.StatusOK, answer)
}

// withLimit adds the output limit that count_tokens does not have.
func withLimit(raw []byte) []byte {
	at := strings.IndexByte(string(raw), '{')
	rest := strings.TrimSpace(string(raw[at+1:]))
	if at < 0 || rest == "" || rest[0] == '}' {
		return raw
	}
	return []byte(`{"max_tokens":1,` + rest)
}
