package opencode

import (
	"context"
	"slices"
	"time"

	"tandem/internal/session/agents"
)

// ending is the turn whose end is told. late says that it is the end of an earlier one, which a turn that failed or was interrupted tells
// more than once: nothing answers the turn under way yet, or it goes on. A prompt that is given from here on is not meant.
func (l *Link) ending() (turn string, late bool) {
	l.mu.Lock()
	turn = l.turn
	failure := l.failed != nil && l.failed.Kind != agents.Interrupted
	sure := turn == "" || l.stopped == turn || failure && l.failed.Failure == unguarded
	l.mu.Unlock()
	if sure {
		return turn, false
	}
	for try := 0; ; try++ {
		runs, answered, err := l.standing(turn)
		switch {
		case err != nil, answered && !runs:
			return turn, false
		case runs, !failure:
			l.mu.Lock()
			l.failed = nil
			l.mu.Unlock()
			return turn, true
		case try == settled: // it failed before anything answered it
			return turn, false
		}
		// Or it is about to begin, and an earlier one's failure is told late.
		select {
		case <-l.ctx.Done():
			return turn, false
		case <-time.After(pause):
		}
	}
}

// standing says whether the program works, and whether anything answers a turn.
func (l *Link) standing(turn string) (runs, answered bool, err error) {
	ms, err := l.messages(l.ctx)
	if err != nil {
		return false, false, err
	}
	busy, err := l.busy(l.ctx)
	return slices.Contains(busy, l.session), slices.ContainsFunc(ms, func(m message) bool { return m.Info.Parent == turn }), err
}

// busy are the sessions of the program in which something runs.
func (l *Link) busy(ctx context.Context) ([]string, error) {
	var status map[string]struct {
		Type string `json:"type"`
	}
	if err := l.call(ctx, "GET", "/session/status", nil, &status); err != nil {
		return nil, err
	}
	var out []string
	for session, s := range status {
		if s.Type != "idle" {
			out = append(out, session)
		}
	}
	return out, nil
}

// last is the newest turn, which began before this link did.
func (l *Link) last() (turn string) {
	ms, err := l.messages(l.ctx)
	if err != nil {
		return ""
	}
	for _, m := range ms {
		if m.Info.Role == "user" {
			turn = m.Info.ID
		}
	}
	return turn
}

// over tells what a turn said, and how it ended.
func (l *Link) over(turn string) {
	ms, err := l.messages(l.ctx)
	l.mu.Lock()
	again := l.unseen && l.turn != ""
	var end *agents.Event
	stopped, whole := l.stopped == turn, false
	if l.turn == turn || l.turn == "" {
		end = l.failed
		l.turn, l.failed = "", nil
	}
	l.mu.Unlock()
	if again && l.show(l.ctx) == nil {
		l.mu.Lock()
		l.unseen = false
		l.mu.Unlock()
	}
	if turn == "" || err != nil {
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Idle}})
		return
	}
	for _, m := range ms {
		if m.Info.Parent != turn {
			continue
		}
		e := agents.Event{Entry: agents.Entry{Kind: agents.Said, ID: m.Info.ID, Message: m.Info.ID, Text: m.text(), Model: m.Info.Model},
			Turn: turn}
		t := m.Info.Tokens
		e.Tokens.Input, e.Tokens.Output, e.Tokens.CacheRead, e.Tokens.CacheWrite = t.Input, t.Output, t.Cache.Read, t.Cache.Write
		if e.Text != "" {
			l.tell(e)
		} else if l.first("spent " + m.Info.ID) { // a message that only used tools
			e.Kind = agents.Spent
			l.tell(e)
		}
		for _, p := range m.Parts {
			if p.Type == "tool" {
				l.acted(turn, p)
			}
		}
		if m.Info.Error != nil && end == nil {
			f := failed(m.Info.Error)
			end = &f
		}
		whole = m.Info.Error == nil && m.Info.Finish != "" && m.Info.Finish != "tool-calls"
	}
	switch {
	case end != nil:
	case stopped && !whole: // nothing tells of a stop while the provider is tried again
		end = &agents.Event{Entry: agents.Entry{Kind: agents.Interrupted}}
	default:
		end = &agents.Event{Entry: agents.Entry{Kind: agents.Ended}}
	}
	end.Turn = turn
	l.tell(*end)
	l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Idle}})
}

func failed(w *wrong) agents.Event {
	e := agents.Event{Entry: agents.Entry{Kind: agents.Failed, Failure: "unknown"}}
	if w == nil {
		return e
	}
	e.Text = w.Data.Message
	switch {
	case w.Name == "MessageAbortedError":
		e.Kind = agents.Interrupted
	case w.Data.Status == 429:
		e.Failure = "rate_limit"
	case w.Data.Status == 401 || w.Data.Status == 403 || w.Name == "ProviderAuthError":
		e.Failure = "authentication_failed"
	case w.Data.Status >= 500:
		e.Failure = "server_error"
	}
	return e
}
