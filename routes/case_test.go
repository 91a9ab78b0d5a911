package routes_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

const jsonAnswer = `{"id":"forty-one","object":"chat.completion","model":"barge-7","choices":[{"index":0,"message":{"role":"assistant","content":"41"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":5}}`

// A vendor's cache is found again by the bytes of a prompt: the same body must
// leave as the same bytes each time it comes.
func TestKeyOrderSurvivesFiftyTimes(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	body := input(t, "requests/key-order.json")
	for range 50 {
		if got := r.post("chat", body); got.status != http.StatusOK || got.body != jsonAnswer {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	want := strings.Replace(body, `"shop-alias"`, `"barge-7"`, 1)
	sums := map[[32]byte]int{}
	for _, g := range v.requests() {
		sums[sha256.Sum256([]byte(g.body))]++
	}
	if len(sums) != 1 || v.requests()[0].body != want || sums[sha256.Sum256([]byte(want))] != 50 {
		t.Errorf("%d sums, first body\n%s", len(sums), v.requests()[0].body)
	}
}

func TestUsageIsAskedForAndHidden(t *testing.T) {
	answer := input(t, "responses/chat-usage-asked-for.sse")
	silent := input(t, "requests/stream-without-usage.json")
	closing := func(extra string) string { return strings.TrimSuffix(strings.TrimSpace(silent), "}") + extra + "}" }
	for _, c := range []struct {
		name, body, extra string
		received          string // what the vendor must get after the messages
		hidden            bool
	}{
		{"not asked", silent, "", closing(`,"stream_options":{"include_usage":true}`), true},
		{"asked", closing(`,"stream_options":{"include_usage":true}`), "", closing(`,"stream_options":{"include_usage":true}`), false},
		{"declined", closing(`,"stream_options":{"include_usage":false}`), "", closing(`,"stream_options":{"include_usage":false}`), false},
		{"a vendor that refuses the member", silent, "    refuses: [stream_options]", closing(""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &script{text: answer}
			r := newRig(t, nil, stop{name: "pier", serve: v, extra: c.extra})
			got := r.post("chat", c.body)
			want := strings.Replace(c.received, `"shop-alias"`, `"barge-7"`, 1)
			if sent := v.requests()[0]; sent.body != want || sent.length != int64(len(want)) {
				t.Errorf("vendor got (%d) %s", sent.length, sent.body)
			}
			if c.hidden {
				if strings.Contains(got.body, `"usage"`) || strings.Contains(got.body, `"choices":[]`) || !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
					t.Errorf("client got\n%s", got.body)
				}
			} else if got.body != answer {
				t.Errorf("client got\n%s", got.body)
			}
			a := r.last(1)
			if a.Usage != (pricing.Usage{Input: 54, CacheRead: 256, Output: 18}) {
				t.Errorf("usage %+v", a.Usage)
			}
			money(t, a, "0.000379")
		})
	}
}

func TestALineOverAMegabytePasses(t *testing.T) {
	chunk := func(rest string) string {
		return `data: {"id":"one-long-board","object":"chat.completion.chunk","created":1790000010,"model":"barge-7",` + rest + "}\n\n"
	}
	answer := chunk(`"choices":[{"index":0,"delta":{"role":"assistant","content":"`+strings.Repeat("w", 1_200_000)+`"},"finish_reason":null}]`) +
		chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`) +
		chunk(`"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":300000,"total_tokens":300040}`) + "data: [DONE]\n\n"
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: answer}})
	got := r.post("chat", `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`)
	if got.body != answer || got.err != nil {
		t.Errorf("%d bytes of %d, %v", len(got.body), len(answer), got.err)
	}
	a := r.last(1)
	if a.Usage.Input != 40 || a.Usage.Output != 300_000 {
		t.Errorf("usage %+v", a.Usage)
	}
	money(t, a, "3.0001")
}

func TestAVendorThatHangsUpInMidAnswerLooksLikeIt(t *testing.T) {
	cut := input(t, "responses/chat-cut.sse")
	turns := 0
	url := rawVendor(t, func(conn net.Conn) {
		if turns++; turns == 1 {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(jsonAnswer), jsonAnswer)
			return
		}
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(cut), cut)
	})
	r := newRig(t, nil, stop{name: "pier", url: url}, stop{name: "quay", serve: &script{text: jsonAnswer}})
	r.post("chat", `{"model":"m","messages":[]}`, "x-session-id", "dory-cut")
	r.turns(1)
	if pins := r.pinned("dory-cut"); !slices.Equal(pins, []string{"pier"}) {
		t.Fatalf("before the cut: pinned %v", pins)
	}
	got := r.post("chat", `{"model":"m","messages":[],"stream":true}`, "x-session-id", "dory-cut")
	rest, ok := strings.CutPrefix(got.body, cut)
	if !ok || strings.Count(rest, "data: ") != 1 || !strings.Contains(rest, `"error"`) || strings.Contains(rest, "[DONE]") {
		t.Errorf("client got %q", got.body)
	}
	if got.err != io.ErrUnexpectedEOF {
		t.Errorf("the client read to %v", got.err)
	}
	a := r.last(2)
	if a.Stage != engine.StageBroken || a.Failure != engine.FailureCut || a.Quality.Complete() || a.Cost.Known {
		t.Errorf("attempt %q %q, usage %q, cost %+v", a.Stage, a.Failure, a.Quality, a.Cost)
	}
	if pins := r.pinned("dory-cut"); len(pins) > 0 {
		t.Errorf("pinned %v", pins)
	}
}

func TestAClientThatLeavesIsOneRowAndEndsTheVendor(t *testing.T) {
	gone := make(chan time.Time, 1)
	vendor := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"message_start","message":{"id":"walked_off","type":"message","role":"assistant","model":"schooner-1","content":[],"usage":{"input_tokens":60,"cache_creation_input_tokens":0,"cache_read_input_tokens":9000,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Long ago "}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"an oak"}}`,
		} {
			name, _, _ := strings.Cut(strings.TrimPrefix(event, `{"type":"`), `"`)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, event)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- time.Now()
	}}
	r := newRig(t, nil, stop{name: "reef", api: "messages", serve: vendor, price: reefPrice})
	request, _ := http.NewRequest(http.MethodPost, r.url+"/v1/messages", strings.NewReader(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"tell"}]}`))
	request.Header.Set("x-session-id", "dory-left")
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	seen := ""
	for !strings.Contains(seen, "an oak") {
		n, err := response.Body.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(buffer[:n])
	}
	left := time.Now()
	response.Body.Close()
	if took := (<-gone).Sub(left); took > time.Second {
		t.Errorf("the vendor went on for %v", took)
	}
	a := r.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || a.Quality != pricing.Partial ||
		a.Usage.Input != 60 || a.Usage.CacheRead != 9000 || a.Usage.Output != 1 || a.Cost.Known {
		t.Errorf("attempt %q %q, usage %+v %q, cost %+v", a.Stage, a.Failure, a.Usage, a.Quality, a.Cost)
	}
	// 60 × $3 and 9,000 × $0.30, per million; of the output nothing is known but that there was some.
	if prompt := engine.Book(r.ledger.Recorded()[0]).Attempts[0].PromptCost(); !prompt.Known || prompt.Total.String() != "0.00288" {
		t.Errorf("the prompt cost %+v", prompt)
	}
	if pins := r.pinned("dory-left"); !slices.Equal(pins, []string{"reef"}) {
		t.Errorf("pinned %v", pins)
	}
}

func TestUsageThatIsNotReportedIsUnknownNotFree(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: input(t, "responses/chat-no-usage.sse")}})
	r.post("chat", `{"model":"m","messages":[],"stream":true}`)
	a := r.booked(1)
	if a.Stage != engine.StageServed || a.Quality != pricing.Missing || a.Cost.Known || a.Saving.Known || a.Usage != (pricing.Usage{}) {
		t.Errorf("attempt %q, usage %+v %q, cost %+v", a.Stage, a.Usage, a.Quality, a.Cost)
	}
}

func TestAnErrorAfterOutputIsNotJoinedByASecondVendor(t *testing.T) {
	answer := input(t, "responses/messages-error.sse")
	second := &script{text: answer}
	r := newRig(t, nil, stop{name: "reef", api: "messages", serve: &script{text: answer}, price: reefPrice},
		stop{name: "quay", api: "messages", serve: second, price: reefPrice})
	got := r.post("messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`, "x-session-id", "dory-error")
	if strings.Count(got.body, "event: message_start") != 1 || !strings.Contains(got.body, `{"type":"error","error":{"type":"api_error","message":"jammed"}}`) {
		t.Errorf("client got %q", got.body)
	}
	if len(second.requests()) != 0 {
		t.Error("the second vendor was asked")
	}
	a := r.last(1)
	if a.Stage != engine.StageBroken || a.Failure != engine.FailureStream || a.Usage.Input != 900 || a.Quality.Complete() || a.Cost.Known {
		t.Errorf("attempt %q %q, usage %+v %q", a.Stage, a.Failure, a.Usage, a.Quality)
	}
	if prompt := a.Candidate.Card.Input.Of(a.Usage.Prompt()); !prompt.Equal(decimalOf(t, "0.0027")) {
		t.Errorf("prompt side %v", prompt)
	}
	if pins := r.pinned("dory-error"); len(pins) > 0 {
		t.Errorf("pinned %v", pins)
	}
}

// The end mark is the end: the blank line after it never comes, and the client
// does not wait for it.
func TestAClientThatClosesAtTheEndMarkIsServed(t *testing.T) {
	answer := strings.TrimRight(input(t, "responses/chat-done-without-blank-line.sse"), "\n") + "\n"
	ended := make(chan struct{})
	vendor := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
		_ = http.NewResponseController(w).Flush()
		<-ended
	}}
	r := newRig(t, nil, stop{name: "pier", serve: vendor})
	request, _ := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`))
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	seen := ""
	for !strings.Contains(seen, "[DONE]") {
		n, err := response.Body.Read(buffer)
		seen += string(buffer[:n])
		if err != nil {
			break
		}
	}
	response.Body.Close()
	a := r.last(1)
	close(ended)
	if !strings.Contains(seen, "[DONE]") {
		t.Errorf("client got %q", seen)
	}
	if a.Stage != engine.StageServed || a.Usage.Input != 75 || a.Usage.Output != 11 {
		t.Errorf("attempt %q %q, usage %+v", a.Stage, a.Cause, a.Usage)
	}
	money(t, a, "0.000297500")
}

func TestCharactersCutByTheNetworkArriveWhole(t *testing.T) {
	text := input(t, "responses/chat-utf8.sse")
	pieces := rawVendor(t, func(conn net.Conn) {
		_ = conn.(*net.TCPConn).SetNoDelay(true)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for i := range len(text) {
			_, _ = io.WriteString(conn, "1\r\n"+text[i:i+1]+"\r\n")
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	r := newRig(t, nil, stop{name: "pier", url: pieces, extra: "    refuses: [stream_options]"})
	got := r.post("chat", `{"model":"m","messages":[],"stream":true}`)
	if got.body != text || !strings.Contains(got.body, "樫の木 🌳") || strings.ContainsRune(got.body, '\uFFFD') {
		t.Errorf("client got %q", got.body)
	}
}

func TestMembersForTheGatewayDoNotReachTheVendor(t *testing.T) {
	body := input(t, "requests/gateway-members.json")
	v := &script{text: `{"id":"brief_one","type":"message","model":"schooner-1","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`}
	r := newRig(t, nil, stop{name: "harbor-a", api: "messages", serve: v, price: reefPrice})
	if got := r.post("messages", body); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	want := `{"messages":[{"role":"user","content":"Any larch?"}],"model":"barge-7","metadata":{"user_id":"u-9"},"max_tokens":32}`
	if sent := v.requests()[0].body; sent != want {
		t.Errorf("vendor got %s", sent)
	}
	turn := r.turns(1)[0]
	if turn.Session.ID != "yard-9" || turn.Session.Class != engine.ClassExplicit {
		t.Errorf("session %+v", turn.Session)
	}
}

func TestEveryBetaValueArrivesAndTheHourCounts(t *testing.T) {
	v := &script{text: `{"id":"brief_one","type":"message","model":"schooner-1","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`}
	r := newRig(t, nil, stop{name: "reef", api: "messages", serve: v, price: reefPrice, extra: "    tags: [claude]"})
	r.catalog.Models[0].Routes[0].Cache.Family = "explicit"
	r.post("messages", input(t, "requests/hour-marker.json"), "x-session-id", "dory-hour",
		"anthropic-beta", "files-api-2025-04-14", "anthropic-beta", "output-128k-2025-02-19,token-efficient-tools-2025-02-19")
	want := []string{"files-api-2025-04-14", "output-128k-2025-02-19,token-efficient-tools-2025-02-19"}
	if sent := v.requests()[0].header["Anthropic-Beta"]; !slices.Equal(sent, want) {
		t.Errorf("anthropic-beta %q", sent)
	}
	r.turns(1)
	record, err := r.pins.Recall(t.Context(), engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: "dory-hour"})
	if err != nil || len(record.Models) != 1 {
		t.Fatalf("record %+v, %v", record, err)
	}
	if e := record.Models[0].Warm[0]; e.ExpiresAt.Sub(e.AcceptedAt) != 3585*time.Second {
		t.Errorf("the pin lives %v", e.ExpiresAt.Sub(e.AcceptedAt))
	}
}

func TestEventLinesAreSuppliedAndDoneIsNot(t *testing.T) {
	r := newRig(t, nil, stop{name: "reef", api: "messages", serve: &script{text: input(t, "responses/messages-no-event-lines.sse")}, price: reefPrice})
	got := r.post("messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
	for name, count := range map[string]int{
		"message_start": 1, "content_block_start": 1, "content_block_delta": 3, "content_block_stop": 1, "message_delta": 1, "message_stop": 1,
	} {
		if n := strings.Count(got.body, "event: "+name+"\n"); n != count {
			t.Errorf("%d event lines for %s, want %d", n, name, count)
		}
	}
	if strings.Contains(got.body, "[DONE]") || got.err != nil {
		t.Errorf("client got %q %v", got.body, got.err)
	}
	a := r.last(1)
	if a.Usage != (pricing.Usage{Input: 21, CacheRead: 1536, Output: 17}) {
		t.Errorf("usage %+v", a.Usage)
	}
	money(t, a, "0.000778800")
}

// A vendor that repeats a rejected key, and a client whose headers hold keys.
func TestNoKeyIsLoggedOrRepeated(t *testing.T) {
	body := `{"error":{"message":"Wrong key: ` + vendorKey + `.","type":"invalid_request_error","code":"invalid_api_key"}}`
	for _, c := range []struct {
		name   string
		vendor *script
		status int
	}{
		{"accepted", &script{text: jsonAnswer}, 200},
		{"rejected", &script{status: 401, text: body, contentType: "application/json"}, 502},
		{"repeated in another refusal", &script{status: 400, text: body, contentType: "application/json"}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, stop{name: "pier", serve: c.vendor})
			got := r.send("/v1/chat/completions?key=QUERYCANARY", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"PROMPTCANARY"}]}`),
				"Authorization", "Bearer yard_CANARY_1", "x-api-key", "yard_CANARY_2", "Cookie", "berth=CANARY_3")
			if got.status != c.status {
				t.Errorf("%d %s", got.status, got.body)
			}
			sent := c.vendor.requests()[0].header
			for name, values := range sent {
				if name != "Authorization" && strings.Contains(strings.Join(values, " "), "CANARY") {
					t.Errorf("the vendor got %s: %q", name, values)
				}
			}
			if sent.Get("Authorization") != "Bearer "+vendorKey {
				t.Errorf("the vendor got %q", sent.Get("Authorization"))
			}
			turns := r.turns(1)
			kept := ""
			if reply := turns[0].Attempts[0].Reply; reply != nil {
				kept = string(reply.Body)
			}
			for where, text := range map[string]string{
				"log": r.log.String(), "ledger": fmt.Sprintf("%+v %+v", turns[0].Session, turns[0].Attempts[0].Cause), "reply": kept,
				"answer": got.body, "header": fmt.Sprint(got.header),
			} {
				if strings.Contains(text, "CANARY") {
					t.Errorf("%s: %s", where, text)
				}
			}
		})
	}
}

// A responses stream that ends in a failure the vendor itself reports is whole:
// the client reads what went wrong in its last event, not a broken connection.
func TestAResponseThatEndsUnwellIsPassedOnWhole(t *testing.T) {
	for _, c := range []struct {
		file    string
		stage   engine.Stage
		failure engine.Failure
	}{
		{"responses/responses-failed.sse", engine.StageBroken, engine.FailureStream},
		{"responses/responses-incomplete.sse", engine.StageServed, engine.FailureNone},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := input(t, c.file)
			second := &script{text: text}
			r := newRig(t, nil, stop{name: "pier", api: "responses", serve: &script{text: text}}, stop{name: "quay", api: "responses", serve: second})
			got := r.post("responses", `{"model":"m","stream":true,"input":"x"}`)
			if got.body != text || got.err != nil || len(second.requests()) > 0 {
				t.Errorf("client got %q %v", got.body, got.err)
			}
			if a := r.last(1); a.Stage != c.stage || a.Failure != c.failure {
				t.Errorf("attempt %q %q %q", a.Stage, a.Failure, a.Cause)
			}
		})
	}
}
