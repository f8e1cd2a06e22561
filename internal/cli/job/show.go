package job

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandem/internal/cli/kit"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
)

// show prints a job for people: where it stands, what it is about, what the checks said, and what to do next.
func show(w io.Writer, j *wire.Job) {
	fmt.Fprintf(w, "%s is %s: %s\n", j.ID, j.State, kit.VisibleLine(j.Title()))
	if j.Reason != "" && j.State != wire.Stopped {
		fmt.Fprintln(w, kit.Visible(j.Reason))
	}
	if j.Unended != "" {
		fmt.Fprintf(w, "its agent's turn could not be ended yet, and may go on: %s\nend it: tandem session cancel %s\n",
			kit.VisibleLine(j.Unended), j.Session)
	}
	if !j.Board() && j.From != "" {
		fmt.Fprintf(w, "issue: %s\n", j.From)
	} else if j.From != "" {
		fmt.Fprintf(w, "task: %s of the board, %s\n", j.From, kit.VisibleLine(cmp.Or(j.Card, "not taken yet")))
	}
	stacked(w, j)
	if j.Session != "" {
		fmt.Fprintf(w, "agent: %s in %s\n", j.Agent, j.Session)
	}
	if j.Taker != "" {
		fmt.Fprintf(w, "%s takes it over with the next turn\n", j.Taker)
	}
	if j.Path != "" {
		fmt.Fprintf(w, "workspace: %s\n", j.Path)
	}
	if j.Unsaved > 0 && j.State != wire.Merged {
		fmt.Fprintf(w, "it works without what you have not committed: %s with changes in %s\n", kit.Count(int(j.Unsaved), "file"), j.Repo)
	}
	if j.Commit != "" {
		fmt.Fprintf(w, "commit: %s (%s)\n", j.Commit, j.Known())
	}
	for _, f := range j.Altered {
		fmt.Fprintf(w, "look first: the job changed %s, which the check consists of\n", kit.VisibleLine(f))
	}
	for _, m := range j.Moved {
		fmt.Fprintf(w, "look first: while its agent worked, %s\n", moved(m))
	}
	if j.ByBase != "" {
		fmt.Fprintf(w, "with the base's copies of these the check is %s\n", j.ByBase)
	}
	for i, e := range j.Evidence {
		how := fmt.Sprintf("exit code %d", e.Exit)
		if e.Late {
			how = "ended: its time was used up"
		}
		if e.Full {
			how = "ended: its disk was used up"
		}
		with := ""
		if e.Copies == "base" {
			with = " with the base's copies"
		}
		if e.Lacks != "" {
			how += ", for want of a dependency (" + e.Lacks + ")"
		}
		if e.Copies == "train" {
			with = " together with the jobs before it in the queue"
		}
		fmt.Fprintf(w, "check %d: %s on %.12s%s, %s after %.1f s\n", e.N, e.Verdict, e.Commit, with, how, e.Seconds)
		switch newest := newestOf(j.Evidence, i); {
		case newest && e.Hidden:
			fmt.Fprintln(w, "    (its output is not shown to you: the commit holds files that you may not see)")
		case newest && e.Verdict == wire.Red:
			for line := range strings.SplitSeq(strings.TrimRight(e.Output, "\n"), "\n") {
				fmt.Fprintf(w, "    %s\n", kit.Visible(line))
			}
		}
	}
	reviews(w, j)
	pulled(w, j.Pull)
	remarks(w, j)
	next(w, j)
}

// stacked prints what a job stands on, and what stands on it.
func stacked(w io.Writer, j *wire.Job) {
	switch {
	case j.On != "" && j.Held && j.Below != "":
		fmt.Fprintf(w, "on: %s, which is %s and is merged first\n", j.On, j.Below)
	case j.On != "" && j.Held:
		fmt.Fprintf(w, "on: %s, which is gone: it cannot be merged\n", j.On)
	case j.On != "":
		fmt.Fprintf(w, "on: %s, which is merged\n", j.On)
	}
	for _, id := range j.Above {
		fmt.Fprintf(w, "above: %s\n", id)
	}
}

// newestOf says whether this is the last check of its kind of what the job is now: its output is what a person wants to read.
func newestOf(all []wire.Evidence, i int) bool {
	if all[i].Commit != all[len(all)-1].Commit {
		return false
	}
	return !slices.ContainsFunc(all[i+1:], func(e wire.Evidence) bool { return e.Copies == all[i].Copies })
}

// moved says what became of a ref.
func moved(m wire.Moved) string {
	ref := kit.VisibleLine(m.Ref)
	switch {
	case m.From == "" && m.To == "":
		return ref
	case m.From == "":
		return fmt.Sprintf("%s came to be, at %.12s", ref, m.To)
	case m.To == "":
		return fmt.Sprintf("%s was taken away; it stood at %.12s", ref, m.From)
	}
	return fmt.Sprintf("%s moved from %.12s to %.12s", ref, m.From, m.To)
}

// next says what a person can do now.
func next(w io.Writer, j *wire.Job) {
	switch j.State {
	case wire.Review:
		if j.Verdict == wire.Unchecked {
			fmt.Fprintln(w, "nothing checked it")
		}
		fmt.Fprintf(w, "look at it: tandem job diff %s\nsend it back: tandem job send %s \"…\"\n", j.ID, j.ID)
		if len(j.Reviews) == 0 && j.Reviewer == "" {
			fmt.Fprintf(w, "have another agent look first: tandem job review %s --by codex\n", j.ID)
		}
		if j.Pull != nil && j.Pull.State == forge.Open && j.Pull.Commit != j.Commit {
			fmt.Fprintf(w, "%s does not hold this commit yet: tandem job post %s --commit %s\n", j.Pull.Ref(), j.ID, j.Commit)
		}
		if j.Held { // it is merged after the one below: the queue keeps that order
			fmt.Fprintf(w, "merge it after that one: tandem queue add %s --commit %s\n", j.ID, j.Commit)
			return
		}
		fmt.Fprintf(w, "merge it: tandem job merge %s --commit %s\n", j.ID, j.Commit)
	case wire.Merged:
		if j.Elsewhere != "" {
			fmt.Fprintf(w, "it was merged at %s; have it here: git -C %s pull\n%s keeps what was posted\n", j.Elsewhere, j.Repo, j.Ref)
			return
		}
		if j.Next != "" {
			fmt.Fprintf(w, "%s holds it; %s is checked out, so it was not moved\nhave it there: %s\n", j.Ref, j.Onto, j.Next)
			return
		}
		if j.Ref == "refs/heads/"+j.Onto {
			fmt.Fprintf(w, "%s was moved to it\n", j.Ref)
			return
		}
		fmt.Fprintf(w, "%s has it\n", j.Onto)
	case wire.Stopped:
		fmt.Fprintf(w, "why: %s\n", kit.Visible(j.Reason))
		if locked(w, j); j.Lock == nil {
			fmt.Fprintln(w, stopped(j))
		}
	case wire.Planned, wire.Working, wire.Checking, wire.SentBack:
		for _, n := range j.Needs {
			fmt.Fprintf(w, "its agent waits for you: %s\n  %s\n", kit.VisibleLine(n.What), kit.VisibleLine(n.Next))
		}
		fmt.Fprintf(w, "wait for it: tandem job wait %s\n", j.ID)
	}
}

// stopped is how a stopped job goes on. An agent that left nothing to look at has to be told something.
func stopped(j *wire.Job) string {
	if j.Commit == "" && j.Session != "" {
		return fmt.Sprintf("tell its agent more: tandem job send %s \"…\"", j.ID)
	}
	return "when its reason is gone: tandem job resume " + j.ID
}
