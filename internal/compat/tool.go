package compat

import (
	"encoding/json"
	"net/http"

	"tandem/internal/fault"
)

type toolInfo struct {
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Schema  json.RawMessage `json:"schema"`
	Changes bool            `json:"changes"`
}

func (q *request) tools() ([]toolInfo, error) {
	var out struct{ Tools []toolInfo }
	err := q.call("session.tools", obj{}, &out)
	return out.Tools, err
}

func toolIDs(q *request) (any, error) {
	list, err := q.tools()
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, t := range list {
		ids = append(ids, t.Name)
	}
	return ids, nil
}

func tools(q *request) (any, error) {
	list, err := q.tools()
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, t := range list {
		out = append(out, obj{"name": t.Name, "description": t.Doc, "input_schema": t.Schema, "inputSchema": t.Schema,
			"capabilities": obj{"writes_workspace": t.Changes}})
	}
	return out, nil
}

// toolAliases are names in the clients' examples that no tool ever had.
var toolAliases = map[string]string{"workspace_list_files": "list", "ls": "list"}

func execute(q *request) (any, error) {
	name, err := q.text("tool")
	if err != nil {
		return nil, err
	}
	if a, ok := toolAliases[name]; ok {
		name = a
	}
	args := q.body["args"]
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage(`{}`)
	}
	list, err := q.tools()
	if err != nil {
		return nil, err
	}
	known := false
	for _, t := range list {
		known = known || t.Name == name
	}
	if !known {
		return nil, fault.New(fault.NotFound, "tool.execute", "there is no tool %.60q", name).WithNext("list what there is: GET /tool/ids")
	}
	var out struct {
		Title  string
		Result struct {
			Text  string
			Error bool
			Meta  obj
		}
	}
	err = q.call("tool."+name, obj{"args": args}, &out)
	if kindOf(err) == fault.Pending {
		write(q.w, http.StatusConflict, obj{"error": err.Error(), "code": "TOOL_APPROVAL_REQUIRED", "retryable": true,
			"requestID": dataOf(err, "approval")})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	meta := obj{"title": out.Title, "error": out.Result.Error}
	for k, v := range out.Result.Meta {
		meta[k] = v
	}
	return obj{"output": out.Result.Text, "metadata": meta}, nil
}
