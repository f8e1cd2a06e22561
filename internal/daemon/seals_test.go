package daemon

import (
	"cmp"
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// ward is a daemon whose database somebody else writes to.
type ward struct {
	t    *testing.T
	home string
	dsn  string
	hash string // of a first PIN, in the settings
	repo string // a folder that it serves
	*Daemon
	*client.Client
	end func()
}

func newWard(t *testing.T, dsn string) *ward {
	w := &ward{t: t, home: testenv.Dir(t), dsn: dsn}
	w.start()
	t.Cleanup(func() { w.end() })
	w.must(w.Call(t.Context(), "pin.set", map[string]any{"pin": "246813"}, nil))
	if n := w.journal.Waiting(); n != 0 {
		t.Errorf("in a new house %d rows wait to be confirmed", n)
	}
	return w
}

func (w *ward) start() {
	w.t.Helper()
	s, err := settings.Load(map[string]string{"secret_keeper": "file", "database": w.dsn, "pin_hash": w.hash,
		"repos": w.repo}, []string{"HOME=" + w.home})
	w.must(err)
	ready, ended := make(chan struct{}), make(chan error, 1)
	w.Daemon = &Daemon{Settings: s, Version: "test", OnDemand: true, Ready: func(*Daemon) { close(ready) }}
	ctx, cancel := context.WithCancel(context.Background())
	run := w.Daemon
	go func() { ended <- run.Run(ctx) }()
	w.end = func() { cancel(); <-ended; w.end = func() {} }
	select {
	case <-ready:
	case err := <-ended:
		w.t.Fatalf("it did not start: %v", err)
	case <-time.After(60 * time.Second):
		w.t.Fatal("it did not become ready")
	}
	w.Client = client.Socket(SocketPath(filepath.Join(w.home, ".tandem"), ""))
}

// again ends the daemon and starts it anew, with what somebody did to its database meanwhile.
func (w *ward) again(meanwhile ...string) {
	w.t.Helper()
	w.end()
	d, err := db.Open(w.t.Context(), cmp.Or(w.dsn, w.db.Path()), nil)
	w.must(err)
	typed(w.t, d, meanwhile...)
	w.must(d.Close())
	w.start()
}

func (w *ward) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// sql is what an administrator of the database types while the server runs.
func (w *ward) sql(queries ...string) { w.t.Helper(); typed(w.t, w.db, queries...) }

func typed(t *testing.T, d *db.DB, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(q); return err }); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *ward) present(name string, in, out any) {
	w.t.Helper()
	w.must(w.WithPIN("246813").Call(w.t.Context(), name, in, out))
}

// finds is what audit verify lists.
func (w *ward) finds() string {
	w.t.Helper()
	r, err := w.journal.Verify(w.t.Context(), nil)
	w.must(err)
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.What)
	}
	return strings.Join(all, "\n")
}

func (w *ward) told(text string) {
	w.t.Helper()
	if said := w.finds(); !strings.Contains(said, text) {
		w.t.Errorf("verify should say %q, and says:\n%s", text, said)
	}
}

func (w *ward) bearer(secret string) error {
	_, err := w.identity.Bearer(w.t.Context(), secret, op.DoorHTTP)
	return err
}

// confers fails the test if a token is worth anything but what it was given for. A running server may remember whom it was given to,
// or refuse a row that says otherwise.
func (w *ward) confers(secret string, given op.Caller, what string) {
	w.t.Helper()
	c, err := w.identity.Bearer(w.t.Context(), secret, op.DoorHTTP)
	c.Request, c.Since = given.Request, given.Since
	if err == nil && !reflect.DeepEqual(c, given) || err != nil && !fault.Is(err, fault.Unauthenticated) {
		w.t.Errorf("%s: %+v %v", what, c, err)
	}
}

func (w *ward) effect(actor, right, resource string) string {
	w.t.Helper()
	var out struct{ Effect, By string }
	w.present("policy.explain", map[string]any{"actor": actor, "right": right, "resource": resource}, &out)
	return out.Effect
}

func wards(t *testing.T, test func(w *ward)) {
	t.Run("sqlite", func(t *testing.T) { test(newWard(t, "")) })
	t.Run("postgres", func(t *testing.T) { test(newWard(t, testenv.Postgres(t))) })
}

// Whoever could write to the database, as the administrator of a PostgreSQL can, gave grants, made tokens, people and PINs, and
// took denials away, and audit verify called the journal sound.
func TestARowConfersNothing(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var token struct{ ID, Secret string }
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.present("token.new", map[string]any{"actor": "builder"}, &token)
		builder, err := w.identity.Bearer(ctx, token.Secret, op.DoorHTTP)
		w.must(err)
		var given, denial struct{ ID string }
		grant := map[string]any{"principal": "agent:builder", "resource": "folder:/code", "permissions": []string{"edit"}}
		w.present("grant.add", grant, &given)
		grant["effect"], grant["resource"] = "deny", "folder:/code/priv"
		w.present("grant.add", grant, &denial)
		w.present("policy.edit",
			map[string]any{"rules": `@id("quiet") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/lock");`}, nil)
		if said := w.finds(); said != "" {
			t.Fatalf("a house that nobody touched: %s", said)
		}

		// Tokens and actors, in the running server.
		w.sql("UPDATE token SET decides = 1, actor = 'act_owner' WHERE id = '" + token.ID + "'")
		w.confers(token.Secret, builder, "a token given to the owner")
		w.told("the token " + token.ID)
		w.sql("UPDATE token SET decides = 0, actor = (SELECT id FROM actor WHERE name = 'builder') WHERE id = '" + token.ID + "'")
		w.must(w.bearer(token.Secret))
		w.sql("UPDATE actor SET kind = 'person' WHERE name = 'builder'")
		w.confers(token.Secret, builder, "an agent made a person")
		w.told("the person builder")
		w.sql("UPDATE actor SET kind = 'agent', acts_for = '' WHERE name = 'builder'")
		w.confers(token.Secret, builder, "an agent that acts for nobody")
		w.sql("UPDATE actor SET acts_for = 'act_owner' WHERE name = 'builder'")
		w.must(w.bearer(token.Secret))
		w.present("token.revoke", map[string]any{"id": token.ID}, nil)
		w.sql("UPDATE token SET revoked_at = 0 WHERE id = '" + token.ID + "'")
		if err := w.bearer(token.Secret); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a revoked token that was put back: %v", err)
		}
		w.told("the token " + token.ID)
		w.sql("DELETE FROM journal_seal WHERE subject = 'token:" + token.ID +
			"' AND seq = (SELECT max(seq) FROM journal_seal WHERE subject = 'token:" + token.ID + "')")
		if err := w.bearer(token.Secret); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a revoked token whose revocation was taken out: %v", err)
		}
		w.told("its seal is gone")
		w.again()
		if said := strings.Join(w.journal.Broken(), "\n"); !strings.Contains(said, "missing") {
			t.Errorf("at the next start: %q", said)
		}
		if err := w.Call(ctx, "resource.put", map[string]any{"key": "a", "value": "b"}, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("a program acts although nobody knows what was taken back: %v", err)
		}
		w.sql("UPDATE token SET revoked_at = 1 WHERE id = '" + token.ID + "'")
		w.confirm()
		w.present("token.new", map[string]any{"actor": "builder"}, nil)
		w.must(w.Call(ctx, "resource.put", map[string]any{"key": "a", "value": "b"}, nil))
	})
}

// confirm is a person who looks at the list and says that it is right.
func (w *ward) confirm() {
	w.t.Helper()
	var list struct {
		Rows   []struct{ Subject, What string }
		Digest string
	}
	w.must(w.WithPIN("246813").Call(w.t.Context(), "audit.adopted", nil, &list))
	w.present("audit.confirm", map[string]any{"digest": list.Digest}, nil)
}

// A policy is what the journal vouches for, whatever its rows say at the next start.
func TestADenialOutlivesItsRow(t *testing.T) {
	wards(t, func(w *ward) {
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		var given, denial struct{ ID string }
		grant := map[string]any{"principal": "agent:builder", "resource": "folder:/code", "permissions": []string{"edit"}}
		w.present("grant.add", grant, &given)
		grant["effect"], grant["resource"] = "deny", "folder:/code/priv"
		w.present("grant.add", grant, &denial)
		w.present("policy.edit",
			map[string]any{"rules": `@id("quiet") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/lock");`}, nil)
		is := func(how, right, resource, want string) {
			t.Helper()
			if got := w.effect("builder", right, resource); got != want {
				t.Errorf("%s: %s of %s is %s, not %s", how, right, resource, got, want)
			}
		}
		is("as given", "folder.write", "/code/x", "allow")
		is("as given", "folder.write", "/code/priv/x", "deny")
		is("as given", "resource.write", "/lock/x", "deny")

		w.again("UPDATE policy_grant SET revoked_version = 9, revoked_by = 'owner', revoked_at = 9", "UPDATE policy_head SET version = 1",
			`INSERT INTO policy_rules (tenant, version, rules, boundary) VALUES ('local', 99, '', '{}')`,
			`INSERT INTO policy_grant (tenant, id, body, added_version, added_by, added_at, revoked_version, revoked_by, revoked_at)
			 VALUES ('local', 'default-agent-keys', '', 0, '', 0, 1, 'owner', 1)`)
		is("rows that say revoked", "folder.write", "/code/x", "allow")
		is("rows that say revoked", "folder.write", "/code/priv/x", "deny")
		is("newer rules", "resource.write", "/lock/x", "deny")
		is("a house grant that nobody lifted", "folder.read", "/code/.env", "deny")
		w.told("the grant default-agent-keys")
		w.told("the rules of the policy")

		w.again("UPDATE policy_grant SET revoked_version = 0, revoked_by = '', revoked_at = 0 WHERE id LIKE 'grt_%'",
			"DELETE FROM policy_grant WHERE id = 'default-agent-keys'", "DELETE FROM policy_rules WHERE version = 99",
			"UPDATE policy_head SET version = 20",
			"INSERT INTO policy_grant SELECT tenant, 'grt_forged', replace(body, '"+given.ID+
				"', 'grt_forged'), added_version, added_by, added_at, 0, '', 0 FROM policy_grant WHERE id = '"+given.ID+"'",
			"UPDATE policy_grant SET body = replace(body, '/code', '/') WHERE id = 'grt_forged'")
		is("a forged grant", "folder.write", "/other", "ask")
		w.told("the grant grt_forged")

		w.present("grant.revoke", map[string]any{"id": given.ID}, nil)
		w.again("UPDATE policy_grant SET revoked_version = 0, revoked_by = '', revoked_at = 0 WHERE id = '"+given.ID+"'",
			"DELETE FROM policy_grant WHERE id = 'grt_forged'")
		is("a revoked grant that was put back", "folder.write", "/code/x", "ask")
		w.told("the grant " + given.ID)

		// Without the row of a denial nobody knows what it kept from whom: people act, others wait.
		w.again("DELETE FROM policy_grant WHERE id = '" + denial.ID + "'")
		w.told("the denial " + denial.ID + ", and it is gone")
		is("a denial that is gone", "folder.read", "/elsewhere", "deny")
		w.present("grant.revoke", map[string]any{"id": denial.ID}, nil)
		is("a denial that was taken back", "resource.read", "/elsewhere", "allow")
		is("a denial that was taken back", "resource.write", "/lock/x", "deny")
		w.again("UPDATE policy_rules SET rules = ''")
		is("rules that were emptied", "resource.read", "/elsewhere", "deny")
		w.present("policy.edit", map[string]any{"rules": ""}, nil)
		is("rules that were written again", "resource.read", "/elsewhere", "allow")
	})
}

// The PIN is trusted on first use. Taking its row away made the next program that came the first.
func TestAPINOutlivesItsRow(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.sql("UPDATE pin SET hash = (SELECT hash FROM pin) || '0'")
		if err := w.WithPIN("246813").Call(ctx, "token.list", nil, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("a PIN that was changed: %v", err)
		}
		w.again("DELETE FROM pin")
		if err := w.Call(ctx, "pin.set", map[string]any{"pin": "135792"}, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("a second first PIN: %v", err)
		}
		if err := w.WithPIN("246813").Call(ctx, "token.list", nil, nil); fault.Public(err).Data["reason"] != "forged" {
			t.Errorf("a PIN whose row is gone: %v", err)
		}
		w.told("the pin act_owner, and it is gone")
		var link struct{ Code string }
		w.must(w.Call(ctx, "signin.link", nil, &link))
		w.sql("UPDATE signin SET actor = 'act_local'")
		newcomer, err := w.identity.Caller(ctx, identity.LocalTenant, identity.Newcomer, op.DoorPanel)
		w.must(err)
		if _, err := w.gate.Invoke(op.WithCaller(ctx, newcomer), "signin.start", identity.StartIn{Code: link.Code}); !fault.Is(err,
			fault.Unauthenticated) {
			t.Errorf("a link for somebody else: %v", err)
		}
	})
}

// The hash that set a machine up stays in its settings. Whoever could write to the database took the person's PIN away, with every
// word about it, and the next start set the first one again.
func TestTheFirstPINComesOnce(t *testing.T) {
	wards(t, func(w *ward) {
		hash, err := identity.HashPIN("11112222")
		w.must(err)
		w.hash = hash
		w.again("DELETE FROM pin", "DELETE FROM journal_seal WHERE subject LIKE 'pin:%'")
		if err := w.WithPIN("11112222").Call(t.Context(), "token.list", nil, nil); err == nil {
			t.Error("the hash was taken, though words about authority are missing")
		}
		if len(w.journal.Broken()) == 0 {
			t.Error("nobody noticed that they are")
		}
	})
}
