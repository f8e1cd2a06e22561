package opencode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/session/agents"
)

// message is a stored one.
type message struct {
	Info struct {
		ID     string `json:"id"`
		Role   string `json:"role"`
		Parent string `json:"parentID"`
		Model  string `json:"modelID"`
		Finish string `json:"finish"` // why the model stopped, once it did
		Tokens struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
			Cache  struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		Error *wrong `json:"error"`
	} `json:"info"`
	Parts []part `json:"parts"`
}

// part is a piece of a message: words, or a tool that was used.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Message   string `json:"messageID"`
	Synthetic bool   `json:"synthetic"`
	Call      string `json:"callID"`
	Tool      string `json:"tool"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
		Meta   struct {
			Diff   string `json:"diff"`
			Exists *bool  `json:"exists"`
		} `json:"metadata"`
	} `json:"state"`
}

// wrong is an error as the program tells it.
type wrong struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
	} `json:"data"`
}

func (m message) text() string {
	var all []string
	for _, p := range m.Parts {
		if p.Type == "text" && !p.Synthetic && p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (l *Link) messages(ctx context.Context) ([]message, error) {
	var ms []message
	err := l.call(ctx, "GET", "/session/"+l.session+"/message?limit=100", nil, &ms)
	return ms, err
}

// catchUp tells what is under way: a turn, permissions, questions.
func (l *Link) catchUp() {
	busy, err := l.busy(l.ctx)
	if err != nil {
		return
	}
	if slices.Contains(busy, l.session) {
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Working}})
	} else {
		l.over(l.last())
	}
	for path, kind := range map[string]string{"/permission": "permission.asked", "/question": "question.asked"} {
		var open []json.RawMessage
		if l.call(l.ctx, "GET", path, nil, &open) != nil {
			continue
		}
		for _, p := range open {
			l.asked(kind, p)
		}
	}
}

// heard takes in one event of the stream.
func (l *Link) heard(data []byte) {
	var e struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	var p struct {
		Session string `json:"sessionID"`
		ID      string `json:"id"`
		Request string `json:"requestID"`
		Reply   string `json:"reply"`
		Status  struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"status"`
		Info struct {
			ID         string `json:"id"`
			Role       string `json:"role"`
			Permission []rule `json:"permission"`
		} `json:"info"`
		Part  part   `json:"part"`
		Error *wrong `json:"error"`
	}
	if json.Unmarshal(e.Properties, &p) != nil {
		return
	}
	switch e.Type { // of every session of the program: a subagent works in one of its own
	case "permission.asked", "question.asked":
		l.asked(e.Type, e.Properties)
	case "permission.replied", "question.replied", "question.rejected":
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Settled}, Ask: p.Request + p.ID, Always: p.Reply == "always"})
	case "message.part.delta":
		if time.Since(l.signed) > time.Second {
			l.signed = time.Now()
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Alive}})
		}
	case "session.created", "session.updated":
		if one := loose(p.Info.Permission); one != nil {
			l.loosened(p.Info.ID, *one)
		}
	}
	if p.Session != l.session {
		return
	}
	switch e.Type {
	case "session.status":
		switch p.Status.Type {
		case "busy":
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Working}})
			l.mu.Lock()
			again := l.unseen
			l.mu.Unlock()
			if again {
				_ = l.show(l.ctx) // tried again at the end of the turn
			}
		case "retry":
			e := agents.Event{Entry: agents.Entry{Kind: agents.Retrying, Text: p.Status.Message}}
			if tooMany().MatchString(p.Status.Message) {
				e.Failure = "rate_limit"
			}
			l.tell(e)
		}
	case "message.updated":
		if p.Info.Role == "user" {
			l.mu.Lock()
			l.told["user "+p.Info.ID] = true
			l.mu.Unlock()
		}
	case "message.part.updated":
		if p.Part.Type == "tool" {
			l.mu.Lock()
			turn := l.turn
			l.mu.Unlock()
			l.acted(turn, p.Part)
			return
		}
		l.mu.Lock()
		first := p.Part.Type == "text" && l.told["user "+p.Part.Message] && !l.told["prompt "+p.Part.Message]
		mine := l.turn == p.Part.Message
		if first {
			l.told["prompt "+p.Part.Message], l.turn = true, p.Part.Message
		}
		l.mu.Unlock()
		if first && !mine { // somebody typed it
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Working}})
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Prompted, ID: p.Part.Message, Text: p.Part.Text}, Turn: p.Part.Message})
		}
	case "session.error":
		f := failed(p.Error)
		l.mu.Lock()
		if l.failed == nil || l.failed.Failure != unguarded {
			l.failed = &f
		}
		l.mu.Unlock()
	case "session.idle":
		if turn, late := l.ending(); !late {
			l.over(turn)
		}
	}
}

// How often, and how long apart, it is looked whether a prompt that was taken begins to run.
const (
	settled = 5
	pause   = 100 * time.Millisecond
)

// asked carries a permission or a question of any session of the program. What a permission is about is the exact input of the call behind
// it.
func (l *Link) asked(kind string, raw json.RawMessage) {
	var p struct {
		ID         string          `json:"id"`
		Session    string          `json:"sessionID"`
		Permission string          `json:"permission"`
		Patterns   []string        `json:"patterns"`
		Metadata   json.RawMessage `json:"metadata"`
		Tool       struct {
			Message string `json:"messageID"`
			Call    string `json:"callID"`
		} `json:"tool"`
		Questions []struct {
			Question string                                `json:"question"`
			Header   string                                `json:"header"`
			Multiple bool                                  `json:"multiple"`
			Options  []struct{ Label, Description string } `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	l.mu.Lock()
	again := l.told["ask "+p.ID]
	l.told["ask "+p.ID] = true
	turn := l.turn
	l.mu.Unlock()
	if again {
		return
	}
	e := agents.Event{Entry: agents.Entry{Kind: agents.Asked}, Turn: turn, Ask: p.ID, Tool: p.Permission}
	if kind == "question.asked" {
		e.Kind, e.Tool, e.Input = agents.Questioned, "question", raw
		for _, q := range p.Questions {
			one := agents.Question{Header: q.Header, Text: q.Question, Multiple: q.Multiple}
			for _, o := range q.Options {
				one.Options = append(one.Options, agents.Option(o))
			}
			e.Questions = append(e.Questions, one)
		}
		l.tell(e)
		return
	}
	input := map[string]json.RawMessage{}
	var m message
	if p.Tool.Message != "" && l.call(l.ctx, "GET", "/session/"+p.Session+"/message/"+p.Tool.Message, nil, &m) == nil {
		for _, part := range m.Parts {
			if part.Call == p.Tool.Call {
				_ = json.Unmarshal(part.State.Input, &input) // what is no object is shown by the patterns
				if part.Tool != p.Permission {
					e.Tool = p.Permission + "__" + part.Tool
				}
			}
		}
	}
	if path, ok := input["filePath"]; ok {
		input["file_path"] = path
	}
	if len(input) == 0 {
		input["metadata"] = p.Metadata
	}
	if data, err := json.Marshal(p.Patterns); err == nil {
		input["patterns"] = data
	}
	data, err := json.Marshal(input)
	if err != nil {
		return
	}
	e.Input = data
	l.tell(e)
}

// tooMany finds the provider's refusal in what the program says of a retry, which names no kind.
var tooMany = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests`) })

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// messageID is a name as the program makes them: its time first, because it orders messages by name.
func messageID(now time.Time) string {
	var b [14]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return fmt.Sprintf("msg_%012x%s", (uint64(now.UnixMilli())*0x1000+1)&(1<<48-1), b)
}
