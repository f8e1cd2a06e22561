package compat

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"tandem/internal/fault"
)

// connector is the part of a connector that the clients know.
type connector struct {
	Name     string    `json:"name"`
	URL      string    `json:"url"`
	Command  []string  `json:"command"`
	Allow    []string  `json:"allow"`
	Enabled  bool      `json:"enabled"`
	State    string    `json:"state"`
	Failure  string    `json:"failure"`
	Digest   string    `json:"digest"`
	SyncedAt time.Time `json:"synced_at"`
	Tools    []struct {
		Name   string          `json:"name"`
		Doc    string          `json:"doc"`
		Schema json.RawMessage `json:"schema"`
	} `json:"tools"`
}

func (c connector) record() obj {
	transport := c.URL
	if transport == "" {
		transport = "stdio:" + strings.Join(c.Command, " ")
	}
	o := obj{"name": c.Name, "transport": transport, "enabled": c.Enabled, "connected": c.State == "ready" && c.Enabled, "state": c.State,
		"tool_cache": c.tools(),
		"headers":    obj{}, "secret_headers": obj{}}
	if c.Failure != "" {
		o["last_error"] = c.Failure
	}
	if c.State == "quarantined" {
		o["last_error"] = "its tools have to be accepted by a person: tandem connector accept " + c.Name
	}
	if len(c.Allow) > 0 {
		o["allowed_tools"] = c.Allow
	}
	return o
}

func (c connector) tools() []any {
	out := []any{}
	for _, t := range c.Tools {
		out = append(out, obj{"server_name": c.Name, "tool_name": t.Name, "namespaced_name": "mcp." + c.Name + "." + t.Name, "description": t.Doc,
			"input_schema": t.Schema,
			"schema_hash":  c.Digest, "fetched_at_ms": ms(c.SyncedAt)})
	}
	return out
}

func (q *request) connectors() ([]connector, error) {
	var out struct{ Connectors []connector }
	err := q.call("connector.list", obj{}, &out)
	return out.Connectors, err
}

// connectorRoutes are the clients' routes for outside servers, beside /mcp itself.
var connectorRoutes = map[string]handler{
	"GET /mcp/tools":              connectorTools,
	"GET /mcp/resources":          func(*request) (any, error) { return []any{}, nil },
	"POST /mcp/{name}/connect":    syncConnector,
	"POST /mcp/{name}/refresh":    syncConnector,
	"POST /mcp/{name}/disconnect": disableConnector,
	"PATCH /mcp/{name}":           patchConnector,
	"DELETE /mcp/{name}":          removeConnector,
}

// MCP shares one path with the server's own MCP door: what speaks MCP goes there, the clients' lists and additions stay here.
func (s *Server) MCP(door http.Handler) http.Handler {
	list, add := s.handle(listConnectors), s.handle(addConnector)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if speaksMCP(r) {
			door.ServeHTTP(w, r)
			return
		}
		switch r.Method {
		case http.MethodGet:
			list.ServeHTTP(w, r)
		case http.MethodPost:
			add.ServeHTTP(w, r)
		default:
			door.ServeHTTP(w, r)
		}
	})
}

// speaksMCP tells by its headers, or by a body that is JSON-RPC, that a request is for the MCP door.
func speaksMCP(r *http.Request) bool {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return true
	}
	for _, h := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method"} {
		if r.Header.Get(h) != "" {
			return true
		}
	}
	if r.Method != http.MethodPost || r.Body == nil {
		return false
	}
	b, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	if err != nil {
		return true // the door says what is wrong
	}
	trimmed := bytes.TrimSpace(b)
	var head struct {
		Version string `json:"jsonrpc"`
	}
	return bytes.HasPrefix(trimmed, []byte("[")) || json.Unmarshal(trimmed, &head) == nil && head.Version != ""
}

func listConnectors(q *request) (any, error) {
	all, err := q.connectors()
	out := obj{}
	for _, c := range all {
		out[c.Name] = c.record()
	}
	return out, err
}

func addConnector(q *request) (any, error) {
	name, err := q.text("name")
	if err != nil {
		return nil, err
	}
	transport, err := q.text("transport", "url")
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(transport, "stdio:") {
		return nil, fault.New(fault.Denied, "mcp.add", "a program is not added over the network: it would be running code").
			WithNext("a person adds it: tandem connector add %s -- PROGRAM", name)
	}
	var headers map[string]string
	var allow []string
	for _, e := range []error{q.get(&headers, "headers"), q.get(&allow, "allowed_tools", "allowedTools")} {
		if e != nil {
			return nil, e
		}
	}
	if len(headers) > 1 {
		return nil, fault.New(fault.Invalid, "mcp.add", "a connector has one header, which carries its secret")
	}
	in := obj{"name": name, "url": transport, "allow": allow}
	for h := range headers {
		in["header"] = h
	}
	if err := q.call("connector.add", in, nil); err != nil {
		return nil, err
	}
	for _, v := range headers {
		if err := q.call("connector.secret", obj{"name": name, "secret": v}, nil); err != nil {
			return nil, err
		}
	}
	return obj{"ok": true, "name": name}, nil
}

func connectorTools(q *request) (any, error) {
	all, err := q.connectors()
	out := []any{}
	for _, c := range all {
		if c.State == "ready" && c.Enabled {
			out = append(out, c.tools()...)
		}
	}
	return out, err
}

func syncConnector(q *request) (any, error) {
	in := obj{"name": q.PathValue("name")}
	if err := q.call("connector.update", obj{"name": in["name"], "enabled": true}, nil); err != nil {
		return nil, err
	}
	var c connector
	err := q.call("connector.sync", in, &c)
	if dataOf(err, "auth") == "required" {
		return signIn(q)
	}
	if err != nil {
		return nil, err
	}
	r := c.record()
	r["ok"], r["count"], r["pendingAuth"] = true, len(c.Tools), false
	return r, nil
}

func disableConnector(q *request) (any, error) {
	err := q.call("connector.update", obj{"name": q.PathValue("name"), "enabled": false}, nil)
	return obj{"ok": err == nil}, err
}

func patchConnector(q *request) (any, error) {
	in := obj{"name": q.PathValue("name")}
	if raw, ok := q.body["enabled"]; ok {
		in["enabled"] = raw
	}
	if raw, ok := q.body["allowed_tools"]; ok {
		in["allow"] = raw
	}
	if string(q.body["clear_allowed_tools"]) == "true" {
		in["allow"] = []string{}
	}
	var c connector
	err := q.call("connector.update", in, &c)
	r := c.record()
	r["ok"] = err == nil
	return r, err
}

func removeConnector(q *request) (any, error) {
	err := q.call("connector.remove", obj{"name": q.PathValue("name")}, nil)
	return obj{"ok": err == nil}, err
}
