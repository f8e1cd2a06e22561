package daemon

import (
	"crypto/ed25519"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/journal"
	"tandem/internal/testenv"
)

const asking = `
name = "asking"
[[node]]
id = "draft"
[node.operation]
name = "resource.put"
input = { key = "draft", value = "dear all" }
[node.output.value.schema]
type = "string"
[[node]]
id = "look"
[node.gate]
shows = ["draft.value"]
[[node]]
id = "keep"
after = ["look"]
[node.operation]
name = "resource.put"
input = { key = "kept", value = "yes" }
`

// An answer to an automation that nobody heard before the server ended is heard when it starts. It was looked at an hour later.
func TestAStartHearsAnswersToAutomations(t *testing.T) {
	w := newWard(t, "")
	var a wire.Automation
	w.must(w.Call(t.Context(), "automation.add", wire.AddIn{Text: asking}, &a))
	w.present("automation.on", wire.OnIn{Name: a.Name, Digest: a.Latest}, nil)
	var run wire.Run
	w.must(w.Call(t.Context(), "automation.run", wire.BeginIn{Name: a.Name}, &run))
	var ask string
	testenv.Eventually(t, "its gate waits", 2*time.Minute, func() bool {
		return w.db.QueryRow(t.Context(), "SELECT substr(waits, 5) FROM automation_step WHERE waits LIKE 'ask:%'").Scan(&ask) == nil
	})
	w.sql("UPDATE automation_step SET waits = 'ask:another'") // so that this server does not hear it
	var whole approval.Ask
	w.must(w.Call(t.Context(), "approval.get", approval.IDIn{ID: ask}, &whole))
	w.present("approval.decide", approval.DecideIn{ID: ask, Verdict: approval.Approve, Digest: whole.Digest, Pages: whole.PageDigests()}, nil)
	w.again("UPDATE automation_step SET waits = 'ask:" + ask + "' WHERE waits = 'ask:another'")
	testenv.Eventually(t, "the run is over", 2*time.Minute, func() bool {
		w.must(w.Call(t.Context(), "automation.trace", wire.RunIn{ID: run.ID}, &run))
		return run.Status == "completed"
	})
}

// written is a log that says when it was written to.
type written chan time.Time

func (l written) Write(line []byte) (int, error) {
	select {
	case l <- time.Now():
	default:
	}
	return len(line), nil
}

// Answers are listened for at a pace while the database is away. It was asked as fast as a core can.
func TestAnswersWhileTheDatabaseIsAway(t *testing.T) {
	open := func(rooms ...db.Migrations) *db.DB {
		d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
		if err == nil {
			_, err = d.Migrate(t.Context(), rooms...)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	away := open(journal.Migrations)
	away.Close()
	lines := make(written, 2)
	d := &Daemon{Log: slog.New(slog.NewTextHandler(lines, nil)), journal: journal.New(away, ed25519.NewKeyFromSeed(make([]byte, 32)))}
	d.rooms.automation = automation.New(open(automation.Migrations), d.Log)
	ended := make(chan struct{})
	go func() { d.hearAnswers(t.Context()); close(ended) }()
	t.Cleanup(func() { <-ended })
	var at [2]time.Time
	for i := range at {
		select {
		case at[i] = <-lines:
		case <-time.After(2 * time.Minute):
			t.Fatal("nobody hears that the database is away")
		}
	}
	if apart := at[1].Sub(at[0]); apart < time.Second {
		t.Errorf("it is asked again after %s", apart)
	}
}
