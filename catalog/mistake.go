package catalog

import "strings"

// The codes of mistakes. They are broad: what exactly is wrong stands in the
// message. A code never changes its meaning.
const (
	CodeSyntax        = "yaml-syntax"
	CodeFile          = "bad-file"
	CodeFeature       = "yaml-feature"
	CodeUnknownKey    = "unknown-key"
	CodeDuplicateKey  = "duplicate-key"
	CodeMissingKey    = "missing-key"
	CodeEmpty         = "empty-value"
	CodeType          = "wrong-type"
	CodeValue         = "bad-value"
	CodeNumber        = "bad-number"
	CodePrice         = "bad-price"
	CodeLifetime      = "bad-lifetime"
	CodeTime          = "bad-time"
	CodeOverlap       = "overlap"
	CodeName          = "bad-name"
	CodeDuplicateName = "duplicate-name"
	CodeUnknownName   = "unknown-name"
	CodeSecret        = "secret-in-file"
	CodeAddress       = "bad-address"
	CodeHeader        = "bad-header"
	CodeContradiction = "contradiction"
	CodeNoRoute       = "no-route"
	CodeNotBuilt      = "not-built"
	CodeTooMany       = "too-many"
	CodeSilence       = "bad-silence"
)

// sentences are what the messages of each code say, in words of this program,
// never of the file. The first that a message has decides; ^ stands for its
// beginning. So a reader of the file reports in one sentence, and whoever filters
// by kind has a word.
var sentences = []struct{ has, code string }{
	{"^silence", CodeSilence}, {"^no price holds", CodeGap},
	{"more mistake", CodeTooMany}, {"more warning", CodeTooMany},
	{"needs far less, so remove what nobody uses", CodeFile},
	{"^this is not YAML", CodeSyntax},
	{"^the file goes on past", CodeFile}, {"^a byte that is not UTF-8", CodeFile}, {"^a control character", CodeFile},
	{"^a second document", CodeFile}, {"^the catalog is empty", CodeFile}, {"^the config file is empty", CodeFile},
	{" are not used in a ", CodeFeature}, {"^is nested more than", CodeFeature},
	{"never written into a", CodeSecret}, {"never a key", CodeSecret}, {"never the key", CodeSecret}, {"looks like a key", CodeSecret},
	{"is not built yet", CodeNotBuilt},
	{" is not a key of ", CodeUnknownKey}, {"what follows a comma", CodeUnknownKey},
	{"is not a price", CodePrice}, {"leading zero", CodePrice}, {"too many digits", CodePrice}, {"must be a price", CodePrice}, {"is longer than 32", CodePrice},
	{"stands twice in ", CodeDuplicateKey},
	{"is missing", CodeMissingKey}, {"names neither", CodeMissingKey}, {"^says not ", CodeMissingKey},
	{" empty list", CodeEmpty}, {"is empty", CodeEmpty}, {"^has no ", CodeEmpty},
	{"must be a mapping", CodeType}, {"must be a list", CodeType}, {"must be a single value", CodeType},
	{"must be true or false", CodeType}, {"is not a plain word", CodeType},
	{"must be a whole number", CodeNumber}, {" is not more than the ", CodeNumber}, {"number of bytes", CodeNumber},
	{"is not a lifetime", CodeLifetime}, {"^ttl ", CodeLifetime},
	{"overlap", CodeOverlap}, {"would hold at once", CodeOverlap},
	{"is not a day", CodeTime}, {"is no day", CodeTime}, {"is not an hour", CodeTime}, {"the same hour", CodeTime}, {"^zone ", CodeTime},
	{"^days: ", CodeTime}, {"is not a duration", CodeTime}, {"is out of bounds", CodeTime}, {"valid_from", CodeTime}, {"valid_to", CodeTime},
	{"twice", CodeDuplicateName}, {"is already ", CodeDuplicateName}, {"has two routes to", CodeDuplicateName}, {"^two tenants", CodeDuplicateName},
	{"as another hint is", CodeDuplicateName}, {"the same key as", CodeDuplicateName}, {"is the same address as", CodeDuplicateName},
	{"is not in this catalog", CodeUnknownName}, {"is not in the catalog", CodeUnknownName}, {"name models here", CodeUnknownName},
	{"keep one", CodeContradiction}, {"write two hints", CodeContradiction}, {"under refuses too", CodeContradiction},
	{"no vendor that serves", CodeNoRoute}, {"would be refused", CodeNoRoute},
	{"^base_url", CodeAddress}, {"is not an address", CodeAddress},
	{"^headers: ", CodeHeader}, {"cannot carry", CodeHeader},
	{"the name ", CodeName}, {"'s name ", CodeName}, {"^id ", CodeName}, {"is longer than 256", CodeName}, {"has a space or", CodeName},
	{"has more than", CodeTooMany},
	// What a reader of the file is warned of.
	{"is left out of every plan", CodeCredential}, {"every route is disabled", CodeNothingInUse}, {"carries the tag", CodeTagUnused},
	{"is not below input", CodeReadInput}, {"check the unit", CodeMagnitude},
}

// codeOf is the code of a message, by what it says outside the words it quotes.
func codeOf(message string) string {
	own := unquoted(message)
	for _, s := range sentences {
		if begin, found := strings.CutPrefix(s.has, "^"); found {
			if strings.HasPrefix(own, begin) {
				return s.code
			}
		} else if strings.Contains(own, s.has) {
			return s.code
		}
	}
	return CodeValue
}

// unquoted is a message without the words in quotation marks.
func unquoted(message string) string {
	var own strings.Builder
	quoted := false
	for i := 0; i < len(message); i++ {
		switch c := message[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case !quoted:
			own.WriteByte(c)
		}
	}
	return own.String()
}
