package session

import (
	"context"
	"encoding/json"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// ToolInfo describes a tool.
type ToolInfo struct {
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Schema  json.RawMessage `json:"schema"`
	Changes bool            `json:"changes,omitempty" jsonschema:"it acts on the world"`
}

// ToolsOut lists tools.
type ToolsOut struct {
	Tools []ToolInfo `json:"tools"`
}

// DiffOut is what changed in a session's folder since it began.
type DiffOut struct {
	Diff  string   `json:"diff" jsonschema:"a patch that git apply takes"`
	Files []string `json:"files"`
	Note  string   `json:"note,omitempty" jsonschema:"why not everything is shown"`
}

// OneTurnIn names a turn.
type OneTurnIn struct {
	Turn string `json:"turn" jsonschema:"the turn's id, turn_…"`
}

func (r *Room) readOps() []op.Op {
	return []op.Op{
		SessionTools.Read(op.Spec{Right: "session.list", Masked: true, Method: "GET", Path: "/tools",
			Doc: "List the tools that sessions can be given."},
			func(Nothing) op.Resource { return at("") }, r.listTools),
		op.Placing(SessionTurn.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/turns/{turn}", Doc: "Read one turn, by its own id."},
			nil, r.oneTurn), func(ctx context.Context, in OneTurnIn) op.Resource { return at(r.sessionOfTurn(ctx, in.Turn)) }),
		SessionDiff.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/diff",
			Doc: "Show what changed in a session's folder since it began, new files too, as a patch."},
			one, r.diff),
	}
}

func (r *Room) listTools(ctx context.Context, _ Nothing) (ToolsOut, error) {
	out := ToolsOut{Tools: []ToolInfo{}}
	for _, t := range r.tools.All() {
		s := t.Spec()
		if s.Ready != nil && !s.Ready(r.lending(ctx, op.CallerFrom(ctx).Tenant)) {
			continue
		}
		if kind, _, _ := strings.Cut(s.Right, "."); op.May(ctx, s.Right, op.Resource{Kind: kind, Path: "/"}) {
			out.Tools = append(out.Tools, ToolInfo{s.Name, s.Doc, s.Schema, s.Changes})
		}
	}
	return out, nil
}

func (r *Room) sessionOfTurn(ctx context.Context, turn string) string {
	var s string
	tenant := op.CallerFrom(ctx).Tenant
	if err := r.db.QueryRow(ctx, "SELECT session FROM session_turn WHERE tenant = ? AND id = ?", tenant, turn).Scan(&s); err != nil {
		return ""
	}
	return s
}

func (r *Room) oneTurn(ctx context.Context, in OneTurnIn) (*Turn, error) {
	return r.Turn(ctx, op.CallerFrom(ctx).Tenant, in.Turn)
}

func (r *Room) messagesOp(ctx context.Context, in IDIn) (MessagesOut, error) {
	s, err := r.get(ctx, in)
	if err != nil {
		return MessagesOut{}, err
	}
	ms, err := r.Messages(ctx, s.Tenant, s.ID)
	if ms == nil {
		ms = []*Message{}
	}
	return MessagesOut{ms}, err
}

func (r *Room) turnsOp(ctx context.Context, in TurnIn) (TurnsOut, error) {
	s, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return TurnsOut{}, err
	}
	out := TurnsOut{Turns: []*Turn{}}
	ts, err := turnsWhere(outside{ctx, r.db}, "tenant = ? AND session = ? AND (? = '' OR id = ?) ORDER BY id DESC LIMIT 200", s.Tenant, s.ID,
		in.Turn, in.Turn)
	if err != nil || len(ts) == 0 {
		if err == nil && in.Turn != "" {
			err = fault.New(fault.NotFound, "session.turns", "there is no turn %.60s in this session", in.Turn)
		}
		return out, err
	}
	out.Turns = ts
	out.Calls, err = r.Calls(ctx, ts[0])
	return out, err
}

func (r *Room) eventsOp(ctx context.Context, in EventsIn) (EventsOut, error) {
	if in.Limit < 0 || in.Limit > 1000 {
		return EventsOut{}, fault.New(fault.Invalid, "session.events", "limit lies between 1 and 1000")
	}
	if in.Limit == 0 {
		in.Limit = 200
	}
	s, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return EventsOut{}, err
	}
	evs, err := loadEvents(outside{ctx, r.db}, s.Tenant, s.ID, in.After, in.Limit)
	if evs == nil {
		evs = []Event{}
	}
	return EventsOut{evs, s.Events}, err
}
