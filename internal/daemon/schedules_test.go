package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/schedule/wire"
	"tandem/internal/testenv"
)

// scheduled waits until the schedule of backups is as is wanted.
func (w *ward) scheduled(what string, is func(wire.Schedule) bool) wire.Schedule {
	w.t.Helper()
	var out wire.ListOut
	testenv.Eventually(w.t, what, 2*time.Minute, func() bool {
		out = wire.ListOut{} // what is left out of an answer is not of the one before
		w.must(w.Call(w.t.Context(), "schedule.list", nil, &out))
		return len(out.Schedules) == 1 && is(out.Schedules[0])
	})
	return out.Schedules[0]
}

// There were no copies without somebody who typed the PIN. A person sets when they are made; what fails is told everywhere until it
// is done, and what somebody wrote into the database, or whose grant was revoked, is not done.
func TestCopiesAreMadeBySchedule(t *testing.T) {
	w := newWard(t, "")
	folder := filepath.Join(w.home, "copies")
	w.must(os.Mkdir(folder, 0o700))
	identity, recipient, err := BackupIdentity()
	w.must(err)
	set := map[string]any{"kind": "backup", "when": "every 1s", "path": folder, "recipient": recipient, "keep": 2}
	if w.Call(t.Context(), "schedule.set", set, nil) == nil {
		t.Error("set without a person")
	}
	if w.Call(t.Context(), "schedule.run", map[string]any{"kind": "backup"}, nil) == nil {
		t.Error("somebody else than the server ran it")
	}
	w.present("schedule.set", set, nil)
	copies := func() []string {
		list, _ := filepath.Glob(filepath.Join(folder, scheduledCopies, "*.copy"))
		return list
	}
	w.scheduled("a first copy", func(s wire.Schedule) bool { return !s.DoneAt.IsZero() })
	first := copies()[0]
	w.scheduled("the first copy goes", func(wire.Schedule) bool { _, err := os.Stat(first); return os.IsNotExist(err) })
	if n := len(copies()); n < 2 || n > 3 { // one may be under way
		t.Errorf("%d copies: %v", n, copies())
	}

	// A server that was restored from a copy has this schedule too, and would remove this one's copies. Whose was set last has the folder.
	mark := filepath.Join(folder, scheduledCopies, copiesMark)
	w.must(os.WriteFile(mark, []byte(`{"server":"another","set":"2999-01-01T00:00:00Z"}`), 0o600))
	w.scheduled("refused", func(s wire.Schedule) bool {
		return strings.Contains(s.Failure, "another server makes its copies in "+folder)
	})
	kept := copies()
	w.must(os.WriteFile(mark, []byte(`{"server":"another","set":"2001-01-01T00:00:00Z"}`), 0o600))
	w.present("schedule.set", set, nil)
	w.scheduled("taken over", func(s wire.Schedule) bool { return s.Failure == "" && !s.DoneAt.IsZero() })
	if now := copies(); len(now) == 0 || now[len(now)-1] <= kept[len(kept)-1] {
		t.Errorf("%v, before %v", now, kept)
	}

	// It cannot be done: the log, the inbox, the doctor and the metrics say so, and it is not tried all the time.
	w.must(os.Rename(folder, folder+".away"))
	failed := w.scheduled("a failure", func(s wire.Schedule) bool { return s.Failure != "" })
	if !strings.Contains(failed.Failure, folder) || failed.Next.Sub(failed.FailedAt) < 50*time.Minute {
		t.Errorf("it says %q, next %s", failed.Failure, failed.Next)
	}
	var rows inbox.Out
	w.must(w.Call(t.Context(), "inbox.list", map[string]any{"kind": "schedule"}, &rows))
	if len(rows.Rows) != 1 || rows.Count != 1 {
		t.Errorf("the inbox has %+v", rows)
	}
	var found FindingsOut
	w.must(w.Call(t.Context(), "server.findings", nil, &found))
	if len(found.Findings) == 0 || !strings.Contains(found.Findings[0].Detail, "the scheduled backup failed") {
		t.Errorf("the doctor hears %+v", found)
	}
	var page bytes.Buffer
	w.must(w.health.Metrics().Write(&page))
	if !strings.Contains(page.String(), `tandem_schedule_failed{kind="backup"} 1`) {
		t.Error("the metrics do not have it")
	}

	// What is in the folder restores.
	w.must(os.Rename(folder+".away", folder))
	l, err := LookAt(t.Context(), RestoreIn{Path: copies()[0], Identity: identity})
	w.must(err)
	if !strings.Contains(strings.Join(l.Authority, "\n"), "1 schedules") {
		t.Errorf("of what it confers it says %v", l.Authority)
	}

	// With the cause mended nobody waits for an hour.
	w.present("schedule.now", map[string]any{"kind": "backup"}, nil)
	w.scheduled("done at once", func(s wire.Schedule) bool { return s.Failure == "" && !s.DoneAt.Before(s.AskedAt) })
	if err := w.Call(t.Context(), "schedule.now", map[string]any{"kind": "backup"}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("without a person present it says %v", err)
	}

	// Set anew it is well again; changed in the database, or without its grant, it is refused.
	w.present("schedule.set", set, nil)
	s := w.scheduled("well again", func(s wire.Schedule) bool { return s.Failure == "" && !s.DoneAt.IsZero() })
	w.sql("UPDATE schedule SET body = replace(body, 'copies', 'others')")
	w.scheduled("refused", func(s wire.Schedule) bool { return strings.Contains(s.Failure, "changed in the database") })
	w.present("schedule.set", set, nil)
	s = w.scheduled("well again", func(s wire.Schedule) bool { return s.Failure == "" && !s.DoneAt.IsZero() })
	w.present("grant.revoke", map[string]any{"id": s.Grant}, nil)
	w.scheduled("refused", func(s wire.Schedule) bool { return s.Failure != "" })
	w.present("schedule.remove", map[string]any{"kind": "backup"}, nil)
	w.sound("after all that")
}

func TestOldPayloadsAreForgottenBySchedule(t *testing.T) {
	w := newWard(t, "")
	w.must(w.Call(t.Context(), "resource.put", map[string]any{"key": "a", "value": 1}, nil))
	w.sql("UPDATE journal_event SET at = at - 7200000000 WHERE type = 'resource.put'")
	w.present("schedule.set", map[string]any{"kind": "forget", "when": "every 1s", "older_than_hours": 1}, nil)
	w.scheduled("done", func(s wire.Schedule) bool { return !s.DoneAt.IsZero() })
	var left int
	w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM journal_event WHERE type = 'resource.put' AND payload IS NOT NULL").Scan(&left))
	if left != 0 {
		t.Errorf("%d payloads are left", left)
	}
}
