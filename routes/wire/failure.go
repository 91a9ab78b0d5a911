package wire

import (
	"net/http"

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
