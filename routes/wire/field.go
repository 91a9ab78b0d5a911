package wire

import (
	"unicode/utf8"
)

// field is a top-level member of a request that routing looks at.
type field uint8

const (
	unknown field = iota
	fieldModel
	fieldModels
	fieldStream
	fieldStreamOptions
	fieldSessionID
	fieldSessionIDCamel
	fieldCacheKey
	fieldProviderOptions
	fieldProvider
	fieldMetadata
	fieldCaching
	fieldCacheTTL
	fieldServiceTier
	fieldSpeed
	fieldRegion
	fieldPreviousResponse
	fieldRetention
	fieldCacheOptions
	fieldCacheControl
	fieldSystem
	fieldInstructions
	fieldMessages
	fieldInput
	fieldTools
	fieldStore
	fields // how many there are
)

// fieldNames are the names as they must be spelled.
var fieldNames = [fields]string{
	fieldModel: "model", fieldModels: "models", fieldStream: "stream", fieldStreamOptions: "stream_options",
	fieldSessionID: "session_id", fieldSessionIDCamel: "sessionId", fieldCacheKey: "prompt_cache_key",
	fieldProviderOptions: "providerOptions", fieldProvider: "provider", fieldMetadata: "metadata",
	fieldCaching: "caching", fieldCacheTTL: "cache_ttl", fieldServiceTier: "service_tier",
	fieldSpeed: "speed", fieldRegion: "inference_geo",
	fieldPreviousResponse: "previous_response_id", fieldRetention: "prompt_cache_retention",
	fieldCacheOptions: "prompt_cache_options", fieldCacheControl: "cache_control", fieldSystem: "system",
	fieldInstructions: "instructions", fieldMessages: "messages", fieldInput: "input", fieldTools: "tools",
	fieldStore: "store",
}

// ours says whether the member is the gateway's own and is cut out unless the
// vendor accepts it (design section 2).
func (f field) ours() bool {
	switch f {
	case fieldModels, fieldSessionID, fieldSessionIDCamel, fieldProviderOptions, fieldProvider, fieldCaching, fieldCacheTTL:
		return true
	}
	return false
}

// maxName is the longest name in fieldNames.
const maxName = 22

// lookup finds the field a lenient reader would take a key for. plain says
// that the key is spelled exactly so, without escapes.
//
// Go's encoding/json matches names without regard to case, and to it the long s
// and the Kelvin sign are letters of ASCII. A vendor that reads so must not see
// a model that the gateway did not.
func lookup(raw []byte, escaped bool) (f field, plain bool) {
	if !escaped {
		if f = exact(raw); f != unknown {
			return f, true
		}
	} else {
		if len(raw) > 6*maxName {
			return unknown, false
		}
		raw = unescaped(raw)
	}
	var room [maxName]byte
	folded := room[:0]
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == 'ſ':
			r = 's'
		case r == '\u212a':
			r = 'k'
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf:
			return unknown, false
		}
		if len(folded) == maxName {
			return unknown, false
		}
		folded = append(folded, byte(r))
		i += n
	}
	switch string(folded) {
	case "sessionid":
		return fieldSessionIDCamel, false
	case "provideroptions":
		return fieldProviderOptions, false
	}
	return exact(folded), false
}

// exact finds the field with this very name.
func exact(name []byte) field {
	switch string(name) {
	case "model":
		return fieldModel
	case "models":
		return fieldModels
	case "stream":
		return fieldStream
	case "stream_options":
		return fieldStreamOptions
	case "session_id":
		return fieldSessionID
	case "sessionId":
		return fieldSessionIDCamel
	case "prompt_cache_key":
		return fieldCacheKey
	case "providerOptions":
		return fieldProviderOptions
	case "provider":
		return fieldProvider
	case "metadata":
		return fieldMetadata
	case "caching":
		return fieldCaching
	case "cache_ttl":
		return fieldCacheTTL
	case "service_tier":
		return fieldServiceTier
	case "speed":
		return fieldSpeed
	case "inference_geo":
		return fieldRegion
	case "previous_response_id":
		return fieldPreviousResponse
	case "prompt_cache_retention":
		return fieldRetention
	case "prompt_cache_options":
		return fieldCacheOptions
	case "cache_control":
		return fieldCacheControl
	case "system":
		return fieldSystem
	case "instructions":
		return fieldInstructions
	case "messages":
		return fieldMessages
	case "input":
		return fieldInput
	case "tools":
		return fieldTools
	case "store":
		return fieldStore
	}
	return unknown
}
