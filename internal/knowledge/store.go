package knowledge

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"strings"

	"tandem/internal/db"
	"tandem/internal/knowledge/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "knowledge", FS: schema}

// room is what the tables of postings are called after.
const room = "knowledge"

// space is a knowledge space as it is stored.
type space struct {
	wire.Space
	nr, texts, length int64
	unread            bool // its owners or readers cannot be read
	forged            bool // nobody here said who owns and reads it
}

const spaceColumns = "name, nr, purpose, owners, readers, trust, days, texts, length, made_at, changed_at"

func scanSpace(rows interface{ Scan(...any) error }) (*space, error) {
	var k space
	var owners, readers string
	var made, changed int64
	err := rows.Scan(&k.Name, &k.nr, &k.Purpose, &owners, &readers, &k.Trust, &k.Days, &k.texts, &k.length, &made, &changed)
	k.MadeAt, k.ChangedAt, k.Answers = db.Time(made), db.Time(changed), int(k.texts)
	k.unread = json.Unmarshal([]byte(owners), &k.Owners) != nil || json.Unmarshal([]byte(readers), &k.Readers) != nil
	return &k, err
}

func scanSpaces(rows *sql.Rows) (*space, error) { return scanSpace(rows) }

// load is a knowledge space for who changes it, nil when there is none.
func (r *Room) load(ctx context.Context, tx *db.Tx, tenant, name string) (*space, error) {
	k, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM knowledge WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, name))
	if db.NoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.vouched(ctx, tenant, k), nil
}

func insert(tx *db.Tx, tenant string, k *space) error {
	_, err := tx.Exec("INSERT INTO knowledge (tenant, "+spaceColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)", tenant, k.Name, k.nr,
		k.Purpose, list(k.Owners), list(k.Readers), string(k.Trust), k.Days, k.MadeAt, k.ChangedAt)
	if db.Exists(err) {
		return db.ErrAgain
	}
	return err
}

func store(tx *db.Tx, tenant string, k *space) error {
	_, err := tx.Exec(`UPDATE knowledge SET purpose = ?, owners = ?, readers = ?, trust = ?, days = ?, changed_at = ?
		WHERE tenant = ? AND name = ?`, k.Purpose, list(k.Owners), list(k.Readers), string(k.Trust), k.Days, k.ChangedAt, tenant, k.Name)
	return err
}

// count says how many items of a knowledge space wait for a person, and how many are past.
func count(tx *db.Tx, tenant string, k *space) error {
	return tx.QueryRow(`SELECT coalesce(sum(CASE WHEN state = 'working' THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN state = 'deprecated' THEN 1 ELSE 0 END), 0) FROM knowledge_item WHERE tenant = ? AND place = ?`, tenant, k.nr).
		Scan(&k.Working, &k.Deprecated)
}

// number is the next of a tenant: of a knowledge space or an item.
func number(tx *db.Tx, tenant string) (nr int64, err error) {
	err = tx.QueryRow(`INSERT INTO knowledge_number (tenant, last) VALUES (?, 1)
		ON CONFLICT (tenant) DO UPDATE SET last = knowledge_number.last + 1 RETURNING last`, tenant).Scan(&nr)
	return nr, err
}

// item is an entry as it is stored.
type item struct {
	wire.Entry
	nr, place     int64
	days          int
	actor, digest string
}

const itemColumns = `i.id, i.nr, i.place, i.title, i.summary, i.body, i.covers, i.dedupe, i.sources, i.digest, i.state, i.author, i.actor,
	i.done_by, i.reason, i.days, i.version, i.replaced_by, i.made_at, i.looked_at`

func scanItem(rows interface{ Scan(...any) error }) (*item, error) {
	var i item
	var covers, sources string
	var made, looked int64
	err := rows.Scan(&i.ID, &i.nr, &i.place, &i.Title, &i.Summary, &i.Body, &covers, &i.Key, &sources, &i.digest, &i.State, &i.Author,
		&i.actor,
		&i.By, &i.Reason, &i.days, &i.Version, &i.ReplacedBy, &made, &looked)
	i.MadeAt, i.LookedAt = db.Time(made), db.Time(looked)
	if covers = strings.Trim(covers, ","); covers != "" {
		i.Covers = strings.Split(covers, ",")
	}
	if err == nil {
		err = json.Unmarshal([]byte(sources), &i.Sources)
	}
	return &i, err
}

func scanItems(rows *sql.Rows) (*item, error) { return scanItem(rows) }

// find is the item of an id, for who changes it; nil when there is none.
func find(tx *db.Tx, tenant, id, lock string) (*item, error) {
	i, err := scanItem(tx.QueryRow("SELECT "+itemColumns+" FROM knowledge_item i WHERE i.tenant = ? AND i.id = ?"+lock, tenant, id))
	if db.NoRows(err) {
		return nil, nil
	}
	return i, err
}

// keep stores an item, new or changed.
func keep(tx *db.Tx, tenant string, i *item) error {
	_, err := tx.Exec(`INSERT INTO knowledge_item (tenant, id, nr, place, title, summary, body, covers, dedupe, sources, digest, state, author,
		actor, done_by, reason, days, version, replaced_by, made_at, looked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET title = excluded.title, summary = excluded.summary, body = excluded.body,
		covers = excluded.covers, sources = excluded.sources, digest = excluded.digest, state = excluded.state, done_by = excluded.done_by,
		reason = excluded.reason, days = excluded.days, version = excluded.version, replaced_by = excluded.replaced_by,
		looked_at = excluded.looked_at`, tenant, i.ID, i.nr, i.place, i.Title, i.Summary, i.Body, topics(i.Covers), i.Key, list(i.Sources),
		i.digest, string(i.State), i.Author, i.actor, i.By, i.Reason, i.days, i.Version, i.ReplacedBy, i.MadeAt, i.LookedAt)
	return err
}

// topics are as they are stored: each between commas, so that one can be looked for.
func topics(covers []string) string {
	if len(covers) == 0 {
		return ""
	}
	return "," + strings.Join(covers, ",") + ","
}

func list[T any](all []T) string {
	if all == nil {
		return "[]"
	}
	out, err := json.Marshal(all)
	if err != nil { // texts only
		return "[]"
	}
	return string(out)
}
