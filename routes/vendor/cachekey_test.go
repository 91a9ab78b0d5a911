package vendor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// seen is what the vendor gets of a body, at a vendor with these further lines.
func seen(t *testing.T, api, extra, body string, change func(*vendor.Call, *engine.Try)) received {
	t.Helper()
	url, last := recorder(t)
	k := newKit(t, url, func(v *vendorSpec) { v.api, v.extra = api, extra })
	call, try := k.call(body), k.try()
	if change != nil {
		change(&call, &try)
	}
	client := vendor.New(vendor.Options{HintKey: []byte("a key for tests")})
	defer client.Close()
	client.Send(t.Context(), httptest.NewRecorder(), call, try)
	return last()
}

// Vendors take cache keys of 64 characters. A client's own longer one goes to them as a
// hash of all of it.
func TestALongCacheKeyIsShortenedAndAShortOneIsNot(t *testing.T) {
	body := func(key string) string { return `{"model":"m", "prompt_cache_key" : "` + key + `" ,"input":"hi"}` }
	key := func(text string, change func(*vendor.Call, *engine.Try)) string {
		t.Helper()
		got := seen(t, "responses", "    hints: [{member: prompt_cache_key}]", body(text), change).body
		before, rest, _ := strings.Cut(got, `"prompt_cache_key" : "`)
		sent, after, _ := strings.Cut(rest, `"`)
		if before != `{"model":"their-m", ` || after != ` ,"input":"hi"}` {
			t.Errorf("the body is %s", got)
		}
		return sent
	}
	long := "yard:" + strings.Repeat("0123456789", 12)
	sent := key(long, nil)
	if len(sent) != 64 || strings.Contains(long, sent) {
		t.Errorf("sent %q", sent)
	}
	if again := key(long, nil); again != sent {
		t.Errorf("the same key is %q and %q", sent, again)
	}
	if other := key(long+"0", nil); other == sent || len(other) != 64 {
		t.Errorf("a key with another end is %q too", other)
	}
	if other := key(long, func(_ *vendor.Call, try *engine.Try) { try.Session.Tenant = "another" }); other == sent {
		t.Error("another tenant has the key")
	}
	for _, short := range []string{"a", strings.Repeat("k", 64), strings.Repeat("ä", 64), `with \u0022quotes`} {
		if sent := key(short, nil); sent != strings.Split(short, `"`)[0] {
			t.Errorf("%q was sent as %q", short, sent)
		}
	}
	if sent := key(strings.Repeat("ä", 65), nil); len(sent) != 64 {
		t.Errorf("65 characters were sent as %q", sent)
	}
}

func TestAHintIsForTheAPIsItNames(t *testing.T) {
	const hints = "    hints: [{header: x-grok-conv-id, api: [chat]}, {member: prompt_cache_key, api: [responses]}]"
	chat := seen(t, "chat, responses", hints, chatBody, nil)
	if id := chat.Header.Get("X-Grok-Conv-Id"); len(id) != 64 || strings.Contains(chat.body, "prompt_cache_key") {
		t.Errorf("chat: header %q, body %s", id, chat.body)
	}
	responses := seen(t, "responses, chat", hints, `{"model":"m","input":"hi"}`, nil)
	if id := chat.Header.Get("X-Grok-Conv-Id"); responses.Header.Get("X-Grok-Conv-Id") != "" || !strings.HasSuffix(responses.body, `,"prompt_cache_key":"`+id+`"}`) {
		t.Errorf("responses: %v, body %s", responses.Header, responses.body)
	}
}

// A profile may have the client's own headers passed on: as they came, and only those
// that came and that a header may hold.
func TestHeadersOfTheProfileArePassedAsTheyCame(t *testing.T) {
	pass := []string{"X-Session-Id", "X-Session-Affinity"}
	for _, c := range []struct {
		name   string
		header http.Header
		want   map[string]string
	}{
		{"both", http.Header{"X-Session-Id": {"Dory 7"}, "X-Session-Affinity": {"dory/7", "second"}, "X-Other": {"x"}}, map[string]string{"X-Session-Id": "Dory 7", "X-Session-Affinity": "dory/7"}},
		{"one", http.Header{"X-Session-Affinity": {"a"}}, map[string]string{"X-Session-Affinity": "a"}},
		{"none", http.Header{}, nil},
		{"a line break", http.Header{"X-Session-Id": {"a\r\nX-Api-Key: b"}}, nil},
		{"not plain", http.Header{"X-Session-Id": {"döry"}, "X-Session-Affinity": {""}}, nil},
		{"too long", http.Header{"X-Session-Id": {strings.Repeat("a", 1025)}}, nil},
	} {
		got := seen(t, "chat", "", chatBody, func(call *vendor.Call, try *engine.Try) { call.Header, try.Pass = c.header, pass })
		if got.Request == nil {
			t.Errorf("%s: nothing was sent", c.name)
			continue
		}
		for _, name := range []string{"X-Session-Id", "X-Session-Affinity", "X-Other", "X-Api-Key"} {
			if value := got.Header.Get(name); value != c.want[name] || len(got.Header[name]) > 1 {
				t.Errorf("%s: %s is %q, want %q", c.name, name, got.Header[name], c.want[name])
			}
		}
	}
	// Without a profile that says so, and over a hint of the same name.
	header := http.Header{"X-Session-Affinity": {"dory"}}
	const hint = "    hints: [{header: x-session-affinity, form: hashed}]"
	if got := seen(t, "chat", hint, chatBody, func(call *vendor.Call, _ *engine.Try) { call.Header = header }).Header.Get("X-Session-Affinity"); len(got) != 64 {
		t.Errorf("the hint is %q", got)
	}
	if got := seen(t, "chat", hint, chatBody, func(call *vendor.Call, try *engine.Try) { call.Header, try.Pass = header, pass }).Header.Get("X-Session-Affinity"); got != "dory" {
		t.Errorf("passed as %q", got)
	}
}

func TestEveryHintOfTheStarterIsOneThatItsVendorDocuments(t *testing.T) {
	c, err := catalog.ParseKeys("starter.yaml", []byte(catalog.Starter()), func(catalog.Credential) (string, bool) { return vendorKey, true })
	if err != nil {
		t.Fatal(err)
	}
	type hint struct{ api, header, member string }
	want := map[string][]hint{
		"openai":     {{"", "", "prompt_cache_key"}},
		"azure":      {{"", "", "prompt_cache_key"}},
		"mistral":    {{"", "", "prompt_cache_key"}},
		"moonshot":   {{"", "", "prompt_cache_key"}},
		"xai":        {{"chat", "x-grok-conv-id", ""}, {"responses", "", "prompt_cache_key"}},
		"fireworks":  {{"", "x-session-affinity", ""}},
		"cloudflare": {{"", "x-session-affinity", ""}},
	}
	for _, v := range c.Vendors {
		hints := want[v.Name]
		delete(want, v.Name)
		if len(v.Hints) != len(hints) {
			t.Errorf("%s: %d hints, want %d", v.Name, len(v.Hints), len(hints))
			continue
		}
		for i, h := range v.Hints {
			var api string
			for _, a := range h.API {
				api += string(a)
			}
			if h.Raw || (hint{api, h.Header, h.Member}) != hints[i] {
				t.Errorf("%s: %+v, want %+v hashed", v.Name, h, hints[i])
			}
		}
	}
	for name := range want {
		t.Errorf("the starter has no %s", name)
	}
}
