package routes_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// still is a client that reads its answer at once.
type still struct{ header http.Header }

func (s *still) Header() http.Header         { return s.header }
func (s *still) Write(p []byte) (int, error) { return len(p), nil }
func (s *still) WriteHeader(int)             {}

// BenchmarkSidecar is the handlers alone, without a network, for a conversation of 60
// kB: what /v1/route takes, with the conversation and with its size only, what a report
// of the turn takes, and both.
func BenchmarkSidecar(b *testing.B) {
	talk := benchBody(60<<10, false)
	whole := append(append([]byte(`{"api":"chat","headers":{"x-session-id":"dory-bench"},"body":`), talk...), '}')
	size := []byte(`{"api":"chat","headers":{"x-session-id":"dory-bench"},"body":{"model":"m"},"prompt":{"tokens":15000}}`)
	for _, c := range []struct {
		name   string
		ask    []byte
		report bool
	}{{"route", whole, false}, {"route-by-size", size, false}, {"route+outcomes", whole, true}} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b, nil, twoStops()...)
			handler := routes.New(routes.Options{Gateway: r.gateway, Vendor: vendor.New(vendor.Options{})})
			call := func(path string, body []byte) string {
				w := &still{http.Header{}}
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
				return w.header.Get("X-Warmroute-Request-Id")
			}
			b.ReportAllocs()
			for b.Loop() {
				id := call("/v1/route", c.ask)
				if c.report {
					call("/v1/outcomes", []byte(`{"turn":"`+id+`","attempts":[`+served("pier")+`]}`))
				}
			}
			if n, _ := r.ledger.Count(); c.report && n == 0 {
				b.Fatal("nothing is booked")
			}
		})
	}
}
