package codex

import (
	"time"

	"tandem/internal/session/agents"
)

// What the server tells by itself comes in order. What it answers is taken in by another goroutine, later: an answer may be
// older than what was told meanwhile, and it is told in a way that does not take that back.

// believed is how long a list has to call the newest turn interrupted before it is believed. The server calls every turn so that
// it does not know to run: also one that it begins or ends at that moment, and has not written down yet.
const believed = 3 * time.Second

// subscribe asks for the conversation's events, and tells what happened before they come. A conversation without a turn
// cannot be subscribed to yet.
func (l *Link) subscribe() {
	l.mu.Lock()
	id, there := l.thread, l.subscribed
	l.mu.Unlock()
	if there {
		return
	}
	asked := l.statusesNoted()
	var out struct {
		Model  string `json:"model"`
		Effort string `json:"reasoningEffort"`
		Thread struct {
			Status status `json:"status"`
		} `json:"thread"`
	}
	l.fallBehind()
	defer l.caughtUp()
	if l.c.call(l.ctx, "thread/resume", map[string]any{"threadId": id, "excludeTurns": true}, &out) != nil {
		return
	}
	l.mu.Lock()
	l.subscribed = true
	if l.base.Model == "" {
		l.base.Model = out.Model
	}
	l.mu.Unlock()
	l.catchUp(id)
	l.tellStatus(out.Thread.Status.kind(), asked)
}

// noteStatus takes in a status that the server told by itself, and statusesNoted says how many there were.
func (l *Link) noteStatus(s status) int {
	l.mu.Lock()
	l.works = s.kind() == agents.Working
	l.mu.Unlock()
	l.order.Lock()
	defer l.order.Unlock()
	l.statuses++
	return l.statuses
}

func (l *Link) statusesNoted() int {
	l.order.Lock()
	defer l.order.Unlock()
	return l.statuses
}

// tellStatus tells a status, unless the server told a newer one since there were as many as known.
func (l *Link) tellStatus(kind agents.EntryKind, known int) {
	l.order.Lock()
	defer l.order.Unlock()
	if l.statuses == known {
		l.tell(agents.Event{Entry: agents.Entry{Kind: kind}})
	}
}

// catchUp tells what the newest turns hold that was not told.
func (l *Link) catchUp(id string) {
	l.fallBehind()
	defer l.caughtUp()
	ts, err := l.turns(id, 3)
	if err != nil {
		return
	}
	for i, t := range ts {
		for _, raw := range t.Items {
			l.item(t.ID, raw, true)
		}
		switch {
		case t.Status == "inProgress":
			l.runs(t.ID)
		case t.Status == "interrupted" && i == len(ts)-1 && !l.believe(t.ID):
		default:
			l.ended(t)
		}
	}
}

// runs keeps that a turn is under way, unless its end was told meanwhile.
func (l *Link) runs(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubted = ""
	if !l.told["end "+id] {
		l.active = id
	}
}

// believe says whether the newest turn was called interrupted for long enough. Until then it is asked for again.
func (l *Link) believe(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told["end "+id] {
		return true
	}
	if l.doubted != id || l.works {
		l.doubted, l.doubtedAt = id, time.Now()
	}
	return time.Since(l.doubtedAt) > believed
}

// fallBehind lets the ends of turns wait until what came before them is told.
func (l *Link) fallBehind() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behind++
}

func (l *Link) caughtUp() {
	l.mu.Lock()
	var ends []turn
	if l.behind--; l.behind == 0 {
		ends, l.ends = l.ends, nil
	}
	l.mu.Unlock()
	for _, t := range ends {
		l.ended(t)
	}
}

// completed hears from the server that a turn is over.
func (l *Link) completed(t turn) {
	l.mu.Lock()
	wait := l.behind > 0
	if wait {
		l.ends = append(l.ends, t)
	}
	l.mu.Unlock()
	if !wait {
		l.ended(t)
	}
}
