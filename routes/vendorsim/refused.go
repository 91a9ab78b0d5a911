package vendorsim

import (
	"encoding/json"
	"net/http"

	"github.com/warmroute/warmroute/catalog"
)

// refused is an error answer, before it is put into a dialect.
type refused struct {
	status  int
	kind    string // such as invalid_request_error
	message string
	param   string
	code    string
}

func (r *refused) Error() string { return r.message }

// refusal is a 400.
func refusal(param, message string) *refused {
	return &refused{status: http.StatusBadRequest, kind: "invalid_request_error", param: param, message: message}
}

// kindOf is the error type the vendors document for a status.
func kindOf(api catalog.API, status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	switch {
	case status < 500:
		return "invalid_request_error"
	case api == catalog.Messages:
		return "api_error"
	}
	return "server_error"
}

// openaiError is the error object of the APIs chat and responses.
type openaiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// anthropicError is the error body of the API messages.
type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id,omitempty"`
}

// body is the error in its dialect.
func (r *refused) body(api catalog.API) []byte {
	if api == catalog.Messages {
		e := anthropicError{Type: "error"}
		e.Error.Type, e.Error.Message = r.kind, r.message
		return encode(e)
	}
	return encode(struct {
		Error openaiError `json:"error"`
	}{r.openai()})
}

func (r *refused) openai() openaiError {
	e := openaiError{Message: r.message, Type: r.kind}
	if r.param != "" {
		e.Param = &r.param
	}
	if r.code != "" {
		e.Code = &r.code
	}
	return e
}

// encode is JSON of a value of this package, which always has one.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("vendorsim: " + err.Error())
	}
	return text
}
