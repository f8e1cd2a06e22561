// Package memory holds the commands for what a team remembers.
package memory

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "memory", Short: "What the team remembers: facts, decisions, lessons",
		Long: `What the team remembers: facts, decisions, lessons, preferences and notes, each with where it comes from
and who answers for it. What an agent writes is proposed; nobody is told it until you have made it live.`,
	}
	cmd.AddCommand(newAdd(k), newPropose(k), newSearch(k), newBrief(k), newList(k), newShow(k), newHistory(k),
		newEdit(k), newPromote(k), newDemote(k),
		newForget(k), newExport(k), newImport(k), newModel(k))
	return []*cobra.Command{cmd}
}

// place are the flags that say how far something reaches.
func place(cmd *cobra.Command, tier *wire.Tier, of *string, what string) {
	cmd.Flags().StringVar((*string)(tier), "tier", "", what+": session, project, team or curated")
	cmd.Flags().StringVar(of, "of", "", "which session, project or collection")
}

func written(cmd *cobra.Command, in *wire.AddIn, sources *[]string) {
	f := cmd.Flags()
	f.StringVar((*string)(&in.Kind), "kind", "", "fact, decision, lesson, preference or note (note)")
	place(cmd, &in.Tier, &in.Of, "how far it reaches (team)")
	f.StringSliceVar(&in.Labels, "label", nil, "words to find it by")
	f.StringSliceVar(sources, "source", nil, "where it comes from, as KIND:NAME: turn, file, commit, task, message, url, person or memory")
	f.StringVar(&in.Replaces, "replaces", "", "the id of the record that is wrong now")
	f.IntVar(&in.Days, "days", 0, "nobody finds it after so many days")
}

// origins reads sources as they are typed.
func origins(typed []string) (out []wire.Source, err error) {
	for _, s := range typed {
		kind, ref, ok := strings.Cut(s, ":")
		if !ok {
			return nil, kit.Usagef("%q is no source: write KIND:NAME, for example file:docs/deploy.md or commit:1f2e3d", s)
		}
		out = append(out, wire.Source{Kind: kind, Ref: ref})
	}
	return out, nil
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	var typed []string
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Remember something; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Remember something. It is live at once, and stated by you; that is why your PIN is asked for.",
		Example: "  tandem memory add 'Releases are cut on Tuesdays' --kind decision\n" +
			"  tandem memory add 'The tests of payments need Redis' --tier project --of payments --kind lesson --source file:payments/README.md",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Sources, err = origins(typed); err != nil {
				return err
			}
			in.Text = args[0]
			return say(cmd, k, wire.Add, in)
		},
	}
	written(cmd, &in, &typed)
	return cmd
}

func newPropose(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	var typed []string
	cmd := &cobra.Command{
		Use: "propose TEXT", Short: "Propose something to remember", Args: cobra.ExactArgs(1),
		Long:    "Propose something to remember. Nobody is told it until a person has made it live.",
		Example: "  tandem memory propose 'go vet wants CGO_ENABLED=0 here' --kind lesson",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Sources, err = origins(typed); err != nil {
				return err
			}
			in.Text = args[0]
			return say(cmd, k, wire.Propose, in)
		},
	}
	written(cmd, &in, &typed)
	return cmd
}

// say runs an operation that changes a record and prints what became of it.
func say[In any](cmd *cobra.Command, k *kit.Kit, do op.Def[In, wire.Changed], in In) error {
	out, err := op.Do(cmd.Context(), k, do, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		where := string(out.Tier)
		if out.Of != "" {
			where += " " + out.Of
		}
		switch {
		case out.Known:
			fmt.Fprintf(w, "%s says that already; it is %s\n", out.ID, out.State)
		case out.State == wire.Proposed:
			fmt.Fprintf(w, "%s is proposed for %s; make it live: tandem memory promote %s\n", out.ID, where, out.ID)
		default:
			fmt.Fprintf(w, "%s is %s for %s, %s, version %d\n", out.ID, out.State, where, out.Trust, out.Version)
		}
	})
}
