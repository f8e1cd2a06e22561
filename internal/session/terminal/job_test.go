package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	jobs "tandem/internal/job/wire"
	"tandem/internal/provider/scripted"
	"tandem/internal/session/terminal"
	teams "tandem/internal/team/wire"
)

// A job from a text to a merged change with a real Claude Code and with a real Codex: the first try is red, what the check printed goes
// back to the agent in the same conversation, the second is green, the other program looks at it, a person merges exactly that commit, and
// the workspace is gone.
func TestRealAgentsDoAJob(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir, cmd.Env = h.project, h.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	shell := map[string]func(string) string{"codex": execute, "claude": func(command string) string {
		return `[[tool Bash {"command":` + quote(command) + `,"description":"write"}]]`
	}}
	h.model.Script = scripted.Script{Rules: []scripted.Rule{{Prompt: "Review a change that another agent made",
		Turns: []scripted.Turn{{{Say: "GOOD as it is"}}}}}}
	git("init", "-q", "-b", "main")
	for agent, line := range shell {
		h.write("home/code/"+agent+".sh", "grep -q right "+agent+".txt && exit 0\nprintf '%s' '"+line("echo right > "+agent+".txt")+
			" [[say mended]]'\nexit 3\n")
	}
	git("add", "-A")
	git("commit", "-qm", "first")
	git("switch", "-q", "-c", "elsewhere") // main is moved by merges
	h.grantFolder(h.project)

	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			git("switch", "-q", "main")
			var j jobs.Job
			h.call("job.start", jobs.StartIn{Task: "answer " + shell[agent]("echo wrong > "+agent+".txt") + " [[say done]]", Folder: h.project,
				Agent: agent, Check: "sh " + agent + ".sh"}, &j)
			h.call("job.wait", jobs.WaitIn{ID: j.ID, Seconds: 120, Begun: true}, &j)
			git("switch", "-q", "elsewhere")
			for !j.State.Waits() { // each turn writes with a tool that a person lets pass
				var list approval.ListOut
				if h.call("approval.list", approval.ListIn{}, &list); len(list.Asks) > 0 {
					h.approve(list.Asks[0].ID)
				}
				h.call("job.wait", jobs.WaitIn{ID: j.ID, Seconds: 1}, &j)
			}
			if j.State != jobs.Review || len(j.Evidence) != 2 || j.Evidence[0].Verdict != jobs.Red || j.Evidence[1].Verdict != jobs.Green ||
				j.Evidence[1].Commit != j.Commit {
				t.Fatalf("%+v", j)
			}
			h.reviewed(j, map[string]string{"claude": "codex", "codex": "claude"}[agent])
			if left := git("worktree", "list"); strings.Contains(left, "-look-") {
				t.Errorf("the review left %s", left)
			}
			if err := h.c.WithPIN(pin).Call(t.Context(), "job.merge", jobs.MergeIn{ID: j.ID, Commit: j.Commit}, &j); err != nil {
				t.Fatal(err)
			}
			want(t, "the job", j.State, jobs.Merged)
			want(t, "main", git("rev-parse", "main"), j.Commit)
			want(t, "the answer", git("show", "main:"+agent+".txt"), "right")
			h.eventually("the workspace is gone", func() bool {
				var now jobs.Job
				h.call("job.get", jobs.IDIn{ID: j.ID}, &now)
				return now.Path == ""
			})
			if _, err := os.Stat(filepath.Join(h.project, agent+".txt")); err == nil {
				t.Error("the person's own checkout was changed")
			}
		})
	}
}

// A job that a real Claude Code began goes on with a real Codex: in the same workspace, from its commit, with the task and what the person
// said in its first prompt. Claude Code is gone before, and what both made is in the one commit that is merged.
func TestRealAgentsHandAJobOver(t *testing.T) {
	if !alone(t) {
		return
	}
	h := newCrew(t, teams.Plan{})
	for agent, prompt := range map[string]string{"claude": "(?s)^make it",
		"codex": "(?s)^You take this over from another agent .claude.*make it.*louder"} {
		step, _ := makes(agent, agent)
		h.model.Script.Rules = append(h.model.Script.Rules, scripted.Rule{Prompt: prompt, Tool: step.Tool,
			Turns: []scripted.Turn{{step}, {{Say: "done"}}}})
	}
	waits := func(id string) (j jobs.Job) {
		t.Helper()
		h.eventually("the job waits", func() bool {
			var list approval.ListOut
			if h.call("approval.list", approval.ListIn{}, &list); len(list.Asks) > 0 {
				h.approve(list.Asks[0].ID)
			}
			j = jobs.Job{}
			h.call("job.get", jobs.IDIn{ID: id}, &j)
			return j.State.Waits()
		})
		return j
	}
	var j jobs.Job
	h.call("job.start", jobs.StartIn{Task: "make it", Folder: h.project, Onto: "main", Agent: "claude", Check: "ls claude.txt"}, &j)
	first := waits(j.ID)
	want(t, "the first one's work", []any{first.State, first.Verdict, first.Agent}, []any{jobs.Review, jobs.Green, "claude"})
	before := h.seatOf(j.ID)

	h.call("job.send", jobs.SendIn{ID: j.ID, Text: "and louder", Agent: "codex"}, nil)
	second := waits(j.ID)
	want(t, "the second one's work", []any{second.State, second.Verdict, second.Agent, second.Path, second.Former},
		[]any{jobs.Review, jobs.Green, "codex", first.Path, []string{first.Session}})
	if second.Session == first.Session || h.seatOf(j.ID) == before {
		t.Errorf("the session is %s, in %s", second.Session, before)
	}
	want(t, "the commit before", h.git("rev-parse", second.Commit+"^"), first.Commit)
	var all terminal.SeatsOut
	h.call("session.live", terminal.LiveIn{}, &all)
	for _, s := range all.Sessions {
		if s.Session == first.Session && !s.State.Gone() {
			t.Errorf("the one before it is %s", s.State)
		}
	}
	if err := h.c.WithPIN(pin).Call(t.Context(), "job.merge", jobs.MergeIn{ID: j.ID, Commit: second.Commit}, &j); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"claude", "codex"} {
		want(t, agent, h.git("show", "main:"+agent+".txt"), agent)
	}
	h.eventually("the workspace is gone", func() bool {
		_, err := os.Stat(first.Path)
		return os.IsNotExist(err)
	})
}

// reviewed has another program look at a job, which stays where it is.
func (h *house) reviewed(j jobs.Job, by string) {
	h.t.Helper()
	h.call("job.review", jobs.ReviewIn{ID: j.ID, By: by, Commit: j.Commit}, nil)
	var now jobs.Job
	h.eventually("another agent looked", func() bool {
		now = jobs.Job{}
		h.call("job.get", jobs.IDIn{ID: j.ID}, &now)
		return len(now.Reviews) == 1
	})
	r := now.Reviews[0]
	want(h.t, "the review", []any{r.By, r.Says, r.Text, r.Commit}, []any{by, jobs.Good, "as it is", j.Commit})
	want(h.t, "the job", now.State, jobs.Review)
}
