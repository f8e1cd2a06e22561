package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	maker "tandem/internal/artifact/make"
	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// onTurn is what a step waits for whose session is at work.
const onTurn = "turn"

// lookAtTurn is how often a turn is looked at of whose end nobody told, as when the server was killed between the two.
const lookAtTurn = time.Minute

// turn opens a session that has what the node was given and nothing else, prompts it, and waits for the end of its turn. Each is a change
// of rows with a key: after a kill the same session and the same turn are found, and the model is not asked twice.
func (r *Room) turn(ctx context.Context, j *job, caller op.Caller) result {
	if j.step.turn != "" {
		return r.turned(ctx, j, caller)
	}
	if j.again && r.DB.Now().Sub(j.step.began) > lateKey {
		return lost("its turn was begun %s ago, which is longer than the gate remembers", r.DB.Now().Sub(j.step.began).Round(time.Minute))
	}
	in, err := j.opens()
	if err != nil {
		return failure(err)
	}
	key := caller.Idempotency
	caller.Scope, caller.Idempotency = []string{"session.create"}, key+"/open"
	if len(j.body.Turn.Knowledge) > 0 { // it binds to none that it may not read itself
		caller.Scope = append(caller.Scope, "knowledge.read")
	}
	s, words := &session.Session{}, j.prompt()
	if j.body.Turn.Agent != "" {
		words = strings.TrimSpace(j.system() + "\n\n" + words)
		var seat terminal.Seat
		if seat, err = op.Do(op.WithCaller(ctx, caller), r.Rooms, terminal.SessionOpen, j.sits(in)); err != nil {
			return r.failed(ctx, r.Find(string(terminal.SessionOpen)), err)
		}
		s.ID = seat.Session
	} else if s, err = op.Do(op.WithCaller(ctx, caller), r.Rooms, session.SessionCreate, in); err != nil {
		return r.failed(ctx, r.Find(string(session.SessionCreate)), err)
	}
	caller.Scope, caller.Idempotency = []string{"session.prompt", "session.view", "session.read"}, key+"/prompt"
	t, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, session.SessionPrompt, session.PromptIn{ID: s.ID, Text: words})
	if err != nil {
		res := r.failed(ctx, r.Find(string(session.SessionPrompt)), err)
		res.session = s.ID
		return res
	}
	return result{waits: onTurn, look: r.DB.Now().Add(lookAtTurn), session: s.ID, turn: t.ID}
}

// opens is the session of a node: what the definition names, within what is left of the run's limits.
func (j *job) opens() (session.CreateIn, error) {
	t := j.body.Turn
	in := session.CreateIn{Title: clipped(j.name+"/"+j.step.node, session.MaxTitle), Model: t.Model, Config: session.Config{Narrow: true,
		System: j.system(), Tools: slices.Clone(t.Tools), Knowledge: slices.Clone(t.Knowledge), Cite: t.Cite}}
	for _, c := range t.Connectors {
		name, tool, one := strings.Cut(c, ".")
		if !one {
			tool = "*"
		}
		in.Config.Tools = append(in.Config.Tools, "mcp__"+name+"__"+tool)
	}
	if len(t.Folders) > 0 {
		in.Directory = t.Folders[0]
		if real, err := filepath.EvalSymlinks(in.Directory); err != nil || real != filepath.Clean(in.Directory) {
			return in, fault.New(fault.Denied, "automation", "%s is not there, or leads through a link, and no session follows it", in.Directory)
		}
	}
	b := j.node.Budget
	if b.Tokens == 0 || b.Tokens > j.tokens {
		b.Tokens = j.tokens
	}
	in.Config.Budget = session.Budget{Tokens: max(1, b.Tokens), Turns: 1, Seconds: max(1, int64(time.Duration(b.Time)/time.Second))}
	if b.Cost > 0 { // where nothing is written the run's limit counts, behind each turn: of many models nobody knows what they cost
		in.Config.Budget.Cents = max(1, int64(math.Ceil(min(b.Cost, j.cost)*100)))
	}
	return in, nil
}

func clipped(s string, most int) string {
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// system is the node's own text, and in which form its outputs are wanted.
func (j *job) system() string {
	s := text(j.body.Turn.System, quotedInputs(j.inputs))
	if len(j.node.Output) == 0 {
		return s
	}
	if len(j.node.Output) == 1 {
		for _, o := range j.node.Output {
			if o.Plain() && slices.Contains(o.Checks, "document") {
				return strings.TrimSpace(s + "\n\nAnswer with one JSON object and nothing around it, of this JSON schema:\n" + maker.Form)
			}
			if o.Plain() {
				return s
			}
		}
	}
	want := map[string]any{}
	for name, o := range j.node.Output {
		switch {
		case slices.Contains(o.Checks, "document"):
			want[name] = json.RawMessage(maker.Form)
		case o.Schema == nil:
			want[name] = map[string]any{"type": "string"}
		default:
			want[name] = o.Schema
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": want, "required": slices.Sorted(maps.Keys(want))})
	if err != nil { // it was read from TOML
		return s
	}
	return strings.TrimSpace(s + "\n\nEnd with one JSON object and nothing around it, of this JSON schema:\n" + string(schema))
}

// prompt is what the session is asked. What comes from elsewhere stands between marks, as data; what a person said at a gate does not.
func (j *job) prompt() string {
	s := text(j.body.Turn.Prompt, quotedInputs(j.inputs))
	for _, note := range j.notes {
		s += "\n\nA person looked at what was made before, and says:\n" + note
	}
	if j.refused != "" {
		s += "\n\nWhat you made before was refused. Make it anew, so that this does not hold of it:\n" +
			foreign.Mark("data", "refused", j.refused)
	}
	return s
}

func quotedInputs(inputs map[string]any) map[string]any {
	out := make(map[string]any, len(inputs))
	for name, v := range inputs {
		out[name] = foreign.Mark("data", name, text("{{v}}", map[string]any{"v": v}))
	}
	return out
}

// turned reads what became of the turn.
func (r *Room) turned(ctx context.Context, j *job, caller op.Caller) result {
	t, err := r.turnOf(ctx, caller, j.step.session, j.step.turn)
	switch {
	case fault.Is(err, fault.NotFound):
		return lost("its session %s is not there any more", j.step.session)
	case err != nil || !t.State.Ended():
		if err != nil && ctx.Err() == nil {
			r.Log.Error("a turn cannot be read", "run", j.id, "node", j.step.node, "err", err)
		}
		return result{waits: onTurn, look: r.DB.Now().Add(lookAtTurn), session: j.step.session, turn: j.step.turn}
	}
	res := result{Event: run.Event{Kind: run.Finished, Tokens: t.Usage.Total(), Cost: t.Cost.Dollars()}}
	if j.body.Turn.Agent != "" {
		defer r.rises(ctx, j, caller)
	}
	broken := func(class, format string, args ...any) result {
		res.Kind, res.Class, res.Text = run.Failure, class, fmt.Sprintf(format, args...)
		return res
	}
	switch {
	case t.State == session.Cancelled:
		return broken("cancelled", "its turn was cancelled")
	case t.State == session.Failed && t.Calls == 0: // nothing was done yet
		return broken("unavailable", "its turn failed: %s", t.Reason)
	case t.State == session.Failed:
		return broken("turn", "its turn failed after %d calls of tools: %s", t.Calls, t.Reason)
	}
	said, err := r.answer(ctx, caller, j)
	if err != nil {
		return failure(err)
	}
	if res.Output, err = spoken(j.node, said); err != nil {
		return broken("check", "%v", err)
	}
	return res
}

// turnOf reads a turn through the gate.
func (r *Room) turnOf(ctx context.Context, caller op.Caller, ses, turn string) (*session.Turn, error) {
	caller.Scope, caller.Idempotency = []string{"session.read", "session.view"}, ""
	out, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, session.SessionTurns, session.TurnIn{ID: ses, Turn: turn})
	if err != nil {
		return nil, err
	}
	if len(out.Turns) == 0 {
		return nil, fault.New(fault.NotFound, "automation", "there is no turn %s", turn)
	}
	return out.Turns[0], nil
}

// answer is the last thing that the session said in its turn.
func (r *Room) answer(ctx context.Context, caller op.Caller, j *job) (said string, err error) {
	caller.Scope, caller.Idempotency = []string{"session.read", "session.view"}, ""
	out, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, session.SessionMessages, session.IDIn{ID: j.step.session})
	for _, m := range out.Messages {
		if m.Turn == j.step.turn && m.Role == session.RoleAssistant {
			if text := (provider.Reply{Blocks: m.Blocks}).Text(); text != "" {
				said = text
			}
		}
	}
	return said, err
}

// TurnEnded has the step looked at that waits for a turn.
func (r *Room) TurnEnded(turn string) {
	r.mu.Lock()
	r.turns[turn] = true
	r.mu.Unlock()
	r.rouse()
}

// openTurns has every step looked at that waits for a turn, which may have ended while nobody listened.
func (r *Room) openTurns(ctx context.Context) error {
	rows, err := r.DB.Query(ctx, "SELECT turn FROM automation_step WHERE state = ? AND waits = ?", parked, onTurn)
	turns, err := db.Collect(rows, err, func(rows *sql.Rows) (t string, err error) { return t, rows.Scan(&t) })
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range turns {
		r.turns[t] = true
	}
	return err
}

// hearTurns has those steps looked at whose turns ended.
func (r *Room) hearTurns(ctx context.Context) error {
	r.mu.Lock()
	ended := slices.Collect(maps.Keys(r.turns))
	r.mu.Unlock()
	if len(ended) == 0 {
		return nil
	}
	var waits int // most turns are nobody's step, and cost no write
	if err := r.DB.QueryRow(ctx, "SELECT count(*) FROM automation_step WHERE state = ? AND waits = ?", parked,
		onTurn).Scan(&waits); err != nil {
		return err
	}
	if waits > 0 {
		if err := r.DB.Write(ctx, func(tx *db.Tx) error {
			for _, turn := range ended {
				if _, err := tx.Exec("UPDATE automation_step SET look_at = 1 WHERE state = ? AND waits = ? AND turn = ?", parked, onTurn,
					turn); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, turn := range ended {
		delete(r.turns, turn)
	}
	return nil
}

// seat is a session that a step opened and that was not prompted.
type seat struct{ tenant, actor, session string }

// vacate has the session of a step closed that ends without a turn: an agent's program would stay open for ever.
func (r *Room) vacate(tx *db.Tx, s *stepRow, actor string) {
	if s.session == "" || s.turn != "" {
		return
	}
	tx.AfterCommit(func() {
		r.mu.Lock()
		r.vacant = append(r.vacant, seat{s.tenant, actor, s.session})
		r.mu.Unlock()
		r.rouse()
	})
}

// closeVacant closes the sessions that nobody prompts any more.
func (r *Room) closeVacant(ctx context.Context) error {
	r.mu.Lock()
	all := r.vacant
	r.vacant = nil
	r.mu.Unlock()
	for _, s := range all {
		c, err := r.As(ctx, s.tenant, s.actor)
		if err != nil {
			r.Log.Error("the agent of a step is not closed", "session", s.session, "err", err)
			continue
		}
		r.closes(ctx, c, s.session)
	}
	return nil
}

// hush ends the turns of steps that nobody wants any more: their run is over, or their automation was switched off.
func (r *Room) hush(ctx context.Context) error {
	unwanted, err := collectSteps(r.DB.Query(ctx, "SELECT "+stepColumns+` FROM automation_step WHERE state = ? AND waits = ? AND NOT EXISTS
		(SELECT 1 FROM automation_run r JOIN automation a ON a.tenant = r.tenant AND a.name = r.name WHERE r.tenant = automation_step.tenant
		AND r.id = automation_step.run AND r.ended_at = 0 AND a.live <> '')`, parked, onTurn))
	for _, s := range unwanted {
		var actor string
		var ended int64
		if err := r.DB.QueryRow(ctx, `SELECT a.actor, r.ended_at FROM automation a JOIN automation_run r ON a.tenant = r.tenant
			AND a.name = r.name WHERE r.tenant = ? AND r.id = ?`, s.tenant, s.run).Scan(&actor, &ended); err != nil {
			return err
		}
		after := parked
		if ended > 0 {
			after = over
		}
		c, err := r.As(ctx, s.tenant, actor)
		if err == nil {
			c.Scope = []string{"session.prompt"}
			_, err = op.Do(op.WithCaller(ctx, c), r.Rooms, session.SessionCancel, session.TurnIn{ID: s.session, Turn: s.turn})
		}
		if err != nil && ctx.Err() == nil && !fault.Is(err, fault.NotFound) { // its budget ends it
			r.Log.Error("a turn that nobody wants is not ended", "run", s.run, "session", s.session, "err", err)
		}
		if err == nil {
			r.closes(ctx, c, s.session)
		}
		if err := r.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE automation_step SET state = ?, waits = ?, look_at = 1 WHERE "+stepKey+" AND state = ? AND waits = ?",
				after, "its turn was ended", s.tenant, s.run, s.node, s.item, s.attempt, parked, onTurn)
			return err
		}); err != nil {
			return err
		}
	}
	return err
}

// builtTurn says what of a turn no server does yet.
func builtTurn(n *spec.Node, t *spec.Turn, no func(string, ...any)) {
	switch {
	case t.Agent != "" && len(t.Folders) != 1:
		no("node %s: %s works in a folder: folders names one", n.ID, t.Agent)
	case t.Agent != "" && len(t.Tools)+len(t.Connectors) > 0:
		no("node %s: %s has its own tools, in its box: leave tools and connectors out", n.ID, t.Agent)
	case t.Agent != "" && n.Budget.Cost > 0:
		no("node %s: %s does not say what it costs: limit tokens and time", n.ID, t.Agent)
	case len(t.Folders) > 1:
		no("node %s: a turn in more than one folder", n.ID)
	}
}
