// Package artifact holds the commands for what automations made.
package artifact

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/artifact/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "artifact", Aliases: []string{"artifacts"}, Short: "What automations made: reports, dashboards, slides, tables",
		Long: `What automations made, each with all its versions: who and what made it, from which inputs, and which checks it passed.
It is called AUTOMATION.NODE.OUTPUT; NAME@3 is its third version, and NAME alone the newest.`,
	}
	cmd.AddCommand(newList(k), newShow(k), newGet(k), newCompare(k), newRemove(k))
	return []*cobra.Command{cmd}
}

func newList(k *kit.Kit) *cobra.Command {
	var in wire.ListIn
	cmd := &cobra.Command{
		Use: "list [NAME]", Short: "List the newest version of each artifact, or all versions of one", Args: cobra.MaximumNArgs(1),
		Example: "  tandem artifact list\n  tandem artifact list weekly.draft.report\n  tandem artifact list --run run_01k…",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Name = args[0]
			}
			out, err := op.Do(cmd.Context(), k, wire.List, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Artifacts) == 0 {
					fmt.Fprintln(w, "no artifacts; a node of an automation makes one: see docs/artifact.md")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tVERSION\tKIND\tBYTES\tMADE\tRUN")
				for _, a := range out.Artifacts {
					fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%s\t%s\n", a.Name, a.Version, a.Kind, a.Size, kit.Age(a.MadeAt), a.Run)
				}
				t.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&in.Run, "run", "", "only what this run made")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (100)")
	return cmd
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME[@VERSION]", Short: "Read an artifact, and see what made it", Args: cobra.ExactArgs(1),
		Example: "  tandem artifact show weekly.draft.report\n  tandem artifact show weekly.draft.report@3",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := named(args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Show, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				describe(w, &out.Artifact)
				fmt.Fprintln(w)
				fmt.Fprintln(w, strings.TrimRight(kit.Visible(out.Text), "\n"))
				if out.Cut {
					fmt.Fprintf(w, "there is more of it: tandem artifact get %s@%d\n", out.Name, out.Version)
				}
			})
		},
	}
}

func named(arg string) (wire.OneIn, error) {
	in, ok := wire.ParseName(arg)
	if !ok {
		return in, kit.Usagef("%q is no artifact: write NAME, or NAME@VERSION with a number", arg)
	}
	return in, nil
}

func describe(w io.Writer, a *wire.Artifact) {
	fmt.Fprintf(w, "%s, version %d\n", a.Name, a.Version)
	fmt.Fprintf(w, "kind:    %s, %d bytes\n", a.Kind, a.Size)
	fmt.Fprintf(w, "digest:  %s\n", a.Digest)
	by := told.By(a.MadeBy)
	if a.AI {
		by += ", a model had a hand in it"
	}
	fmt.Fprintf(w, "made by: %s, %s\n", by, a.MadeAt.Local().Format(time.DateTime))
	fmt.Fprintf(w, "in:      %s, node %s, attempt %d\n", a.Run, a.Node, a.Attempt)
	for _, i := range a.Inputs {
		fmt.Fprintf(w, "from:    %s (%s) %.12s\n", kit.VisibleLine(i.Name), kit.VisibleLine(i.From), i.Digest)
	}
	if len(a.Checks) > 0 {
		fmt.Fprintf(w, "passed:  %s\n", strings.Join(a.Checks, ", "))
	}
}
