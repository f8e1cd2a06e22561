// Package knowledge holds the commands for knowledge spaces.
package knowledge

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "knowledge", Short: "Curated collections that answer with citations, or say that it is not known",
		Long: `Knowledge spaces: curated collections, each with a purpose, owners and readers. Anybody who may write adds an item;
it answers nobody until an owner has read and promoted it. A question is answered with items to cite, or with "not known here".`,
	}
	cmd.AddCommand(newCreate(k), newChange(k), newList(k), newShow(k), newAdd(k), newPromote(k), newDeprecate(k), newRemove(k), newAsk(k))
	return []*cobra.Command{cmd}
}

func newCreate(k *kit.Kit) *cobra.Command {
	var in wire.CreateIn
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a knowledge space; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Make a knowledge space. You are its first owner. Without readers everybody reads it whom policy lets
(knowledge:/NAME); with readers only they do, and owners.`,
		Example: "  tandem knowledge create handbook --purpose 'How we release and who decides'\n" +
			"  tandem knowledge create pay --purpose 'What contracts say' --reader person:ann --trust sourced --days 180",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Create, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is made; put something in: tandem knowledge add %s --title TITLE TEXT\n", out.Name, out.Name)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Purpose, "purpose", "", "which questions it answers")
	f.StringSliceVar(&in.Owners, "owner", nil, "a person who answers for it, beside you")
	f.StringSliceVar(&in.Readers, "reader", nil, "only these read it: person:NAME, agent:NAME, service:NAME or session:*")
	f.StringVar((*string)(&in.Trust), "trust", "", "approved: a person read each item (that); sourced: and each names where it comes from")
	f.IntVar(&in.Days, "days", 0, "an item is stale so many days after a person looked at it (never)")
	return cmd
}

func newChange(k *kit.Kit) *cobra.Command {
	var in wire.ChangeIn
	var purpose string
	var owners, readers []string
	var days int
	cmd := &cobra.Command{
		Use: "change SPACE", Short: "Change its purpose, owners, readers, trust or freshness; needs your PIN", Args: cobra.ExactArgs(1),
		Long:    "Change a knowledge space. Owners and readers are given whole: those that are left out are none any more.",
		Example: "  tandem knowledge change handbook --days 90\n  tandem knowledge change handbook --reader session:* --reader person:ben",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			for flag, set := range map[string]func(){"purpose": func() { in.Purpose = &purpose }, "owner": func() { in.Owners = &owners },
				"reader": func() { in.Readers = &readers }, "days": func() { in.Days = &days }} {
				if cmd.Flags().Changed(flag) {
					set()
				}
			}
			out, err := op.Do(cmd.Context(), k, wire.Change, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { about(w, out) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&purpose, "purpose", "", "which questions it answers")
	f.StringSliceVar(&owners, "owner", nil, "people who answer for it, in place of those it has")
	f.StringSliceVar(&readers, "reader", nil, "only these read it, in place of those it has; an empty one lets everybody whom policy lets")
	f.StringVar((*string)(&in.Trust), "trust", "", "approved or sourced")
	f.IntVar(&days, "days", 0, "an item is stale so many days after a person looked at it; 0 never")
	return cmd
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List knowledge spaces", Args: cobra.NoArgs, Example: "  tandem knowledge list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, wire.ListIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Spaces) == 0 {
					fmt.Fprintln(w, "no knowledge spaces; make one: tandem knowledge create NAME --purpose WORDS")
				}
				for _, s := range out.Spaces {
					line(w, s)
				}
			})
		},
	}
}

func line(w io.Writer, s wire.Space) {
	fmt.Fprintf(w, "%s  %d answer", s.Name, s.Answers)
	if s.Working > 0 {
		fmt.Fprintf(w, ", %d wait for a person", s.Working)
	}
	if s.Deprecated > 0 {
		fmt.Fprintf(w, ", %d deprecated", s.Deprecated)
	}
	fmt.Fprintf(w, "\n    %s\n", kit.VisibleLine(s.Purpose))
}

// about is a knowledge space with who has to do with it.
func about(w io.Writer, s wire.Space) {
	line(w, s)
	readers, fresh := "whoever policy lets", "always"
	if len(s.Readers) > 0 {
		readers = strings.Join(s.Readers, ", ")
	}
	if s.Days > 0 {
		fresh = fmt.Sprintf("for %d days", s.Days)
	}
	fmt.Fprintf(w, "    owners %s; readers %s; trust %s; fresh %s\n", kit.VisibleLine(strings.Join(s.Owners, ", ")), kit.VisibleLine(readers),
		s.Trust, fresh)
}

func newAsk(k *kit.Kit) *cobra.Command {
	var in wire.AskIn
	cmd := &cobra.Command{
		Use: "ask QUESTION…", Short: "Ask; the answer is items to cite, or that it is not known here", Args: cobra.MinimumNArgs(1),
		Long: `Ask the knowledge spaces that you may read. An item answers when it holds most of what the question asks for.
Otherwise it is not known here: a word or two in common is no answer. No model is called.`,
		Example: "  tandem knowledge ask when are releases cut\n  tandem knowledge ask who approves a hotfix --in handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Question = strings.Join(args, " ")
			out, err := op.Do(cmd.Context(), k, wire.Ask, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { answered(w, out) })
		},
	}
	cmd.Flags().StringVar(&in.Name, "in", "", "only in this knowledge space")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (5)")
	return cmd
}

func answered(w io.Writer, out wire.AskOut) {
	switch {
	case len(out.Looked) == 0:
		fmt.Fprintln(w, "not known here: there is no knowledge space that you may read")
	case !out.Known:
		fmt.Fprintf(w, "not known here; looked in %s\n", strings.Join(out.Looked, ", "))
	case out.Stale:
		fmt.Fprintln(w, "all that answers is stale: somebody should look at it")
	}
	for _, i := range out.Items {
		fmt.Fprintf(w, "[%s] %s: %s", i.ID, i.Space, kit.VisibleLine(i.Title))
		if i.State == wire.Default {
			fmt.Fprint(w, " (default)")
		}
		if i.Stale {
			fmt.Fprintf(w, " (stale, looked at %s)", kit.Age(i.LookedAt))
		}
		fmt.Fprintln(w)
		said := i.Summary
		if said == "" {
			said = i.Body
		}
		for _, l := range first(said, 6) {
			fmt.Fprintf(w, "    %s\n", kit.VisibleLine(l))
		}
		origins(w, i.Entry)
	}
}

func origins(w io.Writer, i wire.Entry) {
	for _, s := range i.Sources {
		fmt.Fprintf(w, "    from %s\n", kit.VisibleLine(strings.TrimSpace(s.Kind+" "+s.Ref+" "+s.Place)))
	}
}

// first are the first lines of a text.
func first(text string, most int) []string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	if len(all) > most {
		return append(all[:most:most], "…")
	}
	return all
}
