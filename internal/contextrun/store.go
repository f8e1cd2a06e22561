package contextrun

import (
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "contextrun", FS: schema}

// run is a run as it is stored.
type run struct {
	*wire.Run
	tenant string
	bytes  int64 // of its events
}

const runColumns = "tenant, id, kind, folder, status, revision, events, patches, tasks, bytes, body, made_by, made_at, moved_at"

func scanRun(row interface{ Scan(...any) error }) (*run, error) {
	r := run{Run: &wire.Run{}}
	var columns wire.Run
	var body string
	var made, moved int64
	err := row.Scan(&r.tenant, &columns.ID, &columns.Kind, &columns.Folder, &columns.Status, &columns.Revision, &columns.Events,
		&columns.Patches, &columns.Tasks, &r.bytes, &body, &columns.MadeBy, &made, &moved)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), r.Run); err != nil {
		return nil, fmt.Errorf("read the context run %s: %w", columns.ID, err)
	}
	r.ID, r.Kind, r.Folder, r.Status, r.Revision = columns.ID, columns.Kind, columns.Folder, columns.Status, columns.Revision
	r.Events, r.Patches, r.Tasks, r.MadeBy = columns.Events, columns.Patches, columns.Tasks, columns.MadeBy
	r.MadeAt, r.MovedAt = db.Time(made), db.Time(moved)
	return &r, nil
}

// find reads a run; nil when there is none. For a change it is locked, so that its events are one after another.
func find(tx *db.Tx, tenant, id string, change bool) (*run, error) {
	lock := ""
	if change {
		lock = tx.ForUpdate()
	}
	r, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM context_run WHERE tenant = ? AND id = ?"+lock, tenant, id))
	if db.NoRows(err) {
		return nil, nil
	}
	return r, err
}

// save writes a run; its body only where an event was of the run itself.
func (r *run) save(tx *db.Tx, whole bool) error {
	set, args := "events = ?, patches = ?, tasks = ?, bytes = ?, moved_at = ?", []any{r.Events, r.Patches, r.Tasks, r.bytes, r.MovedAt}
	if whole {
		body, err := json.Marshal(r.Run)
		if err != nil {
			return err
		}
		set += ", folder = ?, status = ?, revision = ?, body = ?"
		args = append(args, r.Folder, string(r.Status), r.Revision, string(body))
	}
	_, err := tx.Exec("UPDATE context_run SET "+set+" WHERE tenant = ? AND id = ?", append(args, r.tenant, r.ID)...)
	return err
}

func (r *run) insert(tx *db.Tx) error {
	body, err := json.Marshal(r.Run)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO context_run ("+runColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", r.tenant, r.ID, r.Kind,
		r.Folder, string(r.Status), r.Revision, r.Events, r.Patches, r.Tasks, r.bytes, string(body), r.MadeBy, r.MadeAt, r.MovedAt)
	return err
}

const taskColumns = "id, nr, stage, waits, attempt, most, retry_at, holder, token, lease_ends, rev, agent, last_error, moved_at, body"

func scanTask(row interface{ Scan(...any) error }) (*wire.Task, error) {
	var t, columns wire.Task
	var body string
	var retry, ends, moved int64
	err := row.Scan(&columns.ID, &columns.Nr, &columns.Stage, &columns.Waits, &columns.Attempt, &columns.MaxAttempts, &retry, &columns.Holder,
		&columns.Token, &ends, &columns.Rev, &columns.Agent, &columns.LastError, &moved, &body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), &t); err != nil {
		return nil, fmt.Errorf("read the task %s: %w", columns.ID, err)
	}
	t.ID, t.Nr, t.Stage, t.Waits, t.Attempt, t.MaxAttempts = columns.ID, columns.Nr, columns.Stage, columns.Waits, columns.Attempt,
		columns.MaxAttempts
	t.Holder, t.Token, t.Rev, t.Agent, t.LastError = columns.Holder, columns.Token, columns.Rev, columns.Agent, columns.LastError
	t.RetryAt, t.LeaseEnds, t.MovedAt = moment(retry), moment(ends), db.Time(moved)
	return &t, nil
}

// moment is a time that there may be none of.
func moment(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}

func stored(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// tasks are those of a run that hold a condition, with their tokens, which leave this room with a claim alone.
func tasks(tx *db.Tx, r *run, cond string, args ...any) ([]*wire.Task, error) {
	rows, err := tx.Query("SELECT "+taskColumns+" FROM context_task WHERE tenant = ? AND run = ?"+cond,
		append([]any{r.tenant, r.ID}, args...)...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*wire.Task, error) { return scanTask(rows) })
}

func findTask(tx *db.Tx, r *run, id string) (*wire.Task, error) {
	t, err := scanTask(tx.QueryRow("SELECT "+taskColumns+" FROM context_task WHERE tenant = ? AND run = ? AND id = ?", r.tenant, r.ID, id))
	if db.NoRows(err) {
		return nil, nil
	}
	return t, err
}

func insertTask(tx *db.Tx, r *run, t *wire.Task) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO context_task (tenant, run, kind, workflow, priority, `+taskColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.tenant, r.ID, t.Kind, t.Workflow, t.Priority, t.ID, t.Nr,
		string(t.Stage), t.Waits, t.Attempt, t.MaxAttempts, stored(t.RetryAt), t.Holder, t.Token, stored(t.LeaseEnds), t.Rev, t.Agent,
		t.LastError, t.MovedAt, string(body))
	for _, need := range t.After {
		if err == nil {
			_, err = tx.Exec("INSERT INTO context_need (tenant, run, needs, task) VALUES (?, ?, ?, ?)", r.tenant, r.ID, need, t.ID)
		}
	}
	return err
}

func saveTask(tx *db.Tx, r *run, t *wire.Task) error {
	_, err := tx.Exec(`UPDATE context_task SET stage = ?, waits = ?, attempt = ?, retry_at = ?, holder = ?, token = ?, lease_ends = ?, rev = ?,
		agent = ?, last_error = ?, moved_at = ? WHERE tenant = ? AND run = ? AND id = ?`, string(t.Stage), t.Waits, t.Attempt,
		stored(t.RetryAt), t.Holder, t.Token, stored(t.LeaseEnds), t.Rev, t.Agent, t.LastError, t.MovedAt, r.tenant, r.ID, t.ID)
	return err
}

func scanEvent(rows *sql.Rows) (*wire.Event, error) {
	var body string
	if err := rows.Scan(&body); err != nil {
		return nil, err
	}
	var e wire.Event
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return nil, fmt.Errorf("read an event of a context run: %w", err)
	}
	return &e, nil
}

func events(tx *db.Tx, r *run, cond string, args ...any) ([]*wire.Event, error) {
	rows, err := tx.Query("SELECT body FROM context_event WHERE tenant = ? AND run = ?"+cond, append([]any{r.tenant, r.ID}, args...)...)
	return db.Collect(rows, err, scanEvent)
}

// saying is what a command says, so that it is known again: which event it is, of whom.
type saying struct{ kind, task, action, by string }

// sent is the event that a command was, nil when it did not come yet. One that was something else is refused.
func sent(tx *db.Tx, r *run, command string, w saying) (*wire.Event, error) {
	if command == "" {
		return nil, nil
	}
	all, err := events(tx, r, " AND command = ?", command)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	e := all[0]
	var c struct {
		Action string `json:"action"`
		Op     string `json:"op"`
	}
	if ours := e.Type == moved || e.Type == beat || e.Type == patched; ours && json.Unmarshal(e.Payload, &c) != nil {
		return nil, fmt.Errorf("read the event %d of %s", e.Seq, r.ID)
	}
	if e.Type != w.kind || w.task != "" && e.Task != w.task || c.Action+c.Op != w.action || e.By != w.by {
		return nil, fault.New(fault.Conflict, "context", "the command %.64q was something else: event %d, %s", command, e.Seq, e.Type).
			WithNext("give each command a name of its own")
	}
	return e, nil
}

// write adds an event to the run, whose rows follow it.
func (r *run) write(tx *db.Tx, e *wire.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := applyRun(r.Run, e); err != nil {
		return err
	}
	r.bytes += int64(len(body))
	_, err = tx.Exec("INSERT INTO context_event (tenant, run, seq, patch, command, body) VALUES (?, ?, ?, ?, ?, ?)", r.tenant, r.ID, e.Seq,
		e.Patch, e.Command, string(body))
	return err
}

// board is a run's blackboard as its rows have it.
func board(tx *db.Tx, r *run) (*wire.Board, error) {
	rows, err := tx.Query("SELECT section, body FROM context_item WHERE tenant = ? AND run = ? ORDER BY seq", r.tenant, r.ID)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (p patch, err error) {
		var body string
		if err = rows.Scan(&p.Op, &body); err == nil {
			err = json.Unmarshal([]byte(body), &p.Item)
		}
		return p, err
	})
	b := newBoard()
	for _, p := range all {
		if slices.Contains(sections, p.Op) {
			applyBoard(b, p)
		}
	}
	b.Revision = r.Patches
	return b, err
}
