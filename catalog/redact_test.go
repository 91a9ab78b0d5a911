package catalog

import (
	"strings"
	"testing"
)

// An address is no key for its port, for a hash in its path or for the number of
// an account; what begins as keys do is one also there.
func TestAnAddressIsNoKey(t *testing.T) {
	for _, address := range []string{
		"http://127.0.0.1:18201/v1",
		"https://api.example.com/client/v4/accounts/0f8fad5bd9cb469fa16570867728950e/ai/v1",
		"https://pages.example/prices/blob/d34db33fcafe4a3b9d1e0f7a6c5b4d3e2f1a0b9c/list.json",
		"https://pages.example/0f8fad5b-d9cb-469f-a165-70867728950e",
		"https://ab12cd34ef56gh78.eu-west-1.endpoints.example/v1",
	} {
		if looksLikeKey(address) || mayBeKey(address) {
			t.Errorf("%s is taken for a key", address)
		}
		problems := problemsOf(t, with("# "+address+"\nheders: "+address, "", ""))
		if !strings.Contains(problems[0].Excerpt.Text, address) {
			t.Errorf("of %s is shown %q", address, problems[0].Excerpt.Text)
		}
	}
	for _, address := range []string{
		"https://me:hunter2-with-23123-digits@alpha.example/v1",
		"https://alpha.example/v1?key=AbCd1234EfGh5678",
		"https://alpha.example/v1#AbCd1234EfGh5678",
		"https://alpha.example/" + aKey + "/v1",
		"https://" + aKey + ".alpha.example/v1",
		"https://alpha.example/bot/AbCd1234EfGh5678IjKl",
		"https://alpha.example/bot AbCd1234EfGh5678IjKl",
	} {
		if !mayBeKey(address) && !looksLikeKey(address) {
			t.Errorf("%s is not taken for one that holds a key", address)
		}
	}
}
