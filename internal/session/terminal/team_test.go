package terminal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	jobs "tandem/internal/job/wire"
	"tandem/internal/provider/scripted"
	"tandem/internal/session/terminal"
	teams "tandem/internal/team/wire"
	"tandem/internal/testenv"
)

// crew is a house with a repository whose main nobody has checked out, and a lead whose plan is given.
type crew struct {
	*house
	asked    int  // asks that a person answered
	leadAsks bool // before it plans
}

func newCrew(t *testing.T, plan teams.Plan, extra ...string) *crew {
	t.Helper()
	h := &crew{house: spokenHouse(t, extra...)}
	t.Cleanup(func() { h.stop(os.Interrupt) }) // before its terminals end, which it would start again
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	h.model.Script = scripted.Script{Rules: []scripted.Rule{{Prompt: "You lead a team", Tool: "Bash",
		Turns: []scripted.Turn{{{Say: "Here it is.\n" + string(text)}}}}}}
	h.git("init", "-q", "-b", "main")
	h.git("add", "-A")
	h.git("commit", "-qm", "first")
	h.git("switch", "-q", "--detach")
	h.grantFolder(h.project)
	return h
}

func (h *crew) git(args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir, cmd.Env = h.project, h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// makes is how a program writes a file.
func makes(name, agent string) (scripted.Step, string) {
	command := "echo " + name + " > " + name + ".txt"
	tool, args := "exec_command", `{"cmd":`+quote(command)+`}`
	if agent == "claude" {
		tool, args = "Bash", `{"command":`+quote(command)+`,"description":"write"}`
	}
	return scripted.Step{Tool: tool, Args: json.RawMessage(args)}, "[[tool " + tool + " " + args + "]]"
}

// writes is a task that makes a file, in the words of the program that does it.
func writes(name, agent string, after ...string) teams.Item {
	_, line := makes(name, agent)
	return teams.Item{Name: name, Text: "make " + name + " " + line + " [[say done]]", After: after, Agent: agent}
}

// starts starts a team as it is typed, waits for its plan, and approves that.
func (h *crew) starts(args ...string) (t teams.Team) {
	h.t.Helper()
	line := append([]string{"--json", "team", "start", "say something everywhere", "--onto", "main", "--lead", "claude"}, args...)
	if err := json.Unmarshal([]byte(h.tandem(h.project, line...)), &t); err != nil {
		h.t.Fatal(err)
	}
	if h.leadAsks {
		h.eventually("the lead waits", func() bool { h.call("team.get", teams.IDIn{ID: t.ID}, &t); return t.Waits && len(t.Needs) > 0 })
		if said := h.tandem(h.project, "team", "wait", t.ID); !strings.Contains(said, "the lead waits for your answer: tandem ") {
			h.t.Errorf("a lead that asks is shown as %s", said)
		}
		h.decide(approval.Approve, "")
	}
	h.eventually("the plan waits", func() bool {
		h.call("team.get", teams.IDIn{ID: t.ID}, &t)
		if t.State == teams.Blocked {
			h.t.Fatalf("it is blocked: %s", t.Reason)
		}
		return t.State == teams.Proposed
	})
	if err := h.c.WithPIN(pin).Call(h.t.Context(), "team.approve", teams.ApproveIn{ID: t.ID, Version: t.Version}, &t); err != nil {
		h.t.Fatal(err)
	}
	return t
}

// ends answers what is asked and queues what waits for a look, until the team is over.
func (h *crew) ends(id string, each func(teams.Team)) (t teams.Team) {
	h.t.Helper()
	done := testenv.Within(6*time.Minute, func() bool {
		var list approval.ListOut
		if h.call("approval.list", approval.ListIn{}, &list); len(list.Asks) > 0 {
			h.approve(list.Asks[0].ID)
			h.asked++
		}
		t = teams.Team{}
		h.call("team.get", teams.IDIn{ID: id}, &t)
		if t.State == teams.Blocked {
			h.t.Fatalf("it is blocked: %s", t.Reason)
		}
		each(t)
		for _, k := range t.Tasks {
			var j jobs.Job
			if k.Stage != teams.Review {
				continue
			}
			if h.call("job.get", jobs.IDIn{ID: k.Job}, &j); j.State == jobs.Review {
				if err := h.c.WithPIN(pin).Call(h.t.Context(), "queue.add", jobs.QueueAddIn{ID: k.Job, Commit: j.Commit}, nil); err != nil {
					h.t.Fatal(err)
				}
			}
		}
		return t.State.Over()
	})
	if !done || t.State != teams.Done {
		for _, k := range t.Tasks {
			h.t.Logf("%s is %s: %s %v", k.Name, k.Stage, k.Reason, k.Needs)
		}
		for _, e := range t.Events {
			h.t.Logf("%s %s", e.At.Format(time.TimeOnly), e.What)
		}
		h.eventually("the team is done", func() bool { return t.State == teams.Done })
	}
	return t
}

// seatOf is the name of the terminal in which a job's agent works.
func (h *crew) seatOf(job string) string {
	h.t.Helper()
	var j jobs.Job
	h.call("job.get", jobs.IDIn{ID: job}, &j)
	var all terminal.SeatsOut
	h.call("session.live", terminal.LiveIn{}, &all)
	i := slices.IndexFunc(all.Sessions, func(s terminal.Seat) bool { return s.Session == j.Session })
	if i < 0 {
		h.t.Fatalf("%s has no terminal: %s", job, j.Reason)
	}
	return all.Sessions[i].Name
}

// A real Claude Code leads, real Codexes and Claude Codes work: a goal of several tasks, some after others, ends with all of them merged.
// Every call of a model belongs to a turn that somebody asked for: nobody is called while something waits.
func TestRealAgentsAreATeam(t *testing.T) {
	if !alone(t) {
		return
	}
	plan := teams.Plan{Criteria: []string{"everything is said"}, Tasks: []teams.Item{writes("one", "codex"), writes("two", "claude"),
		writes("three", "codex"), writes("four", "claude", "one", "two"), writes("five", "codex", "three"), writes("six", "claude", "five")}}
	h := newCrew(t, plan)
	began := time.Now()
	team := h.starts("--workers", "codex,claude", "--agents", "3", "--check", "ls *.txt")
	team = h.ends(team.ID, func(teams.Team) {})
	for _, k := range plan.Tasks {
		want(t, k.Name, h.git("show", "main:"+k.Name+".txt"), k.Name)
	}
	calls := slices.DeleteFunc(h.model.Requests(), func(q scripted.Request) bool { return len(q.Tools) == 0 })
	expected := 1 + 2*len(plan.Tasks) // the lead's plan; of each task the tool, and what comes after it
	if len(calls) != expected {
		for _, q := range calls {
			t.Logf("%s call %d: %.80q", q.Wire, q.Call, q.Prompt)
		}
		t.Errorf("models were called %d times, want %d", len(calls), expected)
	}
	t.Logf("%d tasks: %d model calls, %d idle, %d asks, %d tokens, %d turns, %s", len(plan.Tasks), len(calls), len(calls)-expected,
		h.asked, team.Spent.Tokens, team.Spent.Turns, time.Since(began).Round(time.Second))
}

// Of a team's agents one is killed, one hangs and one is refused by its provider for its rate, each in its turn; and the lead asks before
// it looks. The lead is shown as waiting. Each of the others goes on in the same files, the team ends with all tasks merged,
// and people are told of the plan and of the end.
func TestATeamInTrouble(t *testing.T) {
	if !alone(t) {
		return
	}
	agents := map[string]string{"killed": "claude", "hung": "codex", "limited": "codex"}
	plan := teams.Plan{Tasks: []teams.Item{{Name: "killed", Text: "make killed [[slow 300]]", Agent: "claude"},
		{Name: "hung", Text: "make hung [[slow 300]]", Agent: "codex"}, {Name: "limited", Text: "make limited [[err 429]]", Agent: "codex"}}}
	h := newCrew(t, plan, "TANDEM_LIMIT_SECS=1") // a stopped program is seen long before hang_secs
	lead := &h.model.Script.Rules[0]
	looks := scripted.Step{Tool: "Bash", Args: json.RawMessage(`{"command":"touch looked","description":"look"}`)}
	lead.Turns = append([]scripted.Turn{{looks}}, lead.Turns...)
	for name, agent := range agents {
		step, _ := makes(name, agent)
		h.model.Script.Rules = append(h.model.Script.Rules, scripted.Rule{Prompt: "cut off before its end(?s:.*)make " + name,
			Tool: step.Tool, Turns: []scripted.Turn{{step}, {{Say: "done"}}}})
	}
	h.leadAsks = true
	team := h.starts("--workers", "codex,claude", "--agents", "3")
	done := map[string]bool{}
	team = h.ends(team.ID, func(now teams.Team) {
		for _, k := range now.Tasks {
			if done[k.Name] || k.Job == "" || k.Name == "limited" || h.prompts("make "+k.Name) == 0 {
				continue
			}
			pane := h.tmux("list-panes", "-t", "=ccm-"+h.seatOf(k.Job)+":", "-F", "#{pane_pid}")
			if done[k.Name] = true; k.Name == "killed" {
				kill(t, pane)
				continue
			}
			h.signal(h.child(pane, "app-server"), "STOP") // tmux wakes what it started itself
		}
	})
	for name := range agents {
		want(t, name, h.git("show", "main:"+name+".txt"), name)
		if n := h.prompts("make " + name); n < 2 {
			t.Errorf("%s was prompted %d times: nothing happened to it", name, n)
		}
	}
	want(t, "asks of the lead about tasks", slices.ContainsFunc(team.Tasks, func(k *teams.Task) bool { return k.Asked > 0 }), false)
	h.eventually("people are told", func() bool {
		log, _ := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
		told := func(status string) bool { return strings.Contains(string(log), `"type":"team","status":"`+status+`"`) }
		return told("plan waits") && told("done")
	})
}
