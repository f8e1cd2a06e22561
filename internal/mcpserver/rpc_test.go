package mcpserver

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// What is no JSON, and a method that MCP does not have, were answered with a line of text and no code.
func TestUnreadableMessagesHaveCodes(t *testing.T) {
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{bad`, `{"error":{"code":-32700,"message":"this is not JSON"},"id":null,"jsonrpc":"2.0"}`, 400},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`,
			`{"error":{"code":-32601,"message":"there is no method \"no/such\""},"id":7,"jsonrpc":"2.0"}`, 200},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "", 200},
		{`{"jsonrpc":"2.0","method":"no/such"}`, "", 200},
		{``, "", 200},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/mcp", strings.NewReader(c.body))
		goesOn := readable(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != c.want || w.Code != c.status || goesOn != (c.want == "") {
			t.Errorf("%s: %d %s, goes on: %v", c.body, w.Code, got, goesOn)
		}
		if left, err := io.ReadAll(r.Body); err != nil || string(left) != c.body {
			t.Errorf("%s: the body is %q, %v", c.body, left, err)
		}
	}
}
