package routes

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// documented is what the test reads of the document.
type documented struct {
	Paths map[string]struct {
		Get, Post *struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   struct{ Enum []string }
			}
		}
	}
}

// The router and the document say the same: paths, methods, parameters.
func TestTheDocumentHasWhatTheRouterHas(t *testing.T) {
	for _, o := range []APIOptions{
		{Books: &inmem.Ledger{}},
		{Books: &inmem.Ledger{}, Pins: func(context.Context, func(engine.PinKey, engine.Record) bool) error { return nil }},
	} {
		r := router(slog.New(slog.DiscardHandler))
		o.register(r)
		text, err := o.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		var doc documented
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`/[:*]([a-z]+)`)
		left := 0
		for _, path := range doc.Paths { // those of the client address are posted to
			if path.Post == nil {
				left++
			}
		}
		for _, route := range r.Routes() {
			path := named.ReplaceAllString(route.Path, "/{$1}")
			operation := doc.Paths[path].Get
			if operation == nil || route.Method != http.MethodGet || doc.Paths[path].Post != nil {
				t.Errorf("%s %s is not in the document, or not alone", route.Method, path)
				continue
			}
			left--
			var inPath, inQuery []string
			for _, p := range operation.Parameters {
				if p.In == "path" {
					inPath = append(inPath, p.Name)
				} else {
					inQuery = append(inQuery, p.Name)
				}
				if p.Required != (p.In == "path") {
					t.Errorf("%s: %s is required: %v", path, p.Name, p.Required)
				}
			}
			var wanted []string
			for _, m := range named.FindAllStringSubmatch(route.Path, -1) {
				wanted = append(wanted, m[1])
			}
			if strings.Join(inPath, " ") != strings.Join(wanted, " ") {
				t.Errorf("%s: the document has %v in the path", path, inPath)
			}
			knows(t, r, named.ReplaceAllString(route.Path, "/explicit"), inQuery)
			for _, p := range operation.Parameters {
				for _, choice := range p.Schema.Enum {
					if p.In == "query" && p.Name != "of" {
						if answer := asking(r, named.ReplaceAllString(route.Path, "/explicit")+"?"+p.Name+"="+choice); answer.Code == http.StatusBadRequest && !strings.Contains(answer.Body.String(), "accounts by session") && !strings.Contains(answer.Body.String(), "id is missing") {
							t.Errorf("%s: %s=%s is refused: %s", path, p.Name, choice, answer.Body)
						}
					}
				}
			}
		}
		if left != 0 {
			t.Errorf("%d paths of the document are not routed", left)
		}
	}
}

// knows asks a path for something it does not know; the answer names what it does.
func knows(t *testing.T, r http.Handler, path string, parameters []string) {
	t.Helper()
	answer := asking(r, path+"?colour=red")
	var said struct{ Detail string }
	if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil || answer.Code != http.StatusBadRequest {
		t.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	want := `There is no parameter "colour" here, nor any other.`
	if len(parameters) > 0 {
		want = `There is no parameter "colour" here; there are ` + strings.Join(parameters, ", ") + "."
	}
	if said.Detail != want {
		t.Errorf("%s says %s, the document %v", path, said.Detail, parameters)
	}
	for _, name := range parameters {
		if answer := asking(r, path+"?"+url.QueryEscape(name)+"=&"+url.QueryEscape(name)+"="); !strings.Contains(answer.Body.String(), "is given twice") {
			t.Errorf("%s: %s: %s", path, name, answer.Body)
		}
	}
}

func asking(r http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}
