package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody is the most that one message may have.
const maxBody = 16 << 20

// The errors of JSON-RPC that a message can meet before it is a call.
const (
	parseError     = -32700
	methodNotFound = -32601
)

// groups are the methods of MCP, by what they begin with; which of them are served, the server itself says.
var groups = []string{"initialize", "ping", "tools/", "resources/", "prompts/", "completion/", "logging/", "roots/", "sampling/",
	"elicitation/", "tasks/", "server/", "subscriptions/", "notifications/"}

// readable answers a message that is no JSON, or that calls a method which MCP does not have, as JSON-RPC wants it, and says whether the
// request goes on. The library answers both with a line of text, which no client reads.
func readable(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		return true
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		rpcFail(w, http.StatusRequestEntityTooLarge, json.RawMessage("null"), parseError, "a message arrives whole, and has at most 16 MiB")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 || len(body) > maxBody {
		return true // the library says so
	}
	if !json.Valid(body) {
		rpcFail(w, http.StatusBadRequest, json.RawMessage("null"), parseError, "this is not JSON")
		return false
	}
	var msg struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &msg) != nil || msg.Method == "" || len(msg.ID) == 0 || known(msg.Method) {
		return true
	}
	rpcFail(w, http.StatusOK, msg.ID, methodNotFound, fmt.Sprintf("there is no method %.60q", msg.Method))
	return false
}

func known(method string) bool {
	for _, g := range groups {
		if method == g || strings.HasSuffix(g, "/") && strings.HasPrefix(method, g) {
			return true
		}
	}
	return false
}

func rpcFail(w http.ResponseWriter, status int, id json.RawMessage, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	problem := map[string]any{"code": code, "message": message}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": problem}) // who hung up needs no answer
}
