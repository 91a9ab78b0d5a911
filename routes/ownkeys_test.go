package routes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

const (
	ownPier   = "pk-OWNCANARY-1f2e3d4c5b6a7988"
	ownPier2  = "pk-OWNCANARY-8877665544332211"
	badKey    = "pk-OWNCANARY-0badbadbadbadbad"
	storedKey = "pk-OWNCANARY-57035703570357ff"
)

// keyed is a vendor that knows the operator's key and some of its customers'.
func keyed(name string, keys ...string) *vendorsim.Vendor {
	return vendorsim.New(vendorsim.Config{Name: name, Cache: vendorsim.Cache{Family: catalog.Implicit}, Keys: append(keys, vendorKey)})
}

// eightKeys are headers with eight keys of pier that it does not know.
func eightKeys() (header []string) {
	for i := range 8 {
		header = append(header, "x-warmroute-key-pier", fmt.Sprintf("%s-%d", badKey, i))
	}
	return header
}

// accounts are those that a vendor was asked through, in order.
func accounts(v *vendorsim.Vendor, known ...string) string {
	var all []string
	for _, seen := range v.Log() {
		who := "?"
		for _, key := range append(known, vendorKey, ownPier, ownPier2, badKey, storedKey) {
			if vendorsim.Account(key) == seen.Account {
				who = key[len(key)-4:]
			}
		}
		all = append(all, who)
	}
	return strings.Join(all, " ")
}

const (
	operatorEnd = "8899" // of vendorKey
	hello       = `{"model":"m","messages":[{"role":"user","content":"tide?"}]%s}`
	byokBody    = `,"providerOptions":{"gateway":{"byok":{"pier":[{"apiKey":"` + ownPier + `"}]},"sessionId":"s"}}`
)

// A caller's own key comes first, by header or by body, and the operator's vendor
// accounts serve what it cannot; nothing of it goes to the vendor in the body.
func TestOwnKeysComeFirst(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*routes.Tenant)
		body       string
		header     []string
		status     int
		pier, reef string // accounts asked
	}{
		"none":                          {nil, "", nil, 200, operatorEnd, ""},
		"by header":                     {nil, "", []string{"X-Warmroute-Key-Pier", ownPier}, 200, "7988", ""},
		"by body":                       {nil, byokBody, nil, 200, "7988", ""},
		"two of one vendor, in order":   {nil, "", []string{"x-warmroute-key-pier", badKey, "x-warmroute-key-pier", ownPier2}, 200, "dbad 2211", ""},
		"header before body":            {nil, byokBody, []string{"x-warmroute-key-pier", ownPier2}, 200, "2211", ""},
		"of a vendor further back":      {nil, "", []string{"x-warmroute-key-reef", ownPier}, 200, "", "7988"},
		"refused, the operator's next":  {nil, "", []string{"x-warmroute-key-pier", badKey}, 200, "dbad " + operatorEnd, ""},
		"refused, and no other allowed": {func(t *routes.Tenant) { t.Rules.OwnOnly = true }, "", []string{"x-warmroute-key-pier", badKey}, 401, "dbad", ""},
		"only, and none brought":        {func(t *routes.Tenant) { t.Rules.OwnOnly = true }, "", nil, 400, "", ""},
		"stored": {func(t *routes.Tenant) {
			t.Own.Stored = []routes.StoredKey{{Vendor: "pier", Key: catalog.NewSecret(storedKey)}}
		}, "", nil, 200, "57ff", ""},
		"brought before stored": {func(t *routes.Tenant) {
			t.Own.Stored = []routes.StoredKey{{Vendor: "pier", Key: catalog.NewSecret(storedKey)}}
		}, "",
			[]string{"x-warmroute-key-pier", ownPier}, 200, "7988", ""},
		"not allowed":       {func(t *routes.Tenant) { t.Own.Requests = false }, "", []string{"x-warmroute-key-pier", ownPier}, 403, "", ""},
		"not allowed, body": {func(t *routes.Tenant) { t.Own.Requests = false }, byokBody, nil, 403, "", ""},
		"an unknown vendor": {nil, "", []string{"x-warmroute-key-quay", ownPier}, 400, "", ""},
		"a vendor that is not the tenant's": {func(t *routes.Tenant) { t.Rules.Only = []string{"reef"} }, "",
			[]string{"x-warmroute-key-pier", ownPier}, 400, "", ""},
		"a name with underscores": {nil, "", []string{"x_warmroute_key_pier", ownPier}, 200, "7988", ""},
		"for no vendor":           {nil, "", []string{"x-warmroute-key", ownPier}, 400, "", ""},
		"for a vendor of no name": {nil, "", []string{"x-warmroute-key-", ownPier}, 400, "", ""},
		"not allowed, for none":   {func(t *routes.Tenant) { t.Own.Requests = false }, "", []string{"x-warmroute-key", ownPier}, 403, "", ""},
		"too many of one vendor":  {nil, byokBody, eightKeys(), 400, "", ""},
		"the same many times":     {nil, "", slices.Repeat([]string{"x-warmroute-key-pier", ownPier}, 20), 200, "7988", ""},
		"no key at all":           {nil, "", []string{"x-warmroute-key-pier", " "}, 400, "", ""},
		"two words":               {nil, "", []string{"x-warmroute-key-pier", "OWNCANARY key"}, 400, "", ""},
		"another credential":      {nil, strings.Replace(byokBody, `{"apiKey"`, `{"region":"OWNCANARY","apiKey"`, 1), nil, 400, "", ""},
		"a key and no object":     {nil, strings.Replace(byokBody, `[{"apiKey":"`+ownPier+`"}]`, `"`+ownPier+`"`, 1), nil, 400, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pier, reef := keyed("pier", ownPier, ownPier2, storedKey), keyed("reef", ownPier)
			rig := newRig(t, shared(t, func(gull, _ *routes.Tenant) {
				gull.Own.Requests = true
				if c.change != nil {
					c.change(gull)
				}
			}), stop{name: "pier", serve: pier}, stop{name: "reef", serve: reef})
			got := rig.post("chat", fmt.Sprintf(hello, c.body), append(c.header, "Authorization", "Bearer "+gullKey)...)
			if got.status != c.status {
				t.Fatalf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			if a, b := accounts(pier), accounts(reef); a != c.pier || b != c.reef {
				t.Errorf("asked through %q and %q, want %q and %q", a, b, c.pier, c.reef)
			}
			for _, v := range []*vendorsim.Vendor{pier, reef} {
				for _, seen := range v.Log() {
					if strings.Contains(seen.Body, "CANARY") || strings.Contains(fmt.Sprint(seen.Header), "X-Warmroute") {
						t.Errorf("a vendor was sent %s %s", seen.Header, seen.Body)
					}
				}
			}
			rig.settled()
			var books strings.Builder
			for _, turn := range rig.ledger.Recorded() {
				fmt.Fprintf(&books, "%+v", engine.Book(turn))
			}
			for where, text := range map[string]string{"answer": got.body, "headers": fmt.Sprint(got.header), "log": rig.log.String(), "books": books.String()} {
				if strings.Contains(text, "CANARY") {
					t.Errorf("the key stands in the %s: %s", where, text)
				}
			}
		})
	}
}

// A pin of a caller's own key is of no use without it, nor is the operator's with it,
// and what befalls the key touches nobody else.
func TestOwnKeysAreAGroupOfTheirOwn(t *testing.T) {
	pier := keyed("pier", ownPier)
	rig := newRig(t, shared(t, func(gull, heron *routes.Tenant) { gull.Own.Requests, heron.Own.Requests = true, true }),
		stop{name: "reef", serve: keyed("reef")}, stop{name: "pier", serve: pier})
	turns := 0
	ask := func(tenant, key, outcome, detail, group string) engine.Booked {
		t.Helper()
		header := []string{"Authorization", "Bearer " + tenant, "x-session-id", "dawn"}
		if key != "" {
			header = append(header, "x-warmroute-key-pier", key)
		}
		if got := rig.post("chat", fmt.Sprintf(hello, ""), header...); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		turns++
		b := engine.Book(rig.turns(int64(turns))[turns-1])
		last, _ := b.Last()
		if string(b.Outcome) != outcome || string(b.Detail) != detail || string(last.Group) != group || engine.IsOwnKey(last.Credential) != (group == "client") {
			t.Errorf("%s %s by %q %s, want %s %s by %q", b.Outcome, b.Detail, last.Group, last.Credential, outcome, detail, group)
		}
		return b
	}
	first := ask(gullKey, ownPier, "no_pin", "", "client")
	ask(gullKey, "", "skipped_not_in_plan", "no_key", "")     // reef serves at the operator's cost, and is pinned
	again := ask(gullKey, ownPier, "confirmed", "", "client") // reef's pin is newer, and of the group behind
	if first.Attempts[0].Credential != again.Attempts[0].Credential || !strings.HasPrefix(first.Attempts[0].Credential, "own:") {
		t.Errorf("known by %s, then %s", first.Attempts[0].Credential, again.Attempts[0].Credential)
	}
	other := ask(heronKey, ownPier, "no_pin", "", "client")
	if other.Attempts[0].Credential == first.Attempts[0].Credential {
		t.Error("two tenants' keys are known by the same hash")
	}
	// Three refusals of a key of gull's own: nobody else is down.
	for range 3 {
		ask(gullKey, badKey, "confirmed", "behind_own_keys", "")
	}
	for _, m := range rig.catalog.Models {
		for _, route := range m.Routes {
			if rig.gateway.Health.Down(route, "main", time.Now()) || rig.gateway.Health.Down(route, first.Attempts[0].Credential, time.Now()) {
				t.Errorf("%s is down", route.Vendor.Name)
			}
		}
	}
	ask(gullKey, ownPier, "confirmed", "", "client")
	// One key down, the operator's group serves, and its pin stays in its group.
	pier.Queue(vendorsim.Fault{Status: 503})
	failed := ask(gullKey, ownPier, "confirmed", "", "")
	if len(failed.Attempts) != 2 || failed.Attempts[0].Group != engine.GroupClient || failed.Attempts[1].Vendor != "reef" {
		t.Errorf("%+v", failed.Attempts)
	}
}

// A vendor that repeats the caller's key in what it says is not repeated.
func TestAnEchoOfAnOwnKeyIsKeptBack(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, string){
		"a refusal": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"bad request with %s"}}`, key)
		},
		"a refused key": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, key)
		},
		"an error as the answer": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":"for %s"}}`, key)
		},
		"a header": func(w http.ResponseWriter, key string) {
			w.Header().Set("X-Request-Id", key)
			fmt.Fprint(w, jsonAnswer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &script{answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				answer(w, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}}
			rig := newRig(t, func(o *routes.Options) { o.Own.Requests, o.OwnOnly = true, true }, stop{name: "pier", serve: v})
			got := rig.post("chat", fmt.Sprintf(hello, ""), "x-warmroute-key-pier", ownPier)
			if len(v.requests()) != 1 {
				t.Fatalf("asked %d times: %s", len(v.requests()), got.body)
			}
			rig.settled()
			if all := got.body + fmt.Sprint(got.header) + rig.log.String(); strings.Contains(all, "CANARY") {
				t.Errorf("the key stands in %s", all)
			}
		})
	}
}

// Who asks for a decision brings the client's own keys in the client's headers, in its
// own or in the body; where they are not allowed it is told so, and no answer has them.
func TestOwnKeysOfADecision(t *testing.T) {
	rig := newRig(t, shared(t, func(gull, _ *routes.Tenant) { gull.Own.Requests = true }),
		stop{name: "pier", serve: keyed("pier", ownPier)}, stop{name: "reef", serve: keyed("reef")})
	const ask = `{"api":"chat","headers":{%s},"body":%s}`
	for name, c := range map[string]struct {
		headers, body string
		own           []string
	}{
		"the client's headers":     {`"X-Warmroute-Key-Pier":"` + ownPier + `"`, "", nil},
		"with a blank in the name": {`"x-warmroute-key-pier ":"` + ownPier + `"`, "", nil},
		"its own headers":          {"", "", []string{"x-warmroute-key-pier", ownPier}},
		"the same in both":         {`"x-warmroute-key-pier":"` + ownPier + `"`, "", []string{"x-warmroute-key-pier", ownPier}},
		"the body":                 {"", byokBody, nil},
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(ask, c.headers, fmt.Sprintf(hello, c.body))
			got := rig.send("/v1/route", strings.NewReader(body), append(c.own, "Authorization", "Bearer "+gullKey)...)
			var d struct {
				Turn  string
				Order []struct{ Vendor, Credential, Group string }
			}
			if err := json.Unmarshal([]byte(got.body), &d); err != nil || got.status != http.StatusOK || len(d.Order) != 3 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if first := d.Order[0]; first.Vendor != "pier" || first.Group != "client" || !engine.IsOwnKey(first.Credential) || d.Order[1].Group != "operator" {
				t.Errorf("%+v", d.Order)
			}
			told := rig.send("/v1/outcomes", strings.NewReader(fmt.Sprintf(`{"turn":%q,"attempts":[{"vendor":"pier","group":"client","stage":"served","status":200}]}`, d.Turn)), "Authorization", "Bearer "+gullKey)
			if told.status != http.StatusOK || strings.Contains(got.body+told.body+fmt.Sprint(got.header, told.header)+rig.log.String(), "CANARY") {
				t.Errorf("%d %s", told.status, told.body)
			}
			refused := rig.send("/v1/route", strings.NewReader(body), append(c.own, "Authorization", "Bearer "+heronKey)...)
			if refused.status != http.StatusForbidden || strings.Contains(refused.body, "CANARY") {
				t.Errorf("a tenant that may bring none: %d %s", refused.status, refused.body)
			}
		})
	}
}

// What names the operator's account at a vendor is not sent beside a caller's own key.
func TestOwnKeysGoWithoutTheOperatorsAccount(t *testing.T) {
	pier := keyed("pier", ownPier)
	rig := newRig(t, func(o *routes.Options) { o.Own.Requests = true },
		stop{name: "pier", serve: pier, extra: "    headers: {openai-organization: org-operator, OpenAI-Project: proj-operator, x-tier: gold}"})
	for _, c := range []struct {
		header    []string
		org, proj string
	}{{nil, "org-operator", "proj-operator"}, {[]string{"x-warmroute-key-pier", ownPier}, "", ""}} {
		if got := rig.post("chat", fmt.Sprintf(hello, ""), c.header...); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		h := pier.Log()[len(pier.Log())-1].Header
		if h.Get("Openai-Organization") != c.org || h.Get("Openai-Project") != c.proj || h.Get("X-Tier") != "gold" {
			t.Errorf("the vendor was sent %v", h)
		}
	}
}
