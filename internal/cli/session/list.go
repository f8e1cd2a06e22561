package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	room "tandem/internal/session"
	"tandem/internal/session/terminal"
)

// listed is a session as the list shows it.
type listed struct {
	*room.Session
	state  string
	closed bool
	tokens int64
	cost   provider.Nano
	last   string // the last line that its agent said
}

func (l listed) rank() int { return terminal.State(l.state).Rank() }

// arranged are sessions with the states of their programs, in the order in which a person looks at them. A session with a program that is
// not among the seats only checked that program, and is left out.
func arranged(sessions []*room.Session, seats []terminal.Seat) (out []listed) {
	programs := map[string]terminal.Seat{}
	for _, s := range seats {
		programs[s.Session] = s
	}
	for _, s := range sessions {
		l := listed{Session: s, state: s.State}
		if p, ok := programs[s.ID]; ok {
			l.state, l.closed = string(p.State), !p.ClosedAt.IsZero()
		} else if s.Driver == terminal.DriverName {
			continue
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b listed) int { return a.rank() - b.rank() })
	return out
}

// recently is how many of a session's newest events are looked through for its agent's last words.
const recently = 60

// fill adds what a session used, and what its agent said last.
func (l *listed) fill(ctx context.Context, k *kit.Kit) error {
	turns, err := op.Do(ctx, k, room.SessionTurns, room.TurnIn{ID: l.ID})
	if err != nil {
		return err
	}
	for _, t := range turns.Turns {
		l.tokens, l.cost = l.tokens+t.Usage.Total(), l.cost+t.Cost
	}
	events, err := op.Do(ctx, k, room.SessionEvents, room.EventsIn{ID: l.ID, After: max(0, l.Events-recently), Limit: recently})
	if err != nil {
		return err
	}
	for _, e := range events.Events {
		var m room.Message
		if e.Type == room.EventMessage && json.Unmarshal(e.Body, &m) == nil && m.Role == room.RoleAssistant {
			if text := strings.TrimSpace(provider.Reply{Blocks: m.Blocks}.Text()); text != "" {
				l.last = text[strings.LastIndexByte(text, '\n')+1:]
			}
		}
	}
	return nil
}

func showList(w io.Writer, all []listed) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTITLE\tDRIVER\tSTATE\tMODEL\tAGE\tTOKENS\tCOST\tFOLDER\tLAST SAID")
	for _, l := range all {
		cost := ""
		if l.cost > 0 {
			cost = fmt.Sprintf("$%.2f", float64(l.cost)/1e9)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", l.ID, kit.VisibleLine(l.Title), l.Driver, l.state, l.Model,
			kit.Age(l.UpdatedAt), l.tokens, cost, l.Directory, kit.SeenLine(fault.Clip(l.last, 60)))
	}
	t.Flush()
}
