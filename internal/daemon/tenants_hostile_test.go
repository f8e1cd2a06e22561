package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/secret"
	"tandem/internal/space/seal"
	"tandem/internal/tenancy"
	"tandem/internal/testenv"
)

// forged is a tenant's file by somebody who is no program of ours, for one server.
type forged struct {
	w    *ward
	head tenancy.Head
	rows *db.DB
	// what is in the file instead of the rows, and behind the journal
	tables []byte
	more   map[string]string
	lock   backup.Secret
	opens  string
}

func (w *ward) forge() *forged {
	w.t.Helper()
	tenant := id.New("ten")
	space, err := seal.NewKey()
	w.must(err)
	rows, err := db.Open(w.t.Context(), filepath.Join(w.t.TempDir(), "forged.db"), nil)
	w.must(err)
	w.t.Cleanup(func() { rows.Close() })
	_, err = rows.Migrate(w.t.Context(), migrations...)
	w.must(err)
	own, recipient, err := backup.NewIdentity() // a passphrase takes a while
	w.must(err)
	return &forged{w: w, rows: rows, lock: backup.Secret{Recipient: recipient}, opens: own, head: tenancy.Head{Format: tenancy.Format,
		Version: "test",
		Made:    time.Now(), Server: "ins_x", ID: tenant, Name: "acme", Created: time.Now(), Secret: secret.NewCarryKey(), Space: space}}
}

// add puts a row into the file: something in each column, but what is said.
func (f *forged) add(table string, with map[string]any) {
	f.w.t.Helper()
	rows, err := f.rows.Query(f.w.t.Context(), "SELECT * FROM "+table+" LIMIT 0")
	f.w.must(err)
	types, err := rows.ColumnTypes()
	f.w.must(err)
	rows.Close()
	var names []string
	var args []any
	for _, c := range types {
		value, said := with[c.Name()]
		switch kind := strings.ToUpper(c.DatabaseTypeName()); {
		case said:
		case c.Name() == "tenant":
			value = f.head.ID
		case kind == "TEXT":
			value = "x"
		case kind == "BLOB":
			value = []byte("x")
		default:
			value = 1
		}
		names, args = append(names, c.Name()), append(args, value)
	}
	f.w.must(f.rows.Write(f.w.t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1)),
			args...)
		return err
	}))
}

func (f *forged) write() string {
	f.w.t.Helper()
	ctx, path := f.w.t.Context(), filepath.Join(f.w.t.TempDir(), "forged.tenant")
	w, err := backup.Create(path, time.Now(), f.lock, nil)
	f.w.must(err)
	defer w.Drop()
	head, err := json.Marshal(f.head)
	f.w.must(err)
	f.w.must(w.Add(backup.Entry{Name: "tenant"}, bytes.NewReader(head)))
	tables := bytes.NewBuffer(f.tables)
	if f.tables == nil {
		_, err = f.rows.Dump(ctx, tables, migrations...)
		f.w.must(err)
	}
	f.w.must(w.Add(backup.Entry{Name: "tables"}, tables))
	var lines bytes.Buffer
	_, err = f.w.journal.WriteExport(ctx, &lines, f.head.ID)
	f.w.must(err)
	f.w.must(w.Add(backup.Entry{Name: "journal"}, &lines))
	for name, text := range f.more {
		f.w.must(w.Add(backup.Entry{Name: name}, strings.NewReader(text)))
	}
	_, err = w.Keep()
	f.w.must(err)
	return path
}

// looked is what the import says of the head and the rows alone, without the file around them.
func (f *forged) looked() error {
	f.w.t.Helper()
	if err := f.head.Check(""); err != nil {
		return err
	}
	if err := tenancy.OwnRows(f.w.t.Context(), f.rows, f.head.ID); err != nil {
		return err
	}
	return (&tenancy.Carrier{Legible: legible()}).Sound(f.w.t.Context(), f.rows)
}

func (f *forged) taken() (identity.ImportOut, error) {
	f.w.t.Helper()
	f.w.tries = true // what a server in a box says of such files: TestAFileIsTriedInABox
	return f.w.identity.Carry.In(owner(f.w.t, f.w.Daemon), identity.ImportIn{Path: f.write(), Identity: f.opens})
}

// A file of a tenant may be by anybody. One that has in it what no tenant has, ids that are paths or somebody else's, a name that is a
// command, or more than there is room for, is refused, and nothing of it is left.
func TestAFileOfATenantIsHeldToWhatATenantHas(t *testing.T) {
	w := newWard(t, "")
	var own struct{ ID string }
	w.must(w.Call(t.Context(), "session.create", map[string]any{"title": "of the house"}, &own))
	short := own.ID[len(own.ID)-6:]
	var other identity.TenantOut
	w.present("tenant.create", map[string]any{"name": "globex", "owner": "gus"}, &other)
	before := w.rowsOf("")
	full := w.forge()
	clean := func() *forged { // one database for all of them
		f := *full
		for _, table := range append(tenancy.Carried(), "terminal") {
			typed(t, f.rows, "DELETE FROM "+table)
		}
		return &f
	}
	for what, c := range map[string]struct {
		do   func(f *forged)
		want fault.Kind
	}{
		"a terminal": {func(f *forged) {
			f.add("terminal", map[string]any{"closed_at": 0, "body": `{"program":"/bin/true","name":"ccm-a"}`})
		}, fault.Invalid},
		"a session that is all of them": {func(f *forged) { f.session("x/..") }, fault.Invalid},
		"the house's session":           {func(f *forged) { f.session(own.ID) }, fault.Conflict},
		"a session called like it":      {func(f *forged) { f.session("ses_" + strings.Repeat("0", 20) + short) }, fault.Conflict},
		"what a terminal would eat": {func(f *forged) {
			f.add("session_provider", map[string]any{"base": "http://a\x1b[2J"})
		}, fault.Invalid},
		"a turn that nobody reads": {func(f *forged) {
			s := id.New("ses")
			f.session(s)
			f.add("session_turn", map[string]any{"id": id.New("turn"), "session": s, "ended_at": 0})
		}, fault.Invalid},
		"a name that is taken":    {func(f *forged) { f.head.Name = "globex" }, fault.Conflict},
		"a version below nothing": {func(f *forged) { f.tables = []byte(`{"schema":{"journal":-1}}` + "\n") }, fault.Invalid},
		"an unknown table": {func(f *forged) {
			f.tables = []byte(`{"schema":{"journal":1}}` + "\n" + `{"table":"sqlite_master","columns":["name"]}` + "\n")
		}, fault.Invalid},
		"a word of the house as a name": {func(f *forged) { f.secret("x\nhouse", "correct horse battery") }, fault.Invalid},
		"files":                         {func(f *forged) { f.more = map[string]string{"files/sessions/ses_x/bin": "#!/bin/sh"} }, fault.Invalid},
		"one unlocked":                  {func(f *forged) { f.lock = backup.Secret{} }, fault.Invalid},
	} {
		f := clean()
		c.do(f)
		_, err := f.taken()
		w.refused(what, err, c.want)
		if left := w.rowsOf(f.head.ID); len(left) > 0 || w.journal.Waiting() > 0 {
			t.Errorf("%s left %d that wait, and\n%s", what, w.journal.Waiting(), strings.Join(left, "\n"))
		}
	}
	for what, do := range map[string]func(f *forged){
		"a session of a program": func(f *forged) {
			f.add("session", map[string]any{"id": id.New("ses"), "driver": "claude", "directory": "/"})
		},
		"words for a number":       func(f *forged) { f.add("session_provider", map[string]any{"keyless": "x"}) },
		"an id that is a path":     func(f *forged) { f.head.ID = "ten_../../../../../../../../../../" },
		"another's id as its name": func(f *forged) { f.head.Name = other.ID },
		"a name that is a command": func(f *forged) { f.head.Name = "acme; true" },
		"the house's name":         func(f *forged) { f.head.Name = "local" },
		"limits below nothing":     func(f *forged) { f.head.Limits.Sessions = -1 },
		"bytes below nothing":      func(f *forged) { f.head.Limits.Bytes = -1 },
		"another form":             func(f *forged) { f.head.Format = "tandem.tenant/v2" },
		"plates that block others' invitations": func(f *forged) {
			f.add("space_invite", map[string]any{"plate": "aa", "state": "open"})
		},
		"a name with a path": func(f *forged) { f.add("actor", map[string]any{"name": "../owner"}) },
		"a time that is none": func(f *forged) {
			f.add("resource", map[string]any{"value": "1", "updated_at": int64(1) << 62})
		},
		"a time before all":           func(f *forged) { f.add("resource", map[string]any{"value": "1", "expires_at": -1}) },
		"a tenant of the year 300000": func(f *forged) { f.head.Created = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"a value that is none":        func(f *forged) { f.add("resource", nil) },
		"no text": func(f *forged) {
			f.add("resource", map[string]any{"value": "\"\xff\""})
		},
		"documents in documents": func(f *forged) {
			f.add("resource", map[string]any{"value": strings.Repeat("[", 300) + strings.Repeat("]", 300)})
		},
		"an ask in no state":          func(f *forged) { f.ask(map[string]any{"state": "granted"}) },
		"an ask about nothing":        func(f *forged) { f.ask(map[string]any{"input": "{"}) },
		"an ask that nobody reads":    func(f *forged) { f.ask(map[string]any{"approvers": "{"}) },
		"an answer that nobody reads": func(f *forged) { f.ask(map[string]any{"answers": "x"}) },
		"a part that nobody reads": func(f *forged) {
			f.of(map[string]any{"type": "part.started", "body": `{"id":1}`})
		},
		"an event that is no document": func(f *forged) { f.of(map[string]any{"type": "told"}) },
		"a part of no session":         func(f *forged) { f.add("session_event", map[string]any{"type": "part.started", "body": `{}`}) },
		"an event ahead of its session": func(f *forged) {
			f.of(map[string]any{"type": "told", "body": `{}`, "seq": 2})
		},
		"what was used below nothing": func(f *forged) { f.add("session_used", map[string]any{"cost": -1}) },
		"more used than there is":     func(f *forged) { f.add("session_used", map[string]any{"tokens": int64(1)<<53 + 1}) },
		"more used than is added up": func(f *forged) {
			f.add("session_used", map[string]any{"day": 1, "micros": int64(1) << 53})
			f.add("session_used", map[string]any{"day": 2})
		},
		"what will be used":                 func(f *forged) { f.add("session_used", map[string]any{"day": 1 << 30}) },
		"spent before below none":           func(f *forged) { f.add("session_spent", map[string]any{"used": `{"tokens":-1}`}) },
		"a message without blocks":          func(f *forged) { f.add("session_message", map[string]any{"blocks": "{}"}) },
		"a call without arguments":          func(f *forged) { f.add("session_call", map[string]any{"result": ""}) },
		"a question that nobody reads":      func(f *forged) { f.add("session_question", nil) },
		"an event of a run":                 func(f *forged) { f.add("automation_event", nil) },
		"an artifact whose checks are none": func(f *forged) { f.add("artifact", nil) },
		"a pack that nobody reads":          func(f *forged) { f.add("pack", nil) },
		"knowledge that nobody owns":        func(f *forged) { f.add("knowledge", nil) },
		"knowledge from nowhere":            func(f *forged) { f.add("knowledge_item", nil) },
		"an entry of a space":               func(f *forged) { f.add("space_log", nil) },
		"an entry of a seat":                func(f *forged) { f.add("peer_log", nil) },
	} {
		f := clean()
		do(f)
		w.refused(what, f.looked(), fault.Invalid)
	}
	before, after := slices.DeleteFunc(before, beat), slices.DeleteFunc(w.rowsOf(""), beat)
	if !slices.Equal(before, after) {
		t.Errorf("the house had\n%s\nand has\n%s", strings.Join(missing(before, after), "\n"), strings.Join(missing(after, before), "\n"))
	}
	if left, err := filepath.Glob(filepath.Join(w.home, ".tandem", tenancy.OnTheWay+"*")); err != nil || len(left) > 0 {
		t.Errorf("left of them: %v %v", left, err)
	}
}

// beat is a row that moves by itself.
func beat(row string) bool {
	return strings.HasPrefix(row, "installation_clock") || strings.HasPrefix(row, "journal_checkpoint")
}

func (f *forged) ask(with map[string]any) {
	in := map[string]any{"id": id.New("ask"), "state": "spent", "input": "{}", "acts_for": "[]", "approvers": "[]", "bound": "", "needs": "",
		"answers": ""}
	maps.Copy(in, with)
	f.add("approval", in)
}

// secret seals a value as a file has it.
func (f *forged) secret(name, value string) {
	f.w.t.Helper()
	sealed, err := secret.SealCarried(f.head.Secret, f.head.ID, name, 1, []byte(value))
	f.w.must(err)
	f.add("secret", map[string]any{"name": name, "version": 1, "key_id": "carried", "sealed": sealed, "struck": "all"})
}

// of adds an event of a session that has one.
func (f *forged) of(event map[string]any) {
	event["session"] = id.New("ses")
	f.session(event["session"].(string))
	f.add("session_event", event)
}

func (f *forged) session(named string) {
	f.add("session", map[string]any{"id": named, "driver": "model", "config": "{}", "todos": "[]", "chain": "[]"})
}

// Every table that a tenant does not take along is refused, and every one that it does with rows of somebody else.
func TestATenantBringsItsOwnTablesAlone(t *testing.T) {
	w := newWard(t, "")
	f := w.forge()
	all, err := f.rows.Tables(t.Context(), 1000)
	w.must(err)
	carried, n := tenancy.Carried(), 0
	for _, table := range all {
		var have int64
		w.must(f.rows.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&have))
		if table == "schema_version" {
			continue
		}
		with := map[string]any{}
		if slices.Contains(carried, table) {
			with["tenant"] = "local"
		}
		f.add(table, with)
		if err := tenancy.OwnRows(t.Context(), f.rows, f.head.ID); !fault.Is(err, fault.Invalid) {
			t.Errorf("a row of %s: %v", table, err)
		}
		typed(t, f.rows, "DELETE FROM "+table)
		if n++; have > 0 {
			t.Errorf("%s has rows to begin with", table)
		}
	}
	if err := tenancy.OwnRows(t.Context(), f.rows, f.head.ID); n < 100 || err != nil {
		t.Errorf("%d tables, and none of them: %v", n, err)
	}
}

// An id of a tenant's row is one that is looked for with the tenant, or one that nobody else has.
func TestEveryIDOfATenantIsDecided(t *testing.T) {
	w := newWard(t, "")
	columns, err := w.db.Columns(t.Context(), "id")
	w.must(err)
	for _, c := range columns {
		_, key := tenancy.Keys[c.Table]
		if shared := slices.Contains(tenancy.SharedIDs, c.Table); slices.Contains(tenancy.Carried(), c.Table) && key == shared {
			t.Errorf("the ids of %s are in one of keys and sharedIDs, not in %v of them", c.Table, map[bool]int{true: 2, false: 0}[key])
		}
	}
	for table := range maps.Keys(tenancy.Keys) {
		if !slices.ContainsFunc(columns, func(c db.Column) bool { return c.Table == table }) {
			t.Errorf("%s has no id", table)
		}
	}
}

// Who writes a file writes grants into it, switches things on and says that gates were passed. None of it counts before a person looked at
// it, and a start, a second file or an erasure changes nothing about that.
func TestNobodyConfirmedWhatAFileBrings(t *testing.T) {
	w := newWard(t, "")
	w.present("grant.add", map[string]any{"principal": "agent:mole", "resource": "resource:/plans", "permissions": []string{"view"}}, nil)
	var body string
	w.must(w.db.QueryRow(t.Context(), "SELECT body FROM policy_grant WHERE body LIKE '%mole%'").Scan(&body))
	f := w.forge()
	f.add("actor", map[string]any{"id": id.New("act"), "kind": "agent", "name": "mole", "disabled_at": 0})
	f.add("policy_grant", map[string]any{"id": id.New("grt"), "body": body, "revoked_version": 0})
	ses, run := id.New("ses"), id.New("run")
	f.add("session", map[string]any{"id": ses, "driver": "model", "directory": "/etc", "config": "{}", "todos": "[]", "chain": "[]"})
	f.add("automation", map[string]any{"name": "deploy", "live": "x", "grants": "[]"})
	f.add("automation_trigger", map[string]any{"name": "deploy", "next_at": 1, "watch": "/etc"})
	f.add("automation_run", map[string]any{"id": run, "name": "deploy", "ended_at": 0, "status": "running", "given": "{}", "heard": "[]"})
	f.add("automation_event", map[string]any{"run": run, "body": `{"kind":"answered","node":"go","answer":"approve"}`})
	f.add("automation_step", map[string]any{"run": run, "state": "parked", "look_at": 1})
	f.add("peer_seat", map[string]any{"id": id.New("seat"), "state": "active", "folder": "/etc"})
	got, err := f.taken()
	w.must(err)
	if got.State != identity.TenantSuspended || got.Waits == 0 || got.Ended["automations"] != 1 || got.Ended["runs"] != 1 {
		t.Errorf("it came as %+v", got)
	}
	for query, want := range map[string]int{"SELECT count(*) FROM automation WHERE live <> ''": 0,
		"SELECT count(*) FROM automation_trigger": 0, "SELECT count(*) FROM automation_run WHERE ended_at = 0": 0,
		"SELECT count(*) FROM automation_step WHERE state <> 'over'": 0, "SELECT count(*) FROM session WHERE directory <> ''": 0,
		"SELECT count(*) FROM peer_seat WHERE folder <> ''": 0, "SELECT count(*) FROM session WHERE id = '" + ses + "'": 1} {
		var n int
		if w.must(w.db.QueryRow(t.Context(), query).Scan(&n)); n != want {
			t.Errorf("%s: %d, not %d", query, n, want)
		}
	}
	closed := func(when string) {
		t.Helper()
		w.refused("its return "+when, w.presents("tenant.resume", map[string]any{"name": f.head.ID}), fault.Conflict)
		if _, err := w.policies(t.Context(), f.head.ID); err == nil {
			t.Errorf("its policy counts %s", when)
		}
		g := w.forge()
		g.head.Name = "globex"
		_, err := g.taken()
		w.refused("a second file "+when, err, fault.Conflict)
		var list journal.AdoptedOut
		w.present("audit.adopted", nil, &list)
		for _, want := range []string{"agent:mole", "the tenant " + f.head.ID} {
			if !slices.ContainsFunc(list.Rows, func(r journal.AdoptedRow) bool { return strings.Contains(r.What, want) }) {
				t.Errorf("%s, %s is not shown: %+v", when, want, list.Rows)
			}
		}
	}
	closed("before anybody looked")
	w.sound("while it waits")
	w.again()
	closed("after a start")
	w.present("tenant.erase", map[string]any{"name": f.head.ID, "confirm": "acme"}, nil)
	w.must(w.rooms.eraser.EraseAll(t.Context()))
	if n := w.journal.Waiting(); n > 0 {
		t.Errorf("%d wait of what is gone", n)
	}
	w.again()
	if n := w.journal.Waiting(); n > 0 {
		t.Errorf("after a start %d wait of what is gone", n)
	}
	w.sound("when it is gone")
}

// A crash in the middle of an export or import leaves a folder with hashes of tokens and PINs. It is gone at the next start.
func TestWhatACrashLeftOfATenantGoes(t *testing.T) {
	w := newWard(t, "")
	left := filepath.Join(w.home, ".tandem", tenancy.OnTheWay+"1")
	w.must(os.MkdirAll(left, 0o700))
	w.must(os.WriteFile(filepath.Join(left, "tandem.db"), []byte("x"), 0o600))
	f := w.forge()
	f.session(id.New("ses"))
	file := f.write()
	cut := errors.New("the server ended")
	err := tenancy.Into(t.Context(), w.db, f.rows, func(from, tx *db.Tx) error { // half of it was written
		_, err := db.CopyRows(from, tx, "session")
		return errors.Join(cut, err)
	})
	if !errors.Is(err, cut) || len(w.rowsOf(f.head.ID)) > 0 {
		t.Errorf("cut off: %v, and there is\n%s", err, strings.Join(w.rowsOf(f.head.ID), "\n"))
	}
	w.again()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
	// Two sessions that are called alike share a folder: it is not one tenant's to erase.
	alike := "ses_" + strings.Repeat("0", 20) + "abcdef"
	for tenant, named := range map[string]string{f.head.ID: alike, "local": "ses_" + strings.Repeat("1", 20) + "abcdef"} {
		g := &forged{w: w, rows: w.db, head: tenancy.Head{ID: tenant}}
		g.session(named)
	}
	w.must(w.db.Read(t.Context(), func(tx *db.Tx) error {
		files, err := w.rooms.eraser.Files(tx, f.head.ID)
		if len(files) != 3 || slices.ContainsFunc(files, func(path string) bool { return filepath.Base(path) != alike }) {
			t.Errorf("its folders are %q", files)
		}
		return err
	}))
	w.sql("DELETE FROM session")
	w.tries = true
	out, err := w.identity.Carry.In(owner(t, w.Daemon), identity.ImportIn{Path: file, Identity: f.opens})
	if err != nil || out.Records != 1+1 {
		t.Errorf("then it comes whole: %+v %v", out, err)
	}
}

// What a file says is secret opens here as something to be lent, and takes no word out of the record of the house: a secret that is empty
// would have stopped every start, and one that is a word of the house would have blanked it.
func TestSecretsOfAFileTakeNothingFromTheHouse(t *testing.T) {
	w := newWard(t, "")
	word := "the-word-of-the-house"
	w.must(w.Call(t.Context(), "resource.put", map[string]any{"key": word, "value": word}, nil))
	f := w.forge()
	f.secret("empty", "")
	f.secret("short", "x")
	f.secret("word", word)
	f.secret("good", "correct horse battery")
	got, err := f.taken()
	w.must(err)
	if got.Secrets != 2 || !slices.Equal(got.Doubt, []string{"secret:empty", "secret:short"}) {
		t.Errorf("it came as %+v", got)
	}
	w.again()
	for text, want := range map[string]bool{word: true, "correct horse battery": true} {
		if kept := w.redact.In("local", "owner").String(text) == text; kept != want {
			t.Errorf("that the house's record keeps %q is %v", text, kept)
		}
	}
	if got := w.redact.In(f.head.ID, "x").String("correct horse battery"); !strings.Contains(got, "[secret: good]") {
		t.Errorf("the tenant's own record has %q", got)
	}
	if got := w.redact.String(word); got != word {
		t.Errorf("a log has %q", got)
	}
}

// A server of its own in a box tries what comes: what it cannot live with comes to no other one.
func TestAFileIsTriedInABox(t *testing.T) {
	w := newWard(t, "")
	before := w.rowsOf("")
	f := w.forge()
	f.add("actor", map[string]any{"id": id.New("act"), "kind": "person", "name": "ana", "acts_for": "", "disabled_at": 0})
	in := identity.ImportIn{Path: f.write(), Identity: f.opens}
	folder := testenv.Dir(t)
	w.refused("a tenant with one person", w.tryTenant(owner(t, w.Daemon), folder, in))
	f.add("policy_rules", map[string]any{"version": 1, "rules": "permit (nobody", "boundary": ""})
	f.add("policy_version", map[string]any{"version": 1, "change": "rules"})
	f.add("policy_head", map[string]any{"version": 1})
	_, err := w.identity.Carry.In(owner(t, w.Daemon), identity.ImportIn{Path: f.write(), Identity: f.opens})
	w.refused("rules that nobody can read", err, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), "a server that has it does not work") {
		t.Errorf("rules that nobody can read are found by who did not try it: %v", err)
	}
	before, after := slices.DeleteFunc(before, beat), slices.DeleteFunc(w.rowsOf(""), beat)
	if !slices.Equal(before, after) {
		t.Errorf("the house had\n%s\nand has\n%s", strings.Join(missing(before, after), "\n"), strings.Join(missing(after, before), "\n"))
	}
}

// Whoever compared the digest of a file takes that one, and no other.
func TestAFileIsTheOneThatIsMeant(t *testing.T) {
	w := newWard(t, "")
	f := w.forge()
	path := f.write()
	w.tries = true
	other := strings.Repeat("0", 64)
	_, err := w.identity.Carry.In(owner(t, w.Daemon), identity.ImportIn{Path: path, Identity: f.opens, Digest: other})
	w.refused("another file", err, fault.Conflict)
	_, err = w.identity.Carry.In(owner(t, w.Daemon), identity.ImportIn{Path: filepath.Dir(path), Identity: f.opens})
	w.refused("a folder", err, fault.Invalid)
	raw, err := os.ReadFile(path)
	w.must(err)
	sum := fmt.Sprintf("%x", sha256.Sum256(raw))
	out, err := w.identity.Carry.In(owner(t, w.Daemon), identity.ImportIn{Path: path, Identity: f.opens, Digest: sum})
	w.must(err)
	if out.Digest != sum || !strings.Contains(out.Reason, sum) {
		t.Errorf("it came as %+v", out)
	}
}
