package vendor

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Vendors that refuse a key repeat it in many forms.
func TestAKeyIsFoundInEveryForm(t *testing.T) {
	const key = "sk-Test+Key/0123456789abcDEF"
	escaped := ""
	for _, c := range key {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	for name, words := range map[string]string{
		"as it is":                     `{"error":"wrong key ` + key + `"}`,
		"in capitals":                  "WRONG KEY " + strings.ToUpper(key),
		"escaped, every character":     `{"error":"` + escaped + `"}`,
		"escaped, the slash":           strings.ReplaceAll(key, "/", `\/`),
		"its last eight":               "wrong key ending in …" + key[len(key)-8:],
		"in base64":                    base64.StdEncoding.EncodeToString([]byte(key)),
		"in base64 after one":          base64.StdEncoding.EncodeToString([]byte("x" + key)),
		"in base64 after two":          base64.StdEncoding.EncodeToString([]byte("xy" + key + ":")),
		"in base64, as a header is":    base64.URLEncoding.EncodeToString([]byte("Bearer " + key + "\n")),
		"in an address":                "https://x/?key=" + url.QueryEscape(key),
		"in an address, beside a sign": "100% of " + strings.ReplaceAll(url.QueryEscape(key), "9", "%39"),
		"in hexadecimal":               strings.ToUpper(hex.EncodeToString([]byte(key))),
		"in HTML":                      strings.NewReplacer("+", "&#43;", "/", "&#x2f;", "c", "&#99;").Replace(key),
		"its beginning":                "wrong key " + key[:16] + "…",
		"its middle":                   "wrong key …" + key[7:23] + "…",
		"escaped, and quoted thrice":   strings.ReplaceAll(escaped, `\`, `\\\\\\\\`),
		"in an address, all of it":     "%73%6b" + strings.ReplaceAll(url.QueryEscape(key[2:]), "9", "%39"),
	} {
		if !repeats(words, key) {
			t.Errorf("%s: not found in %s", name, words)
		}
	}
	for _, words := range []string{
		"", "6m0s", "req_0123", `{"error":{"message":"The model does not exist"}}`, "sk-Test", `\u00zz \`, "%zz",
		base64.StdEncoding.EncodeToString([]byte("another text of some length")), hex.EncodeToString([]byte("another")),
	} {
		if repeats(words, key) {
			t.Errorf("found in %q", words)
		}
	}
	// What local vendors are given for a key is a word, and no secret.
	if !repeats("key local", "local") || repeats("LOCAL", "local") || repeats("bG9jYWw=", "local") {
		t.Error("a short key is looked for as it is")
	}
}

func FuzzEcho(f *testing.F) {
	f.Add(`a\u0041\`, "sk-0123456789", 3)
	f.Add(`\u00`, "%41%", 0)
	f.Fuzz(func(t *testing.T, words, key string, at int) {
		repeats(words, key)
		if key == "" || at < 0 || at > len(words) {
			return
		}
		if !repeats(words[:at]+key+words[at:], key) {
			t.Errorf("%q is not found", key)
		}
	})
}
