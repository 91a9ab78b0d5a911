package conformance

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
)

// Only a gateway lists its models: the simulated vendors have none of their own.
func gatewayAlone(t *testing.T) place {
	t.Helper()
	p := here(t)
	if p.direct {
		t.Skip("only a gateway lists models")
	}
	return p
}

func TestModelsForOpenAIClients(t *testing.T) {
	p := gatewayAlone(t)
	client := p.openai()
	var ids []string
	pages := client.Models.ListAutoPaging(timed(t))
	for pages.Next() {
		m := pages.Current()
		if m.Object != "model" || m.OwnedBy == "" {
			t.Errorf("%s", m.RawJSON())
		}
		ids = append(ids, m.ID)
	}
	if err := pages.Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{p.model(chatModel), p.model(messagesModel)} {
		if !slices.Contains(ids, want) {
			t.Errorf("%s is not among %v", want, ids)
		}
	}
	one, err := client.Models.Get(timed(t), p.model(chatModel))
	if err != nil {
		t.Fatal(err)
	}
	if one.ID != p.model(chatModel) || one.Object != "model" {
		t.Errorf("%s", one.RawJSON())
	}
	_, err = client.Models.Get(timed(t), "conformance/no-such-model")
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusNotFound || refused.Message == "" {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestModelsForAnthropicClients(t *testing.T) {
	p := gatewayAlone(t)
	client := p.anthropic()
	page, err := client.Models.List(timed(t), anthropic.ModelListParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Data) == 0 || page.HasMore || page.FirstID != page.Data[0].ID || page.LastID != page.Data[len(page.Data)-1].ID {
		t.Errorf("%s", page.RawJSON())
	}
	count := 0
	pages := client.Models.ListAutoPaging(timed(t), anthropic.ModelListParams{})
	for ; pages.Next(); count++ {
		m := pages.Current()
		if m.Type != "model" || m.DisplayName == "" || m.CreatedAt.Format(time.DateOnly) != "1970-01-01" {
			t.Errorf("%s", m.RawJSON())
		}
	}
	if err := pages.Err(); err != nil || count != len(page.Data) {
		t.Errorf("%d models page by page, %d in one: %v", count, len(page.Data), err)
	}
	one, err := client.Models.Get(timed(t), p.model(messagesModel), anthropic.ModelGetParams{})
	if err != nil {
		t.Fatal(err)
	}
	if one.ID != p.model(messagesModel) || one.Type != "model" {
		t.Errorf("%s", one.RawJSON())
	}
	_, err = client.Models.Get(timed(t), "conformance/no-such-model", anthropic.ModelGetParams{})
	var refused *anthropic.Error
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown model: %v", err)
	}
}
