package routes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// answeredText is the text of an answer as the official client of its dialect puts
// it together, whole or from its events.
func answeredText(t *testing.T, api string, got reply) (text string) {
	t.Helper()
	if got.status != http.StatusOK || got.err != nil {
		t.Fatalf("status %d, %v: %s", got.status, got.err, got.body)
	}
	type block struct{ Text string }
	type answer struct {
		Type    string
		Delta   json.RawMessage
		Content []block
		Choices []struct {
			Message, Delta struct{ Content string }
		}
		Output []struct{ Content []block }
	}
	read := func(data string) {
		var a answer
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		var delta struct{ Text string }
		switch a.Type {
		case "content_block_delta":
			_ = json.Unmarshal(a.Delta, &delta)
		case "response.output_text.delta":
			_ = json.Unmarshal(a.Delta, &delta.Text)
		}
		text += delta.Text
		for _, b := range a.Content {
			text += b.Text
		}
		for _, c := range a.Choices {
			text += c.Message.Content + c.Delta.Content
		}
		for _, item := range a.Output {
			for _, b := range item.Content {
				text += b.Text
			}
		}
	}
	if strings.HasPrefix(got.body, "{") {
		read(got.body)
		return text
	}
	for line := range strings.Lines(got.body) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != "[DONE]" {
			read(data)
		}
	}
	return text
}

// A client that names no session is in one conversation all the same, by the turns it
// repeats: in every dialect, streamed or not, however soon it asks again.
func TestAConversationWithoutAnIDIsOneChain(t *testing.T) {
	subconscious, ok := engine.ProfileNamed(catalog.ProfileSubconscious)
	if !ok {
		t.Fatal("no such profile")
	}
	for _, api := range []string{"chat", "messages", "responses"} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", api, stream), func(t *testing.T) {
				sim := vendorsim.New(vendorsim.Config{Name: "pier", API: []catalog.API{catalog.API(api)}, Keys: []string{vendorKey}})
				r := newRig(t, func(o *routes.Options) { o.Gateway.Profile = subconscious }, stop{name: "pier", api: api, serve: sim})
				var history []any
				turn := func(text string) string {
					history = append(history, map[string]any{"role": "user", "content": text})
					body := map[string]any{"model": "m", "stream": stream, "max_tokens": 64, "messages": history}
					if api == "responses" {
						body = map[string]any{"model": "m", "stream": stream, "input": history}
					}
					b, err := json.Marshal(body)
					if err != nil {
						t.Fatal(err)
					}
					said := answeredText(t, api, r.post(api, string(b), "anthropic-version", "2023-06-01"))
					if said == "" {
						t.Fatal("the answer says nothing")
					}
					history = append(history, map[string]any{"role": "assistant", "content": said})
					return said
				}
				for _, text := range []string{"How high is the tide?", "And tomorrow?", "Thanks."} {
					turn(text)
				}
				long := history
				history = nil
				turn("How deep is the pier?")
				history = long
				turn("One more.")
				turns := r.turns(5)
				for i := range turns {
					s := turns[i].Session
					if s.Class != engine.ClassChain || s.Source() != "chain" || (s.ID == turns[0].Session.ID) != (i != 3) {
						t.Errorf("turn %d: session %s %s, the first %s", i+1, s.Class, s.ID, turns[0].Session.ID)
					}
				}
				if f := turns[4].Decision.Models[0]; f.Outcome != engine.Confirmed {
					t.Errorf("%s %s", f.Outcome, f.Detail)
				}
			})
		}
	}
}
