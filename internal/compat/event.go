package compat

import (
	"encoding/json"
	"strconv"
	"time"
)

// event is a session's event as it is stored.
type event struct {
	Seq    int64           `json:"seq"`
	Offset int             `json:"offset"`
	Turn   string          `json:"turn"`
	Type   string          `json:"type"`
	Body   json.RawMessage `json:"body"`
	Delta  string          `json:"delta"`
	At     time.Time       `json:"at"`
}

func (e event) place() string {
	p := strconv.FormatInt(e.Seq, 10)
	if e.Offset > 0 {
		p += "." + strconv.Itoa(e.Offset)
	}
	return p
}

// translator turns one session's events into the two vocabularies that the clients know: the documented one
// (session.response, run.completed …) and the engine's (message.part.updated, session.run.finished …). It remembers the part
// that streams.
type translator struct {
	session string
	part    struct{ ID, Message, Kind, Call string }
}

// told is one event for a client.
type told struct {
	Type       string
	Properties obj
}

// terminal says whether a run is over with this event. It comes last, so a client that leaves at the first terminal event has
// heard everything.
func (t told) terminal() bool { return t.Type == "session.run.finished" }

func (tr *translator) translate(e event) ([]told, error) {
	base := func(more obj) obj {
		more["sessionID"], more["runID"] = tr.session, e.Turn
		return more
	}
	part := func(p obj, delta string) told {
		p["sessionID"] = tr.session
		props := base(obj{"part": p})
		if delta != "" {
			props["delta"] = delta
		}
		return told{"message.part.updated", props}
	}
	switch e.Type {
	case "part.started", "call.output":
		return nil, json.Unmarshal(e.Body, &tr.part)
	case "part.delta":
		p := obj{"id": tr.part.ID, "messageID": tr.part.Message, "type": tr.part.Kind}
		switch tr.part.Kind {
		case "text":
			return []told{
				{"session.response", base(obj{"delta": e.Delta, "messageID": tr.part.Message})},
				part(p, e.Delta),
			}, nil
		case "reasoning":
			return []told{part(p, e.Delta)}, nil
		}
		return []told{{"tool.output", base(obj{"callID": tr.part.Call, "delta": e.Delta})}}, nil
	case "part.ended":
		var end struct {
			ID, Message, Kind, Text string
			Cut                     bool
		}
		if err := json.Unmarshal(e.Body, &end); err != nil || end.Kind != "text" && end.Kind != "reasoning" {
			return nil, err
		}
		return []told{part(obj{"id": end.ID, "messageID": end.Message, "type": end.Kind, "text": end.Text, "cut": end.Cut}, "")}, nil
	case "message.added":
		var m message
		if err := json.Unmarshal(e.Body, &m); err != nil || m.Role != "user" {
			return nil, err
		}
		var out []told
		for i, b := range m.Blocks {
			if b.Kind == "text" {
				out = append(out, part(obj{"id": m.ID + "." + strconv.Itoa(i), "messageID": m.ID, "type": "text", "role": "user", "text": b.Text}, ""))
			}
		}
		return out, nil
	case "call.changed":
		return tr.call(e, base, part)
	case "turn.changed":
		return tr.turn(e, base)
	case "todo.changed":
		var list []any
		err := json.Unmarshal(e.Body, &list)
		return []told{{"todo.updated", base(obj{"todos": list})}}, err
	case "question.changed":
		var q question
		if err := json.Unmarshal(e.Body, &q); err != nil {
			return nil, err
		}
		if q.State == "pending" {
			return []told{{"question.asked", base(q.record())}}, nil
		}
		return []told{{"question.replied", base(obj{"id": q.ID, "requestID": q.ID, "answer": q.Answer, "status": q.State})}}, nil
	case "model.retry":
		var body obj
		err := json.Unmarshal(e.Body, &body)
		return []told{{"provider.call.iteration.retry", base(body)}}, err
	case "session.changed":
		var s session
		err := json.Unmarshal(e.Body, &s)
		return []told{{"session.updated", obj{"sessionID": tr.session, "info": s.record()}}}, err
	}
	return nil, nil
}

func (tr *translator) call(e event, base func(obj) obj, part func(obj, string) told) ([]told, error) {
	var c struct {
		ID, Ref, Tool, Title, State, Ask string
		Args                             json.RawMessage
		Result                           *struct {
			Text  string
			Error bool
			Meta  obj
		}
	}
	if err := json.Unmarshal(e.Body, &c); err != nil {
		return nil, err
	}
	p := obj{"id": c.ID, "type": "tool", "tool": c.Tool, "args": c.Args, "callID": c.ID, "state": "running"}
	switch c.State {
	case "proposed":
		p["state"] = "pending"
		return []told{{"session.tool_call", base(obj{"callID": c.ID, "tool": c.Tool, "args": c.Args})}, part(p, "")}, nil
	case "asking":
		if len(c.Ask) > 4 && c.Ask[:4] == "que_" {
			return nil, nil // the question has its own event
		}
		ask := base(obj{"id": c.Ask, "requestID": c.Ask, "tool": c.Tool, "args": c.Args, "callID": c.ID, "status": "pending"})
		return []told{{"permission.asked", ask}, {"permission.request", ask}, {"approval.requested", ask}}, nil
	case "running":
		return []told{part(p, "")}, nil
	}
	out := base(obj{"callID": c.ID, "tool": c.Tool, "ok": c.State == "done"})
	p["state"] = map[string]string{"done": "completed", "failed": "failed"}[c.State]
	if c.Result != nil {
		key := "result"
		if c.Result.Error {
			key = "error"
		}
		out[key], p[key], out["metadata"] = c.Result.Text, c.Result.Text, c.Result.Meta
	}
	return []told{{"session.tool_result", out}, part(p, "")}, nil
}

func (tr *translator) turn(e event, base func(obj) obj) ([]told, error) {
	var t turn
	if err := json.Unmarshal(e.Body, &t); err != nil {
		return nil, err
	}
	at := ms(e.At)
	switch t.State {
	case "running":
		return []told{{"session.run.started", base(obj{"startedAtMs": at})}, {"run.started", base(obj{"startedAtMs": at})}}, nil
	case "waiting":
		return []told{{"session.status", base(obj{"status": "waiting", "reason": t.Reason, "requestID": t.Ask})}}, nil
	case "done":
		return []told{{"run.completed", base(obj{"status": "completed"})},
			{"session.run.finished", base(obj{"status": "completed", "finishedAtMs": at})}}, nil
	case "failed":
		return []told{{"session.error", base(obj{"error": t.Reason})}, {"run.failed", base(obj{"status": "error", "error": t.Reason})},
			{"session.run.finished", base(obj{"status": "error", "error": t.Reason, "finishedAtMs": at})}}, nil
	case "cancelled":
		return []told{{"run.cancelled", base(obj{"status": "cancelled"})},
			{"session.run.finished", base(obj{"status": "cancelled", "finishedAtMs": at})}}, nil
	}
	return nil, nil
}

// frame is an event on the wire. Both clients look for ids at the top level, one of them only there.
func (t told) frame(e event, session string) obj {
	f := obj{"type": t.Type, "properties": t.Properties, "sessionID": session, "seq": e.Seq, "occurred_at_ms": ms(e.At)}
	env := obj{"event_id": session + "/" + e.place(), "seq": e.Seq, "schema_version": 1, "occurred_at_ms": ms(e.At), "session_id": session}
	if e.Turn != "" {
		f["runID"], env["run_id"] = e.Turn, e.Turn
	}
	f["envelope"] = env
	return f
}
