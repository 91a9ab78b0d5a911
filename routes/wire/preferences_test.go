package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// What helps affinity never fails a request: a value of another type names nothing.
func TestIDsOfAnotherTypeAreIgnored(t *testing.T) {
	for _, c := range []struct {
		name, body            string
		bodyID, option, cache string
		off                   bool
	}{
		{"a number", `{"model":"m","session_id":5}`, "", "", "", false},
		{"a number, and the other spelling", `{"model":"m","session_id":5,"sessionId":"b"}`, "b", "", "", false},
		{"a list", `{"model":"m","sessionId":[]}`, "", "", "", false},
		{"an object", `{"model":"m","session_id":{"id":"x"}}`, "", "", "", false},
		{"a cache key that is a number", `{"model":"m","prompt_cache_key":5}`, "", "", "", false},
		{"a truth as the option", `{"model":"m","providerOptions":{"gateway":{"sessionId":true}},"session_id":"b"}`, "b", "", "", false},
		{"affinity as a word", `{"model":"m","providerOptions":{"gateway":{"sessionAffinity":"no"}}}`, "", "", "", false},
		{"affinity off", `{"model":"m","providerOptions":{"gateway":{"sessionAffinity":false}}}`, "", "", "", true},
		{"as they should be", `{"model":"m","providerOptions":{"gateway":{"sessionId":"o","sessionAffinity":true}},"session_id":"b","prompt_cache_key":"k"}`, "b", "o", "k", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := read(t, catalog.Chat, []byte(c.body)).Facts()
			if f.BodyID+f.BodyCamelID != c.bodyID || f.OptionID != c.option || f.CacheKey != c.cache || f.AffinityOff != c.off {
				t.Errorf("ids %q, %q, %q, off %v", f.BodyID, f.OptionID, f.CacheKey, f.AffinityOff)
			}
		})
	}
}

func TestPrivacySettingsRequireTags(t *testing.T) {
	for _, c := range []struct {
		name, members string
		want          []string
	}{
		{"nothing asked", `"provider":{"zdr":false,"data_collection":"allow"},"providerOptions":{"gateway":{"zeroDataRetention":false,"disallowPromptTraining":null}}`, nil},
		{"no retention", `"providerOptions":{"gateway":{"zeroDataRetention":true}}`, []string{"zdr"}},
		{"no training", `"providerOptions":{"gateway":{"disallowPromptTraining":true}}`, []string{"no_training"}},
		{"OpenRouter's no retention", `"provider":{"zdr":true}`, []string{"zdr"}},
		{"OpenRouter's no training", `"provider":{"data_collection":"deny"}`, []string{"no_training"}},
		{"one says no, the other yes: no is kept", `"provider":{"zdr":false},"providerOptions":{"gateway":{"zeroDataRetention":true}}`, []string{"zdr"}},
		{"all of them", `"provider":{"zdr":true,"data_collection":"deny"},"providerOptions":{"gateway":{"zeroDataRetention":true,"disallowPromptTraining":true}}`, []string{"zdr", "no_training"}},
		{"words of the other family mean nothing", `"provider":{"zeroDataRetention":true},"providerOptions":{"gateway":{"zdr":true}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := read(t, catalog.Chat, []byte(`{"model":"m",`+c.members+`}`)).Facts()
			if !slices.Equal(f.Tags, c.want) {
				t.Errorf("tags %q, want %q", f.Tags, c.want)
			}
		})
	}
}

func TestModelsAloneNameTheTarget(t *testing.T) {
	for _, body := range []string{
		`{"models":["a","b"]}`,
		`{"model":null,"models":["a","b"]}`,
		`{"model":"","models":["a","b"]}`,
		`{"providerOptions":{"gateway":{"models":["a","b"]}}}`,
	} {
		if f := read(t, catalog.Chat, []byte(body)).Facts(); f.Target != "" || !slices.Equal(f.Models, []string{"a", "b"}) {
			t.Errorf("%s: target %q, models %q", body, f.Target, f.Models)
		}
	}
}

// A stream of a chained gateway, whichever of its events says so, is left alone.
func TestMetadataOfAnEarlierEventIsEnough(t *testing.T) {
	const theirs = `"provider_metadata":{"other":1}`
	for _, c := range []struct {
		name   string
		api    catalog.API
		stream string
		ours   bool
	}{
		{"chat, in a chunk", catalog.Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]," + theirs + "}\n\n" +
			"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", false},
		{"chat, in a delta", catalog.Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"," + theirs + "}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", false},
		{"chat, in the last delta", catalog.Chat, "data: {\"choices\":[{\"delta\":{" + theirs + "},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", false},
		{"chat, spelled with an escape nearby", catalog.Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"provider_metadata\"}}],\"x\":\"\\\"provider_metadata\\\":\"}\n\n" +
			"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", true},
		{"messages, at the start", catalog.Messages, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"x\"," + theirs + "}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", false},
		{"messages, in an event of its own", catalog.Messages, "event: routing\ndata: {\"type\":\"routing\"," + theirs + "}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", false},
		{"responses, when created", catalog.Responses, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"x\"," + theirs + "}}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"x\"}}\n\n", false},
		{"responses, a tool's argument of that name", catalog.Responses, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"tools\":[{\"parameters\":{\"properties\":{" + theirs + "}}}]}}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"x\"}}\n\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 1000} {
				r := relay(RelayOptions{API: c.api, Metadata: []byte(`"OURS"`)}, []byte(c.stream), n)
				if got := strings.Count(r.out, `"provider_metadata":"OURS"`); got != map[bool]int{false: 0, true: 1}[c.ours] || !c.ours && r.out != c.stream {
					t.Errorf("put in %d times:\n%s", got, r.out)
				}
			}
		})
	}
	body := []byte(`{"choices":[{"message":{"content":"a",` + theirs + `}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	if a := JSONResponse(RelayOptions{API: catalog.Chat, Metadata: []byte("1")}, body); string(a.Body) != string(body) {
		t.Errorf("put into %s", a.Body)
	}
}
