package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

func TestOnlyTheModelChangesAndFiftyBodiesAreEqual(t *testing.T) {
	onlyTheModelChanges(t, input(t, "requests", "key-order.json"), "shop-alias")
}

// onlyTheModelChanges makes fifty bodies for a vendor of one that names alias.
func onlyTheModelChanges(t *testing.T, body []byte, alias string) {
	t.Helper()
	want := bytes.Replace(body, []byte(`"`+alias+`"`), []byte(`"barge-7"`), 1)
	sums := map[[32]byte]bool{}
	for range 50 {
		got := read(t, catalog.Chat, body).Upstream(nil, Edits{Model: "barge-7", AskUsage: true})
		if !bytes.Equal(got, want) || bytes.Equal(got, body) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		sums[sha256.Sum256(got)] = true
	}
	if len(sums) != 1 {
		t.Errorf("%d different bodies", len(sums))
	}
}

func TestALongerModelNameMakesALongerBody(t *testing.T) {
	sixLonger(t, input(t, "requests", "length-79.json"))
}

// sixLonger renames a model of one letter to one of seven.
func sixLonger(t *testing.T, body []byte) {
	t.Helper()
	got := read(t, catalog.Chat, body).Upstream(nil, Edits{Model: "barge-7"})
	if len(body) != 79 || len(got) != 85 {
		t.Errorf("%d bytes became %d, want 79 and 85", len(body), len(got))
	}
}

func TestMembersOfTheGatewayAreCutInPlace(t *testing.T) {
	body := input(t, "requests", "gateway-members.json")
	const asked = `"messages":[{"role":"user","content":"Any larch?"}],`
	got := string(read(t, catalog.Messages, body).Upstream(nil, Edits{Model: "claude"}))
	want := `{` + asked + `"model":"claude","metadata":{"user_id":"u-9"},"max_tokens":32}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = string(read(t, catalog.Messages, body).Upstream(nil, Edits{Accepts: []string{"prompt_cache_key"}}))
	want = `{` + asked + `"prompt_cache_key":"yard-9","model":"schooner-1","metadata":{"user_id":"u-9"},"max_tokens":32}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUpstream(t *testing.T) {
	ask := Edits{AskUsage: true}
	for _, c := range []struct {
		name, body string
		edits      Edits
		want       string
	}{
		{"usage is asked for at the end", `{"model":"m","stream":true}`, ask, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"white space stays", "{ \"model\" : \"m\" ,\n\t\"stream\":true \n}\n", ask, "{ \"model\" : \"m\" ,\n\t\"stream\":true,\"stream_options\":{\"include_usage\":true} \n}\n"},
		{"a client's no is honoured", `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`, ask, `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`},
		{"a client's yes stays", `{"stream_options":{"include_usage":true},"model":"m","stream":true}`, ask, `{"stream_options":{"include_usage":true},"model":"m","stream":true}`},
		{"other options are kept", `{"model":"m","stream":true,"stream_options":{"x":1 }}`, ask, `{"model":"m","stream":true,"stream_options":{"x":1,"include_usage":true }}`},
		{"empty options are filled", `{"model":"m","stream":true,"stream_options":{ }}`, ask, `{"model":"m","stream":true,"stream_options":{"include_usage":true }}`},
		{"null options are replaced", `{"model":"m","stream_options":null,"stream":true}`, ask, `{"model":"m","stream_options":{"include_usage":true},"stream":true}`},
		{"a null include_usage is replaced", `{"model":"m","stream":true,"stream_options":{"include_usage":null,"x":1}}`, ask, `{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1}}`},
		{"not asked of a vendor that refuses it", `{"model":"m","stream":true}`, Edits{AskUsage: true, Refuses: []string{"stream_options"}}, `{"model":"m","stream":true}`},
		{"options are cut for a vendor that refuses them", `{"model":"m","stream_options":{"include_usage":true},"stream":true}`, Edits{AskUsage: true, Refuses: []string{"stream_options"}}, `{"model":"m","stream":true}`},
		{"not asked without a stream", `{"model":"m"}`, ask, `{"model":"m"}`},
		{"stream null is no stream", `{"model":"m","stream":null}`, ask, `{"model":"m","stream":null}`},
		{"first members cut", "{\n \"session_id\": \"x\",\n \"caching\": \"auto\",\n \"model\": \"m\"\n}", Edits{}, "{\n \"model\": \"m\"\n}"},
		{"last members cut", `{"model":"m","session_id":"x" , "cache_ttl":"1h" }`, Edits{}, `{"model":"m" }`},
		{"cut at the end, then appended", `{"model":"m","stream":true,"session_id":"x"}`, ask, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"a cache key is appended last", `{"model":"m","stream":true}`, Edits{AskUsage: true, CacheKey: "k\"1"}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"prompt_cache_key":"k\"1"}`},
		{"a client's cache key stays", `{"model":"m","prompt_cache_key":"mine"}`, Edits{CacheKey: "k"}, `{"model":"m","prompt_cache_key":"mine"}`},
		{"a model is appended where only models are named", `{"models":["m"],"stream":true}`, Edits{Model: "z", AskUsage: true, CacheKey: "k"}, `{"stream":true,"model":"z","stream_options":{"include_usage":true},"prompt_cache_key":"k"}`},
		{"also where nothing else is left", `{ "models":["m"] }`, Edits{Model: "z"}, `{ "model":"z" }`},
		{"a null model is filled", `{"model":null,"models":["m"]}`, Edits{Model: "z"}, `{"model":"z"}`},
		{"a cache key of another type is the vendor's to judge", `{"model":"m","prompt_cache_key":5}`, Edits{CacheKey: "k"}, `{"model":"m","prompt_cache_key":5}`},
		{"ids of another type are cut as well", `{"model":"m","session_id":5,"sessionId":[],"x":1}`, Edits{}, `{"model":"m","x":1}`},
		{"a null cache key is filled", `{"prompt_cache_key":null,"model":"m"}`, Edits{CacheKey: "k"}, `{"prompt_cache_key":"k","model":"m"}`},
		{"a refused cache key is not sent", `{"model":"m"}`, Edits{CacheKey: "k", Refuses: []string{"prompt_cache_key"}}, `{"model":"m"}`},
		{"models and provider are ours", `{"model":"m","models":["n"],"provider":{"order":["a"]},"x":1}`, Edits{}, `{"model":"m","x":1}`},
		{"unless the vendor accepts them", `{"model":"m","models":["n"],"provider":{"order":["a"]},"x":1}`, Edits{Accepts: []string{"models", "provider"}}, `{"model":"m","models":["n"],"provider":{"order":["a"]},"x":1}`},
		{"any member may be refused, escaped or twice", `{"model":"m","top_k":1,"x":1,"top\u005fk":2}`, Edits{Refuses: []string{"top_k", "model"}}, `{"model":"m","x":1}`},
		{"numbers keep their form", `{"temperature":0.20,"seed":1E2,"big":12345678901234567890,"model":"m"}`, Edits{Model: "z"}, `{"temperature":0.20,"seed":1E2,"big":12345678901234567890,"model":"z"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, catalog.Chat, []byte(c.body))
			if got := string(r.Upstream([]byte("dst:"), c.edits)); got != "dst:"+c.want {
				t.Errorf("got  %s\nwant dst:%s", got, c.want)
			}
		})
	}
	r := read(t, catalog.Responses, []byte(`{"model":"m","stream":true}`))
	if got := string(r.Upstream(nil, ask)); got != `{"model":"m","stream":true}` {
		t.Errorf("responses streams report usage unasked: %s", got)
	}
}

func TestRefusedBodies(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"empty", "  ", "empty"},
		{"an array", `[]`, "not a JSON object"},
		{"a byte order mark", "\xef\xbb\xbf{\"model\":\"m\"}", "not a JSON object"},
		{"something after it", `{"model":"m"} {}`, "something follows"},
		{"a trailing comma", `{"model":"m",}`, "not valid JSON"},
		{"cut short", `{"model":"m`, "not valid JSON"},
		{"a control character", "{\"model\":\"m\",\"x\":\"a\nb\"}", "invalid string"},
		{"not UTF-8", "{\"model\":\"m\",\"x\":\"\xff\"}", "invalid string"},
		{"a surrogate in UTF-8", "{\"model\":\"m\",\"x\":\"\xed\xa0\x80\"}", "invalid string"},
		{"a bad escape", `{"model":"m","x":"\q"}`, "invalid string"},
		{"a leading zero", `{"model":"m","x":01}`, "not valid JSON"},
		{"a bare point", `{"model":"m","x":1.}`, "invalid number"},
		{"NaN", `{"model":"m","x":NaN}`, "unexpected character"},
		{"too deep", `{"model":"m","x":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`, "128"},
		{"model twice", `{"model":"m","model":"n"}`, `"model" stands in the body twice`},
		{"model twice, once escaped", `{"model":"m","mode\u006c":"n"}`, "spelled exactly"},
		{"model in capitals", `{"MODEL":"m"}`, "spelled exactly"},
		{"model in capitals beside model", `{"model":"m","Model":"n"}`, "spelled exactly"},
		{"a long s in stream", `{"model":"m","ſtream":true}`, "spelled exactly"},
		{"a Kelvin sign in the cache key", "{\"model\":\"m\",\"prompt_cache_\u212aey\":\"x\"}", "spelled exactly"},
		{"sessionID for sessionId", `{"model":"m","sessionID":"x"}`, `"sessionId"`},
		{"stream twice", `{"stream":true,"model":"m","stream":false}`, `"stream"`},
		{"session ids twice", `{"model":"m","session_id":"a","session_id":"b"}`, `"session_id"`},
		{"options twice", `{"model":"m","providerOptions":{},"providerOptions":{}}`, `"providerOptions"`},
		{"gateway twice", `{"model":"m","providerOptions":{"gateway":{},"gateway":{}}}`, `"providerOptions.gateway"`},
		{"gateway's session twice, once escaped", `{"model":"m","providerOptions":{"gateway":{"sessionId":"a","session\u0049d":"b"}}}`, `sessionId`},
		{"include_usage twice", `{"model":"m","stream_options":{"include_usage":true,"include_usage":false}}`, "include_usage"},
		{"very many members", `{"model":"m"` + strings.Repeat(`,"":0`, 1024) + `}`, "1024 members"},
		{"very many models", `{"model":"m","models":[""` + strings.Repeat(`,""`, 256) + `]}`, "256"},
		{"no model", `{"stream":true}`, `"model" is missing`},
		{"model null", `{"model":null}`, `"model" is empty`},
		{"model empty", `{"model":""}`, `"model" is empty`},
		{"model a number", `{"model":1}`, `"model" must be a string`},
		{"stream a string", `{"model":"m","stream":"true"}`, `"stream" must be true or false`},
		{"models a string", `{"model":"m","models":"n"}`, "list of strings"},
		{"models of numbers", `{"model":"m","models":[1]}`, "list of strings"},
		{"a sort nobody knows", `{"model":"m","provider":{"sort":"colour"}}`, "provider.sort"},
		{"a ttl that is none", `{"model":"m","cache_ttl":"soon"}`, "cache_ttl"},
		{"privacy a word", `{"model":"m","providerOptions":{"gateway":{"zeroDataRetention":"yes"}}}`, "zeroDataRetention"},
		{"privacy twice", `{"model":"m","provider":{"zdr":true,"zdr":false}}`, "provider.zdr"},
		{"data collection nobody knows", `{"model":"m","provider":{"data_collection":"none"}}`, "data_collection"},
		{"no model and no models", `{"models":[]}`, `"model" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if says := refuse(t, c.body); !strings.Contains(says, c.says) {
				t.Errorf("says %q, want %q in it", says, c.says)
			}
		})
	}
	// Exactly 128 levels pass: the object and 127 lists.
	read(t, catalog.Chat, []byte(`{"model":"m","x":`+strings.Repeat("[", 127)+strings.Repeat("]", 127)+`}`))
	// Two spellings of an id are two members.
	read(t, catalog.Chat, []byte(`{"model":"m","session_id":"a","sessionId":"b","MeTaphor":1,"\u006dood":2}`))
	if _, err := ReadRequest(catalog.Chat, nil); !errors.As(err, new(*RefusedError)) {
		t.Errorf("error is %T", err)
	}
}

func TestFacts(t *testing.T) {
	body := `{"model":"yard/m","stream":true,"models":["n","o"],"session_id":" ","sessionId":"s\u00e9","prompt_cache_key":"k",
	 "providerOptions":{"gateway":{"sessionId":"opt","sessionAffinity":false,"order":["a","b"],"only":["a"],"sort":"cost","ignore":null}},
	 "provider":{"order":["c"],"ignore":["z"],"sort":{"by":"latency"},"allow_fallbacks":true},
	 "metadata":{"user_id":"u"},"caching":"auto","cache_ttl":"1h","service_tier":"flex","speed":"fast","inference_geo":"us","previous_response_id":"resp_1","store":false,
	 "prompt_cache_retention":"24h","prompt_cache_options":{"ttl":"30m"},"messages":[{"role":"user","content":"four"}]}`
	f := read(t, catalog.Chat, []byte(body)).Facts()
	f.Opening, f.Words, f.Prefix, f.Has, f.Field = nil, nil, nil, nil, nil
	want := engine.Request{
		API: catalog.Chat, Target: "yard/m", Models: []string{"n", "o"}, Stream: true, BodyID: " ", BodyCamelID: "sé", CacheKey: "k", OptionID: "opt",
		AffinityOff: true, Order: []string{"a", "b"}, Only: []string{"a"}, Ignore: []string{"z"}, Sort: catalog.ByPrice,
		MetadataUser: "u", Service: "flex", Speed: "fast", Region: "us", PreviousResponse: "resp_1", Unstored: true,
		Retention: 24 * time.Hour, Caching: true, CacheTTL: time.Hour, TextBytes: int64(len("user") + len("four")),
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got  %+v\nwant %+v", f, want)
	}
}

func TestAnAgentsBodyIsReadWhole(t *testing.T) {
	r := read(t, catalog.Messages, input(t, "requests", "agent.json"))
	f := r.Facts()
	if f.Markers != 2 || f.MarkerTTL != time.Hour {
		t.Errorf("markers %d, longest %v; want 2, 1h: a schema's property of that name is none", f.Markers, f.MarkerTTL)
	}
	if f.MetadataUser != `{"device_id":"d","session_id":"5f0e"}` {
		t.Errorf("user %q", f.MetadataUser)
	}
	o := f.Opening()
	if got := fmt.Sprintf("%q", o.System); got != `["x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;" "We mend fences."]` {
		t.Errorf("system %s", got)
	}
	if got := fmt.Sprintf("%q", o.First); got != `["Mend the gate."]` {
		t.Errorf("first %s", got)
	}
	if len(o.Tools) != 2 || string(o.Tools[0].Description) != "Cuts a board" || string(o.Tools[1].Name) != "web_search" ||
		string(o.Tools[0].Schema) != `{"type": "object", "properties": {"cache_control": {"type": "string"}}}` {
		t.Errorf("tools %q", o.Tools)
	}
	// Every string of the prompt but the picture and the signature.
	var all struct{ System, Tools, Messages any }
	if err := json.Unmarshal(r.Body, &all); err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, part := range []any{all.System, all.Tools, all.Messages} {
		want += textOfAll(part)
	}
	if f.TextBytes != want {
		t.Errorf("text is %d bytes, want %d", f.TextBytes, want)
	}
}

// textOfAll is the slow twin of the scan's count, for plain inputs.
func textOfAll(v any) (n int64) {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case []any:
		for _, e := range v {
			n += textOfAll(e)
		}
	case map[string]any:
		for k, e := range v {
			if k != "data" && k != "signature" {
				n += textOfAll(e)
			}
		}
	}
	return n
}

func TestTextBytes(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          int64
	}{
		{"escapes count as what they stand for", `"a\nb\"c\u00e9\u4e2d"`, 1 + 1 + 1 + 1 + 1 + 2 + 3},
		{"a surrogate pair is four bytes", `"\ud83d\ude80"`, 4},
		{"a data url is none", `[{"image_url":{"url":"data:image/png;base64,AAAA"}}]`, 0},
		{"base64 under file_data is none", `[{"file":{"file_data":"JVBERi0xLjcKJcfs"}}]`, 0},
		{"plain text under data is text", `[{"source":{"data":"a plain letter"}}]`, 14},
		{"encrypted reasoning is none", `[{"encrypted_content":"with spaces even"}]`, 0},
		{"an escaped key is the same key", `[{"encrypted\u005fcontent":"gAAAA"}]`, 0},
		{"non-ASCII text", `"樫の木"`, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := read(t, catalog.Chat, []byte(`{"model":"m","messages":[{"content":`+c.content+`}]}`)).Facts()
			if f.TextBytes != c.want {
				t.Errorf("%d bytes, want %d", f.TextBytes, c.want)
			}
		})
	}
}

func TestMarkersOfAnHour(t *testing.T) {
	f := read(t, catalog.Messages, input(t, "requests", "hour-marker.json")).Facts()
	if f.Markers != 1 || f.MarkerTTL != time.Hour {
		t.Errorf("%d markers of %v", f.Markers, f.MarkerTTL)
	}
	f = read(t, catalog.Messages, []byte(`{"model":"m","cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[{"text":"x","cache_control":null}]}]}`)).Facts()
	if f.Markers != 1 || f.MarkerTTL != 0 {
		t.Errorf("at the top: %d markers of %v, want 1 without a lifetime", f.Markers, f.MarkerTTL)
	}
}

func TestOpenings(t *testing.T) {
	for _, c := range []struct{ name, body, system, first string }{
		{"chat", `{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"U"},{"role":"user","content":"V"}]}`, `["S"]`, `["U"]`},
		{"a developer, later", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"U"},{"type":"text","text":"W"}]},{"content":[{"text":"S"}],"role":"developer"}]}`, `["S"]`, `["U" "W"]`},
		{"messages", `{"model":"m","system":"S","messages":[{"role":"user","content":"U"}]}`, `["S"]`, `["U"]`},
		{"responses, text", `{"model":"m","instructions":"S","input":"U"}`, `["S"]`, `["U"]`},
		{"responses, items", `{"model":"m","input":[{"type":"reasoning"},{"role":"developer","content":[{"type":"input_text","text":"S"}]},{"role":"user","content":[{"type":"input_text","text":"U"}]}]}`, `["S"]`, `["U"]`},
		{"nothing", `{"model":"m","messages":[]}`, ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := read(t, catalog.Chat, []byte(c.body)).Facts()
			if f.Opening == nil {
				if c.first != "" {
					t.Fatal("no opening")
				}
				return
			}
			o := f.Opening()
			if s, u := fmt.Sprintf("%q", o.System), fmt.Sprintf("%q", o.First); s != c.system || u != c.first {
				t.Errorf("system %s, first %s", s, u)
			}
		})
	}
	// A body of nothing but tiny parts is bounded.
	many := read(t, catalog.Chat, []byte(`{"model":"m","tools":[{}`+strings.Repeat(`,{}`, 9000)+`],"messages":[{"role":"user","content":[""`+strings.Repeat(`,{"text":""}`, 9000)+`]}]}`)).Facts().Opening()
	if len(many.Tools) != 4096 || len(many.First) != 4096 {
		t.Errorf("%d tools, %d blocks", len(many.Tools), len(many.First))
	}
	// Chat tools hold their parts one level down.
	o := read(t, catalog.Chat, input(t, "requests", "key-order.json")).Facts().Opening()
	if len(o.Tools) != 1 || string(o.Tools[0].Name) != "stock_level" || !bytes.HasPrefix(o.Tools[0].Schema, []byte(`{"required":["sku"]`)) {
		t.Errorf("tools %q", o.Tools)
	}
}

// TestEditsAgreeWithAPlainDecoder compares random bodies and edits with what
// decoding, editing and encoding would give.
func TestEditsAgreeWithAPlainDecoder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	names := []string{"session_id", "sessionId", "providerOptions", "provider", "models", "caching", "cache_ttl", "stream", "stream_options",
		"prompt_cache_key", "temperature", "top_k", "messages", "x", "reasoning_effort"}
	values := map[string][]string{
		"session_id": {`"s"`, `null`}, "sessionId": {`"t"`}, "providerOptions": {`{"gateway":{"order":["a"]},"openai":{"x":1}}`, `{}`},
		"provider": {`{"only":["b"]}`}, "models": {`["n"]`, `[]`}, "caching": {`"auto"`}, "cache_ttl": {`"5m"`},
		"stream": {`true`, `false`, `null`}, "stream_options": {`{}`, `null`, `{"include_usage":true}`, `{"include_usage":null, "y":[1]}`, `{"y" : 1 }`},
		"prompt_cache_key": {`"k"`, `null`}, "messages": {`[{"role":"user","content":"h\u00e9 \"x\""}]`}, "top_k": {`7`},
	}
	gap := func() string { return []string{"", "", " ", "\n\t"}[rnd.IntN(4)] }
	for range 20000 {
		picked := append([]string{"model"}, names[:0]...)
		for _, n := range names {
			if rnd.IntN(3) == 0 {
				picked = append(picked, n)
			}
		}
		rnd.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
		body := gap() + "{"
		var raw []string // each member as it is spelled
		for i, n := range picked {
			v := `0.50`
			if choice := values[n]; choice != nil {
				v = choice[rnd.IntN(len(choice))]
			}
			if n == "model" {
				v = `"front"`
			}
			if i > 0 {
				body += ","
			}
			raw = append(raw, `"`+n+`"`+gap()+":"+gap()+v)
			body += gap() + raw[i] + gap()
		}
		body += "}" + gap()
		e := Edits{Model: "up/\"stream\"", AskUsage: rnd.IntN(2) == 0}
		if rnd.IntN(2) == 0 {
			e.CacheKey = "warm"
		}
		for _, n := range names {
			if rnd.IntN(6) == 0 {
				e.Accepts = append(e.Accepts, n)
			}
			if rnd.IntN(8) == 0 {
				e.Refuses = append(e.Refuses, n)
			}
		}
		got := read(t, catalog.Chat, []byte(body)).Upstream(nil, e)
		if want := slowEdit(t, body, e); !reflect.DeepEqual(decode(t, got), want) {
			t.Fatalf("body %s\nedits %+v\ngot %s\nwant %v", body, e, got, want)
		}
		// What stays, stays in order and byte for byte.
		rest := string(got)
		for i, n := range picked {
			if _, stays := decode(t, got)[n]; !stays || n == "model" || n == "stream_options" || n == "prompt_cache_key" {
				continue
			}
			_, after, found := strings.Cut(rest, raw[i])
			if !found {
				t.Fatalf("%s is not as it was\nbody %s\ngot %s", n, body, got)
			}
			rest = after
		}
	}
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

func slowEdit(t *testing.T, body string, e Edits) map[string]any {
	v := decode(t, []byte(body))
	v["model"] = e.Model
	for _, ours := range []string{"session_id", "sessionId", "providerOptions", "provider", "models", "caching", "cache_ttl"} {
		if !slices.Contains(e.Accepts, ours) {
			delete(v, ours)
		}
	}
	for _, never := range e.Refuses {
		delete(v, never)
	}
	if decode(t, []byte(body))["stream"] == true && e.AskUsage && !slices.Contains(e.Refuses, "stream_options") {
		options, _ := v["stream_options"].(map[string]any)
		if options == nil {
			options = map[string]any{}
		}
		if options["include_usage"] == nil {
			options["include_usage"] = true
		}
		v["stream_options"] = options
	}
	if e.CacheKey != "" && v["prompt_cache_key"] == nil && !slices.Contains(e.Refuses, "prompt_cache_key") {
		v["prompt_cache_key"] = e.CacheKey
	}
	return v
}
