package panel

import (
	"fmt"
	"net/url"
	"strings"

	"tandem/internal/job/wire"
)

// QueueRow is a branch into which jobs are merged one after the other.
type QueueRow struct {
	Repo, Branch, Reason string
	Protected, Paused    bool
	Jobs                 []JobRow
	Push                 *wire.Push
	Train                string // what a train is doing
}

// pushHref asks about pushing what waits; "" where nothing does, or it is pushed by itself.
func (q QueueRow) pushHref() string {
	if q.Push == nil || q.Push.Waits == "" || q.Push.Unasked && q.Push.Problem == "" && q.Push.Begun != "" {
		return ""
	}
	return queueHref("push", q) + "&" + url.Values{"commit": {q.Push.Waits}}.Encode()
}

func (v *visit) queues() (out []QueueRow, err error) {
	if !v.has(string(wire.QueueList)) {
		return nil, nil
	}
	list, err := ask(v, wire.QueueList, wire.QueueListIn{})
	for _, q := range list.Queues {
		row := QueueRow{Repo: q.Repo, Branch: q.Branch, Reason: q.Reason, Protected: q.Protected, Paused: q.Paused,
			Push: q.Push, Train: q.About()}
		for _, j := range q.Jobs {
			row.Jobs = append(row.Jobs, jobRow(j))
		}
		out = append(out, row)
	}
	return out, err
}

// protects says whether jobs get into a branch through its queue alone.
func (v *visit) protects(repo, branch string) (bool, error) {
	all, err := v.queues()
	for _, q := range all {
		if q.Repo == repo && q.Branch == branch && q.Protected {
			return true, err
		}
	}
	return false, err
}

// mergeRoutes ask for a person about the commit that the job's page showed: another one needs another look.
func mergeRoutes(p *Panel) {
	commit := func(v *visit) string { return strings.TrimSpace(v.r.FormValue("commit")) }
	merge := func(v *visit, problem string) error {
		return v.asksAboutJob(commit(v), ConfirmView{Title: "Merge this job?", Does: "Merge", Action: "/merge", Problem: problem,
			Text: "Its branch moves to the commit that you looked at. Where the branch is checked out, you are told what to type instead."})
	}
	queue := func(v *visit, problem string) error {
		return v.asksAboutJob(commit(v), ConfirmView{Title: "Queue this job?", Does: "Queue", Action: "/queue", Problem: problem,
			Text: "When its turn comes, what it is together with its branch is checked, and merged if that is green."})
	}
	p.get("/panel/jobs/{id}/merge", func(v *visit) error { return merge(v, "") })
	p.get("/panel/jobs/{id}/queue", func(v *visit) error { return queue(v, "") })
	perform(p, "/panel/jobs/{id}/merge", wire.Merge,
		func(v *visit) (wire.MergeIn, error) {
			return wire.MergeIn{ID: v.r.PathValue("id"), Commit: commit(v)}, nil
		},
		func(v *visit, _ wire.MergeIn, j *wire.Job) error { return v.go303(jobHref(j.ID), mergeSaid(j)) },
		func(v *visit, err error) error { return merge(v, words(err)) })
	perform(p, "/panel/jobs/{id}/queue", wire.QueueAdd,
		func(v *visit) (wire.QueueAddIn, error) {
			return wire.QueueAddIn{ID: v.r.PathValue("id"), Commit: commit(v)}, nil
		},
		func(v *visit, _ wire.QueueAddIn, j *wire.Job) error { return v.go303(jobHref(j.ID), "job-queued") },
		func(v *visit, err error) error { return queue(v, words(err)) })
}

// asksAboutJob shows what a commit changes, and asks about it. Nobody is asked about another one than the job is at.
func (v *visit) asksAboutJob(commit string, view ConfirmView) error {
	id := v.r.PathValue("id")
	j, err := ask(v, wire.Get, wire.IDIn{ID: id})
	if err != nil {
		return err
	}
	d, err := ask(v, wire.Diff, wire.DiffIn{ID: id})
	switch {
	case view.Problem != "" && (err != nil || d.Commit != commit):
		return v.job(id, view.Problem)
	case err != nil:
		return v.job(id, words(err))
	case d.Commit != commit:
		return v.job(id, fmt.Sprintf("the job is at %.12s by now, and you looked at %.12s", d.Commit, commit))
	}
	view.Variant, view.Subject, view.Back = "primary", commit, commitHref(id, commit)
	view.Action, view.Fields = jobHref(id)+view.Action, []Hidden{{"commit", commit}}
	view.Shown = jobFiles(j.Task, changedFiles(d))
	return v.confirms("jobs", view)
}

// mergeSaid is what became of a merge: where the branch moved on, the two are brought together first, and need another look.
func mergeSaid(j *wire.Job) string {
	switch {
	case j.State != wire.Merged:
		return "job-remade"
	case j.Next != "":
		return "job-aside"
	}
	return "job-merged"
}

// queueActs are what a person does with a queue; each but pausing needs one who is there.
var queueActs = map[string]ConfirmView{
	"protect": {Title: "Protect this branch?", Does: "Protect", Variant: "primary",
		Text: "Jobs get into it through its queue alone, and a move by somebody else pauses the queue."},
	"unprotect": {Title: "Take the protection away?", Does: "Take it away",
		Text: "Jobs can be merged into the branch without its queue, and moves by others are not looked at."},
	"resume": {Title: "Let this queue go on?", Does: "Go on", Variant: "primary",
		Text: "It goes on from where its branch stands now, whoever moved it there."},
	"push": {Title: "Push what was merged?", Does: "Push", Variant: "primary",
		Text: "The branch of the remote moves on to the commit that the queue merged last. That is not taken back from here."},
}

func queueHref(act string, q QueueRow) string {
	return "/panel/queues/" + act + "?" + url.Values{"folder": {q.Repo}, "branch": {q.Branch}}.Encode()
}

func queueRoutes(p *Panel) {
	field := func(v *visit, name string) string { return strings.TrimSpace(v.r.FormValue(name)) }
	done := func(said string) func(*visit, wire.QueueIn, *wire.Queue) error {
		return func(v *visit, _ wire.QueueIn, _ *wire.Queue) error { return v.go303("/panel/jobs", said) }
	}
	input := func(off bool) func(*visit) (wire.QueueIn, error) {
		return func(v *visit) (wire.QueueIn, error) {
			return wire.QueueIn{Folder: field(v, "folder"), Branch: field(v, "branch"), Push: field(v, "push"), Off: off}, nil
		}
	}
	asks := func(act string) func(*visit, string) error {
		return func(v *visit, problem string) error {
			view := queueActs[act]
			view.Subject = fmt.Sprintf("%s of %s", field(v, "branch"), field(v, "folder"))
			view.Action, view.Back, view.Problem = "/panel/queues/"+act, "/panel/jobs", problem
			view.Fields = []Hidden{{"folder", field(v, "folder")}, {"branch", field(v, "branch")}}
			if commit := field(v, "commit"); commit != "" {
				view.Subject, view.Fields = commit+" of "+view.Subject, append(view.Fields, Hidden{"commit", commit})
			}
			if push := field(v, "push"); push != "" {
				view.Subject, view.Fields = view.Subject+", pushed to "+push, append(view.Fields, Hidden{"push", push})
			}
			return v.confirms("jobs", view)
		}
	}
	for act := range queueActs {
		p.get("/panel/queues/"+act, func(v *visit) error { return asks(act)(v, "") })
	}
	again := func(act string) func(*visit, error) error {
		return func(v *visit, err error) error { return asks(act)(v, words(err)) }
	}
	perform(p, "/panel/queues/protect", wire.QueueProtect, input(false), done("queue-protected"), again("protect"))
	perform(p, "/panel/queues/unprotect", wire.QueueProtect, input(true), done("queue-open"), again("unprotect"))
	perform(p, "/panel/queues/resume", wire.QueueResume, input(false), done("queue-on"), again("resume"))
	perform(p, "/panel/queues/push", wire.QueuePush,
		func(v *visit) (wire.QueuePushIn, error) {
			return wire.QueuePushIn{Folder: field(v, "folder"), Branch: field(v, "branch"), Commit: field(v, "commit")}, nil
		},
		func(v *visit, _ wire.QueuePushIn, q *wire.Queue) error {
			if q.Push != nil && q.Push.Problem != "" {
				return asks("push")(v, q.Push.Problem)
			}
			return v.go303("/panel/jobs", "queue-pushed")
		}, again("push"))
	perform(p, "/panel/queues/pause", wire.QueuePause, input(false), done("queue-paused"),
		func(v *visit, err error) error { return v.jobs(words(err)) })
}
