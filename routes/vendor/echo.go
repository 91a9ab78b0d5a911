package vendor

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// least is how much of a key's end must be repeated to count as an echo, in
// bytes. Vendors that shorten a key in their messages show fewer.
const least = 8

// echoes says whether a vendor's words hold the key they were an answer to: as
// it is, in another case, escaped, in base64, or its end alone.
func (a *attempt) echoes(words string) bool {
	secret, ok := key(a.call, a.try)
	if !ok || secret.Reveal() == "" || words == "" {
		return false
	}
	return repeats(words, secret.Reveal())
}

// repeats says whether words hold key. A key too short to be one, as local
// vendors are given, is looked for as it is and whole.
func repeats(words, key string) bool {
	if strings.Contains(words, key) {
		return true
	}
	if len(key) < least || len(words) < least {
		return false
	}
	if shows(words, key) {
		return true
	}
	plain := unescape(words)
	return plain != words && shows(plain, key)
}

// shows is repeats for words without escapes.
func shows(words, key string) bool {
	end := strings.ToLower(key[len(key)-least:])
	if strings.Contains(strings.ToLower(words), end) {
		return true
	}
	if strings.Contains(words, "%") {
		if plain, err := url.PathUnescape(words); err == nil && strings.Contains(strings.ToLower(plain), end) {
			return true
		}
	}
	for shift := range 3 {
		coded := inBase64(key, shift)
		if strings.Contains(words, coded) || strings.ContainsAny(coded, "+/") && strings.Contains(words, urlSafe.Replace(coded)) {
			return true
		}
	}
	return false
}

var urlSafe = strings.NewReplacer("+", "-", "/", "_")

// inBase64 is how a key's bytes look in base64 after shift other bytes, less the
// characters at either end that its neighbours have a part in.
func inBase64(key string, shift int) string {
	coded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + key))
	return coded[(shift*8+5)/6 : len(coded)-1]
}

// unescape takes a JSON string's escapes out of a text, wherever they stand.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == 'u' && i+4 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+5], 16, 16); err == nil {
				b.WriteRune(rune(n))
				i += 4
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
