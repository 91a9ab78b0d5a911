package routes_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
)

// Whatever is asked, the answer is JSON or rows: what was asked for, or a problem that
// says what is wrong with the question.
func FuzzAPIQuery(f *testing.F) {
	for _, query := range []string{
		"", "range=24h&tenant=t", "range=9999999999d", "from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00.5%2B01:00", "after=AQ&limit=7",
		"from=0000-01-01T00:00:00Z&width=minute", "to=9999-12-31T23:59:59Z", "id=a%2F..%2Fb", "class=agent&session=%00", "%", ";", "a=1&a=2", "limit=+1",
		"format=csv&limit=100000", "format=csv&of=routes&zone=Asia/Kolkata", "zone=../x", "cause=any&format=csv",
	} {
		f.Add(query)
	}
	books := &inmem.Ledger{}
	books.Record(sold(shop(f), 0))
	admin := routes.Admin(routes.AdminOptions{API: routes.APIOptions{Books: books, Pins: inmemPins(map[engine.PinKey]engine.Record{
		{Tenant: "acme", Class: engine.ClassExplicit, ID: "x"}: remembered("m", "pier"),
	})}})
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"overview", "routes", "misses", "turns", "turns/t", "sessions", "sessions/explicit", "pins"} {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			admin.ServeHTTP(w, r)
			kind := w.Header().Get("Content-Type")
			switch {
			case w.Code == http.StatusOK && strings.HasPrefix(kind, "text/csv"):
				if rows, err := csv.NewReader(w.Body).ReadAll(); err != nil || len(rows) == 0 {
					t.Errorf("%s?%s: %v", path, query, err)
				}
			case !json.Valid(w.Body.Bytes()):
				t.Errorf("%s: not JSON: %s", path, w.Body)
			case w.Code == http.StatusOK && kind == "application/json":
			case (w.Code == http.StatusBadRequest || w.Code == http.StatusNotFound) && strings.HasPrefix(kind, "application/problem+json"):
			default:
				t.Errorf("%s?%s: %d %s %s", path, query, w.Code, kind, w.Body)
			}
		}
	})
}
