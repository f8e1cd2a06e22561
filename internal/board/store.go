package board

import (
	"database/sql"
	"embed"

	"tandem/internal/db"
	"tandem/internal/fault"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "board", FS: schema}

const columns = "id, status, priority, creator, holder, stuck, until, version, created_at, updated_at"

func scanTask(rows *sql.Rows) (Task, error) {
	var t Task
	var stuck, until, made, changed int64
	err := rows.Scan(&t.ID, &t.Status, &t.Prio, &t.Creator, &t.Holder, &stuck, &until, &t.Version, &made, &changed)
	t.Stuck, t.Until, t.Made, t.Changed = stuck == 1, db.Time(until), db.Time(made), db.Time(changed)
	return t, err
}

// reader is a transaction that reads.
type reader interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// fill reads tasks with their needs into b.
func (b Board) fill(tx reader, tenant, space, where string, args ...any) error {
	rows, err := tx.Query("SELECT "+columns+" FROM board_task WHERE tenant = ? AND space = ? AND "+where,
		append([]any{tenant, space}, args...)...)
	tasks, err := db.Collect(rows, err, scanTask)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if _, ok := b[t.ID]; ok {
			continue
		}
		rows, err := tx.Query("SELECT need FROM board_need WHERE tenant = ? AND space = ? AND task = ? ORDER BY ord", tenant, space, t.ID)
		if t.Needs, err = db.Collect(rows, err, func(rows *sql.Rows) (n TaskID, err error) { return n, rows.Scan(&n) }); err != nil {
			return err
		}
		b[t.ID] = t
	}
	return nil
}

// around reads what an event can touch or must look at: the task, what it needs
// and what needs it, and what those need. A change of dependencies looks at the
// whole board for circles.
func around(tx *db.Tx, tenant, space string, e Event) (Board, error) {
	b := Board{}
	if e.Kind == KindDepend {
		return b, b.fill(tx, tenant, space, "1 = 1")
	}
	if err := b.fill(tx, tenant, space, "id = ?", e.Task); err != nil {
		return nil, err
	}
	for _, n := range e.Needs {
		if err := b.fill(tx, tenant, space, "id = ?", n); err != nil {
			return nil, err
		}
	}
	if e.Kind == KindReopen {
		for _, n := range b[e.Task].Needs {
			if err := b.fill(tx, tenant, space, "id = ?", n); err != nil {
				return nil, err
			}
		}
	}
	if e.Kind != KindFinish {
		return b, nil
	}
	const back = "id IN (SELECT task FROM board_need WHERE tenant = ? AND space = ? AND need = ?)"
	const beside = "id IN (SELECT n.need FROM board_need n JOIN board_need m ON m.tenant = n.tenant AND m.space = n.space AND m.task = " +
		"n.task WHERE n.tenant = ? AND n.space = ? AND m.need = ?)"
	if err := b.fill(tx, tenant, space, back, tenant, space, e.Task); err != nil {
		return nil, err
	}
	return b, b.fill(tx, tenant, space, beside, tenant, space, e.Task)
}

// save writes changed tasks, each against the version it was read at.
func save(tx *db.Tx, tenant, space string, changed []Task) error {
	for _, t := range changed {
		if t.Version == 1 {
			err := insertTask(tx, tenant, space, t)
			if db.Exists(err) {
				return fault.New(fault.Conflict, "board.add", "there is a task %s already", t.ID).With("taken", string(t.ID))
			}
			if err != nil {
				return err
			}
			continue
		}
		n, err := tx.Changed("UPDATE board_task SET status = ?, priority = ?, holder = ?, stuck = ?, until = ?, version = ?, "+
			"updated_at = ? WHERE tenant = ? AND space = ? AND id = ? AND version = ?",
			t.Status, t.Prio, t.Holder, t.Stuck, t.Until, t.Version, t.Changed, tenant, space, t.ID, t.Version-1)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "board", "%s changed meanwhile", t.ID).WithNext("read it again with intandem_board")
		}
		if _, err := tx.Exec("DELETE FROM board_need WHERE tenant = ? AND space = ? AND task = ?", tenant, space, t.ID); err != nil {
			return err
		}
		if err := insertNeeds(tx, tenant, space, t); err != nil {
			return err
		}
	}
	return nil
}

func insertTask(tx *db.Tx, tenant, space string, t Task) error {
	_, err := tx.Exec("INSERT INTO board_task (tenant, space, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		tenant, space, t.ID, t.Status, t.Prio, t.Creator, t.Holder, t.Stuck, t.Until, t.Version, t.Made, t.Changed)
	if err != nil {
		return err
	}
	return insertNeeds(tx, tenant, space, t)
}

func insertNeeds(tx *db.Tx, tenant, space string, t Task) error {
	for i, n := range t.Needs {
		if _, err := tx.Exec("INSERT INTO board_need (tenant, space, task, need, ord) VALUES (?, ?, ?, ?, ?)", tenant, space, t.ID, n,
			i); err != nil {
			return err
		}
	}
	return nil
}

// insert writes a whole board.
func insert(tx *db.Tx, tenant, space string, b Board) error {
	for _, t := range b.Sorted() {
		if err := insertTask(tx, tenant, space, t); err != nil {
			return err
		}
	}
	return nil
}
