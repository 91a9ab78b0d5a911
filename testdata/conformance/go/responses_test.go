package conformance

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

const responsesModel = "responses-go"

// responsesTurn is a request whose history is the given answers.
func (p place) responsesTurn(session string, answers ...string) responses.ResponseNewParams {
	input := responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("Is the tide in?", responses.EasyInputMessageRoleUser),
	}
	for _, answer := range answers {
		input = append(input,
			responses.ResponseInputItemParamOfMessage(answer, responses.EasyInputMessageRoleAssistant),
			responses.ResponseInputItemParamOfMessage("And now?", responses.EasyInputMessageRoleUser))
	}
	return responses.ResponseNewParams{
		Model:        p.model(responsesModel),
		Instructions: openai.String(rules(session)),
		Input:        responses.ResponseNewParamsInputUnion{OfInputItemList: input},
	}
}

func TestResponsesTwoTurns(t *testing.T) {
	p := here(t)
	client, id := p.openai(), newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		var response *http.Response
		got, err := client.Responses.New(timed(t), p.responsesTurn(id, answers...), session(id), option.WithResponseInto(&response))
		if err != nil {
			t.Fatal(err)
		}
		p.decided(t, response.Header, got.JSON.ExtraFields["provider_metadata"].Raw(), id, outcome)
		if got.Status != responses.ResponseStatusCompleted || got.OutputText() == "" {
			t.Fatalf("turn %d: %s", turn+1, got.RawJSON())
		}
		if cached := got.Usage.InputTokensDetails.CachedTokens; (cached > 0) != (turn > 0) {
			t.Errorf("turn %d: usage %s", turn+1, got.Usage.RawJSON())
		}
		answers = append(answers, got.OutputText())
	}
}

// responsesStream is one streamed turn as its client sees it.
type responsesStream struct {
	header   http.Header
	deltas   string
	done     *responses.Response // of the terminal event
	terminal string
	failed   bool // an error event came
	err      error
}

func (p place) streamResponses(t *testing.T, id string, params responses.ResponseNewParams) responsesStream {
	t.Helper()
	client := p.openai()
	var response *http.Response
	stream := client.Responses.NewStreaming(timed(t), params, session(id), option.WithResponseInto(&response))
	defer stream.Close()
	var s responsesStream
	var deltas strings.Builder
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.output_text.delta":
			deltas.WriteString(event.Delta)
		case "response.completed", "response.incomplete":
			done := event.Response
			s.done, s.terminal = &done, event.Type
		case "error", "response.failed":
			s.failed = true
		}
	}
	s.deltas, s.err = deltas.String(), stream.Err()
	if response != nil {
		s.header = response.Header
	}
	return s
}

func TestResponsesStreamTwoTurns(t *testing.T) {
	p := here(t)
	id := newSession(t)
	var answers []string
	for turn, outcome := range outcomes {
		s := p.streamResponses(t, id, p.responsesTurn(id, answers...))
		if s.err != nil || s.failed || s.done == nil || s.terminal != "response.completed" {
			t.Fatalf("turn %d: %+v", turn+1, s)
		}
		p.decided(t, s.header, s.done.JSON.ExtraFields["provider_metadata"].Raw(), id, outcome)
		if s.deltas == "" || s.done.OutputText() != s.deltas {
			t.Errorf("turn %d: deltas %q, whole %q", turn+1, s.deltas, s.done.OutputText())
		}
		if cached := s.done.Usage.InputTokensDetails.CachedTokens; (cached > 0) != (turn > 0) {
			t.Errorf("turn %d: usage %s", turn+1, s.done.Usage.RawJSON())
		}
		answers = append(answers, s.deltas)
	}
}

func TestResponsesIncompleteIsNoError(t *testing.T) {
	p := here(t)
	id := newSession(t)
	params := p.responsesTurn(id)
	params.MaxOutputTokens = openai.Int(4)
	s := p.streamResponses(t, id, params)
	if s.err != nil || s.terminal != "response.incomplete" || s.done.IncompleteDetails.Reason != "max_output_tokens" || s.done.Usage.OutputTokens != 4 {
		t.Errorf("%+v", s)
	}
}

func TestResponsesErrorsAreRaised(t *testing.T) {
	p := here(t)
	client := p.openai()
	for vendor, want := range p.refusals() {
		id := newSession(t)
		script(t, openaiSim, responsesModel, map[string]any{"status": vendor})
		_, err := client.Responses.New(timed(t), p.responsesTurn(id), session(id))
		var api *openai.Error
		if !errors.As(err, &api) || api.StatusCode != want || api.Message == "" {
			t.Errorf("vendor's %d: error %v, want status %d", vendor, err, want)
		}
		p.responsesRecover(t)
	}
}

func (p place) responsesRecover(t *testing.T) {
	t.Helper()
	id := newSession(t)
	client := p.openai()
	if _, err := client.Responses.New(timed(t), p.responsesTurn(id), session(id)); err != nil {
		t.Fatalf("the request after a failure failed: %v", err)
	}
}

func TestResponsesBrokenStreamIsAnError(t *testing.T) {
	p := here(t)
	p.broken(t, openaiSim, responsesModel, func(t *testing.T) {
		id := newSession(t)
		s := p.streamResponses(t, id, p.responsesTurn(id))
		if s.err == nil && !s.failed || s.done != nil {
			t.Errorf("looks complete: %+v", s)
		}
		p.responsesRecover(t)
	})
}
