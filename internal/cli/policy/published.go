package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/policy/vocabulary"
)

// printJSON prints a value for programs, in lines that people can read, too.
func printJSON(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

func newVocabulary(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "vocabulary [TYPE]", Short: "Print the published vocabulary as JSON schemas", Args: cobra.MaximumNArgs(1),
		Long: "Print the JSON schemas of the published vocabulary: " + strings.Join(vocabulary.Names, ", ") + ". Words that begin with tandem_ " +
			"are this house's own.",
		Example:   "  tandem policy vocabulary\n  tandem policy vocabulary ScopedGrant",
		ValidArgs: vocabulary.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, book.PolicyVocabulary, book.Nothing{})
			if err != nil {
				return err
			}
			if len(args) == 1 && out.Schemas[args[0]] == nil {
				return kit.Usagef("there is no type %s in the vocabulary, only %s", args[0], strings.Join(vocabulary.Names, ", "))
			}
			return k.Show(out, func(w io.Writer) {
				if len(args) == 1 {
					printJSON(w, out.Schemas[args[0]])
					return
				}
				printJSON(w, out.Schemas)
			})
		},
	}
}

func newContext(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "context", Short: "Print who you are to the policy, in the published vocabulary", Args: cobra.NoArgs,
		Long: "Print a StrictTenantContext: your tenant, who you are, for whom you act, within which limits of your credential, and by which " +
			"grants. What the house gives everybody is not listed.",
		Example: "  tandem policy context",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, book.PolicyContext, book.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { printJSON(w, out) })
		},
	}
}

// maxGrant bounds the file of one grant.
const maxGrant = 1 << 20

func newGrantTake(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "take FILE", Short: "Grant what a ScopedGrant of the published vocabulary says; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Grant what a file says in the published vocabulary; - reads it from the input. The grant gets an id of its own, and you are who " +
			"gave it. What this house could not keep as it is meant (a branch, a project, a narrowing that was lost) is refused.",
		Example: "  tandem grant take grant.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			from := cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return kit.Usagef("%v", err)
				}
				defer f.Close()
				from = f
			}
			var in vocabulary.ScopedGrant
			d := json.NewDecoder(io.LimitReader(from, maxGrant))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				return kit.Usagef("%s is no ScopedGrant: %v", args[0], err)
			}
			out, err := op.Do(cmd.Context(), k, book.GrantTake, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s for %s on %s\n", out.ID, out.Effect, out.Principal, written(out.GrantView))
			})
		},
	}
}
