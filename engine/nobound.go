package engine

import (
	"slices"
	"strings"
)

// contents are how a client is told of each kind of content, and what it can do
// without the vendor that made it.
var contents = map[Kind]struct{ what, instead string }{
	KindResponse:     {"the response that previous_response_id names", "send the whole conversation"},
	KindConversation: {"the conversation that the request names", "send the whole conversation as input instead of its id"},
	KindReasoning:    {"the encrypted reasoning in the request", "send the conversation without its encrypted reasoning"},
	KindSigned:       {"the signed thinking in the request", "send the conversation without its thinking blocks"},
	KindFile:         {"a file that the request names by its id", "send the file itself"},
	KindContainer:    {"the container that the request names", "leave the container out"},
}

// forgotten says which content is of nobody knows which vendor, and what to do.
func (e *NoRouteError) forgotten() string {
	c := contents[e.Forgotten]
	if e.Rules.Apart && e.Forgotten.held() {
		return c.what + " is not known as one that this key's tenant was given, or is no longer remembered; " + c.instead
	}
	if e.Forgotten == KindResponse {
		return c.what + " was not made through this gateway or is no longer remembered; " +
			c.instead + ", or name the vendor that made it with providerOptions.gateway.only"
	}
	return "it is not known which vendor keeps " + c.what + ": no vendor has accepted it through this gateway, or it is no longer remembered; " +
		"name the vendor with providerOptions.gateway.only, or " + c.instead
}

// bound says, in a sentence of its own, which content asks for vendors that cannot
// serve the request, and what to do. Vendors that the tenant may not use are not named.
func (e *NoRouteError) bound() string {
	var b strings.Builder
	for _, content := range e.Bound {
		c := contents[content.Kind]
		b.WriteString(". " + strings.ToUpper(c.what[:1]) + c.what[1:] + " can be read only ")
		switch vendor := content.Maker.Vendor; {
		case !e.Rules.Allow(vendor):
			b.WriteString("where it was made")
		case content.Maker.Group == GroupClient && !slices.ContainsFunc(e.Own, func(k OwnKey) bool { return k.Vendor == vendor && k.ID == content.Maker.Credential }):
			b.WriteString("by " + vendor + " with the key of your own that it was made with, which did not come with this request")
		default:
			b.WriteString("by " + vendor + ", by the account that made it")
		}
		b.WriteString(": make that possible again, or " + c.instead)
	}
	return b.String()
}
