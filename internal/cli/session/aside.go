package session

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/session/wire"
)

func newAside(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "set-aside", Short: "What agents left that version control would run later",
		Long: "When an agent's turn ends, hooks, settings and pointers of version control that appeared in its folder are taken out of it: " +
			"git or jj would run or follow them\n" +
			"the next time that you use them there, outside of the agent's sandbox. Look at each, and keep or discard it."}
	cmd.AddCommand(newAsideList(k), newAsideShow(k),
		asideVerb(k, "keep", "Put a file back where it was", wire.AsideKeep),
		asideVerb(k, "discard", "Discard a file that was set aside", wire.AsideDiscard))
	return cmd
}

func newAsideList(k *kit.Kit) *cobra.Command {
	var in wire.AsideListIn
	cmd := &cobra.Command{
		Use: "list [SESSION]", Short: "List what was set aside and waits for you", Args: cobra.MaximumNArgs(1),
		Example: "  tandem session set-aside list\n  tandem session set-aside list ses_01j… --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Session = args[0]
			}
			var out wire.AsideListOut
			if err := k.Call(cmd.Context(), string(wire.AsideList), in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Aside) == 0 {
					fmt.Fprintln(w, "nothing was set aside")
					return
				}
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "ID\tFILE\tWHAT\tSTATE\tFOUND")
				for _, a := range out.Aside {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.ID, kit.VisibleLine(asidePlace(a)), kit.VisibleLine(a.What), a.State,
						a.CreatedAt.Local().Format("01-02 15:04"))
				}
				t.Flush()
				fmt.Fprintf(w, "look at one: tandem session set-aside show %s\n", out.Aside[0].ID)
			})
		},
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "also what was kept or discarded")
	return cmd
}

func asidePlace(a *wire.Aside) string { return filepath.Join(a.Folder, filepath.FromSlash(a.Path)) }

func newAsideShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a file that was set aside", Args: cobra.ExactArgs(1), Example: "  tandem session set-aside show asd_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out wire.Aside
			if err := k.Call(cmd.Context(), string(wire.AsideGet), wire.AsideIn{ID: args[0]}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s\nwas   %s\nwhat  %s\nstate %s\n", out.ID, kit.VisibleLine(asidePlace(&out)), kit.VisibleLine(out.What), out.State)
				if out.File != "" {
					fmt.Fprintf(w, "now   %s\n", out.File)
				}
				if out.Text != "" {
					fmt.Fprintln(w)
					for line := range strings.SplitSeq(strings.TrimSuffix(out.Text, "\n"), "\n") {
						fmt.Fprintln(w, "  "+kit.VisibleLine(line))
					}
				}
				if out.State == wire.AsidePending {
					fmt.Fprintf(w, "\nput it back: tandem session set-aside keep %s\ndiscard it:  tandem session set-aside discard %s\n", out.ID, out.ID)
				}
			})
		},
	}
}

func asideVerb(k *kit.Kit, verb, short string, d op.Def[wire.AsideIn, *wire.Aside]) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID...", Short: short, Args: cobra.MinimumNArgs(1), Example: "  tandem session set-aside " + verb + " asd_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			var all wire.AsideListOut
			for _, id := range args {
				var out wire.Aside
				if err := k.Call(cmd.Context(), string(d), wire.AsideIn{ID: id}, &out); err != nil {
					return err
				}
				all.Aside = append(all.Aside, &out)
			}
			return k.Show(all, func(w io.Writer) {
				for _, a := range all.Aside {
					fmt.Fprintf(w, "%s is %s\n", asidePlace(a), a.State)
				}
			})
		},
	}
}
