package routes_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// oneID is two teams that call a session alike, and one that opens its page.
const oneID = `
rows:
  - {n: 1, api_key: harbour-key, header: {x-session-id: dawn}, model: tide-1, served_by: harbor-b}
  - {n: 2, api_key: museum-key,  header: {x-session-id: dawn}, model: tide-1}
  - {n: 3, api_key: harbour-key, header: {x-session-id: dawn}, model: tide-1}
  - {n: 4, api_key: museum-key,  dashboard: "the page of session dawn"}
`

// An id that a client makes up is its tenant's: the other has a session of its own
// by that name, neither promoted by the first's pin nor shown its turns.
func TestASessionIDIsBoundToItsCaller(t *testing.T) {
	t.Run("own", func(t *testing.T) { oneIDTwice(t, oneID) })
	t.Run("shared", func(t *testing.T) { oneIDTwice(t, sharedCase(t, "case-20-two-tenants-one-id.yaml")) })
}

func oneIDTwice(t *testing.T, text string) {
	var file struct {
		Rows []struct {
			N         int
			Key       string `yaml:"api_key"`
			Header    map[string]string
			Model     string
			Served    string `yaml:"served_by"`
			Dashboard string
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Rows) != 4 {
		t.Fatalf("%d rows: %v", len(file.Rows), err)
	}
	first, second, session := file.Rows[0].Key, file.Rows[1].Key, file.Rows[0].Header["x-session-id"]
	if file.Rows[2].Key != first || file.Rows[3].Key != second || file.Rows[3].Dashboard == "" || !strings.HasSuffix(file.Rows[0].Served, "-b") {
		t.Fatalf("other rows than these were meant: %+v", file.Rows)
	}
	h, _, _ := newHouse(t, stop{also: []string{file.Rows[0].Model}}, jsonAnswer, func(gull, heron *routes.Tenant) {
		gull.Keys, heron.Keys = team("", first).Keys, team("", second).Keys
	})
	want := []string{"harbor-b no_pin", "harbor-a no_pin", "harbor-b promoted"}
	var ids [3]string
	for i, row := range file.Rows[:3] {
		header := []string{"Authorization", "Bearer " + row.Key}
		for name, value := range row.Header {
			header = append(header, name, value)
		}
		got := h.post("chat", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"tide?"}]}`, row.Model), header...)
		if text := got.header.Get("X-Warmroute-Vendor") + " " + got.header.Get("X-Warmroute-Outcome"); text != want[i] {
			t.Errorf("row %d: %s, want %s", row.N, text, want[i])
		}
		ids[i] = got.header.Get("X-Warmroute-Request-Id")
	}
	h.turns(3)
	h.settled()
	h.look()
	for _, c := range []struct {
		tenant     string
		sees       []string
		seesNot    []string
		turns      int
		inSessions int
	}{
		{"crew-heron", ids[1:2], []string{ids[0], ids[2]}, 1, 1},
		{"crew-gull", []string{ids[0], ids[2]}, ids[1:2], 2, 1},
		{"nobody", nil, ids[:], 0, 0},
		{"default", nil, ids[:], 0, 0},
	} {
		_, page := h.see("/ui/session?class=explicit&id=" + session + "&tenant=" + c.tenant)
		_, list := h.see("/api/v1/turns?session=" + session + "&class=explicit&tenant=" + c.tenant)
		for _, id := range c.sees {
			if !strings.Contains(page, id) || !strings.Contains(list, id) {
				t.Errorf("%s does not see %s", c.tenant, id)
			}
		}
		for _, id := range c.seesNot {
			if strings.Contains(page, id) || strings.Contains(list, id) {
				t.Errorf("%s sees %s", c.tenant, id)
			}
		}
		turns, _, err := h.ledger.Turns(t.Context(), engine.Query{Tenant: c.tenant}, engine.Page{})
		sessions, _, err2 := h.ledger.Sessions(t.Context(), engine.Query{Tenant: c.tenant}, engine.Page{})
		if len(turns) != c.turns || len(sessions) != c.inSessions || err != nil || err2 != nil {
			t.Errorf("%s has %d turns in %d sessions: %v %v", c.tenant, len(turns), len(sessions), err, err2)
		}
		book, found, err := h.ledger.Session(t.Context(), c.tenant, engine.ClassExplicit, session)
		if found != (c.turns > 0) || int(book.Sums.Turns) != c.turns || err != nil {
			t.Errorf("%s: the session has %d turns, found %v: %v", c.tenant, book.Sums.Turns, found, err)
		}
	}
}

// canaryRequest holds keys in two places, and a cookie; canaryAnswer is a vendor
// that repeats the key it was sent.
const (
	canaryRequest = "POST /v1/chat/completions?key=CANARY_IN_QUERY HTTP/1.1\r\n" +
		"Host: gateway.example\r\n" +
		"Authorization: Bearer yard_BOSUN_CANARY_1\r\n" +
		"x-api-key: yard_BOSUN_CANARY_2\r\n" +
		"Cookie: berth=BOSUN_CANARY_3\r\n" +
		"Content-Type: application/json\r\n\r\n" +
		`{"model":"tide-1","session_id":"dawn","messages":[{"role":"user","content":"CANARY in a prompt"}]}`
	canaryAnswer = `{"error":{"message":"The key vk_PIER_CANARY_4 is not known.","type":"invalid_request_error","code":"invalid_api_key"}}`
)

// Keys that are right and wrong, at a gateway that logs all it can, before vendors
// that say them back: they appear nowhere.
func TestNoKeyOfATenantAppearsAnywhere(t *testing.T) {
	t.Run("own", func(t *testing.T) { canaries(t, canaryRequest, canaryAnswer) })
	t.Run("shared", func(t *testing.T) {
		canaries(t, sharedCase(t, "case-73-log-canaries.http"), sharedCase(t, "case-73-vendor-401.json"))
	})
}

func canaries(t *testing.T, raw, answer string) {
	head, body, found := strings.Cut(strings.ReplaceAll(raw, "\r\n", "\n"), "\n\n")
	if !found {
		t.Fatal("no body")
	}
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	bearer, other := request.Header.Get("Authorization"), request.Header.Get("X-Api-Key")
	token := strings.TrimPrefix(bearer, "Bearer ")
	body = strings.TrimSpace(body)
	var asked struct{ Model string }
	if err := json.Unmarshal([]byte(body), &asked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		valid  bool
		send   []string // which of the two headers
		vendor *script
		status int
		open   bool // there are no tenants
	}{
		{"both valid, and different", true, []string{"Authorization", bearer, "x-api-key", other}, nil, 401, false},
		{"both unknown", false, []string{"Authorization", bearer, "x-api-key", other}, nil, 401, false},
		{"bearer, valid", true, []string{"Authorization", bearer}, nil, 502, false},
		{"bearer, unknown", false, []string{"Authorization", bearer}, nil, 401, false},
		{"x-api-key, valid", true, []string{"x-api-key", other}, nil, 502, false},
		{"api-key, unknown", false, []string{"api-key", other}, nil, 401, false},
		{"valid, and served", true, []string{"Authorization", bearer}, &script{text: jsonAnswer}, 200, false},
		{"ignored, without tenants", false, []string{"Authorization", bearer, "x-api-key", other}, nil, 502, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			pier := c.vendor
			if pier == nil {
				pier = &script{status: 401, text: answer, contentType: "application/json"}
			}
			mine := team("crew-gull", "yard_something_else_000")
			if c.valid {
				mine = team("crew-gull", token, other)
			}
			h := house{rig: newRig(t, func(o *routes.Options) {
				o.Metadata = vendor.MetadataBody
				if !c.open {
					o.Tenants = tenantsOf(t, mine, team("crew-heron", heronKey))
				}
			}, stop{name: "pier", serve: pier, also: []string{asked.Model}})}
			h.noted = &notedPins{Pins: h.pins}
			h.gateway.Pins = h.noted
			header := append([]string{"Cookie", request.Header.Get("Cookie")}, c.send...)
			for range 2 {
				got := h.send(request.URL.RequestURI(), strings.NewReader(body), header...)
				if got.status != c.status {
					t.Errorf("%d %s, want %d", got.status, got.body, c.status)
				}
				clean(t, "the answer", got.body+fmt.Sprint(got.header), token, other)
			}
			h.settled()
			clean(t, "the log", h.log.String(), token, other)
			for _, sent := range pier.requests() {
				sent.header.Del("Authorization") // the vendor's own
				clean(t, "the vendor's header", fmt.Sprint(sent.header), token, other)
			}
			if let := c.status != 401; let != (len(pier.requests()) == 2) {
				t.Errorf("%d requests at the vendor", len(pier.requests()))
			}
			h.ledgerAndPages(token, other)
		})
	}
}

// ledgerAndPages looks for keys in all that is kept and shown.
func (h *house) ledgerAndPages(keys ...string) {
	h.t.Helper()
	h.look()
	turns, _, err := h.ledger.Turns(h.t.Context(), engine.Query{}, engine.Page{})
	if err != nil {
		h.t.Fatal(err)
	}
	paths := []string{
		"/metrics", "/readyz?verbose", "/api/v1/overview", "/api/v1/turns", "/api/v1/sessions", "/api/v1/pins",
		"/ui/", "/ui/turns?range=24h", "/ui/sessions?range=24h",
	}
	for _, turn := range turns {
		row, err := json.Marshal(turn)
		if err != nil {
			h.t.Fatal(err)
		}
		clean(h.t, "the ledger", string(row), keys...)
		clean(h.t, "the turn", fmt.Sprintf("%+v", turn), keys...)
		mine := "tenant=" + url.QueryEscape(turn.Tenant)
		paths = append(paths, "/api/v1/turns/"+turn.ID+"?"+mine, "/ui/turn?id="+turn.ID+"&"+mine)
		if turn.Session != "" {
			paths = append(paths, "/ui/session?class="+string(turn.Class)+"&id="+url.QueryEscape(turn.Session)+"&"+mine)
		}
	}
	for _, path := range paths {
		status, text := h.see(path)
		if status != http.StatusOK {
			h.t.Errorf("%s: %d", path, status)
		}
		clean(h.t, path, text, keys...)
	}
}

// clean says that a text holds no canary and no key, as it is or packed.
func clean(t testing.TB, where, text string, keys ...string) {
	t.Helper()
	words := []string{"CANARY"}
	for _, key := range keys {
		words = append(words, key, key[len(key)-8:], url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key))[:8])
	}
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Errorf("%s holds %s: %s", where, word, text)
		}
	}
}
