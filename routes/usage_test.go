package routes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// Whatever a vendor's way to count, the books have what the vendor has counted, in
// streams and whole answers, whether or not the client asked for usage.
func TestEveryConventionIsBookedAsItWasCounted(t *testing.T) {
	prompt := strings.Repeat("the keeper lights the lamp at dusk. ", 400)
	whole := `{"model":"m","messages":[{"role":"system","content":"` + prompt + `"},{"role":"user","content":"hi"}]}`
	stream := strings.TrimSuffix(whole, "}") + `,"stream":true}`
	asked := strings.TrimSuffix(stream, "}") + `,"stream_options":{"include_usage":true}}`
	for _, c := range []struct {
		name      string
		noRead    bool // it never says what it read
		reasoning bool
	}{
		{name: "openai"}, {name: "deepseek"}, {name: "moonshot"}, {name: "mistral"}, {name: "zai"}, {name: "groq"}, {name: "openrouter"}, {name: "alibaba"},
		{name: "perplexity", noRead: true}, {name: "gemini", noRead: true}, {name: "xai", reasoning: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := vendorsim.New(vendorsim.Config{Name: "pier", Usage: c.name, Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: time.Hour, MinPrefix: 256, Block: 64}})
			r := newRig(t, nil, stop{name: "pier", serve: sim, extra: "    usage: " + c.name})
			for i, body := range []string{whole, whole, stream, asked} {
				got := r.post("chat", body)
				if got.status != 200 || got.err != nil {
					t.Fatalf("status %d, %v: %s", got.status, got.err, got.body)
				}
				if body == stream && strings.Contains(got.body, `"usage":{"prompt_tokens"`) && !strings.Contains(got.body, "x_groq") {
					t.Errorf("usage nobody asked for: %s", got.body)
				}
				if body == asked && !strings.Contains(got.body, `"usage":{"prompt_tokens"`) {
					t.Errorf("usage that was asked for is not there: %s", got.body)
				}
				a, seen := r.last(int64(i+1)), sim.Log()[i]
				read := seen.Read
				if c.noRead {
					read = 0
				}
				u := a.Usage
				if u.Prompt() != seen.Prompt || u.CacheRead != read || u.Output == 0 || !a.Quality.Complete() || a.Stage != engine.StageServed {
					t.Errorf("turn %d: %+v %q, the vendor counted %d, %d of them read", i, u, a.Quality, seen.Prompt, seen.Read)
				}
				if (u.Reasoning > 0) != c.reasoning || len(a.RawUsage) == 0 {
					t.Errorf("turn %d: reasoning %d, kept %s", i, u.Reasoning, a.RawUsage)
				}
				if i == 1 && !c.noRead && u.CacheRead == 0 {
					t.Error("nothing was read from a warm cache")
				}
			}
			// Equal prompts have equal answers: streams come to what whole answers come to.
			turns := r.turns(4)
			for _, turn := range turns[1:] {
				a, _ := turn.Last()
				first, _ := turns[1].Last()
				if a.Usage != first.Usage {
					t.Errorf("%+v and %+v", a.Usage, first.Usage)
				}
			}
		})
	}
}

// What a vendor says of a turn besides its tokens is with the attempt.
func TestWhatAVendorSaysOfItsUsageIsKept(t *testing.T) {
	const usage = `{"input_tokens":40,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"service_tier":"standard","speed":"fast","inference_geo":"us","iterations":[{"type":"compaction","input_tokens":700,"output_tokens":80},{"type":"message","input_tokens":40,"output_tokens":5}]}`
	text := `{"id":"w","type":"message","role":"assistant","model":"schooner-1","content":[],"stop_reason":"end_turn","usage":` + usage + `}`
	r := newRig(t, nil, stop{name: "reef", api: "messages", price: reefPrice, serve: &script{text: text}})
	r.post("messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`)
	a := r.last(1)
	if a.ServedTier != "standard" || a.Speed != "fast" || a.Region != "us" || a.ReadUnknown || string(a.RawUsage) != usage {
		t.Errorf("%q %q %q %v %s", a.ServedTier, a.Speed, a.Region, a.ReadUnknown, a.RawUsage)
	}
	if len(a.Sides) != 1 || a.Sides[0].Kind != "compaction" || a.Sides[0].Usage != (pricing.Usage{Input: 700, Output: 80}) {
		t.Errorf("%+v", a.Sides)
	}

	r = newRig(t, nil, stop{name: "pier", extra: "    usage: openrouter", serve: &script{text: `{"id":"c","object":"chat.completion","model":"barge-7","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":5,"total_tokens":45,"cost":0.00015}}`}})
	r.post("chat", `{"model":"m","messages":[]}`)
	if a := r.last(1); !a.Charged.Known || a.Charged.Amount.String() != "0.00015" || !a.ReadUnknown {
		t.Errorf("charged %+v, read unknown %v", a.Charged, a.ReadUnknown)
	}
}

// A vendor whose usage object repeats the key it was called with is not quoted.
func TestAUsageObjectThatHoldsTheKeyIsNotKept(t *testing.T) {
	text := fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"barge-7","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":5,"account":%q}}`, vendorKey)
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: text}})
	r.post("chat", `{"model":"m","messages":[]}`)
	if a := r.last(1); a.Usage.Input != 40 || a.RawUsage != nil {
		t.Errorf("kept %s", a.RawUsage)
	}
}

// An error in an accepted answer that says what it used is billed for it.
func TestAFailedResponseIsBilled(t *testing.T) {
	text := `{"id":"resp_1","object":"response","model":"barge-7","status":"failed","error":{"code":"server_error","message":"x"},"output":[],"usage":{"input_tokens":900,"output_tokens":20,"total_tokens":920}}`
	r := newRig(t, nil, stop{name: "pier", api: "responses", serve: &script{text: text}})
	r.post("responses", `{"model":"m","input":"hi"}`)
	if a := r.last(1); a.Stage != engine.StageBroken || a.Usage.Input != 900 || a.Quality != pricing.Authoritative || !a.Cost.Known {
		t.Errorf("%q %+v %q, cost known %v", a.Stage, a.Usage, a.Quality, a.Cost.Known)
	}
}
