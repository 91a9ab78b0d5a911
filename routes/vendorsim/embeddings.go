package vendorsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
)

// embedding is one vector of an answer.
type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // numbers, or base64 of 32-bit floats where the client asks for it
}

// embeddings is the answer of POST /v1/embeddings, with its usage.
type embeddings struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  struct {
		PromptTokens int64 `json:"prompt_tokens"`
		TotalTokens  int64 `json:"total_tokens"`
	} `json:"usage"`
}

// vectorSize is the length of a vector.
const vectorSize = 8

// embed answers with vectors that depend on the text alone, in the format asked
// for: float, or base64, which OpenAI's JavaScript client asks for. Nothing is cached.
func (v *Vendor) embed(model string, input json.RawMessage, format string) ([]byte, error) {
	switch format {
	case "", "float", "base64":
	default:
		return nil, refusal("encoding_format", "encoding_format: Input should be float or base64")
	}
	var texts []string
	input = bytes.TrimSpace(input)
	if len(input) > 0 && input[0] == '"' {
		texts = make([]string, 1)
		if err := json.Unmarshal(input, &texts[0]); err != nil {
			return nil, refusal("input", "input: Input should be a string or a list of strings")
		}
	} else if err := json.Unmarshal(input, &texts); err != nil || len(texts) == 0 {
		return nil, refusal("input", "input: Input should be a string or a list of strings")
	}
	answer := embeddings{Object: "list", Model: model}
	var size int64
	for i, text := range texts {
		size += int64(len(text))
		sum := sha256.Sum256([]byte(text))
		vector := make([]float32, vectorSize)
		packed := make([]byte, 0, 4*vectorSize)
		for j := range vector {
			vector[j] = float32(sum[j])/255*2 - 1
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(vector[j]))
		}
		e := embedding{Object: "embedding", Index: i, Embedding: vector}
		if format == "base64" {
			e.Embedding = base64.StdEncoding.EncodeToString(packed)
		}
		answer.Data = append(answer.Data, e)
	}
	answer.Usage.PromptTokens, answer.Usage.TotalTokens = tokens(size), tokens(size)
	return encode(answer), nil
}
