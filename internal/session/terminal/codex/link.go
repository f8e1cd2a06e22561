package codex

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"tandem/internal/session/agents"
)

// Link is one session's connection. It is an agents.Link.
type Link struct {
	c      *client
	ctx    context.Context // of what run asks by itself; every call also ends with the connection
	events chan agents.Event
	work   chan func() // what needs an answer from the server, off the reading side

	mu         sync.Mutex
	thread     string
	version    string
	subscribed bool
	asks       map[string]ask // by our name for them
	items      map[string]json.RawMessage
	told       map[string]bool // items and ends that were told
	active     string
	policy     string
	base       Defaults
	signed     time.Time // the last sign of life that was told
	behind     int       // how many look up what happened before; ends that are told meanwhile wait in ends
	ends       []turn
	works      bool   // by the newest status
	doubted    string // the newest turn, when a list calls it interrupted
	doubtedAt  time.Time

	order    sync.Mutex // held while a status is told
	statuses int        // that the server told by itself
}

// Defaults are what a turn runs with when nobody says otherwise.
type Defaults struct{ Model, Effort string }

type ask struct {
	id     json.RawMessage
	method string
	params json.RawMessage
}

var _ agents.Link = (*Link)(nil)

// Open connects to a server. thread is the conversation to follow, or "" for the one that the terminal's program makes.
// careful asks for approval of every command that is not known to be harmless.
func Open(ctx context.Context, path, thread string, careful bool, base Defaults) (*Link, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	l := &Link{c: c, ctx: context.WithoutCancel(ctx), thread: thread, events: make(chan agents.Event, 4096), work: make(chan func(), 64),
		asks:  map[string]ask{},
		items: map[string]json.RawMessage{},
		told:  map[string]bool{}, base: base}
	if careful {
		l.policy = "untrusted"
	}
	c.notice, c.asked = l.notice, l.asked
	go c.serve()
	var hello struct {
		UserAgent string `json:"userAgent"`
	}
	if err := c.call(ctx, "initialize", map[string]any{"clientInfo": map[string]string{"name": "tandem", "title": "tandem", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true}}, &hello); err != nil {
		c.close()
		return nil, err
	}
	if _, rest, ok := strings.Cut(hello.UserAgent, "/"); ok {
		l.version, _, _ = strings.Cut(rest, " ")
	}
	if err := c.send(message{Method: "initialized"}); err != nil {
		c.close()
		return nil, err
	}
	go l.run()
	l.later(l.find)
	return l, nil
}

// run does what has to wait for the server, one after the other, and ends the events when the server is gone.
func (l *Link) run() {
	defer close(l.events)
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-l.c.gone:
			return
		case f := <-l.work:
			f()
		case <-tick.C:
			l.mu.Lock()
			id, late := l.thread, l.thread != "" && !l.subscribed && l.active != ""
			none, doubted := l.thread == "", l.doubted != ""
			l.mu.Unlock()
			if late {
				l.subscribe()
			}
			if doubted {
				l.catchUp(id)
			}
			if none {
				l.find()
			}
		}
	}
}

func (l *Link) later(f func()) {
	select {
	case l.work <- f:
	default: // the ticker looks again
	}
}

func (l *Link) tell(e agents.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	select {
	case l.events <- e:
	case <-l.c.gone:
	}
}

// find looks for the conversation that the terminal's program is in: the newest that is loaded. The one that is known from
// before counts when nothing is loaded yet.
func (l *Link) find() {
	l.mu.Lock()
	newest := l.thread
	l.mu.Unlock()
	var list struct {
		Data []string `json:"data"`
	}
	if l.c.call(l.ctx, "thread/loaded/list", map[string]any{}, &list) != nil {
		return
	}
	for _, id := range list.Data {
		if id > newest && l.main(id) { // the ids begin with their time
			newest = id
		}
	}
	if newest != "" {
		l.move(newest)
	}
}

// main asks whether a person could be looking at a thread.
func (l *Link) main(id string) bool {
	var out struct {
		Thread thread `json:"thread"`
	}
	return l.c.call(l.ctx, "thread/read", map[string]any{"threadId": id}, &out) == nil && out.Thread.main()
}

type thread struct {
	ID        string `json:"id"`
	Ephemeral bool   `json:"ephemeral"`
	Parent    string `json:"parentThreadId"`
}

// main says that a person could be looking at the thread; titles and sub-agents have threads of their own.
func (t thread) main() bool { return t.ID != "" && !t.Ephemeral && t.Parent == "" }

// move follows a conversation.
func (l *Link) move(id string) {
	l.mu.Lock()
	l.thread, l.subscribed, l.active, l.doubted, l.works = id, false, "", "", false
	policy := l.policy
	l.mu.Unlock()
	if policy != "" {
		_ = l.c.call(l.ctx, "thread/settings/update", map[string]any{"threadId": id, "approvalPolicy": policy}, nil)
	}
	l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Moved}, Conversation: id, Version: l.version})
	l.subscribe()
}

type status struct {
	Type string `json:"type"`
}

func (s status) kind() agents.EntryKind {
	if s.Type == "active" {
		return agents.Working
	}
	return agents.Idle
}

type turn struct {
	ID     string            `json:"id"`
	Status string            `json:"status"`
	Items  []json.RawMessage `json:"items"`
	Error  *struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codexErrorInfo"`
	} `json:"error"`
}

// turns reads the newest ones, oldest first.
func (l *Link) turns(id string, n int) ([]turn, error) {
	var out struct {
		Data []turn `json:"data"`
	}
	err := l.c.call(l.ctx, "thread/turns/list", map[string]any{"threadId": id, "itemsView": "full", "limit": n}, &out)
	for i, j := 0, len(out.Data)-1; i < j; i, j = i+1, j-1 {
		out.Data[i], out.Data[j] = out.Data[j], out.Data[i]
	}
	return out.Data, err
}

// once says whether something is told for the first time.
func (l *Link) once(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[key] {
		return false
	}
	l.told[key] = true
	return true
}

// Events tells what happens.
func (l *Link) Events() <-chan agents.Event { return l.events }

// Close ends the connection; the program runs on.
func (l *Link) Close() { l.c.close() }
