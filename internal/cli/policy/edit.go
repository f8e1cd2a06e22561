package policy

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

func newEdit(k *kit.Kit) *cobra.Command {
	var file, note string
	cmd := &cobra.Command{
		Use: "edit", Short: "Change the rules; needs your PIN", Args: cobra.NoArgs,
		Long: "Change the rules in your editor (VISUAL, EDITOR, or the system's), or take them from a file. " +
			"What does not compile is refused before anything changes, and a change that somebody else made meanwhile is not overwritten.",
		Example: "  tandem policy edit\n  tandem policy edit --file rules.cedar --note \"no pushes on Friday\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			now, err := op.Do(ctx, k, book.PolicyShow, book.ShowIn{})
			if err != nil {
				return err
			}
			var text string
			if file != "" {
				text, err = readFile(k, file)
			} else {
				text, err = inEditor(k, now.Rules)
			}
			if err != nil {
				return err
			}
			if text == now.Rules {
				return k.Show(book.EditOut{Version: now.Version}, func(w io.Writer) { fmt.Fprintln(w, "nothing changed") })
			}
			// A mistake is better found before the PIN is typed.
			if _, err := op.Do(ctx, k, book.PolicyTest, book.TestIn{Rules: &text}); err != nil {
				return err
			}
			out, err := op.Do(ctx, k, book.PolicyEdit, book.EditIn{Rules: text, IfVersion: &now.Version, Note: note})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "version %d is in force, with %d rules\n", out.Version, out.Rules)
				for _, who := range unknown(ctx, k, text) {
					fmt.Fprintf(w, "a rule that names %s matches nobody yet (tandem actor list)\n", kit.SeenLine(who))
				}
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "take the rules from this file, - for standard input")
	cmd.Flags().StringVar(&note, "note", "", "why, for the history")
	return cmd
}

// named is how a rule names an actor.
var named = regexp.MustCompile(`\b(Person|Agent|Service)::"((?:[^"\\]|\\.)*)"`)

// unknown are the actors that rules name and that do not exist. The rules are kept all the same: who is named may still come.
func unknown(ctx context.Context, k *kit.Kit, rules string) (out []string) {
	for line := range strings.SplitSeq(rules, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		for _, who := range named.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(out, who[0]) && nobody(ctx, k, strings.ToLower(who[1]), who[2]) {
				out = append(out, who[0])
			}
		}
	}
	return out
}

// inEditor lets a person change text in their own editor.
func inEditor(k *kit.Kit, text string) (string, error) {
	editor := ""
	for _, name := range []string{"EDITOR", "VISUAL"} {
		for _, e := range k.Env {
			if v, ok := strings.CutPrefix(e, name+"="); ok && v != "" {
				editor = v
			}
		}
	}
	for _, usual := range []string{"editor", "nano", "vi", "notepad"} {
		if _, err := exec.LookPath(usual); err == nil && editor == "" && k.Asks() { // an editor nobody sees would wait for ever
			editor = usual
		}
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return "", fault.New(fault.Invalid, "policy.edit", "there is no editor").WithNext("set EDITOR, or use --file RULES")
	}
	dir, err := os.MkdirTemp("", "tandem-policy-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rules.cedar")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	run := exec.Command(words[0], append(words[1:], path)...)
	run.Stdin, run.Stdout, run.Stderr, run.Env = k.In, k.Out, k.Err, k.Env
	if err := run.Run(); err != nil {
		return "", fault.New(fault.Invalid, "policy.edit", "the editor failed, nothing was changed: %w", err)
	}
	data, err := os.ReadFile(path)
	return string(data), err
}
