package daemon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/backup"
	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// frozen are data folders that earlier programs wrote, oldest first. A file is
// never made again: TANDEM_FREEZE=v0.1.0 makes the one of a release, once.
var frozen = []string{"first-schema", "v0.1.0", "v0.2.0"}

func frozenFile(name string) string { return filepath.Join("testdata", name+".tar.gz") }

// frozenKept is what a data folder of the first schema consists of.
var frozenKept = []string{"tandem.db", "journal.key", "secret.key", "space.key"}

// Every later program starts on a data folder that an earlier one wrote, with
// everything in it, and with a copy of it from before.
func TestStartsOnWhatEarlierProgramsWrote(t *testing.T) {
	if name := os.Getenv("TANDEM_FREEZE"); name != "" {
		freeze(t, testenv.Dir(t), frozenFile(name))
	}
	for _, name := range frozen {
		t.Run(name, func(t *testing.T) { startsOn(t, frozenFile(name)) })
	}
}

func startsOn(t *testing.T, file string, also ...func(*testing.T, *Daemon, *client.Client)) {
	home := testenv.Dir(t)
	data := filepath.Join(home, ".tandem")
	unpack(t, file, data)
	d, c := runAt(t, home)
	copies, err := filepath.Glob(filepath.Join(data, "before-migrating-*.backup"))
	if err != nil || len(copies) > 1 || (len(copies) == 0 && file == frozenFile(frozen[0])) {
		t.Errorf("copies made before migrating: %v, %v", copies, err)
	}
	for _, path := range copies {
		t.Run("its copy", func(t *testing.T) { restores(t, path) })
	}
	var got struct {
		Value string
		Rev   int64
	}
	if err := c.Call(t.Context(), "resource.get", map[string]any{"key": "kept/value"}, &got); err != nil ||
		got.Value != "from the first schema" || got.Rev != 2 {
		t.Errorf("the key: %+v, %v", got, err)
	}
	if err := c.WithPIN("246813").Call(t.Context(), "token.list", nil, nil); err != nil {
		t.Errorf("the PIN: %v", err)
	}
	report, err := d.journal.Verify(t.Context(), nil)
	if err != nil || !report.OK {
		t.Errorf("the journal: %+v, %v", report, err)
	}
	for _, look := range also {
		look(t, d, c)
	}
	adopted(t, d, c)
	if err := c.Call(t.Context(), "resource.put", map[string]any{"key": "kept/value", "value": "and on", "if_match_rev": 2}, nil); err != nil {
		t.Errorf("going on: %v", err)
	}
}

// adopted looks whether what there was before the journal vouched for anything is listed, works, and is confirmed once.
func adopted(t *testing.T, d *Daemon, c *client.Client) {
	t.Helper()
	list, err := d.journal.Adopted(op.WithCaller(t.Context(), d.system()))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range list.Rows {
		all = append(all, r.What)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"the PIN of act_owner", "the agent builder", "the token tok_api"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not wait to be confirmed:\n%s", want, text)
		}
	}
	// What somebody adds from now on is not adopted with it.
	err = d.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO actor SELECT tenant, 'act_smuggled', 'person', 'smuggled', '', created_at, " +
			"0 FROM actor WHERE name = 'builder'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if known, err := d.journal.Recall(t.Context(), d.sealsFile()); !known || err != nil {
		t.Errorf("the next start would adopt again: %v", err)
	}
	if _, err := d.identity.Actor(t.Context(), identity.LocalTenant, "smuggled"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a person who was written into the database: %v", err)
	}
	confirm := func(digest string) error {
		return c.WithPIN("246813").Call(t.Context(), "audit.confirm", map[string]any{"digest": digest}, nil)
	}
	if err := confirm("another"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a list that nobody looked at: %v", err)
	}
	if err := c.Call(t.Context(), "audit.confirm", map[string]any{"digest": list.Digest}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("confirmed by a program: %v", err)
	}
	if err := confirm(list.Digest); err != nil || d.journal.Waiting() != 0 {
		t.Errorf("confirming: %v, %d wait", err, d.journal.Waiting())
	}
}

// Copies of the form that releases up to v0.2.0 wrote are restored: this one v0.2.0 made before it migrated what v0.1.0 had left.
func TestRestoresACopyThatAnEarlierReleaseMade(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("testdata", "v0.2.0.backup"))
	if err != nil {
		t.Fatal(err)
	}
	if backup.IsCopy(path) {
		t.Fatal("it is of the present form")
	}
	restores(t, path)
}

// restores starts a new house on a copy, as tandem server restore does where nothing runs, and looks whether everything is there.
func restores(t *testing.T, path string) {
	home := testenv.Dir(t)
	confirm := func(l Look, whose string, right func(pin string) bool) error {
		if whose != "the copy" || right("135792") || !right("246813") || l.Rows == 0 || len(l.Authority) == 0 {
			t.Errorf("shown of the copy: %+v, the PIN of %q", l, whose)
		}
		return nil
	}
	if _, err := Replace(t.Context(), settingsAt(t, home), "test", RestoreIn{Path: path}, confirm); err != nil {
		t.Fatal(err)
	}
	d, c := runAt(t, home)
	var got struct{ Value string }
	if err := c.Call(t.Context(), "resource.get", map[string]any{"key": "kept/value"}, &got); err != nil ||
		got.Value != "from the first schema" {
		t.Errorf("the key: %+v, %v", got, err)
	}
	if report, err := d.journal.Verify(t.Context(), nil); err != nil || !report.OK {
		t.Errorf("the journal: %+v, %v", report, err)
	}
}

func settingsAt(t *testing.T, home string) *settings.Settings {
	t.Helper()
	s, err := settings.Load(map[string]string{"secret_keeper": "file"}, []string{"HOME=" + home})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func runAt(t *testing.T, home string) (*Daemon, *client.Client) {
	t.Helper()
	ready := make(chan struct{})
	d := &Daemon{Settings: settingsAt(t, home), Version: "test", OnDemand: true, Ready: func(*Daemon) { close(ready) }}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("it did not start: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("it did not become ready")
	}
	return d, client.Socket(SocketPath(filepath.Join(home, ".tandem"), ""))
}

func unpack(t *testing.T, file, data string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, filepath.Base(h.Name)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// freeze writes a data folder of this program into a file.
func freeze(t *testing.T, home, file string) {
	if _, err := os.Stat(file); err == nil {
		t.Fatalf("%s exists: what is frozen is not made again", file)
	}
	t.Run("fill", func(t *testing.T) {
		_, c := runAt(t, home)
		for i := range 300 { // more than one tile of the journal
			if err := c.Call(t.Context(), "resource.put", map[string]any{"key": "many/one", "value": i}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range []string{"first", "from the first schema"} {
			if err := c.Call(t.Context(), "resource.put", map[string]any{"key": "kept/value", "value": v}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Call(t.Context(), "pin.set", map[string]any{"pin": "246813"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.WithPIN("246813").Call(t.Context(), "actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil); err != nil {
			t.Fatal(err)
		}
	})
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	files := tar.NewWriter(zip)
	for _, name := range frozenKept {
		content, err := os.ReadFile(filepath.Join(home, ".tandem", name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(files.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zip.Close(), os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}
