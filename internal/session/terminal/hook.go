package terminal

import (
	"context"
	"encoding/json"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// HookIn is what the program told its hook.
type HookIn struct {
	Event string          `json:"event" jsonschema:"the hook's name"`
	Input json.RawMessage `json:"input" jsonschema:"what the program wrote to the hook"`
	Nonce string          `json:"nonce,omitempty" jsonschema:"the same whenever one hook asks again"`
}

// HookOut is what the hook tells the program.
type HookOut struct {
	Output json.RawMessage `json:"output,omitempty"`
}

// hooked is a hook's payload, as far as it is used.
type hooked struct {
	Event        string          `json:"-"`
	Conversation string          `json:"session_id"`
	Transcript   string          `json:"transcript_path"`
	Source       string          `json:"source"`
	Prompt       string          `json:"prompt"`
	PromptID     string          `json:"prompt_id"`
	Tool         string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolUse      string          `json:"tool_use_id"`
	Last         string          `json:"last_assistant_message"`
	Error        string          `json:"error"`
	Reason       string          `json:"reason"`
	Agent        string          `json:"agent_id"` // set inside of a subagent
	Mode         string          `json:"permission_mode"`
	Nonce        string          `json:"-"`
}

func (d *Driver) hookOp() op.Op {
	return SessionHook.Call(op.Spec{Right: "session.read", Method: "POST", Path: "/session-hook", MCP: "-", Socket: true,
		Doc: "Take what an agent program tells its hook. Only the session itself may call it, on its own socket."},
		func(HookIn) op.Resource { return op.Resource{Kind: "session", Path: "/"} }, d.hook)
}

func (d *Driver) hook(ctx context.Context, in HookIn) (HookOut, error) {
	c := op.CallerFrom(ctx)
	if c.Kind != op.Session || c.Session == "" {
		return HookOut{}, fault.New(fault.Denied, "session.hook", "hooks belong to sessions")
	}
	s := d.present(ctx, c.Session)
	if s == nil || s.row.Tenant != c.Tenant {
		return HookOut{}, fault.New(fault.NotFound, "session.hook", "this session has no program")
	}
	var h hooked
	if err := json.Unmarshal(in.Input, &h); err != nil {
		return HookOut{}, fault.New(fault.Invalid, "session.hook", "the hook's input cannot be read: %w", err)
	}
	h.Event, h.Nonce = in.Event, in.Nonce
	select {
	case s.hooks <- h:
	case <-ctx.Done():
		return HookOut{}, ctx.Err()
	}
	switch {
	case s.row.Probe:
		return s.refuseProbe(h), nil
	case h.Event == "PreToolUse":
		return s.before(ctx, h)
	case h.Event == "PermissionRequest":
		return s.permission(ctx, h)
	}
	return HookOut{}, nil
}

func (s *claude) hear(ctx context.Context, h hooked) {
	if h.Agent != "" {
		return
	}
	s.moved = s.d.db.Now()
	s.mark("hook " + h.Event)
	switch h.Event {
	case "SessionStart":
		s.started, s.told = true, false
		if h.Conversation != "" && h.Conversation != s.row.Conversation {
			s.moveTo(h.Conversation, h.Transcript)
		}
	case "UserPromptSubmit":
		s.update(func(r *row) bool { was := r.Begun; r.Begun = true; return !was })
		if named := s.talk(h.Transcript); h.Transcript != "" && s.transcript.Path != named.Path {
			s.transcript = named
		}
		switch {
		case s.expect != "" && same(h.Prompt, s.expect):
			s.taken, s.prompt = true, h.PromptID
		case s.turn == nil && !strings.HasPrefix(h.Prompt, "<task-notification>"):
			if t := s.typedByHand(ctx, h.Prompt); t != nil {
				s.begin(t)
				s.prompt = h.PromptID
			}
		}
	case "Stop", "StopFailure":
		// A prompt that somebody queued, or a note that woke the program, ends with an end of its own.
		ours := s.prompt == "" || h.PromptID == "" || s.prompt == h.PromptID
		if s.turn != nil && ours && (s.expect == "" || s.taken) {
			s.stopped = &h
		}
	case "SessionEnd":
		s.told = h.Reason != "clear"
	case "PostToolUse", "PostToolUseFailure":
		s.answeredHere(h)
	}
}

// byHand is who asked for a turn that somebody typed into the terminal.
const byHand = "terminal"

// typedByHand makes a turn of a prompt that somebody typed into the terminal; nil when it could not be stored.
func (s *seat) typedByHand(ctx context.Context, text string) *session.Turn {
	t, err := s.d.room.Typed(ctx, s.row.Tenant, s.row.Session, text, byHand)
	if err != nil {
		s.d.log.Error("record a typed prompt", "session", s.row.Session, "err", err)
		return nil
	}
	s.update(func(r *row) bool { r.Typed = t.ID; return true })
	return t
}

// show stores what a command showed on the screen.
func (s *seat) show(ctx context.Context, text string) {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if text = strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
		s.say(ctx, agents.Entry{ID: newConversation(), Text: text})
	}
}
