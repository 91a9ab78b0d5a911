package routes_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// metered is a request body that knows how much of it was read.
type metered struct {
	*bytes.Reader
	read int
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func (c *metered) Close() error { return nil }

// A body over the limit is given up at the limit: the rest of it is neither read
// nor unpacked, and what was unpacked does not cost much more than the limit.
func TestABombIsNotUnpacked(t *testing.T) {
	const (
		limit = 2 << 20
		times = 32 // how many limits the bomb would unpack to
	)
	// A hundredth of it cannot be packed, so that what was read tells how much was unpacked.
	piece := make([]byte, limit/4)
	seed := rand.NewChaCha8([32]byte{1})
	_, _ = seed.Read(piece[:len(piece)/100])
	for _, c := range []struct {
		coding string
		open   func(io.Writer) io.WriteCloser
	}{
		{"gzip", func(w io.Writer) io.WriteCloser { z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed); return z }},
		{"deflate", func(w io.Writer) io.WriteCloser { z, _ := zlib.NewWriterLevel(w, zlib.BestSpeed); return z }},
		{"zstd", func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithWindowSize(1<<17)) // too small to find the piece before
			if err != nil {
				t.Fatal(err)
			}
			return z
		}},
		{"br", func(w io.Writer) io.WriteCloser {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 1, LGWin: 16})
		}},
	} {
		t.Run(c.coding, func(t *testing.T) {
			var packed bytes.Buffer
			z := c.open(&packed)
			for range times * 4 {
				if _, err := z.Write(piece); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if packed.Len() > limit { // else the limit on what is sent would refuse it
				t.Fatalf("the bomb has %d bytes", packed.Len())
			}
			v := &script{text: jsonAnswer}
			r := newRig(t, nil, stop{name: "pier", serve: v})
			handler := routes.New(routes.Options{Gateway: r.gateway, Vendor: vendor.New(vendor.Options{}), MaxBody: limit})
			body := &metered{Reader: bytes.NewReader(packed.Bytes())}
			request := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", body)
			request.ContentLength = -1
			request.Header.Set("Content-Encoding", c.coding)
			answer := httptest.NewRecorder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			handler.ServeHTTP(answer, request)
			runtime.ReadMemStats(&after)
			if answer.Code != http.StatusRequestEntityTooLarge || len(v.requests()) > 0 {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
			// One limit's worth, and what a decoder reads ahead.
			if most := packed.Len()/times + 128<<10; body.read > most {
				t.Errorf("%d of %d packed bytes were read, more than %d", body.read, packed.Len(), most)
			}
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 8*limit {
				t.Errorf("%d bytes of memory for a limit of %d", spent, limit)
			}
		})
	}
}
