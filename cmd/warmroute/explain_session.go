package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/warmroute/warmroute/engine"
)

// keyHeaders are the headers in which a client presents the gateway's key.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key"}

// callersKey is the SHA-256 of the gateway key among the headers, which are then
// without it, as the gateway's are. Who asks as a tenant has presented one: where
// none is there, it is supposed.
func callersKey(header http.Header, tenant string) string {
	key := ""
	if tenant != "" {
		key = "a key of " + tenant
	}
	for _, name := range keyHeaders {
		if value := header.Get(name); value != "" {
			key = strings.TrimPrefix(value, "Bearer ")
		}
		header.Del(name)
	}
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// unnamed says how a request would name its session under the profile, of which
// nothing is off until the words off say; empty: nothing is.
func unnamed(profile *engine.Profile, off string) error {
	if off != "" {
		return usage(fmt.Errorf("affinity is off until %s, as the profile %s has it, so there can be no pin; say so in a file and name it with --config", off, profile.Name))
	}
	return usage(fmt.Errorf("the request names no session, so it can have no pin; %s", naming(profile)))
}

// naming is what to add to a request: a header where the profile reads one.
func naming(profile *engine.Profile) string {
	places := map[engine.Where][]string{}
	for _, s := range profile.Sources {
		if _, ok := places[s.In]; !ok {
			places[s.In] = append(s.Names, "")
		}
	}
	switch {
	case places[engine.InHeader] != nil:
		return fmt.Sprintf("add -H '%s: …'", strings.ToLower(places[engine.InHeader][0]))
	case places[engine.InBody] != nil:
		return fmt.Sprintf("add %s to its body", places[engine.InBody][0])
	case places[engine.InMetadata] != nil:
		return fmt.Sprintf("add metadata.%s to its body", places[engine.InMetadata][0])
	case places[engine.InFields] != nil:
		return fmt.Sprintf("add %s to its body", strings.Trim(strings.Join(places[engine.InFields], ", "), ", "))
	case places[engine.InCacheKey] != nil:
		return "add prompt_cache_key to its body"
	case places[engine.InOption] != nil:
		return "add providerOptions.gateway.sessionId to its body"
	case places[engine.InKey] != nil:
		return "add -H 'authorization: Bearer …'"
	}
	return "the profile " + string(profile.Name) + " names one by what a conversation begins with, so give it messages"
}
