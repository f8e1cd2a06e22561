package httpapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tandem/internal/op"
)

var wildcard = regexp.MustCompile(`\{([a-z_]+)(\.\.\.)?\}`)

// openAPI describes every operation that has a route, as OpenAPI 3.1.
func (s *Server) openAPI() ([]byte, error) {
	paths := map[string]map[string]any{}
	problem, err := jsonschema.For[Problem](nil)
	if err != nil {
		return nil, err
	}
	for _, o := range s.Gate.Table().All() {
		if o.Path == "" {
			continue
		}
		item, err := describe(o)
		if err != nil {
			return nil, err
		}
		add := func(method, path string) {
			path = wildcard.ReplaceAllString(path, "{$1}")
			if paths[path] == nil {
				paths[path] = map[string]any{}
			}
			paths[path][strings.ToLower(method)] = item(path, method)
		}
		add(o.Method, o.Path)
		for _, a := range o.Aliases {
			if a.Path != "" {
				add(a.Method, a.Path)
			}
		}
	}
	for _, routes := range s.Described {
		for pattern := range routes.Handlers {
			method, path, _ := strings.Cut(pattern, " ")
			path = wildcard.ReplaceAllString(path, "{$1}")
			if paths[path] == nil {
				paths[path] = map[string]any{}
			}
			if m := strings.ToLower(method); paths[path][m] == nil {
				paths[path][m] = mounted(routes, method, path)
			}
		}
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "tandem", "version": s.Version,
			"description": "One program with which a team of AI agents and people works on one codebase. Every route is one operation; " +
				"every operation passes one gate."},
		"security": []any{map[string]any{"token": []string{}}},
		"paths":    paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
			"schemas":         map[string]any{"Problem": problem},
		},
	})
}

// Routes are handlers of another door that the description names, though none of them is an operation.
type Routes struct {
	Tag, Doc string
	Public   bool // no token is needed
	Handlers map[string]http.Handler
}

// mounted describes a route that is no operation itself: it is there for clients whose shapes are not ours to choose.
func mounted(routes Routes, method, path string) map[string]any {
	object := map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object"}}}
	item := map[string]any{"operationId": strings.ToLower(method) + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "").Replace(path),
		"summary": routes.Doc, "tags": []string{routes.Tag},
		"responses": map[string]any{"200": map[string]any{"description": "done"}, "default": map[string]any{
			"description": "it did not happen, and why"}}}
	if routes.Public {
		item["security"] = []any{}
	}
	var params []map[string]any
	for _, m := range wildcard.FindAllStringSubmatch(path, -1) {
		params = append(params, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
	}
	if len(params) > 0 {
		item["parameters"] = params
	}
	if method == "POST" || method == "PUT" || method == "PATCH" {
		item["requestBody"] = map[string]any{"content": object}
	}
	return item
}

// describe prepares an operation's item; its parameters depend on the path.
func describe(o *op.Op) (func(path, method string) map[string]any, error) {
	in, err := o.InSchema()
	if err != nil {
		return nil, err
	}
	out, err := o.OutSchema()
	if err != nil {
		return nil, err
	}
	summary, rest, _ := strings.Cut(o.Doc, "\n")
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	answer := map[string]any{"description": "done", "content": map[string]any{"application/json": map[string]any{"schema": out}}}
	if o.Class == op.ClassStream {
		answer["content"] = map[string]any{"text/event-stream": map[string]any{}}
	}
	fails := map[string]any{"description": "it did not happen, and why",
		"content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}}}
	return func(path, method string) map[string]any {
		item := map[string]any{"operationId": o.Name + suffix(o, path, method), "summary": summary,
			"tags":           []string{strings.Split(o.Name, ".")[0]},
			"x-tandem-class": o.Class, "x-tandem-changes": o.Changes(), "x-tandem-right": o.Right,
			"responses": map[string]any{strconv.Itoa(status): answer, "4XX": fails, "default": fails}}
		if rest != "" {
			item["description"] = rest
		}
		if o.Public {
			item["security"] = []any{}
		}
		body := in.CloneSchemas()
		var params []any
		for _, f := range o.Fields() {
			inPath := strings.Contains(path, "{"+f.Name+"}")
			inQuery := method == "GET" || method == "DELETE"
			if !inPath && !inQuery {
				continue
			}
			place := "query"
			if inPath {
				place = "path"
			}
			params = append(params, map[string]any{"name": f.Name, "in": place, "required": inPath || f.Required, "description": f.Doc,
				"schema": in.Properties[f.Name]})
			delete(body.Properties, f.Name)
			body.Required = without(body.Required, f.Name)
			body.PropertyOrder = without(body.PropertyOrder, f.Name)
		}
		if len(params) > 0 {
			item["parameters"] = params
		}
		if len(body.Properties) > 0 && method != "GET" && method != "DELETE" {
			item["requestBody"] = map[string]any{"required": len(body.Required) > 0,
				"content": map[string]any{"application/json": map[string]any{"schema": body}}}
		}
		if o.Changes() && o.Class != op.ClassStream && !o.Once {
			item["parameters"] = append(params, map[string]any{"name": "Idempotency-Key", "in": "header",
				"schema":      map[string]any{"type": "string", "maxLength": op.MaxKey},
				"description": "repeat a request with the same key and it happens once"})
		}
		return item
	}, nil
}

// suffix keeps the ids of aliases apart.
func suffix(o *op.Op, path, method string) string {
	if method == o.Method && path == wildcard.ReplaceAllString(o.Path, "{$1}") {
		return ""
	}
	return "." + strings.ToLower(method) + "." + strings.Trim(strings.NewReplacer("/", "_", "{", "", "}", "").Replace(path), "_")
}

func without(list []string, name string) []string {
	var out []string
	for _, s := range list {
		if s != name {
			out = append(out, s)
		}
	}
	return out
}
