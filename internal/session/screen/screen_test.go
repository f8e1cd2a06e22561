package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wants says what the folders of testdata mean.
var wants = map[string]Reading{
	"interrupted": {State: Ready, Outcome: Interrupted},
	"failed":      {State: Ready, Outcome: Failed},
}

// details are what some screens must also say.
var details = map[string]Reading{
	"claude-2.1.197/permission/wide-bash": {Detail: "Do you want to proceed?",
		Options: []string{"Yes", "Yes, and always allow access to project/ from this project", "No"}},
	"claude-2.1.197/permission/wide-write": {Detail: "Do you want to create n.txt?"},
	"claude-2.1.197/question/wide-one":     {Detail: "Which colour?", Options: []string{"Red", "Blue", "Type something.", "Chat about this"}},
	"claude-2.1.197/question/narrow-one":   {Detail: "Which colour?"},
	"claude-2.1.197/ready/wide-draft":      {Draft: "half a thought"},
	"claude-2.1.197/apikey/custom":         {Options: []string{"Yes", "No (recommended)"}},
	"codex-0.166.0/ready/wide-draft":       {Draft: "half a thought"},
	"codex-0.166.0/permission/wide-exec":   {Detail: "Would you like to run the following command?"},
	"codex-0.166.0/question/wide-one":      {Detail: "Which colour?"},
	"opencode-1.18.33/question/one":        {Detail: "Which colour?", Options: []string{"Red", "Blue", "Type your own answer"}},
	"opencode-1.18.33/permission/bash":     {Detail: "Shell command", Options: []string{"Allow once", "Allow always", "Reject"}},
	"opencode-1.18.33/failed/401":          {Detail: "scripted error 401"},
	"opencode-1.18.33/retrying/429":        {Detail: "retrying in 1s attempt #1"},
}

func TestGoldenScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d screens: %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(f), "testdata/"), ".txt")
		parts := strings.Split(name, "/")
		program, _, _ := strings.Cut(parts[0], "-")
		want, ok := wants[parts[1]]
		if !ok {
			want = Reading{State: State(parts[1])}
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		title, err := os.ReadFile(strings.TrimSuffix(f, ".txt") + ".title")
		if err != nil {
			t.Fatal(err)
		}
		got := Read(Program(program), string(text), strings.TrimSpace(string(title)))
		if got.State != want.State || got.Outcome != want.Outcome {
			t.Errorf("%s: %+v", name, got)
		}
		check(t, name, got)
		// The title decides only between working and ready; without it the rest must still be seen.
		if bare := Read(Program(program), string(text), ""); want.State.Waiting() && bare.State != want.State {
			t.Errorf("%s without its title: %+v", name, bare)
		}
	}
}

func check(t *testing.T, name string, got Reading) {
	t.Helper()
	d, ok := details[name]
	if !ok {
		if got.Draft != "" && !strings.HasSuffix(name, "draft") {
			t.Errorf("%s: a draft %q where none was typed", name, got.Draft)
		}
		return
	}
	if d.Detail != "" && got.Detail != d.Detail || d.Draft != "" && got.Draft != d.Draft {
		t.Errorf("%s: detail %q draft %q", name, got.Detail, got.Draft)
	}
	if d.Options != nil && strings.Join(got.Options, "|") != strings.Join(d.Options, "|") {
		t.Errorf("%s: options %q", name, got.Options)
	}
}

// A model can print anything. None of it may look like a dialog or like an empty input box.
func TestPrintedTextIsNotAState(t *testing.T) {
	rule := strings.Repeat("─", 60)
	box := rule + "\n❯\u00a0\n" + rule + "\n  ? for shortcuts\n"
	for name, printed := range map[string]string{
		"menu":      "● Do you want to proceed?\n ❯ 1. Yes\n   2. No\n Esc to cancel\n",
		"trust":     "● Yes, I trust this folder\n❯ 1. Yes\n",
		"rule only": "● text\n" + rule + "\n",
	} {
		if got := Read(Claude, printed+box, "✳ x"); got.State != Ready || got.Options != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	fake := "● look:\n" + box + "● and more text\n\n\n\n\n\n\n and a long tail\n of lines\n that go on\n"
	if got := Read(Claude, fake, ""); got.State != Unknown {
		t.Errorf("a printed box: %+v", got)
	}
	if got := Read(Claude, fake, "⠂ x"); got.State != Working {
		t.Errorf("a printed box while working: %+v", got)
	}
}

func TestNothingIsUnknown(t *testing.T) {
	for _, p := range []Program{Claude, Codex, OpenCode, "vim"} {
		for _, text := range []string{"", "\n\n", "$ ls\na.txt\n$"} {
			if got := Read(p, text, ""); got.State != Unknown || got.Signal == "" {
				t.Errorf("%s %q: %+v", p, text, got)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*/*.txt")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), "⠂ t")
	}
	f.Fuzz(func(t *testing.T, text, title string) {
		for _, p := range []Program{Claude, Codex, OpenCode} {
			r := Read(p, text, title)
			if r.State == "" || r.Signal == "" {
				t.Fatalf("%s: %+v", p, r)
			}
		}
	})
}
