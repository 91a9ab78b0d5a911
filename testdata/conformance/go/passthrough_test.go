package conformance

import (
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	messages "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const embeddingsModel = "embeddings-go"

func TestCountTokens(t *testing.T) {
	p := here(t)
	client, id := p.anthropic(), newSession(t)
	turn := p.messagesTurn(id)
	var response *http.Response
	count, err := client.Messages.CountTokens(timed(t), anthropic.MessageCountTokensParams{
		Model:    turn.Model,
		System:   anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: turn.System},
		Messages: turn.Messages,
	}, messagesSession(id), messages.WithResponseInto(&response))
	if err != nil {
		t.Fatal(err)
	}
	if count.InputTokens < 1024 {
		t.Errorf("%s", count.RawJSON())
	}
	p.passed(t, response.Header)
	// Counting kept nothing: the session's first turn is still its first.
	got, err := client.Messages.New(timed(t), turn, messagesSession(id), messages.WithResponseInto(&response))
	if err != nil {
		t.Fatal(err)
	}
	p.decided(t, response.Header, metadataOf(got.RawJSON()), id, "no_pin")
	if u := got.Usage; u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens != count.InputTokens {
		t.Errorf("the turn's prompt is %s, %d were counted", u.RawJSON(), count.InputTokens)
	}
}

func TestEmbeddings(t *testing.T) {
	p := here(t)
	client := p.openai()
	var response *http.Response
	got, err := client.Embeddings.New(timed(t), openai.EmbeddingNewParams{
		Model: p.model(embeddingsModel),
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a boat", "the tide", "a boat"}},
	}, option.WithResponseInto(&response))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 3 || len(got.Data[0].Embedding) == 0 || got.Data[0].Embedding[0] != got.Data[2].Embedding[0] || got.Usage.PromptTokens == 0 {
		t.Errorf("%s", got.RawJSON())
	}
	p.passed(t, response.Header)
}

// passed checks the headers of what is no turn.
func (p place) passed(t *testing.T, header http.Header) {
	t.Helper()
	if !p.direct && (header.Get("X-Warmroute-Request-Id") == "" || header.Get("X-Warmroute-Vendor") == "") {
		t.Errorf("request id and vendor are missing in %v", header)
	}
}
