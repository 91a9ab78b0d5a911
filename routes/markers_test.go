package routes_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// What a vendor of each dialect answers.
var plainAnswers = map[string]string{
	"chat":      `{"id":"c","object":"chat.completion","created":1,"model":"barge-7","choices":[{"index":0,"message":{"role":"assistant","content":"Aye."},"finish_reason":"stop"}],"usage":{"prompt_tokens":2000,"completion_tokens":3,"total_tokens":2003}}`,
	"responses": `{"id":"resp_1","object":"response","status":"completed","model":"barge-7","output":[],"usage":{"input_tokens":2000,"output_tokens":3,"total_tokens":2003}}`,
	"messages":  `{"id":"msg_1","type":"message","role":"assistant","model":"barge-7","content":[{"type":"text","text":"Aye."}],"stop_reason":"end_turn","usage":{"input_tokens":500,"cache_read_input_tokens":1500,"output_tokens":3}}`,
}

// answering is a rig of one vendor that answers in its dialect.
func answering(t *testing.T, api, price, extra string) (*rig, *script) {
	t.Helper()
	s := &script{text: plainAnswers[api]}
	return newRig(t, nil, stop{name: "reef", api: api, serve: s, price: price, extra: extra}), s
}

// expiry is how long the session's newest pin lasts.
func (r *rig) expiry(id string) time.Duration {
	r.t.Helper()
	record, err := r.pins.Recall(r.t.Context(), engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	_, e, ok := record.Newest()
	if !ok {
		return 0
	}
	return e.ExpiresAt.Sub(e.AcceptedAt)
}

// history is a long conversation of two turns, in a dialect's own words.
func history(api string) string {
	system, field, sep := strings.Repeat("Mind the tide. ", 600), "messages", ""
	if api == "responses" {
		field = "input"
	}
	if api == "messages" {
		sep = `"max_tokens" : 9,"system":"` + system + `",`
	} else {
		sep = `"` + field + `":[{"role":"system","content":"` + system + `"},`
		return `{ "model":"barge-7", ` + sep + `{"role":"user","content":"One"},{"role":"assistant","content":"1"},{"role":"user","content":"Two"}],"temperature":1.0 }`
	}
	return `{ "model":"barge-7", ` + sep + `"` + field + `":[{"role":"user","content":"One"},{"role":"assistant","content":"1"},{"role":"user","content":"Two"}],"temperature":1.0 }`
}

// Whoever does not ask for markers is sent on byte for byte, in every dialect; whoever
// does is, at a vendor that has no use for them.
func TestBytesAreTheClientsWhereNoMarkersArePlaced(t *testing.T) {
	for _, api := range []string{"chat", "responses", "messages"} {
		for _, price := range []string{pierPrice, markedPrice} {
			r, vendor := answering(t, api, price, "")
			body := history(api)
			bodies := []string{body, strings.Replace(body, ` "model"`, ` "caching":"off", "model"`, 1)}
			if price == pierPrice || api != "messages" {
				bodies = append(bodies, strings.Replace(body, ` "model"`, ` "caching":"auto", "cache_ttl":"1h", "model"`, 1))
			}
			for i, sent := range bodies {
				if got := r.post(api, sent, "x-session-id", "dory-7"); got.status != http.StatusOK {
					t.Fatalf("%s: %d %s", api, got.status, got.body)
				}
				if got := vendor.requests()[i].body; got != body {
					t.Errorf("%s, body %d: the vendor got %s", api, i, got)
				}
			}
		}
	}
}

// Markers that are placed make the pin last as long as they do, and the finding does not
// say that there is none.
func TestThePinLastsAsLongAsThePlacedMarkers(t *testing.T) {
	r, vendor := answering(t, "messages", markedPrice, "")
	for i, c := range []struct {
		caching string
		pin     time.Duration
		markers int
		detail  engine.Detail
	}{
		{``, 285 * time.Second, 0, ""},
		{`"caching":"auto","cache_ttl":"1h",`, 3585 * time.Second, 3, engine.DetailSingleRoute},
		{`"caching":"auto",`, 3585 * time.Second, 3, engine.DetailSingleRoute}, // what is held for an hour stays so
		{`"caching":"auto","cache_ttl":"5m",`, 285 * time.Second, 3, engine.DetailSingleRoute},
		{``, 285 * time.Second, 0, engine.DetailNoCacheMarker},
	} {
		body := strings.Replace(history("messages"), ` "model"`, ` `+c.caching+`"model"`, 1)
		if got := r.post("messages", body, "x-session-id", "dory-7"); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		turns := r.turns(int64(i + 1))
		if got := r.expiry("dory-7"); got != c.pin {
			t.Errorf("turn %d: the pin lasts %s, want %s", i, got, c.pin)
		}
		if got := strings.Count(vendor.requests()[i].body, `"cache_control":{"type":"ephemeral"`); got != c.markers {
			t.Errorf("turn %d: %d markers, want %d", i, got, c.markers)
		}
		if got := turns[i].Decision.Models[0].Detail; got != c.detail {
			t.Errorf("turn %d: detail %q, want %q", i, got, c.detail)
		}
	}
}

// A client that marks its prompt itself keeps its markers and their lifetimes: a fifth
// would be refused.
func TestAClientsFourMarkersStayFour(t *testing.T) {
	const m = `"cache_control":{"type":"ephemeral"}`
	fourMarkers(t, `{"model":"barge-7","max_tokens":8,"tools":[{"name":"sound","input_schema":{"type":"object"},`+m+`}],"system":[{"type":"text","text":"a",`+m+`},{"type":"text","text":"b",`+m+
		`}],"messages":[{"role":"user","content":[{"type":"text","text":"c",`+m+`}]}]}`)
}

func fourMarkers(t *testing.T, body string) {
	t.Helper()
	for _, caching := range []string{`"caching":"auto",`, `"caching":"auto","cache_ttl":"1h",`, ``} {
		r, vendor := answering(t, "messages", markedPrice, "")
		if got := r.post("messages", "{"+caching+body[1:], "x-session-id", "dory-7"); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if got := vendor.requests()[0].body; got != body || strings.Count(got, `"cache_control"`) != 4 {
			t.Errorf("the vendor got %s", got)
		}
	}
}

// Three markers, one of them for an hour: a chat vendor that understands them gets all
// of them, one that refuses them none, and then nothing is claimed to be warm by them.
func TestMarkersReachAChatVendorThatUnderstandsThem(t *testing.T) {
	const m = `,"cache_control":{"type":"ephemeral"}`
	threeMarkers(t, `{"model":"barge-7","tools":[{"type":"function","function":{"name":"sound"}`+m+`}],"messages":[{"role":"system","content":[{"type":"text","text":"rules"`+m+
		`}]},{"role":"user","content":[{"type":"text","text":"Go","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`)
}

func threeMarkers(t *testing.T, body string) {
	t.Helper()
	for _, c := range []struct {
		extra string
		cut   int
		pin   time.Duration
		want  engine.Detail
	}{
		{"    accepts: [cache_control]", 0, 3585 * time.Second, engine.DetailSingleRoute},
		{"", 0, 3585 * time.Second, engine.DetailSingleRoute},
		{"    refuses: [cache_control]", 3, 285 * time.Second, engine.DetailNoCacheMarker},
	} {
		r, vendor := answering(t, "chat", markedPrice, c.extra)
		for range 2 {
			if got := r.post("chat", body, "x-session-id", "dory-7"); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		turns := r.turns(2)
		got := vendor.requests()[1].body
		if n := strings.Count(got, `"cache_control"`); n != 3-c.cut || c.cut == 0 && got != body {
			t.Errorf("%s: %d markers arrived: %s", c.extra, n, got)
		}
		if last, _ := turns[1].Last(); last.MarkersCut != c.cut || engine.Book(turns[1]).Attempts[0].MarkersCut != c.cut {
			t.Errorf("%s: %d markers are told of as dropped, want %d", c.extra, last.MarkersCut, c.cut)
		}
		if got := r.expiry("dory-7"); got != c.pin {
			t.Errorf("%s: the pin lasts %s, want %s", c.extra, got, c.pin)
		}
		if got := turns[1].Decision.Models[0].Detail; got != c.want {
			t.Errorf("%s: detail %q, want %q", c.extra, got, c.want)
		}
	}
}

// Three betas on two lines: all of them reach a vendor of the messages API in order, and
// none any other; a marker for an hour makes a pin of an hour less its margin.
func TestBetasOfTwoLinesAndAnHoursPin(t *testing.T) {
	betas := []string{"longer-cache-2025-04-01,larger-context-2025-08-01", "thinking-between-2025-05-01"}
	betasAndPin(t, betas, `{"model":"barge-7","max_tokens":16,"system":[{"type":"text","text":"rules","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":"hi"}]}`)
}

func betasAndPin(t *testing.T, betas []string, body string) {
	t.Helper()
	header := []string{"x-session-id", "dory-7"}
	for _, line := range betas {
		header = append(header, "anthropic-beta", line)
	}
	r, vendor := answering(t, "messages", markedPrice, "")
	if got := r.post("messages", body, header...); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	r.turns(1)
	got := vendor.requests()[0]
	if !slices.Equal(got.header["Anthropic-Beta"], betas) || len(strings.Split(strings.Join(got.header["Anthropic-Beta"], ","), ",")) != 3 {
		t.Errorf("anthropic-beta %q, want %q", got.header["Anthropic-Beta"], betas)
	}
	if got.body != body {
		t.Errorf("body %s", got.body)
	}
	if pin := r.expiry("dory-7"); pin != 3585*time.Second {
		t.Errorf("the pin lasts %s, want 3585s", pin)
	}
	for _, api := range []string{"chat", "responses"} {
		r, vendor := answering(t, api, pierPrice, "")
		r.post(api, history(api), header...)
		r.turns(1)
		if got := vendor.requests()[0].header["Anthropic-Beta"]; got != nil {
			t.Errorf("a vendor of %s got %q", api, got)
		}
	}
}

// A cache key that is longer than a vendor takes: the vendor gets a hash of it, the pin
// goes by all of it.
func TestALongCacheKeyPinsByAllOfItself(t *testing.T) {
	longKey(t, func(key string) string {
		return fmt.Sprintf(`{"model":"barge-7","prompt_cache_key":%q,"input":"hi"}`, key)
	},
		"yard:"+strings.Repeat("7", 70)+":berth:0017")
}

func longKey(t *testing.T, body func(key string) string, key string) {
	t.Helper()
	r, vendor := answering(t, "responses", pierPrice, "")
	other := key[:len(key)-1] + "8"
	for _, k := range []string{key, key, other, "short"} {
		if got := r.post("responses", body(k)); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	turns := r.turns(4)
	sent := func(i int) string {
		_, rest, _ := strings.Cut(vendor.requests()[i].body, `"prompt_cache_key":"`)
		k, _, _ := strings.Cut(rest, `"`)
		return k
	}
	if first := sent(0); len(first) != 64 || sent(1) != first || sent(2) == first || len(sent(2)) != 64 || sent(3) != "short" {
		t.Errorf("sent %q, %q, %q, %q", first, sent(1), sent(2), sent(3))
	}
	for i, want := range []string{key, key, other, "short"} {
		if s := turns[i].Session; s.Class != engine.ClassCacheKey || s.ID != want {
			t.Errorf("turn %d is of session %s %q", i, s.Class, s.ID)
		}
	}
	if turns[1].Decision.Models[0].Outcome != engine.Confirmed || turns[2].Decision.Models[0].Outcome != engine.NoPin {
		t.Errorf("outcomes %s, %s", turns[1].Decision.Models[0].Outcome, turns[2].Decision.Models[0].Outcome)
	}
}
