package panel

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
	"tandem/internal/models"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
	"tandem/internal/unified"
)

// JobView is a job whole: where it stands, what it changed, and what the checks said.
type JobView struct {
	JobRow
	Now    time.Time
	Text   string // the task, whole
	Reason string
	Needs  []wire.Need // what its agent waits for
	First  []string    // what a person should look at first
	Commit string
	Newer  bool // the job is at another commit than the one that the page was opened with
	JobDiff
	Base    string
	Checks  []JobCheck
	Older   int            // checks that are not shown
	Echo    bool           // its model repeats what it is told
	Said    []wire.Comment // about lines
	Unsent  int            // of them those that its agent has not heard
	Changed []string       // the files about whose lines something can be said
	Facts   []ui.Pair
	Type    string // what is typed to have it in one's checkout
	May     bool   // tell it, stop it
	Hears   bool   // its agent can be told something where the job stands
	Checked bool   // it has a check that can be run on what is there
	Queued  bool   // its branch is protected: it gets there through the queue
	Merge   bool   // the viewer may merge it, and all of it is shown
	Review  bool   // another agent may be asked to look
	Problem string
	Tell    string     // what was to be told to its agent, and was refused
	Remark  url.Values // a comment that was refused

	Reviews  []wire.Reviewed // newest first
	Reviewer string          // who looks at it now

	Pull *forge.Pull // at a forge, with what was written there

	SessionHref string
	On          string // the job that it stands on
	Held        bool   // that one is not merged yet
	Below       wire.State
	Above       []string
	Lock        string // lock files that wait for the viewer's word, by their digest
}

// JobCheck is one run of the check.
type JobCheck struct {
	N       int64
	Verdict wire.Verdict
	How     string
	Output  string
	Open    bool // the newest one is shown open when it is red
	At      time.Time
}

func (v *visit) job(id, problem string) error {
	j, err := ask(v, wire.Get, wire.IDIn{ID: id})
	if err != nil {
		return err
	}
	out := JobView{JobRow: jobRow(j), Now: v.now(), Text: j.Task, Reason: j.Reason, Needs: j.Needs, First: lookFirst(j), Commit: j.Commit,
		Base: j.Base, JobDiff: v.diffAsked(), Facts: jobFacts(j), Type: j.Next,
		May: v.has(string(wire.Send)), Hears: hears(j), Checked: j.Check != "" && j.Commit != "" && j.Path != "", Problem: problem}
	out.Checks, out.Older = jobChecks(j)
	out.On, out.Held, out.Below, out.Above = j.On, j.Held, j.Below, j.Above
	out.Echo = j.Agent == models.Default && out.Open
	out.Tell = v.refilled(jobHref(id) + "/back").Get("text")
	out.Remark = v.refilled(jobHref(id) + "/comment")
	out.Said, out.Reviewer, out.Pull = slices.Clone(j.Comments), j.Reviewer, j.Pull
	out.Reviews = slices.Clone(j.Reviews)
	slices.Reverse(out.Reviews)
	out.Review = out.May && j.State == wire.Review && v.has(string(wire.Inspect))
	for i, c := range out.Said {
		out.Said[i].By = told.By(c.By)
		if !c.Sent {
			out.Unsent++
		}
	}
	if j.Lock != nil && v.has(string(wire.Prepare)) {
		out.Lock = j.Lock.Digest
	}
	if j.Session != "" {
		out.SessionHref = sessionHref(j.Session)
	}
	if j.Commit != "" {
		in := wire.DiffIn{ID: id, Commit: out.Of, Blanks: out.Blanks, Stack: out.Stack}
		if out.Mine && !out.Stack {
			in.Since = wire.MyLook
		}
		d, err := ask(v, wire.Diff, in)
		if err != nil { // what is wrong with the repository is said, and the rest of the page stands
			out.First = append(out.First, words(err))
		}
		out.read(id, d)
		for _, f := range d.Files {
			if remarkable(f) {
				out.Changed = append(out.Changed, f.Path)
			}
		}
		if d.Commit != "" {
			out.Commit = d.Commit
		}
		read := v.query("commit")
		out.Newer = read != "" && read != out.Commit
		out.Merge = err == nil && !out.Newer && j.State == wire.Review && d.All() && v.has(string(wire.Merge))
	}
	if out.Merge {
		if out.Queued, err = v.protects(j.Repo, j.Onto); err != nil { // how it gets there is not known
			out.Merge, out.First = false, append(out.First, "Whether its branch has a queue could not be read: "+words(err))
		}
	}
	s := v.shell("jobs", out.Task)
	s.Here = out.href(id, cmp.Or(v.query("commit"), out.Commit)) // the commit that is read stays the one that is decided about
	s.Back = &ui.Crumb{Label: "Jobs", Href: "/panel/jobs"}
	return v.show(jobPage(s, out))
}

// below says where the job stands on which this one does.
func (v JobView) below() string {
	switch {
	case v.Held && v.Below == "":
		return ", which is gone: it cannot be merged."
	case v.Held:
		return ", which is " + string(v.Below) + " and is merged first."
	}
	return ", which is merged."
}

func opinionTone(o wire.Opinion) ui.Tone {
	switch o {
	case wire.Good:
		return ui.Good
	case wire.Changes:
		return ui.Warn
	}
	return ui.Quiet
}

// reviewedBy is who looked, and at what.
func reviewedBy(r wire.Reviewed) string {
	out := cmp.Or(r.By, wire.DefaultReviewer) + " of " + ui.Short(r.Commit, 12)
	if r.Hidden {
		out += "; its words are not shown to you: the commit holds files that you may not see"
	}
	return out
}

// handsTo are the agents that could go on with a job instead of its own.
func handsTo(v JobView) (out []ui.Option) {
	for _, o := range jobAgents("")[1:] {
		if o.Value != v.Agent {
			o.Chosen = false
			out = append(out, o)
		}
	}
	return out
}

// hears says whether something can be told to a job's agent: while it works, and while its workspace is there.
func hears(j *wire.Job) bool {
	switch j.State {
	case wire.Working, wire.Checking, wire.SentBack:
		return true
	case wire.Review, wire.Queued, wire.Stopped:
		return j.Session != "" && j.Path != ""
	}
	return false
}

// remarkable says whether lines of a file can be spoken of: it is text, it is there, and its name is printed as it is.
func remarkable(f wire.File) bool {
	return f.Type == "" && f.How != "deleted" && !strings.Contains(f.Path, `"`)
}

func commitHref(id, commit string) string { return jobHref(id) + "?commit=" + pathEscape(commit) }

// changedFiles are all files of a diff, with how many lines came and went.
func changedFiles(d wire.DiffOut) []wire.File {
	out := slices.Clone(d.Files)
	if d.Cut { // then they are counted already
		return out
	}
	for _, f := range unified.Parse(d.Diff) {
		i := slices.IndexFunc(out, func(one wire.File) bool { return one.Path == f.Path })
		if i < 0 {
			continue
		}
		for _, l := range f.Lines {
			switch l.Op {
			case '+':
				out[i].Added++
			case '-':
				out[i].Deleted++
			}
		}
	}
	return out
}

// pullTone is how a word about a pull request is shown.
func pullTone(s forge.State) ui.Tone {
	switch s {
	case "green", "approved", forge.Merged:
		return ui.Good
	case "red", "wants changes":
		return ui.Bad
	case forge.Closed:
		return ui.Warn
	}
	return ui.Info
}

// pullPlace says who wrote a comment at a forge, about what, and whether the agent knows.
func pullPlace(c forge.Comment) string {
	where := c.By
	if c.File != "" {
		where += fmt.Sprintf(" on %s:%d", c.File, c.Line)
	}
	if c.Heard {
		return where + ", told to the agent"
	}
	return where + ", not told to the agent"
}

// lookFirst are the things about which a check says nothing.
func lookFirst(j *wire.Job) (out []string) {
	for _, f := range j.Altered {
		out = append(out, "It changed "+f+", which the check consists of.")
	}
	if j.ByBase != "" {
		out = append(out, "With the base's copies of these files the check is "+string(j.ByBase)+".")
	}
	for _, m := range j.Moved {
		switch {
		case m.From == "" && m.To == "":
			out = append(out, "While its agent worked, "+m.Ref+" moved.")
		case m.From == "":
			out = append(out, fmt.Sprintf("While its agent worked, %s came to be, at %.12s.", m.Ref, m.To))
		case m.To == "":
			out = append(out, fmt.Sprintf("While its agent worked, %s was taken away; it stood at %.12s.", m.Ref, m.From))
		default:
			out = append(out, fmt.Sprintf("While its agent worked, %s moved from %.12s to %.12s.", m.Ref, m.From, m.To))
		}
	}
	if j.Lock != nil {
		for _, n := range j.Lock.New {
			out = append(out, "Its lock file names what the base's does not: "+n+".")
		}
	}
	if j.Unended != "" {
		out = append(out, "Its agent's turn could not be ended yet, and may go on: "+j.Unended+".")
	}
	if j.State == wire.Review && j.Verdict == wire.Unchecked {
		out = append(out, "Nothing checked it: the job has no check, or none ran on this commit.")
	}
	return out
}

// unshown are the files that the text of a diff does not show: what is not text, and everything when it is cut.
func unshown(d wire.DiffOut) (out []wire.File) {
	for _, f := range d.Files {
		if d.Cut || f.Type != "" || f.Checks {
			out = append(out, f)
		}
	}
	return out
}

// checksShown is how many runs of the check a job's page has.
const checksShown = 5

func jobChecks(j *wire.Job) (out []JobCheck, older int) {
	older = max(0, len(j.Evidence)-checksShown)
	for i := len(j.Evidence) - 1; i >= older; i-- { // newest first
		e := j.Evidence[i]
		how := fmt.Sprintf("exit code %d", e.Exit)
		switch {
		case e.Late:
			how = "ended, its time was used up"
		case e.Full:
			how = "ended, its disk was used up"
		}
		how += fmt.Sprintf(" after %.1f s on %.12s", e.Seconds, e.Commit)
		if e.Copies == "base" {
			how += ", with the base's copies"
		}
		c := JobCheck{N: e.N, Verdict: e.Verdict, How: how, Output: e.Output, At: e.At,
			Open: i == len(j.Evidence)-1 && e.Verdict == wire.Red}
		if e.Hidden {
			c.Output = "Its output is not shown to you: the commit holds files that you may not see."
		}
		out = append(out, c)
	}
	return out, older
}

func jobFacts(j *wire.Job) []ui.Pair {
	out := []ui.Pair{{Key: "Agent", Value: j.Agent, Mono: true}, {Key: "Check", Value: j.Check, Mono: true},
		{Key: "Started in", Value: j.Folder, Mono: true}}
	for _, p := range []ui.Pair{{Key: "Task of the board", Value: j.From, Mono: true}, {Key: "Its card", Value: j.Card},
		{Key: "For the branch", Value: j.Onto, Mono: true}, {Key: "Workspace", Value: j.Path, Mono: true, Copy: true},
		{Key: "Budget", Value: j.Budget.String()}, {Key: "Commit", Value: j.Commit, Mono: true, Copy: true},
		{Key: "Merged into", Value: j.Ref, Mono: true}, {Key: "Merged by", Value: j.MergedBy},
		{Key: "Approved by", Value: j.ApprovedBy}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return append(out, ui.Pair{Key: "Prompts so far", Value: fmt.Sprint(j.Turns)}, ui.Pair{Key: "Started by", Value: told.By(j.By)},
		ui.Pair{Key: "Started", Value: ui.Stamp(j.MadeAt)}, ui.Pair{Key: "Job", Value: j.ID, Mono: true, Copy: true})
}
