package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// sample is one recorded usage object of the shared collection.
type sample struct {
	Vendor, API, Path string
	Stream            bool
	Usage             json.RawMessage
}

// samples reads the collection; the test is skipped, saying so, where it is not
// beside the project. The first sample is line 1.
func samples(t *testing.T) []sample {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "usage", "usage-samples.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the shared usage samples are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	all := []sample{{}}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// convention is the one that a catalog would name for the sample's vendor.
func (s *sample) convention() *catalog.Usage {
	name := map[string]string{"moonshotai": "moonshot", "togetherai": "together", "bedrock-mantle": "bedrock"}[s.Vendor]
	if name == "" {
		name = s.Vendor
	}
	api := catalog.API(s.API)
	if api != catalog.Chat && api != catalog.Responses && api != catalog.Messages {
		api = catalog.Native
	}
	return catalog.UsageConvention(name, api)
}

// Short names for the table.
const (
	sure    = pricing.Authoritative
	derived = pricing.Derived
	partly  = pricing.Partial
	none    = pricing.Missing
)

// What the recorded objects mean, read off them by hand: of each line the tokens
// neither read nor written, those read, written for five minutes and for an hour,
// the output and the reasoning in it.
var expected = []struct {
	line                                 int
	vendor, api                          string
	input, read, write5m, write1h        int64
	output, reasoning                    int64
	quality                              pricing.Quality
	readUnknown                          bool
	tier, charged                        string
	sideKind, sideModel                  string
	sideInput, sideRead, side5m, sideOut int64
}{
	{line: 1, vendor: "alibaba", api: "chat", input: 24, output: 1668, reasoning: 1353, quality: sure},
	{line: 2, vendor: "alibaba", api: "chat", input: 18, output: 1064, quality: sure},
	{line: 3, vendor: "alibaba", api: "chat", input: 24, output: 1355, reasoning: 1084, quality: sure},
	{line: 5, vendor: "anthropic", api: "messages", input: 6, read: 1069, write5m: 85, output: 110, quality: sure, tier: "standard"},
	{line: 6, vendor: "anthropic", api: "messages", input: 4, read: 8845, write5m: 6, output: 193, quality: sure, tier: "standard"},
	{line: 7, vendor: "anthropic", api: "messages", input: 6, read: 20443, write5m: 574, output: 489, reasoning: 77, quality: sure, tier: "standard"},
	{line: 8, vendor: "anthropic", api: "messages", input: 2, write5m: 1590, output: 4, quality: sure, tier: "standard"},
	{line: 9, vendor: "anthropic", api: "messages", input: 229, output: 5, quality: sure, tier: "standard",
		sideKind: "compaction", sideInput: 100, side5m: 55096, sideOut: 131},
	{line: 10, vendor: "anthropic", api: "messages", input: 32, output: 5, quality: sure, tier: "standard"},
	{line: 11, vendor: "anthropic", api: "messages", input: 781, output: 74, quality: sure, tier: "standard"},
	{line: 12, vendor: "anthropic", api: "messages", input: 2390, output: 121, reasoning: 28, quality: sure, tier: "standard",
		sideKind: "advisor_message", sideModel: "claude-opus-4-8", sideInput: 2518, sideOut: 22},
	{line: 13, vendor: "anthropic", api: "messages", input: 1311, output: 16, quality: sure, tier: "standard"},
	{line: 14, vendor: "anthropic", api: "messages", input: 220, output: 8, quality: sure, tier: "standard",
		sideKind: "compaction", sideInput: 55196, sideOut: 125},
	{line: 15, vendor: "anthropic", api: "messages", input: 2674, output: 373, quality: sure, tier: "standard"},
	{line: 16, vendor: "anthropic", api: "messages", input: 16083, output: 165, quality: sure, tier: "standard"},
	{line: 17, vendor: "anthropic", api: "messages", input: 2414, output: 3200, quality: sure, tier: "standard",
		sideKind: "advisor_message", sideModel: "claude-opus-4-7", sideInput: 2728, sideOut: 874},
	{line: 18, vendor: "anthropic", api: "messages", input: 10, output: 20, quality: sure, readUnknown: true},
	{line: 19, vendor: "anthropic", api: "messages", input: 682, output: 1320, quality: sure, tier: "standard",
		sideKind: "compaction", sideInput: 60385, sideOut: 592},
	{line: 20, vendor: "anthropic", api: "messages", input: 412, output: 264, quality: sure,
		sideKind: "message", sideModel: "claude-fable-5", sideInput: 408},
	{line: 21, vendor: "anthropic", api: "messages", input: 2, write5m: 3068, output: 69, quality: sure, tier: "standard"},
	{line: 22, vendor: "anthropic", api: "messages", input: 6, read: 6289, write5m: 3337, output: 198, quality: sure},
	{line: 23, vendor: "anthropic", api: "messages", input: 181, output: 8, quality: sure,
		sideKind: "compaction", sideInput: 100, sideRead: 55096, sideOut: 83},
	{line: 24, vendor: "anthropic", api: "messages", input: 1591, output: 175, quality: sure},
	{line: 26, vendor: "anthropic", api: "messages", input: 2411, output: 145, reasoning: 47, quality: sure,
		sideKind: "advisor_message", sideModel: "claude-opus-4-8", sideInput: 2543, sideOut: 18},
	{line: 29, vendor: "anthropic", api: "messages", input: 4727, output: 3391, quality: sure,
		sideKind: "advisor_message", sideModel: "claude-opus-4-7", sideInput: 2728, sideOut: 3880},
	{line: 31, vendor: "anthropic", api: "messages", input: 612, output: 2819, quality: sure,
		sideKind: "compaction", sideInput: 60385, sideOut: 522},
	{line: 33, vendor: "anthropic", api: "messages", input: 43, output: 1, quality: sure, readUnknown: true},
	{line: 35, vendor: "anthropic", api: "messages", quality: partly, readUnknown: true},
	{line: 36, vendor: "anthropic", api: "messages", output: 227, quality: partly, readUnknown: true},
	{line: 37, vendor: "azure", api: "chat", input: 14, output: 9, quality: sure},
	{line: 38, vendor: "azure", api: "chat", input: 19, output: 1969, quality: sure, readUnknown: true},
	{line: 39, vendor: "azure", api: "chat", input: 19, output: 1720, quality: sure, readUnknown: true},
	{line: 40, vendor: "azure", api: "responses", input: 1140, read: 2560, output: 741, reasoning: 640, quality: sure},
	{line: 41, vendor: "azure", api: "responses", input: 863, read: 1280, output: 919, reasoning: 576, quality: sure},
	{line: 42, vendor: "bedrock", api: "converse", input: 3, read: 1712, write5m: 236, output: 121, quality: sure},
	{line: 43, vendor: "bedrock", api: "converse", input: 433, read: 2752, output: 16, quality: sure},
	{line: 44, vendor: "bedrock", api: "converse", input: 25, output: 4, quality: sure, readUnknown: true},
	{line: 46, vendor: "bedrock", api: "converse", input: 397, output: 130, quality: sure},
	{line: 47, vendor: "bedrock", api: "converse", quality: none},
	{line: 49, vendor: "bedrock", api: "converse", input: 100, output: 20, quality: sure, readUnknown: true},
	{line: 51, vendor: "bedrock", api: "invoke", input: 3, read: 9511, write5m: 1956, output: 44, quality: sure},
	{line: 52, vendor: "bedrock", api: "invoke", input: 68, output: 508, quality: sure, tier: "standard"},
	{line: 53, vendor: "bedrock-mantle", api: "chat", input: 72, output: 56, quality: sure, readUnknown: true},
	{line: 54, vendor: "bedrock-mantle", api: "responses", input: 2, write5m: 86, output: 14, quality: sure},
	{line: 56, vendor: "bedrock-mantle", api: "responses", input: 115, write5m: 43, output: 32, reasoning: 10, quality: sure},
	{line: 57, vendor: "cerebras", api: "chat", input: 80, output: 45, reasoning: 34, quality: sure},
	{line: 60, vendor: "crusoe", api: "chat", input: 150, read: 64, output: 54, reasoning: 20, quality: sure},
	{line: 62, vendor: "deepseek", api: "chat", input: 51, read: 512, output: 116, reasoning: 60, quality: sure},
	{line: 63, vendor: "deepseek", api: "chat", input: 13, output: 300, quality: sure},
	{line: 64, vendor: "deepseek", api: "chat", input: 19, read: 320, output: 83, reasoning: 39, quality: sure},
	{line: 66, vendor: "deepseek", api: "responses", input: 110, read: 256, output: 63, reasoning: 18, quality: sure},
	{line: 68, vendor: "gemini", api: "chat", input: 35, output: 74, quality: derived},
	{line: 69, vendor: "gemini", api: "generateContent", input: 334, read: 17379, output: 889, reasoning: 821, quality: sure, tier: "standard"},
	{line: 70, vendor: "gemini", api: "generateContent", input: 169, read: 204, output: 256, reasoning: 167, quality: sure},
	{line: 71, vendor: "gemini", api: "generateContent", input: 115, read: 230, output: 37, quality: sure},
	{line: 72, vendor: "gemini", api: "generateContent", input: 265, read: 594, output: 28, quality: sure, tier: "standard"},
	{line: 73, vendor: "gemini", api: "generateContent", input: 154, output: 151, reasoning: 117, quality: sure, tier: "standard"},
	{line: 76, vendor: "gemini", api: "generateContent", input: 302, output: 194, quality: sure},
	{line: 79, vendor: "gemini", api: "generateContent", input: 534, output: 198, reasoning: 132, quality: sure, tier: "standard"},
	{line: 80, vendor: "gemini", api: "generateContent", input: 303, output: 297, reasoning: 257, quality: sure},
	{line: 81, vendor: "gemini", api: "generateContent", input: 15, output: 2, reasoning: 2, quality: derived, tier: "standard"},
	{line: 82, vendor: "gemini", api: "generateContent", input: 14, quality: derived},
	{line: 84, vendor: "gemini", api: "generateContent", quality: partly},
	{line: 85, vendor: "gemini", api: "generateContent", input: 510, output: 18, reasoning: 18, quality: derived},
	{line: 87, vendor: "gemini", api: "generateContent", input: 8, output: 439, reasoning: 419, quality: sure, tier: "standard"},
	{line: 89, vendor: "gemini", api: "generateContent", input: 1198, output: 569, reasoning: 447, quality: sure, tier: "standard"},
	{line: 91, vendor: "gemini", api: "generateContent", input: 785, output: 760, reasoning: 742, quality: sure},
	{line: 94, vendor: "gemini", api: "generateContent", input: 34, output: 68, reasoning: 68, quality: derived},
	{line: 96, vendor: "gemini", api: "generateContent", quality: none, tier: "PROVISIONED_THROUGHPUT"},
	{line: 97, vendor: "gemini", api: "generateContent", input: 249, output: 241, reasoning: 183, quality: sure, tier: "PROVISIONED_THROUGHPUT"},
	{line: 98, vendor: "gemini", api: "generateContent", input: 50, output: 50, quality: sure},
	{line: 99, vendor: "gemini", api: "interactions", input: 7, output: 51, reasoning: 32, quality: sure},
	{line: 100, vendor: "gemini", api: "interactions", input: 151, output: 1222, reasoning: 249, quality: sure},
	{line: 101, vendor: "gemini", api: "interactions", input: 7, output: 141, reasoning: 115, quality: sure},
	{line: 102, vendor: "gemini", api: "interactions", input: 220, output: 1763, reasoning: 1173, quality: sure},
	{line: 103, vendor: "groq", api: "chat", input: 80, read: 256, output: 96, reasoning: 59, quality: sure},
	{line: 104, vendor: "groq", api: "chat", input: 35, output: 25, quality: sure},
	{line: 108, vendor: "groq", api: "chat", input: 21, output: 988, quality: sure},
	{line: 110, vendor: "groq", api: "chat", input: 304, output: 49, reasoning: 23, quality: sure},
	{line: 113, vendor: "huggingface", api: "chat", input: 16, output: 216, quality: sure},
	{line: 114, vendor: "huggingface", api: "chat", input: 448, output: 38, quality: sure, readUnknown: true},
	{line: 118, vendor: "mistral", api: "chat", input: 44, read: 224, output: 5, quality: sure},
	{line: 119, vendor: "mistral", api: "chat", input: 32, read: 32, output: 6, quality: sure},
	{line: 121, vendor: "mistral", api: "chat", input: 13, output: 151, quality: sure, readUnknown: true},
	{line: 122, vendor: "mistral", api: "chat", input: 43, read: 128, output: 14, quality: sure},
	{line: 124, vendor: "moonshotai", api: "chat", input: 10, read: 10, output: 30, reasoning: 22, quality: sure},
	{line: 126, vendor: "moonshotai", api: "chat", input: 9, output: 12, reasoning: 7, quality: sure, readUnknown: true},
	{line: 128, vendor: "open-responses", api: "responses", input: 298, read: 891, output: 11, quality: sure},
	{line: 129, vendor: "open-responses", api: "responses", input: 1, read: 30, output: 282, quality: sure},
	{line: 130, vendor: "openai", api: "chat", input: 8, write5m: 4012, output: 4, quality: sure},
	{line: 134, vendor: "openai", api: "chat", input: 12, quality: derived, readUnknown: true},
	{line: 135, vendor: "openai", api: "chat", input: 364, output: 40, quality: sure},
	{line: 137, vendor: "openai", api: "other", quality: none},
	{line: 138, vendor: "openai", api: "responses", input: 9394, read: 3200, output: 1150, reasoning: 1088, quality: sure},
	{line: 139, vendor: "openai", api: "responses", input: 8, write5m: 4012, output: 5, quality: sure},
	{line: 140, vendor: "openai", api: "responses", input: 28799, read: 4352, output: 3367, reasoning: 2624, quality: sure},
	{line: 142, vendor: "openai-compatible", api: "chat", input: 10, read: 2, output: 322, reasoning: 320, quality: derived, charged: "0.00016415"},
	{line: 143, vendor: "openai-compatible", api: "chat", input: 1, read: 11, output: 342, reasoning: 340, quality: derived, charged: "0.000172125"},
	{line: 144, vendor: "openrouter", api: "chat", input: 1, read: 2569, write5m: 79, output: 100, quality: sure, charged: "0.00256995"},
	{line: 145, vendor: "openrouter", api: "chat", input: 5, read: 682, output: 240, reasoning: 165, quality: sure},
	{line: 146, vendor: "openrouter", api: "chat", input: 900, output: 69, quality: sure, charged: "0.0160614"},
	{line: 149, vendor: "openrouter", api: "chat", input: 326, output: 91, quality: sure, charged: "0"},
	{line: 155, vendor: "openrouter", api: "chat", input: 8, read: 679, output: 187, reasoning: 118, quality: sure, charged: "0.00333825"},
	{line: 161, vendor: "openrouter", api: "responses", input: 8, write5m: 4012, output: 5, quality: sure, charged: "0.025265"},
	{line: 162, vendor: "openrouter", api: "responses", input: 8, read: 4012, output: 5, quality: sure, charged: "0.002196"},
	{line: 163, vendor: "openrouter", api: "responses", input: 78, output: 37, reasoning: 22, quality: sure, charged: "0.0000113"},
	{line: 164, vendor: "perplexity", api: "chat", input: 10, output: 251, quality: sure, readUnknown: true},
	{line: 166, vendor: "togetherai", api: "chat", input: 2966, quality: sure, readUnknown: true},
	{line: 167, vendor: "vertex", api: "generateContent", quality: none, tier: "ON_DEMAND"},
	{line: 168, vendor: "vertex", api: "generateContent", input: 19, output: 33, reasoning: 27, quality: sure, tier: "ON_DEMAND"},
	{line: 170, vendor: "vertex", api: "generateContent", input: 5, output: 101, reasoning: 100, quality: sure, tier: "ON_DEMAND_FLEX"},
	{line: 171, vendor: "xai", api: "chat", input: 10, read: 2, output: 229, reasoning: 228, quality: sure, charged: "0.00011765"},
	{line: 172, vendor: "xai", api: "chat", input: 1, read: 11, output: 291, reasoning: 290, quality: sure, charged: "0.000146625"},
	{line: 173, vendor: "xai", api: "responses", input: 371, read: 1235, output: 292, reasoning: 190, quality: sure},
	{line: 174, vendor: "xai", api: "responses", input: 80, read: 20, output: 50, reasoning: 30, quality: sure, charged: "0.0000123456"},
	{line: 176, vendor: "xai", api: "responses", input: 24, read: 192, output: 863, reasoning: 237, quality: sure},
	{line: 177, vendor: "xai", api: "responses", input: 22651, read: 4585, output: 3077, reasoning: 1091, quality: sure},
	{line: 178, vendor: "zai", api: "chat", input: 431, read: 4, output: 73, reasoning: 56, quality: sure},
	{line: 179, vendor: "zai", api: "chat", input: 13, output: 564, reasoning: 561, quality: sure},
}

func TestSharedSamplesAreWhatAReaderMakesOfThem(t *testing.T) {
	all := samples(t)
	for _, want := range expected {
		t.Run(fmt.Sprintf("%d %s %s", want.line, want.vendor, want.api), func(t *testing.T) {
			s := all[want.line]
			if s.Vendor != want.vendor || s.API != want.api {
				t.Fatalf("the sample is of %s %s", s.Vendor, s.API)
			}
			r := Normalise(s.convention(), s.Usage)
			u := pricing.Usage{Input: want.input, CacheRead: want.read, CacheWrite5m: want.write5m, CacheWrite1h: want.write1h, Output: want.output, Reasoning: want.reasoning}
			if r.Usage != u || r.Quality != want.quality || r.ReadUnknown != want.readUnknown || r.Tier != want.tier {
				t.Errorf("%+v %q, read unknown %v, tier %q", r.Usage, r.Quality, r.ReadUnknown, r.Tier)
			}
			charged := ""
			if r.Charged.Known {
				charged = r.Charged.Amount.String()
			}
			if charged != want.charged {
				t.Errorf("charged %q, want %q", charged, want.charged)
			}
			var sides []engine.Side
			if want.sideKind != "" {
				sides = []engine.Side{{Kind: want.sideKind, Model: want.sideModel,
					Usage: pricing.Usage{Input: want.sideInput, CacheRead: want.sideRead, CacheWrite5m: want.side5m, Output: want.sideOut}}}
			}
			if !reflect.DeepEqual(r.Sides, sides) {
				t.Errorf("sides %+v, want %+v", r.Sides, sides)
			}
			if string(r.Raw) != string(s.Usage) {
				t.Errorf("kept %s", r.Raw)
			}
		})
	}
	if len(expected) < 60 {
		t.Errorf("only %d samples are judged", len(expected))
	}
}

// numbers are the numbers of a usage object by their paths.
func numbers(prefix string, v any, into map[string]int64) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			numbers(prefix+"."+k, v, into)
		}
	case float64:
		into[prefix[1:]] = int64(v)
	}
}

// Nothing is lost and nothing is counted twice: prompt and output are the vendor's
// own total, or where it states none the sum of what it does state.
func TestSharedSamplesAreConserved(t *testing.T) {
	checked := map[string]int{}
	all := samples(t)
	for line, s := range all[1:] {
		r := Normalise(s.convention(), s.Usage)
		var v any
		if err := json.Unmarshal(s.Usage, &v); err != nil {
			t.Fatal(err)
		}
		n := map[string]int64{}
		numbers("", v, n)
		total, law := n["total_tokens"]+n["totalTokens"]+n["totalTokenCount"], "total"
		if total == 0 {
			law = "sum"
			total = n["input_tokens"] + n["output_tokens"] + n["cache_read_input_tokens"] + n["cache_creation_input_tokens"]
		}
		if total == 0 {
			law = "nothing"
		}
		checked[law]++
		u := r.Usage
		stated := max(n["prompt_tokens_details.cached_tokens"], n["input_tokens_details.cached_tokens"], n["cache_read_input_tokens"], n["cacheReadInputTokens"],
			n["cachedContentTokenCount"], n["cached_tokens"], n["num_cached_tokens"])
		reasoned := max(n["completion_tokens_details.reasoning_tokens"], n["output_tokens_details.reasoning_tokens"], n["output_tokens_details.thinking_tokens"],
			n["thoughtsTokenCount"], n["total_thought_tokens"])
		switch {
		case r.Quality == pricing.Invalid:
			t.Errorf("line %d: invalid: %s", line+1, s.Usage)
		case r.Quality == pricing.Missing && law != "nothing":
			t.Errorf("line %d: nothing was read of %s", line+1, s.Usage)
		case r.Quality.Complete() && u.Prompt()+u.Output != total:
			t.Errorf("line %d: prompt %d and output %d are not the %s %d: %s", line+1, u.Prompt(), u.Output, law, total, s.Usage)
		case u.CacheRead != stated || u.Reasoning != reasoned:
			t.Errorf("line %d: read %d of %d, reasoning %d of %d", line+1, u.CacheRead, stated, u.Reasoning, reasoned)
		}
	}
	t.Logf("%d samples: %v", len(all)-1, checked)
	if len(all)-1 != 179 {
		t.Errorf("%d samples", len(all)-1)
	}
}

// Where a sample states what was billed, our cost at the list prices of that model
// is the same. Of OpenRouter's the upstream's bill is meant, and of that the tokens
// alone where a search was billed as well.
func TestSharedSamplesCostWhatWasBilled(t *testing.T) {
	all := samples(t)
	for _, c := range []struct {
		line                       int
		input, output, read, write string
		path                       string // of what was billed
		fee                        string // for a search
	}{
		{171, "0.30", "0.50", "0.075", "", "cost_in_usd_ticks", ""},
		{172, "0.30", "0.50", "0.075", "", "cost_in_usd_ticks", ""},
		{142, "0.30", "0.50", "0.075", "", "cost_in_usd_ticks", ""},
		{143, "0.30", "0.50", "0.075", "", "cost_in_usd_ticks", ""},
		{144, "3", "15", "0.30", "3.75", "cost_details.upstream_inference_cost", ""},
		{146, "0.15", "0.60", "", "", "cost_details.upstream_inference_cost", ""},
		{147, "0.30", "2.50", "", "", "cost_details.upstream_inference_cost", ""},
		{148, "0.40", "1.60", "", "", "cost", ""},
		{149, "0.30", "2.50", "", "", "cost_details.upstream_inference_cost", ""},
		{152, "0.2574", "1.0287", "", "", "cost_details.upstream_inference_cost", ""},
		{153, "0.40", "1.60", "", "", "cost_details.upstream_inference_cost", "0.01"},
		{155, "3", "15", "0.75", "", "cost", ""},
		{156, "0.15", "0.60", "", "", "cost_details.upstream_inference_cost", ""},
		{157, "3", "15", "", "", "cost", ""},
		{158, "0.2574", "1.0287", "", "", "cost_details.upstream_inference_cost", ""},
		{159, "0.40", "1.60", "", "", "cost_details.upstream_inference_cost", "0.01"},
		{160, "3", "15", "", "", "cost_details.upstream_inference_cost", ""},
		{161, "5", "30", "0.50", "6.25", "cost_details.upstream_inference_cost", ""},
		{162, "5", "30", "0.50", "6.25", "cost_details.upstream_inference_cost", ""},
		{163, "0.05", "0.20", "", "", "cost", ""},
	} {
		s := all[c.line]
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader(s.Usage))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Split(c.path, ".") {
			if inner, ok := m[name].(map[string]any); ok {
				m = inner
			}
		}
		number, _ := m[c.path[strings.LastIndexByte(c.path, '.')+1:]].(json.Number)
		shift := int32(0)
		if c.path == "cost_in_usd_ticks" {
			shift = -10
		}
		billed := pricing.ParseCharge(number.String(), shift)
		if !billed.Known {
			t.Fatalf("line %d: nothing is stated at %s", c.line, c.path)
		}
		card := pricing.Card{Input: listPrice(t, c.input), Output: listPrice(t, c.output), CacheRead: listPrice(t, c.read), CacheWrite5m: listPrice(t, c.write)}
		cost := card.Cost(Normalise(s.convention(), s.Usage).Usage)
		fee := decimal.Zero
		if c.fee != "" {
			fee = decimal.RequireFromString(c.fee)
		}
		// A float of the vendor's has its noise beyond the fifteenth digit.
		if got, want := cost.Total.Add(fee), billed.Amount.Round(13); !cost.Known || cost.NoCachePrice || !got.Equal(want) {
			t.Errorf("line %d: %s, billed %s", c.line, got, want)
		}
	}
}

// The same figures, read from the collected cases.
func TestSharedUsageCases(t *testing.T) {
	type row struct {
		Usage    json.RawMessage
		Metadata struct{ Usage json.RawMessage }
	}
	for file, names := range map[string][]string{
		"case-06-anthropic-1h-write.json":  {"writes for an hour"},
		"case-22-openai-paid-writes.json":  {"paid writes", "paid writes and reads", "writes without a price"},
		"case-37-reasoning.json":           {"reasoning is in the output"},
		"case-39-deepseek.json":            {"DeepSeek's own names", "DeepSeek's names and OpenAI's", "Moonshot's name"},
		"case-40-iterations.json":          {"a try of another model first"},
		"case-43-bedrock.json":             {"Converse"},
		"case-60-cached-above-prompt.json": {"more cached than there was prompt"},
		"case-23-responses-incomplete.sse": {"a response cut at its limit"},
	} {
		t.Run(file, func(t *testing.T) {
			text := string(sharedInput(t, file))
			if strings.HasSuffix(file, ".sse") {
				_, text, _ = strings.Cut(text, "event: response.incomplete\ndata: ")
				var e struct{ Response row }
				if err := json.Unmarshal([]byte(text), &e); err != nil {
					t.Fatal(err)
				}
				text = string(e.Response.Usage)
				text = `{"usage":` + text + `}`
			}
			if !strings.HasPrefix(strings.TrimSpace(text), "[") {
				text = "[" + text + "]"
			}
			var rows []row
			if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) != len(names) {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			for i, name := range names {
				object := rows[i].Usage
				if object == nil {
					object = rows[i].Metadata.Usage
				}
				for _, c := range usageCases {
					if c.name == name {
						c.judge(t, object)
					}
				}
			}
		})
	}
}
