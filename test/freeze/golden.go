// Package freeze holds what tandem promised to those who use it: database schemas, wires, names, help, exit codes, shapes for the
// published clients, and files that are never made again. A change of any of them is seen as a difference to a small golden file.
//
// Where a difference is intended, `make freeze` writes the goldens anew; the commit that does so says why. What is kept in
// golden/kept is only ever added to: a file of which others hold copies (a migration, a vector, a data folder of an earlier
// program, a recorded screen) is not changed, it gets a successor.
package freeze

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "write the goldens anew")

const advice = "If this change is intended, run `make freeze`, look at the difference, commit it and say in the commit why."

// Root is the checkout's folder.
var Root = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		panic(fmt.Sprintf("go env GOMOD: %v", err))
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
})

func folder(name string) string {
	return filepath.Join(Root(), "test", "freeze", "golden", filepath.FromSlash(name))
}

// Check compares a folder of goldens with what the program does today: a small text for each name. A file that nothing
// stands for any longer fails, too.
func Check(t *testing.T, under string, today map[string]string) {
	t.Helper()
	dir := folder(under)
	if len(today) == 0 {
		t.Fatalf("%s: there is nothing to compare, so this shows nothing", under)
	}
	if *update {
		write(t, dir, today)
		return
	}
	names := map[string]bool{}
	for name := range today {
		names[name] = true
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, advice)
	}
	for _, f := range files {
		names[f.Name()] = true
	}
	differ := false
	for _, name := range sorted(names) {
		frozen, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if have := today[name]; string(frozen) != have {
			differ = true
			t.Errorf("%s/%s is not as it was frozen:\n%s", under, name, diff.Diff("frozen", frozen, "today", []byte(have)))
		}
	}
	if differ {
		t.Log(advice)
	}
}

func write(t *testing.T, dir string, today map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range today {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Noun is the part of a dotted, spaced or slashed name that says which file it belongs to.
func Noun(name string) string {
	return strings.FieldsFunc(name+"_", func(r rune) bool { return r == '.' || r == '_' || r == '/' || r == ' ' })[0]
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
