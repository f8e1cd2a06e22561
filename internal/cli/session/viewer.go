package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"

	"tandem/internal/approval"
	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	room "tandem/internal/session"
)

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
	place   string          // behind the newest event that was shown
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
	for {
		err := c.Follow(ctx, v.stream(), func(e client.Event) error {
			v.place = e.ID
			return v.event(e.Data)
		})
		switch {
		case errors.Is(err, errOver):
			return v.result
		case ctx.Err() != nil:
			v.newline()
			fmt.Fprintf(k.Err, "the turn goes on: tandem session follow %s\n", id)
			return ctx.Err()
		case fault.Is(err, fault.Unavailable) && v.place != "":
			// The server went away: one more try, from the place where it broke off.
			if c, err = k.Client(ctx); err == nil {
				continue
			}
		}
		return err
	}
}

// stream is where the session's events are, from the newest that was shown on.
func (v *viewer) stream() string {
	return "/sessions/" + url.PathEscape(v.session) + "/stream?from=" + v.place
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
	turn, err := op.Do(v.ctx, v.k, room.SessionTurn, room.OneTurnIn{Turn: t.Ask})
	if err != nil {
		return err
	}
	v.note("%s (%s)", t.Reason, turn.Session)
	err = (&viewer{k: v.k, ctx: v.ctx, session: turn.Session, turn: t.Ask, asked: v.asked, spoken: v.spoken, aside: true}).follow()
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
	now, err := op.Do(v.ctx, v.k, room.SessionTurn, room.OneTurnIn{Turn: t.ID})
	if err != nil {
		return err
	}
	if now.State != room.Waiting || now.Ask != t.Ask { // what is told happened earlier, and has its answer
		return nil
	}
	if now.Awaits == room.AwaitsTask {
		return v.child(t)
	}
	in, ok := v.k.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return v.leave(now)
	}
	return v.unlessAnswered(now, v.answerHere)
}

// answerHere asks for the answer until it is one.
func (v *viewer) answerHere(t *room.Turn) error {
	if t.Awaits == room.AwaitsAnswer {
		return v.answer(t)
	}
	v.note("%s", t.Reason)
	for {
		err := v.decide(t)
		var f *fault.Error
		switch {
		case errors.Is(err, errElsewhere):
			return err
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
	if t.Awaits == room.AwaitsAnswer {
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

// verdict asks until it hears an answer, or words that can be told to an agent. One word alone is neither: it may be an "ok", a slip, or
// the PIN, and what is told to an agent is in its conversation for ever.
func (v *viewer) verdict(prompt string) (string, error) {
	for {
		line, answered, err := v.k.Ask(prompt)
		switch {
		case err != nil:
			return "", err
		case !answered:
			return "", context.Canceled
		case oneWord(line) && !slices.Contains([]string{"", "y", "yes", "n", "no", "a", "always"}, strings.ToLower(line)):
			v.note("that is none of the answers, and the agent was not told; say at least two words to it")
		default:
			return line, nil
		}
	}
}

// oneWord says that a line is one word, where words are told apart by spaces.
func oneWord(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return r == ' ' || r > unicode.MaxASCII })
}

// decide asks for the answer to an ask, and for the PIN.
func (v *viewer) decide(t *room.Turn) error {
	ask, err := op.Do(v.ctx, v.k, approval.AskGet, approval.IDIn{ID: t.Ask})
	if err != nil {
		return err
	}
	v.newline()
	pages, err := v.k.Look(v.ctx, ask)
	if err != nil {
		return err
	}
	prompt := "approve? [y]es, [n]o, or say what to change: "
	if ask.Always != "" {
		v.note("always here would let pass: %s", ask.Always)
		prompt = "approve? [y]es, [a]lways here, [n]o, or say what to change: "
	}
	line, err := v.verdict(prompt)
	if err != nil {
		return err
	}
	decide := approval.DecideIn{ID: t.Ask, Verdict: approval.SendBack, Digest: ask.Digest, Pages: pages, Feedback: line}
	switch strings.ToLower(decide.Feedback) {
	case "a", "always":
		_, err := op.Do(v.ctx, v.k, approval.AskAlways, approval.AlwaysIn{ID: t.Ask, Digest: ask.Digest, Pages: pages})
		return err
	case "y", "yes":
		decide.Verdict, decide.Feedback = approval.Approve, ""
	case "n", "no", "":
		decide.Verdict, decide.Feedback = approval.Cancel, ""
	}
	_, err = op.Do(v.ctx, v.k, approval.AskDecide, decide)
	return err
}
