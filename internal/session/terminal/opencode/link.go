package opencode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"tandem/internal/session/agents"
)

// Server is where a program answers.
type Server struct {
	Port     int
	Password string
}

// Link is one session of the program. It is an agents.Link.
type Link struct {
	at     Server
	events chan agents.Event
	ctx    context.Context
	stop   context.CancelFunc

	mu      sync.Mutex
	session string
	turn    string // the user message that the running turn began with
	stopped string // the turn that was interrupted last
	failed  *agents.Event
	told    map[string]bool
	signed  time.Time // the last sign of life that was told; of the reading side alone
	unseen  bool      // the terminal may not show the session yet: the API answers before the terminal's side listens
}

var _ agents.Link = (*Link)(nil)

// Open waits for no one: it fails when the program does not answer yet. session is the one to follow, or "" for a new one.
func Open(ctx context.Context, at Server, session string) (*Link, error) {
	l := &Link{at: at, session: session, events: make(chan agents.Event, 4096), told: map[string]bool{}}
	var health struct {
		Version string `json:"version"`
	}
	if err := l.call(ctx, "GET", "/global/health", nil, &health); err != nil {
		return nil, err
	}
	if err := l.subagents(ctx); err != nil {
		return nil, err
	}
	if session == "" {
		var made struct {
			ID string `json:"id"`
		}
		if err := l.call(ctx, "POST", "/session", map[string]any{"permission": []rule{asks}}, &made); err != nil {
			return nil, err
		}
		l.session = made.ID
	}
	if err := l.guard(ctx, l.session); err != nil {
		return nil, err
	}
	l.unseen = session == ""
	if err := l.show(ctx); err != nil {
		return nil, err
	}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx)) // until Close
	body, err := l.stream()
	if err != nil {
		l.stop()
		return nil, err
	}
	l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Moved}, Conversation: l.session, Version: health.Version})
	l.catchUp() // before anybody can prompt: what is over now is an older turn
	go l.run(body)
	return l, nil
}

// show puts the session onto the terminal's screen.
func (l *Link) show(ctx context.Context) error {
	return l.call(ctx, "POST", "/tui/select-session", map[string]any{"sessionID": l.session}, nil)
}

func (l *Link) request(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", l.at.Port, path), body)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth("opencode", l.at.Password)
	r.Header.Set("Content-Type", "application/json")
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
}

func (l *Link) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	resp, err := l.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s was answered with %s: %.200s", method, path, resp.Status, data)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

func (l *Link) stream() (io.ReadCloser, error) {
	resp, err := l.request(l.ctx, "GET", "/event", nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("the event stream was answered with %s", resp.Status)
	}
	return resp.Body, nil
}

// run reads the stream until it ends.
func (l *Link) run(body io.ReadCloser) {
	defer close(l.events)
	defer l.stop()
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			l.heard([]byte(data))
		}
	}
}

func (l *Link) tell(e agents.Event) {
	e.At = time.Now()
	l.events <- e
}

// Events tells what happens.
func (l *Link) Events() <-chan agents.Event { return l.events }

// Close ends the connection; the program runs on.
func (l *Link) Close() { l.stop() }

// Prompt starts a turn. Its name is the message's, made here and taken by the program: its answer is the receipt.
func (l *Link) Prompt(ctx context.Context, p agents.Prompt) (string, error) {
	id := messageID(time.Now())
	in := map[string]any{"messageID": id, "parts": []any{map[string]any{"type": "text", "text": p.Text}}}
	if provider, model, ok := strings.Cut(p.Model, "/"); ok {
		in["model"] = map[string]string{"providerID": provider, "modelID": model}
	}
	l.mu.Lock()
	l.turn, l.failed = id, nil
	l.mu.Unlock()
	return id, l.call(ctx, "POST", "/session/"+l.session+"/prompt_async", in, nil)
}

// Find looks for a prompt by its text among the newest messages.
func (l *Link) Find(ctx context.Context, p agents.Prompt) (string, bool, error) {
	ms, err := l.messages(ctx)
	for i := len(ms) - 1; i >= 0 && i > len(ms)-40; i-- {
		if ms[i].Info.Role == "user" && strings.TrimSpace(ms[i].text()) == strings.TrimSpace(p.Text) {
			return ms[i].Info.ID, true, nil
		}
	}
	return "", false, err
}

// Interrupt stops what runs, subagents too. Their dialogs are answered with no first: one that stood on would let its command run
// with a later key.
func (l *Link) Interrupt(ctx context.Context, _ string) error {
	l.mu.Lock()
	l.stopped = l.turn
	l.mu.Unlock()
	for path, answer := range map[string]string{"/permission": "reply", "/question": "reject"} {
		var open []struct {
			ID string `json:"id"`
		}
		if err := l.call(ctx, "GET", path, nil, &open); err != nil {
			return err
		}
		for _, o := range open { // one no may answer several
			_ = l.call(ctx, "POST", path+"/"+o.ID+"/"+answer, map[string]any{"reply": "reject"}, nil)
		}
	}
	busy, err := l.busy(ctx)
	if err != nil {
		return err
	}
	for _, session := range busy {
		if session != l.session {
			if err := l.call(ctx, "POST", "/session/"+session+"/abort", nil, nil); err != nil {
				return err
			}
		}
	}
	return l.call(ctx, "POST", "/session/"+l.session+"/abort", nil, nil)
}

// Decide answers a permission.
func (l *Link) Decide(ctx context.Context, ask string, yes bool, why string) error {
	in := map[string]any{"reply": "once"}
	if !yes {
		in = map[string]any{"reply": "reject", "message": why}
	}
	return l.call(ctx, "POST", "/permission/"+ask+"/reply", in, nil)
}

// Answer answers a question.
func (l *Link) Answer(ctx context.Context, ask string, answers []string) error {
	if answers == nil {
		return l.call(ctx, "POST", "/question/"+ask+"/reject", map[string]any{}, nil)
	}
	all := [][]string{}
	for _, a := range answers {
		all = append(all, []string{a})
	}
	return l.call(ctx, "POST", "/question/"+ask+"/reply", map[string]any{"answers": all}, nil)
}
