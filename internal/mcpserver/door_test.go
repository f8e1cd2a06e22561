package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/gate/doortest"
	"tandem/internal/op"
)

// ask sends one message of JSON-RPC and gives what came back, and the HTTP status.
func ask(t *testing.T, door http.Handler, who op.Caller, method string, params any) (result json.RawMessage, whole string, status int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/mcp", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	door.ServeHTTP(w, r.WithContext(op.WithCaller(r.Context(), who)))
	said := w.Body.String()
	for line := range strings.Lines(said) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			said = data
		}
	}
	var msg struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(said), &msg); err != nil {
		t.Fatalf("%s: %v in %q", method, err, said)
	}
	return msg.Result, said, w.Code
}

func open(t *testing.T, house *doortest.House) doortest.Door {
	nobody := func(context.Context, op.Caller, string) (op.Caller, error) {
		return op.Caller{}, errors.New("nobody asked for another name")
	}
	door, err := New(house.Gate, nobody, "1", "", "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return doortest.Door{Masks: true,
		Call: func(t *testing.T, who op.Caller, name, input, key string) doortest.Answer {
			params := map[string]any{"name": strings.ReplaceAll(name, ".", "_"), "arguments": json.RawMessage(input)}
			if !json.Valid([]byte(input)) {
				params["arguments"] = input // JSON-RPC is JSON throughout, so what is none is a string
			}
			if key != "" {
				params["_meta"] = map[string]any{keyName: key}
			}
			result, said, status := ask(t, door, who, "tools/call", params)
			if status != http.StatusOK {
				var p struct{ Code string }
				if err := json.Unmarshal([]byte(said), &p); err != nil {
					t.Fatal(err)
				}
				return doortest.Answer{Failed: true, Kind: fault.Parse(p.Code), Said: said}
			}
			return read(t, result, said)
		},
		Offers: func(t *testing.T, who op.Caller) map[string]bool {
			result, _, _ := ask(t, door, who, "tools/list", map[string]any{})
			var list struct {
				Tools []struct {
					Name        string
					Annotations struct{ ReadOnlyHint bool }
				}
			}
			if err := json.Unmarshal(result, &list); err != nil {
				t.Fatal(err)
			}
			offers := map[string]bool{}
			for _, tool := range list.Tools {
				offers[strings.ReplaceAll(tool.Name, "_", ".")] = !tool.Annotations.ReadOnlyHint
			}
			return offers
		}}
}

// read is a tool's result: a failure begins with its kind.
func read(t *testing.T, result json.RawMessage, said string) doortest.Answer {
	var res struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(result, &res); err != nil || len(res.Content) != 1 {
		t.Fatalf("%v: %s", err, said)
	}
	text := res.Content[0].Text
	kind, _, _ := strings.Cut(text, ": ")
	if res.IsError || kind == fault.Pending.String() {
		return doortest.Answer{Failed: true, Kind: fault.Parse(kind), Said: text}
	}
	return doortest.Answer{Out: res.StructuredContent, Said: text}
}

func TestTheDoor(t *testing.T) { doortest.Run(t, open) }
