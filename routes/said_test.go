package routes_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// inside is an error that a vendor sends inside an accepted answer, whole or as
// the first event of a stream.
func inside(api, kind, code, message string, stream bool) string {
	body := fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q}}`, message, kind, code)
	switch {
	case api == "messages":
		body = fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	case api == "responses" && stream:
		if code == "" {
			code = kind // it has no other word
		}
		body = fmt.Sprintf(`{"type":"error","code":%q,"message":%q,"param":null}`, code, message)
	}
	switch {
	case !stream:
		return body
	case api == "chat":
		return "data: " + body + "\n\n"
	}
	return "event: error\ndata: " + body + "\n\n"
}

// healthy is an answer in the dialect, whole or streamed.
func healthy(api string, stream bool) string {
	switch {
	case api == "messages" && stream:
		return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	case api == "responses" && stream:
		return "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\n\n"
	case stream:
		return "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	}
	return `{"id":"x"}`
}

// One client's mistake, told inside an answer, is its own: it is told so, nobody
// else is asked, and the vendor goes on serving others.
func TestWhoseFaultAnErrorInsideAnAnswerIs(t *testing.T) {
	for _, c := range []struct {
		kind, code string
		status     map[string]int // by API, where nobody else serves
		failure    engine.Failure
		down       bool // after three of them
	}{
		{"invalid_request_error", "", map[string]int{"chat": 400, "responses": 400, "messages": 400}, engine.FailureRequest, false},
		{"invalid_request_error", "context_length_exceeded", map[string]int{"chat": 400, "responses": 400}, engine.FailureRequest, false},
		{"not_found_error", "model_not_found", map[string]int{"chat": 400, "responses": 400, "messages": 400}, engine.FailureRequest, false},
		{"server_error", "content_policy_violation", map[string]int{"chat": 400, "responses": 400}, engine.FailureRequest, false},
		{"moderation_blocked", "moderation_blocked", map[string]int{"chat": 400, "responses": 400}, engine.FailureRequest, false},
		{"rate_limit_error", "rate_limit_exceeded", map[string]int{"chat": 429, "responses": 429, "messages": 429}, engine.FailureThrottled, true},
		{"invalid_request_error", "rate_limit_exceeded", map[string]int{"chat": 429, "responses": 429}, engine.FailureThrottled, true},
		{"overloaded_error", "overloaded", map[string]int{"chat": 503, "responses": 503, "messages": 529}, engine.FailureStream, true},
		{"api_error", "server_error", map[string]int{"chat": 502, "responses": 502, "messages": 502}, engine.FailureStream, true},
	} {
		for api, status := range c.status {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, %s, stream %v", c.kind, c.code, api, stream), func(t *testing.T) {
					body := fmt.Sprintf(`{"model":"m","stream":%v}`, stream)
					text := inside(api, c.kind, c.code, "the plank is too long", stream)
					alone := newRig(t, nil, stop{name: "first", api: api, serve: &script{text: text}})
					got := alone.post(api, body)
					said := c.kind
					if api == "responses" && stream && c.code != "" {
						said = c.code
					}
					if got.status != status || !strings.Contains(got.body, "the plank is too long") || !strings.Contains(got.body, said) {
						t.Errorf("%d %s, want %d", got.status, got.body, status)
					}
					if prefix := map[bool]string{true: `{"type":"error"`, false: `{"error"`}[api == "messages"]; !strings.HasPrefix(got.body, prefix) {
						t.Errorf("not in the dialect: %s", got.body)
					}
					if a := alone.last(1); a.Failure != c.failure || a.Stage != engine.StageBroken || a.Committed {
						t.Errorf("attempt %q %q", a.Stage, a.Failure)
					}
					first, second := &script{text: text}, &script{text: healthy(api, stream)}
					two := newRig(t, nil, stop{name: "first", api: api, serve: first}, stop{name: "second", api: api, serve: second})
					for range 4 {
						two.post(api, body)
					}
					asked := map[bool]int{true: 0, false: 4}[c.failure == engine.FailureRequest]
					if n := len(second.requests()); n != asked {
						t.Errorf("the second vendor was asked %d times, want %d", n, asked)
					}
					route := two.catalog.Models[0].Routes[0]
					if down := two.gateway.Health.Down(route, "main", two.turns(4)[3].Started); down != c.down {
						t.Errorf("down: %v", down)
					}
				})
			}
		}
	}
}

// A key inside such an error is as secret as in a refusal.
func TestAnErrorInsideAnAnswerRepeatsNoKey(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, kind := range []string{"authentication_error", "permission_error", "api_error", "invalid_request_error"} {
			r := newRig(t, nil, stop{name: "first", serve: &script{text: inside("chat", kind, "", "bad key "+vendorKey, stream)}})
			got := r.post("chat", bodies[stream])
			if strings.Contains(got.body+r.log.String(), "CANARY") || got.status < 400 {
				t.Errorf("%s: %d %s", kind, got.status, got.body)
			}
		}
	}
}

// An accepted answer that answers nothing is the next vendor's to mend.
func TestAnAnswerThatIsNoneIsServedByTheNextVendor(t *testing.T) {
	for _, c := range []struct{ name, contentType, text string }{
		{"an error beside an id", "application/json", `{"id":"x","error":{"message":"m","type":"server_error"}}`},
		{"an error in a word", "application/json", `{"error":"boom"}`},
		{"an object called error", "application/json", `{"object":"error","message":"boom","code":50001}`},
		{"a page", "text/html", "<html>maintenance</html>"},
		{"a page that calls itself JSON", "application/json", "<html>maintenance</html>"},
		{"null", "application/json", "null"},
		{"a list", "application/json", "[]"},
		{"a text", "application/json", `"ok"`},
		{"half an object of the right length", "application/json", `{"id":"x","choices":[{"mess`},
		{"nothing but space", "application/json", " \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := &script{text: jsonAnswer}
			r := newRig(t, nil, stop{name: "first", serve: &script{text: c.text, contentType: c.contentType}}, stop{name: "second", serve: second})
			got := r.post("chat", bodies[false])
			if got.status != http.StatusOK || got.body != jsonAnswer {
				t.Errorf("%d %s", got.status, got.body)
			}
			if a := r.turns(1)[0].Attempts; len(a) != 2 || a[0].Stage != engine.StageBroken || a[0].Committed {
				t.Errorf("attempts %+v", a)
			}
		})
	}
	for _, text := range []string{
		`{"error":null,"id":"x"}`, `{"error":"","id":"x"}`, `{"error":{},"id":"x"}`, "\r\n {\"id\":\"x\"}\n",
		`{"id":"x","deep":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "{\"id\":\"\xff\"}",
	} {
		r := newRig(t, nil, stop{name: "first", serve: &script{text: text, contentType: "application/json"}})
		if got := r.post("chat", bodies[false]); got.status != http.StatusOK || got.body != text {
			t.Errorf("%q: %d %s", text, got.status, got.body)
		}
	}
}

// What one client may not have says nothing of the key for the others.
func TestAForbiddenRequestCoolsNobody(t *testing.T) {
	first, second := &script{status: 403, text: `{"error":{"message":"not for you"}}`}, &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "first", serve: first}, stop{name: "second", serve: second})
	for range 4 {
		if got := r.post("chat", bodies[false]); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if len(first.requests()) != 4 {
		t.Errorf("the first vendor was asked %d times", len(first.requests()))
	}
	alone := newRig(t, nil, stop{name: "first", serve: first})
	if got := alone.post("chat", bodies[false]); got.status != http.StatusBadGateway || strings.Contains(got.body, "not for you") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A refusal keeps the vendor's ids and limits, and nothing with the key in it.
func TestARefusalKeepsTheVendorsLimits(t *testing.T) {
	refusal := &script{status: 429, text: `{"error":{"message":"slow"}}`, contentType: "application/json", header: http.Header{
		"Request-Id": {"req_1"}, "X-Request-Id": {"for " + strings.ToUpper(vendorKey)}, "Anthropic-Ratelimit-Tokens-Remaining": {"0"},
		"X-Ratelimit-Reset-Requests": {"6m0s"}, "Retry-After-Ms": {"1500"}, "X-Should-Retry": {"true"}, "Retry-After": {"2"},
		"Set-Cookie": {"a=b"}, "Openai-Organization": {"org-1"}, "Location": {"http://127.0.0.1/"},
	}}
	r := newRig(t, nil, stop{name: "first", serve: refusal})
	got := r.post("chat", bodies[false])
	for name, want := range map[string]string{
		"Request-Id": "req_1", "X-Request-Id": "", "Anthropic-Ratelimit-Tokens-Remaining": "0", "X-Ratelimit-Reset-Requests": "6m0s",
		"Retry-After-Ms": "1500", "X-Should-Retry": "true", "Retry-After": "2", "Set-Cookie": "", "Openai-Organization": "", "Location": "",
	} {
		if value := got.header.Get(name); value != want || len(got.header[name]) > 1 {
			t.Errorf("%s is %q, want %q", name, got.header[name], want)
		}
	}
	// The next vendor's answer has none of it.
	two := newRig(t, nil, stop{name: "first", serve: refusal}, stop{name: "second", serve: &script{text: jsonAnswer}})
	if got := two.post("chat", bodies[false]); got.status != http.StatusOK || got.header.Get("X-Should-Retry") != "" || got.header.Get("Request-Id") != "" {
		t.Errorf("%d %v", got.status, got.header)
	}
}

func TestANameIsEchoedInWholeCharacters(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	got := r.post("chat", `{"model":"`+strings.Repeat("x", 99)+`木木","messages":[]}`)
	if got.status != http.StatusNotFound || strings.Contains(got.body, `\\x`) || strings.ContainsRune(got.body, '\uFFFD') {
		t.Errorf("%s", got.body)
	}
}

// Metadata modes must not matter to what an error says.
func TestErrorsInsideAnswersCarryNoMetadata(t *testing.T) {
	r := newRig(t, nil, stop{name: "first", serve: &script{text: inside("chat", "api_error", "", "m", false)}})
	if got := r.post("chat", bodies[false], "x-warmroute-metadata", string(vendor.MetadataBody)); strings.Contains(got.body, "provider_metadata") || got.header.Get("X-Warmroute-Vendor") != "first" {
		t.Errorf("%v %s", got.header, got.body)
	}
}
