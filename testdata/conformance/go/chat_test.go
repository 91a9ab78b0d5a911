package conformance

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	openaiSim = "WARMROUTE_SIM_OPENAI"
	chatModel = "chat-go"
)

func (p place) openai() openai.Client {
	return openai.NewClient(option.WithBaseURL(p.url+"/v1"), option.WithAPIKey("conformance"), option.WithMaxRetries(0))
}

// chatTurn is a request whose history is the given answers.
func (p place) chatTurn(session string, answers ...string) openai.ChatCompletionNewParams {
	messages := []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage(rules(session)), openai.UserMessage("Is the tide in?"),
	}
	for _, answer := range answers {
		messages = append(messages, openai.AssistantMessage(answer), openai.UserMessage("And now?"))
	}
	return openai.ChatCompletionNewParams{Model: p.model(chatModel), Messages: messages}
}

func session(id string) option.RequestOption { return option.WithHeader("x-session-id", id) }

func TestChatTwoTurns(t *testing.T) {
	p := here(t)
	client, id := p.openai(), newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		var response *http.Response
		got, err := client.Chat.Completions.New(timed(t), p.chatTurn(id, answers...), session(id), option.WithResponseInto(&response))
		if err != nil {
			t.Fatal(err)
		}
		p.decided(t, response.Header, got.JSON.ExtraFields["provider_metadata"].Raw(), id, outcome)
		if len(got.Choices) != 1 || got.Choices[0].FinishReason != "stop" || got.Choices[0].Message.Content == "" {
			t.Fatalf("turn %d: %s", turn+1, got.RawJSON())
		}
		if cached := got.Usage.PromptTokensDetails.CachedTokens; (cached > 0) != (turn > 0) || got.Usage.TotalTokens <= got.Usage.PromptTokens {
			t.Errorf("turn %d: usage %s", turn+1, got.Usage.RawJSON())
		}
		answers = append(answers, got.Choices[0].Message.Content)
	}
}

func TestChatSessionInTheBody(t *testing.T) {
	p := here(t)
	if p.direct {
		t.Skip("a vendor refuses session_id; a gateway takes it out")
	}
	client, id := p.openai(), newSession(t)
	for _, outcome := range outcomes {
		var response *http.Response
		got, err := client.Chat.Completions.New(timed(t), p.chatTurn(id), option.WithJSONSet("session_id", id), option.WithResponseInto(&response))
		if err != nil {
			t.Fatal(err)
		}
		p.decided(t, response.Header, got.JSON.ExtraFields["provider_metadata"].Raw(), id, outcome)
	}
}

// chatStream is one streamed turn as its client sees it.
type chatStream struct {
	header   http.Header
	metadata string
	text     string // as the accumulator put it together
	finish   string
	usage    openai.CompletionUsage
	usages   int // chunks with usage
	chunks   int
	err      error
}

func (p place) streamChat(t *testing.T, id string, params openai.ChatCompletionNewParams) chatStream {
	t.Helper()
	client := p.openai()
	var response *http.Response
	stream := client.Chat.Completions.NewStreaming(timed(t), params, session(id), option.WithResponseInto(&response))
	defer stream.Close()
	var s chatStream
	var all openai.ChatCompletionAccumulator
	var pieces strings.Builder
	for stream.Next() {
		chunk := stream.Current()
		if !all.AddChunk(chunk) {
			t.Errorf("the accumulator refused %s", chunk.RawJSON())
		}
		s.chunks++
		if raw := chunk.JSON.ExtraFields["provider_metadata"].Raw(); raw != "" {
			s.metadata = raw
		}
		if chunk.JSON.Usage.Valid() {
			s.usages++
		}
		for _, choice := range chunk.Choices {
			pieces.WriteString(choice.Delta.Content)
		}
	}
	s.err = stream.Err()
	if response != nil {
		s.header = response.Header
	}
	if len(all.Choices) > 0 {
		s.text, s.finish, s.usage = all.Choices[0].Message.Content, all.Choices[0].FinishReason, all.Usage
	}
	if s.text != pieces.String() {
		t.Errorf("accumulated %q, received %q", s.text, pieces.String())
	}
	return s
}

func TestChatStreamTwoTurns(t *testing.T) {
	p := here(t)
	id := newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		params := p.chatTurn(id, answers...)
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		s := p.streamChat(t, id, params)
		if s.err != nil || s.finish != "stop" || s.chunks < 4 || !strings.HasSuffix(s.text, ".") {
			t.Fatalf("turn %d: %+v", turn+1, s)
		}
		p.decided(t, s.header, s.metadata, id, outcome)
		if cached := s.usage.PromptTokensDetails.CachedTokens; s.usages != 1 || (cached > 0) != (turn > 0) {
			t.Errorf("turn %d: %d chunks with usage, %s", turn+1, s.usages, s.usage.RawJSON())
		}
		answers = append(answers, s.text)
	}
}

func TestChatStreamWithoutUsageAsked(t *testing.T) {
	p := here(t)
	id := newSession(t)
	if s := p.streamChat(t, id, p.chatTurn(id)); s.err != nil || s.usages != 0 || s.finish != "stop" {
		t.Errorf("%+v", s)
	}
}

func TestChatCompressedStream(t *testing.T) {
	p := here(t)
	if p.direct {
		t.Skip("a client that did not ask for gzip cannot read it; a gateway unpacks it")
	}
	id := newSession(t)
	script(t, openaiSim, chatModel, map[string]any{"gzip": true})
	if s := p.streamChat(t, id, p.chatTurn(id)); s.err != nil || s.finish != "stop" {
		t.Errorf("%+v", s)
	}
}

func TestChatErrorsAreRaised(t *testing.T) {
	p := here(t)
	client := p.openai()
	for vendor, want := range p.refusals() {
		id := newSession(t)
		script(t, openaiSim, chatModel, map[string]any{"status": vendor})
		_, err := client.Chat.Completions.New(timed(t), p.chatTurn(id), session(id))
		var api *openai.Error
		if !errors.As(err, &api) || api.StatusCode != want || api.Message == "" {
			t.Errorf("vendor's %d: error %v, want status %d", vendor, err, want)
		}
		p.chatRecovers(t)
	}
}

func TestChatUnknownModel(t *testing.T) {
	p := here(t)
	if p.direct {
		t.Skip("this vendor knows every model")
	}
	client := p.openai()
	params := p.chatTurn(newSession(t))
	params.Model = "conformance/no-such-model"
	_, err := client.Chat.Completions.New(timed(t), params)
	var api *openai.Error
	if !errors.As(err, &api) || api.StatusCode < 400 || api.StatusCode > 499 || !strings.Contains(api.Message, "no-such-model") {
		t.Errorf("error %v", err)
	}
}

// chatRecovers ends a run of failures, so that the vendor is not taken for down.
func (p place) chatRecovers(t *testing.T) {
	t.Helper()
	id := newSession(t)
	client := p.openai()
	if _, err := client.Chat.Completions.New(timed(t), p.chatTurn(id), session(id)); err != nil {
		t.Fatalf("the request after a failure failed: %v", err)
	}
}

// breaks are the ways a stream ends early that a client must notice.
var breaks = map[string]map[string]any{
	"cut":          {"cut_after_events": 4},
	"reset":        {"cut_after_events": 4, "cut": "reset"},
	"error event":  {"error_event_after": 4},
	"first error":  {"error_event_first": true},
	"cut at start": {"cut_after_events": 0},
}

// quietBreaks end as a complete body would: only a gateway can tell.
var quietBreaks = map[string]map[string]any{
	"clean end": {"cut_after_events": 4, "cut": "clean"},
}

// broken runs a check for every way a stream breaks.
func (p place) broken(t *testing.T, sim, model string, check func(t *testing.T)) {
	for _, list := range []map[string]map[string]any{breaks, quietBreaks} {
		if p.direct && list["clean end"] != nil {
			continue
		}
		for name, fault := range list {
			t.Run(name, func(t *testing.T) {
				script(t, sim, model, fault)
				check(t)
			})
		}
	}
}

func TestChatBrokenStreamIsAnError(t *testing.T) {
	p := here(t)
	p.broken(t, openaiSim, chatModel, func(t *testing.T) {
		id := newSession(t)
		if s := p.streamChat(t, id, p.chatTurn(id)); s.err == nil || s.finish != "" {
			t.Errorf("looks complete: %+v", s)
		}
		p.chatRecovers(t)
	})
}

func TestChatCutAnswerIsAnError(t *testing.T) {
	p := here(t)
	id := newSession(t)
	script(t, openaiSim, chatModel, map[string]any{"cut_after_events": 0})
	client := p.openai()
	if got, err := client.Chat.Completions.New(timed(t), p.chatTurn(id), session(id)); err == nil {
		t.Errorf("half an answer was taken for a whole one: %s", got.RawJSON())
	}
	p.chatRecovers(t)
}
