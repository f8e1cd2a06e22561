package daemon

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// kept runs daemons one after the other on one data folder.
type kept struct {
	t        *testing.T
	settings *settings.Settings
	d        *Daemon
	ended    chan error
	cancel   context.CancelFunc
	lease    time.Duration
}

func keptAt(t *testing.T, database string) *kept {
	t.Helper()
	s, err := settings.Load(map[string]string{"data": filepath.Join(testenv.Dir(t), "data"), "database": database, "secret_keeper": "file",
		"listen": "127.0.0.1:0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, settings: s}
	k.start()
	t.Cleanup(func() { k.stop() })
	return k
}

func (k *kept) start() {
	k.t.Helper()
	ready := make(chan struct{})
	ended := make(chan error, 1)
	k.ended = ended
	k.d = &Daemon{Settings: k.settings, Version: "test", Lease: k.lease, Ready: func(*Daemon) { close(ready) }}
	var ctx context.Context
	ctx, k.cancel = context.WithCancel(context.Background())
	d := k.d
	go func() { ended <- d.Run(ctx); close(ended) }() // whoever stops it twice does not wait
	select {
	case <-ready:
	case err := <-ended:
		k.t.Fatal(err)
	}
}

func (k *kept) stop() error { k.cancel(); return <-k.ended }

// ctx is the owner of the tenant, present.
func (k *kept) ctx() context.Context {
	c, err := k.d.identity.Caller(k.t.Context(), identity.LocalTenant, identity.Owner, op.DoorSocket)
	if err != nil {
		k.t.Fatal(err)
	}
	c.Present = "pin"
	return op.WithCaller(k.t.Context(), c)
}

func (k *kept) do(name string, in any) (any, error) { return k.d.gate.Invoke(k.ctx(), name, in) }

func (k *kept) must(name string, in any) any {
	k.t.Helper()
	out, err := k.do(name, in)
	if err != nil {
		k.t.Fatalf("%s: %v", name, err)
	}
	return out
}

type obj = map[string]any

// A copy of one server becomes another one, on either database: keys, secrets
// and a journal that verifies; what came after the copy is gone, and kept
// aside.
func TestACopyBecomesAnotherServer(t *testing.T) {
	databases := map[string]func(*testing.T) string{"sqlite": func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return testenv.Postgres(t) }}
	for from, a := range databases {
		t.Run("from "+from, func(t *testing.T) {
			path := copied(t, keptAt(t, a(t)))
			for to, b := range databases {
				t.Run("to "+to, func(t *testing.T) { becomes(t, path, keptAt(t, b(t))) })
			}
		})
	}
}

func copied(t *testing.T, source *kept) string {
	source.must("resource.put", obj{"key": "a/b", "value": "old"})
	source.must("secret.set", obj{"name": "x", "value": "hunter2-hunter2"})
	path := filepath.Join(testenv.Dir(t), "copy")
	out := source.must("server.backup", BackupIn{Path: path}).(BackupOut)
	if st, err := os.Stat(path); err != nil || st.Size() != out.Bytes || st.Mode().Perm() != 0o600 || out.Rows == 0 {
		t.Fatalf("the copy: %v, %+v, %v", st, out, err)
	}
	if _, err := source.do("server.backup", BackupIn{Path: path}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("over another copy: %v", err)
	}
	return path
}

func becomes(t *testing.T, path string, target *kept) {
	target.must("resource.put", obj{"key": "newer", "value": "lost"})
	target.must("server.restore", RestoreIn{Path: path})
	if err := <-target.ended; !errors.Is(err, ErrRestart) {
		t.Fatalf("the daemon ended with %v", err)
	}
	target.start()
	target.must("resource.get", obj{"key": "a/b"})
	if _, err := target.do("resource.get", obj{"key": "newer"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("what was there before: %v", err)
	}
	var secret string
	if err := target.d.rooms.secret.Lend(t.Context(), identity.LocalTenant, "x", func(v []byte) error {
		secret = string(v)
		return nil
	}); err != nil || secret != "hunter2-hunter2" {
		t.Errorf("the secret: %q, %v", secret, err)
	}
	rep, err := target.d.journal.Verify(t.Context(), nil)
	if err != nil || !rep.OK {
		t.Errorf("the journal: %+v, %v", rep, err)
	}
	aside, err := filepath.Glob(filepath.Join(target.settings.Data(), "before-restore-*.backup"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("kept aside: %v, %v", aside, err)
	}
	target.must("server.restore", RestoreIn{Path: aside[0]}) // a restore can be undone
	if err := <-target.ended; !errors.Is(err, ErrRestart) {
		t.Fatalf("the daemon ended with %v", err)
	}
	target.start()
	target.must("resource.get", obj{"key": "newer"})
}

// A copy that was put in place for this start and does not load leaves the keys alone: they fit what there is.
func TestAStuckRestoreKeepsTheKeys(t *testing.T) {
	k, other := keptAt(t, ""), keptAt(t, "")
	copied := filepath.Join(testenv.Dir(t), "copy")
	other.must("server.backup", BackupIn{Path: copied})
	key := filepath.Join(k.settings.Data(), "journal.key")
	before, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	yes := func(Look, string, func(string) bool) error { return nil }
	if _, err := Replace(t.Context(), k.settings, "test", RestoreIn{Path: copied}, yes); err != nil {
		t.Fatal(err)
	}
	pending := filepath.Join(k.settings.Data(), "restore.pending")
	st, err := os.Stat(pending)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(pending, st.Size()-20); err != nil { // its beginning is whole: what is wrong is found at its end
		t.Fatal(err)
	}
	err = (&Daemon{Settings: k.settings, Version: "test"}).Run(t.Context())
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Public(err).Next, pending) {
		t.Errorf("the start: %v", err)
	}
	if after, err := os.ReadFile(key); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the journal's key was replaced, %v", err)
	}
}

// A damaged copy is refused while everything goes on.
func TestDamagedCopiesAreRefused(t *testing.T) {
	k := keptAt(t, "")
	dir := testenv.Dir(t)
	path := filepath.Join(dir, "copy")
	k.must("server.backup", BackupIn{Path: path})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"empty": {}, "cut": data[:len(data)-20], "half": data[:len(data)/2], "text": []byte("hello")} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := k.do("server.restore", RestoreIn{Path: file}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := k.do("server.restore", RestoreIn{Path: filepath.Join(dir, "none")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no file: %v", err)
	}
	if _, err := k.do("server.backup", BackupIn{Path: "relative"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a relative path: %v", err)
	}
	k.must("resource.put", obj{"key": "still", "value": "here"})
}
