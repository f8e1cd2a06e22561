// Package inbox is the one place for what needs a person: asks, questions, dialogs, programs that crashed or were refused by their
// provider, relays that wait, pushes that failed, connectors in quarantine, runs that nobody lets go on, unread mail. It owns nothing
// and decides nothing: every row is read from its own room, as its caller may see it, and says where and how it is answered.
package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/inbox/wire"
	"tandem/internal/op"
)

// Room reads the inbox.
type Room struct {
	rooms op.Invoker
	panel func() string // the panel's address, "" for none
	now   func() time.Time
}

// New makes the room over the other rooms' operations. panel is the panel's address, "" where it has none.
func New(rooms op.Invoker, panel func() string, now func() time.Time) *Room {
	return &Room{rooms: rooms, panel: panel, now: now}
}

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{wire.List.Read(op.Spec{Right: "approval.read", Masked: true, Method: "GET", Path: "/inbox",
		Doc: "List everything that needs a person, with the place where it is answered: asks, questions, dialogs, crashed, " +
			"rate-limited, parked, failed pushes, " +
			"quarantined connectors, files that were set aside, runs and jobs that wait for somebody to look, " +
			"items of knowledge spaces that wait for an owner, unread mail.\nAn ask is answered by a person alone: " +
			"pass on its link. A question may be answered with question_answer."},
		func(wire.In) op.Resource { return op.Resource{Kind: "approval", Path: "/"} }, r.list)}
}

// source is where rows of one room come from.
type source struct {
	name string
	read func(context.Context, *Room) ([]wire.Row, error)
}

var sources = []source{{"approval.list", asks}, {"question.list", questions}, {"session.list", failures}, {"relay.list", relays},
	{"audit.log", pushes}, {"connector.list", connectors}, {"aside.list", setAside}, {"recovery.show", recovery}, {"automation.runs", runs},
	{"job.list", jobs}, {"queue.list", merged}, {"team.list", teams}, {"memory.list", proposals}, {"knowledge.list", unread},
	{"schedule.list", schedules}, {"server.status", fellows}, {"space.list", mail}}

func (r *Room) list(ctx context.Context, in wire.In) (wire.Out, error) {
	if in.Kind != "" && !slices.Contains(wire.Kinds, in.Kind) {
		return wire.Out{}, fault.New(fault.Invalid, "inbox.list", "%.40q is not a kind of the inbox", string(in.Kind)).WithNext("use one of %s",
			words(wire.Kinds))
	}
	var rows []wire.Row
	var missing []string
	looking := 0
	live := func(ctx context.Context, r *Room) (rows []wire.Row, err error) {
		rows, looking, err = seats(ctx, r)
		return rows, err
	}
	for _, s := range append([]source{{"session.live", live}}, sources...) { // first: what is heard of meanwhile is in the others
		got, err := s.read(ctx, r)
		switch {
		case fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound):
			continue // what the caller may not see does not wait for them
		case err != nil:
			missing = append(missing, s.name+": "+fault.Public(err).Msg)
			continue
		}
		rows = append(rows, got...)
	}
	out := Sorted(rows, in.Kind, r.panel())
	out.Missing, out.Looking = missing, looking
	return out, nil
}

// Sorted is the inbox of these rows: what keeps an agent from going on first, of one kind what waits longest, each with its link.
func Sorted(rows []wire.Row, only wire.Kind, panel string) wire.Out {
	out := wire.Out{Rows: []wire.Row{}}
	for _, x := range rows {
		if only != "" && x.Kind != only {
			continue
		}
		if panel != "" {
			x.Link = panel + x.Page
		}
		if x.Kind.Waits() {
			out.Count++
		}
		out.Rows = append(out.Rows, x)
	}
	slices.SortStableFunc(out.Rows, func(a, b wire.Row) int {
		if d := slices.Index(wire.Kinds, a.Kind) - slices.Index(wire.Kinds, b.Kind); d != 0 {
			return d
		}
		return a.Since.Compare(b.Since)
	})
	return out
}

func words(kinds []wire.Kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// line is a text as a line of a list.
func line(text string) string {
	const most = 160
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// first is the first of the texts that says something.
func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
