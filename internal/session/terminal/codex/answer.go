package codex

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem/internal/session/agents"
)

// asked takes in a request of the server's: a permission, or a question. Both clients get it, and the first answer wins.
func (l *Link) asked(id json.RawMessage, method string, params json.RawMessage) {
	var p struct {
		Thread    string          `json:"threadId"`
		Turn      string          `json:"turnId"`
		Item      string          `json:"itemId"`
		Command   string          `json:"command"`
		Cwd       string          `json:"cwd"`
		Reason    string          `json:"reason"`
		Server    string          `json:"serverName"`
		Message   string          `json:"message"`
		Meta      json.RawMessage `json:"_meta"`
		Wants     json.RawMessage `json:"permissions"`
		More      json.RawMessage `json:"additionalPermissions"`
		Network   json.RawMessage `json:"networkApprovalContext"`
		Questions []struct {
			Header   string                                `json:"header"`
			Question string                                `json:"question"`
			Options  []struct{ Label, Description string } `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	l.mu.Lock()
	ours := p.Thread == l.thread
	item := l.items[p.Item]
	l.mu.Unlock()
	if !ours {
		return
	}
	e := agents.Event{Entry: agents.Entry{Kind: agents.Asked, Text: p.Reason}, Turn: p.Turn, Ask: askName(id)}
	// What is asked about is exactly what would run, and nothing that differs when the server asks again.
	input := map[string]any{}
	put := func(name string, v json.RawMessage) {
		if len(v) > 0 && string(v) != "null" {
			input[name] = v
		}
	}
	switch method {
	case "item/commandExecution/requestApproval":
		e.Tool, input["command"], input["cwd"] = "Bash", p.Command, p.Cwd
		put("additional_permissions", p.More)
		put("network", p.Network)
	case "item/fileChange/requestApproval":
		var change struct {
			Changes json.RawMessage `json:"changes"`
		}
		if json.Unmarshal(item, &change) != nil { // nobody may say yes to what he cannot see; the dialog stays
			return
		}
		e.Tool = "Edit"
		put("changes", change.Changes)
	case "item/permissions/requestApproval":
		e.Tool = "request_permissions"
		put("permissions", p.Wants)
	case "mcpServer/elicitation/request":
		e.Tool, input["message"] = "mcp__"+p.Server, p.Message
		put("meta", p.Meta)
	case "item/tool/requestUserInput":
		e.Kind, e.Tool, e.Input = agents.Questioned, "request_user_input", params
		for _, q := range p.Questions {
			one := agents.Question{Header: q.Header, Text: q.Question}
			for _, o := range q.Options {
				one.Options = append(one.Options, agents.Option(o))
			}
			e.Questions = append(e.Questions, one)
		}
	default:
		return // for the terminal's program, which made the conversation
	}
	if e.Kind == agents.Asked {
		var err error
		if e.Input, err = json.Marshal(input); err != nil {
			return
		}
	}
	l.mu.Lock()
	l.asks[e.Ask] = ask{id, method, params}
	l.mu.Unlock()
	l.tell(e)
}

func (l *Link) take(name string) (ask, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.asks[name]
	delete(l.asks, name)
	return a, ok
}

// Decide answers a permission. The program goes on after a no, and tells its model.
func (l *Link) Decide(_ context.Context, name string, yes bool, _ string) error {
	a, ok := l.take(name)
	if !ok {
		return nil // answered in the terminal meanwhile
	}
	var result any
	switch {
	case a.method == "mcpServer/elicitation/request" && yes:
		result = map[string]any{"action": "accept", "content": map[string]any{}}
	case a.method == "mcpServer/elicitation/request":
		result = map[string]any{"action": "decline", "content": nil}
	case a.method == "item/permissions/requestApproval":
		granted := json.RawMessage("{}")
		if yes {
			var p struct {
				Wants json.RawMessage `json:"permissions"`
			}
			if err := json.Unmarshal(a.params, &p); err != nil {
				return err
			}
			granted = p.Wants
		}
		result = map[string]any{"permissions": granted, "scope": "turn"}
	case yes:
		result = map[string]any{"decision": "accept"}
	default:
		result = map[string]any{"decision": "decline"}
	}
	return l.c.answer(a.id, result)
}

// Answer answers a question.
func (l *Link) Answer(_ context.Context, name string, answers []string) error {
	a, ok := l.take(name)
	if !ok {
		return nil
	}
	var p struct {
		Questions []struct {
			ID string `json:"id"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(a.params, &p); err != nil {
		return err
	}
	out := map[string]any{}
	for i, q := range p.Questions {
		if i < len(answers) {
			out[q.ID] = map[string]any{"answers": []string{answers[i]}}
		}
	}
	return l.c.answer(a.id, map[string]any{"answers": out})
}

// Prompt starts a turn; its name is the server's receipt. A model or effort for one turn would stay for the next ones, so
// each turn says what it runs with.
func (l *Link) Prompt(ctx context.Context, p agents.Prompt) (string, error) {
	l.mu.Lock()
	id, base, before := l.thread, l.base, l.active
	l.mu.Unlock()
	if id == "" {
		return "", fmt.Errorf("the program has no conversation yet")
	}
	in := map[string]any{"threadId": id, "clientUserMessageId": p.ID, "input": []any{map[string]any{"type": "text", "text": p.Text}}}
	if m := or(p.Model, base.Model); m != "" && m != "default" {
		in["model"] = m
	}
	if e := or(p.Effort, base.Effort); e != "" {
		in["effort"] = e
	}
	var out struct {
		Turn turn `json:"turn"`
	}
	if err := l.c.call(ctx, "turn/start", in, &out); err != nil {
		return "", err
	}
	l.mu.Lock()
	if l.active == "" || l.active == before {
		l.active = out.Turn.ID
	}
	subscribed := l.subscribed
	l.mu.Unlock()
	if !subscribed {
		l.later(l.subscribe)
	}
	return out.Turn.ID, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Find looks for a prompt among the newest turns.
func (l *Link) Find(_ context.Context, p agents.Prompt) (string, bool, error) {
	l.mu.Lock()
	id := l.thread
	l.mu.Unlock()
	if id == "" {
		return "", false, nil
	}
	ts, err := l.turns(id, 10)
	for _, t := range ts {
		for _, raw := range t.Items {
			var it struct {
				Client string `json:"clientId"`
			}
			if json.Unmarshal(raw, &it) == nil && it.Client == p.ID {
				return t.ID, true, nil
			}
		}
	}
	return "", false, err
}

// Interrupt stops a turn, and what it left running in the background.
func (l *Link) Interrupt(ctx context.Context, turnID string) error {
	l.mu.Lock()
	id := l.thread
	l.mu.Unlock()
	if err := l.c.call(ctx, "turn/interrupt", map[string]any{"threadId": id, "turnId": turnID}, nil); err != nil {
		return err
	}
	_ = l.c.call(ctx, "thread/backgroundTerminals/clean", map[string]any{"threadId": id}, nil) // an older server has none
	return nil
}
