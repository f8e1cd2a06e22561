package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret/wire"
	"tandem/internal/testenv"
)

func openDB(t *testing.T, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	return d
}

func newRoom(t *testing.T, d *db.DB, folder, mode string) *Room {
	t.Helper()
	keepers, err := Keepers(folder, mode)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(t.Context(), d, keepers, NewRedactor(), nothingSeen)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exam runs one test on every database that secrets live in.
func exam(t *testing.T, test func(t *testing.T, d *db.DB, folder string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, openDB(t, filepath.Join(t.TempDir(), "a.db")), t.TempDir())
	})
	t.Run("postgres", func(t *testing.T) { test(t, openDB(t, testenv.Postgres(t)), t.TempDir()) })
}

func put(t *testing.T, r *Room, tenant, name, value string) wire.Info {
	t.Helper()
	var info wire.Info
	err := r.db.Write(t.Context(), func(tx *db.Tx) (err error) {
		info, err = r.Put(tx, tenant, name, value, "owner")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func lent(t *testing.T, r *Room, tenant, name string) (string, error) {
	t.Helper()
	var got string
	err := r.Lend(t.Context(), tenant, name, func(v []byte) error { got = string(v); return nil })
	return got, err
}

func TestLentAndWiped(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, folder string) {
		r := newRoom(t, d, folder, "file")
		put(t, r, "ten_a", "provider/openai", plain)
		var kept []byte
		err := r.Lend(t.Context(), "ten_a", "provider/openai", func(v []byte) error {
			kept = v
			return fmt.Errorf("the call said: %s is wrong", v)
		})
		if err == nil || strings.Contains(err.Error(), plain) || !strings.Contains(err.Error(), "[secret: ") {
			t.Errorf("the error of a call: %v", err)
		}
		if len(kept) == 0 || !bytes.Equal(kept, make([]byte, len(kept))) {
			t.Error("the value was not wiped after the call")
		}
		if _, err := lent(t, r, "ten_b", "provider/openai"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("another tenant: %v", err)
		}
		again := newRoom(t, d, folder, "auto")
		if v, err := lent(t, again, "ten_a", "provider/openai"); err != nil || v != plain {
			t.Errorf("after a restart: %q, %v", v, err)
		}
		fresh := newRoom(t, d, folder, "file")
		if s := fresh.redact.String("say " + plain); s != "say [secret: provider/openai]" {
			t.Errorf("a fresh start does not know the secret: %s", s)
		}
		if info := put(t, r, "ten_a", "provider/openai", plain+"2"); info.Version != 2 {
			t.Errorf("version %d", info.Version)
		}
	})
}

func TestNothingInTheDatabaseShowsIt(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.db")
	d := openDB(t, path)
	r := newRoom(t, d, folder, "file")
	put(t, r, "ten_a", "x", plain)
	d.Close()
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, shape := range forms(plain) {
			if bytes.Contains(data, []byte(shape)) {
				t.Errorf("%q is in %s", shape, filepath.Base(name))
			}
		}
	}
	st, err := os.Stat(filepath.Join(folder, "secret.key"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", st.Mode(), err)
	}
}

// A sealed value opens only as what it was sealed for.
func TestMovedRowsDoNotOpen(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, folder string) {
		r := newRoom(t, d, folder, "file")
		for _, where := range [][2]string{{"ten_a", "x"}, {"ten_a", "y"}, {"ten_b", "x"}} {
			put(t, r, where[0], where[1], plain+where[0]+where[1])
		}
		for _, q := range []string{
			"UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE tenant = 'ten_a' AND name = 'y') WHERE tenant = 'ten_a' AND name = 'x'",
			"UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE tenant = 'ten_b' AND name = 'x') WHERE tenant = 'ten_a' AND name = 'x'",
			"UPDATE secret SET version = version + 1 WHERE tenant = 'ten_a'",
		} {
			if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(q); return err }); err != nil {
				t.Fatal(err)
			}
			if v, err := lent(t, r, "ten_a", "x"); err == nil || fault.KindOf(err) != fault.Unavailable {
				t.Errorf("after %s it opens: %q, %v", q, v, err)
			}
		}
	})
}

func TestRotation(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, folder string) {
		r := newRoom(t, d, folder, "file")
		for i := range 20 {
			put(t, r, "ten_a", fmt.Sprint("s", i), fmt.Sprint(plain, i))
		}
		before, err := os.ReadFile(filepath.Join(folder, "secret.key"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := r.Rotate(t.Context(), "ten_a")
		if err != nil || n != 20 {
			t.Fatalf("sealed %d anew, %v", n, err)
		}
		after, err := os.ReadFile(filepath.Join(folder, "secret.key"))
		if err != nil || bytes.Equal(before, after) || bytes.Count(after, []byte("\n")) != 1 {
			t.Fatalf("the key file after rotating:\n%s%v", after, err)
		}
		put(t, r, "ten_b", "x", plain)
		if n, err := r.Rotate(t.Context(), "ten_b"); err != nil || n != 1 {
			t.Fatalf("another tenant's rotation sealed %d anew, %v", n, err)
		}
		for _, room := range []*Room{r, newRoom(t, d, folder, "file")} {
			if v, err := lent(t, room, "ten_a", "s7"); err != nil || v != plain+"7" {
				t.Errorf("%q, %v", v, err)
			}
		}
		// The old key opens nothing any more.
		if err := os.WriteFile(filepath.Join(folder, "secret.key"), before, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := lent(t, newRoom(t, d, folder, "file"), "ten_a", "s7"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("with the old key: %v", err)
		}
	})
}

// A rotation that is cut off at any step leaves every secret readable and,
// after the next start, no key behind.
func TestRotationCutOff(t *testing.T) {
	folder := t.TempDir()
	d := openDB(t, filepath.Join(folder, "a.db"))
	r := newRoom(t, d, folder, "file")
	put(t, r, "ten_a", "x", plain)
	if _, err := r.makeKey(t.Context()); err != nil { // cut off before anything was sealed anew
		t.Fatal(err)
	}
	again := newRoom(t, d, folder, "file")
	if v, err := lent(t, again, "ten_a", "x"); err != nil || v != plain {
		t.Fatalf("%q, %v", v, err)
	}
	keys, err := os.ReadFile(filepath.Join(folder, "secret.key"))
	if err != nil || bytes.Count(keys, []byte("\n")) != 1 {
		t.Errorf("keys left behind: %d, %v", bytes.Count(keys, []byte("\n")), err)
	}
}

func TestKeyFilesThatOthersMayReadAreRefused(t *testing.T) {
	folder := t.TempDir()
	d := openDB(t, filepath.Join(folder, "a.db"))
	r := newRoom(t, d, folder, "file")
	put(t, r, "ten_a", "x", plain)
	if err := os.Chmod(filepath.Join(folder, "secret.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := lent(t, newRoom(t, d, folder, "file"), "ten_a", "x"); err == nil || !strings.Contains(err.Error(), "others") {
		t.Errorf("%v", err)
	}
}

func TestBadNamesAndValuesChangeNothing(t *testing.T) {
	d := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	r := newRoom(t, d, t.TempDir(), "file")
	ctx := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Actor: "a", Name: "owner"}),
		func(string, op.Resource) bool { return true })
	for _, bad := range [][2]string{{"", plain}, {"../x", plain}, {"a//b", plain}, {"/a", plain}, {"a b", plain},
		{strings.Repeat("a", 129), plain},
		{"x", ""}, {"x", "short"}, {"x", strings.Repeat(" ", 20)}, {"x", strings.Repeat("y", wire.MaxValue+1)}} {
		in := wire.SetIn{Name: bad[0], Value: bad[1]}
		err := d.Write(ctx, func(tx *db.Tx) error { _, err := r.set(ctx, tx, in); return err })
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.20q %.20q: %v", in.Name, in.Value, err)
		}
	}
	if out, err := r.list(ctx, struct{}{}); err != nil || len(out.Secrets) != 0 || out.Keeper != "file" {
		t.Errorf("%+v %v", out, err)
	}
}

// What a person who is present stores is struck from everybody's record, and nobody else replaces or deletes it.
func TestWhatAPersonStoredIsStruckForAll(t *testing.T) {
	d := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	r := newRoom(t, d, t.TempDir(), "file")
	person := op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Name: "owner", Kind: op.Person, Present: "pin"})
	program := op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Name: "local", Kind: op.Local})
	if err := d.Write(person, func(tx *db.Tx) error {
		info, err := r.set(person, tx, wire.SetIn{Name: "key", Value: "correct-horse-battery"})
		if info.Struck != struckAll {
			t.Errorf("it is struck from %q", info.Struck)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := r.redact.For("builder").String("it is correct-horse-battery"); got != "it is [secret: key]" {
		t.Errorf("an agent's record says: %s", got)
	}
	for what, act := range map[string]func(ctx context.Context, tx *db.Tx) error{
		"replaced": func(ctx context.Context, tx *db.Tx) error {
			_, err := r.set(ctx, tx, wire.SetIn{Name: "key", Value: "another-value"})
			return err
		},
		"deleted": func(ctx context.Context, tx *db.Tx) error {
			_, err := r.remove(ctx, tx, wire.NameIn{Name: "key"})
			return err
		},
		"spread": func(ctx context.Context, tx *db.Tx) error {
			_, err := r.set(ctx, tx, wire.SetIn{Name: "other", Value: "another-value", All: true})
			return err
		},
	} {
		if err := d.Write(program, func(tx *db.Tx) error { return act(program, tx) }); !fault.Is(err, fault.Denied) {
			t.Errorf("a program %s it: %v", what, err)
		}
	}
	if err := d.Write(program, func(tx *db.Tx) error {
		_, err := r.set(program, tx, wire.SetIn{Name: "own", Value: "a program's own"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if a, b := r.redact.For("local").String("a program's own"), r.redact.For("builder").String("a program's own"); a != "[secret: own]" ||
		b != "a program's own" {
		t.Errorf("the setter's record says %q, another's %q", a, b)
	}
}

func nothingSeen(*db.Tx, string, string) (bool, error) { return false, nil }

func TestOperations(t *testing.T) {
	d := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	r := newRoom(t, d, t.TempDir(), "file")
	var table op.Table
	if err := table.Add(r.Ops()...); err != nil {
		t.Fatal(err)
	}
	in, err := table.Get("secret.set").Redacted(wire.SetIn{Name: "x", Value: plain})
	if err != nil || strings.Contains(string(in), "s3cr3t") {
		t.Errorf("the input as it is recorded: %s, %v", in, err)
	}
	for _, name := range []string{"secret.unmask", "secret.rotate"} {
		if o := table.Get(name); !o.Present || !o.People || o.ToolName() != "" {
			t.Errorf("%s is open to those who are not a person present", name)
		}
	}
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Name: "owner"})
	see := op.WithMay(ctx, func(_ string, r op.Resource) bool { return r.Path == "/x" })
	for _, name := range []string{"x", "hidden"} {
		put(t, r, "ten_a", name, plain)
	}
	if out, err := r.list(see, struct{}{}); err != nil || len(out.Secrets) != 1 || out.Secrets[0].Name != "x" {
		t.Errorf("list: %+v %v", out, err)
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		out, err := r.unmask(ctx, tx, wire.NameIn{Name: "x"})
		if err == nil && out.Value != plain {
			t.Errorf("unmasked %q", out.Value)
		}
		if _, err := r.remove(ctx, tx, wire.NameIn{Name: "x"}); err != nil {
			return err
		}
		if _, err := r.remove(ctx, tx, wire.NameIn{Name: "x"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("deleted twice: %v", err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The keyring of a real session, in a session of its own.
func TestKeyring(t *testing.T) {
	if os.Getenv("TANDEM_INSIDE_KEYRING") != "" {
		insideKeyring(t)
		return
	}
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is missing: run make test-tools", program)
		}
	}
	const session = `printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" ` +
		`-test.run '^TestKeyring$' -test.v`
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c", session, os.Args[0])
	home := testenv.Dir(t)
	cmd.Env = testenv.Env(t, "TANDEM_INSIDE_KEYRING=1", "XDG_RUNTIME_DIR="+home, "XDG_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS: TestKeyring")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func insideKeyring(t *testing.T) {
	folder := t.TempDir()
	d := openDB(t, filepath.Join(folder, "a.db"))
	r := newRoom(t, d, folder, "auto")
	if where, err := r.Keeper(t.Context()); err != nil || where != "keyring" {
		t.Fatalf("the key is in the %s, %v", where, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "secret.key")); err == nil {
		t.Error("there is a key file beside the keyring")
	}
	put(t, r, "ten_a", "x", plain)
	if n, err := r.Rotate(t.Context(), "ten_a"); err != nil || n != 1 {
		t.Fatalf("rotate: %d, %v", n, err)
	}
	if v, err := lent(t, newRoom(t, d, folder, "auto"), "ten_a", "x"); err != nil || v != plain {
		t.Fatalf("%q, %v", v, err)
	}
	// Without the session the key is not made anew: that would lose the secret.
	keepers, err := Keepers(folder, "file")
	if err != nil {
		t.Fatal(err)
	}
	gone := []Keeper{keepers[0], unreachable{}}
	cut, err := New(t.Context(), d, gone, NewRedactor(), nothingSeen)
	if err != nil {
		t.Fatalf("the program does not start without the keyring: %v", err)
	}
	if _, err := lent(t, cut, "ten_a", "x"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "keyring") {
		t.Errorf("without the keyring: %v", err)
	}
}

// unreachable is the keyring of a session that has ended.
type unreachable struct{ ringKeeper }

func (unreachable) Load(string) ([]byte, error) { return nil, errors.New("no session") }
func (unreachable) Delete(string) error         { return errors.New("no session") }
