package routes_test

import (
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Further prices that the figures below are made of.
const (
	gullPrice  = "{input: 5, output: 30, cache_read: 0.50, cache_write: 6.25}" // paid writes, inside the prompt
	wrenPrice  = "{input: 0.28, output: 0.42, cache_read: 0.028}"
	tieredPier = "{input: 2.50, output: 10, cache_read: 0.25, service_tiers: {flex: {input: 1.25, output: 5, cache_read: 0.125}, priority: {input: 5, output: 20, cache_read: 0.50}}}"
)

// chatUsed and responseUsed are whole answers that used this.
func chatUsed(usage, more string) string {
	return `{"id":"tally-up","object":"chat.completion","created":1790000020,"model":"barge-7"` + more +
		`,"choices":[{"index":0,"message":{"role":"assistant","content":"Aye."},"finish_reason":"stop"}],"usage":` + usage + `}`
}

func responseUsed(usage string) string {
	return `{"id":"resp_tally","object":"response","status":"completed","model":"barge-7","output":[],"usage":` + usage + `}`
}

// What an answer used is in the books in buckets that do not overlap, at the prices of
// the catalog: from the vendor's bytes to the row.
func TestWhatAnAnswerCosts(t *testing.T) {
	const writes = `{"prompt_tokens":2764,"completion_tokens":100,"total_tokens":2864,"prompt_tokens_details":{"cached_tokens":2048,"cache_write_tokens":512}}`
	const even = `{"prompt_tokens":1000,"completion_tokens":1000,"total_tokens":2000}`
	thousand := pricing.Usage{Input: 1000, Output: 1000}
	for _, c := range []struct {
		name, api, price, counts string // counts: the vendor's convention
		answer, asks             string // asks: further members of the request
		want                     pricing.Usage
		cost                     string
		quality                  pricing.Quality // empty: authoritative
		flagged, assumed         bool
	}{
		{name: "writes for an hour at their own price", api: "messages", price: reefPrice, answer: input(t, "responses/messages-split-writes.json"),
			want: pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, cost: "0.042849"},
		{name: "without a price for an hour, at the input price and flagged", api: "messages", price: "{input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}",
			answer: input(t, "responses/messages-split-writes.json"), flagged: true,
			want: pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, cost: "0.024849"},
		{name: "without a price for reads, at the input price and flagged", price: "{input: 0.90, output: 0.90}", flagged: true,
			answer: chatUsed(`{"prompt_tokens":10000,"completion_tokens":500,"total_tokens":10500,"prompt_tokens_details":{"cached_tokens":8000}}`, ""),
			want:   pricing.Usage{Input: 2000, CacheRead: 8000, Output: 500}, cost: "0.00945"},
		{name: "reads that are free", price: "{input: 0.50, output: 1.50, cache_read: 0}",
			answer: chatUsed(`{"prompt_tokens":10000,"completion_tokens":500,"total_tokens":10500,"prompt_tokens_details":{"cached_tokens":8000}}`, ""),
			want:   pricing.Usage{Input: 2000, CacheRead: 8000, Output: 500}, cost: "0.00175"},
		{name: "paid writes of a response", api: "responses", price: gullPrice,
			answer: responseUsed(`{"input_tokens":7204,"output_tokens":64,"total_tokens":7268,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":7200},"output_tokens_details":{"reasoning_tokens":0}}`),
			want:   pricing.Usage{Input: 4, CacheWrite5m: 7200, Output: 64}, cost: "0.04694"},
		{name: "paid writes beside reads", price: gullPrice, answer: chatUsed(writes, ""),
			want: pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, cost: "0.008244"},
		{name: "writes that are reported and have no price", price: pierPrice, answer: chatUsed(writes, ""), flagged: true,
			want: pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, cost: "0.003302"},
		{name: "a response cut at its limit", api: "responses", price: pierPrice, answer: input(t, "responses/responses-incomplete.sse"), asks: `,"stream":true`,
			want: pricing.Usage{Input: 440, CacheRead: 2560, Output: 4096, Reasoning: 1024}, cost: "0.0427"},
		{name: "running totals in every chunk", price: pierPrice, answer: input(t, "responses/chat-running-totals.sse"), asks: `,"stream":true`,
			want: pricing.Usage{Input: 500, Output: 30}, cost: "0.00155"},
		{name: "reasoning is in the output", price: pierPrice, answer: input(t, "responses/chat-reasoning.json"),
			want: pricing.Usage{Input: 810, Output: 1400, Reasoning: 1152}, cost: "0.016025"},
		{name: "hits and misses", price: wrenPrice, counts: "deepseek",
			answer: chatUsed(`{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"completion_tokens":90,"total_tokens":1290}`, ""),
			want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, cost: "0.000115752"},
		{name: "hits in two shapes at once", price: wrenPrice, counts: "deepseek",
			answer: chatUsed(`{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"prompt_tokens_details":{"cached_tokens":1024},"completion_tokens":90,"total_tokens":1290}`, ""),
			want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, cost: "0.000115752"},
		{name: "reads at the top", price: wrenPrice, counts: "moonshot",
			answer: chatUsed(`{"prompt_tokens":1200,"cached_tokens":1024,"completion_tokens":90,"total_tokens":1290}`, ""),
			want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, cost: "0.000115752"},
		{name: "priority asked for, the ordinary tier served", price: tieredPier, asks: `,"service_tier":"priority"`,
			answer: chatUsed(even, `,"service_tier":"default"`), want: thousand, cost: "0.0125"},
		{name: "flex asked for and served", price: tieredPier, asks: `,"service_tier":"flex"`,
			answer: chatUsed(even, `,"service_tier":"flex"`), want: thousand, cost: "0.00625"},
		{name: "priority served to who left it open", price: tieredPier, asks: `,"service_tier":"auto"`,
			answer: chatUsed(even, `,"service_tier":"priority"`), want: thousand, cost: "0.025"},
		{name: "flex asked for, no tier named", price: tieredPier, asks: `,"service_tier":"flex"`,
			answer: chatUsed(even, ""), want: thousand, cost: "0.00625", assumed: true},
		{name: "counters at the end alone", api: "messages", price: reefPrice, answer: input(t, "responses/messages-late-counters.sse"), asks: `,"stream":true`,
			want: pricing.Usage{Input: 40, CacheRead: 3600, Output: 88}, cost: "0.00252"},
		{name: "zeros at the end", api: "messages", price: reefPrice, answer: input(t, "responses/messages-zeros-at-end.sse"), asks: `,"stream":true`,
			want: pricing.Usage{Input: 40, CacheRead: 3600, Output: 88}, cost: "0.00252"},
		{name: "more cached than there was prompt", price: pierPrice, answer: input(t, "responses/chat-cached-above-prompt.json"),
			want: pricing.Usage{CacheRead: 1000, Output: 10}, cost: "0.00035", quality: pricing.Derived},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.quality == "" {
				c.quality = pricing.Authoritative
			}
			if c.api == "" {
				c.api = "chat"
			}
			extra := ""
			if c.counts != "" {
				extra = "    usage: " + c.counts
			}
			second := &script{text: c.answer}
			r := newRig(t, nil, stop{name: "pier", api: c.api, price: c.price, extra: extra, serve: &script{text: c.answer}},
				stop{name: "spare", api: c.api, price: c.price, serve: second})
			body := map[string]string{"chat": `{"model":"m","messages":[{"role":"user","content":"x"}]`, "responses": `{"model":"m","input":"x"`,
				"messages": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]`}[c.api] + c.asks + "}"
			if got := r.post(c.api, body); got.status != 200 || got.err != nil || c.asks != `,"stream":true` && got.body != c.answer {
				t.Errorf("the client got %d %v %q", got.status, got.err, got.body)
			}
			a := r.booked(1)
			if a.Stage != engine.StageServed || a.Usage != c.want || a.Quality != c.quality || a.TierAssumed != c.assumed || len(a.RawUsage) == 0 {
				t.Errorf("%q, %+v %q, assumed %t, kept %s", a.Stage, a.Usage, a.Quality, a.TierAssumed, a.RawUsage)
			}
			if !a.Cost.Known || !a.Cost.Total.Equal(decimalOf(t, c.cost)) || a.Cost.NoCachePrice != c.flagged {
				t.Errorf("cost %s (known %t), flagged %t, want %s", a.Cost.Total, a.Cost.Known, a.Cost.NoCachePrice, c.cost)
			}
			if n := len(second.requests()); n != 0 {
				t.Errorf("%d requests went on to the next vendor", n)
			}
		})
	}
}

// The price is that of the model that served, and of each model that was tried first;
// the row has both names, and the pin stays with the model that was asked for.
func TestAnotherModelThatServedHasItsOwnPrice(t *testing.T) {
	for _, c := range []struct{ name, answer, asks, cost, priced string }{
		{"it answered alone", input(t, "responses/messages-other-model.sse"), `,"stream":true`, "0.011", "clipper"},
		{"after another had tried", `{"id":"took_over","type":"message","role":"assistant","model":"clipper1","content":[],"stop_reason":"end_turn","usage":{"input_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":12000,"output_tokens":400,` +
			`"iterations":[{"model":"ketch-2","input_tokens":50,"cache_read_input_tokens":12000,"cache_creation_input_tokens":0,"output_tokens":30},{"model":"clipper1","input_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":12000,"output_tokens":400}]}}`,
			"", "0.09925", "clipper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, stop{name: "reef", api: "messages", price: reefPrice, serve: &script{text: c.answer}})
			text := `{version: 1, vendors: {reef: {api: [messages], base_url: "` + r.catalog.Vendors[0].BaseURL.String() + `", allow_private: true, cache: {family: explicit, ttl: 5m}}}, models: {` +
				`ketch: {routes: [{vendor: reef, model: ketch-2, price: {input: 10, output: 50, cache_read: 1, cache_write: 12.50, cache_write_1h: 20}}]}, ` +
				`clipper: {routes: [{vendor: reef, model: clipper1, price: {input: 5, output: 25, cache_read: 0.50, cache_write: 6.25, cache_write_1h: 10}}]}}}`
			both, err := catalog.Parse("both.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r.gateway.Catalog = func() *catalog.Catalog { return both }
			r.post("messages", `{"model":"ketch","max_tokens":9,"messages":[{"role":"user","content":"x"}]`+c.asks+`}`, "x-session-id", "took-over")
			r.turns(1)
			if record, err := r.pins.Recall(t.Context(), engine.PinKey{Tenant: "default", Class: engine.ClassExplicit, ID: "took-over"}); err != nil || len(record.Models) != 1 || record.Models[0].Model != "ketch" {
				t.Errorf("pinned %+v, %v", record, err)
			}
			a := r.booked(1)
			if a.Model != "ketch" || a.ServedModel != "clipper1" || a.Priced != c.priced || !a.Cost.Known || !a.Cost.Total.Equal(decimalOf(t, c.cost)) {
				t.Errorf("model %q, served %q, priced %q, cost %s", a.Model, a.ServedModel, a.Priced, a.Cost.Total)
			}
		})
	}
}

// A vendor that bills for an answer nobody can use, and the one that served.
func TestAnAnswerThatWasOfNoUseIsACostOfItsOwn(t *testing.T) {
	useless := `{"error":{"type":"server_error","message":"lost the thread"},"usage":{"prompt_tokens":900,"completion_tokens":12,"total_tokens":912}}`
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: useless}},
		stop{name: "reef", price: reefPrice, serve: &script{text: chatUsed(`{"prompt_tokens":920,"completion_tokens":80,"total_tokens":1000}`, "")}})
	if got := r.post("chat", `{"model":"m","messages":[{"role":"user","content":"x"}]}`); got.status != 200 || !strings.Contains(got.body, "Aye.") {
		t.Fatalf("the client got %d %s", got.status, got.body)
	}
	turn := engine.Book(r.turns(1)[0])
	sums := engine.Sum(turn)
	if len(turn.Attempts) != 2 || turn.Attempts[0].Cost.Total.String() != "0.00237" || turn.Attempts[1].Cost.Total.String() != "0.00396" ||
		sums.Cost.String() != "0.00633" || sums.Billed != 2 || sums.CostKnown != 2 {
		t.Errorf("%+v\n%+v", turn.Attempts, sums)
	}
}
