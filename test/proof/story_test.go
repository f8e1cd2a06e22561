package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// story is a file of testdata/stories: on which machines the lines of documents are typed, in which order, and what was there before.
//
//	machines A B            A and B are on one network and know each other by name; each has a home of its own
//	env NAME=VALUE          everybody has this in the environment
//	soak: REASON            it takes long, so it is typed in make soak alone
//	A$ LINE                 somebody prepares something; no document shows it
//	A> LINE                 a line as a document prints it
//	let WORD A$ LINE        where documents say WORD, the lines below mean the last line that LINE prints
//	not run: REASON: LINE   a line of a document that is not typed
//
// Below a line, indented, in any order:
//
//	type TEXT               what is typed when it asks; a PIN otherwise
//	shows TEXT              its answer has this line or a part of one; … stands for anything
//	until TEXT              it goes on until it is interrupted, which happens when it shows this
//	leave KEYS              it is left with these keys instead, ^B for Ctrl-B
//	for TIME                it goes on until it is interrupted, which happens after this time
//	when TEXT: A$ LINE      once it shows this, somebody types LINE at A
//	within TIME             it may take longer than a minute
//	exit N                  it ends with this code, and not with 0
type story struct {
	name     string
	soak     string
	machines []string
	env      []string
	steps    []*step
}

type step struct {
	at            string
	machine, line string
	document      bool   // it stands in a document
	word          string // what a let gives a meaning
	unrun         string // why it is not typed
	typed, shows  []string
	until         string
	leave         string
	after, within time.Duration
	when          string // what it shows before somebody else acts
	others        *step  // and what they type
	exit          int
}

var control = regexp.MustCompile(`\^[A-Z]`)

func readStories(t *testing.T) map[string]*story {
	t.Helper()
	files, err := filepath.Glob("testdata/stories/*.story")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no stories: %v", err)
	}
	all := map[string]*story{}
	for _, f := range files {
		s := readStory(t, f)
		all[s.name] = s
	}
	return all
}

func readStory(t *testing.T, path string) *story {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{name: strings.TrimSuffix(filepath.Base(path), ".story")}
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		if err := s.read(fmt.Sprintf("%s:%d", filepath.Base(path), i+1), line); err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
	}
	return s
}

func (s *story) read(at, line string) error {
	if said, ok := strings.CutPrefix(line, "  "); ok {
		if len(s.steps) == 0 {
			return fmt.Errorf("%q is below no line", said)
		}
		return s.steps[len(s.steps)-1].read(said)
	}
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "machines":
		s.machines = strings.Fields(rest)
	case word == "env":
		s.env = append(s.env, rest)
	case word == "soak:":
		s.soak = rest
	case strings.HasPrefix(line, "not run: "):
		why, typed, ok := strings.Cut(strings.TrimPrefix(line, "not run: "), ": ")
		if !ok {
			return fmt.Errorf("%q gives no reason", line)
		}
		s.steps = append(s.steps, &step{at: at, line: typed, unrun: why, document: true})
	case word == "let":
		name, line, _ := strings.Cut(rest, " ")
		machine, typed, ok := strings.Cut(line, "$ ")
		if !ok {
			return fmt.Errorf("%q has no line", rest)
		}
		s.steps = append(s.steps, &step{at: at, machine: machine, line: typed, word: name})
	case strings.HasSuffix(word, "$") || strings.HasSuffix(word, ">"):
		s.steps = append(s.steps, &step{at: at, machine: word[:len(word)-1], line: rest, document: strings.HasSuffix(word, ">")})
	default:
		return fmt.Errorf("%q is not understood", line)
	}
	return nil
}

func (s *step) read(said string) (err error) {
	word, rest, _ := strings.Cut(said, " ")
	switch word {
	case "type":
		s.typed = append(s.typed, rest)
	case "shows":
		s.shows = append(s.shows, rest)
	case "until":
		s.until = rest
	case "when":
		when, line, ok := strings.Cut(rest, ": ")
		machine, typed, here := strings.Cut(line, "$ ")
		if !ok || !here {
			return fmt.Errorf("%q has no line", said)
		}
		s.when, s.others = when, &step{at: s.at, machine: machine, line: typed}
	case "leave":
		s.leave = control.ReplaceAllStringFunc(rest, func(key string) string { return string(key[1] & 0x1f) })
	case "for":
		s.after, err = time.ParseDuration(rest)
	case "within":
		s.within, err = time.ParseDuration(rest)
	case "exit":
		s.exit, err = strconv.Atoi(rest)
	default:
		return fmt.Errorf("%q is not understood", said)
	}
	return err
}
