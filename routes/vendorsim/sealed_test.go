package vendorsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

var (
	signaturePattern = regexp.MustCompile(`"signature":"([^"]+)"`)
	encryptedPattern = regexp.MustCompile(`"encrypted_content":"([^"]+)"`)
)

// What an account sealed it reads again, streamed or not; no other does.
func TestSealedContentIsItsAccountsOwn(t *testing.T) {
	both := []catalog.API{catalog.Messages, catalog.Responses}
	b := start(t, Config{Name: "pier", API: both, Keys: []string{"red", "blue"}})
	other := start(t, Config{Name: "reef", API: both})
	for _, c := range []struct {
		name, path, ask, again, refusal string
		pattern                         *regexp.Regexp
	}{
		{"thinking", "/v1/messages", `{"model":"m","max_tokens":99,"thinking":{"type":"enabled"},"messages":[{"role":"user","content":"a"}]%s}`,
			`{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":%q}]},{"role":"user","content":"b"}]}`,
			"messages.1.content.0: Invalid `signature` in `thinking` block", signaturePattern},
		{"reasoning", "/v1/responses", `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":"a"%s}`,
			`{"model":"m","input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[],"encrypted_content":%q},{"role":"user","content":"b"}]}`,
			"could not be verified", encryptedPattern},
	} {
		seals := map[string]bool{}
		for _, stream := range []string{"", `,"stream":true`} {
			got := b.post(c.path, "red", fmt.Sprintf(c.ask, stream))
			found := c.pattern.FindAllSubmatch(got.body, -1)
			if got.status != http.StatusOK || len(found) == 0 {
				t.Fatalf("%s%s: %d %s", c.name, stream, got.status, got.body)
			}
			seal := string(found[len(found)-1][1])
			seals[seal] = true
			if again := b.post(c.path, "red", fmt.Sprintf(c.again, seal)); again.status != http.StatusOK {
				t.Errorf("%s%s: its own account: %d %s", c.name, stream, again.status, again.body)
			}
			for who, got := range map[string]reply{
				"another account": b.post(c.path, "blue", fmt.Sprintf(c.again, seal)),
				"another vendor":  other.post(c.path, "", fmt.Sprintf(c.again, seal)),
				"made up":         b.post(c.path, "red", fmt.Sprintf(c.again, "c2ln")),
			} {
				var said struct{ Error struct{ Message string } }
				if err := json.Unmarshal(got.body, &said); err != nil || got.status != http.StatusBadRequest || !strings.Contains(said.Error.Message, c.refusal) {
					t.Errorf("%s%s: %s: %d %s", c.name, stream, who, got.status, got.body)
				}
			}
		}
		if len(seals) != 2 {
			t.Errorf("%s: seals repeat: %v", c.name, seals)
		}
	}
}
