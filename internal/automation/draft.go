package automation

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
)

//go:embed draft.md
var draftWords string

// What writing a draft may take.
const (
	draftText   = 16 << 10 // bytes of what somebody wants
	draftSize   = 64 << 10 // bytes of what the model writes
	draftTokens = 50_000
	draftCents  = 100
	draftTime   = 3 * time.Minute
	draftLook   = 100 * time.Millisecond
)

// draft has a model write a definition, in one turn of a session of the caller's that has no tools, and stores what is right and no more
// than the caller may. The caller's own rights hold for the session and for the draft.
func (r *Room) draft(ctx context.Context, in wire.DraftIn) (*wire.Drafted, error) {
	if text := strings.TrimSpace(in.Text); text == "" || len(text) > draftText {
		return nil, fault.New(fault.Invalid, string(wire.Draft), "say in 1 to %d bytes what it is to do", draftText).
			WithNext(`such as: tandem automation draft "every Monday at 9 count the files in /srv/app"`)
	}
	system, err := r.draftSystem(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	cents := int64(draftCents)
	if in.Cost > 0 {
		cents = max(1, int64(math.Ceil(in.Cost*100)))
	}
	budget := session.Budget{Tokens: draftTokens, Turns: 1, Seconds: int64(draftTime / time.Second)}
	if in.Tokens > 0 {
		budget.Tokens = in.Tokens
	}
	if in.Cost > 0 { // of many models nobody knows what they cost
		budget.Cents = cents
	}
	s, err := op.Do(ctx, r.Rooms, session.SessionCreate, session.CreateIn{Title: "Draft of an automation", Model: in.Model,
		Config: session.Config{Narrow: true, System: system, Budget: budget}})
	if err != nil {
		return nil, err
	}
	t, err := op.Do(ctx, r.Rooms, session.SessionPrompt, session.PromptIn{ID: s.ID, Text: in.Text})
	if err != nil {
		return nil, err
	}
	if t, err = r.draftEnd(ctx, t); err != nil {
		return nil, err
	}
	a, text, err := r.drafted(ctx, t)
	if err == nil {
		err = r.fitting(ctx, a, in.Name)
	}
	if err != nil {
		return nil, err
	}
	if _, err := op.Do(ctx, r.Rooms, wire.Add, wire.AddIn{Text: text}); err != nil {
		return nil, err
	}
	v, err := op.Do(ctx, r.Rooms, wire.Show, wire.ShowIn{Name: a.Name, Digest: a.Digest()})
	if err != nil {
		return nil, err
	}
	return &wire.Drafted{Version: *v, Session: s.ID, Tokens: t.Usage.Input + t.Usage.Output, Cost: t.Cost.Dollars()}, nil
}

// draftSystem is what the model is told: the language, which operations the caller may call, and the definition that is to be changed.
func (r *Room) draftSystem(ctx context.Context, name string) (string, error) {
	var b strings.Builder
	b.WriteString(draftWords)
	b.WriteString("\nThe operations that there are for a node:\n")
	for _, o := range r.All() {
		kind, _, _ := strings.Cut(o.Right, ".")
		if notFor(o) != "" || !op.May(ctx, o.Right, op.Resource{Kind: kind, Path: "/"}) {
			continue
		}
		doc, _, _ := strings.Cut(o.Doc, "\n")
		fmt.Fprintf(&b, "%s: %s\n", o.Name, doc)
	}
	if name == "" {
		return b.String(), nil
	}
	v, err := op.Do(ctx, r.Rooms, wire.Show, wire.ShowIn{Name: name})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\nIt changes this definition, keeps its name, and leaves as it is what nobody wants otherwise:\n\n%s\n", v.Text)
	return b.String(), nil
}

// draftEnd waits for the end of the turn. Whoever goes away before it has it cancelled: nobody would read it.
func (r *Room) draftEnd(ctx context.Context, t *session.Turn) (*session.Turn, error) {
	waits, cancel := context.WithTimeout(ctx, draftTime+10*time.Second)
	defer cancel()
	for !t.State.Ended() {
		select {
		case <-waits.Done():
			_, err := op.Do(context.WithoutCancel(ctx), r.Rooms, session.SessionCancel, session.TurnIn{ID: t.Session, Turn: t.ID})
			return nil, errors.Join(fault.New(fault.Unavailable, string(wire.Draft), "the model did not answer in time; nothing was stored").
				WithNext("see what it did: tandem session show %s", t.Session), err)
		case <-time.After(draftLook):
		}
		var err error
		if t, err = op.Do(ctx, r.Rooms, session.SessionTurn, session.OneTurnIn{Turn: t.ID}); err != nil {
			return nil, err
		}
	}
	if t.State != session.Done {
		return nil, fault.New(fault.Unavailable, string(wire.Draft), "the model wrote no definition: its turn is %s: %s", t.State, t.Reason).
			WithNext("see what it did: tandem session show %s", t.Session)
	}
	return t, nil
}

// drafted reads what the model wrote. It is a stranger's text: what is no definition changes nothing.
func (r *Room) drafted(ctx context.Context, t *session.Turn) (*spec.Automation, string, error) {
	out, err := op.Do(ctx, r.Rooms, session.SessionMessages, session.IDIn{ID: t.Session})
	if err != nil {
		return nil, "", err
	}
	said := ""
	for _, m := range out.Messages {
		if m.Turn == t.ID && m.Role == session.RoleAssistant {
			said += (provider.Reply{Blocks: m.Blocks}).Text()
		}
	}
	text := unfenced(said)
	no := func(format string, args ...any) error {
		return fault.New(fault.Invalid, string(wire.Draft), "the model wrote no definition, and nothing was stored: "+format, args...).
			WithNext("say it otherwise, or see what it wrote: tandem session show %s", t.Session)
	}
	if len(text) > draftSize {
		return nil, "", no("it has %d bytes; %d are allowed", len(text), draftSize)
	}
	a, err := spec.Read([]byte(text))
	if err != nil {
		return nil, "", no("%v", err)
	}
	return a, text, nil
}

// unfenced is what stands in the one block of an answer, or the answer.
func unfenced(said string) string {
	said = strings.TrimSpace(said)
	_, inner, fenced := strings.Cut(said, "```")
	if !fenced {
		return said + "\n"
	}
	inner = strings.TrimPrefix(inner, "toml")
	if inner, rest, closed := strings.Cut(inner, "\n```"); closed && !strings.Contains(rest, "```") {
		return strings.TrimSpace(inner) + "\n"
	}
	return said + "\n"
}

// fitting refuses a draft that takes another's name, that this server cannot do, or that asks for more than its caller may.
func (r *Room) fitting(ctx context.Context, a *spec.Automation, name string) error {
	no := func(kind fault.Kind, format string, args ...any) error {
		return fault.New(kind, string(wire.Draft), "nothing was stored: "+format, args...).
			WithNext("say it otherwise, or write it by hand: tandem automation add FILE")
	}
	if name != "" && a.Name != name {
		return no(fault.Invalid, "the model wrote a definition of %s, and %s was to be changed", a.Name, name)
	}
	if name == "" {
		if err := r.free(ctx, a.Name); err != nil {
			return err
		}
	}
	if all := r.cannot(a); len(all) > 0 {
		return no(fault.Invalid, "this server cannot do what the model's definition asks for:\n%s", strings.Join(all, "\n"))
	}
	if all := r.beyond(ctx, a); len(all) > 0 {
		return no(fault.Denied, "the model's definition asks for more than you may:\n%s", strings.Join(all, "\n"))
	}
	return unseen(ctx, a)
}

// free says that there is no automation of a name yet.
func (r *Room) free(ctx context.Context, name string) error {
	_, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM automation WHERE tenant = ? AND name = ?", op.CallerFrom(ctx).Tenant, name))
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, string(wire.Draft), "nothing was stored: the model calls it %s, and there is one of that name", name).
		WithNext("have that one changed, with --name %s, or say how the new one is called", name)
}

// beyond lists what of a definition its caller may not do, or have done: operations, tools, connectors, knowledge, folders.
func (r *Room) beyond(ctx context.Context, a *spec.Automation) (all []string) {
	look := func(n *spec.Node, right, kind, path, what string) {
		if !op.May(ctx, right, op.Resource{Kind: kind, Path: path}) {
			all = append(all, fmt.Sprintf("node %s: %s", n.ID, what))
		}
	}
	each(a, func(n *spec.Node, b *spec.Body) {
		switch {
		case b.Operation != nil:
			o := r.Find(b.Operation.Name)
			where := r.touches(ctx, o, b.Operation.Input)
			look(n, o.Right, where.Kind, where.Path, "the operation "+o.Name+" on "+where.String())
		case b.Turn != nil:
			for _, tool := range b.Turn.Tools {
				if o := r.Find("tool." + tool); o != nil {
					look(n, o.Right, "tool", "/"+tool, "the tool "+tool)
				} else {
					all = append(all, fmt.Sprintf("node %s: there is no tool %s", n.ID, tool))
				}
			}
			for _, c := range b.Turn.Connectors {
				connector, _, _ := strings.Cut(c, ".")
				look(n, "connector.call", "connector", "/"+connector, "the connector "+connector)
			}
			for _, k := range b.Turn.Knowledge {
				look(n, "knowledge.read", "knowledge", "/"+k, "the knowledge space "+k)
			}
		}
	})
	ungranted, err := r.ungranted(ctx, op.CallerFrom(ctx).Tenant, a)
	if err != nil {
		return append(all, "its folders cannot be looked up: "+said(err))
	}
	for _, folder := range ungranted {
		all = append(all, fmt.Sprintf("nobody granted the folder %s: tandem grant folder %s", folder, folder))
	}
	return all
}

// touches is what an operation touches with an input as it is written; all of its kind where that is known only in a run.
func (r *Room) touches(ctx context.Context, o *op.Op, input map[string]any) op.Resource {
	kind, _, _ := strings.Cut(o.Right, ".")
	text, err := json.Marshal(orEmpty(input))
	if err != nil || hole.Match(text) {
		return op.Resource{Kind: kind, Path: "/"}
	}
	in, err := o.Decode(text)
	if err != nil {
		return op.Resource{Kind: kind, Path: "/"}
	}
	return o.Resource(ctx, in)
}
