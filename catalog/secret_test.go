package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	c, err := ParseKeys("f", []byte(priced("1")), keysOf(map[string]string{"V_KEY": "canary"}))
	if err != nil {
		t.Fatal(err)
	}
	credential := c.Vendors[0].Credentials[0]
	secret, ok := credential.Secret()
	if !ok || secret.Reveal() != "canary" {
		t.Fatalf("the key is %q, %t", secret.Reveal(), ok)
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb+"\n", secret, &secret, struct{ S Secret }{secret})
		fmt.Fprintf(&out, verb+verb+verb+"\n", credential, c.Vendors[0], c)
	}
	text, err := json.Marshal(map[string]any{"s": secret, "c": credential, "v": c.Vendors[0]})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("x", "s", secret, "c", credential)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "s", secret, "c", credential)
	for _, form := range []string{"canary", fmt.Sprintf("%x", "canary")} {
		if strings.Contains(out.String(), form) {
			t.Errorf("the key is in the output:\n%s", out.String())
		}
	}
}
