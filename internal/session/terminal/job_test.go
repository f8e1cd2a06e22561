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
