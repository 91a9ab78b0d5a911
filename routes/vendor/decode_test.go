package vendor_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/warmroute/warmroute/routes/vendor"
)

// pack lays one coding over text.
func pack(t testing.TB, coding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryCodingIsUndone(t *testing.T) {
	text := bytes.Repeat([]byte("a rope that floats. "), 500)
	for _, c := range []struct {
		name, header string
		body         []byte
	}{
		{"none", "", text},
		{"identity", "identity", text},
		{"gzip", "gzip", pack(t, "gzip", text)},
		{"x-gzip in capitals", "X-GZIP", pack(t, "gzip", text)},
		{"deflate by the standard", "deflate", pack(t, "zlib", text)},
		{"deflate by habit", "deflate", pack(t, "raw", text)},
		{"br", "br", pack(t, "br", text)},
		{"zstd", "zstd", pack(t, "zstd", text)},
		{"gzip in two members", "gzip", append(pack(t, "gzip", text[:4000]), pack(t, "gzip", text[4000:])...)},
		{"gzip, the block filled up with zeros", "gzip", append(pack(t, "gzip", text), make([]byte, 700)...)},
		{"gzip in two members, zeros between and after", "gzip", slices.Concat(pack(t, "gzip", text[:4000]), make([]byte, 3), pack(t, "gzip", text[4000:]), make([]byte, 5000))},
		{"two", "zstd, gzip", pack(t, "gzip", pack(t, "zstd", text))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := vendor.Decode(c.header, bytes.NewReader(c.body), 8<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if c.header == "" || c.header == "identity" {
				return
			}
			if strings.Contains(c.name, "zeros") || strings.Contains(c.name, "members") {
				return // the middle may be an end
			}
			cut, err := vendor.Decode(c.header, bytes.NewReader(c.body[:len(c.body)/2]), 8<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer cut.Close()
			if _, err := io.ReadAll(cut); err == nil {
				t.Error("half a body unpacked without an error")
			}
		})
	}
}

func TestWhatFollowsGzipMustBeGzipOrZeros(t *testing.T) {
	body := pack(t, "gzip", []byte("a rope"))
	for name, rest := range map[string][]byte{
		"text":                 []byte("and more"),
		"zeros and text":       []byte("\x00\x00text"),
		"the head of a member": body[:4],
		"half a member":        body[:len(body)-3],
	} {
		r, err := vendor.Decode("gzip", bytes.NewReader(slices.Concat(body, rest)), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err == nil {
			t.Errorf("%s: read as %q", name, got)
		}
		r.Close()
	}
}

func TestAnUnknownCodingIsNamed(t *testing.T) {
	for _, header := range []string{"compress", "gzip, sdch", "gzip, gzip, gzip"} {
		_, err := vendor.Decode(header, bytes.NewReader(nil), 1<<20)
		var unknown *vendor.UnknownCodingError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("gzip", pack(f, "gzip", []byte("hello")))
	f.Add("deflate", pack(f, "zlib", []byte("hello")))
	f.Add("br", pack(f, "br", []byte("hello")))
	f.Add("zstd", pack(f, "zstd", []byte("hello")))
	f.Add("zstd, gzip", []byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		r, err := vendor.Decode(header, bytes.NewReader(body), 1<<20)
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
	})
}
