package scripted

import (
	"encoding/json"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// The wires that the server speaks; the names are those of the clients' verbatim blocks.
const (
	Anthropic = "anthropic"
	Responses = "responses"
	Chat      = "chat"
)

// Request is what the server understood of a call, in terms that are the same for all wires.
type Request struct {
	Wire    string          `json:"wire"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Model   string          `json:"model,omitempty"`
	Stream  bool            `json:"stream"`
	System  string          `json:"system,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`
	Call    int             `json:"call"`              // replies since the prompt
	Results []string        `json:"results,omitempty"` // of the last round of tools
	Tools   []string        `json:"tools,omitempty"`
	Headers []string        `json:"headers"` // names only: a record must not hold keys
	Body    json.RawMessage `json:"body,omitempty"`
	// Outcome is done, error, cut or aborted (the client went away), set when the answer has ended.
	Outcome string  `json:"outcome,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// item is one entry of a conversation: a prompt, a reply, or results of tools.
type item struct {
	role    string // user, assistant, tool
	text    string
	results []string
}

// Agent programs wrap reminders and their own context around a prompt; those are not what the user typed.
var reminder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<(system-reminder|environment_context|user_instructions|permissions ` +
		`instructions|skills_instructions)>.*?</(system-reminder|environment_context|user_instructions|permissions ` +
		`instructions|skills_instructions)>`)
})

func parse(wire string, r *http.Request, body []byte) (*Request, error) {
	q := &Request{Wire: wire, Method: r.Method, Path: r.URL.Path, Body: body}
	for k := range r.Header {
		q.Headers = append(q.Headers, k)
	}
	sort.Strings(q.Headers)
	var b struct {
		Model        string            `json:"model"`
		Stream       bool              `json:"stream"`
		System       json.RawMessage   `json:"system"`
		Instructions string            `json:"instructions"`
		Messages     []json.RawMessage `json:"messages"`
		Input        json.RawMessage   `json:"input"`
		Tools        []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, err
	}
	q.Model, q.Stream = b.Model, b.Stream
	for _, t := range b.Tools {
		if n := t.Name + t.Function.Name; n != "" {
			q.Tools = append(q.Tools, n)
		}
	}
	raw := b.Messages
	if wire == Responses {
		q.System = b.Instructions
		var s string
		if json.Unmarshal(b.Input, &s) == nil {
			q.Prompt = s
			return q, nil
		}
		if err := json.Unmarshal(b.Input, &raw); err != nil {
			return nil, err
		}
	} else {
		q.System = textOf(b.System)
	}
	q.read(raw)
	return q, nil
}

// read finds the newest prompt, and what happened since. Replies that follow each other without anything between
// them (a message and a call in the Responses wire) are one.
func (q *Request) read(raw []json.RawMessage) {
	var items []item
	for _, r := range raw {
		it := itemOf(r)
		if it.role == "system" || it.role == "developer" {
			if q.System == "" {
				q.System = it.text
			}
			continue
		}
		it.text = strings.TrimSpace(reminder().ReplaceAllString(it.text, ""))
		if it.role == "user" && it.text == "" && len(it.results) == 0 {
			continue
		}
		if n := len(items); n > 0 && items[n-1].role == it.role && it.role != "user" {
			items[n-1].results = append(items[n-1].results, it.results...)
			continue
		}
		items = append(items, it)
	}
	at := -1
	for i, it := range items {
		if it.role == "user" && it.text != "" && (len(it.results) == 0 || strings.Contains(it.text, "[[")) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	q.Prompt = items[at].text
	for _, it := range items[at+1:] {
		if it.role == "assistant" {
			q.Call++
			q.Results = nil
		}
		q.Results = append(q.Results, it.results...)
	}
}

func itemOf(raw json.RawMessage) item {
	var m struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"`
	}
	_ = json.Unmarshal(raw, &m) // what is not an object becomes an empty item
	switch m.Type {
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return item{role: "tool", results: []string{textOf(m.Output)}}
	case "function_call", "custom_tool_call", "reasoning", "local_shell_call":
		return item{role: "assistant"}
	}
	if m.Role == "tool" {
		return item{role: "tool", results: []string{textOf(m.Content)}}
	}
	it := item{role: m.Role, text: textOf(m.Content)}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(m.Content, &blocks) == nil {
		for _, b := range blocks {
			if b.Type == "tool_result" {
				it.results = append(it.results, textOf(b.Content))
			}
			// After a failed turn, programs send the old prompt and the new one as blocks of one message.
			if strings.Contains(b.Text, "[[") {
				it.text = b.Text
			}
		}
	}
	return it
}

// textOf joins the texts of a string or of a list of blocks.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	var out []string
	for _, b := range blocks {
		if b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}
