package vendor

import (
	"net/http"
	"strings"
)

// mayPass says whether a vendor's response header reaches the client: its
// limits, its ids, and nothing that names the account, sets state, moves the
// client elsewhere or describes one connection. name is in canonical form.
func mayPass(name string) bool {
	switch name {
	case "Retry-After", "Retry-After-Ms", "X-Should-Retry", "Request-Id", "X-Request-Id":
		return true
	case "Openai-Organization", "Openai-Project":
		return false
	}
	return strings.HasPrefix(name, "Openai-") ||
		strings.HasPrefix(name, "X-Ratelimit-") ||
		strings.HasPrefix(name, "Anthropic-Ratelimit-")
}

// copyHeader gives the client what may pass of a vendor's header: one value of
// each, unless it repeats the key. Content-Type and Content-Length are set by
// whoever writes the body.
func (a *attempt) copyHeader(client, vendor http.Header) {
	for name, values := range vendor {
		if len(values) > 0 && mayPass(name) && !a.echoes(values[0]) {
			client[name] = []string{values[0]}
		}
	}
}

// mediaType is the media type of a Content-Type, lowercased, without parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}
