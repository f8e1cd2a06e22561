package cli

import (
	"io"
	"slices"
	"testing"

	"tandem/internal/cli/kit"
)

// jjCommands are the words of jj 0.45, aliases included.
var jjCommands = []string{"abandon", "absorb", "arrange", "b", "bisect", "bookmark", "ci", "commit", "config", "converge", "debug", "desc",
	"describe", "diff", "diffedit",
	"duplicate", "edit", "evolog", "evolution-log", "file", "fix", "gerrit", "git", "help", "interdiff", "log", "metaedit", "new", "next",
	"op", "operation",
	"parallelize", "prev", "rebase", "redo", "resolve", "restore", "revert", "root", "run", "show", "sign", "simplify-parents", "sparse",
	"split", "squash", "st",
	"status", "tag", "undo", "unsign", "util", "version", "workspace"}

// The words that both have, and whose they are. Everything of jj's is also
// under tandem jj.
var ours = map[string]string{
	"status":  "the server; the working copy is tandem st",
	"run":     "a prompt",
	"help":    "tandem's own; tandem help WORD is about whose word it is",
	"version": "the version of this program; the jj that it is: tandem jj version",
}

func TestWordsThatCollide(t *testing.T) {
	root := newRoot(&kit.Kit{In: nil, Out: io.Discard, Err: io.Discard, Flags: map[string]string{}})
	for _, word := range jjCommands {
		_, toJJ := jjWords(root, []string{word})
		_, listed := ours[word]
		if toJJ == listed {
			t.Errorf("tandem %s goes to jj: %t; listed as tandem's own: %t", word, toJJ, listed)
		}
		if line, ok := jjWords(root, []string{"jj", word, "x"}); !ok || !slices.Equal(line, []string{word, "x"}) {
			t.Errorf("tandem jj %s does not reach jj", word)
		}
	}
	for _, c := range root.Commands() {
		if _, toJJ := jjWords(root, []string{c.Name()}); toJJ && c.Name() != "jj" {
			t.Errorf("tandem's own %s goes to jj", c.Name())
		}
	}
	for line, want := range map[string]bool{"-R": false, "--json": false, "--help": false} {
		if _, got := jjWords(root, []string{line}); got != want {
			t.Errorf("tandem %s goes to jj: %t", line, got)
		}
	}
	if _, ok := jjWords(root, []string{"-R", "x", "log"}); !ok {
		t.Error("tandem -R x log does not reach jj")
	}
	for line, want := range map[string]bool{"log": true, "session": false, "jj": false, "status": false, "-k": true} {
		if _, got := jjWords(root, []string{"help", line}); got != want {
			t.Errorf("tandem help %s goes to jj: %t", line, got)
		}
	}
	if _, ok := jjWords(root, []string{"--json", "status"}); ok {
		t.Error("tandem --json status goes to jj")
	}
}
