package approval

import (
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this package.
var Migrations = db.Migrations{Room: "approval", FS: schema}

const columns = `tenant, id, state, op, resource, digest, input, asker_id, asker, asker_kind, acts_for, session, reason, decided_by_policy,
	approvers, created_at, expires_at, decided_at, decided_by, feedback, spent_at, always, bound, source, needs, answers`

func scan(row interface{ Scan(...any) error }) (*Ask, error) {
	var a Ask
	var input, chain, approvers, always, bound, needs, answers string
	var created, expires, decided, spent int64
	if err := row.Scan(&a.Tenant, &a.ID, &a.State, &a.Op, &a.Resource, &a.Digest, &input, &a.AskerID, &a.Asker, &a.AskerKind, &chain,
		&a.Session,
		&a.Reason, &a.By, &approvers, &created, &expires, &decided, &a.DecidedBy, &a.Feedback, &spent, &always, &bound, &a.From, &needs,
		&answers); err != nil {
		return nil, err
	}
	a.Input = json.RawMessage(input)
	a.CreatedAt, a.ExpiresAt, a.DecidedAt, a.SpentAt = db.Time(created), db.Time(expires), when(decided), when(spent)
	err := errors.Join(json.Unmarshal([]byte(chain), &a.For), json.Unmarshal([]byte(approvers), &a.Approvers))
	for _, part := range []struct {
		text string
		into any
	}{{bound, &a.Bound}, {needs, &a.Needs}, {answers, &a.Answers}} {
		if part.text != "" {
			err = errors.Join(err, json.Unmarshal([]byte(part.text), part.into))
		}
	}
	a.Always, a.AlwaysInFolder, _ = strings.Cut(always, "\n")
	if err != nil {
		return nil, fmt.Errorf("read the ask %s: %w", a.ID, err)
	}
	return &a, nil
}

func when(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}

func collect(rows *sql.Rows, err error) ([]*Ask, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*Ask, error) { return scan(rows) })
}

// inState gives the condition that finds asks in a state at a time, with its arguments. A row whose time ran out may still say
// pending or approved: nobody has to write it down for it to be so.
func inState(state string, now time.Time) (string, []any) {
	switch State(state) {
	case Pending, Approved:
		return "state = ? AND expires_at > ?", []any{state, now}
	case Expired:
		return "(state = 'expired' OR (state IN ('pending', 'approved') AND expires_at <= ?))", []any{now}
	case Rework, Cancelled, Spent:
		return "state = ?", []any{state}
	}
	return "", nil
}

// standing finds the ask that answers for this exact call, and locks it.
func standing(tx *db.Tx, tenant, askerID, digest string) (*Ask, error) {
	a, err := scan(tx.QueryRow("SELECT "+columns+" FROM approval WHERE tenant = ? AND asker_id = ? AND digest = ? AND standing = 1"+
		tx.ForUpdate(),
		tenant, askerID, digest))
	if db.NoRows(err) {
		return nil, nil
	}
	return a, err
}

// successorOf finds the ask in which the same call waits now.
const successorOf = `SELECT id FROM approval WHERE tenant = ? AND asker_id = ? AND digest = ? AND standing = 1 AND state = 'pending'
	AND expires_at > ?`

func successor(a *Ask, row interface{ Scan(...any) error }) (askID string, err error) {
	if err = row.Scan(&askID); db.NoRows(err) || askID == a.ID {
		return "", nil
	}
	return askID, err
}

func find(tx *db.Tx, tenant, askID string) (*Ask, error) {
	a, err := scan(tx.QueryRow("SELECT "+columns+" FROM approval WHERE tenant = ? AND id = ?"+tx.ForUpdate(), tenant, askID))
	if db.NoRows(err) {
		return nil, nil
	}
	return a, err
}

// insert writes a new ask, unless another one for the same call stands by now.
func insert(tx *db.Tx, a *Ask) (bool, error) {
	chain, err := json.Marshal(orEmpty(a.For))
	if err != nil {
		return false, err
	}
	approvers, needs, _, err := a.texts()
	if err != nil {
		return false, err
	}
	bound := ""
	if len(a.Bound) > 0 {
		data, err := json.Marshal(a.Bound)
		if err != nil {
			return false, err
		}
		bound = string(data)
	}
	n, err := tx.Changed("INSERT INTO approval ("+columns+
		", standing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', '', 0, ?, ?, ?, ?, '', 1) ON CONFLICT DO NOTHING",
		a.Tenant, a.ID, a.State, a.Op, a.Resource, a.Digest, string(a.Input), a.AskerID, a.Asker, a.AskerKind, string(chain), a.Session, a.Reason,
		a.By,
		approvers, a.CreatedAt, a.ExpiresAt, a.Always+"\n"+a.AlwaysInFolder, bound, a.From, needs)
	return n == 1, err
}

// decide writes an answer if the ask is still pending: of two answers at once one changes a row. The row is locked, and was read so.
func decide(tx *db.Tx, a *Ask) (bool, error) {
	_, _, answers, err := a.texts()
	if err != nil {
		return false, err
	}
	var at time.Time // the first answer of two decides nothing
	if a.DecidedAt != nil {
		at = *a.DecidedAt
	}
	n, err := tx.Changed(`UPDATE approval SET state = ?, expires_at = ?, decided_at = ?, decided_by = ?, feedback = ?, answers = ?
		WHERE tenant = ? AND id = ? AND state = 'pending' AND expires_at > ?`,
		a.State, a.ExpiresAt, at, a.DecidedBy, a.Feedback, answers, a.Tenant, a.ID, tx.Now())
	return n == 1, err
}

// texts are the parts of an ask that a column holds as JSON; what is empty is "".
func (a *Ask) texts() (approvers, needs, answers string, err error) {
	list, err := json.Marshal(orEmpty(a.Approvers))
	if err == nil && !a.Needs.none() {
		var data []byte
		data, err = json.Marshal(a.Needs)
		needs = string(data)
	}
	if err == nil && len(a.Answers) > 0 {
		var data []byte
		data, err = json.Marshal(a.Answers)
		answers = string(data)
	}
	return string(list), needs, answers, err
}

func spend(tx *db.Tx, a *Ask) (bool, error) {
	n, err := tx.Changed(`UPDATE approval SET state = 'spent', standing = 0, spent_at = ?
		WHERE tenant = ? AND id = ? AND state = 'approved' AND standing = 1 AND expires_at > ?`, tx.Now(), a.Tenant, a.ID, tx.Now())
	return n == 1, err
}

// overdue finds asks that ran out of time and still say otherwise.
const overdue = "standing = 1 AND state IN ('pending', 'approved') AND expires_at <= ?"

// expire marks them, and returns which they were.
func expire(tx *db.Tx, tenant string) ([]string, error) {
	rows, err := tx.Query("UPDATE approval SET state = 'expired', standing = 0 WHERE "+overdue+" AND tenant = ? RETURNING id", tx.Ended(),
		tenant)
	return db.Collect(rows, err, func(rows *sql.Rows) (askID string, err error) { return askID, rows.Scan(&askID) })
}

// retire makes room for a new ask about the same call: what ran out of time is marked so, an answer is kept as it was.
func retire(tx *db.Tx, a *Ask) error {
	_, err := tx.Exec(`UPDATE approval SET standing = 0, state = CASE WHEN state IN ('pending', 'approved') THEN 'expired' ELSE state END
		WHERE tenant = ? AND id = ? AND standing = 1`, a.Tenant, a.ID)
	return err
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
