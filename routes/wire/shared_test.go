package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// sharedInput reads a file of the collected bug cases; the test is skipped,
// saying so, where that folder is not beside the project.
func sharedInput(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "bug-cases", name))
	if os.IsNotExist(err) {
		t.Skipf("shared bug cases are not here: %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// theirModels are the names that the collected cases give to models which are
// called otherwise in the project's own inputs.
var theirModels = map[string]string{"barge-7": "ref-gpt", "schooner-1": "ref-sonnet", "clipper1": "ref-opus"}

func TestSharedRequests(t *testing.T) {
	t.Run("order of members", func(t *testing.T) {
		onlyTheModelChanges(t, sharedInput(t, "case-02-request-order.json"), "front-alias")
	})
	t.Run("length", func(t *testing.T) {
		_, body, _ := bytes.Cut(sharedInput(t, "case-48-content-length.http"), []byte("\n\n"))
		sixLonger(t, bytes.TrimSuffix(body, []byte("\n")))
	})
	t.Run("members of the gateway", func(t *testing.T) {
		got := string(read(t, catalog.Messages, sharedInput(t, "case-62-gateway-fields.json")).Upstream(nil, Edits{}))
		want := `{"model":"ref-sonnet","max_tokens":32,"metadata":{"user_id":"u-60"},"messages":[{"role":"user","content":"hi"}]}`
		if strings.TrimSpace(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("markers of an hour", func(t *testing.T) {
		_, body, _ := bytes.Cut(sharedInput(t, "case-69-beta-header.http"), []byte("\n\n"))
		if f := read(t, catalog.Messages, body).Facts(); f.Markers != 1 || f.MarkerTTL != time.Hour {
			t.Errorf("%d markers of %v", f.Markers, f.MarkerTTL)
		}
	})
}
