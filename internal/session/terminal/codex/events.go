package codex

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tandem/internal/session/agents"
)

// notice takes in what the server tells by itself. It must not wait for the server.
func (l *Link) notice(method string, params json.RawMessage) {
	var p struct {
		Thread  thread          `json:"thread"`
		ID      string          `json:"threadId"`
		TurnID  string          `json:"turnId"`
		Turn    turn            `json:"turn"`
		Item    json.RawMessage `json:"item"`
		Status  status          `json:"status"`
		Request json.RawMessage `json:"requestId"`
		Retry   bool            `json:"willRetry"`
		Error   struct {
			Message string          `json:"message"`
			Info    json.RawMessage `json:"codexErrorInfo"`
		} `json:"error"`
		Usage struct {
			Last usage `json:"last"`
		} `json:"tokenUsage"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if method == "thread/started" {
		if p.Thread.main() {
			l.later(func() { l.move(p.Thread.ID) })
		}
		return
	}
	l.mu.Lock()
	ours := p.ID != "" && p.ID == l.thread
	l.mu.Unlock()
	if !ours {
		if method == "thread/status/changed" && p.Status.Type == "active" { // somebody went back to another conversation
			l.later(func() {
				if l.main(p.ID) {
					l.move(p.ID)
				}
			})
		}
		return
	}
	switch method {
	case "thread/status/changed":
		l.status(p.ID, p.Status)
	case "turn/started":
		l.mu.Lock()
		l.active = p.Turn.ID
		l.mu.Unlock()
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Working}, Turn: p.Turn.ID})
	case "turn/completed":
		l.completed(p.Turn)
	case "item/started":
		l.item(p.TurnID, p.Item, false)
	case "item/completed":
		l.item(p.TurnID, p.Item, true)
	case "thread/tokenUsage/updated":
		u := p.Usage.Last
		e := agents.Event{Entry: agents.Entry{Kind: agents.Spent}, Turn: p.TurnID}
		e.Tokens.Input, e.Tokens.Output, e.Tokens.CacheRead, e.Tokens.CacheWrite = u.Input-u.Cached, u.Output, u.Cached, u.Written
		l.tell(e)
	case "error":
		if p.Retry {
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Retrying, Text: p.Error.Message, Failure: failure(p.Error.Info)}, Turn: p.TurnID})
		}
	case "item/agentMessage/delta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta", "item/commandExecution/outputDelta",
		"item/mcpToolCall/progress":
		if l.sign() {
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Alive}})
		}
	case "serverRequest/resolved":
		l.mu.Lock()
		name := askName(p.Request)
		_, open := l.asks[name]
		delete(l.asks, name)
		l.mu.Unlock()
		if open {
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Settled}, Ask: name})
		}
	}
}

// sign says whether a sign of life is worth telling: one each second is.
func (l *Link) sign() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.signed) < time.Second {
		return false
	}
	l.signed = time.Now()
	return true
}

type usage struct {
	Input   int64 `json:"inputTokens"`
	Cached  int64 `json:"cachedInputTokens"`
	Written int64 `json:"cacheWriteInputTokens"`
	Output  int64 `json:"outputTokens"`
}

// status is told to everybody, subscribed or not.
func (l *Link) status(id string, s status) {
	known := l.noteStatus(s)
	l.mu.Lock()
	subscribed := l.subscribed
	if s.kind() == agents.Working && l.active == "" {
		l.active = "?"
	}
	l.mu.Unlock()
	if s.kind() == agents.Working {
		l.tellStatus(agents.Working, known)
		if !subscribed {
			l.later(l.subscribe)
		}
		return
	}
	if !subscribed { // a turn so short that it ended before it could be followed
		l.later(func() { l.subscribe(); l.catchUp(id); l.tellStatus(agents.Idle, known) })
		return
	}
	l.tellStatus(agents.Idle, known)
}

// item tells of a piece of a turn: what somebody asked, what the agent said.
func (l *Link) item(turnID string, raw json.RawMessage, whole bool) {
	var it struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Client  string `json:"clientId"`
		Text    string `json:"text"`
		Review  string `json:"review"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &it) != nil {
		return
	}
	switch it.Type {
	case "userMessage":
		if !l.once("item " + it.ID) {
			return
		}
		var text []string
		for _, c := range it.Content {
			text = append(text, c.Text)
		}
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Prompted, ID: it.ID, Text: strings.Join(text, "\n")}, Turn: turnID,
			Prompt: it.Client})
	case "agentMessage", "plan", "exitedReviewMode":
		text := it.Text + it.Review
		if whole && text != "" && l.once("item "+turnID+" "+it.ID) {
			l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Said, ID: turnID + it.ID, Text: text}, Turn: turnID})
		}
	case "fileChange", "commandExecution", "mcpToolCall", "webSearch", "dynamicToolCall":
		if it.Type == "fileChange" { // the request for approval names it and does not hold it
			l.mu.Lock()
			l.items[it.ID] = raw
			l.mu.Unlock()
		}
		l.acted(turnID, raw)
	}
}

// ended tells how a turn ended, once.
func (l *Link) ended(t turn) {
	l.mu.Lock()
	if l.doubted == t.ID {
		l.doubted = ""
	}
	l.mu.Unlock()
	if !l.once("end " + t.ID) {
		return
	}
	l.mu.Lock()
	if l.active == t.ID || l.active == "?" {
		l.active = ""
	}
	clear(l.items)
	l.mu.Unlock()
	e := agents.Event{Entry: agents.Entry{Kind: agents.Ended}, Turn: t.ID}
	switch t.Status {
	case "interrupted":
		e.Kind = agents.Interrupted
	case "failed":
		e.Kind, e.Failure = agents.Failed, "unknown"
		if t.Error != nil {
			e.Text, e.Failure = t.Error.Message, failure(t.Error.Info)
		}
	}
	l.tell(e)
}

// failure is the program's word for what went wrong, in the words that all programs share where there is one.
func failure(info json.RawMessage) string {
	var word string
	code := 0
	if json.Unmarshal(info, &word) != nil {
		var with map[string]struct {
			Status int `json:"httpStatusCode"`
		}
		if json.Unmarshal(info, &with) != nil {
			return "unknown"
		}
		for w, s := range with {
			word, code = w, s.Status
		}
	}
	switch {
	case code == 429 || word == "usageLimitExceeded" || word == "rateLimitExceeded":
		return "rate_limit"
	case code == 401 || code == 403 || word == "unauthorized":
		return "authentication_failed"
	case word == "serverOverloaded" || code == 529 || code == 503:
		return "overloaded"
	case code >= 500 || word == "internalServerError":
		return "server_error"
	case word == "badRequest" || word == "contextWindowExceeded":
		return "invalid_request"
	case word == "modelNotFound":
		return "model_not_found"
	case strings.HasPrefix(word, "http") || strings.HasPrefix(word, "response"):
		return "server_error" // nobody answered, or the answer broke off
	case word == "":
		return "unknown"
	}
	return word
}

func askName(id json.RawMessage) string {
	if n, err := strconv.Unquote(string(id)); err == nil {
		return n
	}
	return string(id)
}
