package routes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"
)

// OpenAPI is the OpenAPI 3.1 document of the API as these options serve it. It is made
// from what the router has and from the Go types that answers are made of. Members may
// be added to answers; readers pass over those they do not know. Beside it are the two
// paths of the client address that other gateways use, which name its server.
func (o APIOptions) OpenAPI() ([]byte, error) {
	defs := schemas{map[string]any{}, map[string]reflect.Type{}}
	paths := map[string]any{}
	problem := map[string]any{
		"description": "What is wrong and what to do, as RFC 9457 has it.",
		"content":     map[string]any{"application/problem+json": map[string]any{"schema": defs.of(reflect.TypeFor[problemShape]())}},
	}
	for _, e := range o.endpoints() {
		schema := map[string]any{"type": "object"}
		if e.answer != nil {
			schema = defs.of(reflect.TypeOf(e.answer))
		}
		content := map[string]any{"application/json": map[string]any{"schema": schema}}
		if e.rows {
			content["text/csv"] = map[string]any{"schema": map[string]any{"type": "string"}}
		}
		responses := map[string]any{"200": map[string]any{"description": "The answer.", "content": content}, "default": problem}
		if e.missing {
			responses["404"] = problem
		}
		parameters := make([]any, 0, len(e.parameters))
		for _, p := range e.parameters {
			in := "query"
			if p.inPath {
				in = "path"
			}
			parameters = append(parameters, map[string]any{"name": p.name, "in": in, "required": p.inPath, "description": p.about, "schema": p.schema})
		}
		paths[e.template()] = map[string]any{"get": map[string]any{
			"operationId": e.name, "summary": e.about, "parameters": parameters, "responses": responses,
		}}
	}
	maps.Copy(paths, sidecarPaths(defs))
	document, err := json.Marshal(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "warmroute", "version": "1",
			"description": "The books of a warmroute gateway. Money, prices per million tokens and rates are decimals in strings; what is not known is null.",
			"license":     map[string]any{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []any{map[string]any{"url": "/", "description": "the admin address"}},
		"paths":      paths,
		"components": map[string]any{"schemas": defs.all},
	})
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return append(document, '\n'), nil
}

// openAPI answers with the document.
func (a *api) openAPI(c *gin.Context, _ asked) {
	document, err := a.OpenAPI()
	if err != nil {
		troubled(c, err)
		return
	}
	write(c, http.StatusOK, "application/json", document)
}
