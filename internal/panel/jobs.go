package panel

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
)

func jobsNav() page {
	return page{id: "jobs", label: "Jobs", href: "/panel/jobs", icon: "job", key: "g t", needs: string(wire.List), routes: jobRoutes}
}

func jobRoutes(p *Panel) {
	p.get("/panel/jobs", func(v *visit) error { return v.jobs("") })
	perform(p, "/panel/jobs", wire.Start, startJob,
		func(v *visit, _ wire.StartIn, j *wire.Job) error { return v.go303(jobHref(j.ID), "job-started") },
		func(v *visit, err error) error { return v.jobs(words(err)) })
	p.get("/panel/jobs/{id}", func(v *visit) error { return v.job(v.r.PathValue("id"), "") })
	id := func(v *visit) (wire.IDIn, error) { return wire.IDIn{ID: v.r.PathValue("id")}, nil }
	jobAct(p, "check", wire.Check, "job-checked", id)
	jobAct(p, "resume", wire.Resume, "job-resumed", func(v *visit) (wire.ResumeIn, error) {
		return wire.ResumeIn{ID: v.r.PathValue("id"), Agent: agentField(v)}, nil
	})
	jobAct(p, "viewed", wire.Viewed, "job-viewed", func(v *visit) (wire.ViewedIn, error) {
		return wire.ViewedIn{ID: v.r.PathValue("id"), Commit: v.field("commit")}, nil
	})
	p.get("/panel/jobs/{id}/image", (*visit).jobImage)
	jobAct(p, "evict", wire.QueueEvict, "job-evicted", id)
	jobAct(p, "back", wire.Back, "job-told", func(v *visit) (wire.BackIn, error) {
		return wire.BackIn{ID: v.r.PathValue("id"), Text: v.field("text"), Agent: v.field("agent")}, nil
	})
	jobAct(p, "comment", wire.CommentOn, "job-said", commentInput)
	jobAct(p, "review", wire.Inspect, "job-reviewed", func(v *visit) (wire.ReviewIn, error) {
		return wire.ReviewIn{ID: v.r.PathValue("id"), By: v.field("by"), Commit: v.field("commit")}, nil
	})
	jobAct(p, "stop", wire.Stop, "job-stopped", func(v *visit) (wire.StopIn, error) {
		return wire.StopIn{ID: v.r.PathValue("id"), Discard: v.r.PostFormValue("discard") != ""}, nil
	})
	pullRoutes(p)
	mergeRoutes(p)
	prepareRoutes(p)
	queueRoutes(p)
}

// agentField is who was chosen, where a model that was typed counts more.
func agentField(v *visit) string { return cmp.Or(v.field("model"), v.field("agent")) }

// jobAct is something done to one job; its page says what came of it.
func jobAct[In any](p *Panel, verb string, d op.Def[In, *wire.Job], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/jobs/{id}/"+verb, d, input,
		func(v *visit, _ In, j *wire.Job) error { return v.go303(jobHref(j.ID), said) },
		func(v *visit, err error) error { return v.job(v.r.PathValue("id"), words(err)) })
}

// pullRoutes are what is done to a job's pull request without a person's proof.
func pullRoutes(p *Panel) {
	failed := func(v *visit, err error) error { return v.job(v.r.PathValue("id"), words(err)) }
	perform(p, "/panel/jobs/{id}/pull", forge.Sync, func(v *visit) (forge.JobIn, error) {
		return forge.JobIn{ID: v.r.PathValue("id")}, nil
	}, func(v *visit, _ forge.JobIn, pull *forge.Pull) error { return v.go303(jobHref(pull.Job), "job-pulled") }, failed)
	perform(p, "/panel/jobs/{id}/pull/tell", forge.Tell, func(v *visit) (forge.TellIn, error) {
		return forge.TellIn{ID: v.r.PathValue("id")}, nil
	}, func(v *visit, _ forge.TellIn, pull *forge.Pull) error { return v.go303(jobHref(pull.Job), "job-told") }, failed)
}

func jobHref(id string) string { return "/panel/jobs/" + pathEscape(id) }

func startJob(v *visit) (wire.StartIn, error) {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	in := wire.StartIn{On: form("on"), Task: form("task"), Folder: form("folder"), Agent: form("model"), Check: form("check"),
		From: form("from")}
	if in.On != "" { // it has the repository of that one
		in.Folder = ""
	}
	if in.From != "" {
		in.Space = form("space")
	}
	if in.Agent == "" {
		in.Agent = form("agent")
	}
	var err error
	in.Budget, err = wire.ParseBudget(form("budget"))
	return in, err
}

// commentInput is about the commit that the page showed.
func commentInput(v *visit) (wire.CommentIn, error) {
	in := wire.CommentIn{ID: v.r.PathValue("id"), Commit: v.field("commit"), File: v.field("file"), Text: v.field("text")}
	if s := v.field("line"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return in, fault.New(fault.Invalid, string(wire.CommentOn), "a line is a number, from 1 on").
				WithNext("leave it out to speak of the whole file")
		}
		in.Line = n
	}
	return in, nil
}

// JobRow is a job in a list.
type JobRow struct {
	ID, Task, Agent, Folder string
	State                   wire.State
	Verdict                 wire.Verdict
	Known                   string // by its check, in words
	Open                    bool   // it can still go on: it is not merged, and its workspace is there
	Since                   time.Time
	On                      string // the job that it is merged after
}

func jobRow(j *wire.Job) JobRow {
	on := ""
	if j.Held {
		on = j.On
	}
	return JobRow{On: on, ID: j.ID, Task: j.Title(), Agent: j.Agent, Folder: j.Folder, State: j.State, Verdict: j.Verdict, Known: j.Known(),
		Open: j.State != wire.Merged && (j.State != wire.Stopped || j.Path != "" || j.Session == ""), Since: j.MovedAt}
}

func (r JobRow) tone() ui.Tone {
	switch r.State {
	case wire.Review:
		return ui.Warn
	case wire.Stopped:
		if r.Open {
			return ui.Warn
		}
		return ui.Quiet
	case wire.Merged:
		return ui.Good
	}
	return ui.Info
}

func verdictTone(v wire.Verdict) ui.Tone {
	switch v {
	case wire.Green:
		return ui.Good
	case wire.Red:
		return ui.Bad
	}
	return ui.Quiet
}

// JobsView is the list of jobs, and the queues into which they go.
type JobsView struct {
	Now     time.Time
	State   wire.State // only those that stand there
	Rows    []JobRow
	More    bool
	Queues  []QueueRow
	May     bool
	Default string // the model that works when nothing is named
	Folders []string
	Problem string
	Lacks   []string    // what of the page could not be read
	Bases   []ui.Option // what a new job can be put on
	Kept    url.Values  // what was typed for a job that was refused
}

// jobsShown is how many a list has.
const jobsShown = 100

func (v JobsView) tabs() (out []ui.Tab) {
	for _, s := range []wire.State{"", wire.Review, wire.Working, wire.Queued, wire.Stopped, wire.Merged} {
		t := ui.Tab{Label: "All", Href: "/panel/jobs", Active: v.State == s}
		if s != "" {
			t.Label, t.Href = strings.ToUpper(string(s[:1]))+string(s[1:]), "/panel/jobs?"+url.Values{"state": {string(s)}}.Encode()
		}
		out = append(out, t)
	}
	return out
}

func (v *visit) jobs(problem string) error {
	out := JobsView{Now: v.now(), State: wire.State(v.query("state")), May: v.has(string(wire.Start)), Problem: problem,
		Kept: v.refilled("/panel/jobs")}
	list, err := ask(v, wire.List, wire.ListIn{State: out.State, Limit: jobsShown + 1})
	if err != nil {
		return err
	}
	out.More = len(list.Jobs) > jobsShown
	for _, j := range list.Jobs[:min(len(list.Jobs), jobsShown)] {
		out.Rows = append(out.Rows, jobRow(j))
		if out.May && out.State == "" && j.Commit != "" && out.Rows[len(out.Rows)-1].Open {
			out.Bases = append(out.Bases, ui.Option{Value: j.ID, Label: j.Title() + " (" + j.ID + ")"})
		}
	}
	if len(out.Bases) > 0 {
		out.Bases = append([]ui.Option{{Label: "Nothing: it begins where its branch stands"}}, out.Bases...)
	}
	if out.Queues, err = v.queues(); err != nil { // the jobs are there all the same
		out.Lacks = append(out.Lacks, "The queues: "+words(err))
	}
	if out.May {
		if out.Default, out.Folders, err = v.startingPoint(); err != nil {
			out.Lacks = append(out.Lacks, "Where a new job can work: "+words(err))
		}
	}
	s := v.shell("jobs", "Jobs")
	if problem != "" {
		s.Here = "/panel/jobs"
	}
	return v.show(jobsPage(s, out))
}

func (v *visit) foundJobs(string) (out []Found) {
	if !v.has(string(wire.List)) {
		return nil
	}
	list, _ := ask(v, wire.List, wire.ListIn{Limit: jobsShown})
	for _, j := range list.Jobs {
		out = append(out, Found{"job", "job", j.Title(), string(j.State) + " " + j.ID, jobHref(j.ID)})
	}
	return out
}
