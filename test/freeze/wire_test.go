package freeze

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The document that HTTP clients are made from, a file for each noun.
func TestFrozenOpenAPI(t *testing.T) {
	t.Parallel()
	h := start(t)
	status, data := h.ask(t, apiToken, "GET", "/openapi.json", nil)
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	delete(doc["info"].(map[string]any), "version") // a build's own
	nouns := map[string]map[string]any{}
	for path, methods := range doc["paths"].(map[string]any) {
		for method, item := range methods.(map[string]any) {
			noun := item.(map[string]any)["tags"].([]any)[0].(string)
			if nouns[noun] == nil {
				nouns[noun] = map[string]any{}
			}
			nouns[noun][strings.ToUpper(method)+" "+path] = item
		}
	}
	delete(doc, "paths")
	today := map[string]string{"_document.json": Lay(doc)}
	for noun, items := range nouns {
		today[noun+".json"] = Lay(items)
	}
	Check(t, "openapi", today)
}

type listed struct {
	Name        string         `json:"name"`
	Annotations map[string]any `json:"annotations"`
	Schema      map[string]any `json:"inputSchema"`
	Description string         `json:"description"`
}

// What MCP clients are shown: tools with their hints, a file for each noun, and which callers see which.
func TestFrozenMCP(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.call(t, h.socket, "pin.set", map[string]any{"pin": pin}, nil)
	present := h.socket.WithPIN(pin)
	callers := map[string]string{"api-token": apiToken}
	for _, kind := range []string{"agent", "service", "person"} {
		name := "a-" + kind
		var minted struct{ Secret string }
		h.call(t, present, "actor.add", map[string]any{"name": name, "kind": kind}, nil)
		h.call(t, present, "token.new", map[string]any{"actor": name}, &minted)
		callers[kind] = minted.Secret
	}
	today, nouns, seen := map[string]string{}, map[string]map[string]any{}, map[string]bool{}
	for who, bearer := range callers {
		var names strings.Builder
		for _, tool := range h.tools(t, bearer) {
			fmt.Fprintln(&names, tool.Name)
			if seen[tool.Name] {
				continue
			}
			seen[tool.Name] = true
			noun := Noun(tool.Name)
			if nouns[noun] == nil {
				nouns[noun] = map[string]any{}
			}
			nouns[noun][tool.Name] = tool
		}
		today["_seen-by-"+who+".txt"] = names.String()
	}
	for noun, tools := range nouns {
		today[noun+".json"] = Lay(tools)
	}
	Check(t, "mcp", today)
}

func (h *house) tools(t *testing.T, bearer string) []listed {
	t.Helper()
	list := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{}}
	status, data := h.ask(t, bearer, "POST", "/mcp", list)
	var answer struct{ Result struct{ Tools []listed } }
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Result.Tools) == 0 {
		t.Fatalf("tools/list: %d %v %s", status, err, data)
	}
	return answer.Result.Tools
}
