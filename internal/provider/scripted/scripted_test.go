package scripted

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []Turn
		bad  bool
	}{
		{"nothing here", nil, false},
		{"a [[say x y]] b [[slow 2]]", []Turn{{{Say: "x y"}}, {{Slow: 2}}}, false},
		{`[[tool Read {"a":[[1]]}]]`, []Turn{{{Tool: "Read", Args: json.RawMessage(`{"a":[[1]]}`)}}}, false},
		{`[[tool X {"a":[1]};; say t]]`, []Turn{{{Tool: "X", Args: json.RawMessage(`{"a":[1]}`)}, {Say: "t"}}}, false},
		{"[[err 429 5]][[errn 2 500]][[errn 1 529 4]]", []Turn{{{Error: 429, RetryAfter: 5}}, {{Error: 500, Times: 2}},
			{{Error: 529, Times: 1, RetryAfter: 4}}}, false},
		{"[[dance]]", nil, true},
		{"[[say x", nil, true},
		{"[[tool X {]]", nil, true},
	} {
		got, err := directives(c.in)
		if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v %v", c.in, got, err)
		}
	}
}

func start(t *testing.T, s *Server) *Server {
	t.Helper()
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return res.StatusCode, out
}

// Rules match on the request; what matches none falls back to the prompt.
func TestRules(t *testing.T) {
	var script Script
	err := json.Unmarshal([]byte(`{"rules":[
		{"prompt":"^greet","wire":"chat","turns":[[{"say":"hello"}],[{"say":"again"}]]},
		{"system":"pirate","turns":[[{"say":"arr"}]]},
		{"tool":"fly","turns":[[{"tool":"fly","args":{"to":"moon"}}]]}]}`), &script)
	if err != nil || script.Check() != nil {
		t.Fatal(err, script.Check())
	}
	var log bytes.Buffer
	s := start(t, &Server{Script: script, Log: &log})
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"greet me"}]}`:                                                                  "hello",
		`{"messages":[{"role":"user","content":"greet me"},{"role":"assistant","content":"x"},{"role":"tool","content":"y"}]}`: "again",
		`{"messages":[{"role":"system","content":"a pirate"},{"role":"user","content":"hi"}]}`:                                 "arr",
		`{"messages":[{"role":"user","content":"go"}],` +
			`"tools":[{"type":"function","function":{"name":"fly"}}]}`: `{"to":"moon"}`,
		`{"messages":[{"role":"user","content":"plain"}]}`:                                                                         "echo: plain",
		`{"messages":[{"role":"user","content":"<system-reminder>x</system-reminder>"},{"role":"user","content":"b [[tool x]]"}]}`: "a title",
		`{"messages":[{"role":"user","content":"b [[say 1]]"}],"tools":[{"function":{"name":"t"}}]}`:                               "1",
		`{"messages":[{"role":"user","content":"b [[say 1]]"},{"role":"assistant"}],"tools":[{"function":{"name":"t"}}]}`:          "DONE",
		`{"messages":[{"role":"user","content":"b [[oops]]"}],` +
			`"tools":[{"function":{"name":"t"}}]}`: "script error",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"[[say old]]"},{"type":"text","text":"[[say ` +
			`new]]"}]}],"tools":[{"name":"t"}]}`: "new",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"two"},{"type":"text","text":"parts"}]}]}`: "echo: two\\nparts",
	} {
		status, out := post(t, s.URL()+"/v1/chat/completions", body)
		b, _ := json.Marshal(out)
		got := strings.ReplaceAll(string(b), `\"`, `"`)
		if status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %q", body, status, got, want)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 11 || len(s.Requests()) != 11 {
		t.Errorf("%d lines in the log, %d requests", n, len(s.Requests()))
	}
	if strings.Contains(log.String(), `"Content-Type":`) {
		t.Error("the log holds values of headers")
	}
}

func TestBadScriptsAndBodies(t *testing.T) {
	for _, s := range []Script{
		{Rules: []Rule{{Prompt: "("}}},
		{Rules: []Rule{{Prompt: "x"}}},
		{Rules: []Rule{{Turns: []Turn{{{Tool: "t", Args: json.RawMessage("{")}}}}}},
	} {
		if s.Check() == nil {
			t.Errorf("%+v passed", s)
		}
	}
	s := start(t, &Server{})
	for _, path := range []string{"/v1/messages", "/v1/responses", "/v1/chat/completions"} {
		if status, _ := post(t, s.URL()+path, "{"); status != 400 {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _ := post(t, s.URL()+"/v1/nothing", "{}"); status != 404 {
		t.Error("an unknown endpoint answered")
	}
	if _, out := post(t, s.URL()+"/v1/messages/count_tokens", "{}"); out["input_tokens"] == nil {
		t.Errorf("count_tokens: %v", out)
	}
	if err := (&Server{}).Start("0.0.0.0:0"); err == nil {
		t.Error("it listened beyond loopback")
	}
}

// The same answer without a stream, in all three shapes.
func TestWholeAnswers(t *testing.T) {
	s := start(t, &Server{})
	prompt := `[[think hm ;; say a ;; tool t {\"x\":1}]]`
	for path, body := range map[string]string{
		"/v1/messages": `{"messages":[{"role":"user","content":"` + prompt + `"}],"tools":[{"name":"t"}]}`,
		"/v1/responses": `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + prompt +
			`"}]}],"tools":[{"name":"t"}]}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"` + prompt + `"}],"tools":[{"function":{"name":"t"}}]}`,
	} {
		_, out := post(t, s.URL()+path, body)
		b, _ := json.Marshal(out)
		for _, want := range []string{"hm", `"a"`, "call_", "usage"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s: no %s in %s", path, want, b)
			}
		}
	}
}
