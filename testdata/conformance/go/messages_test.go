package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

const (
	anthropicSim  = "WARMROUTE_SIM_ANTHROPIC"
	messagesModel = "messages-go"
)

func (p place) anthropic() anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(p.url), option.WithAPIKey("conformance"), option.WithMaxRetries(0))
}

// messagesTurn is a request whose history is the given answers, with a marker
// on the rules and one that moves along.
func (p place) messagesTurn(session string, answers ...string) anthropic.MessageNewParams {
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Is the tide in?"))}
	for _, answer := range answers {
		messages = append(messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock(answer)),
			anthropic.NewUserMessage(anthropic.NewTextBlock("And now?")))
	}
	last := messages[len(messages)-1].OfUser
	last.Content[0].OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
	return anthropic.MessageNewParams{
		Model:     p.model(messagesModel),
		MaxTokens: 200,
		System:    []anthropic.TextBlockParam{{Text: rules(session), CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Messages:  messages,
	}
}

func messagesSession(id string) option.RequestOption { return option.WithHeader("x-session-id", id) }

// metadataOf finds the member in the raw JSON of an answer or an event.
func metadataOf(raw string) string {
	var v struct {
		Metadata json.RawMessage `json:"provider_metadata"`
	}
	if json.Unmarshal([]byte(raw), &v) != nil {
		return ""
	}
	return string(v.Metadata)
}

func TestMessagesTwoTurns(t *testing.T) {
	p := here(t)
	client, id := p.anthropic(), newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		var response *http.Response
		got, err := client.Messages.New(timed(t), p.messagesTurn(id, answers...), messagesSession(id), option.WithResponseInto(&response))
		if err != nil {
			t.Fatal(err)
		}
		p.decided(t, response.Header, metadataOf(got.RawJSON()), id, outcome)
		if len(got.Content) != 1 || got.Content[0].Text == "" || got.StopReason != anthropic.StopReasonEndTurn {
			t.Fatalf("turn %d: %s", turn+1, got.RawJSON())
		}
		if u := got.Usage; (u.CacheReadInputTokens > 0) != (turn > 0) || turn == 0 && !p.direct && u.CacheCreationInputTokens == 0 {
			t.Errorf("turn %d: usage %s", turn+1, u.RawJSON())
		}
		answers = append(answers, got.Content[0].Text)
	}
}

// messagesStream is one streamed turn as its client sees it.
type messagesStream struct {
	header   http.Header
	metadata string
	message  anthropic.Message // accumulated
	deltas   string
	stopped  bool
	err      error
}

func (p place) streamMessages(t *testing.T, id string, params anthropic.MessageNewParams) messagesStream {
	t.Helper()
	client := p.anthropic()
	var response *http.Response
	stream := client.Messages.NewStreaming(timed(t), params, messagesSession(id), option.WithResponseInto(&response))
	defer stream.Close()
	var s messagesStream
	var deltas strings.Builder
	for stream.Next() {
		event := stream.Current()
		if err := s.message.Accumulate(event); err != nil {
			t.Errorf("accumulate %s: %v", event.RawJSON(), err)
		}
		switch event.Type {
		case "content_block_delta":
			deltas.WriteString(event.Delta.Text)
		case "message_delta":
			s.metadata = metadataOf(event.RawJSON())
		case "message_stop":
			s.stopped = true
		}
	}
	s.deltas, s.err = deltas.String(), stream.Err()
	if response != nil {
		s.header = response.Header
	}
	return s
}

// complete says what is missing in a streamed turn; empty if nothing is.
func (s *messagesStream) missing() string {
	switch {
	case s.err != nil:
		return "an end without error: " + s.err.Error()
	case !s.stopped:
		return "message_stop"
	case len(s.message.Content) != 1 || s.message.Content[0].Text != s.deltas || !strings.HasSuffix(s.deltas, "."):
		return "text: " + s.message.RawJSON()
	case s.message.StopReason != anthropic.StopReasonEndTurn:
		return "a stop reason"
	case s.message.Usage.OutputTokens < 5:
		return "the final usage: " + s.message.Usage.RawJSON()
	}
	return ""
}

func TestMessagesStreamTwoTurns(t *testing.T) {
	p := here(t)
	id := newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		s := p.streamMessages(t, id, p.messagesTurn(id, answers...))
		if missing := s.missing(); missing != "" {
			t.Fatalf("turn %d misses %s", turn+1, missing)
		}
		p.decided(t, s.header, s.metadata, id, outcome)
		if (s.message.Usage.CacheReadInputTokens > 0) != (turn > 0) {
			t.Errorf("turn %d: usage %s", turn+1, s.message.Usage.RawJSON())
		}
		answers = append(answers, s.deltas)
	}
}

func TestMessagesStreamThatTheVendorSentCarelessly(t *testing.T) {
	p := here(t)
	if p.direct {
		t.Skip("a gateway adds what the vendor left out")
	}
	for name, fault := range map[string]map[string]any{
		"no event lines": {"no_event_lines": true},
		"a done mark":    {"extra_done": true},
		"both":           {"no_event_lines": true, "extra_done": true},
		"compressed":     {"gzip": true},
	} {
		t.Run(name, func(t *testing.T) {
			id := newSession(t)
			script(t, anthropicSim, messagesModel, fault)
			s := p.streamMessages(t, id, p.messagesTurn(id))
			if missing := s.missing(); missing != "" {
				t.Errorf("misses %s", missing)
			}
		})
	}
}

func TestMessagesErrorsAreRaised(t *testing.T) {
	p := here(t)
	client := p.anthropic()
	for vendor, want := range p.refusals() {
		id := newSession(t)
		script(t, anthropicSim, messagesModel, map[string]any{"status": vendor})
		_, err := client.Messages.New(timed(t), p.messagesTurn(id), messagesSession(id))
		var api *anthropic.Error
		if !errors.As(err, &api) || api.StatusCode != want || api.Message == "" {
			t.Errorf("vendor's %d: error %v, want status %d", vendor, err, want)
		}
		p.messagesRecover(t)
	}
}

func (p place) messagesRecover(t *testing.T) {
	t.Helper()
	id := newSession(t)
	client := p.anthropic()
	if _, err := client.Messages.New(timed(t), p.messagesTurn(id), messagesSession(id)); err != nil {
		t.Fatalf("the request after a failure failed: %v", err)
	}
}

func TestMessagesBrokenStreamIsAnError(t *testing.T) {
	p := here(t)
	p.broken(t, anthropicSim, messagesModel, func(t *testing.T) {
		id := newSession(t)
		if s := p.streamMessages(t, id, p.messagesTurn(id)); s.err == nil || s.stopped {
			t.Errorf("looks complete: %s", s.message.RawJSON())
		}
		p.messagesRecover(t)
	})
}

func TestMessagesCutAnswerIsAnError(t *testing.T) {
	p := here(t)
	id := newSession(t)
	script(t, anthropicSim, messagesModel, map[string]any{"cut_after_events": 0})
	client := p.anthropic()
	if got, err := client.Messages.New(timed(t), p.messagesTurn(id), messagesSession(id)); err == nil {
		t.Errorf("half an answer was taken for a whole one: %s", got.RawJSON())
	}
	p.messagesRecover(t)
}
