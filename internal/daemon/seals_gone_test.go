package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	job "tandem/internal/job/wire"
	team "tandem/internal/team/wire"
	"tandem/internal/testenv"
)

// back is a row as it is now, and the lines of SQL that put it back as it is and take out every seal that the journal makes of it since.
func (w *ward) back(table, where, subject string) (lines func() []string) {
	w.t.Helper()
	var body string
	var state = "''"
	columns := "body"
	if table != "job_queue" {
		columns = "body, state"
	}
	row := w.db.QueryRow(w.t.Context(), "SELECT "+columns+" FROM "+table+" WHERE "+where)
	into := []any{&body}
	if table != "job_queue" {
		into = append(into, &state)
	}
	w.must(row.Scan(into...))
	var newest int64
	w.must(w.db.QueryRow(w.t.Context(), "SELECT max(seq) FROM journal_seal WHERE subject LIKE ?", subject+"%").Scan(&newest))
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return func() []string {
		var since int
		w.must(w.db.QueryRow(w.t.Context(), "SELECT count(*) FROM journal_seal WHERE subject LIKE ? AND seq > ?", subject+"%", newest).
			Scan(&since))
		if since == 0 {
			w.t.Fatalf("%s: nothing happened since", subject)
		}
		set := "body = " + quoted(body)
		if table != "job_queue" {
			set += ", state = " + quoted(state)
		}
		return []string{fmt.Sprintf("UPDATE %s SET %s WHERE %s", table, set, where),
			fmt.Sprintf("DELETE FROM journal_seal WHERE subject LIKE '%s%%' AND seq > %d", subject, newest)}
	}
}

// Whoever puts the row of a job, a queue or a team back as it was, and takes the newest seals of it out of the database, sets it back: the
// older seal holds. Each seal that is gone is named with the entry that tells of it, at the latest when all entries are read.
func TestASealThatIsTakenOutIsNamed(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, folder := t.Context(), w.folderOf()
		var j, now job.Job
		w.must(w.Call(ctx, "job.start", job.StartIn{Task: "say hello", Folder: filepath.Join(testenv.Dir(t), "none")}, &j))
		stopped := func(how string) {
			t.Helper()
			testenv.Eventually(t, how, time.Minute, func() bool {
				w.must(w.Call(ctx, "job.get", job.IDIn{ID: j.ID}, &now))
				return now.State == job.Stopped
			})
		}
		stopped("it stopped")
		in := job.QueueIn{Folder: folder, Branch: "main"}
		w.present("queue.protect", in, nil)
		var made team.Team
		w.must(w.Call(ctx, "team.start", team.StartIn{Goal: "say hello", Folder: folder, Onto: "main", Lead: "echo/echo"}, &made))
		w.present("team.plan", team.EditIn{ID: made.ID, Plan: team.Plan{Tasks: []team.Item{{Name: "a", Text: "say it"}}}}, nil)
		asJob := w.back("job", "id = '"+j.ID+"'", "job:"+j.ID)
		asQueue := w.back("job_queue", "branch = 'main'", "queue:main@")
		asTeam := w.back("team", "id = '"+made.ID+"'", "team:"+made.ID)

		w.must(w.Call(ctx, "job.resume", job.IDIn{ID: j.ID}, nil))
		stopped("it stopped again")
		w.present("queue.pause", in, nil)
		w.present("team.plan", team.EditIn{ID: made.ID, Plan: team.Plan{Tasks: []team.Item{{Name: "b", Text: "say that"}}}}, nil)
		w.sound("of what went on")
		w.again(append(append(asJob(), asQueue()...), asTeam()...)...)
		said := w.finds()
		for _, what := range []string{"vouches for the job " + j.ID, "vouches for the queue main@", "vouches for the team " + made.ID} {
			if !strings.Contains(said, what) || !strings.Contains(said, "and its seal is gone") {
				t.Errorf("verify should say that an entry %s, and says:\n%s", what, said)
			}
		}
	})
}
