package daemon

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	automation "tandem/internal/automation/wire"
	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	team "tandem/internal/team/wire"
	"tandem/internal/testenv"
)

// folderOf is a repository with one commit on main, which is not checked out.
func (w *ward) folderOf() string {
	w.t.Helper()
	dir := testenv.Dir(w.t)
	for _, line := range []string{"init -q -b main", "commit -q --allow-empty -m first", "switch -q --detach"} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, strings.Fields(line)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
	return dir
}

// A line of SQL had a job act as somebody else, or queued a commit as approved and green.
func TestAJobIsMovedByTandemAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var j, now job.Job
		w.must(w.Call(ctx, "job.start", job.StartIn{Task: "say hello", Folder: filepath.Join(testenv.Dir(t), "none")}, &j))
		see := func() job.Job {
			t.Helper()
			w.must(w.Call(ctx, "job.get", job.IDIn{ID: j.ID}, &now))
			return now
		}
		testenv.Eventually(t, "it stopped", time.Minute, func() bool { return see().State == job.Stopped })
		w.sound("of a job that tandem moved")
		w.again()
		w.must(w.Call(ctx, "job.resume", job.IDIn{ID: j.ID}, nil))
		testenv.Eventually(t, "it stopped again", time.Minute, func() bool { return see().State == job.Stopped })
		w.sound("after a start and another try")

		w.again(`UPDATE job SET state = 'queued', body = replace(body, '"name":"local"', '"name":"owner"')`)
		if !strings.Contains(see().Reason, "changed in the database") {
			t.Errorf("what people see of it: %s, %s", now.State, now.Reason)
		}
		w.refused("it goes on", w.Call(ctx, "job.resume", job.IDIn{ID: j.ID}, nil), fault.Denied)
		w.told("the job " + j.ID)
		w.must(w.Call(ctx, "job.stop", job.StopIn{ID: j.ID, Discard: true}, nil))
		w.sound("after it was taken away")
		w.sql("INSERT INTO job_lock (tenant, repo, digest, by_name, at) VALUES ('local', '/x', 'abc', 'owner', 1)")
		w.told("that what a lock file of /x names is fetched")
	})
}

// A line of SQL took a branch's protection away, or had its queue land what nobody approved and push it unasked.
func TestAQueueIsWhatAPersonSaid(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, in := t.Context(), job.QueueIn{Folder: w.folderOf(), Branch: "main"}
		w.present("queue.protect", in, nil)
		see := func() job.Queue {
			t.Helper()
			var out job.QueueListOut
			w.must(w.Call(ctx, "queue.list", nil, &out))
			if len(out.Queues) != 1 {
				t.Fatalf("%d queues", len(out.Queues))
			}
			return *out.Queues[0]
		}
		if q := see(); !q.Protected || q.Paused {
			t.Fatalf("as a person said: %+v", q)
		}
		w.sound("of a queue that a person protected")
		w.again(`UPDATE job_queue SET body = replace(body, '"protected":true', '"protected":false')`)
		if q := see(); !q.Protected || !q.Paused {
			t.Errorf("by a row: %+v", q)
		}
		w.told("the queue of main in " + in.Folder)
		w.refused("it goes on", w.presents("queue.resume", in), fault.Denied)
		w.sql("DELETE FROM job_queue")
		w.refused("it goes on without its row", w.presents("queue.resume", in), fault.Denied)
		w.present("queue.protect", in, nil)
		if q := see(); !q.Protected || q.Paused {
			t.Errorf("as a person said anew: %+v", q)
		}
		w.sound("after a person said anew what it is")
	})
}

// A line of SQL approved a team's plan, or gave it another budget.
func TestATeamHasThePlanThatWasApproved(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var made, now team.Team
		w.must(w.Call(ctx, "team.start", team.StartIn{Goal: "say hello", Folder: w.folderOf(), Onto: "main", Lead: "echo/echo"}, &made))
		w.present("team.plan", team.EditIn{ID: made.ID, Plan: team.Plan{Tasks: []team.Item{{Name: "a", Text: "say it"}}}}, &now)
		if now.State != team.Proposed {
			t.Fatalf("it is %s", now.State)
		}
		w.again()
		w.sound("of a team with a plan")
		w.again("UPDATE team SET state = 'working', body = replace(body, '\"state\":\"" + string(team.Proposed) + "\"', '\"state\":\"" +
			string(team.Working) + "\"')")
		w.must(w.Call(ctx, "team.get", team.IDIn{ID: made.ID}, &now))
		if !strings.Contains(now.Reason, "changed in the database") {
			t.Errorf("what people see of it: %s, %s", now.State, now.Reason)
		}
		w.refused("a person approves what another wrote", w.presents("team.approve", team.ApproveIn{ID: made.ID, Version: now.Version}),
			fault.Denied)
		w.told("the team " + made.ID)
		var jobs job.ListOut
		w.must(w.Call(ctx, "job.list", job.ListIn{}, &jobs))
		if len(jobs.Jobs) != 0 {
			t.Errorf("it began %d jobs", len(jobs.Jobs))
		}
		w.must(w.Call(ctx, "team.stop", team.IDIn{ID: made.ID}, nil))
		w.sound("after it was taken away")
	})
}

// A line of SQL switched an automation on again that a person had switched off, and answered a gate.
func TestAnAutomationIsSwitchedOnByAPersonAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var a automation.Automation
		w.must(w.Call(ctx, "automation.add", automation.AddIn{Text: asking}, &a))
		on := automation.OnIn{Name: a.Name, Digest: a.Latest}
		w.present("automation.on", on, nil)
		var begun, now automation.Run
		w.must(w.Call(ctx, "automation.run", automation.BeginIn{Name: a.Name}, &begun))
		w.again()
		w.sound("of one that is switched on")
		see := func() automation.Run {
			t.Helper()
			w.must(w.Call(ctx, "automation.trace", automation.RunIn{ID: begun.ID}, &now))
			return now
		}
		testenv.Eventually(t, "it waits at its gate", time.Minute, func() bool {
			var n int
			w.must(w.db.QueryRow(ctx, "SELECT count(*) FROM automation_step WHERE waits LIKE 'ask:%'").Scan(&n))
			return n == 1
		})
		w.again(`INSERT INTO automation_event (tenant, run, seq, body) SELECT tenant, id, events + 1, '{"kind":"answered","node":"`+
			gateOf(w)+`","item":-1,"at":"2026-01-01T00:00:00Z","answer":"approve","by":"owner"}' FROM automation_run`,
			"UPDATE automation_run SET events = events + 1, wake_at = 1", "UPDATE automation_step SET look_at = 1")
		testenv.Eventually(t, "it ends", time.Minute, func() bool { return see().Status == "cancelled" })
		if !strings.Contains(now.Reason, "nobody let it through") {
			t.Errorf("it ended: %s", now.Reason)
		}
		w.must(w.Call(ctx, "automation.run", automation.BeginIn{Name: a.Name}, &begun))
		testenv.Eventually(t, "it waits at its gate, too", time.Minute, func() bool {
			var n int
			w.must(w.db.QueryRow(ctx, "SELECT count(*) FROM automation_step WHERE waits LIKE 'ask:%' AND run = ?", begun.ID).Scan(&n))
			return n == 1
		})
		w.again(`INSERT INTO automation_event (tenant, run, seq, body) SELECT tenant, id, events + 1, '{"kind":"repaired","node":"`+
			gateOf(w)+`","item":-1,"at":"2026-01-01T00:00:00Z","by":"owner","repair":{"text":"other"}}' FROM automation_run WHERE ended_at = 0`,
			"UPDATE automation_run SET events = events + 1, wake_at = 1 WHERE ended_at = 0")
		testenv.Eventually(t, "it ends, too", time.Minute, func() bool { return see().Status == "cancelled" })
		if !strings.Contains(now.Reason, "repaired, and not by a person") {
			t.Errorf("it ended: %s", now.Reason)
		}
		var denial struct{ ID string }
		w.present("grant.add", map[string]any{"principal": "agent:*",
			"effect": "deny", "resource": "session:/", "permissions": []string{"read"}}, &denial)
		w.sql(`UPDATE automation SET grants = '["` + denial.ID + `"]'`)
		w.present("automation.off", automation.NameIn{Name: a.Name}, nil)
		var grants struct{ Grants []struct{ ID string } }
		w.must(w.Call(ctx, "grant.list", nil, &grants))
		if !slices.ContainsFunc(grants.Grants, func(g struct{ ID string }) bool { return g.ID == denial.ID }) {
			t.Error("switching it off took back a denial that is not its own")
		}
		w.sound("of one that is switched off")
		w.again("UPDATE automation SET live = latest, switched_by = 'owner'")
		w.refused("a row switched it on", w.Call(ctx, "automation.run", automation.BeginIn{Name: a.Name}, nil), fault.Denied)
		w.told("that the automation " + a.Name + " is switched on")
		w.present("automation.off", automation.NameIn{Name: a.Name}, nil)
		w.sound("after a person switched it off")
		w.present("automation.on", on, nil)
		w.again("UPDATE automation SET live = ''")
		w.told("the switch " + a.Name)
		w.present("automation.remove", automation.NameIn{Name: a.Name}, nil)
		w.sound("after one was removed that a row had switched off")
	})
}

// gateOf is the node at which a run waits.
func gateOf(w *ward) (node string) {
	w.must(w.db.QueryRow(w.t.Context(), "SELECT node FROM automation_step WHERE waits LIKE 'ask:%'").Scan(&node))
	return node
}

// One row that could not be read kept the server from starting, and audit verify from saying which.
func TestARowThatCannotBeReadIsNamed(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var j job.Job
		w.must(w.Call(ctx, "job.start", job.StartIn{Task: "say hello", Folder: filepath.Join(testenv.Dir(t), "none")}, &j))
		in := job.QueueIn{Folder: w.folderOf(), Branch: "main"}
		w.present("queue.protect", in, nil)
		var made team.Team
		w.must(w.Call(ctx, "team.start", team.StartIn{Goal: "say hello", Folder: in.Folder, Onto: "main", Lead: "echo/echo"}, &made))
		var a automation.Automation
		w.must(w.Call(ctx, "automation.add", automation.AddIn{Text: asking}, &a))
		w.present("automation.on", automation.OnIn{Name: a.Name, Digest: a.Latest}, nil)
		var begun automation.Run
		w.must(w.Call(ctx, "automation.run", automation.BeginIn{Name: a.Name}, &begun))

		w.again("UPDATE job SET body = '{'", "UPDATE job_queue SET body = '{'", "UPDATE team SET body = '{'",
			"UPDATE automation SET grants = '{'",
			`INSERT INTO automation_event (tenant, run, seq, body) SELECT tenant, id, events + 1, '{"kind":"answered"' FROM automation_run`,
			"UPDATE automation_run SET events = events + 1")
		said := w.finds()
		for _, what := range []string{"the job " + j.ID, "the queue of main", "the team " + made.ID} {
			if !strings.Contains(said, what) {
				t.Errorf("verify should name %s, and says:\n%s", what, said)
			}
		}
		for name, in := range map[string]any{"job.list": job.ListIn{}, "queue.list": nil, "team.list": nil, "automation.list": nil} {
			if err := w.Call(ctx, name, in, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.must(w.Call(ctx, "job.stop", job.StopIn{ID: j.ID, Discard: true}, nil))
		w.must(w.Call(ctx, "team.stop", team.IDIn{ID: made.ID}, nil))
		w.present("queue.protect", in, nil)
		w.sound("after they were taken away")
	})
}
