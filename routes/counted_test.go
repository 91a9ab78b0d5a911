package routes_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// bothLedgers are the books and the metrics.
type bothLedgers struct{ books, metrics engine.Ledger }

func (b bothLedgers) Record(turn engine.Turn) {
	b.metrics.Record(turn)
	b.books.Record(turn)
}

// Whatever the vendor did, the metrics count the status that the client was given.
func TestMetricsCountTheStatusThatTheClientGot(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, c := range []struct {
		name   string
		vendor *script
		stream bool
		want   int
	}{
		{"an answer", &script{text: jsonAnswer}, false, 200},
		{"429", &script{status: 429, text: `{"error":{"message":"slow down"}}`}, false, 429},
		{"400 that is no JSON", &script{status: 400, contentType: "text/plain", text: "no"}, false, 400},
		{"500", &script{status: 500, text: `{"error":{"message":"oops"}}`}, false, 500},
		{"a redirect", &script{status: 307, header: http.Header{"Location": {"https://elsewhere.example/"}}}, false, 502},
		{"401", &script{status: 401, text: `{"error":{"message":"bad key"}}`}, false, 502},
		{"200 that says it is throttled", &script{text: `{"error":{"type":"rate_limit_exceeded","message":"slow down"}}`}, false, 429},
		{"200 that says the request is wrong", &script{text: `{"error":{"type":"invalid_request_error","message":"no such tool"}}`}, false, 400},
		{"200 that says it is overloaded", &script{text: `{"error":{"type":"overloaded_error","message":"later"}}`}, false, 503},
		{"200 that says the key is bad", &script{text: `{"error":{"type":"authentication_error","message":"bad key"}}`}, false, 502},
		{"200 that is half an object", &script{text: `{"choices":[`}, false, 502},
		{"a stream whose first event says it is throttled", &script{text: "data: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n"}, true, 429},
		{"a stream that is cut", &script{text: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"oak\"}}]}\n\n"}, true, 200},
		{"no answer in time", &script{answer: hang}, false, 504},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(o *routes.Options) {
				o.Vendor.Close()
				o.Vendor = vendor.New(vendor.Options{FirstByte: 500 * time.Millisecond})
			}, stop{name: "pier", serve: c.vendor})
			metrics := routes.NewMetrics(routes.MetricsOptions{Catalog: func() *catalog.Catalog { return r.catalog }})
			r.gateway.Ledger = bothLedgers{r.ledger, metrics}
			got := r.post("chat", fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"hi"}]}`, c.stream))
			if last := r.last(1); got.status != c.want || last.Answered != c.want {
				t.Errorf("the client got %d, the turn says %d, want %d", got.status, last.Answered, c.want)
			}
			if text, line := scrape(t, metrics), fmt.Sprintf(`warmroute_requests_total{code="%d",model="m",protocol="chat",vendor="pier"} 1`, c.want); !strings.Contains(text, line+"\n") {
				t.Errorf("no line %s", line)
			}
		})
	}
}
