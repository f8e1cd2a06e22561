package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// former are command lines of the programs whose place tandem takes: what answers to them now, or what to say. Those of one program
// alone are only read so when it is called by that program's name.
var former = []struct {
	program, line string
	now           []string
	says          string
	code          int
}{
	{"", "install panel", nil, "the panel is built in, nothing is to be installed; open it: tandem panel open", 0},
	{"", "panel init", []string{"up", "--replace"}, "", 0},
	{"tandem-engine", "token generate", []string{"token", "show", "api"}, "", 0},
	{"tandem-engine", "config check", []string{"settings"}, "", 0},
	{"tandem-engine", "smoke", []string{"doctor"}, "", 0},
	{"tandem-engine", "tool", nil, "tools are called by sessions, under policy: tandem run \"…\"; outside ones are added with: " +
		"tandem connector add", 2},
	{"tandem-engine", "parallel", nil, "several agents work at once in sessions of their own: tandem session open NAME, then: " +
		"tandem session send NAME \"…\"", 2},
}

// formerly is a command line of an earlier program as one of today's. When nothing answers to it, it gives what to say and the exit code.
func formerly(program string, words []string) (now []string, says string, code int) {
	for _, f := range former {
		line := strings.Fields(f.line)
		if (f.program == "" || f.program == program) && len(words) >= len(line) && slices.Equal(words[:len(line)], line) {
			return append(slices.Clone(f.now), words[len(line):]...), f.says, f.code
		}
	}
	return words, "", 0
}

// mistyped says that a word is none of jj's and close to one of tandem's own, or the second of a command of tandem's before its first, so
// that nobody who mistypes it is told of jj's.
func mistyped(root *cobra.Command, env, words []string) error {
	word, near := words[0], turned(root, words)
	if near == nil && len(word) >= 5 { // jj's own short forms are shorter
		root.SuggestionsMinimumDistance = 2
		near = slices.DeleteFunc(root.SuggestionsFor(word), func(s string) bool { return s[0] != word[0] })
	}
	if len(near) == 0 {
		return nil
	}
	for _, c := range jjCompletions(root.Context(), env, []string{word}) {
		if name, _, _ := strings.Cut(c, "\t"); name == word {
			return nil
		}
	}
	return kit.Usagef("there is no command %q; did you mean tandem %s?", word, strings.Join(near, " or tandem "))
}

// turned is the command of which two words are the second and the first.
func turned(root *cobra.Command, words []string) []string {
	if len(words) < 2 {
		return nil
	}
	for _, group := range root.Commands() {
		for _, c := range group.Commands() {
			if group.Name() == words[1] && c.Name() == words[0] {
				return []string{words[1] + " " + words[0]}
			}
		}
	}
	return nil
}
