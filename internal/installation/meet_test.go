package installation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
)

// Which parts make an installation, and what is said of those that do not.
func TestParts(t *testing.T) {
	ours := New(time.Unix(1, 0))
	ours.Database.Shown = "the database"
	keys := []string{"journal.key"}
	for name, c := range map[string]struct {
		found Found
		want  string // "" for a start
	}{
		"nothing at all":                 {Found{Empty: true}, ""},
		"all of one":                     {Found{Folder: ours, Base: ours.ID, Keys: keys}, ""},
		"from before there was identity": {Found{Keys: keys}, ""},
		"an older database put back":     {Found{Folder: ours, Keys: keys}, ""},
		"the folder's file is lost":      {Found{Base: ours.ID, Keys: keys}, ""},
		"another database":               {Found{Folder: ours, Base: "ins_x", Keys: keys}, "belongs to installation ins_x"},
		"its database is gone":           {Found{Folder: ours, Where: "the database", Empty: true, Keys: keys}, "empty or gone"},
		"an empty one elsewhere":         {Found{Folder: ours, Where: "elsewhere", Empty: true, Keys: keys}, "has its data in the database"},
		"keys without data":              {Found{Empty: true, Keys: keys}, "has the keys of an installation"},
		"data without keys":              {Found{Base: "ins_x"}, "whose keys are not in"},
	} {
		err := c.found.Refuse()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || fault.Public(err).Next == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The password of a database is nowhere in what people see.
func TestShown(t *testing.T) {
	for dsn, want := range map[string]string{
		"":                          filepath.Join("data", "tandem.db"),
		"/other/file.db":            "/other/file.db",
		"postgres://u:secret@h:5/d": "postgres://u@h:5/d",
		"postgresql://h/d?password=secret&sslmode=require": "postgresql://h/d",
		"postgres://u@/d?host=/run/pg&sslpassword=secret":  "postgres://u@/d?host=%2Frun%2Fpg",
	} {
		if got := Shown("data", dsn); got != want {
			t.Errorf("%s is shown as %s", dsn, got)
		}
	}
}

// A new installation finds nothing of the old one, and what was set aside stays where it is the next time.
func TestSetAside(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{"journal.key", "lock", "config.toml"} {
		if err := os.WriteFile(filepath.Join(data, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside, err := SetAside(data, time.Unix(1, 0))
	if _, there := os.Stat(filepath.Join(aside, "journal.key")); err != nil || there != nil {
		t.Fatalf("%s: %v, %v", aside, err, there)
	}
	if again, err := SetAside(data, time.Unix(2, 0)); err != nil || again != "" {
		t.Errorf("with nothing there: %q, %v", again, err)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}
