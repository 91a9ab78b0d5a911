package routes_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes"
)

// What a client quotes when it asks for help must be on every answer of the
// three APIs, whoever refused it, and in the log.
func TestEveryAnswerHasAnID(t *testing.T) {
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
	}{
		{"served", bodies[false], nil, 200},
		{"not JSON", "model=m", nil, 400},
		{"no model", `{"messages":[]}`, nil, 400},
		{"a sort by weights that are not there", `{"model":"m","messages":[],"provider":{"sort":"weighted"}}`, nil, 400},
		{"a word that is none", bodies[false], []string{"x-warmroute-affinity", "perhaps"}, 400},
		{"a mode that is none", bodies[false], []string{"x-warmroute-metadata", "loud"}, 400},
		{"no vendor left", `{"model":"m","messages":[],"providerOptions":{"gateway":{"only":["nobody"]}}}`, nil, 400},
		{"unpacked badly", "no gzip", []string{"Content-Encoding", "gzip"}, 400},
		{"a page of another site", bodies[false], []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{"no such model", `{"model":"nowhere","messages":[]}`, nil, 404},
		{"too large", `{"model":"m","x":"` + strings.Repeat("y", 2<<10) + `"}`, nil, 413},
		{"an unknown coding", bodies[false], []string{"Content-Encoding", "sdch"}, 415},
		{"a fault of ours", `{"model":"m","x":"panic"}`, nil, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			for api, path := range paths {
				r := newRig(t, func(o *routes.Options) { o.MaxBody = 1 << 10 },
					stop{name: "pier", api: api, serve: &script{text: `{"id":"x","usage":{}}`}})
				if c.status == http.StatusInternalServerError {
					r.gateway.Catalog = func() *catalog.Catalog { panic("ours") }
				}
				request, err := http.NewRequest(http.MethodPost, r.url+path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i+1 < len(c.header); i += 2 {
					request.Header.Set(c.header[i], c.header[i+1])
				}
				response, err := r.client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				id := response.Header.Get("X-Warmroute-Request-Id")
				if response.StatusCode != c.status || len(id) != 32 {
					t.Errorf("%s: %d with id %q, want %d", api, response.StatusCode, id, c.status)
				}
				r.settled()
				if id == "" || !strings.Contains(r.log.String(), `"turn":"`+id+`"`) {
					t.Errorf("%s: the log does not know %q: %s", api, id, r.log)
				}
			}
		})
	}
}

func TestIDsOfRefusalsDiffer(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	first, second := r.post("chat", "{"), r.post("chat", "{")
	if a, b := first.header.Get("X-Warmroute-Request-Id"), second.header.Get("X-Warmroute-Request-Id"); a == b || a == "" {
		t.Errorf("%q twice", a)
	}
}

// A client that mistyped a name still learns how its session was found.
func TestARefusalSaysHowTheSessionWasFound(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, c := range []struct {
		name, body, header, mode, want string
		status                         int
	}{
		{"an unknown model", `{"model":"nowhere","messages":[]}`, "x-session-id", "header", "explicit", 404},
		{"an unknown model, an agent", `{"model":"nowhere","messages":[]}`, "x-claude-code-session-id", "body", "agent", 404},
		{"an unknown model, no id", `{"model":"nowhere","messages":[{"role":"user","content":"x"}]}`, "", "header", "fingerprint", 404},
		{"no route left", `{"model":"m","messages":[],"provider":{"ignore":["pier"]}}`, "x-session-id", "header", "explicit", 400},
		{"a sort by weights that are not there", `{"model":"m","messages":[],"provider":{"sort":"weighted"}}`, "x-session-id", "header", "explicit", 400},
		{"metadata off", `{"model":"nowhere","messages":[]}`, "x-session-id", "off", "", 404},
		{"nothing to find", `{"model":"nowhere"}`, "", "header", "", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := []string{"x-warmroute-metadata", c.mode}
			if c.header != "" {
				header = append(header, c.header, "dory-5-with-a-name")
			}
			got := r.post("chat", c.body, header...)
			if source := got.header.Get("X-Warmroute-Session-Source"); got.status != c.status || source != c.want {
				t.Errorf("%d, source %q, want %q", got.status, source, c.want)
			}
			if got.header.Get("X-Warmroute-Vendor") != "" || got.header.Get("X-Warmroute-Outcome") != "" {
				t.Errorf("nothing was tried: %v", got.header)
			}
		})
	}
}

func TestTheUnknownNameIsTheOneThatIsNamed(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	for _, c := range []struct{ name, body, unknown string }{
		{"the model", `{"model":"barge-8","messages":[]}`, "barge-8"},
		{"a fallback", `{"model":"m","models":["m","nowhere"],"messages":[]}`, "nowhere"},
		{"the first of two", `{"model":"m","models":["x1","x2"],"messages":[]}`, "x1"},
		{"the model before its fallbacks", `{"model":"x0","models":["m","x1"],"messages":[]}`, "x0"},
		{"a fallback under the gateway's options", `{"model":"m","messages":[],"providerOptions":{"gateway":{"models":["x3"]}}}`, "x3"},
		{"the first of models alone", `{"models":["x4","m"],"messages":[]}`, "x4"},
		{"the second of models alone", `{"models":["m","x5"],"messages":[]}`, "x5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.post("chat", c.body)
			if got.status != http.StatusNotFound || !strings.Contains(got.body, fmt.Sprintf(`named \"%s\"`, c.unknown)) {
				t.Errorf("%d %s, want %s named", got.status, got.body, c.unknown)
			}
		})
	}
	if len(v.requests()) > 0 {
		t.Error("the vendor was called")
	}
}

func TestModelsAloneAreServed(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	got := r.post("chat", `{"models":["shop-alias"],"messages":[{"role":"user","content":"x"}]}`)
	want := `{"messages":[{"role":"user","content":"x"}],"model":"barge-7"}`
	if got.status != http.StatusOK || v.requests()[0].body != want || v.requests()[0].length != int64(len(want)) {
		t.Errorf("%d, vendor got %+v", got.status, v.requests())
	}
	if turn := r.turns(1)[0]; turn.Target != "shop-alias" {
		t.Errorf("target %q", turn.Target)
	}
}

// A vendor that keeps what it is sent must not get what asks not to be kept.
func TestPrivacySettingsChooseTheVendor(t *testing.T) {
	for _, c := range []struct {
		name, members, served string
		lacks                 string // the tag a refusal names
	}{
		{"nothing asked", `"x":1`, "keeps", ""},
		{"no retention", `"providerOptions":{"gateway":{"zeroDataRetention":true}}`, "forgets", ""},
		{"no retention, OpenRouter's way", `"provider":{"zdr":true}`, "forgets", ""},
		{"no training", `"providerOptions":{"gateway":{"disallowPromptTraining":true}}`, "learns-not", ""},
		{"no training, OpenRouter's way", `"provider":{"data_collection":"deny"}`, "learns-not", ""},
		{"both, which no vendor keeps to", `"provider":{"zdr":true,"data_collection":"deny"}`, "", "no_training"},
		{"no retention from a vendor that retains", `"provider":{"zdr":true,"only":["keeps"]}`, "", "zdr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			vendors := map[string]*script{"keeps": {text: jsonAnswer}, "forgets": {text: jsonAnswer}, "learns-not": {text: jsonAnswer}}
			r := newRig(t, nil, stop{name: "keeps", serve: vendors["keeps"]},
				stop{name: "forgets", serve: vendors["forgets"], extra: "    tags: [zdr]"},
				stop{name: "learns-not", serve: vendors["learns-not"], extra: "    tags: [no_training]"})
			// A pin at a vendor that does not keep to it changes nothing.
			r.post("chat", bodies[false], "x-session-id", "dory-p")
			got := r.post("chat", `{"model":"m","messages":[],`+c.members+`}`, "x-session-id", "dory-p", "x-warmroute-metadata", "header")
			if c.served == "" {
				if got.status != http.StatusBadRequest || !strings.Contains(got.body, c.lacks) || len(vendors["keeps"].requests()) > 1 {
					t.Errorf("%d %s", got.status, got.body)
				}
				return
			}
			if got.status != http.StatusOK || got.header.Get("X-Warmroute-Vendor") != c.served {
				t.Errorf("%d from %q, want %q", got.status, got.header.Get("X-Warmroute-Vendor"), c.served)
			}
			sent := vendors[c.served].requests()
			if last := sent[len(sent)-1].body; strings.Contains(last, "zdr") || strings.Contains(last, "provider") {
				t.Errorf("vendor got %s", last)
			}
		})
	}
}

// Ids of a wrong type name nothing; the request is served as if they were not there.
func TestIDsOfAWrongTypeFailNothing(t *testing.T) {
	for _, c := range []struct{ api, members, sent string }{
		{"chat", `"session_id":5`, ``},
		{"chat", `"sessionId":[]`, ``},
		{"chat", `"session_id":{"a":1},"sessionId":false`, ``},
		{"chat", `"providerOptions":{"gateway":{"sessionId":7,"sessionAffinity":"x"}}`, ``},
		{"chat", `"prompt_cache_key":5`, `"prompt_cache_key":5,`},
		{"responses", `"prompt_cache_key":[1]`, `"prompt_cache_key":[1],`},
		{"messages", `"prompt_cache_key":5`, ``},
	} {
		v := &script{text: `{"id":"a1","usage":{}}`}
		r := newRig(t, nil, stop{name: "pier", api: c.api, serve: v})
		got := r.post(c.api, `{"model":"m",`+c.members+`,"stream":false}`)
		if want := `{"model":"barge-7",` + c.sent + `"stream":false}`; got.status != http.StatusOK || v.requests()[0].body != want {
			t.Errorf("%s: %d %s, vendor got %+v", c.members, got.status, got.body, v.requests())
		}
		if turn := r.turns(1)[0]; turn.Session.Found() {
			t.Errorf("%s: session %+v", c.members, turn.Session)
		}
	}
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, member := range []string{`"model":5`, `"stream":1`, `"models":"m","model":"m"`} {
		if got := r.post("chat", `{`+member+`,"messages":[]}`); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", member, got.status)
		}
	}
}

func TestACacheKeyGoesToVendorsThatKnowIt(t *testing.T) {
	for _, c := range []struct {
		name, api, extra string
		goes             bool
	}{
		{"chat", "chat", "", true},
		{"responses", "responses", "", true},
		{"messages", "messages", "", false},
		{"messages, at a vendor that says so", "messages", "    accepts: [prompt_cache_key]", true},
		{"chat, at a vendor that refuses it", "chat", "    refuses: [prompt_cache_key]", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &script{text: `{"id":"a1","usage":{}}`}
			r := newRig(t, nil, stop{name: "pier", api: c.api, serve: v, extra: c.extra})
			r.post(c.api, `{"model":"m","prompt_cache_key":"yard","max_tokens":1}`)
			if sent := v.requests()[0].body; strings.Contains(sent, `"prompt_cache_key":"yard",`) != c.goes {
				t.Errorf("vendor got %s", sent)
			}
			if turn := r.turns(1)[0]; turn.Session.ID != "yard" {
				t.Errorf("session %+v", turn.Session)
			}
		})
	}
}

func TestModelsAreFoundByTheirAliases(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	if all := r.ask(http.MethodGet, "/v1/models"); !strings.Contains(all.body, `"aliases":["shop-alias","a","schooner-1","barge-7"]`) {
		t.Errorf("%s", all.body)
	}
	for _, name := range slices.Concat([]string{"m"}, r.catalog.Models[0].Aliases) {
		got := r.ask(http.MethodGet, "/v1/models/"+name)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"id":"`+name+`"`) || !strings.Contains(got.body, `"display_name":"m"`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}
