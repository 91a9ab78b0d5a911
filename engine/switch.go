package engine

import (
	"net/http"
	"strings"
)

// AffinityHeader switches affinity off for one request.
const AffinityHeader = "X-Warmroute-Affinity"

// SwitchedOff reads [AffinityHeader]: off leaves pins alone for this request; on,
// or no header, undoes nothing that the body, the policy or the gateway has
// switched off. ok is false for any other word. Case does not matter.
func SwitchedOff(h http.Header) (off, ok bool) {
	switch strings.ToLower(strings.TrimSpace(h.Get(AffinityHeader))) {
	case "", "on":
		return false, true
	case "off":
		return true, true
	}
	return false, false
}
