package daemon

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/space/peer"
	"tandem/internal/tenancy"
	"tandem/internal/testenv"
)

// endsThere are the rows of a tenant that are not taken to another server, and columns that say something else there: what was open is
// not done again, nothing is switched on, and nothing says where on the first machine it worked.
var endsThere = map[string][]string{
	"gate_intent": nil, "approval_rule": nil, "automation_trigger": nil, // gone
	"secret":  nil, // what opens is looked at by itself, what does not is gone
	"session": {"directory"}, "automation": {"live"}, "automation_step": {"state", "waits", "ended_at"},
	// sealed under each server's own key
	"peer_seat": {"home", "folder", "secrets"}, "peer_outbox": {"content"},
	"peer_attachment": {"about"}, "peer_name": {"name"},
}

// documents are tables of which each row is read at every look at what confers authority.
var documents = []string{"connector", "oauth_client", "schedule", "session_checkout", "session_folder"}

// carried are the rows of a tenant as they have to be on both servers.
func (w *ward) carried(tenant string) (out []string) {
	w.t.Helper()
	for _, table := range tenancy.Carried() {
		but, ends := endsThere[table]
		if ends && but == nil || table == "journal_former" {
			continue
		}
		rows, err := w.db.Query(w.t.Context(), "SELECT * FROM "+table+" WHERE tenant = ?", tenant)
		w.must(err)
		names, err := rows.Columns()
		w.must(err)
		for rows.Next() {
			values, dest := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				dest[i] = &values[i]
			}
			w.must(rows.Scan(dest...))
			line := table
			for i, name := range names {
				if slices.Contains(but, name) {
					continue
				}
				if b, ok := values[i].([]byte); ok {
					values[i] = string(b)
				}
				line += fmt.Sprintf(" %s=%v", name, values[i])
			}
			out = append(out, line)
		}
		w.must(rows.Err())
		rows.Close()
	}
	slices.Sort(out)
	return out
}

// A tenant could not leave a server but with all of it. Now it is written to a locked file and comes up on another server, on another
// database: with every row of the one list and its ids, with nothing of anybody else, and with nothing that acts before a person there
// has confirmed what it brings.
func TestATenantGoesToAnotherServer(t *testing.T) {
	ways := [][2]string{{"sqlite", "postgres"}}
	if testenv.Soak() { // each takes half a minute
		ways = append(ways, [2]string{"postgres", "sqlite"})
	}
	for _, way := range ways {
		t.Run(way[0]+" to "+way[1], func(t *testing.T) {
			dsn := func(kind string) string {
				if kind == "postgres" {
					return testenv.Postgres(t)
				}
				return ""
			}
			goesElsewhere(t, newWard(t, dsn(way[0])), newWard(t, dsn(way[1])))
		})
	}
}

func goesElsewhere(t *testing.T, here, there *ward) {
	ctx := t.Context()
	words, others := "canary"+strings.ToLower(rand.Text()[:16]), "stranger"+strings.ToLower(rand.Text()[:16])
	made, ana := here.acme()
	var other identity.TenantOut
	here.present("tenant.create", map[string]any{"name": "globex", "owner": "gus"}, &other)
	_, err := here.enter(identity.PersonIn{Invite: other.Invite.Invite, Machine: "desk"})
	here.must(err)
	gus := here.within(other.ID, "gus")
	for _, c := range []struct {
		op.Caller
		words string
	}{{ana, words}, {gus, others}, {op.CallerFrom(owner(t, here.Daemon)), others + "ofthehouse"}} {
		c.Present = "pin"
		for name, in := range map[string]any{"resource.put": map[string]any{"key": c.words + "/x", "value": c.words},
			"actor.add":      map[string]any{"name": "a" + c.words, "kind": "agent"},
			"session.create": map[string]any{"title": c.words},
			"grant.add":      map[string]any{"principal": "agent:a" + c.words, "resource": "resource:/" + c.words, "permissions": []string{"view"}},
			"secret.set":     map[string]any{"name": "s" + c.words, "value": "v" + c.words},
			"space.create":   map[string]any{"name": c.words},
			"memory.add":     map[string]any{"text": c.words + " is remembered"},
			"join.invite":    map[string]any{"person": "p" + c.words}} {
			_, err := here.calls(c.Caller, name, in)
			here.must(err)
		}
	}
	got, err := here.calls(ana, "token.new", map[string]any{"actor": "a" + words})
	here.must(err)
	token := got.(identity.MintOut).Secret
	for _, w := range []string{words, others} {
		of := made.ID
		if w == others {
			of = other.ID
		}
		here.plant(of, w, documents...)
	}
	here.sql("DELETE FROM policy_rules WHERE rules = '" + words + "'") // it would be the tenant's whole policy
	before := here.carried(made.ID)

	file := filepath.Join(t.TempDir(), "acme.tenant")
	export := map[string]any{"name": "acme", "path": file}
	here.refused("a file that lies open", here.presents("tenant.export", export), fault.Invalid)
	export["passphrase"] = "correct horse"
	here.refused("nobody present", here.Call(ctx, "tenant.export", export, nil), fault.Unauthenticated, fault.Denied, fault.Pending)
	here.refused("the house itself", here.presents("tenant.export", map[string]any{"name": "local", "passphrase": "correct horse"}),
		fault.Invalid)
	_, err = here.calls(ana, "tenant.export", export)
	here.refused("the tenant's own people", err, fault.Denied, fault.NotFound)
	here.refused("what goes on meanwhile", here.presents("tenant.export", export), fault.Conflict)
	here.present("tenant.suspend", map[string]any{"name": "acme"}, nil)
	var out identity.ExportOut
	here.present("tenant.export", export, &out)
	if out.Records != int64(len(before))+6 || out.Secrets != 1 || len(out.Doubt) < 8 || out.Left["terminal"] != 3 ||
		out.Left["schedule"] != 1 {
		t.Errorf("exported %+v of %d rows", out, len(before))
	}
	raw, err := os.ReadFile(file)
	here.must(err)
	if bytes.Contains(raw, []byte(words)) {
		t.Error("the file can be read without what locks it")
	}
	if text := unlocked(t, file, "correct horse"); !strings.Contains(text, words) || strings.Contains(text, others) ||
		strings.Contains(text, other.ID) {
		t.Errorf("the file has the tenant's words: %v, others': %v, others' ids: %v", strings.Contains(text, words),
			strings.Contains(text, others), strings.Contains(text, other.ID))
	}

	take := map[string]any{"path": file, "passphrase": "correct horse"}
	here.tries, there.tries = true, true // no server lives with what was planted: the script tenant_carry has a tenant that lived
	there.refused("nobody present", there.Call(ctx, "tenant.import", take, nil), fault.Unauthenticated, fault.Denied, fault.Pending)
	there.refused("another passphrase", there.presents("tenant.import", map[string]any{"path": file, "passphrase": "wrong horse"}),
		fault.Invalid, fault.Denied, fault.Unauthenticated)
	here.refused("where it is", here.presents("tenant.import", take), fault.Conflict)
	there.present("tenant.create", map[string]any{"name": "acme", "owner": "bo"}, nil)
	there.refused("a name that is taken", there.presents("tenant.import", take), fault.Conflict)
	take["name"] = "acme-two"
	var in identity.ImportOut
	there.present("tenant.import", take, &in)
	if in.ID != made.ID || in.Name != "acme-two" || in.State != identity.TenantSuspended || in.Waits == 0 || in.Secrets != 1 ||
		!in.Verified || in.Ended["calls"] != 1 || in.Ended["standing answers"] != 1 || in.Ended["automations"] != 1 {
		t.Errorf("it arrived as %+v", in)
	}
	out.Doubt = slices.DeleteFunc(out.Doubt, func(s string) bool { return strings.HasPrefix(s, "switch:") }) // it is switched off
	if slices.Sort(in.Doubt); len(missing(out.Doubt, in.Doubt))+len(missing(in.Doubt, out.Doubt)) > 0 {
		t.Errorf("there is doubt about %q, there was about %q", in.Doubt, out.Doubt)
	}
	if after := there.carried(made.ID); !slices.Equal(before, after) {
		t.Errorf("it had\n%s\nand has\n%s", strings.Join(missing(before, after), "\n"), strings.Join(missing(after, before), "\n"))
	}
	rows, err := there.sealedIn(ctx, there.db)
	there.must(err)
	for _, row := range rows {
		if holds := there.journal.Vouch().Holds(ctx, row); row.Tenant == made.ID && holds == slices.Contains(in.Doubt, row.Subject) {
			t.Errorf("that the journal vouches for %s is %v", row.Subject, holds)
		}
	}
	there.unplant(made.ID, words, documents...)
	confirmedOnArrival(t, there, made.ID, token, words)

	// The journal that it had goes with it, and verifies by itself.
	var former bytes.Buffer
	there.must(there.db.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query("SELECT lines FROM journal_former WHERE tenant = ? ORDER BY part", made.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var part []byte
			if err := rows.Scan(&part); err != nil {
				return err
			}
			former.Write(part)
		}
		return rows.Err()
	}))
	var anchor journal.Anchor
	here.must(here.Call(ctx, "audit.anchor", nil, &anchor))
	report, err := journal.VerifyExport(&former, anchor.Key, nil)
	there.must(err)
	if !report.OK || report.Size == 0 {
		t.Errorf("its journal elsewhere: %+v", report)
	}
	there.refused("twice", there.presents("tenant.import", take), fault.Conflict)
	there.again()
	there.sound("after a start")

	// It goes again, with what it kept of where it was before.
	there.present("tenant.suspend", map[string]any{"name": "acme-two"}, nil)
	there.present("tenant.erase", map[string]any{"name": "acme-two", "confirm": "acme-two"}, nil)
	testenv.Eventually(t, "it is gone", time.Minute, func() bool {
		return fault.Is(there.WithPIN("246813").Call(ctx, "tenant.show", map[string]any{"name": "acme-two"}, nil), fault.NotFound)
	})
	there.refused("what was erased here for good", there.presents("tenant.import", take), fault.Conflict)
	if found := there.found(words); len(found) > 0 {
		t.Errorf("the words are still in\n%s", strings.Join(found, "\n"))
	}
}

// confirmedOnArrival has a person confirm what a tenant brings: until then nothing of it passes, and from then on all of it.
func confirmedOnArrival(t *testing.T, there *ward, tenant, token, words string) {
	ctx := t.Context()
	_, err := there.identity.Bearer(ctx, token, op.DoorHTTP)
	there.refused("a token that nobody confirmed", err, fault.Denied)
	there.refused("its return before that", there.presents("tenant.resume", map[string]any{"name": tenant}), fault.Conflict)
	there.sound("while it waits")
	there.again()
	there.sound("while it waits, after a start")
	var list journal.AdoptedOut
	there.present("audit.adopted", nil, &list)
	if !slices.ContainsFunc(list.Rows, func(r journal.AdoptedRow) bool { return strings.Contains(r.What, "a"+words) }) {
		t.Errorf("shown for confirmation: %+v", list.Rows)
	}
	there.present("audit.confirm", journal.ConfirmIn{Digest: list.Digest}, nil)
	there.present("tenant.resume", map[string]any{"name": tenant}, nil)
	_, err = there.identity.Bearer(ctx, token, op.DoorHTTP)
	there.refused("its token", err)
	ana := there.within(tenant, "ana")
	got, err := there.calls(ana, "resource.get", map[string]any{"key": words + "/x"})
	there.must(err)
	if !strings.Contains(fmt.Sprint(got), words) {
		t.Errorf("its resource is %v", got)
	}
	there.must(there.rooms.secret.Lend(ctx, tenant, "s"+words, func(value []byte) error {
		if string(value) != "v"+words {
			t.Errorf("its secret is %q", value)
		}
		return nil
	}))
	own, err := peer.Key(there.file(spaceKey))
	there.must(err)
	there.must(there.db.Write(ctx, func(tx *db.Tx) error { // the house there has no seat: these are the tenant's
		n, err := peer.Reseal(tx, own, own)
		if n == 0 {
			t.Error("its seat in a space does not open")
		}
		return err
	}))
	_, err = there.calls(ana, "grant.add", map[string]any{"principal": "agent:a" + words, "resource": "resource:/more",
		"permissions": []string{"view"}})
	there.refused("a grant", err)
	there.sound("when it works")
}

// missing are the lines of a that b has not.
func missing(a, b []string) (out []string) {
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, l)
		}
	}
	return out
}

// unlocked is everything in a tenant's file.
func unlocked(t *testing.T, path, passphrase string) string {
	t.Helper()
	r, err := backup.Open(path, backup.Secret{Passphrase: passphrase})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all strings.Builder
	for {
		e, content, err := r.Next()
		if err != nil {
			return all.String()
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(content); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n%s\n", e.Name, text.String())
	}
}
