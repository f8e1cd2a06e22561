package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandem/internal/approval"
	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/provider"
	room "tandem/internal/session"
)

func newRun(k *kit.Kit) *cobra.Command {
	var s settings
	var id string
	var files []string
	cmd := &cobra.Command{
		Use: "run PROMPT", Short: "Give an agent something to do, and watch", Args: cobra.MinimumNArgs(1),
		Long: "Open a session in this folder (or go on in one), give it a prompt and show what happens until it is done. Text goes to standard output, everything else to standard error. " +
			"When something needs an approval or an answer, it is asked for on the terminal; without one the command ends with exit code 8, and the turn waits. " +
			"With --json every event is a line.",
		Example: "  tandem run \"summarize README.md\"\n  tandem run -m ollama/qwen3 \"what does this do?\"\n  tandem run --session ses_01j… \"now the tests\"\n  tandem run -a screenshot.png \"what is wrong here?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			prompt := room.PromptIn{Text: strings.Join(args, " ")}
			title := firstLine(prompt.Text)
			if err := attach(&prompt, files); err != nil {
				return err
			}
			if id == "" {
				in, err := s.create()
				if err != nil {
					return err
				}
				if in.Title == "" {
					in.Title = title
				}
				if err := offerFolder(ctx, k, in.Directory); err != nil {
					return err
				}
				if err := s.apart(ctx, k, &in); err != nil {
					return err
				}
				var out room.Session
				if err := k.Call(ctx, "session.create", in, &out); err != nil {
					return err
				}
				id = out.ID
				if out.Model == room.DefaultModel && !cmd.Flags().Changed("model") && !k.JSON {
					fmt.Fprintf(k.Err, "%s answers, which repeats what it is told; a real model needs a key: tandem provider key PROVIDER\n", out.Model)
				}
			}
			id, err := sessionID(ctx, k, id)
			if err != nil {
				return err
			}
			prompt.ID = id
			var turn room.Turn
			if err := k.Call(ctx, "session.prompt", prompt, &turn); err != nil {
				return err
			}
			return watch(ctx, k, id, turn.ID)
		},
	}
	s.flags(cmd)
	s.apartFlags(cmd)
	cmd.Flags().StringVarP(&id, "session", "s", "", "go on in this session")
	cmd.Flags().StringSliceVarP(&files, "attach", "a", nil, "files to put beside the prompt: images or text")
	return cmd
}

func newFollow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "follow SESSION", Short: "Watch a session until its open turn ends", Args: cobra.ExactArgs(1),
		Example: "  tandem session follow builder\n  tandem session follow ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			var out room.TurnsOut
			if err := k.Call(cmd.Context(), "session.turns", room.TurnIn{ID: id}, &out); err != nil {
				return err
			}
			if len(out.Turns) == 0 {
				return fault.New(fault.Conflict, "session.follow", "the session has no turn yet").WithNext("give it one: tandem run --session %s \"…\"",
					args[0])
			}
			return watch(cmd.Context(), k, id, running(out.Turns))
		},
	}
}

// running is the turn that is under way, or the oldest that waits for its start; without one the newest that ended.
func running(turns []*room.Turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		if !turns[i].State.Ended() {
			return turns[i].ID
		}
	}
	return turns[0].ID
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return s
}

var errOver = errors.New("over")

// viewer shows a turn as it happens.
type viewer struct {
	k       *kit.Kit
	ctx     context.Context
	session string
	turn    string
	kind    provider.Kind
	line    io.Writer // where a line is not finished yet
	result  error
	asked   map[string]bool
	spoken  map[string]bool // messages whose words came in as they were written
	aside   bool            // it is another's work: what is said is no answer to the person's prompt
}

// watch follows a turn to its end. Ctrl-C leaves the turn running.
func watch(ctx context.Context, k *kit.Kit, id, turn string) error {
	return (&viewer{k: k, ctx: ctx, session: id, turn: turn, asked: map[string]bool{}, spoken: map[string]bool{}}).follow()
}

func (v *viewer) follow() error {
	ctx, k, id := v.ctx, v.k, v.session
	c, err := k.Client(ctx)
	if err != nil {
		return err
	}
	place := ""
	for {
		err := c.Follow(ctx, "/sessions/"+url.PathEscape(id)+"/stream?from="+place, func(e client.Event) error {
			place = e.ID
			return v.event(e.Data)
		})
		switch {
		case errors.Is(err, errOver):
			return v.result
		case ctx.Err() != nil:
			v.newline()
			fmt.Fprintf(k.Err, "the turn goes on: tandem session follow %s\n", id)
			return ctx.Err()
		case fault.Is(err, fault.Unavailable) && place != "":
			// The server went away: one more try, from the place where it broke off.
			if c, err = k.Client(ctx); err == nil {
				continue
			}
		}
		return err
	}
}

func (v *viewer) newline() {
	if v.line != nil {
		fmt.Fprintln(v.line)
		v.line = nil
	}
}

func (v *viewer) note(format string, args ...any) {
	v.newline()
	fmt.Fprintf(v.k.Screen(v.k.Err), format+"\n", args...)
}

func (v *viewer) event(data []byte) error {
	var e room.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	if e.Turn != v.turn {
		return nil
	}
	if v.k.JSON {
		fmt.Fprintf(v.k.Out, "%s\n", data)
	}
	switch e.Type {
	case room.EventPart, room.EventOutput:
		var p room.Part
		if err := json.Unmarshal(e.Body, &p); err != nil {
			return err
		}
		v.kind = p.Kind
		v.spoken[p.Message] = true
	case room.EventDelta:
		v.delta(e.Delta)
	case room.EventPartEnd:
		v.newline()
	case room.EventRetry:
		var r room.Retry
		if err := json.Unmarshal(e.Body, &r); err != nil {
			return err
		}
		v.note("%s; trying again in %.1f s", r.Reason, r.Seconds)
	case room.EventMessage:
		return v.message(e.Body)
	case room.EventCall:
		return v.call(e.Body)
	case room.EventTurn:
		return v.turnChanged(e.Body)
	}
	return nil
}

// message shows what an agent program said: its words come whole.
func (v *viewer) message(body []byte) error {
	var m room.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	if m.Role != room.RoleAssistant || v.spoken[m.ID] {
		return nil
	}
	v.kind = provider.Text
	for _, b := range m.Blocks {
		if b.Kind == provider.Text && b.Text != "" {
			v.delta(b.Text)
			v.newline()
		}
	}
	return nil
}

func (v *viewer) delta(text string) {
	if v.k.JSON {
		return
	}
	w := v.k.Out
	if v.kind != provider.Text || v.aside {
		w = v.k.Err
	}
	fmt.Fprint(kit.Screen(w), text)
	if v.line = nil; !strings.HasSuffix(text, "\n") {
		v.line = w
	}
}

func (v *viewer) call(body []byte) error {
	var c room.Call
	if err := json.Unmarshal(body, &c); err != nil {
		return err
	}
	if v.k.JSON {
		return nil
	}
	switch c.State {
	case room.CallProposed:
		v.note("%s", callText(c.Tool, c.Args))
	case room.CallFailed:
		v.note("✗ %s: %s", c.Tool, firstLine(c.Result.Text))
	case room.CallDone:
		if d, ok := c.Result.Meta["diff"].(string); ok {
			v.newline()
			kit.Diff(v.k.Screen(v.k.Err), d)
		}
		v.note("✓ %s", firstLine(c.Result.Text))
	}
	return nil
}

func (v *viewer) turnChanged(body []byte) error {
	var t room.Turn
	if err := json.Unmarshal(body, &t); err != nil {
		return err
	}
	switch t.State {
	case room.Waiting:
		return v.waiting(&t)
	case room.Done:
		v.newline()
		return errOver
	case room.Failed:
		v.result = fault.New(fault.Unavailable, "session.turn", "%s", t.Reason).WithNext("look at it: tandem session show %s", v.session)
		v.newline()
		return errOver
	case room.Cancelled:
		v.result = fault.New(fault.Conflict, "session.turn", "the turn was cancelled")
		v.newline()
		return errOver
	}
	return nil
}

// child shows what the session does that works for this one, and asks for it what it asks.
func (v *viewer) child(t *room.Turn) error {
	var turn room.Turn
	if err := v.k.Call(v.ctx, "session.turn", room.OneTurnIn{Turn: t.Ask}, &turn); err != nil {
		return err
	}
	v.note("%s (%s)", t.Reason, turn.Session)
	err := (&viewer{k: v.k, ctx: v.ctx, session: turn.Session, turn: t.Ask, asked: v.asked, spoken: v.spoken, aside: true}).follow()
	if fault.Is(err, fault.Pending) || v.ctx.Err() != nil {
		v.result = err
		return errOver
	}
	return nil // how it ended, the parent's agent hears
}

// waiting asks the person at the terminal, or leaves the turn waiting.
func (v *viewer) waiting(t *room.Turn) error {
	if v.asked[t.Ask] {
		return nil
	}
	v.asked[t.Ask] = true
	var now room.Turn
	if err := v.k.Call(v.ctx, "session.turn", room.OneTurnIn{Turn: t.ID}, &now); err != nil {
		return err
	}
	if now.State != room.Waiting || now.Ask != t.Ask { // what is told happened earlier, and has its answer
		return nil
	}
	if strings.HasPrefix(t.Ask, "turn_") {
		return v.child(t)
	}
	in, ok := v.k.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return v.leave(t)
	}
	if strings.HasPrefix(t.Ask, "que_") {
		return v.answer(t)
	}
	v.note("%s", t.Reason)
	for {
		err := v.decide(t)
		var f *fault.Error
		switch {
		case errors.Is(err, context.Canceled):
			return v.leave(t)
		case errors.As(err, &f) && f.Kind == fault.Denied && f.Op == "presence" && f.Next == "":
			// mistyped; where there is no PIN, there is a next step
			v.note("%s", f.Msg)
		default:
			return err
		}
	}
}

// leave ends the watching and says how the turn goes on.
func (v *viewer) leave(t *room.Turn) error {
	next := "tandem approvals approve " + t.Ask
	if strings.HasPrefix(t.Ask, "que_") {
		next = "tandem session answer " + t.Ask + " \"…\""
		v.newline()
		if q, err := v.question(t.Ask); err == nil {
			showQuestion(v.k.Screen(v.k.Err), q)
		}
	}
	v.newline()
	v.result = fault.New(fault.Pending, "session.turn", "%s", t.Reason).
		WithNext("a person answers with: %s; then follow it: tandem session follow %s", next, v.session)
	return errOver
}

// decide asks for the answer to an ask, and for the PIN.
func (v *viewer) decide(t *room.Turn) error {
	var ask approval.Ask
	if err := v.k.Call(v.ctx, "approval.get", approval.IDIn{ID: t.Ask}, &ask); err != nil {
		return err
	}
	v.newline()
	pages, err := v.k.Look(v.ctx, &ask)
	if err != nil {
		return err
	}
	prompt := "approve? [y]es, [n]o, or say what to change: "
	if ask.Always != "" {
		v.note("always here would let pass: %s", ask.Always)
		prompt = "approve? [y]es, [a]lways here, [n]o, or say what to change: "
	}
	line, answered, err := v.k.Ask(prompt)
	switch {
	case err != nil:
		return err
	case !answered:
		return context.Canceled
	}
	decide := approval.DecideIn{ID: t.Ask, Verdict: approval.SendBack, Digest: ask.Digest, Pages: pages, Feedback: line}
	switch strings.ToLower(decide.Feedback) {
	case "a", "always":
		return v.k.Call(v.ctx, "approval.always", approval.AlwaysIn{ID: t.Ask, Digest: ask.Digest, Pages: pages}, nil)
	case "y", "yes":
		decide.Verdict, decide.Feedback = approval.Approve, ""
	case "n", "no", "":
		decide.Verdict, decide.Feedback = approval.Cancel, ""
	}
	return v.k.Call(v.ctx, "approval.decide", decide, nil)
}
