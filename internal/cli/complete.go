package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/repo"
)

// completed answers a shell that asks how a command of jj's goes on: cobra
// knows tandem's own. The words are those of cobra's hidden command.
func completed(root *cobra.Command, words, env []string, out io.Writer) bool {
	n := len(words)
	if n < 3 || words[0] != cobra.ShellCompRequestCmd && words[0] != cobra.ShellCompNoDescRequestCmd {
		return false
	}
	line, ok := jjWords(root, words[1:n-1])
	if !ok {
		return false
	}
	for _, c := range jjCompletions(root.Context(), env, append(line[:len(line):len(line)], words[n-1])) {
		if words[0] == cobra.ShellCompNoDescRequestCmd {
			c, _, _ = strings.Cut(c, "\t")
		}
		fmt.Fprintln(out, c)
	}
	fmt.Fprintf(out, ":%d\n", cobra.ShellCompDirectiveDefault)
	return true
}

// firstWords completes the first word with jj's commands beside tandem's own.
func firstWords(env []string) cobra.CompletionFunc {
	return func(root *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []cobra.Completion
		for _, c := range jjCompletions(root.Context(), env, []string{word}) {
			name, _, _ := strings.Cut(c, "\t")
			if _, jjs := jjWords(root, []string{name}); jjs {
				out = append(out, c)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// jjCompletions lists how the last of the words can go on, each with a tab and
// what it means behind it.
func jjCompletions(ctx context.Context, env, words []string) []string {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	engine(ctx, repo.Line{Args: append([]string{"--", "jj"}, words...), Dir: dir, Env: append(env[:len(env):len(env)], "COMPLETE=fish"),
		In: strings.NewReader(""), Out: &out, Err: io.Discard})
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
}
