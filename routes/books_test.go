package routes_test

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// row says whether a booked attempt was served with this usage, at this cost.
func row(t *testing.T, a engine.BookedAttempt, usage pricing.Usage, cost string) {
	t.Helper()
	if a.Stage != engine.StageServed || a.Failure != engine.FailureNone || a.Usage != usage || a.Quality != pricing.Authoritative {
		t.Errorf("attempt %q %q, usage %+v %q, want %+v", a.Stage, a.Failure, a.Usage, a.Quality, usage)
	}
	if !a.Cost.Known || !a.Cost.Total.Equal(decimalOf(t, cost)) {
		t.Errorf("cost %v (known %v), want %s", a.Cost.Total, a.Cost.Known, cost)
	}
}

// The end of a messages stream says again what its start said of the prompt: the
// row is that of the same answer in one piece.
func TestAStreamIsBookedAsItsWholeForm(t *testing.T) {
	const whole = `{"id":"mill_hours_whole","type":"message","role":"assistant","model":"schooner-1","content":[{"type":"text","text":"The mill opens at six and shuts at four."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":18400,"output_tokens":205}}`
	book := func(t *testing.T, text string, stream bool) engine.BookedAttempt {
		r := newRig(t, nil, stop{name: "reef", api: "messages", price: reefPrice, serve: &script{text: text}})
		body := `{"model":"m","max_tokens":300,"messages":[{"role":"user","content":"When?"}]}`
		if stream {
			body = strings.Replace(body, `"messages"`, `"stream":true,"messages"`, 1)
		}
		if got := r.post("messages", body); got.body != text || got.err != nil {
			t.Errorf("client got %q %v", got.body, got.err)
		}
		a := r.booked(1)
		row(t, a, pricing.Usage{Input: 12, CacheRead: 18400, Output: 205}, "0.008631")
		return a
	}
	same := func(t *testing.T, streamed string) {
		a, b := book(t, streamed, true), book(t, whole, false)
		if !reflect.DeepEqual([]any{a.Usage, a.Quality, a.Cost, a.Saving}, []any{b.Usage, b.Quality, b.Cost, b.Saving}) {
			t.Errorf("streamed %+v\nwhole %+v", a, b)
		}
	}
	same(t, input(t, "responses/messages-running-totals.sse"))
	t.Run("shared", func(t *testing.T) { same(t, sharedCase(t, "case-01-anthropic-stream.sse")) })
}

// Cached tokens are inside the prompt at some vendors and beside it at others:
// the buckets do not overlap and make up the prompt.
func TestCachedTokensAreBookedOnce(t *testing.T) {
	book := func(t *testing.T, text string) {
		r := newRig(t, nil, stop{name: "pier", serve: &script{text: text}})
		if got := r.post("chat", bodies[false]); got.body != text {
			t.Errorf("client got %q", got.body)
		}
		a := r.booked(1)
		row(t, a, pricing.Usage{Input: 204, CacheRead: 4096, Output: 220}, "0.003734")
		if u := a.Usage; u.Input+u.CacheRead+u.CacheWrite5m+u.CacheWrite1h != 4300 || u.Prompt() != 4300 {
			t.Errorf("buckets %+v do not make up the prompt", u)
		}
	}
	book(t, input(t, "responses/chat-cached.json"))
	t.Run("shared", func(t *testing.T) { book(t, sharedCase(t, "case-05-openai-cached.json")) })
}

// A null says that nothing is known yet, not that it is zero.
func TestNullUsageAndEmptyChoicesPass(t *testing.T) {
	book := func(t *testing.T, text string) {
		r := newRig(t, nil, stop{name: "pier", serve: &script{text: text}})
		got := r.post("chat", `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`)
		if got.body != text || got.err != nil {
			t.Errorf("client got %q %v", got.body, got.err)
		}
		row(t, r.booked(1), pricing.Usage{Input: 33, Output: 5}, "0.0001325")
	}
	book(t, input(t, "responses/chat-null-usage.sse"))
	t.Run("shared", func(t *testing.T) { book(t, sharedCase(t, "case-36-null-usage-empty-choices.sse")) })
}

// The vendor's end and the client's leave meet in every order: one row, the same
// every time.
func TestEndAndLeaveTogetherAreBookedOnce(t *testing.T) {
	text := strings.TrimRight(input(t, "responses/chat-done-without-blank-line.sse"), "\n") + "\n"
	const rounds = 120
	together := make(chan chan struct{}, 1) // closed when the client leaves
	v := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		leaves := <-together
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
		if leaves != nil {
			select {
			case <-leaves:
			case <-r.Context().Done():
			}
		}
	}}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	for i := range rounds {
		var leaves chan struct{}
		if i%3 > 0 {
			leaves = make(chan struct{})
		}
		together <- leaves
		// Every second client leaves at the usage, before the end mark is there.
		leave(t, r, []string{"[DONE]", `"total_tokens"`}[i%2], func() {
			if leaves != nil && i%3 == 1 {
				close(leaves) // just before it leaves, else its leaving ends the vendor
			}
		})
		r.turns(int64(i) + 1)
	}
	r.settled()
	turns := r.ledger.Recorded()
	if count, _ := r.ledger.Count(); count != rounds || len(turns) != rounds {
		t.Fatalf("%d turns recorded, want %d", count, rounds)
	}
	ids := map[string]bool{}
	for i := range turns {
		b := engine.Book(turns[i])
		ids[b.ID] = true
		if len(b.Attempts) != 1 {
			t.Fatalf("turn %d: %d attempts", i, len(b.Attempts))
		}
		row(t, b.Attempts[0], pricing.Usage{Input: 75, Output: 11}, "0.0002975")
	}
	if len(ids) != rounds {
		t.Errorf("%d different turns, want %d", len(ids), rounds)
	}
}

// leave streams a turn until the client has seen a word, and goes.
func leave(t *testing.T, r *rig, word string, going func()) {
	t.Helper()
	request, _ := http.NewRequest(http.MethodPost, r.url+paths["chat"], strings.NewReader(`{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`))
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	buffer := make([]byte, 4096)
	for seen := ""; !strings.Contains(seen, word); {
		n, err := response.Body.Read(buffer)
		seen += string(buffer[:n])
		if err != nil && !strings.Contains(seen, word) {
			t.Fatalf("%v after %q", err, seen)
		}
	}
	going()
}

// The lifetime that a client asks for in prompt_cache_options, alone.
func TestTheLifetimeOfCacheOptionsHolds(t *testing.T) {
	for _, c := range []struct {
		vendor, options string
		want            time.Duration
	}{
		{"openai", `{"ttl":"30m"}`, 30*time.Minute - 15*time.Second},
		{"azure-eastus", `{"ttl":"30m"}`, 30*time.Minute - 15*time.Second},
		{"openai", `{"ttl":"24h"}`, time.Hour - 15*time.Second},
		{"openai", `{"mode":"explicit"}`, 10*time.Minute - 15*time.Second},
		{"pier", `{"ttl":"30m"}`, 10*time.Minute - 15*time.Second}, // does not honour it
	} {
		t.Run(c.vendor+c.options, func(t *testing.T) {
			r := newRig(t, nil, stop{name: c.vendor, api: "responses", serve: &script{text: `{"id":"r1","object":"response","usage":{"input_tokens":9,"output_tokens":1}}`}})
			body := `{"model":"m","input":"x","prompt_cache_options":` + c.options + `}`
			if got := r.post("responses", body, "x-session-id", "dory-nine"); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			r.turns(1)
			record, err := r.pins.Recall(t.Context(), engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: "dory-nine"})
			if err != nil || len(record.Models) != 1 {
				t.Fatalf("record %+v, %v", record, err)
			}
			if e := record.Models[0].Warm[0]; e.ExpiresAt.Sub(e.AcceptedAt) != c.want {
				t.Errorf("the pin lives %v, want %v", e.ExpiresAt.Sub(e.AcceptedAt), c.want)
			}
		})
	}
}
