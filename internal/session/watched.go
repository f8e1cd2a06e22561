package session

import (
	"context"
	"errors"
	"slices"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session/aside"
	"tandem/internal/session/wire"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// runWatched runs a call, and takes out of its folders what it left there that version control would run later. The agent is told.
func (r *Room) runWatched(ctx context.Context, env *tool.Env, p *tool.Plan, in CallIn) (tool.Result, error) {
	w := aside.Work{Tenant: op.CallerFrom(ctx).Tenant, Session: in.Session, Turn: in.Turn, ID: orElse(in.Call, id.New("work"))}
	looked := false
	env.Starting = func(ctx context.Context, b *box.Box) error {
		looked = true
		return r.Aside.Look(ctx, w, env.Scope.Writable(), b)
	}
	if p.Touch.Shell == "" && slices.ContainsFunc(p.Touch.Paths, box.Concerns) {
		if err := env.Starting(ctx, nil); err != nil {
			return tool.Result{}, err
		}
	}
	res, err := p.Run(ctx, r.outputs.get(in.Call))
	if !looked {
		return res, err
	}
	found, lost := r.Aside.Settle(context.WithoutCancel(ctx), w, true)
	for _, a := range found {
		res.Text += "\n" + a.Path + " was set aside: " + a.What + ". A person can keep it."
	}
	return res, errors.Join(err, lost)
}

// setAside tells a session and the journal what was taken out of a folder.
func (r *Room) setAside(tx *db.Tx, w aside.Work, found []*wire.Aside, payload map[string]any) error {
	if w.Session == "" {
		_, err := r.journal.Append(tx, journal.Event{Tenant: w.Tenant, Type: "session.set_aside", Actor: "tandem", Resource: at("").String(),
			Payload: []byte(encode(payload))})
		return err
	}
	s, err := r.change(tx, w.Tenant, w.Session, func(s *Session) error { return tell(tx, s, w.Turn, EventAside, found) })
	if err != nil {
		return err
	}
	return r.record(tx, s, "session.set_aside", payload)
}
