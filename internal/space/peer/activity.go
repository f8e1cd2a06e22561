package peer

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// ActivityIn asks for a page of the log.
type ActivityIn struct {
	Limit    int   `json:"limit,omitempty" jsonschema:"at most this many, 30 when left out"`
	Before   int64 `json:"before,omitempty" jsonschema:"only entries before this number, to page back"`
	Receipts bool  `json:"receipts,omitempty" jsonschema:"what was told about how far messages came, too"`

	Task string `json:"task_id,omitempty" jsonschema:"only what happened to this task, and what was said of it"`
	Which
}

// Activity is one thing that happened.
type Activity struct {
	Seq    int64  `json:"seq"`
	At     string `json:"at"`
	Actor  string `json:"actor"`
	Action string `json:"action"`
	Detail string `json:"detail,omitempty"`
	Hash   string `json:"hash"`
}

// Activities are a page of the log.
type Activities struct {
	Said
	Entries []Activity `json:"entries"`
}

func (r *Room) opActivity(ctx context.Context, in ActivityIn) (Activities, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Activities{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	in.Limit = atMost(in.Limit, 30, 1000)
	if in.Before <= 0 {
		in.Before = s.seq + 1
	}
	out := Activities{Entries: []Activity{}}
	but := space.ClassReceipt // they are many, and the messages' own receipts tell more
	if in.Receipts {
		but = ""
	}
	if in.Task != "" {
		return r.taskHistory(ctx, s, in, stale)
	}
	rows, err := r.db.Query(ctx,
		"SELECT entry FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq < ? AND class <> ? ORDER BY seq DESC LIMIT ?",
		s.tenant, s.space, s.log, min(in.Before, s.seq+1), but, in.Limit)
	out.Entries, err = db.Collect(rows, err, func(rows *sql.Rows) (Activity, error) {
		e, err := scanEntry(rows)
		if err != nil {
			return Activity{}, err
		}
		return s.activity(e, s.reopen(e)), nil
	})
	if err != nil {
		return out, err
	}
	out.told(stale)
	return out, nil
}

// told puts entries, newest first, into order and words.
func (out *Activities) told(stale string) {
	if out.Entries == nil {
		out.Entries = []Activity{}
	}
	slices.Reverse(out.Entries)
	var b strings.Builder
	b.WriteString("Activity Log:")
	for _, a := range out.Entries {
		fmt.Fprintf(&b, "\n[%s] %s: %s", a.At, a.Actor, a.Action)
		if a.Detail != "" {
			b.WriteString(" - " + a.Detail)
		}
	}
	if stale != "" {
		b.WriteString("\nNot up to date: " + stale)
	}
	out.Text = b.String()
}

// activity puts an entry into words: structure for all, content only where this
// seat could open it.
func (s *seat) activity(e *space.Entry, content []byte) Activity {
	a := Activity{Seq: e.Seq, At: micros(e.At).Format(time.RFC3339), Actor: "host", Action: e.Class, Hash: e.Hash}
	if e.Env == nil {
		if e.Class == "host.start" {
			a.Action = "began the space"
		}
		if e.Class == space.ClassHandOver {
			var f space.HandOverFacts
			if json.Unmarshal(e.Facts, &f) == nil {
				a.Action, a.Detail = "hands over", escape(s.name(f.To))+"'s machine is the next host"
			}
		}
		if e.Class == space.ClassExpire {
			var f board.ExpireFacts
			if json.Unmarshal(e.Facts, &f) == nil {
				a.Action, a.Detail = "lease ran out", fmt.Sprintf("%s is open again; %s held it", f.Task, escape(s.name(seal.MemberID(f.Holder))))
			}
		}
		return a
	}
	a.Actor = escape(s.name(e.Env.From))
	switch e.Class {
	case space.ClassCommit:
		var c space.CommitClear
		a.Action = "changed the members"
		if json.Unmarshal(e.Env.Clear, &c) == nil {
			var who []string
			for _, card := range c.Add {
				who = append(who, escape(s.name(card.ID))+" joined")
			}
			for _, id := range c.Remove {
				who = append(who, escape(s.name(id))+" is out")
			}
			a.Detail = strings.Join(who, ", ")
		}
	case space.ClassLeave:
		a.Action = "left"
	case space.ClassMessage:
		a.Action = "sent a message"
		if e.Env.To != "" {
			a.Action = "sent a message to " + escape(s.name(e.Env.To))
		}
		if content != nil {
			w := wordsOf(content)
			a.Detail = fmt.Sprintf("%s: %s", escape(w.Type), clip(escape(w.Text)))
		}
	case space.ClassTakeOver:
		a.Action, a.Detail = "took over", fmt.Sprintf("the space is hosted by %s's machine since term %d", a.Actor, e.Term)
	case space.ClassReserve, space.ClassShared, space.ClassRelease:
		a.Action = "leased a path"
		switch e.Class {
		case space.ClassShared:
			a.Action = "leased a path, shared"
		case space.ClassRelease:
			a.Action = "released a path"
		}
		var p Path
		if content != nil && json.Unmarshal(content, &p) == nil {
			a.Detail = escape(p.Path)
		}
	case space.ClassReceipt:
		a.Action = "told how far messages came"
		var c space.ReceiptClear
		if json.Unmarshal(e.Env.Clear, &c) == nil {
			var far []string
			for _, f := range []struct {
				ids []string
				how string
			}{{c.Surfaced, "surfaced"}, {c.Read, "read"}, {c.Waiting, "waiting"}} {
				if len(f.ids) > 0 {
					far = append(far, fmt.Sprintf("%d %s", len(f.ids), f.how))
				}
			}
			a.Detail = strings.Join(far, ", ")
		}
	case space.ClassProfile:
		a.Action = "told what they bring"
	case space.ClassVar:
		var v Variable
		a.Action = "set a variable"
		if content != nil && json.Unmarshal(content, &v) == nil {
			a.Detail = escape(v.Key)
		}
	case space.ClassFinding:
		var f Finding
		a.Action = "reported a finding"
		if content != nil && json.Unmarshal(content, &f) == nil {
			a.Detail = clip(escape(f.Summary))
		}
	default:
		if kind, ok := strings.CutPrefix(e.Class, "task."); ok {
			a.Action = orElse(deeds[board.Kind(kind)], "task "+kind)
			var c board.Clear
			if json.Unmarshal(e.Env.Clear, &c) == nil && c.Task != "" {
				a.Detail = strings.TrimSpace(string(c.Task) + " " + clip(escape(s.words[c.Task].Title)))
			}
		}
	}
	return a
}

// deeds are what members do to tasks, in the log's words.
var deeds = map[board.Kind]string{board.KindAdd: "added a task", "plan": "made a plan", board.KindClaim: "claimed a task",
	board.KindUnclaim: "released a task", board.KindStart: "began a task",
	board.KindBlock: "blocked a task", board.KindFinish: "finished a task", board.KindHandoff: "handed a task over",
	board.KindRenew: "renewed a claim", board.KindDepend: "changed what a task depends on", board.KindTakeBack: "took a task back",
	board.KindEdit: "edited a task", board.KindReopen: "reopened a task", board.KindCancel: "cancelled a task",
	board.KindComment: "commented on a task"}

// summary is what a leaver is told about its time here.
func (r *Room) summary(ctx context.Context, s *seat) (string, error) {
	me := string(s.me.Card().ID)
	var claimed, done, sent, got int
	rows, err := r.db.Query(ctx, "SELECT class, sender, count(*) FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq > ? "+
		"AND seq <= ? AND (recipient = '' OR recipient = ? OR sender = ?) GROUP BY class, sender", s.tenant, s.space, s.log, s.joined, s.seq,
		me, me)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var class, sender string
		var n int
		if err := rows.Scan(&class, &sender, &n); err != nil {
			return "", err
		}
		switch {
		case class == "task.claim" && sender == me:
			claimed += n
		case class == "task.finish" && sender == me:
			done += n
		case class == space.ClassMessage && sender == me:
			sent += n
		case class == space.ClassMessage:
			got += n
		}
	}
	var peers []string
	for _, id := range s.order {
		if string(id) != me {
			peers = append(peers, escape(s.name(id)))
		}
	}
	return fmt.Sprintf("Session Summary\n  Workspace: %s\n  Duration: %s\n  Peers: %s\n  Tasks claimed: %d, completed: "+
		"%d\n  Messages sent: %d, received: %d\n  Tool calls: %d",
		escape(s.sec.Base.Title), r.now().Sub(s.created).Round(time.Second), orElse(strings.Join(peers, ", "), "none"), claimed, done, sent, got,
		s.calls), rows.Err()
}

// atMost is how many are shown: as many as were asked for, up to a bound, or the usual number.
func atMost(asked, usual, bound int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, bound)
}
