package wire

import (
	"encoding/json"
	"testing"
)

// What is kept of a usage object is one, no longer than it was and without text.
func FuzzRaw(f *testing.F) {
	for _, object := range []string{`{"a":1,"b":"x y","c":{"d":["é","","t"]}}`, `{"a b":1}`, `{ "a" : "\"\\" }`, `{"a`} {
		f.Add([]byte(object))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		kept := appendRaw(nil, object)
		if len(kept) > len(object) {
			t.Fatalf("%q became %q", object, kept)
		}
		if !json.Valid(object) || len(kept) == 0 {
			return
		}
		text := kept
		for i, inside := 0, false; i < len(text); i++ {
			if text[i] == '"' {
				inside = !inside
			} else if inside && (text[i] <= ' ' || text[i] == '\\' || text[i] > '~') {
				t.Fatalf("%q is kept of %q", kept, object)
			}
		}
		if !json.Valid(kept) {
			t.Fatalf("%q became %q", object, kept)
		}
	})
}
