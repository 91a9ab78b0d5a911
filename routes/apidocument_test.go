package routes_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	judge "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
)

// contract is the OpenAPI document as the API serves it, closed: what it does not
// name is a mistake here.
type contract struct {
	t        testing.TB
	compiler *jsonschema.Compiler
	used     map[string]bool
	document map[string]any
}

func (d desk) contract() *contract {
	d.t.Helper()
	status, header, body := d.get("/api/v1/openapi.json")
	if status != http.StatusOK || header.Get("Content-Type") != "application/json" {
		d.t.Fatalf("%d %v", status, header)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	document, _ := doc.(map[string]any)
	if document["openapi"] != "3.1.0" {
		d.t.Fatalf("openapi is %v", document["openapi"])
	}
	closed(doc)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("https://warmroute.example/openapi.json", doc); err != nil {
		d.t.Fatal(err)
	}
	return &contract{d.t, compiler, map[string]bool{}, document}
}

// closed allows no member that a schema does not name.
func closed(value any) {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v["properties"]; ok && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closed(inner)
		}
	case []any:
		for _, inner := range v {
			closed(inner)
		}
	}
}

// holds checks a body against the schema of an answer.
func (c *contract) holds(template, status, kind string, body []byte) {
	c.t.Helper()
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	at := "https://warmroute.example/openapi.json#" + url.PathEscape("/paths/"+escape.Replace(template)+"/get/responses/"+status+"/content/"+escape.Replace(kind)+"/schema")
	schema, err := c.compiler.Compile(strings.ReplaceAll(at, "%2F", "/"))
	if err != nil {
		c.t.Fatalf("%s: %v", template, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		c.t.Fatalf("%s: %v", template, err)
	}
	if err := schema.Validate(value); err != nil {
		c.t.Errorf("%s: %v in %.300s", template, err, body)
	}
	if status == "200" {
		c.used[template] = true
	}
}

// Real answers of every path are what the document says.
func TestAnswersAreWhatTheDocumentSays(t *testing.T) {
	market := storetest.NewMarket()
	books := &inmem.Ledger{Max: 10_000, Auditor: judge.Auditor{}}
	r := rand.New(rand.NewPCG(31, 1))
	for n := range 700 {
		books.Record(market.Turn(r, n, apiNow.Add(-time.Duration(700-n)*time.Second)))
	}
	c := shop(t)
	full := sold(c, 0)
	full.ID, full.Started = "full", apiNow.Add(-time.Minute)
	a := &full.Attempts[0]
	a.Sides = []engine.Side{{Kind: "advisor", Model: "x", Usage: pricing.Usage{Input: 4}, Card: a.Card}}
	a.Charged, a.RawUsage, a.TierAssumed = pricing.Charge{Amount: a.Cost.Total, Known: true}, []byte(`{"prompt_tokens":3}`), true
	a.Card.Parts = []pricing.Part{{Tokens: 4300, Card: a.Card}}
	books.Record(full)
	open := sold(c, 0)
	open.ID, open.Started = "open", apiNow.Add(-time.Minute)
	if err := books.Intend(t.Context(), &open, engine.Candidate{Route: c.Models[0].Routes[0]}); err != nil {
		t.Fatal(err)
	}
	pins := inmemPins(map[engine.PinKey]engine.Record{
		{Tenant: "acme", Class: engine.ClassExplicit, ID: "s"}: {Models: []engine.ModelPins{{Model: "m", Warm: []engine.Entry{{Vendor: "pier", AcceptedAt: apiNow, ExpiresAt: apiNow, Reported: true}}}}},
	})
	d := newDesk(t, routes.APIOptions{Books: books, Pins: pins, Catalog: func() *catalog.Catalog { return c }})
	contract := d.contract()
	good := func(template, path string) {
		t.Helper()
		status, _, body := d.get(path)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		contract.holds(template, "200", "application/json", body)
	}
	for _, query := range []string{"", "?range=1h", "?zone=Asia/Kolkata&width=hour", "?tenant=nobody", "?class=explicit"} {
		good("/api/v1/overview", "/api/v1/overview"+query)
	}
	for _, list := range []string{"turns", "misses", "sessions"} {
		good("/api/v1/"+list, "/api/v1/"+list+"?limit=1000")
		good("/api/v1/"+list, "/api/v1/"+list+"?limit=2")
		good("/api/v1/"+list, "/api/v1/"+list+"?tenant=nobody")
	}
	good("/api/v1/routes", "/api/v1/routes")
	good("/api/v1/pins", "/api/v1/pins")
	good("/api/v1/openapi.json", "/api/v1/openapi.json")
	good("/api/v1/turns/{id}", "/api/v1/turns/full?tenant=acme")
	good("/api/v1/turns/{id}", "/api/v1/turns/open?tenant=acme")
	good("/api/v1/sessions/{class}/{id}", "/api/v1/sessions/cache_key/secret-session?tenant=acme")
	good("/api/v1/sessions/{class}", "/api/v1/sessions/cache_key?id=secret-session&tenant=acme")
	paths, _ := contract.document["paths"].(map[string]any)
	for template := range paths {
		if !contract.used[template] && strings.HasPrefix(template, "/api/") {
			t.Errorf("no answer of %s was checked", template)
		}
	}
	for _, path := range []string{"/api/v1/turns/none", "/api/v1/turns?limit=0", "/api/v1/overview?zone=x"} {
		status, _, body := d.get(path)
		template, named := "/api/v1/turns", "default"
		if status == http.StatusNotFound {
			template, named = "/api/v1/turns/{id}", "404"
		}
		contract.holds(template, named, "application/problem+json", body)
	}
	if fmt.Sprint(contract.document["info"]) == "" {
		t.Error("the document has no name")
	}
}
