package terminal

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

// OpenIn opens a real agent program in a terminal.
type OpenIn struct {
	Cwd    string         `json:"cwd,omitempty" jsonschema:"the working folder, absolute, in the allowlist; the default one when left out"`
	Name   string         `json:"name,omitempty" jsonschema:"letters, digits, - and _; one is made when left out. The terminal is ccm-NAME"`
	Agent  string         `json:"agent,omitempty" jsonschema:"the program: claude (the default), codex or opencode"`
	Model  string         `json:"model,omitempty" jsonschema:"for this session only: default, or with claude opus, sonnet, haiku or a full claude-* id, with codex a model's id, with opencode provider/model"`
	Effort string         `json:"effort,omitempty" jsonschema:"for this session only: low, medium, high, xhigh or max"`
	As     string         `json:"as,omitempty" jsonschema:"the agent that the session is at work for, agent:NAME: its grants and rules are the session's. A person made it"`
	Skip   bool           `json:"skip_permissions,omitempty" jsonschema:"ask for no permissions; only where a person granted that"`
	Budget session.Budget `json:"budget,omitzero" jsonschema:"limits of this session: turns, seconds and tokens"`
	Narrow bool           `json:"narrow,omitempty" jsonschema:"it has its folder and its own tools, and nothing of tandem: it is told nothing that the team remembers, and is opened only where a box keeps it to its folder"`
	// What it reads of knowledge spaces.
	Knowledge []string `json:"knowledge,omitempty" jsonschema:"the knowledge spaces that it reads, and no others; what policy lets it when left out"`
	Cite      bool     `json:"cite,omitempty" jsonschema:"its answers cite items that it read, as [kno_…], or say only that it is not known here; otherwise the turn fails"`
	// A checkout of the repository that holds the folder, for this session alone.
	Worktree  bool   `json:"worktree,omitempty" jsonschema:"work in a git worktree of its own, beside the repository, on the branch tandem/NAME"`
	Workspace bool   `json:"workspace,omitempty" jsonschema:"work in a jj workspace of its own, beside the repository"`
	Checkout  string `json:"checkout,omitempty" jsonschema:"work in this checkout, which was made for another session of that repository, in which no agent works any more"`
	Resume    bool   `json:"resume,omitempty" jsonschema:"start a session of this name again whose program ended, in the same conversation"`
	Relay     string `json:"-"`
}

// NameIn names a session.
type NameIn struct {
	Name string `json:"name" jsonschema:"the session's name, without ccm-"`
}

// SendIn gives a session a prompt, or asks what is new.
type SendIn struct {
	Name   string `json:"name" jsonschema:"the session's name, without ccm-"`
	Text   string `json:"text,omitempty" jsonschema:"the prompt, or a slash command; without it only new output is fetched"`
	Model  string `json:"model,omitempty" jsonschema:"for this turn only"`
	Effort string `json:"effort,omitempty" jsonschema:"for this turn only"`
	Cursor *int64 `json:"cursor,omitempty" jsonschema:"only output behind this place, as the last answer gave it"`
	Wait   *int   `json:"wait_ms,omitempty" jsonschema:"wait at most this long; TANDEM_WAIT_MS when left out"`
}

// SendOut is what a session said.
type SendOut struct {
	Name   string `json:"name"`
	Turn   string `json:"turn,omitempty"`
	Status string `json:"status" jsonschema:"done, running, waiting (for a person), interrupted, failed, idle, or the state of a program that is gone"`
	Idle   bool   `json:"idle" jsonschema:"no turn is under way: nothing more will come"`
	Report string `json:"report,omitempty" jsonschema:"what the agent said, whole"`
	Reason string `json:"reason,omitempty"`
	Ask    string `json:"ask,omitempty" jsonschema:"the approval or question that it waits for"`
	State  State  `json:"state"`
	Signal string `json:"signal" jsonschema:"what this was read from"`
	Cursor int64  `json:"cursor" jsonschema:"give this next time to get only what is new"`
}

// SeatsOut lists sessions, newest first.
type SeatsOut struct {
	Sessions []Seat `json:"sessions"`
}

// LiveIn asks for sessions with agent programs.
type LiveIn struct {
	Recent int `json:"recent,omitempty" jsonschema:"so many closed ones too, 20 when left out"`
}

func at(id string) op.Resource { return op.Resource{Kind: "session", Path: "/" + id} }

// byName resolves a caller's name for a session for policy: what does not exist is the whole kind, and its handler says not found.
func (d *Driver) byName(ctx context.Context, name string) op.Resource {
	if r, err := d.named(ctx, op.CallerFrom(ctx).Tenant, strings.TrimPrefix(name, Prefix)); err == nil {
		found := at(r.Session)
		found.Called = r.Name
		return found
	}
	return op.Resource{Kind: "session", Path: "/", Called: strings.TrimPrefix(name, Prefix)}
}

// about is a row about the session that its input names.
func (d *Driver) about(o op.Op) op.Op {
	return o.At(func(ctx context.Context, in any) op.Resource {
		switch in := in.(type) {
		case NameIn:
			return d.byName(ctx, in.Name)
		case SendIn:
			return d.byName(ctx, in.Name)
		}
		return at("")
	})
}

func whole[In any](In) op.Resource { return at("") }

// Ops is the driver's front door: the tools of the bridge, and what programs call.
func (d *Driver) Ops() []op.Op {
	return append(slices.Concat(d.watchOps(), d.skipOps(), d.checkOps()),
		op.Touching(SessionOpen.Effect(op.Spec{Right: "session.create", Method: "POST", Path: "/terminals", MCP: "open_session",
			Doc: "Open a real, interactive agent (Claude Code, Codex or OpenCode) in an allowed folder.\nIt runs in a terminal that the person " +
				"can attach to: tmux attach -t ccm-NAME."},
			func(OpenIn) op.Resource { return at("") }, d.Open, nil), d.branching),
		SessionLive.Read(op.Spec{Right: "session.list", Masked: true, Method: "GET", Path: "/terminals", MCP: "list_sessions",
			Doc: "List sessions with real agent programs: live ones with their state, and recent ones."},
			func(LiveIn) op.Resource { return at("") }, d.liveOp),
		d.about(SessionSend.Call(op.Spec{Right: "session.read", Method: "POST", Path: "/terminals/{name}/send",
			MCP: "send_to_session",
			Doc: "Send a prompt or slash command to a session and wait for the turn, for a bounded time.\nstatus \"running\" means: " +
				"call again without text, with the cursor, until idle is true. Sending needs the right to prompt the session."},
			whole[SendIn], d.send)),
		d.about(SessionInterrupt.Call(op.Spec{Right: "session.read", Method: "POST", Path: "/terminals/{name}/interrupt",
			MCP: "interrupt_session",
			Doc: "Interrupt a session's running turn and keep the session. Prompts that wait behind it run next. Needs the right to prompt it."},
			whole[NameIn], d.interruptOp)),
		d.about(SessionClose.Effect(op.Spec{Right: "session.prompt", Method: "DELETE", Path: "/terminals/{name}",
			MCP: "close_session",
			Doc: "Close a session: its program ends; its conversation and record stay."}, whole[NameIn], d.closeOp, nil)),
		SessionReap.Effect(op.Spec{Right: "session.prompt", Method: "POST", Path: "/terminals-reap", MCP: "-",
			Doc: "End terminals and programs that were left behind by sessions which are closed."},
			func(ReapIn) op.Resource { return at("") }, d.reapOp, nil),
		d.hookOp(),
		d.useOp(),
	)
}

func (d *Driver) liveOp(ctx context.Context, in LiveIn) (SeatsOut, error) {
	if in.Recent < 0 || in.Recent > 500 {
		return SeatsOut{}, fault.New(fault.Invalid, "session.live", "recent lies between 0 and 500")
	}
	if in.Recent == 0 {
		in.Recent = 20
	}
	tenant := op.CallerFrom(ctx).Tenant
	out := SeatsOut{Sessions: []Seat{}}
	open, err := d.rows(ctx, "tenant = ? AND closed_at = 0 ORDER BY created_at DESC", tenant)
	if err != nil {
		return out, err
	}
	closed, err := d.rows(ctx, "tenant = ? AND closed_at > 0 ORDER BY closed_at DESC LIMIT ?", tenant, in.Recent)
	if err != nil {
		return out, err
	}
	for _, r := range append(open, closed...) {
		if r.Probe || !op.May(ctx, "session.list", at(r.Session)) {
			continue
		}
		if s := d.present(ctx, r.Session); s != nil {
			r.Seat = s.view()
			r.Looking = !s.met.Load()
		}
		held, _ := d.held(ctx, r.Session)
		r.Held = held.Held
		out.Sessions = append(out.Sessions, r.Seat)
	}
	return out, nil
}
