package routes

import "reflect"

// sidecarPaths are the paths of the client address at which other gateways ask and
// report, as OpenAPI describes them.
func sidecarPaths(defs schemas) map[string]any {
	body := func(shape reflect.Type) map[string]any {
		return map[string]any{"application/json": map[string]any{"schema": defs.of(shape)}}
	}
	failed := map[string]any{
		"description": "What is wrong and what to do: the status is that of a turn which could not be served.",
		"content":     body(reflect.TypeFor[failedShape]()),
	}
	post := func(name, about string, asked, told reflect.Type) map[string]any {
		return map[string]any{
			"servers": []any{map[string]any{"url": "http://127.0.0.1:8080", "description": "the client address, with a tenant's key where there are tenants"}},
			"post": map[string]any{
				"operationId": name, "summary": about,
				"requestBody": map[string]any{"required": true, "content": body(asked)},
				"responses":   map[string]any{"200": map[string]any{"description": "The answer.", "content": body(told)}, "default": failed},
			},
		}
	}
	return map[string]any{
		"/v1/route": post("route", "Decides who should serve a request that another gateway will send.",
			reflect.TypeFor[askShape](), reflect.TypeFor[decidedShape]()),
		"/v1/outcomes": post("outcomes", "Takes how the attempts of such a turn went: all so far, in their order. What is told again changes nothing.",
			reflect.TypeFor[reportShape](), reflect.TypeFor[toldShape]()),
	}
}

// failedShape is an error on the client address, whatever the dialect of the turn.
type failedShape struct {
	Error failingShape `json:"error"`
}

type failingShape struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}
