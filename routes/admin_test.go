package routes_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes"
)

// adminAsk asks the admin handler.
func adminAsk(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestReadinessIsWhatItIsToldToBe(t *testing.T) {
	now := routes.Readiness{Ready: true, Catalog: routes.CatalogStatus{Digest: "d"}, Pins: routes.PinStatus{Loaded: true, Unwritten: 3}}
	h := routes.Admin(routes.AdminOptions{Ready: func() routes.Readiness { return now }})
	if w := adminAsk(h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("healthz %d", w.Code)
	}
	if w := adminAsk(h, "GET", "/readyz"); w.Code != 200 || w.Body.String() != "ready\n" {
		t.Errorf("readyz %d %q", w.Code, w.Body)
	}
	var body struct {
		Ready bool
		Pins  struct {
			Loaded    bool
			Unwritten int
		}
		Catalog struct{ Digest string }
	}
	w := adminAsk(h, "GET", "/readyz?verbose")
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || !body.Ready || body.Pins.Unwritten != 3 || !body.Pins.Loaded || body.Catalog.Digest != "d" {
		t.Errorf("verbose %v %s", err, w.Body)
	}
	now.Ready, now.Reason = false, "draining"
	if w := adminAsk(h, "GET", "/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "draining") {
		t.Errorf("readyz %d %q", w.Code, w.Body)
	}
	if w := adminAsk(routes.Admin(routes.AdminOptions{}), "GET", "/readyz"); w.Code != 200 {
		t.Errorf("without a source: %d", w.Code)
	}
	if w := adminAsk(h, "GET", "/else"); w.Code != 404 || !strings.Contains(w.Body.String(), "/readyz") {
		t.Errorf("else %d %s", w.Code, w.Body)
	}
}

func TestReloadSaysWhatIsWrong(t *testing.T) {
	var problem error
	calls := 0
	h := routes.Admin(routes.AdminOptions{Reload: func() error { calls++; return problem }})
	if w := adminAsk(h, "POST", "/-/reload"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	problem = errors.New("catalog.yaml:4:1: what is wrong")
	if w := adminAsk(h, "POST", "/-/reload"); w.Code != 422 || !strings.Contains(w.Body.String(), "catalog.yaml:4:1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	problem = catalog.Problems{{File: "catalog.yaml", Line: 4, Column: 7, Where: "a vendor", Message: "what is wrong; what to do"}}
	if w := adminAsk(h, "POST", "/-/reload"); w.Code != 422 || !strings.Contains(w.Body.String(), `"problems":[{"file":"catalog.yaml","line":4,"column":7,"where":"a vendor","message":"what is wrong; what to do"}]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	before := calls
	if w := adminAsk(h, "POST", "/-/reload", "Sec-Fetch-Site", "cross-site"); w.Code != 403 || calls != before {
		t.Errorf("from another site: %d", w.Code)
	}
	if w := adminAsk(h, "GET", "/-/reload"); w.Code != 405 || calls != before {
		t.Errorf("by GET: %d", w.Code)
	}
}

// An editor that is pointed at the gateway is told what this gateway reads.
func TestTheSchemasAreServed(t *testing.T) {
	h := routes.Admin(routes.AdminOptions{})
	for path, want := range map[string][]byte{"/catalog.schema.json": catalog.Schema(), "/config.schema.json": catalog.ConfigSchema()} {
		w := adminAsk(h, "GET", path)
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/schema+json" || w.Body.String() != string(want) {
			t.Errorf("%s: %d %s, %d bytes", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		if w := adminAsk(h, "HEAD", path); w.Code != 200 {
			t.Errorf("HEAD %s: %d", path, w.Code)
		}
	}
}
