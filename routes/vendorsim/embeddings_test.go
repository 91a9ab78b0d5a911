package vendorsim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
)

// One vector, whichever way it is asked for.
func TestEmbeddingsInBothFormats(t *testing.T) {
	v := New(Config{})
	read := func(format string, into any) {
		t.Helper()
		answer, err := v.embed("m", json.RawMessage(`"Which wood floats?"`), format)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Data []struct{ Embedding json.RawMessage }
		}
		if err := json.Unmarshal(answer, &list); err != nil || len(list.Data) != 1 {
			t.Fatalf("%s: %v", answer, err)
		}
		if err := json.Unmarshal(list.Data[0].Embedding, into); err != nil {
			t.Fatalf("%s: %v", list.Data[0].Embedding, err)
		}
	}
	var numbers []float32
	var text string
	read("", &numbers)
	read("base64", &text)
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(numbers) != vectorSize || len(packed) != 4*vectorSize {
		t.Fatalf("%d numbers, %d bytes, %v", len(numbers), len(packed), err)
	}
	for i, want := range numbers {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:])); got != want {
			t.Errorf("number %d is %v and %v", i, want, got)
		}
	}
	if _, err := v.embed("m", json.RawMessage(`"x"`), "int8"); err == nil {
		t.Error("an unknown format is accepted")
	}
}
