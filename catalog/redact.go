package catalog

import (
	"net/url"
	"slices"
	"strings"
)

// neverAKey says what to do with a key that stands in the file.
func (r *reader) neverAKey() string { return neverAKey[r.what] }

var neverAKey = map[string]string{
	"catalog":     "a key is never written into a catalog; name where it is kept with credentials: [{id: main, env: NAME}] or {id: main, file: PATH}, and replace it if this file was shared",
	"config file": "a key is never written into a config file; name the variable that holds it with env: NAME, or give the SHA-256 of the key with sha256: 64 hexadecimal digits, and replace it if this file was shared",
}

// concealed stands in a message for what may be a key.
const concealed = "(not shown: it looks like a key)"

// show is quote without the quotation marks, for names that need none.
func (r *reader) show(text string) string {
	if looksLikeKey(text) || r.wary && mayBeKey(text) {
		return concealed
	}
	return text
}

// quote shows a word of the file in a message, cut to a length that fits a line;
// what looks like a key is not shown. Every message that repeats the file's own
// words does so through it.
//
// Inside a vendor, where keys are put by mistake, less is shown than elsewhere:
// names of models may be long and have many digits.
func (r *reader) quote(text string) string {
	if looksLikeKey(text) || r.wary && mayBeKey(text) {
		return concealed
	}
	return quote(text)
}

// keyBeginnings are how vendors' keys, and headers that carry one, begin.
var keyBeginnings = []string{
	"bearer ", "basic ", "sk-", "sk_", "pk-", "pk_", "rk_", "hf_", "r8_", "fw_", "eyj", "xox", "gsk_", "csk-", "vck_", "tgp_",
	"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "pplx-", "nvapi-", "xai-", "ya29.", "aizasy", "akia", "api_key=", "apikey=", "-----begin",
}

// looksLikeKey says whether a text is most likely a key: it begins as one does,
// or has a long run of letters and digits that no word has. An address is none
// for its port or for the hash in its path, see [isPlainAddress].
func looksLikeKey(text string) bool {
	switch {
	case isPlainAddress(text):
		return false
	case beginsAsKey(text), isUUID(strings.ToLower(strings.TrimLeft(text, " \t\"'`"))):
		return true
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !isAlphanumeric(c) && c != '+' }) {
		if isRandom(word) {
			return true
		}
	}
	return false
}

// isPlainAddress says whether a text is the address of something, which anybody
// may see: it has no user, no query and no fragment, and nothing in it begins as
// a key does or is as random as one. Hexadecimal digits in its path are the hash
// of a version or the number of an account.
func isPlainAddress(text string) bool {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#@ \t") {
		return false
	}
	if slices.ContainsFunc(strings.Split(u.Hostname(), "."), beginsAsKey) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool {
		return looksLikeKey(part) && strings.Trim(part, "0123456789abcdef-") != ""
	})
}

// beginsAsKey says whether a text begins as vendors' keys do.
func beginsAsKey(text string) bool {
	low := strings.ToLower(strings.TrimLeft(text, " \t\"'`"))
	for _, begin := range keyBeginnings {
		rest, found := strings.CutPrefix(low, begin)
		switch {
		case !found:
		case strings.HasSuffix(begin, " "):
			return true
		case len(begin) < 4 && begin[0] != 's': // words begin so too
			if len(text) >= 16 && hasDigit(rest) {
				return true
			}
		case hasDigit(rest), len(rest) >= 16:
			return true
		}
	}
	return false
}

// mayBeKey is looksLikeKey where keys are to be feared more than long names are
// to be expected: also what begins as the commonest keys do, and one word of
// twenty characters or more with several digits that are no date.
func mayBeKey(text string) bool {
	low := strings.ToLower(text)
	switch {
	case isPlainAddress(text):
		return false
	case looksLikeKey(text), strings.HasPrefix(low, "sk-"), strings.HasPrefix(low, "sk_"):
		return true
	case len(text) < 20 || strings.ContainsAny(text, " \t"):
		return false
	}
	digits, run := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			run++
			continue
		}
		if run != 8 || !strings.HasPrefix(text[i-run:], "20") {
			digits += run
		}
		run = 0
	}
	return digits >= 4
}

// isRandom says whether a run of letters and digits is no word: long, and with
// letters and digits or small and capital letters all mixed.
func isRandom(word string) bool {
	if len(word) < 16 {
		return false
	}
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 0
		case c >= 'A' && c <= 'Z':
			return 1
		}
		return 2
	}
	changes, digits := 0, 0
	for i := range len(word) {
		if kind(word[i]) == 0 {
			digits++
		}
		if i > 0 && kind(word[i]) != kind(word[i-1]) {
			changes++
		}
	}
	return changes >= 4 && (digits >= 2 || changes >= len(word)/3) || len(word) >= 32 && (changes > 0 || digits == 0)
}

// isUUID says whether text, in small letters, is 8-4-4-4-12 hexadecimal digits.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// plainHeaders are headers that look by their name or value as if they carried a
// key and carry none.
var plainHeaders = []string{
	"anthropic-version", "anthropic-beta", "openai-organization", "openai-project", "openai-beta", "http-referer", "referer",
	"x-title", "user-agent", "x-goog-user-project", "x-author", "x-ms-client-request-id",
}

// carriesKey says whether a header is one that carries a key, by its name.
func carriesKey(name string, auth Auth) bool {
	low := strings.ToLower(name)
	switch {
	case sendsKey(name, auth):
		return true
	case isPlainHeader(name):
		return false
	}
	for _, word := range []string{"token", "secret", "auth", "key", "credential", "cookie", "password", "passwd", "signature", "bearer"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// sendsKey says whether a header is known to be the one in which keys are sent.
func sendsKey(name string, auth Auth) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", strings.ToLower(auth.Header):
		return true
	}
	return false
}

// isPlainHeader says whether a header's value may be long and have many digits.
func isPlainHeader(name string) bool {
	for _, plain := range plainHeaders {
		if strings.EqualFold(name, plain) {
			return true
		}
	}
	return false
}

// valueIsKey says whether the value of a header is a key.
func valueIsKey(name, value string) bool {
	if !isPlainHeader(name) {
		return looksLikeKey(value)
	}
	low := strings.ToLower(value)
	return strings.HasPrefix(low, "sk-") || strings.HasPrefix(low, "bearer ") || strings.HasPrefix(low, "basic ")
}
