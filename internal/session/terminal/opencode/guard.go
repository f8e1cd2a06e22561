package opencode

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
)

// rule is one line of the program's permissions. The last one that fits a call decides.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// asks is what every session ends with, so that policy is asked about every call.
var asks = rule{"*", "*", "ask"}

// loose is the first rule that lets something run without an ask. A folder that is allowed lets nothing run: the tool asks as well.
func loose(rules []rule) *rule {
	var found *rule
	for _, r := range rules {
		switch {
		case r.Permission == "*" && r.Pattern == "*" && r.Action != "allow":
			found = nil
		case r.Action == "allow" && r.Permission != "external_directory" && found == nil:
			found = &r
		}
	}
	return found
}

// guard makes every call of a session ask, whatever the settings of its agent say.
func (l *Link) guard(ctx context.Context, session string) error {
	var now struct {
		Permission []rule `json:"permission"`
	}
	if err := l.call(ctx, "GET", "/session/"+session, nil, &now); err != nil {
		return err
	}
	if n := len(now.Permission); n > 0 && now.Permission[n-1] == asks {
		return nil
	}
	return l.call(ctx, "PATCH", "/session/"+session, map[string]any{"permission": []rule{asks}}, nil)
}

// subagents refuses settings that let a subagent use a tool without an ask: it works in a session of its own, which begins by itself.
func (l *Link) subagents(ctx context.Context) error {
	var all []struct {
		Name       string `json:"name"`
		Permission []rule `json:"permission"`
	}
	if err := l.call(ctx, "GET", "/agent", nil, &all); err != nil {
		return err
	}
	for _, a := range all {
		if r := loose(a.Permission); r != nil {
			return fault.New(fault.Conflict, "session.open", "OpenCode's settings let its agent %.60q use %.60s (%.60s) without asking", a.Name,
				r.Permission, r.Pattern).
				WithNext("set it to ask in OpenCode's settings, and open the session again")
		}
	}
	return nil
}

// unguarded is how a turn fails in which the program's permissions were changed.
const unguarded = "unguarded"

// loosened stops a turn in which somebody let a session run something without an ask: what the agent runs can reach the program's
// server, where that is one call. It cannot be prevented there, but it is undone, and told.
func (l *Link) loosened(session string, r rule) {
	f := agents.Event{Entry: agents.Entry{Kind: agents.Failed, Failure: unguarded,
		Text: "the program's permissions were changed while it worked, to allow " + r.Permission + " (" + r.Pattern +
			"); they ask again, and the turn was stopped"}}
	l.mu.Lock()
	l.failed = &f
	l.mu.Unlock()
	_ = l.guard(l.ctx, session) // tried again with the next change, and with the next link
	_ = l.Interrupt(l.ctx, "")  // what still runs tells so
}
