package terminal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal/codex"
)

// UseIn is a tool call of an agent program, as the gate sees it. Its digest is what an approval is bound to.
type UseIn struct {
	Session string          `json:"session"`
	Tool    string          `json:"tool" jsonschema:"the program's name for it"`
	Input   json.RawMessage `json:"input" jsonschema:"exactly what it would run with"`
	Folder  string          `json:"folder" jsonschema:"where it would run"`
}

// UseOut says that it may run.
type UseOut struct {
	OK bool `json:"ok"`
}

// wait is a dialog that people were asked about.
type wait struct {
	tool     string
	input    json.RawMessage
	ask      string
	detail   string
	question bool
	local    chan struct{} // closed when it was answered at the terminal, or ended otherwise
	why      string
}

// useOp is the row behind every tool call of an agent program that needs an answer.
func (d *Driver) useOp() op.Op {
	o := SessionTool.Effect(op.Spec{Right: "tool.use", MCP: "-", Socket: true,
		Doc: "Let an agent program use one of its own tools with exactly this input."},
		func(in UseIn) op.Resource { return op.Resource{Kind: "tool", Path: "/" + toolName(in.Tool)} },
		func(context.Context, UseIn) (UseOut, error) { return UseOut{true}, nil },
		func(context.Context, UseIn) (UseOut, bool, error) { return UseOut{true}, true, nil })
	o = op.Binding(o, func(_ context.Context, in UseIn) ([]op.Bound, error) { return edits(in), nil })
	return op.Touching(o, func(ctx context.Context, in UseIn) op.Touch {
		t := touch(in)
		if s := d.live(in.Session); s != nil {
			t.Boxed = s.boxed(ctx)
		}
		return t
	})
}

// toolName is a program's tool as policy calls it.
func toolName(tool string) string {
	switch tool {
	case "NotebookEdit", "MultiEdit":
		return "edit"
	case "LS":
		return "list"
	}
	return strings.ToLower(tool)
}

// touch is what a call is known to touch, from its typed arguments.
func touch(in UseIn) op.Touch {
	var a struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
		URL      string `json:"url"`
	}
	t := op.Touch{Tool: toolName(in.Tool)}
	args, ok := exact(in.Input)
	changes, err := codex.Files(args["changes"])
	if !ok || err != nil || json.Unmarshal(in.Input, &a) != nil {
		t.Opaque = true
		return t
	}
	for _, p := range append([]string{a.File, a.Notebook, a.Path}, changes...) {
		if p == "" {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(in.Folder, p)
		}
		t.Paths = append(t.Paths, filepath.Clean(p))
		if real, err := filepath.EvalSymlinks(p); err == nil && real != filepath.Clean(p) {
			t.Paths = append(t.Paths, real)
		}
	}
	if t.Shell = a.Command; t.Shell != "" { // a command comes to all that lies where it runs
		t.Paths = append(t.Paths, in.Folder)
	}
	if u, err := url.Parse(a.URL); err == nil && u.Hostname() != "" {
		t.Hosts = []string{u.Hostname()}
	}
	switch t.Tool {
	case "read", "write", "edit", "grep", "glob", "list", "bash", "webfetch":
	default:
		t.Opaque = !strings.HasPrefix(t.Tool, ownTool) // a tool of ours is an operation, which is judged when it is called
	}
	return t
}

// ownTool begins the names of tandem's tools in an agent program; no other server can have that name, for a session brings its
// own list of servers.
const ownTool = "mcp__tandem__"

func (s *seat) use(h hooked) UseIn {
	return UseIn{Session: s.row.Session, Tool: h.Tool, Input: h.ToolInput, Folder: s.row.Folder}
}

// named says that an ask wants somebody by name, two people or a way to be here: a key at a dialog does not show who pressed it.
func named(d policy.Decision) bool {
	anybody := slices.Contains(d.Approvers, policy.PrincipalRef{Kind: policy.Person, ID: "*"})
	return d.Effect == policy.Ask && (!anybody || d.Needs.Two || d.Needs.Others || len(d.Needs.Presence) > 0)
}

// unkept is why a program whose dialog cannot be kept back does not do what wants somebody named.
func (s *seat) unkept(d policy.Decision) string {
	return d.Reason + "; " + s.row.Agent + " shows its dialog to whoever is at the terminal, and a key there does not show who " +
		"pressed it: do it in a session of Claude Code or of tandem's own loop"
}

// before is asked ahead of every tool: what policy denies does not run, whatever the program's own mode. Where a yes at the
// dialog does not count, here or for this call, people are asked already, and no dialog comes up.
func (s *seat) before(ctx context.Context, h hooked) (HookOut, error) {
	s.nudge()
	s.unpass(&h)
	d, err := s.d.gate.Weigh(ctx, string(SessionTool), s.use(h))
	if err != nil {
		return HookOut{}, err
	}
	again := false
	if d.Effect == policy.Ask && d.House() {
		if again, err = s.settledBefore(ctx, h); err != nil {
			return HookOut{}, err
		}
		again = again || s.loosened(h)
	}
	// Codex knows no "ask": a hook that says so has failed, and the call goes on. People are asked while its hook waits.
	waits := !s.d.Answers || named(d) || s.row.Agent == agents.CodexName && (!d.House() || again)
	switch {
	case d.Effect == policy.Deny:
		if _, err := op.Do(ctx, s.d.gate, SessionTool, s.use(h)); err == nil { // which writes the refusal down
			return HookOut{}, fault.New(fault.Conflict, "session.tool", "what policy says of this call has changed just now")
		}
		return verdict("PreToolUse", "deny", d.Reason), nil
	case named(d) && s.row.Agent != agents.ClaudeName:
		return verdict("PreToolUse", "deny", s.unkept(d)), nil
	case d.Effect == policy.Ask && !waits && (!d.House() || again):
		// Somebody's word asks, not the house's habit, or the program may have been told to ask no more: a dialog comes up whatever its own
		// mode, and people are asked beside it.
		return verdict("PreToolUse", "ask", d.Reason), nil
	case d.Effect == policy.Ask && waits && h.Tool != "AskUserQuestion" && h.Tool != "ExitPlanMode":
		err := s.ask(ctx, keyOf(h), h)
		if err == nil && s.row.Agent == agents.CodexName {
			s.pass(h)
			return HookOut{}, nil
		}
		if err == nil {
			return verdict("PreToolUse", "allow", "approved"), nil
		}
		if ctx.Err() != nil {
			return HookOut{}, err
		}
		return verdict("PreToolUse", "deny", fault.Public(err).Msg), nil
	}
	return HookOut{}, nil
}

// permission is asked when the program would show a dialog, and while it shows it. The first answer wins: a person's here,
// or whoever types at the terminal.
func (s *seat) permission(ctx context.Context, h hooked) (HookOut, error) {
	if h.Tool == "AskUserQuestion" {
		return s.question(ctx, h)
	}
	err := s.ask(ctx, keyOf(h), h)
	switch {
	case err == nil:
		return decision(map[string]any{"behavior": "allow"}), nil
	case errors.Is(err, errElsewhere) || ctx.Err() != nil:
		return HookOut{}, nil // the dialog has its answer, or stays for one
	case fault.Is(err, fault.Denied), fault.Is(err, fault.NotFound):
		return decision(map[string]any{"behavior": "deny", "message": fault.Public(err).Msg}), nil
	}
	return HookOut{}, err
}

// keyOf is how a dialog of Claude Code is found again: its hooks name no call.
func keyOf(h hooked) string { return h.Tool + "\x00" + string(h.ToolInput) }

var errElsewhere = errors.New("answered elsewhere")

// ask files the call with the gate and waits for people until it is allowed, refused, or answered at the terminal.
func (s *seat) ask(ctx context.Context, key string, h hooked) error {
	w := &wait{tool: h.Tool, input: h.ToolInput, local: make(chan struct{}), detail: h.Tool + " " + fault.Clip(string(h.ToolInput), 300)}
	defer func() { s.resume(context.WithoutCancel(ctx)) }()
	for {
		_, err := op.Do(ctx, s.d.gate, SessionTool, s.use(h))
		var f *fault.Error
		if err == nil || !errors.As(err, &f) || f.Kind != fault.Pending {
			s.closeWait(key, w)
			return err
		}
		w.ask = f.Data["approval"]
		s.openWait(key, w)
		s.park(ctx, w)
		wctx, cancel := context.WithCancel(ctx)
		go func() {
			select {
			case <-w.local:
				cancel()
			case <-wctx.Done():
			}
		}()
		_, err = op.Do(wctx, s.d.gate, approval.AskWait, approval.WaitIn{ID: w.ask, Timeout: 300})
		cancel()
		select {
		case <-w.local:
			s.withdraw(w)
			return errElsewhere
		default:
		}
		if ctx.Err() != nil && s.d.stops() { // dialog and ask stay as they are: the next server finds the one by the other
			return ctx.Err()
		}
		if ctx.Err() != nil { // the hook's process is gone: answered No at the dialog, interrupted, or killed
			s.closeWait(key, w)
			w.why = "the dialog was closed at the terminal"
			s.withdraw(w)
			return ctx.Err()
		}
		if err != nil && !fault.Is(err, fault.Unavailable) {
			s.closeWait(key, w)
			return err
		}
	}
}

// withdraw takes back an ask that was answered at the terminal, and records that nobody proved who answered.
func (s *seat) withdraw(w *wait) {
	ctx := context.WithoutCancel(s.d.base)
	err := s.d.db.Write(ctx, func(tx *db.Tx) error {
		ok, err := s.d.asks.Withdraw(tx, s.row.Tenant, s.row.Session, w.ask, w.why)
		if err != nil || !ok {
			return err
		}
		payload, err := json.Marshal(map[string]any{"approval": w.ask, "tool": w.tool, "answer": w.why, "presence": "unproven"})
		if err != nil {
			return err
		}
		_, err = s.d.journal.Append(tx, journal.Event{Tenant: s.row.Tenant, Type: "session.terminal_answer", Phase: journal.Done,
			Actor:    s.row.Session,
			Resource: "session:/" + s.row.Session, Payload: payload})
		return err
	})
	if err != nil {
		s.d.log.Error("withdraw an ask", "ask", w.ask, "err", err)
	}
}

func (s *seat) openWait(key string, w *wait) {
	s.mu.Lock()
	s.waits[key] = w
	s.mu.Unlock()
	s.nudge()
}

func (s *seat) closeWait(key string, w *wait) {
	s.mu.Lock()
	if s.waits[key] == w {
		delete(s.waits, key)
		s.answered = time.Now()
	}
	s.mu.Unlock()
	s.nudge()
}

// waitsFor is the tool, as policy calls it, that an open dialog is about; "" when it is not known.
func (s *seat) waitsFor(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waits[key]; w != nil {
		return toolName(w.tool)
	}
	return ""
}

func (s *seat) openWaits() []*wait {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*wait
	for _, w := range s.waits {
		out = append(out, w)
	}
	return out
}

// answeredHere closes what a tool's end shows to have been answered at the terminal: yes tells nobody else.
func (s *seat) answeredHere(h hooked) {
	key := keyOf(h)
	s.settleWaits("yes, at the terminal, presence unproven", func(k string, w *wait) bool { return k == key })
}

func (s *seat) dropWaits(why string) {
	s.settleWaits(why, func(string, *wait) bool { return true })
}

func (s *seat) settleWaits(why string, which func(string, *wait) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, w := range s.waits {
		if which(k, w) {
			if !w.question {
				s.noteSettled(w.tool, w.input)
			}
			w.why = why
			close(w.local)
			delete(s.waits, k)
			s.answered = time.Now()
		}
	}
}

func verdict(event, what, why string) HookOut {
	out, _ := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": event, "permissionDecision": what,
		"permissionDecisionReason": why}})
	return HookOut{Output: out}
}

func decision(d map[string]any) HookOut {
	out, _ := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": d}})
	return HookOut{Output: out}
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}
