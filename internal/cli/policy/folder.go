package policy

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/session"
)

func newGrantFolder(k *kit.Kit) *cobra.Command {
	var in session.FolderIn
	var take bool
	cmd := &cobra.Command{
		Use: "folder [PATH]", Short: "Let sessions work in a folder; without a path, list the folders; needs your PIN",
		Args:    cobra.MaximumNArgs(1),
		Long:    "Let sessions work in a folder. Reading is then allowed, changing asks for an approval, and files that may hold keys stay out of reach.",
		Example: "  tandem grant folder .\n  tandem grant folder ~/docs --read-only\n  tandem grant folder . --revoke\n  tandem grant folder",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && (take || in.ReadOnly) {
				return kit.Usagef("name the folder; see: %s --help", cmd.CommandPath())
			}
			if len(args) == 0 {
				var out session.FoldersOut
				if err := k.Call(cmd.Context(), "folder.list", session.Nothing{}, &out); err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					if len(out.Folders) == 0 {
						fmt.Fprintln(w, "no folder is granted, so agents reach no file; grant this one: tandem grant folder .")
					}
					for _, f := range out.Folders {
						how := "read and change"
						if f.ReadOnly {
							how = "read only"
						}
						fmt.Fprintf(w, "%s  (%s, by %s)\n", f.Path, how, f.GrantedBy)
					}
				})
			}
			abs, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			in.Path = abs
			if take {
				if real, err := filepath.EvalSymlinks(abs); err == nil {
					in.Path = real
				}
				var out session.OK
				if err := k.Call(cmd.Context(), "folder.revoke", in, &out); err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions no longer work in %s\n", in.Path) })
			}
			var out session.Folder
			if err := k.Call(cmd.Context(), "folder.grant", in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions may work in %s\n", out.Path) })
		},
	}
	cmd.Flags().BoolVar(&in.ReadOnly, "read-only", false, "its files can be read and not changed")
	cmd.Flags().BoolVar(&take, "revoke", false, "take it back")
	return cmd
}
