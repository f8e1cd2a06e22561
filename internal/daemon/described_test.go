package daemon

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The API's description left out what the published clients call, and how chat apps sign in: who made a client from it could not
// prompt a session as those do.
func TestTheDescriptionHasTheClientsRoutes(t *testing.T) {
	d, url := walked(t)
	status, text := send(t, "GET", url+"/openapi.json", nil, map[string]string{"Authorization": "Bearer " + walkAPI})
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	ids, routes := map[string]bool{}, 0
	for path, methods := range doc.Paths {
		for method, item := range methods {
			if ids[item.ID] {
				t.Errorf("%s %s: another route has the id %s", method, path, item.ID)
			}
			ids[item.ID] = true
		}
	}
	for _, group := range d.web.Described {
		for pattern := range group.Handlers {
			method, path, _ := strings.Cut(pattern, " ")
			item, ok := doc.Paths[path][strings.ToLower(method)]
			if !ok {
				t.Errorf("%s is not described", pattern)
			}
			for part := range strings.SplitSeq(path, "/") {
				name, isParameter := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
				inPath := func(p struct{ Name, In string }) bool { return p.Name == name && p.In == "path" }
				if isParameter && !slices.ContainsFunc(item.Parameters, inPath) {
					t.Errorf("%s: %s is no parameter", pattern, name)
				}
			}
			routes++
		}
	}
	if routes < 45 {
		t.Errorf("%d routes of clients", routes)
	}
}
