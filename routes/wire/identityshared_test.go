package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestSharedOpenings(t *testing.T) {
	apart(t, sharedOpenings(t, sharedInput(t, "case-33-fingerprints.jsonl")))
}

// sharedOpenings reads the six bodies of the case.
func sharedOpenings(t *testing.T, text []byte) (bodies []struct {
	api  catalog.API
	body string
}) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		var path string
		if err := json.Unmarshal(row["api"], &path); err != nil {
			t.Fatal(err)
		}
		delete(row, "api")
		row["model"] = json.RawMessage(`"m"`)
		body, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, struct {
			api  catalog.API
			body string
		}{catalog.API(strings.TrimPrefix(path, "/v1/")), string(body)})
	}
	if len(bodies) != 6 {
		t.Fatalf("%d bodies", len(bodies))
	}
	return bodies
}
