package peer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// taskHistory is what happened to one task, as far as this member's log has it. Words that were said before it joined are closed to it.
func (r *Room) taskHistory(ctx context.Context, s *seat, in ActivityIn, stale string) (Activities, error) {
	id := board.TaskID(in.Task)
	if err := board.CheckID(id); err != nil {
		return Activities{}, err
	}
	if _, ok := s.board[id]; !ok {
		return Activities{}, fault.New(fault.NotFound, "board", "there is no task %s in this space", id).
			WithNext("call intandem_board for the ids of this space")
	}
	rows, err := r.db.Query(ctx, "SELECT entry FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq < ? AND "+
		"(class LIKE 'task.%' OR class = ?) ORDER BY seq DESC", s.tenant, s.space, s.log, min(in.Before, s.seq+1), space.ClassExpire)
	if err != nil {
		return Activities{}, err
	}
	defer rows.Close()
	var out Activities
	for rows.Next() && len(out.Entries) < in.Limit {
		e, err := scanEntry(rows)
		if err != nil {
			return out, err
		}
		evs, err := board.Events(e)
		if err != nil {
			return out, err
		}
		at := slices.IndexFunc(evs, func(ev board.Event) bool { return ev.Task == id })
		if at < 0 {
			var f board.Facts
			if len(e.Facts) > 0 && e.Env != nil && json.Unmarshal(e.Facts, &f) == nil && slices.Contains(f.Opened, id) {
				a := s.activity(e, nil)
				a.Detail, a.Action = a.Action+": "+a.Detail, "opened it"
				out.Entries = append(out.Entries, a)
			}
			continue
		}
		a := s.activity(e, nil)
		if evs[at].Kind == board.KindRenew { // a sign of life, every few minutes
			continue
		}
		if e.Env != nil {
			a.Detail = escape(happened(evs[at], at, s.reopen(e)))
			if evs[at].To != "" {
				a.Detail = strings.TrimSpace("to " + escape(s.name(seal.MemberID(evs[at].To))) + " " + a.Detail)
			}
		}
		out.Entries = append(out.Entries, a)
	}
	if err := rows.Err(); err != nil {
		return out, err
	}
	out.told(stale)
	return out, nil
}

// happened are the words of an event, and what of it the host sees, too.
func happened(ev board.Event, at int, content []byte) string {
	var said []string
	put := func(what, words string) {
		if words = strings.Join(strings.Fields(words), " "); words != "" {
			said = append(said, what+fault.Clip(words, 200))
		}
	}
	var n struct {
		EditWords
		Away  Away        `json:"away"`
		Tasks []TaskWords `json:"tasks"`
	}
	if content != nil && json.Unmarshal(content, &n) == nil {
		w := n.TaskWords
		if at < len(n.Tasks) {
			w = n.Tasks[at]
		}
		put("title: ", w.Title)
		put("description: ", w.Description)
		put("result: ", w.Result)
		put("reason: ", w.Reason)
		put("labels: ", strings.Join(w.Labels, ", "))
		put("without labels: ", strings.Join(n.Unlabel, ", "))
		put("part of: ", string(w.Parent))
		for _, c := range w.Comments {
			put("", c.Text)
		}
		if n.Apart {
			said = append(said, "part of nothing")
		}
		switch n.Away {
		case AwayPut:
			said = append(said, "put away")
		case AwayBack:
			said = append(said, "brought back")
		}
	}
	if ev.Kind != board.KindAdd || ev.Prio != board.Medium {
		put("priority: ", string(ev.Prio))
	}
	if ev.Kind == board.KindDepend || len(ev.Needs) > 0 {
		put("after: ", orElse(join(ev.Needs), "nothing"))
	}
	return strings.Join(said, "; ")
}
