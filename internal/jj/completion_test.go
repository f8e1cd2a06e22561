package jj

import (
	"fmt"
	"strings"
	"testing"
)

// TestCompletionAgainstStock asks both programs how words can go on.
func TestCompletionAgainstStock(t *testing.T) {
	p := newPair(t, "--no-colocate")
	p.write("d/inner/a", "1\n")
	p.write("d/b", "2\n")
	p.write("file", "3\n")
	p.run(t.Context(), "commit", "-m", "one")
	p.run(t.Context(), "bookmark", "create", "main", "-r", "@-")
	p.run(t.Context(), "tag", "set", "v1", "-r", "main")
	p.run(t.Context(), "git", "remote", "add", "origin", "https://example.com/r.git")
	p.stock.Configure("aliases.mine = ['log']\naliases.x = ['log']\nmerge-tools.my.program = 'my'")
	for _, line := range []string{
		"jj ", "jj l", "jj log -", "jj log --", "jj log --re", "jj log -r ", "jj log -r m", "jj bookmark ", "jj bookmark d",
		"jj bookmark delete ", "jj rebase -", "jj rebase --s",
		"jj op ", "jj op restore ", "jj file show ", "jj file show d", "jj file show d/", "jj diff --tool ", "jj --color ", "jj --color=a",
		"jj help -k ", "jj util completion ", "jj git push --remote ",
		"jj workspace forget ", "jj log -T ", "jj abandon ", "jj describe -r ", "jj squash --into ", "jj tag delete ", "jj resolve --tool ",
		"jj config get user.", "jj mine --li",
	} {
		words := strings.Split(line, " ")
		more := []string{"COMPLETE=bash", "_CLAP_IFS=\n", fmt.Sprintf("_CLAP_COMPLETE_INDEX=%d", len(words)-1)}
		args := append([]string{"--"}, words...)
		want, _, _ := p.stock.Exec(p.theirs, more, "", args...)
		var out strings.Builder
		Main(t.Context(), args, IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: append(p.stock.Env(), more...), Dir: p.our})
		if got := out.String(); got != want {
			t.Errorf("%q\nstock: %s\nours:  %s", line, strings.ReplaceAll(want, "\n", " "), strings.ReplaceAll(got, "\n", " "))
		}
	}
}
