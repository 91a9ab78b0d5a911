package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// maxSplits is how many split points of one stream are tried. A longer stream is
// split at as many, spread over it, from a point of the fuzzer's choosing.
const maxSplits = 128

// told is all that a relay has found out, and what it gave the client.
type told struct {
	Out                   string
	Report                Report
	Model, Tier, Response string
	Began, Done, Finished bool
	Failed                StreamError
}

func tell(r *Relay, out []byte) told {
	model, tier := r.Served()
	all := told{Out: string(out), Report: r.Report(), Model: model, Tier: tier, Response: r.ResponseID(), Began: r.Began(), Done: r.Done(), Finished: r.Finished()}
	if r.Failed() != nil {
		all.Failed = *r.Failed()
	}
	return all
}

// splitAt relays a stream that arrives in two pieces.
func splitAt(o RelayOptions, stream []byte, at int) told {
	r := NewRelay(o)
	var out []byte
	for _, piece := range [][]byte{stream[:at], stream[at:]} {
		// The caller uses its buffer again: what was held must not be in it.
		piece = bytes.Clone(piece)
		out = append(out, r.Feed(piece)...)
		clear(piece)
	}
	out = append(out, r.Finish()...)
	return tell(r, out)
}

// FuzzSSE splits a stream at every point, a long one at many: the events are the same wherever it was
// split, and where nothing is put in or hidden the client has the vendor's bytes.
func FuzzSSE(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "responses", "*.sse"))
	if err != nil || len(files) == 0 {
		f.Fatal("no streams", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for api := range uint8(3) {
			f.Add(b, api, uint16(0), api%2 == 0)
		}
		f.Add(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")), uint8(0), uint16(5), true)
		f.Add(bytes.ReplaceAll(b, []byte("\n"), []byte("\r")), uint8(2), uint16(3), false)
	}
	f.Add([]byte("\xef\xbb\xbfdata: {\"usage\":null}\r\n\r\r\n\n: c\n\ndata: [DONE]"), uint8(0), uint16(5), true)
	f.Add([]byte("data: {\"choices\":[],\ndata: \"x_groq\":{\"usage\":{\"prompt_tokens\":3,\ndata: \"completion_tokens\":1}}}\n\n"), uint8(0), uint16(0), false)
	f.Fuzz(func(t *testing.T, stream []byte, api uint8, from uint16, edits bool) {
		stream = stream[:min(len(stream), 4<<10)]
		o := RelayOptions{API: apis[int(api)%len(apis)]}
		if edits {
			o.Metadata, o.HideUsage = []byte(`{"g":[1]}`), true
		}
		whole := splitAt(o, stream, 0)
		step := 1 + len(stream)/maxSplits
		for at := 1 + int(from)%step; at <= len(stream); at += step {
			if split := splitAt(o, stream, at); !reflect.DeepEqual(split, whole) {
				t.Fatalf("%s, split at %d:\n%+v\nwhole:\n%+v", o.API, at, split, whole)
			}
		}
		if edits || o.API == catalog.Messages { // which may be given event lines, and lose [DONE]
			return
		}
		// Half an event at the end is dropped, and an event without its blank line is given it.
		if out := []byte(whole.Out); !bytes.HasPrefix(stream, bytes.TrimRight(out, "\n")) && !bytes.HasPrefix(out, stream) {
			t.Fatalf("changed without an edit:\n%q\n%q", stream, out)
		}
	})
}

// Every stream of the project, at every point.
func TestEverySplitOfEveryStream(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "responses", "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal("no streams", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dialect, _, _ := strings.Cut(filepath.Base(name), "-")
		for _, o := range []RelayOptions{{API: catalog.API(dialect)}, {API: catalog.API(dialect), HideUsage: true, Metadata: []byte("1")}} {
			whole := splitAt(o, b, 0)
			for at := 1; at <= len(b); at++ {
				if split := splitAt(o, b, at); !reflect.DeepEqual(split, whole) {
					t.Fatalf("%s, split at %d:\n%+v\nwhole:\n%+v", filepath.Base(name), at, split, whole)
				}
			}
		}
	}
}
