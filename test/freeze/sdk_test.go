package freeze

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/provider/scripted"
)

// walk goes through the published clients' routes and keeps the shape of every answer.
type walk struct {
	*house
	t      *testing.T
	person string
	shapes map[string]map[string]bool
}

// The shapes that the published clients read: names and kinds of fields, not their values. The clients themselves are run by the
// tests of internal/compat; these goldens also hold what they do not look at.
func TestFrozenShapesForSDKs(t *testing.T) {
	t.Parallel()
	h := start(t)
	w := &walk{house: h, t: t, shapes: map[string]map[string]bool{}}
	folder := filepath.Join(h.home, "code")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("# Hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	type m = map[string]any
	h.call(t, h.socket, "pin.set", m{"pin": pin}, nil)
	present := h.socket.WithPIN(pin)
	h.call(t, present, "provider.add", m{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}, nil)
	h.call(t, present, "folder.grant", m{"path": folder}, nil)
	var minted struct{ Secret string }
	h.call(t, present, "token.new", m{"actor": "owner", "decide": true, "expires_in_secs": 600}, &minted)
	w.person = minted.Secret

	for _, path := range []string{"/health", "/tool/ids", "/tool", "/provider", "/config/providers", "/provider/auth",
		"/permission", "/question", "/approvals/pending", "/session", "/mcp", "/resource", "/mcp/tools", "/mcp/resources"} {
		w.do(apiToken, "GET", path, "", nil)
	}
	w.do(apiToken, "POST", "/tool/execute", "", m{"tool": "workspace_list_files", "args": m{}})
	opened := w.do(apiToken, "POST", "/session", "", m{"title": "shape", "directory": folder,
		"model": m{"providerID": "fake", "modelID": "scripted-1"}})
	id := opened.(m)["id"].(string)
	at := "/session/" + id
	w.do(apiToken, "PATCH", at, "/session/{id}", m{"title": "renamed"})
	w.do(apiToken, "POST", at+"/prompt_sync", "/session/{id}/prompt_sync", m{"parts": []m{{"type": "text", "text": "[[say hello]]"}}})
	run := w.prompt(id, `[[tool todo {"todos":[{"content":"one","status":"pending"}]} ;; tool read {"path":"README.md"}]] [[say all done]]`)
	w.ended(id)
	w.do(apiToken, "GET", "/run/"+run+"/events", "/run/{run}/events", nil)
	w.prompt(id, `[[tool write {"path":"out.txt","content":"once"}]] [[say written]]`)
	ask := w.until("/permission", "requests", id)
	w.do(apiToken, "GET", "/approvals/pending", "", nil)
	w.do(w.person, "POST", "/permission/"+ask+"/reply", "/permission/{ask}/reply", m{"reply": "once"})
	w.ended(id)
	w.prompt(id, `[[tool question {"questions":[{"question":"Which colour?","options":[{"label":"Blue"}]}]}]] [[say so]]`)
	question := w.until("/question", "", id)
	w.do(apiToken, "POST", "/question/"+question+"/reply", "/question/{question}/reply", m{"answer": "Blue"})
	w.ended(id)
	for _, path := range []string{"", "/message", "/todo", "/run", "/diff"} {
		w.do(apiToken, "GET", at+path, "/session/{id}"+path, nil)
	}
	fork := w.do(apiToken, "POST", at+"/fork", "/session/{id}/fork", m{}).(m)["id"].(string)
	w.do(apiToken, "GET", at+"/children", "/session/{id}/children", nil)
	for _, path := range []string{"/revert", "/unrevert", "/cancel", "/abort"} {
		w.do(apiToken, "POST", "/session/"+fork+path, "/session/{id}"+path, m{})
	}
	w.do(apiToken, "DELETE", "/session/"+fork, "/session/{id}", nil)
	w.do(apiToken, "GET", "/session/"+fork, "/session/{id} (deleted)", nil)
	w.do(apiToken, "PUT", "/resource/project/sdk", "/resource/{key}", m{"value": m{"a": 1}})
	w.do(apiToken, "GET", "/resource/project/sdk", "/resource/{key}", nil)
	w.do(apiToken, "GET", "/resource?prefix=project", "/resource", nil)
	w.do(apiToken, "DELETE", "/resource/project/sdk", "/resource/{key}", nil)
	w.do(apiToken, "GET", "/nosuch", "/nosuch", nil)
	today := map[string]string{}
	for _, route := range sorted(w.shapes) {
		file := strings.Split(strings.Trim(strings.Fields(route)[1], "/"), "/")[0] + ".txt"
		today[file] += "==== " + route + "\n" + strings.Join(sorted(w.shapes[route]), "\n") + "\n"
	}
	Check(t, "sdk", today)
}

// do sends a request and keeps the shape of its answer under the route's pattern.
func (w *walk) do(bearer, method, path, pattern string, body any) any {
	w.t.Helper()
	if pattern == "" {
		pattern = path
	}
	status, data := w.ask(w.t, bearer, method, path, body)
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		w.t.Fatalf("%s %s: %d %v %s", method, path, status, err, data)
	}
	route := method + " " + pattern
	if w.shapes[route] == nil {
		w.shapes[route] = map[string]bool{}
	}
	w.shapes[route][fmt.Sprintf("status %d", status)] = true
	shape(v, "", w.shapes[route])
	return v
}

// named are objects whose keys are data: their fields are kept under one name.
var named = map[string]bool{".providers": true, ".schema.properties": true, "[].input_schema.properties": true,
	"[].schema.properties": true, "[].parameters.properties": true}

func shape(v any, at string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		into[orTop(at)+" object"] = true
		for k, e := range v {
			if named[at] {
				k = "*"
			}
			shape(e, at+"."+k, into)
		}
	case []any:
		into[orTop(at)+" list"] = true
		for _, e := range v {
			shape(e, at+"[]", into)
		}
	case string:
		into[at+" string"] = true
	case float64:
		into[at+" number"] = true
	case bool:
		into[at+" bool"] = true
	case nil:
		into[orTop(at)+" null"] = true
	}
}

func orTop(at string) string {
	if at == "" {
		return "answer"
	}
	return at
}

func (w *walk) prompt(id, text string) string {
	w.t.Helper()
	body := map[string]any{"parts": []map[string]any{{"type": "text", "text": text}}}
	v := w.do(apiToken, "POST", "/session/"+id+"/prompt_async?return=run", "/session/{id}/prompt_async", body)
	run, _ := v.(map[string]any)["runID"].(string)
	if run == "" {
		w.t.Fatalf("no run: %v", v)
	}
	return run
}

// ended waits until a session has no open run.
func (w *walk) ended(id string) {
	w.t.Helper()
	w.poll("the run to end", func() bool {
		_, data := w.ask(w.t, apiToken, "GET", "/session/"+id+"/run", nil)
		var v struct{ Active any }
		return json.Unmarshal(data, &v) == nil && v.Active == nil
	})
}

// until waits for an entry of a list that belongs to a session, and returns its id.
func (w *walk) until(path, list, session string) (id string) {
	w.t.Helper()
	w.poll("an entry at "+path, func() bool {
		_, data := w.ask(w.t, apiToken, "GET", path, nil)
		var v map[string]json.RawMessage
		var entries []map[string]any
		if list == "" { // the answer itself is the list
			v = map[string]json.RawMessage{"": data}
		} else if json.Unmarshal(data, &v) != nil {
			return false
		}
		if json.Unmarshal(v[list], &entries) != nil {
			return false
		}
		for _, e := range entries {
			if e["sessionID"] == session && (e["status"] == "pending" || list == "") {
				id, _ = e["id"].(string)
			}
		}
		return id != ""
	})
	w.do(apiToken, "GET", path, "", nil)
	return id
}

func (w *walk) poll(what string, done func() bool) {
	w.t.Helper()
	late := time.After(30 * time.Second)
	for !done() {
		select {
		case <-late:
			w.t.Fatalf("waited 30 s for %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
