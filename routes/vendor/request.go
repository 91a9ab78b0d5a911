package vendor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// errNoKey means that a candidate's credential has no key.
var errNoKey = errors.New("the credential has no key")

// request builds what one candidate is sent. The body's buffer is let go by
// body.release, once it is not sent again.
func (c *Client) request(ctx context.Context, call *Call, try *engine.Try) (r *http.Request, body *payload, err error) {
	route := try.Candidate.Route
	header, err := c.header(call, try)
	if err != nil {
		return nil, nil, err
	}
	body = newPayload()
	*body.buffer = call.Body.Upstream(*body.buffer, wire.Edits{
		Model:    route.UpstreamModel,
		Accepts:  route.Vendor.Accepts,
		Refuses:  route.Vendor.Refuses,
		AskUsage: true,
		CacheKey: c.cacheKey(call, try),
		OwnKey:   c.ownKey(call, try),
		Mark:     try.Candidate.Marking.Place,
	})
	target := address(route.Vendor.BaseURL, call.Body.API.Path(), call.Query)
	r = &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          target.Host,
		Header:        header,
		Body:          body.reader(),
		ContentLength: int64(len(*body.buffer)),
		GetBody:       func() (io.ReadCloser, error) { return body.reader(), nil },
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
	}
	return r.WithContext(ctx), body, nil
}

// address is where a dialect is spoken: the base URL, the dialect's path and
// the client's query. Nothing of the client's can change host or path.
func address(base *url.URL, path, query string) *url.URL {
	u := *base
	u.Path = strings.TrimSuffix(base.Path, "/") + path
	if base.RawPath != "" {
		u.RawPath = strings.TrimSuffix(base.RawPath, "/") + path
	}
	u.Fragment, u.RawFragment = "", ""
	switch {
	case query == "":
	case u.RawQuery == "":
		u.RawQuery = query
	default:
		u.RawQuery += "&" + query
	}
	return &u
}

// idempotencyKey is a header that every vendor gets as the client sent it, unless
// it would be told of another tenant's request ([Call.Apart]). It is
// spelled otherwise than net/http spells it: under its own spelling the transport
// would send the request again on its own account whenever a connection that was
// used before breaks, also after the vendor has read it, and nobody would know.
const idempotencyKey = "idempotency-key"

// header builds the request header: what may pass of the client's, then the
// catalog's, then the hints, then the key, which nothing overwrites.
func (c *Client) header(call *Call, try *engine.Try) (http.Header, error) {
	v := try.Candidate.Route.Vendor
	h := make(http.Header, 12)
	h["Content-Type"] = []string{contentType(call.Header.Get("Content-Type"))}
	h["Accept"] = []string{accept(call)}
	h["Accept-Encoding"] = []string{"identity"}
	h["User-Agent"] = []string{userAgent(call.Header)}
	if values := call.Header["Idempotency-Key"]; len(values) > 0 {
		h[idempotencyKey] = []string{c.apart(call, try, values[0])}
	}
	if v.Speaks(catalog.Messages) {
		if values := call.Header["Anthropic-Version"]; len(values) > 0 {
			h["Anthropic-Version"] = values[:1:1]
		}
		if values := call.Header["Anthropic-Beta"]; len(values) > 0 {
			h["Anthropic-Beta"] = slices.Clone(values)
		}
	}
	if values := call.Header["Openai-Beta"]; len(values) > 0 && call.Body.API != catalog.Messages {
		h["Openai-Beta"] = slices.Clone(values)
	}
	for _, extra := range v.Headers {
		name := http.CanonicalHeaderKey(extra.Name)
		if try.Candidate.Group == engine.GroupClient && namesAccount(name) {
			continue
		}
		if name == "Anthropic-Beta" { // a list: the operator's values join the client's
			h[name] = append(h[name], extra.Value)
			continue
		}
		if name == "Idempotency-Key" || name == "X-Idempotency-Key" {
			name = strings.ToLower(name)
		}
		h[name] = []string{extra.Value}
	}
	if s := try.Session; s.Found() {
		for _, hint := range v.Hints {
			if hint.Header != "" && hint.For(call.Body.API) {
				h.Set(hint.Header, c.hint(hint, s, try.Candidate.Credential))
			}
		}
	}
	passed(h, call.Header, try.Pass)
	return h, authorize(h, call, try)
}

// namesAccount says whether a header of the catalog's is the operator's account at the
// vendor or opens it: a caller's own key is not sent beside it, for the vendor would
// refuse the two or have the operator pay. name is in canonical form.
func namesAccount(name string) bool {
	switch name {
	case "Openai-Organization", "Openai-Project", "Authorization", "X-Api-Key", "Api-Key", "Cookie":
		return true
	}
	return false
}

// authorize puts the candidate's key where its vendor looks for it.
func authorize(h http.Header, call *Call, try *engine.Try) error {
	v := try.Candidate.Route.Vendor
	secret, ok := key(call, try)
	switch {
	case !ok && try.Candidate.Group == engine.GroupOperator && len(v.Credentials) == 0:
		return nil // the vendor is called without a key
	case !ok:
		return errNoKey
	case v.Auth.Header != "":
		h.Set(v.Auth.Header, secret.Reveal())
	default:
		h["Authorization"] = []string{"Bearer " + secret.Reveal()}
	}
	return nil
}

// key finds the candidate's key.
func key(call *Call, try *engine.Try) (catalog.Secret, bool) {
	v := try.Candidate.Route.Vendor
	if try.Candidate.Group == engine.GroupClient {
		if call.Key == nil {
			return catalog.Secret{}, false
		}
		return call.Key(v.Name, try.Candidate.Credential)
	}
	for i := range v.Credentials {
		if v.Credentials[i].ID == try.Candidate.Credential {
			return v.Credentials[i].Secret()
		}
	}
	return catalog.Secret{}, false
}

// contentType is the client's where it says JSON, else plain JSON: some clients
// send a form's type, and some vendors then refuse the body.
func contentType(client string) string {
	if strings.Contains(strings.ToLower(client), "json") {
		return client
	}
	return "application/json"
}

// accept is what the client would take, else what its request is answered with.
func accept(call *Call) string {
	switch client := call.Header.Get("Accept"); {
	case client != "":
		return client
	case call.stream():
		return "text/event-stream"
	}
	return "application/json"
}

// userAgent is the client's: vendors and their support know clients by it.
func userAgent(client http.Header) string {
	if name := client.Get("User-Agent"); name != "" {
		return name
	}
	return "warmroute"
}
