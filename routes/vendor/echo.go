package vendor

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"strings"
)

// least is how much of a key's end must be repeated to count as an echo, in
// bytes. Vendors that shorten a key in their messages show fewer.
const least = 8

// Of the rest of a key, piece bytes count that begin at a multiple of step, so that
// wherever sixteen bytes of it stand in a row they are found: what was cut off behind
// them does not help. The beginnings that all keys of a vendor share are shorter.
const piece, step = 12, 5

// maxQuoted is how many times a text may have been quoted in another.
const maxQuoted = 4

// echoes says whether a vendor's words hold the key they were an answer to: as
// it is, in another case, escaped, in base64 or hexadecimal, its end alone, or a good
// part of it.
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
	for range maxQuoted {
		if shows(words, key) {
			return true
		}
		plain := unescape(words)
		if plain == words {
			return false
		}
		words = plain
	}
	return shows(words, key)
}

// shows is repeats for words without a JSON string's escapes.
func shows(words, key string) bool {
	small, low := strings.ToLower(key), strings.ToLower(words)
	if holds(low, small) || strings.Contains(low, hex.EncodeToString([]byte(key[len(key)-least:]))) {
		return true
	}
	if strings.Contains(words, "%") && holds(strings.ToLower(unpercent(words)), small) {
		return true
	}
	if strings.Contains(words, "&") && holds(strings.ToLower(html.UnescapeString(words)), small) {
		return true
	}
	for shift := range 3 {
		coded := inBase64(key, shift)
		if strings.Contains(words, coded) || strings.ContainsAny(coded, "+/") && strings.Contains(words, urlSafe.Replace(coded)) {
			return true
		}
	}
	return false
}

// holds says whether words hold the key's end or a piece of it. Both are in small
// letters.
func holds(words, key string) bool {
	if strings.Contains(words, key[len(key)-least:]) {
		return true
	}
	for at := 0; at+piece <= len(key); at += step {
		if strings.Contains(words, key[at:at+piece]) {
			return true
		}
	}
	return false
}

// unpercent takes an address's escapes out of a text; a sign that begins none stays.
func unpercent(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
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
