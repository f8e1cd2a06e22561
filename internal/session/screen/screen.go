package screen

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Program names an agent program whose screens are understood.
type Program string

// The programs.
const (
	Claude   Program = "claude"
	Codex    Program = "codex"
	OpenCode Program = "opencode"
)

// State is what the program does, or whom it waits for.
type State string

// The states.
const (
	Unknown    State = "unknown"
	Ready      State = "ready"
	Working    State = "working"
	Retrying   State = "retrying"   // working, and the model's provider failed for now
	Permission State = "permission" // may it use a tool?
	Question   State = "question"   // the agent asks something
	Plan       State = "plan"       // may it leave plan mode?
	Dialog     State = "dialog"     // a dialog that a person opened: typed text would go into it
	Trust      State = "trust"      // may it work in this folder?
	Bypass     State = "bypass"     // the warning before a start without permissions
	Key        State = "apikey"     // which key to use
	SignIn     State = "signin"     // nobody is signed in
)

// Waiting tells whether a person has to answer before anything goes on.
func (s State) Waiting() bool {
	switch s {
	case Permission, Question, Plan, Dialog, Trust, Bypass, Key, SignIn:
		return true
	}
	return false
}

// Outcome is how the last turn on the screen ended, when that can be seen.
type Outcome string

// The outcomes. An empty one says nothing: the turn may have ended well, or there was none.
const (
	Interrupted Outcome = "interrupted"
	Failed      Outcome = "failed"
)

// Reading is what a screen says.
type Reading struct {
	State   State
	Outcome Outcome
	// Detail is the line that matters: the question asked, the error, the retry.
	Detail string
	// Options are the entries of an open menu, in order.
	Options []string
	// Draft is text that stands in the input box and was not sent.
	Draft string
	// Signal names the marker that decided, for the record of an answer.
	Signal string
}

// Read tells the state of a program from its screen (as tmux's capture-pane prints it) and its terminal title.
func Read(p Program, text, title string) Reading {
	lines := clean(text)
	switch p {
	case Claude:
		return claude(lines, title)
	case Codex:
		return codex(lines, title)
	case OpenCode:
		return opencode(lines)
	}
	return Reading{State: Unknown, Signal: "no such program"}
}

var escapes = lazily(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]`)

// Plain is a text without the codes by which a terminal colours it and moves about.
func Plain(text string) string { return escapes().ReplaceAllString(text, "") }

// typed are codes as a terminal shows them that were typed after their program ended: its answer to a question of the program's.
var typed = lazily(`\^\[(?:\[[0-9;?]*[ -/]*[@-~]|\][^\^]*(?:\^G|\^\[\\)|[@-Z\\-_])`)

// LastWords are the last lines, at most n, that a program left on its screen, without codes and without what it only drew.
func LastWords(text string, n int) string {
	var last []string
	for _, l := range clean(typed().ReplaceAllString(Plain(text), "")) {
		l = unframed(l)
		if strings.ContainsFunc(l, read) && !strings.HasPrefix(l, "Pane is dead") {
			last = append(last, l)
		}
	}
	return strings.Join(last[max(0, len(last)-n):], "\n")
}

// unframed is a line without the frame around it; one without a frame keeps how far it is indented.
func unframed(l string) string {
	l = strings.TrimRightFunc(l, drawn)
	inner := strings.TrimLeftFunc(l, drawn)
	if strings.ContainsFunc(strings.TrimSuffix(l, inner), frame) {
		return inner
	}
	return l
}

// drawn says whether a letter at the edge of a line is a frame's, or nothing that is read.
func drawn(r rune) bool { return unicode.IsSpace(r) || frame(r) }

func frame(r rune) bool { return unicode.IsControl(r) && r != '\t' || r >= 0x2500 && r <= 0x259f }

func read(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// clean drops trailing blanks and empty lines: programs space their panels by the height of the terminal.
func clean(text string) []string {
	var out []string
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		if l = strings.TrimRight(l, " "); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// lazily compiles an expression when it is first used: most runs of the
// program never look at a screen.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var option = lazily(`^\s*([❯›>])?\s*(\d)\.\s*(\S.*)$`)

// menu reads the numbered entries nearest to the bottom. It reads upwards until entry 1, so that a list in the agent's
// own text above is not taken for entries.
func menu(lines []string) []string {
	var out []string
	cursor := false
	for i := len(lines) - 1; i >= 0 && i > len(lines)-40; i-- {
		m := option().FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		cursor = cursor || m[1] != ""
		out = append([]string{strings.TrimSpace(m[3])}, out...)
		if m[2] == "1" {
			if cursor {
				return out
			}
			return nil
		}
	}
	return nil
}

// braille tells whether a title begins with a spinner.
func braille(title string) bool {
	for _, r := range title {
		return r >= 0x2800 && r <= 0x28ff
	}
	return false
}

// last returns the index of the last line that matches, or -1.
func last(lines []string, re *regexp.Regexp) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if re.MatchString(lines[i]) {
			return i
		}
	}
	return -1
}

// find returns the first matching line among the last n, trimmed, or "".
func find(lines []string, n int, re *regexp.Regexp) string {
	if i := last(lines[max(len(lines)-n, 0):], re); i >= 0 {
		return strings.TrimSpace(lines[max(len(lines)-n, 0):][i])
	}
	return ""
}
