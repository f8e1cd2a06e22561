package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Sessions that opened at once lost each other's entry in the account file of Claude Code, and one that opened could lose what a running
// Claude Code wrote. Each keeps what the others wrote, by the program's own lock.
func TestTrustKeepsWhatOthersWrite(t *testing.T) {
	home := t.TempDir()
	config, file := filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
	trust := func(project string) {
		if changed, err := (Claude{Config: config, Project: project}).Trust(t.Context(), home); err != nil || !changed {
			t.Errorf("%s: %v %v", project, changed, err)
		}
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { trust(fmt.Sprint("/p", i)) })
	}
	all.Wait()
	read := func() (tree map[string]any) {
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	if got := read()["projects"].(map[string]any); len(got) != 8 {
		t.Errorf("of 8 sessions %d are there: %v", len(got), got)
	}

	// A Claude Code that writes.
	if err := os.Mkdir(file+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	theirs, done := read(), make(chan struct{})
	go func() { defer close(done); trust("/late") }()
	ended := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if testenv.Within(300*time.Millisecond, ended) {
		t.Error("it did not wait for who writes")
	}
	theirs["numStartups"] = 7
	if err := WriteJSON(file, theirs); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file + ".lock"); err != nil {
		t.Fatal(err)
	}
	<-done
	got := read()
	if n, _ := got["numStartups"].(float64); n != 7 || len(got["projects"].(map[string]any)) != 9 {
		t.Errorf("something was lost: %v", got)
	}
	if _, err := os.Stat(file + ".lock"); err == nil {
		t.Error("the lock was left")
	}
}
