package vendorsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// Content that is sealed for the account that made it: the signature of a thinking
// block, where the request asks for thinking, and the encrypted content of a reasoning
// item, where it asks for that. What another account or vendor has sealed is refused.
// Sources: Anthropic's guide to extended thinking, OpenAI's to reasoning items.

// thought is what the answers think.
const thought = "First the tide, then the wind."

// seal makes the seal of an account. Nonce tells one from another.
func (v *Vendor) seal(account, nonce string) string {
	return base64.StdEncoding.EncodeToString([]byte(nonce + "." + v.sealed(account, nonce)))
}

func (v *Vendor) sealed(account, nonce string) string {
	sum := sha256.Sum256([]byte(v.config.Name + "\x00" + account + "\x00" + nonce))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// opens says whether a seal is the account's own.
func (v *Vendor) opens(account, seal string) bool {
	text, err := base64.StdEncoding.DecodeString(seal)
	nonce, rest, found := strings.Cut(string(text), ".")
	return err == nil && found && rest == v.sealed(account, nonce)
}

// asksForSeals reads whether the answer is to hold sealed content.
func (b *body) asksForSeals(p *prompt) {
	var thinking struct {
		Type string `json:"type"`
	}
	switch p.api {
	case catalog.Messages:
		_ = json.Unmarshal(b.Thinking, &thinking) // of another form it asks for nothing
		p.thinks = thinking.Type == "enabled" || thinking.Type == "adaptive"
	case catalog.Responses:
		p.thinks = slices.Contains(b.Include, "reasoning.encrypted_content")
	}
}

// checkSeals refuses what another account has sealed.
func (v *Vendor) checkSeals(account string, api catalog.API, raw []byte) error {
	var b struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Input json.RawMessage `json:"input"`
	}
	type block struct {
		Type      string  `json:"type"`
		Signature *string `json:"signature"`
		Data      *string `json:"data"`
		Encrypted *string `json:"encrypted_content"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	list := func(raw json.RawMessage) (blocks []block) {
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
			_ = json.Unmarshal(raw, &blocks) // of another form it holds no seal
		}
		return blocks
	}
	switch api {
	case catalog.Messages:
		for m := range b.Messages {
			for i, block := range list(b.Messages[m].Content) {
				seal, member := block.Signature, "signature"
				if block.Type == "redacted_thinking" {
					seal, member = block.Data, "data"
				} else if block.Type != "thinking" {
					continue
				}
				if seal == nil || !v.opens(account, *seal) {
					at := fmt.Sprintf("messages.%d.content.%d", m, i)
					return refusal(at, at+": Invalid `"+member+"` in `"+block.Type+"` block")
				}
			}
		}
	case catalog.Responses:
		for i, item := range list(b.Input) {
			if item.Type != "reasoning" || item.Encrypted == nil || v.opens(account, *item.Encrypted) {
				continue
			}
			return &refused{status: 400, kind: "invalid_request_error", param: fmt.Sprintf("input[%d]", i), code: "invalid_encrypted_content",
				message: fmt.Sprintf("The encrypted content of input[%d] could not be verified: it cannot be decrypted here.", i)}
		}
	}
	return nil
}

// thinkingBlock is a thinking block of an answer of the API messages.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// reasoningItem is a reasoning item of an answer of the API responses.
type reasoningItem struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Summary   []struct{} `json:"summary"`
	Encrypted string     `json:"encrypted_content"`
}

func (a *answer) thinking() thinkingBlock {
	return thinkingBlock{Type: "thinking", Thinking: thought, Signature: a.seal}
}

func (a *answer) reasoning() reasoningItem {
	return reasoningItem{ID: "rs_" + a.id, Type: "reasoning", Summary: []struct{}{}, Encrypted: a.seal}
}
