package tmux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// private is a tmux server of the test's own, ended with it.
func private(t *testing.T) *Server {
	t.Helper()
	return within(t, "LANG=C.UTF-8")
}

func within(t *testing.T, locale string) *Server {
	t.Helper()
	dir := testenv.Dir(t)
	s := New(dir+"/tmux.sock", "ccm-", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", locale})
	if s.Missing() != nil {
		t.Fatal("tmux is missing: run make test-tools")
	}
	t.Cleanup(func() {
		s.Close()
		testenv.EndTerminals(dir + "/tmux.sock")
	})
	return s
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testenv.Eventually(t, what, time.Minute, ok)
}

func open(t *testing.T, s *Server, name string, argv ...string) {
	t.Helper()
	if err := s.Open(t.Context(), Spec{Name: name, Folder: "/", Argv: argv,
		Env: []string{"PATH=" + os.Getenv("PATH"), "SEAT=" + name}}); err != nil {
		t.Fatal(err)
	}
}

func TestAProgramSeesOnlyItsEnvironmentAndStaysWhenDead(t *testing.T) {
	s := private(t)
	open(t, s, "a", "sh", "-c", "env | sort; read line; exit 7")
	var text string
	var err error
	eventually(t, "it says what it sees", func() bool { // tmux may lose what is said right before the end
		text, err = s.Capture(t.Context(), "a", 50)
		return strings.Contains(text, "SEAT=a")
	})
	if _, err := s.Run(t.Context(), "send-keys", "-t", "=ccm-a:", "Enter"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pane is dead", func() bool { p, err := s.Pane(t.Context(), "a"); return err == nil && p.Dead })
	if err != nil || strings.Contains(text, "TMUX=") || strings.Contains(text, "HOME=") {
		t.Errorf("environment = %q, %v", text, err)
	}
	if err := s.Open(t.Context(), Spec{Name: "a", Folder: "/", Argv: []string{"true"}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second one of the name: %v", err)
	}
	if err := s.Kill(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if _, err := s.Pane(t.Context(), "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("after kill: %v", err)
	}
}

// A service manager starts the server without a locale, and tmux then printed the tabs between its fields as underscores: no
// terminal was ever found.
func TestAPaneIsFoundWithoutALocale(t *testing.T) {
	for _, locale := range []string{"LANG=", "LC_ALL=C"} {
		s := within(t, locale)
		open(t, s, "a", "sh", "-c", "printf 'gr\\303\\274n'; exec sleep 60")
		if p, err := s.Pane(t.Context(), "a"); err != nil || p.PID == 0 {
			t.Errorf("with %s: %+v, %v", locale, p, err)
		}
		eventually(t, "the screen is whole with "+locale, func() bool {
			text, err := s.Capture(t.Context(), "a", 0)
			return err == nil && strings.Contains(text, "grün")
		})
	}
}

func TestPasteIsByteForByte(t *testing.T) {
	s := private(t)
	file := testenv.Dir(t) + "/got"
	open(t, s, "cat", "sh", "-c", "stty raw -echo; printf ready; exec head -c 100000 > "+file)
	eventually(t, "it reads", func() bool { text, _ := s.Capture(t.Context(), "cat", 0); return strings.Contains(text, "ready") })
	var b strings.Builder
	for i := 0; b.Len() < 100000; i++ {
		fmt.Fprintf(&b, "line %d: 'quotes' \"and\" $dollars; #{format} ünïcödé\n", i)
	}
	want := b.String()[:100000]
	if err := s.Paste(t.Context(), "cat", want); err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything arrived", func() bool { got, _ := os.ReadFile(file); return len(got) == len(want) })
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Error("the text changed on its way")
	}
}

func TestNamesAreExactAndOthersSessionsDoNotExist(t *testing.T) {
	s := private(t)
	open(t, s, "ab", "sleep", "60")
	if _, err := s.exec(t.Context(), "new-session", "-d", "-s", "mine", "sleep", "60"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "mine", "", "ab:0", "*"} {
		if err := s.Keys(t.Context(), name, "x"); err == nil && name != "ab:0" {
			t.Errorf("keys reached %q", name)
		}
	}
	all, err := s.Panes(t.Context())
	if err != nil || len(all) != 1 || all[0].Session != "ab" {
		t.Errorf("panes = %+v, %v", all, err)
	}
	for _, bad := range []string{"", "a b", "a:b", "a.b", "x'y", "#{pid}"} {
		if err := s.Open(t.Context(), Spec{Name: bad, Folder: "/", Argv: []string{"true"}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("Open(%q) = %v", bad, err)
		}
	}
}

func TestTheClientSurvivesItsSessionAndCommandsDoNotMix(t *testing.T) {
	s := private(t)
	for i := range 3 {
		open(t, s, fmt.Sprint("s", i), "sh", "-c", fmt.Sprintf("printf marker%d; sleep 60", i))
	}
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			eventually(t, "its own marker", func() bool {
				text, err := s.Capture(t.Context(), fmt.Sprint("s", i), 0)
				return err == nil && strings.HasPrefix(text, fmt.Sprint("marker", i))
			})
		})
	}
	wg.Wait()
	for i := range 3 {
		if err := s.Kill(t.Context(), fmt.Sprint("s", i)); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			if _, err := s.Capture(t.Context(), fmt.Sprint("s", i+1), 0); err != nil {
				t.Errorf("after the client's session ended: %v", err)
			}
		}
	}
	if all, err := s.Panes(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("no server: %v, %v", all, err)
	}
}

func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	s := New(dir+"/s", "ccm-", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir})
	defer exec.Command("tmux", "-S", dir+"/s", "kill-server").Run()
	if err := s.Open(context.Background(), Spec{Name: "b", Folder: "/", Argv: []string{"sleep", "600"},
		Env: []string{"PATH=" + os.Getenv("PATH")}}); err != nil {
		b.Fatal(err)
	}
	b.Run("control", func(b *testing.B) {
		for b.Loop() {
			s.Run(context.Background(), "display-message", "-p", "x")
		}
	})
	b.Run("process", func(b *testing.B) {
		for b.Loop() {
			s.exec(context.Background(), "display-message", "-p", "x")
		}
	})
}
