package wire

import (
	"slices"
	"testing"
)

// A task has its files to itself from its beginning until the branch holds it, or it came to nothing.
func TestWhoHasWhichFiles(t *testing.T) {
	task := func(name string, s Stage, files ...string) *Task {
		return &Task{Item: Item{Name: name, Files: files}, Stage: s}
	}
	for name, c := range map[string]struct {
		other  *Task
		files  []string
		behind bool
	}{
		"the same file":         {task("a", AtWork, "login/a.go"), []string{"login/a.go"}, true},
		"a folder around it":    {task("a", Review, "login"), []string{"login/a.go"}, true},
		"a pattern":             {task("a", Queued, "login/*.go"), []string{"./login/a.go"}, true},
		"all of it":             {task("a", AtWork, "."), []string{"docs/a.md"}, true},
		"another file":          {task("a", AtWork, "login/a.go"), []string{"login/b.go"}, false},
		"no files of its own":   {task("a", AtWork, "login"), nil, false},
		"none of the other's":   {task("a", AtWork), []string{"login"}, false},
		"it is merged":          {task("a", Merged, "login"), []string{"login"}, false},
		"its worker failed":     {task("a", Failed, "login"), []string{"login"}, false},
		"somebody stopped it":   {task("a", Halted, "login"), []string{"login"}, false},
		"it has not begun":      {task("a", Waits, "login"), []string{"login"}, false},
		"it is not needed":      {task("a", Dropped, "login"), []string{"login"}, false},
		"names of other letter": {task("a", AtWork, "Login/A.go"), []string{"login/a.go"}, true},
	} {
		k := task("k", Waits, c.files...)
		team := &Team{Tasks: []*Task{c.other, k}}
		if got := team.Behind(k); slices.Contains(got, "a") != c.behind {
			t.Errorf("%s: it waits for %q", name, got)
		}
	}
	for _, s := range []Stage{AtWork, Review, Queued} {
		beside := []*Task{task("a", AtWork, "x"), task("b", s, "x")}
		if got := (&Team{Tasks: beside}).Behind(beside[1]); got != nil {
			t.Errorf("one that is %s and has its files waits for %q, which has them, too", s, got)
		}
	}
	k, begins := task("k", Waits, "x"), task("b", Waits, "x")
	if got := (&Team{Tasks: []*Task{begins, k}}).Behind(k, begins); len(got) != 1 {
		t.Errorf("two that begin at once have the same file: %q", got)
	}
}
