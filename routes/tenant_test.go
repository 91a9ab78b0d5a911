package routes_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

const (
	gullKey  = "yard_gull_5f0c7a1be2d94c33"
	heronKey = "yard_heron_90ab13cd77e8412f"
)

// team is a tenant with these keys.
func team(id string, keys ...string) routes.Tenant {
	t := routes.Tenant{ID: id}
	for _, key := range keys {
		t.Keys = append(t.Keys, sha256.Sum256([]byte(key)))
	}
	return t
}

func tenantsOf(t testing.TB, list ...routes.Tenant) *routes.Tenants {
	t.Helper()
	tenants, err := routes.NewTenants(list)
	if err != nil {
		t.Fatal(err)
	}
	return tenants
}

// shared serves gull and heron, with headers that say what was decided. A change may
// give them more.
func shared(t testing.TB, change ...func(gull, heron *routes.Tenant)) func(*routes.Options) {
	gull, heron := team("crew-gull", gullKey), team("crew-heron", heronKey)
	for _, f := range change {
		f(&gull, &heron)
	}
	return func(o *routes.Options) { o.Tenants, o.Metadata = tenantsOf(t, gull, heron), vendor.MetadataHeader }
}

func TestMistakesInTenantsAreAllNamed(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		name string
		list []routes.Tenant
		want []string
	}{
		{"none", nil, []string{"there is no tenant"}},
		{"several", []routes.Tenant{
			team("", "a"), team(long, "b"), team("gull\n", "c"), team("gull"), team("gull", "d"), team("heron", "e", "d", "e"),
			{ID: "green", Keys: team("", "f").Keys, Metadata: "loud"},
		}, []string{
			"tenant 1 has no id", "tenant 2: its id must be at most 64", "tenant 3: its id must be", `tenant "gull" has no key`, `tenant "gull" is there twice`,
			`tenant "heron": its key 2 is also a key of tenant "gull"`, `tenant "heron": its key 3 is also a key of tenant "heron"`, `tenant "green": metadata must be`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := routes.NewTenants(c.list)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.Split(err.Error(), "\n"); len(got) != len(c.want) {
				t.Errorf("%d mistakes, want %d: %v", len(got), len(c.want), err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
			hash := sha256.Sum256([]byte("d"))
			if strings.Contains(err.Error(), hex.EncodeToString(hash[:4])) {
				t.Errorf("a hash is in %v", err)
			}
		})
	}
}

func TestWhoIsLetIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		want   string // the tenant; empty: nobody
		says   string
	}{
		{"bearer", []string{"Authorization", "Bearer " + gullKey}, "crew-gull", ""},
		{"bearer in small letters, and blanks", []string{"Authorization", "  bearer   " + gullKey + " "}, "crew-gull", ""},
		{"x-api-key", []string{"x-api-key", gullKey}, "crew-gull", ""},
		{"api-key", []string{"api-key", heronKey}, "crew-heron", ""},
		{"a second key of the tenant", []string{"api-key", "yard_gull_next"}, "crew-gull", ""},
		{"the same key twice", []string{"Authorization", "Bearer " + gullKey, "x-api-key", gullKey, "x-api-key", gullKey}, "crew-gull", ""},
		{"an empty header beside it", []string{"Authorization", "Bearer ", "x-api-key", gullKey}, "crew-gull", ""},
		{"no header", nil, "", "No key came"},
		{"an empty one", []string{"Authorization", "Bearer"}, "", "No key came"},
		{"another's", []string{"Authorization", "Bearer sk-somewhere-else"}, "", "is not one of this gateway's"},
		{"the beginning of one", []string{"x-api-key", gullKey[:len(gullKey)-1]}, "", "is not one of this gateway's"},
		{"more than one", []string{"x-api-key", gullKey + "0"}, "", "is not one of this gateway's"},
		{"in capitals", []string{"x-api-key", strings.ToUpper(gullKey)}, "", "is not one of this gateway's"},
		{"its hash", []string{"x-api-key", fmt.Sprintf("%x", sha256.Sum256([]byte(gullKey)))}, "", "is not one of this gateway's"},
		{"without its scheme", []string{"Authorization", "Bearer" + gullKey}, "", "is not one of this gateway's"},
		{"of another scheme", []string{"Authorization", "Basic " + gullKey}, "", "is not one of this gateway's"},
		{"two, both right", []string{"Authorization", "Bearer " + gullKey, "x-api-key", heronKey}, "", "Two different keys"},
		{"two, both of one tenant", []string{"Authorization", "Bearer " + gullKey, "x-api-key", "yard_gull_next"}, "", "Two different keys"},
		{"two, the second wrong", []string{"x-api-key", gullKey, "api-key", "x"}, "", "Two different keys"},
		{"two in one header", []string{"x-api-key", gullKey, "x-api-key", heronKey}, "", "Two different keys"},
		{"another scheme beside it", []string{"Authorization", "Basic dTpw", "x-api-key", gullKey}, "", "Two different keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pier := &script{text: jsonAnswer}
			r := newRig(t, shared(t, func(gull, _ *routes.Tenant) {
				gull.Keys = append(gull.Keys, sha256.Sum256([]byte("yard_gull_next")))
			}), stop{name: "pier", serve: pier})
			got := r.post("chat", bodies[false], c.header...)
			if c.want == "" {
				if got.status != http.StatusUnauthorized || len(pier.requests()) != 0 {
					t.Errorf("%d, and %d requests at the vendor", got.status, len(pier.requests()))
				}
				return
			}
			if got.status != http.StatusOK || r.turns(1)[0].Tenant != c.want {
				t.Errorf("%d for %q", got.status, r.turns(1)[0].Tenant)
			}
			for name, values := range pier.requests()[0].header {
				if text := strings.Join(values, " "); strings.Contains(text, "yard_") {
					t.Errorf("the vendor got %s: %s", name, text)
				}
			}
			r.settled()
			if !strings.Contains(r.log.String(), `"tenant":"`+c.want+`"`) {
				t.Errorf("the log does not say whose: %s", r.log)
			}
		})
		if c.says == "" {
			continue
		}
		t.Run(c.name+", told", func(t *testing.T) {
			r := newRig(t, shared(t), stop{name: "pier", serve: &script{text: jsonAnswer}})
			got := r.post("chat", bodies[false], c.header...)
			var told struct {
				Error struct{ Message, Type, Code string }
			}
			if err := json.Unmarshal([]byte(got.body), &told); err != nil || !strings.Contains(told.Error.Message, c.says) {
				t.Errorf("%s, want %q", got.body, c.says)
			}
			if told.Error.Code != "invalid_api_key" || got.header.Get("WWW-Authenticate") != "Bearer" || got.header.Get("X-Warmroute-Request-Id") == "" {
				t.Errorf("%s %v", got.body, got.header)
			}
			r.settled()
			for i := 1; i < len(c.header); i += 2 {
				if key := strings.TrimPrefix(c.header[i], "Bearer "); len(key) > 7 && strings.Contains(got.body+r.log.String(), key) {
					t.Errorf("the key is repeated: %s %s", got.body, r.log)
				}
			}
			if !strings.Contains(r.log.String(), "not let in: ") || !strings.Contains(r.log.String(), got.header.Get("X-Warmroute-Request-Id")) {
				t.Errorf("the log does not say why: %s", r.log)
			}
		})
	}
}

func TestNobodyIsTurnedAwayWithoutTenants(t *testing.T) {
	pier := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: pier})
	for i, header := range [][]string{nil, {"Authorization", "Bearer any"}, {"x-api-key", "any", "Authorization", "Bearer other"}} {
		if got := r.post("chat", bodies[false], header...); got.status != http.StatusOK {
			t.Errorf("%v: %d", header, got.status)
		}
		if sent := pier.requests()[i].header; sent.Get("X-Api-Key") != "" || sent.Get("Authorization") != "Bearer "+vendorKey {
			t.Errorf("the vendor got %v", sent)
		}
	}
	if turns := r.turns(3); turns[0].Tenant != "default" {
		t.Errorf("tenant %q", turns[0].Tenant)
	}
}

// Whatever is added to the client APIs stands behind the keys.
func TestEveryPathBelowV1NeedsAKey(t *testing.T) {
	r := newRig(t, shared(t), stop{name: "pier", serve: &script{text: jsonAnswer}})
	o := routes.Options{Gateway: r.gateway}
	shared(t)(&o)
	engine, ok := routes.New(o).(*gin.Engine)
	if !ok {
		t.Fatal("the paths cannot be listed")
	}
	guarded := 0
	for _, route := range engine.Routes() {
		if !strings.HasPrefix(route.Path, "/v1") {
			if route.Path != "/" {
				t.Errorf("%s %s is open", route.Method, route.Path)
			}
			continue
		}
		guarded++
		request, err := http.NewRequest(route.Method, r.url+strings.ReplaceAll(route.Path, "*id", "m"), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s: %d", route.Method, route.Path, response.StatusCode)
		}
	}
	if guarded < 7 {
		t.Errorf("%d paths", guarded)
	}
}

func TestAStrangerIsToldInTheDialectOfThePath(t *testing.T) {
	r := newRig(t, shared(t), stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, c := range []struct {
		method, path, version, want string
	}{
		{"POST", "/v1/chat/completions", "", `{"error":{"message":"No key`},
		{"POST", "/v1/responses", "", `{"error":{"message":"No key`},
		{"POST", "/v1/embeddings", "", `{"error":{"message":"No key`},
		{"POST", "/v1/messages", "2023-06-01", `{"type":"error","error":{"type":"authentication_error","message":"No key`},
		{"POST", "/v1/messages/count_tokens", "", `{"type":"error","error":{"type":"authentication_error","message":"No key`},
		{"GET", "/v1/models", "", `{"error":{"message":"No key`},
		{"GET", "/v1/models/m", "2023-06-01", `{"type":"error","error":{"type":"authentication_error","message":"No key`},
	} {
		request, err := http.NewRequest(c.method, r.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.version != "" {
			request.Header.Set("Anthropic-Version", c.version)
		}
		response, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var text [200]byte
		n, _ := response.Body.Read(text[:])
		response.Body.Close()
		if !strings.HasPrefix(string(text[:n]), c.want) {
			t.Errorf("%s: %s", c.path, text[:n])
		}
	}
}

// A stranger is answered at once: the server does not wait for what he says he
// will send, and does not read it.
func TestAStrangersBodyIsNotRead(t *testing.T) {
	r := newRig(t, shared(t), stop{name: "pier", serve: &script{text: jsonAnswer}})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The key is named as belonging to the connection: that takes nothing away.
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nConnection: x-api-key\r\nX-Api-Key: nobody\r\nContent-Length: 2000\r\n\r\n{")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized || !response.Close {
		t.Errorf("%d, close %v", response.StatusCode, response.Close)
	}
}

func TestMetadataIsTheRequestsThenTheTenantsThenTheGateways(t *testing.T) {
	r := newRig(t, shared(t, func(gull, _ *routes.Tenant) { gull.Metadata = vendor.MetadataOff }), stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, c := range []struct {
		name, key, asked string
		header, body     bool
	}{
		{"the tenant's", gullKey, "", false, false},
		{"the gateway's where the tenant has none", heronKey, "", true, false},
		{"raised", gullKey, "body", true, true},
		{"raised a little", gullKey, "header", true, false},
		{"lowered", heronKey, "off", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := []string{"x-api-key", c.key}
			if c.asked != "" {
				header = append(header, "x-warmroute-metadata", c.asked)
			}
			got := r.post("chat", bodies[false], header...)
			if has := got.header.Get("X-Warmroute-Vendor") != ""; has != c.header {
				t.Errorf("headers: %v", has)
			}
			if has := strings.Contains(got.body, "provider_metadata"); has != c.body {
				t.Errorf("body: %v", has)
			}
		})
	}
}

func TestATenantsRulesHoldForItsEveryRequest(t *testing.T) {
	quay := &script{text: `{"object":"list","data":[],"usage":{"prompt_tokens":8}}`}
	pier := &script{text: jsonAnswer}
	r := newRig(t, shared(t, func(gull, heron *routes.Tenant) {
		gull.Rules = engine.Rules{Only: []string{"quay"}, Off: true}
		heron.Rules = engine.Rules{Gate: catalog.GateOff}
	}), stop{name: "pier", serve: pier}, stop{name: "quay", serve: quay})
	for _, body := range []string{
		`{"model":"m","session_id":"s","messages":[]}`,
		`{"model":"m","session_id":"s","messages":[],"providerOptions":{"gateway":{"order":["pier"]}}}`,
		`{"model":"m","session_id":"s","messages":[],"sessionAffinity":true}`,
	} {
		got := r.post("chat", body, "x-api-key", gullKey, "x-warmroute-affinity", "on")
		if v, o := got.header.Get("X-Warmroute-Vendor"), got.header.Get("X-Warmroute-Outcome"); v != "quay" || o != "skipped_mode_off" {
			t.Errorf("%s: %d %s %s", body, got.status, v, o)
		}
	}
	r.send(embedPath, strings.NewReader(`{"model":"m","input":"x"}`), "x-api-key", gullKey)
	if len(pier.requests()) != 0 || len(quay.requests()) != 4 {
		t.Errorf("%d requests at pier, %d at quay", len(pier.requests()), len(quay.requests()))
	}
	got := r.post("chat", `{"model":"m","messages":[],"providerOptions":{"gateway":{"only":["pier"]}}}`, "x-api-key", gullKey)
	if got.status != http.StatusBadRequest || strings.Contains(got.body, "pier") {
		t.Errorf("%d %s", got.status, got.body)
	}
	for range 2 {
		got = r.post("chat", `{"model":"m","session_id":"b","messages":[]}`, "x-api-key", heronKey)
	}
	if got.header.Get("X-Warmroute-Outcome") != "confirmed" {
		t.Errorf("heron: %v", got.header)
	}
	turns := r.turns(5)
	if gate := turns[len(turns)-1].Decision.Models[0].Gate; gate != catalog.GateOff {
		t.Errorf("heron's gate is %q", gate)
	}
}

func TestATenantSeesOnlyItsModels(t *testing.T) {
	c, err := catalog.ParseKeys("test.yaml", []byte(`
version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", credentials: [{id: main, env: K}], cache: {family: implicit}}
  quay: {api: [chat], base_url: "https://quay.example/v1", credentials: [{id: main, env: K}], cache: {family: implicit}}
models:
  tug:   {aliases: [tug-1], routes: [{vendor: pier, model: t, price: {input: 1, output: 1}}]}
  barge: {aliases: [barge-1], routes: [{vendor: quay, model: b, price: {input: 1, output: 1}}]}
  ferry: {routes: [{vendor: pier, model: f, price: {input: 1, output: 1}}, {vendor: quay, model: f, price: {input: 1, output: 1}}]}
policies:
  cargo: {models: [barge]}
  fleet: {models: [tug, ferry], only: [pier]}
`), func(catalog.Credential) (string, bool) { return vendorKey, true })
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, shared(t, func(gull, _ *routes.Tenant) { gull.Rules.Only = []string{"pier"} }), stop{name: "pier", serve: &script{text: jsonAnswer}})
	r.gateway.Catalog = func() *catalog.Catalog { return c }
	get := func(path, key string) (int, string) {
		request, err := http.NewRequest(http.MethodGet, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("x-api-key", key)
		response, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var list struct {
			ID   string
			Data []struct{ ID string }
		}
		if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Data {
			list.ID += m.ID + " "
		}
		return response.StatusCode, list.ID
	}
	if _, names := get("/v1/models", gullKey); names != "tug ferry fleet " {
		t.Errorf("gull sees %s", names)
	}
	if _, names := get("/v1/models", heronKey); names != "tug barge ferry cargo fleet " {
		t.Errorf("heron sees %s", names)
	}
	for _, name := range []string{"barge", "barge-1", "cargo"} {
		if status, _ := get("/v1/models/"+name, gullKey); status != http.StatusNotFound {
			t.Errorf("gull sees %s: %d", name, status)
		}
		if status, id := get("/v1/models/"+name, heronKey); status != http.StatusOK || id != name {
			t.Errorf("heron does not see %s: %d", name, status)
		}
	}
	for _, asked := range []string{"bargee", "cargoo", "Barge-1"} {
		body := fmt.Sprintf(`{"model":%q,"messages":[]}`, asked)
		if got := r.post("chat", body, "x-api-key", gullKey); got.status != http.StatusNotFound || strings.Contains(got.body, "Did you mean") {
			t.Errorf("gull is told of what it may not use: %s", got.body)
		}
		if got := r.post("chat", body, "x-api-key", heronKey); !strings.Contains(got.body, "Did you mean") {
			t.Errorf("heron is not told: %s", got.body)
		}
	}
}
