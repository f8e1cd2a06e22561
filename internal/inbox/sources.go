package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/approval"
	automation "tandem/internal/automation/wire"
	connector "tandem/internal/connector/wire"
	"tandem/internal/identity"
	"tandem/internal/inbox/wire"
	job "tandem/internal/job/wire"
	"tandem/internal/journal"
	memory "tandem/internal/memory/wire"
	"tandem/internal/op"
	schedule "tandem/internal/schedule/wire"
	server "tandem/internal/server/wire"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	sessions "tandem/internal/session/wire"
	"tandem/internal/space/peer"
	team "tandem/internal/team/wire"
)

// recent is how long the inbox tells of what is over: an ask that ended without an answer, a push that failed.
const recent = 24 * time.Hour

func asks(ctx context.Context, r *Room) (out []wire.Row, err error) {
	waiting, err := op.Do(ctx, r.rooms, approval.AskList, approval.ListIn{Limit: 1000})
	if err != nil {
		return nil, err
	}
	for _, a := range waiting.Asks {
		out = append(out, askRow(wire.Ask, a, a.Title, a.CreatedAt, "approve"))
	}
	gone, err := op.Do(ctx, r.rooms, approval.AskList, approval.ListIn{State: string(approval.Cancelled), Limit: 1000})
	for _, a := range gone.Asks {
		if a.DecidedBy == approval.Abandoned && a.DecidedAt != nil && r.now().Sub(*a.DecidedAt) < recent {
			out = append(out, askRow(wire.Ended, a, a.Title+": "+a.Feedback, *a.DecidedAt, "show"))
		}
	}
	return out, err
}

func askRow(kind wire.Kind, a *approval.Ask, what string, since time.Time, verb string) wire.Row {
	alike := a.Op + " " + a.Resource
	if a.Op == string(identity.JoinEnter) { // each is somebody else, whatever it calls itself
		alike = a.ID
	}
	return wire.Row{Kind: kind, ID: a.ID, Name: first(a.Called, a.Who()), Session: a.Session, What: line(what), Since: since,
		Next: "tandem approvals " + verb + " " + a.ID, Page: "/panel/approvals/" + url.PathEscape(a.ID), Alike: alike}
}

func questions(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, session.QuestionList, session.Nothing{})
	for _, q := range list.Questions {
		row := wire.Row{Kind: wire.Question, ID: q.ID, Name: first(q.Called, q.Session), Session: q.Session, Since: q.CreatedAt,
			Next: AnswerWith(q), Page: "/panel/sessions/" + url.PathEscape(q.Session)}
		var texts []string
		for _, one := range q.Questions {
			texts = append(texts, one.Question)
			for _, o := range one.Options {
				row.Options = append(row.Options, o.Label)
			}
		}
		row.What = line(strings.Join(texts, " / "))
		out = append(out, row)
	}
	return out, err
}

// AnswerWith is the command that answers a question, with the first thing that can be chosen as its example.
func AnswerWith(q *session.Question) string {
	answer := "…"
	if len(q.Questions) > 0 && len(q.Questions[0].Options) > 0 {
		answer = q.Questions[0].Options[0].Label
	}
	return "tandem session answer " + q.ID + " " + quoted(answer)
}

// quoted is a word as a shell takes it, whoever wrote it.
func quoted(s string) string { return "'" + strings.ReplaceAll(line(s), "'", `'\''`) + "'" }

// stuck are the states in which a program cannot go on by itself. A permission and a question have rows of their own.
var stuck = map[terminal.State]wire.Kind{terminal.Dialog: wire.Dialog, terminal.Crashed: wire.Crashed, terminal.Hung: wire.Crashed,
	terminal.RateLimited: wire.Limited}

// seats are the programs that cannot go on; looking counts those of which nobody knows yet.
func seats(ctx context.Context, r *Room) (out []wire.Row, looking int, err error) {
	live, err := op.Do(ctx, r.rooms, terminal.SessionLive, terminal.LiveIn{})
	for _, s := range live.Sessions {
		if s.Looking {
			looking++
		}
		kind, known := stuck[s.State]
		if s.ClosedAt.IsZero() && s.Outcome == terminal.DeniedOutcome && r.now().Sub(s.Since) < recent {
			out = append(out, wire.Row{Kind: wire.Ended, ID: s.Session, Name: s.Name, Session: s.Session, Since: s.Since,
				What: "its turn was ended, for something was denied that its program saw; it goes on in a new box",
				Next: fmt.Sprintf("tandem session show %s", s.Name), Page: "/panel/sessions/" + url.PathEscape(s.Session)})
		}
		if !known || !s.ClosedAt.IsZero() {
			continue
		}
		out = append(out, wire.Row{Kind: kind, ID: s.Session, Name: s.Name, Session: s.Session, What: line(first(s.Detail, string(s.State))),
			Since: s.Since,
			Next:  GoOnWith(s), Page: "/panel/sessions/" + url.PathEscape(s.Session)})
	}
	return out, looking, err
}

// GoOnWith is the command that lets a program go on that cannot by itself. A turn that was refused for the rate is over: the words are
// sent again, when the provider takes them.
func GoOnWith(s terminal.Seat) string {
	switch {
	case s.State == terminal.Crashed:
		return "tandem session open " + s.Name + " --resume"
	case s.State == terminal.RateLimited && s.Outcome == terminal.LimitedOutcome:
		return "tandem session send " + s.Name + " 'go on'"
	}
	return "tandem session attach " + s.Name
}

// failures are the sessions of our own loop whose last turn failed. What failed in a terminal says so there.
func failures(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, session.SessionList, session.ListIn{})
	for _, s := range list.Sessions {
		if s.State != string(session.Failed) || s.Driver != session.DriverModel || s.Parent != "" || r.now().Sub(s.UpdatedAt) > recent {
			continue
		}
		why := ""
		if turns, err := op.Do(ctx, r.rooms, session.SessionTurns, session.TurnIn{ID: s.ID}); err == nil && len(turns.Turns) > 0 {
			why = turns.Turns[0].Reason // the newest
		}
		out = append(out, wire.Row{Kind: wire.Ended, ID: s.ID, Name: first(s.Title, s.ID), Session: s.ID, Since: s.UpdatedAt,
			What: line("its turn failed: " + first(why, "nobody said why")),
			Next: fmt.Sprintf("tandem session prompt %s 'go on'", s.ID), Page: "/panel/sessions/" + url.PathEscape(s.ID)})
	}
	return out, err
}

func relays(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, relay.RelayList, session.Nothing{})
	for _, x := range list.Relays {
		if x.Status != relay.NeedsInput && x.Status != relay.Blocked && x.Status != relay.Parked || r.now().Sub(x.UpdatedAt) > recent &&
			x.Status.Over() {
			continue
		}
		next := "tandem relay enqueue " + x.ID + " '…'"
		if x.Status == relay.Blocked {
			next = "tandem relay read " + x.ID
		}
		out = append(out, wire.Row{Kind: wire.Parked, ID: x.ID, Name: line(x.Task),
			What:  line(string(x.Status) + ": " + first(x.Question, x.Reason, x.Summary, "waits for its next task")),
			Since: x.UpdatedAt, Next: next, Page: "/panel/relays/" + url.PathEscape(x.ID)})
	}
	return out, err
}

// pushes are those that failed and did not succeed since.
func pushes(ctx context.Context, r *Room) (out []wire.Row, err error) {
	log, err := op.Do(ctx, r.rooms, journal.AuditLog,
		journal.LogIn{Type: "repo.git_push", Since: r.now().Add(-recent), Newest: true, Limit: 200})
	settled := map[string]bool{}
	for _, e := range log.Entries {
		if settled[e.Resource] || e.Phase != journal.Outcome && e.Phase != journal.Unknown {
			continue
		}
		settled[e.Resource] = true
		var said struct {
			OK     bool
			Reason string
		}
		if json.Unmarshal(e.Payload, &said) == nil && said.OK {
			continue
		}
		seq := strconv.FormatInt(e.Seq, 10)
		out = append(out, wire.Row{Kind: wire.Push, ID: seq, Name: strings.TrimPrefix(e.Resource, "repo:/"),
			What:  line(first(said.Reason, "nobody knows whether it arrived")),
			Since: e.Time, Next: fmt.Sprintf("tandem audit show %d", e.Seq), Page: "/panel/journal/" + seq})
	}
	return out, err
}

func connectors(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, connector.List, connector.Nothing{})
	for _, c := range list.Connectors {
		if c.State != connector.Quarantined || !c.Enabled {
			continue
		}
		since := c.SyncedAt
		if since.IsZero() {
			since = c.CreatedAt
		}
		out = append(out, wire.Row{Kind: wire.Connector, ID: c.Name, Name: c.Name,
			What: line(first(c.Failure, "offers other tools than a person accepted")), Since: since,
			Next: fmt.Sprintf("tandem connector accept %s", c.Name), Page: "/panel/connectors"})
	}
	return out, err
}

// setAside are the files that were taken out of folders because version control would have run them later.
func setAside(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, sessions.AsideList, sessions.AsideListIn{})
	names := map[string]string{"": ""}
	for _, a := range list.Aside {
		if _, known := names[a.Session]; !known {
			names[a.Session] = "" // one that is gone has no name
			if s, err := op.Do(ctx, r.rooms, session.SessionGet, session.IDIn{ID: a.Session}); err == nil {
				names[a.Session] = s.Title
			}
		}
		out = append(out, wire.Row{Kind: wire.Aside, ID: a.ID, Name: first(names[a.Session], a.Folder), Session: a.Session,
			What: line(a.Path + ": " + a.What), Since: a.CreatedAt,
			Next: fmt.Sprintf("tandem session set-aside show %s", a.ID), Page: "/panel/aside/" + url.PathEscape(a.ID)})
	}
	return out, err
}

// recovery is a PIN that root of the machine began to replace: whoever has the old one has a day to stop it.
func recovery(ctx context.Context, r *Room) (out []wire.Row, err error) {
	said, err := op.Do(ctx, r.rooms, identity.RecoveryShow, identity.Nothing{})
	if p := said.Pending; p != nil {
		out = append(out, wire.Row{Kind: wire.Recovery, ID: p.ID, Name: "PIN", Since: p.StartedAt,
			What: "root of this machine began to replace the PIN, which counts from " + p.DueAt.Local().Format("2006-01-02 15:04") + " on",
			Next: "tandem recover stop", Page: "/panel/system"})
	}
	return out, err
}

// runs are those of automations that do not go on until somebody looks, and those that failed.
func runs(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, automation.Runs, automation.RunsIn{Needs: true, Limit: 500})
	for _, x := range list.Runs {
		row := wire.Row{Kind: wire.Run, ID: x.ID, Name: x.Name, What: line(x.Needs), Since: x.BeganAt,
			Next: fmt.Sprintf("tandem automation runs show %s", x.ID), Page: "/panel/runs/" + url.PathEscape(x.ID)}
		switch {
		case x.Status == "failed" && r.now().Sub(x.EndedAt) < recent:
			row.Kind, row.What, row.Since = wire.Ended, line("its run failed: "+x.Reason), x.EndedAt
		case x.Needs == "":
			continue
		}
		out = append(out, row)
	}
	return out, err
}

// jobs are those whose work waits for a person's look, and those that stopped.
func jobs(ctx context.Context, r *Room) (out []wire.Row, err error) {
	for _, state := range []job.State{job.Review, job.Stopped} {
		list, err := op.Do(ctx, r.rooms, job.List, job.ListIn{State: state, Limit: 500})
		if err != nil {
			return out, err
		}
		for _, j := range list.Jobs {
			row := wire.Row{Kind: wire.Job, ID: j.ID, Name: line(j.Task), Session: j.Session, Since: j.MovedAt,
				Page: "/panel/jobs/" + url.PathEscape(j.ID),
				What: line("its work waits for your look: " + first(j.Reason, "its check is "+string(j.Verdict))),
				Next: fmt.Sprintf("tandem job diff %s", j.ID)}
			if state == job.Stopped {
				row.Kind, row.What, row.Next = wire.Ended, line("it stopped: "+j.Reason), fmt.Sprintf("tandem job show %s", j.ID)
			}
			if j.Lock != nil {
				row.Kind, row.What = wire.Job, line("it waits for your word: "+j.Reason)
			}
			if state == job.Review || j.Lock != nil || r.now().Sub(j.MovedAt) < recent {
				out = append(out, row)
			}
		}
	}
	return out, nil
}

// teams are those whose plan waits for a person, and those that cannot go on by themselves.
func teams(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, team.List, team.ListIn{})
	for _, t := range list.Teams {
		row := wire.Row{Kind: wire.Team, ID: t.ID, Name: line(t.Goal), Session: t.Session, Since: t.MovedAt,
			Page: "/panel/teams/" + url.PathEscape(t.ID), Next: fmt.Sprintf("tandem team show %s", t.ID)}
		switch t.State {
		case team.Proposed:
			row.What = line(fmt.Sprintf("its plan of %d tasks waits for you", len(t.Tasks)))
		case team.Blocked:
			row.What = line("it cannot go on: " + t.Reason)
		default:
			continue
		}
		out = append(out, row)
	}
	return out, err
}

// merged is what a queue merged and nobody pushed yet, or what did not arrive.
func merged(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, job.QueueList, job.QueueListIn{})
	for _, q := range list.Queues {
		p := q.Push
		if p == nil || p.Waits == "" && p.Begun == "" {
			continue
		}
		commit := first(p.Begun, p.Waits)
		what := "what was merged waits for your word before it is pushed to " + p.Remote
		switch {
		case p.Begun != "":
			what = "whether the push to " + p.Remote + " arrived is not known"
		case p.Problem != "":
			what = "the push to " + p.Remote + " did not arrive: " + p.Problem
		}
		out = append(out, wire.Row{Kind: wire.Push, ID: q.Branch, Name: q.Branch, What: line(what), Page: "/panel/jobs",
			Next: fmt.Sprintf("tandem queue push %s --commit %s -C %s", q.Branch, commit, q.Repo)})
	}
	return out, err
}

// proposals is one row for all that agents propose to remember.
func proposals(ctx context.Context, r *Room) (out []wire.Row, err error) {
	const most = 200
	list, err := op.Do(ctx, r.rooms, memory.List, memory.ListIn{State: memory.Proposed, Limit: most})
	if err != nil || len(list.Records) == 0 {
		return nil, err
	}
	n, oldest := fmt.Sprint(len(list.Records)), list.Records[len(list.Records)-1]
	if list.More {
		n += " or more"
	}
	return append(out, wire.Row{Kind: wire.Memory, ID: oldest.ID, Name: "memory", Since: oldest.ChangedAt,
		What: line(n + " proposed to be remembered, since then: " + oldest.Text),
		Next: "tandem memory list --state proposed", Page: "/panel/memory?state=proposed"}), nil
}

// schedules are those that failed when they were last tried.
func schedules(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, schedule.List, struct{}{})
	for _, s := range list.Schedules {
		if s.Failure != "" {
			out = append(out, wire.Row{Kind: wire.Schedule, ID: string(s.Kind), Name: string(s.Kind), What: line(s.Failure), Since: s.FailedAt,
				Next: "tandem server schedule list", Page: "/panel/copies"})
		}
	}
	return out, err
}

// fellows are the servers of the cluster that are gone without having been stopped.
func fellows(ctx context.Context, r *Room) (out []wire.Row, err error) {
	st, err := op.Do(ctx, r.rooms, server.ServerStatus, identity.Nothing{})
	for _, o := range st.Server.Others {
		if !o.Gone.IsZero() {
			out = append(out, wire.Row{Kind: wire.Server, ID: o.Host + ":" + o.Data, Name: o.Host, Since: o.Gone,
				What: line("a server of the cluster " + st.Server.Cluster + " ended without being stopped; its data is in " + o.Data),
				Next: "tandem status", Page: "/panel/system"})
		}
	}
	return out, err
}

// mail is one row for each space with unread messages; reading them is the space's own inbox.
func mail(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, peer.SpaceList, peer.Nothing{})
	for _, s := range list.Seats {
		if s.Unread > 0 {
			out = append(out, wire.Row{Kind: wire.Mail, ID: s.Space, Name: s.Title, What: fmt.Sprintf("%d unread for %s", s.Unread, s.Username),
				Since: s.UnreadSince,
				Next:  fmt.Sprintf("tandem space inbox --space %s", s.Space), Page: "/panel/spaces/in?to=messages&space=" + url.QueryEscape(s.Space)})
		}
	}
	return out, err
}
