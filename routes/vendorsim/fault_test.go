package vendorsim

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// asks are one small request per dialect, as a stream and not.
var asks = map[catalog.API]struct{ path, body string }{
	catalog.Chat:      {chatPath, `{"model":"m","messages":[{"role":"user","content":"Is the tide in?"}]}`},
	catalog.Responses: {responsesPath, `{"model":"m","input":"Is the tide in?"}`},
	catalog.Messages:  {messagesPath, `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Is the tide in?"}]}`},
}

// queue scripts one fault and requires that it is accepted.
func (b *bench) queue(f Fault) {
	b.t.Helper()
	if err := b.Queue(f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) ask(api catalog.API, stream bool) reply {
	b.t.Helper()
	a := asks[api]
	if stream {
		return b.post(a.path, "k1", with(a.body, `"stream":true`))
	}
	return b.post(a.path, "k1", a.body)
}

// ends is how a complete stream of each dialect ends.
var ends = map[catalog.API]string{
	catalog.Chat:      "data: [DONE]\n\n",
	catalog.Responses: "event: response.completed\n",
	catalog.Messages:  "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
}

func TestRefusalWithStatusAndRetryAfter(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		b.queue(Fault{Times: 2, Status: 503, RetryAfter: "2"})
		for range 2 {
			r := b.ask(api, true)
			if r.status != 503 || r.header.Get("Retry-After") != "2" || !bytes.Contains(r.body, []byte(`"error":{`)) {
				t.Errorf("%s: status %d, retry-after %q, body %s", api, r.status, r.header.Get("Retry-After"), r.body)
			}
		}
		if r := b.ask(api, true); r.status != 200 {
			t.Errorf("%s: status %d after the fault was used up", api, r.status)
		}
	}
}

func TestErrorTypesAreThoseOfTheStatus(t *testing.T) {
	b := start(t, Config{})
	for status, kind := range map[int]string{401: "authentication_error", 402: "billing_error", 403: "permission_error",
		429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"} {
		b.queue(Fault{Status: status})
		r := b.ask(catalog.Messages, false)
		if want := `{"type":"error","error":{"type":"` + kind + `"`; r.status != status || !strings.HasPrefix(string(r.body), want) {
			t.Errorf("%d: status %d, body %s", status, r.status, r.body)
		}
	}
}

func TestStreamCutInTheMiddle(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		for _, cut := range []string{"", CutAbort, CutReset, CutClean} {
			b.queue(Fault{CutAfterEvents: After(3), Cut: cut})
			r := b.ask(api, true)
			clean := cut == CutClean
			if r.status != 200 && cut != CutReset {
				t.Errorf("%s cut %q: status %d", api, cut, r.status)
			}
			if clean != (r.err == nil) {
				t.Errorf("%s cut %q: reading ended with %v", api, cut, r.err)
			}
			if bytes.Contains(r.body, []byte(ends[api])) {
				t.Errorf("%s cut %q: the end arrived all the same", api, cut)
			}
			if got := bytes.Count(r.body, []byte("\n\n")); got != 3 && cut != CutReset {
				t.Errorf("%s cut %q: %d events, want 3", api, cut, got)
			}
		}
	}
}

func TestResetConnectionIsReset(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{CutAfterEvents: After(0), Cut: CutReset})
	if r := b.ask(catalog.Chat, true); !errors.Is(r.err, syscall.ECONNRESET) && !errors.Is(r.err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want a reset connection", r.err)
	}
}

func TestJSONAnswerCutInTheMiddle(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		whole := b.ask(api, false)
		b.queue(Fault{CutAfterEvents: After(0)})
		r := b.ask(api, false)
		if !errors.Is(r.err, io.ErrUnexpectedEOF) || len(r.body) == 0 || len(r.body) >= len(whole.body) {
			t.Errorf("%s: %d of %d bytes, error %v", api, len(r.body), len(whole.body), r.err)
		}
	}
}

func TestErrorEventAfterContent(t *testing.T) {
	b := start(t, Config{})
	want := map[catalog.API]string{
		catalog.Chat:      `data: {"error":{"message":"tide","type":"server_error","param":null,"code":null}}`,
		catalog.Responses: "event: error\n" + `data: {"type":"error","sequence_number":5,"code":"server_error","message":"tide","param":null}`,
		catalog.Messages:  "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"tide"}}`,
	}
	for _, api := range allAPIs {
		b.queue(Fault{ErrorEventAfter: After(5), Message: "tide"})
		r := b.ask(api, true)
		if r.err != nil || !bytes.HasSuffix(r.body, []byte(want[api]+"\n\n")) || bytes.Count(r.body, []byte("\n\n")) != 6 {
			t.Errorf("%s: error %v, body %s", api, r.err, r.body)
		}
	}
	b.queue(Fault{ErrorEventAfter: After(2), ErrorType: "response.failed"})
	if r := b.ask(catalog.Responses, true); !bytes.Contains(r.body, []byte("event: response.failed\n")) {
		t.Errorf("no response.failed in %s", r.body)
	}
}

func TestErrorEventBeforeContent(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		for _, stream := range []bool{true, false} {
			b.queue(Fault{ErrorEventFirst: true})
			r := b.ask(api, stream)
			if r.status != 200 || !bytes.Contains(r.body, []byte("overloaded")) || bytes.Contains(r.body, []byte("This is")) {
				t.Errorf("%s stream %v: status %d, body %s", api, stream, r.status, r.body)
			}
		}
	}
}

func TestHangEndsWhenTheClientLeaves(t *testing.T) {
	b := start(t, Config{})
	for _, f := range []Fault{{Hang: true}, {HangAfterEvents: After(2)}} {
		b.ResetLog()
		b.queue(f)
		ctx, leave := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { b.do(b.request(ctx, chatPath, "k1", with(asks[catalog.Chat].body, `"stream":true`))) })
		events := 0
		if f.HangAfterEvents != nil {
			events = *f.HangAfterEvents
		}
		if _, err := b.Await(ctx, func(log []Seen) bool { return len(log) == 1 && log[0].Fault != nil && log[0].Events == events }); err != nil {
			t.Fatal(err)
		}
		leave()
		wait.Wait()
		log, err := b.Await(t.Context(), func(log []Seen) bool { return log[0].Done })
		if err != nil || !log[0].ClientGone {
			t.Errorf("%+v: client gone %v, error %v", f, log[0].ClientGone, err)
		}
	}
}

func TestHangEndsAtAReset(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{Hang: true})
	var wait sync.WaitGroup
	wait.Go(func() {
		if r := b.ask(catalog.Chat, false); r.err == nil {
			t.Errorf("status %d after a reset, want a broken connection", r.status)
		}
	})
	if _, err := b.Await(t.Context(), func(log []Seen) bool { return len(log) == 1 && log[0].Fault != nil }); err != nil {
		t.Fatal(err)
	}
	// The handler may be between taking the fault and waiting: reset until it is done.
	for done := false; !done; {
		b.ResetFaults()
		log := b.Log()
		done = log[0].Done
	}
	wait.Wait()
}

func TestDelayComesBeforeTheAnswer(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{DelayMS: 30})
	began := time.Now()
	if r := b.ask(catalog.Chat, false); r.status != 200 || time.Since(began) < 30*time.Millisecond {
		t.Errorf("status %d after %v", r.status, time.Since(began))
	}
}

func TestEventsArePaced(t *testing.T) {
	b := start(t, Config{EventGap: 3 * time.Millisecond})
	began := time.Now()
	_, data := b.ask(catalog.Chat, true).events(t)
	if least := time.Duration(len(data)-1) * 3 * time.Millisecond; time.Since(began) < least {
		t.Errorf("%d events in %v, want at least %v", len(data), time.Since(began), least)
	}
}

func TestGzipAlthoughNotAsked(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		for _, stream := range []bool{true, false} {
			b.queue(Fault{Gzip: true})
			r := b.ask(api, stream)
			zip, err := gzip.NewReader(bytes.NewReader(r.body))
			if err != nil || r.header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("%s stream %v: %v", api, stream, err)
			}
			text, err := io.ReadAll(zip)
			if err != nil || !bytes.Contains(text, []byte("usage")) && api != catalog.Chat {
				t.Errorf("%s stream %v: %v in %s", api, stream, err, text)
			}
			if stream && !bytes.Contains(text, []byte(ends[api])) {
				t.Errorf("%s: the end is missing in %s", api, text)
			}
		}
	}
}

func TestRedirect(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{Redirect: "http://elsewhere.invalid/v1"})
	if r := b.ask(catalog.Chat, false); r.status != 307 || r.header.Get("Location") != "http://elsewhere.invalid/v1" {
		t.Errorf("status %d, location %q", r.status, r.header.Get("Location"))
	}
}

func TestNoUsage(t *testing.T) {
	b := start(t, Config{})
	for _, api := range allAPIs {
		for _, stream := range []bool{true, false} {
			b.queue(Fault{NoUsage: true})
			r := b.ask(api, stream)
			if bytes.Contains(r.body, []byte("_tokens\":")) && api != catalog.Responses || bytes.Contains(r.body, []byte(`"total_tokens"`)) {
				t.Errorf("%s stream %v: usage in %s", api, stream, r.body)
			}
		}
	}
}

func TestNoEventLinesAndDoneTooMany(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{NoEventLines: true, ExtraDone: true})
	r := b.ask(catalog.Messages, true)
	if bytes.Contains(r.body, []byte("event:")) || !bytes.HasSuffix(r.body, []byte("data: {\"type\":\"message_stop\"}\n\ndata: [DONE]\n\n")) {
		t.Errorf("%s", r.body)
	}
}

func TestRawAnswers(t *testing.T) {
	wave := "data: {\"x\":\"浪が高い 🚢\"}\n\ndata: [DONE]\n\n"
	b := start(t, Config{Files: fstest.MapFS{"wave.sse": {Data: []byte(wave)}}})
	for name, f := range map[string]Fault{
		"body":   {RawBody: wave},
		"file":   {RawFile: "wave.sse"},
		"chunks": {Chunks: [][]byte{[]byte(wave[:16]), []byte(wave[16:17]), []byte(wave[17:])}},
	} {
		b.queue(f)
		r := b.ask(catalog.Chat, true)
		if r.err != nil || string(r.body) != wave || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s: %v, %q", name, r.err, r.body)
		}
	}
	b.queue(Fault{RawBody: wave, CutAfterEvents: After(1)})
	if r := b.ask(catalog.Chat, true); r.err == nil || string(r.body) != "data: {\"x\":\"浪が高い 🚢\"}\n\n" {
		t.Errorf("cut: %v, %q", r.err, r.body)
	}
	b.queue(Fault{RawBody: `{"no":"such"}`, ContentType: "application/json", Status: 418})
	if r := b.ask(catalog.Chat, false); r.status != 418 || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("status %d, type %q", r.status, r.header.Get("Content-Type"))
	}
}

func TestFaultsForOneModelOrForStreamsWaitForThem(t *testing.T) {
	b := start(t, Config{})
	yes := true
	b.queue(Fault{Status: 500, ForStream: &yes})
	b.queue(Fault{Status: 502, ForModel: "other"})
	if r := b.ask(catalog.Chat, false); r.status != 200 {
		t.Errorf("a JSON request got status %d", r.status)
	}
	if r := b.ask(catalog.Chat, true); r.status != 500 {
		t.Errorf("a stream got status %d, want 500", r.status)
	}
	if left := b.Faults(); len(left) != 1 || left[0].ForModel != "other" {
		t.Errorf("left: %+v", left)
	}
}

func TestNegativeTimesLastUntilReset(t *testing.T) {
	b := start(t, Config{})
	b.queue(Fault{Times: -1, Status: 500})
	for range 5 {
		if r := b.ask(catalog.Chat, false); r.status != 500 {
			t.Fatalf("status %d", r.status)
		}
	}
	b.Reset()
	if r := b.ask(catalog.Chat, false); r.status != 200 {
		t.Errorf("status %d after a reset", r.status)
	}
}

func TestFaultsThatMakeNoSenseAreRefused(t *testing.T) {
	v := New(Config{})
	for _, f := range []Fault{
		{Status: 99}, {Status: 600}, {Cut: "sideways"}, {CutAfterEvents: After(-1)},
		{RawBody: "a", Chunks: [][]byte{{1}}}, {RawFile: "any"},
	} {
		if err := v.Queue(Fault{}, f); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
	if n := len(v.Faults()); n != 0 {
		t.Errorf("%d faults queued beside one that was refused", n)
	}
}
