package vendorsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// oursTopLevel are members meant for a gateway. No vendor knows them; two are
// OpenRouter's and may be accepted by configuration.
var oursTopLevel = []string{
	"session_id", "sessionId", "providerOptions", "caching", "cache_ttl", "models", "provider",
}

// body is what the three dialects ask with; each reads its own members.
type body struct {
	Model               string            `json:"model"`
	Stream              bool              `json:"stream"`
	StreamOptions       *streamOptions    `json:"stream_options"`
	Messages            []json.RawMessage `json:"messages"`
	Input               json.RawMessage   `json:"input"`
	Instructions        json.RawMessage   `json:"instructions"`
	System              json.RawMessage   `json:"system"`
	Tools               []json.RawMessage `json:"tools"`
	ResponseFormat      json.RawMessage   `json:"response_format"`
	MaxTokens           *int64            `json:"max_tokens"`
	MaxCompletionTokens *int64            `json:"max_completion_tokens"`
	MaxOutputTokens     *int64            `json:"max_output_tokens"`
	CacheControl        json.RawMessage   `json:"cache_control"`
	CacheRetention      string            `json:"prompt_cache_retention"`
	CacheOptions        struct {
		TTL string `json:"ttl"`
	} `json:"prompt_cache_options"`
	Thinking           json.RawMessage `json:"thinking"`
	Include            []string        `json:"include"`
	ServiceTier        string          `json:"service_tier"`
	PreviousResponseID string          `json:"previous_response_id"`
	Store              *bool           `json:"store"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// readPrompt reads a body as strictly as a strict vendor. The error is a *refused.
func (v *Vendor) readPrompt(api catalog.API, raw []byte) (*prompt, error) {
	p, err := v.readBody(api, raw)
	var r *refused
	if err != nil && !errors.As(err, &r) {
		return nil, refusal("", "We could not parse the JSON body of your request: "+err.Error())
	}
	return p, err
}

func (v *Vendor) readBody(api catalog.API, raw []byte) (*prompt, error) {
	if err := v.checkMembers(api, raw); err != nil {
		return nil, err
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, err
	}
	if err := v.checkModel(b.Model); err != nil {
		return nil, err
	}
	p := &prompt{api: api, model: b.Model, stream: b.Stream, turn: 1, tier: b.ServiceTier}
	p.includeUsage = b.StreamOptions != nil && b.StreamOptions.IncludeUsage
	p.retention = b.retention()
	b.asksForSeals(p)
	if err := b.setLimit(p); err != nil {
		return nil, err
	}
	for _, tool := range b.Tools {
		if err := p.add("tool", tool); err != nil {
			return nil, err
		}
	}
	if err := b.addTo(p); err != nil {
		return nil, err
	}
	return p, v.checkMarkers(p)
}

// checkMembers refuses members a strict vendor does not know.
func (v *Vendor) checkMembers(api catalog.API, raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, list := range [][]string{oursTopLevel, v.config.Refuses} {
		for _, name := range list {
			if _, present := members[name]; !present || slices.Contains(v.config.Accepts, name) {
				continue
			}
			if api == catalog.Messages {
				return refusal(name, name+": Extra inputs are not permitted")
			}
			return &refused{status: 400, kind: "invalid_request_error", param: name,
				code: "unknown_parameter", message: "Unknown parameter: '" + name + "'."}
		}
	}
	return nil
}

// checkModel refuses a model that is missing or not known.
func (v *Vendor) checkModel(model string) error {
	if model == "" {
		return refusal("model", "model: Field required")
	}
	if len(v.config.Models) > 0 && !slices.Contains(v.config.Models, model) {
		return &refused{status: 404, kind: "not_found_error", param: "model", code: "model_not_found",
			message: "The model `" + model + "` does not exist or you do not have access to it."}
	}
	return nil
}

// setLimit reads the output limit, under the name the dialect has for it.
func (b *body) setLimit(p *prompt) error {
	limit, name := b.MaxTokens, "max_tokens"
	switch {
	case p.api == catalog.Responses:
		limit, name = b.MaxOutputTokens, "max_output_tokens"
	case p.api == catalog.Chat && b.MaxCompletionTokens != nil:
		limit, name = b.MaxCompletionTokens, "max_completion_tokens"
	case p.api == catalog.Messages && limit == nil:
		return refusal(name, "max_tokens: Field required")
	}
	if limit == nil {
		return nil
	}
	if *limit < 1 {
		return refusal(name, name+": Input should be greater than or equal to 1")
	}
	p.maxTokens = *limit
	return nil
}

// retention is the lifetime asked of an implicit cache, 0 where none is. Source:
// OpenAI's guide to prompt caching, prompt_cache_retention and
// prompt_cache_options.
func (b *body) retention() time.Duration {
	if b.CacheRetention == "24h" {
		return 24 * time.Hour
	}
	if d, err := time.ParseDuration(b.CacheOptions.TTL); err == nil && d > 0 {
		return d
	}
	return 0
}

// addTo appends what follows the tools.
func (b *body) addTo(p *prompt) error {
	switch p.api {
	case catalog.Responses:
		return b.addResponses(p)
	case catalog.Chat:
		if len(b.ResponseFormat) > 0 && string(b.ResponseFormat) != "null" {
			if err := p.add("response_format", b.ResponseFormat); err != nil {
				return err
			}
		}
	case catalog.Messages:
		if len(b.System) > 0 && string(b.System) != "null" {
			if err := p.addContent("system", "", b.System); err != nil {
				return err
			}
		}
	}
	if len(b.Messages) == 0 {
		return refusal("messages", "messages: at least one message is required")
	}
	if err := p.addMessages(b.Messages); err != nil {
		return err
	}
	// A marker at the top stands for one on the last block.
	if m, found := readMarker(b.CacheControl); found {
		return p.markTop(m)
	}
	return nil
}

func (b *body) addResponses(p *prompt) error {
	p.previous, p.unstored = b.PreviousResponseID, b.Store != nil && !*b.Store
	if len(b.Instructions) > 0 && string(b.Instructions) != "null" {
		if err := p.addContent("system", "", b.Instructions); err != nil {
			return err
		}
	}
	p.items = len(p.segments)
	input := bytes.TrimSpace(b.Input)
	switch {
	case len(input) == 0 || string(input) == "null":
		return refusal("input", "input: Field required")
	case input[0] == '"':
		return p.addContent("message", "user", input)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(input, &items); err != nil || len(items) == 0 {
		return refusal("input", "input: Input should be a string or a list of items")
	}
	return p.addItems(items)
}

// maxMarkers is how many cache_control markers a request may carry.
const maxMarkers = 4

// checkMarkers refuses a fifth marker, one on a block that may have none, and a one-hour
// marker after a shorter one; and any, where the vendor knows none.
func (v *Vendor) checkMarkers(p *prompt) error {
	if p.markerCount > 0 && slices.Contains(v.config.Refuses, catalog.MarkerMember) {
		return refusal(catalog.MarkerMember, catalog.MarkerMember+": Extra inputs are not permitted")
	}
	if v.config.Cache.Family != catalog.Explicit {
		return nil
	}
	if p.misplaced != "" {
		return refusal(catalog.MarkerMember, p.misplaced)
	}
	if p.markerCount > maxMarkers {
		return refusal("cache_control", "A maximum of 4 blocks with cache_control may be provided. Found "+
			strconv.Itoa(p.markerCount)+".")
	}
	short := false
	for i := range p.segments {
		s := &p.segments[i]
		if !s.marked {
			continue
		}
		if short && s.ttl == time.Hour {
			return refusal("cache_control", "cache_control.ttl: a ttl='1h' block must not come after a ttl='5m' block; "+
				"blocks are processed in the order tools, system, messages")
		}
		short = short || s.ttl != time.Hour
	}
	return nil
}
