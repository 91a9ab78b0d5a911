package vendorsim

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func (b *bench) sim(method, path, body string) reply {
	b.t.Helper()
	r := b.request(b.t.Context(), path, "", body)
	r.Method = method
	return b.do(r)
}

func TestScriptOverHTTP(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	if r := b.sim("POST", "/sim/faults", `[{"times":1,"status":503,"retry_after":"2"},{"chunks":["ZGF0YTogMQoK","ZGF0YTogMgoK"]}]`); r.status != 200 || strings.TrimSpace(string(r.body)) != `{"queued":2}` {
		t.Fatalf("status %d, body %s", r.status, r.body)
	}
	if r := b.ask(catalog.Chat, false); r.status != 503 {
		t.Errorf("status %d, want 503", r.status)
	}
	if r := b.ask(catalog.Chat, true); string(r.body) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("body %q", r.body)
	}
	if r := b.sim("POST", "/sim/faults", `{"status":429}`); r.status != 200 {
		t.Errorf("one fault without a list: status %d", r.status)
	}
	var faults []Fault
	if err := json.Unmarshal(b.sim("GET", "/sim/faults", "").body, &faults); err != nil || len(faults) != 1 || faults[0].Status != 429 {
		t.Errorf("%v %+v", err, faults)
	}
	for _, bad := range []string{`[{"stauts":503}]`, `[`, `[{"raw_file":"/etc/hosts"}]`} {
		if r := b.sim("POST", "/sim/faults", bad); r.status != 400 {
			t.Errorf("%s: status %d", bad, r.status)
		}
	}
	var log []Seen
	if err := json.Unmarshal(b.sim("GET", "/sim/log", "").body, &log); err != nil || len(log) != 2 || log[0].Status != 503 || log[1].Events != 2 {
		t.Errorf("%v %+v", err, log)
	}
	if r := b.sim("POST", "/sim/reset?what=faults", ""); r.status != 200 || len(b.Faults()) != 0 || len(b.Log()) != 2 {
		t.Errorf("status %d, %d faults, %d log", r.status, len(b.Faults()), len(b.Log()))
	}
	b.ok(chatPath, "k", chatBody(words("rules", 1100)))
	var entries []CacheEntry
	if err := json.Unmarshal(b.sim("GET", "/sim/cache", "").body, &entries); err != nil || len(entries) != 1 || entries[0].Tokens != 1024 || entries[0].Account != Account("k") {
		t.Errorf("%v %+v", err, entries)
	}
	b.sim("POST", "/sim/reset", "")
	if len(b.Log()) != 0 || len(b.Cache()) != 0 {
		t.Error("a reset left something")
	}
	if r := b.sim("DELETE", "/sim/log", ""); r.status != 404 {
		t.Errorf("status %d", r.status)
	}
}

func TestPagesOfOtherOriginsMayNotScript(t *testing.T) {
	b := start(t, Config{})
	r := b.request(t.Context(), "/sim/faults", "", `[{"status":500}]`)
	r.Header.Set("Origin", "http://elsewhere.invalid")
	if got := b.do(r); got.status != 403 || len(b.Faults()) != 0 {
		t.Errorf("status %d", got.status)
	}
}

func TestLogHidesKeysAndKeepsBodies(t *testing.T) {
	b := start(t, Config{})
	const key = "sk-canary-0123456789abcdef"
	body := with(asks[catalog.Chat].body, `"user":"浪"`)
	b.ok(chatPath, key, body)
	text := string(encode(b.Log()))
	if strings.Contains(text, key) || strings.Contains(text, "0123456789") {
		t.Errorf("the key is in the log: %s", text)
	}
	s := b.Log()[0]
	if s.Header.Get("Authorization") != "Bearer …cdef" || s.Account != Account(key) || s.Body != body || s.Method != http.MethodPost || s.Model != "m" {
		t.Errorf("%+v", s)
	}
}

func TestLogIsBounded(t *testing.T) {
	v := New(Config{})
	r, err := http.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range maxSeen + 10 {
		v.receive(r, []byte("{}"))
	}
	if log := v.Log(); len(log) != maxSeen || log[0].Seq != 11 {
		t.Errorf("%d kept, first %d", len(log), log[0].Seq)
	}
	big := make([]byte, maxSeenBytes/2+1)
	v.receive(r, big)
	v.receive(r, big)
	if log := v.Log(); len(log) != 1 || log[0].Seq != maxSeen+12 {
		t.Errorf("%d kept, first %d", len(log), log[0].Seq)
	}
}

// Requests, script and reading may overlap; -race says whether they may.
func TestManyAtOnce(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := chatBody(words("rules", 2000))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 10 {
				if i%4 == 0 {
					_ = b.Queue(Fault{Status: 500})
					b.Log()
					b.Cache()
				}
				if r := b.post(chatPath, "k", with(body, `"stream":true`)); r.status != 200 && r.status != 500 {
					t.Errorf("status %d, error %v", r.status, r.err)
				}
			}
		})
	}
	wait.Wait()
}
