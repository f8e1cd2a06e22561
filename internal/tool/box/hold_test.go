package box

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A command is started while what must be known before it is still being written down. It runs when that is done and not before, and
// never when whoever started it ended in between: the end of the pipe is no word.
func TestAHeldProgramWaits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sandboxes are Linux's")
	}
	m, err := Find(t.Context(), Bubblewrap)
	if err != nil || m.Kind != Bubblewrap {
		t.Fatalf("%+v %v: run make test-tools", m, err)
	}
	for name, word := range map[string]func(h *Hold) error{
		"released":            (*Hold).Release,
		"whose maker is gone": func(h *Hold) error { h.close(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			hold, err := NewHold()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			dir := t.TempDir()
			line := "echo ran > ran; ls /proc/self/fd | tr '\n' ' ' > open; touch /proc/self/comm /proc/sys/kernel/core_pattern 2>&1; " +
				"echo x > /proc/self/comm; true"
			cmd, done, err := m.Command(ctx, Box{Argv: []string{"/bin/bash", "-c", line}, Dir: dir, Mounts: Write(dir), Hold: hold,
				Env: []string{"PATH=/usr/bin:/bin"}})
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			var said strings.Builder
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			ran := func(within time.Duration) bool {
				select {
				case err := <-ended:
					if err != nil {
						t.Fatalf("%v: %s", err, said.String())
					}
					return true
				case <-time.After(within): // nothing tells that it waits but that it goes on waiting
					return false
				}
			}
			if ran(time.Second) {
				t.Fatal("it ran before the word")
			}
			if err := word(hold); err != nil {
				t.Fatal(err)
			}
			if name != "released" {
				if ran(time.Second) {
					t.Fatal("it ran when its maker was gone")
				}
				if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
					t.Fatal("it ran when its maker was gone")
				}
				cancel()
				<-ended
				return
			}
			if !ran(time.Minute) {
				t.Fatal("it did not run at the word")
			}
			// What the command line brought along is not the program's, and nothing in /proc can be written.
			open, err := os.ReadFile(filepath.Join(dir, "open"))
			if err != nil || len(cmd.ExtraFiles) < 2 {
				t.Fatalf("%d files were brought along, %v", len(cmd.ExtraFiles), err)
			}
			for i := range len(cmd.ExtraFiles) - 1 { // the first number is taken again, by the listing itself
				if slices.Contains(strings.Fields(string(open)), strconv.Itoa(4+i)) {
					t.Errorf("it has open %s", open)
				}
			}
			if n := strings.Count(said.String(), "Read-only file system"); n != 3 {
				t.Errorf("something in /proc could be written: %s", said.String())
			}
		})
	}
}
