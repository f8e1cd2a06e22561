package freeze

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// unlisted are the commands that programs use and help does not name.
var unlisted = []string{"hook", "launch", "space hook"}

// What every command says about itself: a file for each first word, and for each of jj's.
func TestFrozenHelp(t *testing.T) {
	t.Parallel()
	today, seen := map[string]string{}, map[string]bool{}
	var walk func(path string)
	walk = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		text := help(t, path)
		if len(strings.Fields(path)) > 4 {
			t.Fatalf("tandem %s --help is the help of something else:\n%s", path, text)
		}
		file := strings.Join(append(strings.Fields(path), "tandem")[:1], "") + ".txt"
		if words := strings.Fields(path); len(words) > 1 && words[0] == "jj" {
			file = "jj-" + words[1] + ".txt"
		}
		today[file] += fmt.Sprintf("==== %s --help\n%s\n", strings.TrimSpace("tandem "+path), text)
		for _, sub := range commands(path, text) {
			if sub != "help" && sub != "completion" {
				walk(strings.TrimSpace(path + " " + sub))
			}
		}
	}
	walk("")
	for _, path := range unlisted {
		walk(path)
	}
	if len(seen) < 200 {
		t.Errorf("only %d commands were found", len(seen))
	}
	Check(t, "help", today)
}

func help(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tandem(t), append(strings.Fields(path), "--help")...)
	cmd.Env = []string{"HOME=/nowhere", "PATH=/nowhere", "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "is not supported yet") { // handed to stock jj
		t.Errorf("tandem %s --help: %v: %s", path, err, out)
	}
	return string(out)
}

var (
	heading = regexp.MustCompile(`^([A-Z].*):$`)
	entry   = regexp.MustCompile(`^  ([a-z][a-z0-9-]*)(  +\S|$)`)
	noList  = regexp.MustCompile(`^(Usage|Aliases|Examples|.*Flags|.*Options|Arguments)$`)
)

// commands are those that a help lists: lines of two words below a heading.
func commands(path, text string) (names []string) {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := heading.FindStringSubmatch(line); m != nil {
			in = !noList.MatchString(m[1]) && (!strings.HasPrefix(path, "jj") || m[1] == "Commands")
		} else if m := entry.FindStringSubmatch(line); m != nil && in {
			names = append(names, m[1])
		}
	}
	return names
}
