package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// rpc sends one message to /mcp as it stands and returns status and body.
func (s *server) rpc(token string, body []byte, header ...string) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, data}, err
}

func toolCall(name string, args any) []byte {
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		panic(err)
	}
	return data
}

// refused reports whether a tool call was an error of some kind.
func refused(a answer) bool {
	return a.status >= 400 || bytes.Contains(a.body, []byte(`"isError":true`)) || bytes.Contains(a.body, []byte(`"error":{`))
}

// A hostile MCP client holds an agent's token and sends what no honest client
// would: forbidden tools under every spelling, presence in headers and _meta,
// malformed and enormous messages, many at once. It decides nothing, and the
// server stays up and quick.
func TestHostileMCPClient(t *testing.T) {
	s := newServer(t).start()
	a := newAsking(s)
	c := &asked{key: "asked/by-agent"}
	if err := a.advance(t.Context(), c); err != nil || c.id == "" {
		t.Fatalf("%+v: %v", c, err)
	}
	if got, err := s.rpc(a.agent, toolCall("resource_put", map[string]any{"key": "honest", "value": 1})); err != nil || refused(got) ||
		!strings.Contains(got.String(), "honest") {
		t.Fatalf("an honest call: %s %v", got, err)
	}
	for _, token := range []string{a.agent, a.decider, apiToken} { // a deciding token decides over HTTP, never here
		for _, name := range []string{"approval.decide", "approval_decide", "Approval_Decide", "approval_decide ", "approval/decide", "token_new",
			"token.new",
			"grant_add", "policy_edit", "pin_set", "audit_export", "server_stop", "signin_link", "actor_disable", "../approval_decide", "",
			"resource_sweep"} {
			args := map[string]any{"id": c.id, "decision": "approve", "actor": "owner", "pin": "111222", "rules": "", "principal": "agent:builder",
				"resource": "*:/"}
			for _, header := range [][]string{nil, {"Tandem-Present", "pin"}, {"Mcp-Name", "resource_list"}} {
				got, err := s.rpc(token, toolCall(name, args), header...)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !refused(got) {
					t.Errorf("the tool %q with %v: %s", name, header, got)
				}
			}
		}
	}
	meta := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approval_decide","_meta":{"present":"pin","caller":{"ki` +
		`nd":"person"}},"arguments":{"id":"` + c.id + `","decision":"approve"}}}`)
	if got, err := s.rpc(a.agent, meta); err != nil || !refused(got) {
		t.Errorf("presence in _meta: %s %v", got, err)
	}
	deep := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"resource_put","arguments":{"key":"x","value":` +
		strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}}}`
	for name, body := range map[string]string{
		"nothing":        "",
		"no JSON":        "GET / HTTP/1.1\r\n\r\n",
		"broken JSON":    `{"jsonrpc":"2.0","id":1,"method":"tools/ca`,
		"bad UTF-8":      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}",
		"a number":       "7",
		"an empty batch": "[]",
		"no such method": `{"jsonrpc":"2.0","id":1,"method":"server/shutdown"}`,
		"wrong types":    `{"jsonrpc":"2.0","id":{"a":1},"method":["x"],"params":7}`,
		"unknown arguments": string(toolCall("resource_put",
			map[string]any{"key": "x", "value": 1, "__proto__": map[string]any{"admin": true}})),
		"a path that climbs": string(toolCall("resource_put", map[string]any{"key": "../../etc/passwd", "value": 1})),
		"very deep":          deep,
		"very large":         string(toolCall("resource_put", map[string]any{"key": "x", "value": strings.Repeat("x", 20<<20)})),
		"a million keys": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"resource_put","arguments":{` +
			strings.Repeat(`"a":1,`, 1_000_000) + `"b":1}}}`,
	} {
		began := time.Now()
		got, err := s.rpc(a.agent, []byte(body))
		if err == nil && !refused(got) {
			t.Errorf("%s: %.300s", name, got)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s takes %s", name, took)
		}
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			s.rpc(a.agent, toolCall("resource_put", map[string]any{"key": fmt.Sprintf("flood/%d", i%7), "value": i}))
		})
	}
	wg.Wait()
	if got := s.as("", "GET", "/global/health", nil); got.status != 200 {
		t.Errorf("afterwards health is %s", got)
	}
	if got := s.as(s.token, "GET", "/approval/"+c.id, nil).json(t); got["state"] != "pending" {
		t.Errorf("the ask is %v", got["state"])
	}
	s.must("audit", "verify")
}
