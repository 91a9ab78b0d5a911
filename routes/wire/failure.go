package wire

import (
	"net/http"
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// CutEvent is the event that tells a client of this dialect that its stream was
// cut. The caller flushes it and aborts the connection.
//
// The official OpenAI clients raise on an event whose data has an `error`, in
// both of their dialects; the responses event says the same once more at its
// top, where that dialect documents it.
func CutEvent(api catalog.API, message string) []byte {
	var b []byte
	switch api {
	case catalog.Messages:
		b = append(b, "event: error\ndata: "...)
		b = append(b, `{"type":"error","error":{"type":"api_error","message":`...)
		b = append(appendString(b, message), `}}`...)
	case catalog.Responses:
		b = append(b, "event: error\ndata: "...)
		b = append(b, `{"type":"error","sequence_number":0,"code":"upstream_error","message":`...)
		b = append(appendString(b, message), `,"param":null,"error":{"message":`...)
		b = append(appendString(b, message), `,"type":"upstream_error","param":null,"code":"upstream_error"}}`...)
	default:
		b = append(b, `data: {"error":{"message":`...)
		b = append(appendString(b, message), `,"type":"upstream_error","param":null,"code":"upstream_error"}}`...)
	}
	return append(b, "\n\n"...)
}

// ErrorBody is an error answer in the client's dialect. kind is a word for
// programs, such as model_not_found: OpenAI's type and code. Empty, the type
// follows from the status. The messages dialect has a closed set of types, which
// always follow from the status.
func ErrorBody(api catalog.API, status int, kind, message string) []byte {
	var b []byte
	if api == catalog.Messages {
		b = append(b, `{"type":"error","error":{"type":`...)
		b = append(appendString(b, anthropicType(status)), `,"message":`...)
		return append(appendString(b, message), `}}`...)
	}
	b = append(b, `{"error":{"message":`...)
	b = append(appendString(b, message), `,"type":`...)
	if kind == "" {
		b = append(appendString(b, openaiType(status)), `,"param":null,"code":null}}`...)
		return b
	}
	b = append(appendString(b, kind), `,"param":null,"code":`...)
	return append(appendString(b, kind), `}}`...)
}

// VendorError is an error answer that repeats what a vendor said inside an answer
// it had accepted. Type and code are the vendor's where the dialect has room for
// them; the messages dialect has a closed set of types.
func VendorError(api catalog.API, status int, e StreamError) []byte {
	if e.Message == "" {
		e.Message = "The vendor's answer was an error without a message."
	}
	kind := e.Type
	if api == catalog.Messages {
		if !slices.Contains(anthropicTypes, kind) {
			kind = anthropicType(status)
		}
		b := append([]byte(nil), `{"type":"error","error":{"type":`...)
		b = append(appendString(b, kind), `,"message":`...)
		return append(appendString(b, e.Message), `}}`...)
	}
	if kind == "" {
		kind = openaiType(status)
	}
	b := append([]byte(nil), `{"error":{"message":`...)
	b = append(appendString(b, e.Message), `,"type":`...)
	b = append(appendString(b, kind), `,"param":null,"code":`...)
	if e.Code == "" {
		return append(b, `null}}`...)
	}
	return append(appendString(b, e.Code), `}}`...)
}

// anthropicTypes are the types that the messages dialect documents.
var anthropicTypes = []string{
	"invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error",
	"request_too_large", "rate_limit_error", "timeout_error", "api_error", "overloaded_error",
}

// anthropicType is the type Anthropic documents for a status.
func anthropicType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// openaiType is the type OpenAI uses for a status.
func openaiType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}
