package source

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/source/wire"
	"tandem/internal/told"
)

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List sources, and how far imports are", Args: cobra.NoArgs, Example: "  tandem source list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, wire.ListIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Sources) == 0 {
					fmt.Fprintln(w, "no sources; bind a folder: tandem source add FOLDER --name NAME")
				}
				for _, s := range out.Sources {
					line(w, s)
				}
			})
		},
	}
}

// line is a source with what became of it.
func line(w io.Writer, s wire.Source) {
	fmt.Fprintf(w, "%s  %s  %s, %d files in %d passages", kit.VisibleLine(s.Name), kit.VisibleLine(s.Where()), s.State, s.Files, s.Passages)
	switch {
	case s.Progress != nil && s.Progress.Files > 0:
		fmt.Fprintf(w, ", importing %d of %d", s.Progress.Done, s.Progress.Files)
	case s.Waiting:
		fmt.Fprint(w, ", an import is due")
	case s.ImportedAt.IsZero():
		fmt.Fprint(w, ", not imported yet")
	default:
		fmt.Fprintf(w, ", imported %s", kit.Age(s.ImportedAt))
	}
	if s.Bad > 0 {
		fmt.Fprintf(w, ", %d could not be read", s.Bad)
	}
	fmt.Fprintln(w)
	if s.Reason != "" {
		fmt.Fprintf(w, "    %s\n", kit.VisibleLine(s.Reason))
	}
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show SOURCE", Short: "Read about a source, with the files that could not be read", Args: cobra.ExactArgs(1),
		Example: "  tandem source show handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Show, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				line(w, out.Source)
				if out.Commit != "" {
					fmt.Fprintf(w, "imported at commit %s\n", out.Commit)
				}
				fmt.Fprintf(w, "owner %s", kit.VisibleLine(told.By(out.Owner)))
				if out.Every > 0 {
					fmt.Fprintf(w, ", looked at every %d minutes", out.Every)
				}
				fmt.Fprintln(w)
				refused(w, out.BadFiles)
			})
		},
	}
}

// say runs an operation that changes a source and prints what became of it.
func say[In any](cmd *cobra.Command, k *kit.Kit, do op.Def[In, wire.Source], in In, then string) error {
	out, err := op.Do(cmd.Context(), k, do, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s: %s\n", kit.VisibleLine(out.Name), out.State, then) })
}

func newSync(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "sync SOURCE", Short: "Import what changed", Args: cobra.ExactArgs(1), Example: "  tandem source sync handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			return say(cmd, k, wire.Sync, wire.NameIn{Name: args[0]}, "what changed is imported; see how far: tandem source list")
		},
	}
}

func newPause(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "pause SOURCE", Short: "Import nothing more; what is there is still found", Args: cobra.ExactArgs(1),
		Example: "  tandem source pause handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			return say(cmd, k, wire.Pause, wire.NameIn{Name: args[0]}, "nothing more is imported, and what is there is still found")
		},
	}
}

func newResume(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "resume SOURCE", Short: "Import a source that is new, paused or quarantined; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem source resume handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			return say(cmd, k, wire.Resume, wire.NameIn{Name: args[0]}, "it is imported; see how far: tandem source list")
		},
	}
}

func newQuarantine(k *kit.Kit) *cobra.Command {
	var in wire.ReasonIn
	cmd := &cobra.Command{
		Use: "quarantine SOURCE", Short: "Let nobody find what came from it, until you resume it", Args: cobra.ExactArgs(1),
		Example: "  tandem source quarantine handbook --reason 'somebody else wrote into the folder'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			return say(cmd, k, wire.Quarantine, in, "nobody finds what came from it; let it go on: tandem source resume "+in.Name)
		},
	}
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why")
	return cmd
}

func newRevoke(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "revoke SOURCE", Short: "Take all that came from it out of search at once, and delete it", Args: cobra.ExactArgs(1),
		Example: "  tandem source revoke handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			return say(cmd, k, wire.Revoke, wire.NameIn{Name: args[0]}, "nobody finds what came from it any more")
		},
	}
}
