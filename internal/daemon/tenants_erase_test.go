package daemon

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/tenancy"
	"tandem/internal/testenv"
)

// houseTables belong to the server as a whole: no tenant says anything in them.
var houseTables = []string{"installation", "installation_clock", "installation_key", "installation_move", "journal_checked",
	"journal_checkpoint", "journal_head", "journal_key", "journal_origin", "journal_receipt", "journal_tile", "schema_version", "secret_key",
	"server", "server_cluster", "tenant"}

// A table that is not on the list would be left when a tenant is erased, and left out of its export.
func TestEveryTableOfATenantIsListed(t *testing.T) {
	w := newWard(t, "")
	listed := slices.Concat(tenancy.JournalTables, tenancy.Listed())
	columns, err := w.db.Columns(t.Context(), "tenant")
	w.must(err)
	var have []string
	for _, c := range columns {
		have = append(have, c.Table)
	}
	slices.Sort(listed)
	slices.Sort(have)
	if !slices.Equal(listed, have) {
		t.Errorf("tables with a tenant:\n%v\nlisted:\n%v", have, listed)
	}
	all, err := w.db.Tables(t.Context(), 1000)
	w.must(err)
	for _, table := range all {
		if !slices.Contains(have, table) && !slices.Contains(houseTables, table) {
			t.Errorf("%s has no column tenant, and is not known to be the house's", table)
		}
	}
}

// plant writes a row into every table of a tenant, with words in each column that takes any. Rows of rooms that tenants do not use yet
// are among them. In tables that are read as documents at every look the word is null.
func (w *ward) plant(tenant, words string, documents ...string) {
	w.t.Helper()
	w.planted(tenant, words, documents, func(tx *db.Tx, table string, names []string, args []any) error {
		_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s) ON CONFLICT DO NOTHING", table, strings.Join(names, ", "),
			strings.Repeat(", ?", len(names)-1)), args...)
		return err
	})
}

// unplant takes these rows out again.
func (w *ward) unplant(tenant, words string, documents ...string) {
	w.t.Helper()
	w.planted(tenant, words, documents, func(tx *db.Tx, table string, names []string, args []any) error {
		where, with := "tenant = ?", []any{tenant}
		for i, name := range names {
			if text, ok := args[i].(string); ok && name != "tenant" { // a restore may have emptied it, and merged is what a job is
				where, with = where+" AND "+name+" IN (?, '', 'merged')", append(with, text)
			}
		}
		if len(with) == 1 {
			return nil // a number by itself
		}
		_, err := tx.Exec("DELETE FROM "+table+" WHERE "+where, with...)
		return err
	})
}

// document is what a column has in which a room reads more than a text: W stands for the words, and - for nothing at all.
var document = map[string]string{"approval.state": "spent", "approval.input": `"W"`, "approval.acts_for": `["W"]`,
	"approval.approvers": `["W"]`, "approval.bound": "-", "approval.needs": "-", "approval.answers": "-", "artifact.inputs": "null",
	"artifact.checks": "null", "automation_run.given": "{}", "automation_run.heard": "[]", "automation_event.body": "{}",
	"context_run.body": "{}", "context_event.body": "{}", "context_task.body": "{}", "context_item.body": "{}",
	"knowledge.owners": `["W"]`, "knowledge.readers": `["W"]`, "knowledge_item.sources": "null", "pack.body": "{}", "pack.grants": `["W"]`,
	"peer_log.entry": "{}", "space.ended": "-", "space_log.envelope": "-", "space_log.facts": `"W"`, "resource.value": `"W"`,
	"session.config": "-", "session.todos": "-", "session.chain": "-", "session_turn.prompt": "-", "session_turn.options": "-",
	"session_turn.usage": "-", "session_turn.prompted": "-", "session_call.args": `"W"`, "session_call.result": "-",
	"session_message.blocks": "-", "session_event.body": `"W"`, "session_spent.used": `{"W":1}`,
	"session_question.questions": "-", "session_question.answers": "-"}

func (w *ward) planted(tenant, words string, documents []string, do func(tx *db.Tx, table string, names []string, args []any) error) {
	w.t.Helper()
	for _, table := range tenancy.Listed() {
		text := words
		if slices.Contains(documents, table) {
			text = "null"
		}
		rows, err := w.db.Query(w.t.Context(), "SELECT * FROM "+table+" LIMIT 0")
		w.must(err)
		types, err := rows.ColumnTypes()
		w.must(err)
		rows.Close()
		var names []string
		var args []any
		for _, c := range types {
			names = append(names, c.Name())
			switch kind := strings.ToUpper(c.DatabaseTypeName()); {
			case c.Name() == "tenant":
				args = append(args, tenant)
			case tenancy.Keys[table] != "" && c.Name() == "id":
				args = append(args, plantedID(tenancy.Keys[table], words))
			case strings.HasPrefix(table, "session_") && c.Name() == "session": // the one that is planted
				args = append(args, plantedID(tenancy.Keys["session"], words))
			case c.Name() == "day" || table == "session_event" && c.Name() == "seq":
				args = append(args, 1)
			case table == "session" && c.Name() == "driver":
				args = append(args, session.DriverModel)
			case kind == "TEXT" && document[table+"."+c.Name()] != "":
				args = append(args, strings.NewReplacer("W", words, "-", "").Replace(document[table+"."+c.Name()]))
			case kind == "TEXT":
				args = append(args, text)
			case kind == "BLOB" || kind == "BYTEA":
				args = append(args, []byte(text))
			default:
				args = append(args, time.Now().UnixNano()%1e15)
			}
		}
		w.must(w.db.Write(w.t.Context(), func(tx *db.Tx) error { return do(tx, table, names, args) }))
	}
}

// plantedID is an id of a kind that words make.
func plantedID(kind, words string) string {
	return kind + "_" + (strings.NewReplacer("i", "1", "l", "1", "o", "0", "u", "v").Replace(words) + strings.Repeat("0", 26))[:26]
}

// rowsOf are all rows of a tenant, or of everybody, as text.
func (w *ward) rowsOf(tenant string) (out []string) {
	w.t.Helper()
	all, err := w.db.Tables(w.t.Context(), 1000)
	w.must(err)
	columns, err := w.db.Columns(w.t.Context(), "tenant")
	w.must(err)
	for _, table := range all {
		query, args := "SELECT * FROM "+table, []any{}
		if tenant != "" {
			if !slices.Contains(columns, db.Column{Table: table, Name: "tenant"}) {
				continue
			}
			query, args = query+" WHERE tenant = ?", []any{tenant}
		}
		rows, err := w.db.Query(w.t.Context(), query, args...)
		lines, err := db.Collect(rows, err, func(r *sql.Rows) (string, error) {
			names, err := r.Columns()
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(sql.RawBytes)
			}
			if err == nil {
				err = r.Scan(values...)
			}
			line := table
			for i := range values {
				line += fmt.Sprintf(" %s=%s", names[i], *values[i].(*sql.RawBytes))
			}
			return line, err
		})
		w.must(err)
		out = append(out, lines...)
	}
	slices.Sort(out)
	return out
}

// found says where words are: in rows, and in the files of the data folder, the database among them.
func (w *ward) found(words string) (out []string) {
	w.t.Helper()
	for _, line := range w.rowsOf("") {
		if strings.Contains(line, words) {
			out = append(out, "a row: "+line)
		}
	}
	w.must(filepath.WalkDir(filepath.Join(w.home, ".tandem"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.Contains(e.Name(), words) {
			out = append(out, "the name of "+path)
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if at := bytes.Index(text, []byte(words)); at >= 0 {
			out = append(out, fmt.Sprintf("%s: %q", path, text[max(0, at-80):min(len(text), at+80)]))
		}
		return err
	}))
	return out
}

// A tenant could be suspended, and what it had stayed for ever. Now it goes: every row and file, and every word of its journal, also from
// the database file; the others keep all of theirs, and the journal verifies.
func TestAnErasedTenantIsGone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		words := "canary" + strings.ToLower(rand.Text()[:16])
		made, ana := w.acme()
		var other identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "globex", "owner": "gus"}, &other)
		_, err := w.enter(identity.PersonIn{Invite: other.Invite.Invite, Machine: "desk"})
		w.must(err)
		gus := w.within(other.ID, "gus")
		for _, c := range []struct {
			op.Caller
			words string
		}{{ana, words}, {gus, "keptbyothers"}} {
			for name, in := range map[string]any{"resource.put": map[string]any{"key": c.words + "/x", "value": c.words},
				"actor.add":      map[string]any{"name": "a" + c.words, "kind": "agent"},
				"session.create": map[string]any{"title": c.words},
				"grant.add":      map[string]any{"principal": "agent:a" + c.words, "resource": "resource:/" + c.words, "permissions": []string{"view"}},
				"secret.set":     map[string]any{"name": "s" + c.words, "value": c.words},
				"space.create":   map[string]any{"name": c.words},
				"memory.add":     map[string]any{"text": c.words + " is remembered"},
				"join.invite":    map[string]any{"person": "p" + c.words}} {
				_, err := w.calls(c.Caller, name, in)
				w.must(err)
			}
		}
		// Somebody of the house may look at this one, by its id and by its name.
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.present("grant.add", map[string]any{"principal": "agent:builder", "resource": "tenant:/house/" + made.ID,
			"permissions": []string{"read"}}, nil)
		looks := func(name string) error {
			builder, err := w.identity.Caller(ctx, identity.LocalTenant, "builder", op.DoorHTTP)
			w.must(err)
			_, err = w.calls(builder, "tenant.show", map[string]any{"name": name})
			return err
		}
		w.refused("the tenant by its name", looks("acme"))
		w.refused("the tenant by its id", looks(made.ID))
		w.refused("another one", looks("globex"), fault.Denied, fault.NotFound)
		erase := func(confirm string) error {
			return w.presents("tenant.erase", map[string]any{"name": "acme", "confirm": confirm})
		}
		w.refused("an open tenant", erase("acme"), fault.Conflict)
		w.present("tenant.suspend", map[string]any{"name": "acme"}, nil)
		w.refused("a name that is not its own", erase("globex"), fault.Invalid)
		w.refused("the house itself", w.presents("tenant.erase", map[string]any{"name": "local", "confirm": "local"}), fault.Invalid)
		w.refused("nobody present", w.Call(ctx, "tenant.erase", map[string]any{"name": "acme", "confirm": "acme"}, nil), fault.Unauthenticated,
			fault.Denied, fault.Pending)
		w.plant(made.ID, words)
		folder := filepath.Join(w.home, ".tandem", "sessions", id.Short(plantedID("ses", words)))
		w.must(os.MkdirAll(folder, 0o700))
		w.must(os.WriteFile(filepath.Join(folder, "note"), []byte(words), 0o600))
		var has identity.ContentsOut
		w.present("tenant.contents", map[string]any{"name": "acme"}, &has)
		if has.Contents.Records < int64(len(tenancy.Tables)) || has.Contents.Files != 1 || len(has.Contents.Stays) == 0 {
			t.Errorf("it has %+v", has.Contents)
		}
		if found := w.found(words); len(found) < 100 {
			t.Fatalf("the words are in %d places to begin with", len(found))
		}
		before := w.rowsOf(other.ID)

		// It stops half way, as in a crash, and goes on at the next start.
		stopped := make(chan struct{})
		w.rooms.eraser.Wiped = func(table string) error {
			if table != "source_posting" { // what is left has no rows whose form verify would look at
				return nil
			}
			close(stopped)
			w.rooms.eraser.Wiped = func(string) error { return errors.New("stopped") }
			return errors.New("stopped")
		}
		var going identity.EraseOut
		w.present("tenant.erase", map[string]any{"name": "acme", "confirm": "acme"}, &going)
		if going.State != identity.TenantErasing || going.Contents.Records == 0 {
			t.Errorf("it goes as %+v", going)
		}
		<-stopped
		w.refused("once more", erase("acme"), fault.Conflict)
		w.refused("its return", w.presents("tenant.resume", map[string]any{"name": "acme"}), fault.Conflict)
		w.sound("half way")
		w.again()
		testenv.Eventually(t, "it is gone", time.Minute, func() bool {
			err := w.WithPIN("246813").Call(ctx, "tenant.show", map[string]any{"name": "acme"}, nil)
			return fault.Is(err, fault.NotFound)
		})
		w.sound("when it is gone")
		if after := w.rowsOf(other.ID); !slices.Equal(before, after) {
			t.Errorf("the other tenant had\n%s\nand has\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		w.again()
		w.sound("after a start")
		if found := w.found(words); len(found) > 0 {
			t.Errorf("the words are still in\n%s", strings.Join(found, "\n"))
		}
		_, err = w.calls(ana, "resource.list", map[string]any{})
		w.refused("somebody of it", err, fault.Denied, fault.Unauthenticated, fault.NotFound)

		// A tenant of the same name is another one.
		again, _ := w.acme()
		if again.ID == made.ID {
			t.Error("it has the id of the one before")
		}
		w.refused("what was granted about the one before", looks("acme"), fault.Denied, fault.NotFound)
		w.refused("a name like an id", w.presents("tenant.create", map[string]any{"name": made.ID, "owner": "bo"}), fault.Invalid)
		w.sound("with one of the same name")
		var of string
		w.must(w.db.QueryRow(ctx, "SELECT reason FROM tenant WHERE id = ?", made.ID).Scan(&of))
		if len(of) != 64 {
			t.Errorf("of what is left the tenant's row says %q", of)
		}
		w.sql("UPDATE journal_event SET type = 'b.c' WHERE seq = (SELECT min(seq) FROM journal_event WHERE tenant = '" + made.ID + "')")
		w.told("are not those that were left when it was erased")
		w.sql("UPDATE journal_event SET salt = leaf, actor = '' WHERE seq = (SELECT max(seq) FROM journal_event WHERE tenant = 'local')")
		w.told("is not the one that was recorded")
	})
}
