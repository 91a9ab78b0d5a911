package vendor_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// received is one request as a vendor got it.
type received struct {
	*http.Request
	body string
}

// recorder is a vendor that keeps its last request and refuses it.
func recorder(t testing.TB) (url string, last func() received) {
	t.Helper()
	var got received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = received{r, string(body)}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() received { return got }
}

// sendTo makes one attempt with a fresh client and an answer nobody reads.
func sendTo(t testing.TB, k *kit, call vendor.Call) engine.Attempt {
	t.Helper()
	client := vendor.New(vendor.Options{HintKey: []byte("a key for tests")})
	t.Cleanup(client.Close)
	return client.Send(t.Context(), httptest.NewRecorder(), call, k.try())
}

func TestTheRequestIsBuiltFromWhatIsNamed(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url+"/base/v1", func(v *vendorSpec) { v.extra = `    headers: {x-title: dock}` })
	call := k.call(chatBody)
	call.Query = "beta=true"
	call.Header = http.Header{
		"Authorization":         {"Bearer yard_CANARY"},
		"X-Api-Key":             {"yard_CANARY"},
		"Cookie":                {"s=CANARY"},
		"Connection":            {"x-title"},
		"X-Session-Id":          {"dory-7"},
		"X-Stainless-Lang":      {"js"},
		"X-Forwarded-For":       {"10.9.8.7"},
		"Content-Type":          {"application/x-www-form-urlencoded"},
		"Content-Encoding":      {"gzip"},
		"Accept-Encoding":       {"gzip, br, zstd"},
		"User-Agent":            {"rope/1.0"},
		"Idempotency-Key":       {"once"},
		"Openai-Beta":           {"assistants=v2"},
		"Anthropic-Beta":        {"for-messages-only"},
		"Anthropic-Version":     {"2023-06-01"},
		"X-Warmroute-Key-Other": {"CANARY"},
	}
	if a := sendTo(t, k, call); a.Status != http.StatusTeapot || a.Failure != engine.FailureRequest {
		t.Fatalf("attempt: %d %q %q", a.Status, a.Failure, a.Cause)
	}
	r := last()
	if r.URL.String() != "/base/v1/chat/completions?beta=true" {
		t.Errorf("path %s", r.URL)
	}
	want := `{"model":"their-m","messages":[{"role":"user","content":"hi"}]}`
	if r.body != want || r.ContentLength != int64(len(want)) || len(r.TransferEncoding) != 0 {
		t.Errorf("body %s, length %d, %v", r.body, r.ContentLength, r.TransferEncoding)
	}
	expected := http.Header{
		"Accept":          {"application/json"},
		"Accept-Encoding": {"identity"},
		"Authorization":   {"Bearer " + vendorKey},
		"Content-Length":  {"63"},
		"Content-Type":    {"application/json"},
		"Idempotency-Key": {"once"},
		"Openai-Beta":     {"assistants=v2"},
		"User-Agent":      {"rope/1.0"},
		"X-Title":         {"dock"},
	}
	for name, values := range r.Header {
		if !slices.Equal(values, expected[name]) {
			t.Errorf("%s: %q, want %q", name, values, expected[name])
		}
		delete(expected, name)
	}
	for name := range expected {
		t.Errorf("%s did not arrive", name)
	}
}

// A client may say its betas on as many header lines as it likes: they arrive as it
// said them, before the operator's, and only where they mean something.
func TestEveryBetaValueReachesAMessagesVendorAndNoOther(t *testing.T) {
	betas := []string{"first-2025-03-01", "second-2025-06-02,third-2025-09-03"}
	for _, c := range []struct {
		name, api, body, extra string
		want                   []string
	}{
		{"messages", "messages", messagesBody, "", betas},
		{"messages, and one of the operator's", "messages", messagesBody, `    headers: {anthropic-beta: fourth}`, append(slices.Clone(betas), "fourth")},
		{"chat", "chat", chatBody, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, last := recorder(t)
			k := newKit(t, url, func(v *vendorSpec) { v.api, v.extra = c.api, c.extra })
			call := k.call(c.body)
			call.Header = http.Header{"Anthropic-Beta": betas}
			sendTo(t, k, call)
			if got := last().Header["Anthropic-Beta"]; !slices.Equal(got, c.want) {
				t.Errorf("anthropic-beta %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheKeyGoesWhereItsVendorLooks(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url, func(v *vendorSpec) { v.extra = "    auth: {header: x-api-key}" })
	sendTo(t, k, k.call(chatBody))
	if h := last().Header; h.Get("X-Api-Key") != vendorKey || h.Get("Authorization") != "" {
		t.Errorf("header %v", h)
	}
}

func TestAClientsOwnKeyIsAskedForItsOwnGroupOnly(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url, nil)
	call := k.call(chatBody)
	call.Key = func(name, _ string) (catalog.Secret, bool) { return catalog.NewSecret("own-" + name), true }
	client := vendor.New(vendor.Options{})
	defer client.Close()
	try := k.try()
	client.Send(t.Context(), httptest.NewRecorder(), call, try)
	if got := last().Header.Get("Authorization"); got != "Bearer "+vendorKey {
		t.Errorf("operator's group: %q", got)
	}
	try.Candidate.Group, try.Candidate.Credential = engine.GroupClient, ""
	client.Send(t.Context(), httptest.NewRecorder(), call, try)
	if got := last().Header.Get("Authorization"); got != "Bearer own-harbor" {
		t.Errorf("client's group: %q", got)
	}
	call.Key = nil
	if a := client.Send(t.Context(), httptest.NewRecorder(), call, try); a.Failure != engine.FailureCredential || a.Status != 0 {
		t.Errorf("without a key: %q %d", a.Failure, a.Status)
	}
}

func TestHintsNameTheSessionToItsVendorAlone(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url, func(v *vendorSpec) {
		v.extra = "    hints: [{header: x-session-affinity, form: hashed}, {header: x-session-id, form: raw}, {member: prompt_cache_key, form: hashed}]"
	})
	client := vendor.New(vendor.Options{HintKey: []byte("a key for tests")})
	defer client.Close()
	see := func(change func(*engine.Try)) received {
		try := k.try()
		if change != nil {
			change(&try)
		}
		client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), try)
		return last()
	}
	first := see(nil)
	hashed := first.Header.Get("X-Session-Affinity")
	if len(hashed) != 64 || strings.Contains(hashed, "boat") {
		t.Errorf("hashed hint %q", hashed)
	}
	if raw := first.Header.Get("X-Session-Id"); raw != "dory-7" {
		t.Errorf("raw hint %q", raw)
	}
	if !strings.HasSuffix(first.body, `,"prompt_cache_key":"`+hashed+`"}`) {
		t.Errorf("body %s", first.body)
	}
	if again := see(nil).Header.Get("X-Session-Affinity"); again != hashed {
		t.Error("the same session has another name")
	}
	for what, change := range map[string]func(*engine.Try){
		"tenant":     func(t *engine.Try) { t.Session.Tenant = "other" },
		"credential": func(t *engine.Try) { t.Candidate.Credential = "spare" },
		"id":         func(t *engine.Try) { t.Session.ID = "dory-8" },
	} {
		if other := see(change).Header.Get("X-Session-Affinity"); other == hashed {
			t.Errorf("another %s has the same name", what)
		}
	}
	long := see(func(t *engine.Try) { t.Session.ID = strings.Repeat("x", 65) })
	if raw := long.Header.Get("X-Session-Id"); len(raw) != 64 || strings.Contains(raw, "xx") {
		t.Errorf("a long id is sent as %q", raw)
	}
	odd := see(func(t *engine.Try) { t.Session.ID = "a\r\nx-evil: 1" })
	if odd.Header.Get("X-Evil") != "" || len(odd.Header.Get("X-Session-Id")) != 64 {
		t.Errorf("an odd id is sent as %v", odd.Header)
	}
	none := see(func(t *engine.Try) { t.Session = engine.Session{} })
	if none.Header.Get("X-Session-Affinity") != "" || strings.Contains(none.body, "prompt_cache_key") {
		t.Errorf("without a session: %v %s", none.Header, none.body)
	}
}

func TestNothingOfTheClientsChangesWhereARequestGoes(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url+"/v1", nil)
	for _, member := range []string{"api_base", "base_url", "api_key", "host", "url", "endpoint", "custom_llm_provider"} {
		call := k.call(`{"model":"m","messages":[],"` + member + `":"http://127.0.0.1:1/"}`)
		call.Header = http.Header{"X-Custom-Host": {"http://127.0.0.1:1/"}, "Host": {"elsewhere"}, "X-Forwarded-Host": {"elsewhere"}}
		call.Query = "/../../x?#frag@elsewhere"
		sendTo(t, k, call)
		if r := last(); r.URL.Path != "/v1/chat/completions" || !strings.HasPrefix("http://"+r.Host, url) {
			t.Errorf("%s: %s %s", member, r.Host, r.URL)
		}
	}
}
