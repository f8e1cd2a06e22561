package policy

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/told"
)

func newGrantFolder(k *kit.Kit) *cobra.Command {
	var in session.FolderIn
	var take bool
	cmd := &cobra.Command{
		Use: "folder [PATH]", Short: "Let sessions work in a folder; without a path, list the folders; needs your PIN",
		Args: cobra.MaximumNArgs(1),
		Long: "Let sessions work in a folder. Reading is then allowed, changing asks for an approval, and files that may hold keys stay " +
			"out of reach.\n\nCommands find the toolchains of this machine by themselves. --path, --see and --env add to that, for this " +
			"folder; granting it again without them takes them back.",
		Example: "  tandem grant folder .\n  tandem grant folder ~/docs --read-only\n" +
			"  tandem grant folder . --path ~/code/tools/bin --see ~/code/shared --env CI=1\n" +
			"  tandem grant folder . --revoke\n  tandem grant folder",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && (take || in.ReadOnly || !in.Outfit.Empty()) {
				return kit.Usagef("name the folder; see: %s --help", cmd.CommandPath())
			}
			if len(args) == 0 {
				out, err := op.Do(cmd.Context(), k, session.FolderList, session.Nothing{})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					if len(out.Folders) == 0 {
						fmt.Fprintln(w, "no folder is granted, so agents reach no file; grant this one: tandem grant folder .")
					}
					printFolders(w, out.Folders)
				})
			}
			abs, err := k.Folder(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.Path = abs
			l, err := k.Login(cmd.Context())
			if err != nil {
				return err
			}
			if take {
				if real, err := filepath.EvalSymlinks(abs); err == nil && l == nil { // links elsewhere are that machine's
					in.Path = real
				}
				out, err := op.Do(cmd.Context(), k, session.FolderRevoke, session.FolderRevokeIn{Path: in.Path})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions no longer work in %s\n", in.Path) })
			}
			for _, list := range [][]string{in.Outfit.Path, in.Outfit.See} {
				for i := range list {
					if list[i], err = k.Folder(cmd.Context(), list[i]); err != nil {
						return err
					}
				}
			}
			out, err := op.Do(cmd.Context(), k, session.FolderGrant, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions may work in %s\n", out.Path) })
		},
	}
	cmd.Flags().BoolVar(&in.ReadOnly, "read-only", false, "its files can be read and not changed")
	cmd.Flags().StringSliceVar(&in.Outfit.Path, "path", nil, "a folder of programs that its commands find first; shown read-only")
	cmd.Flags().StringSliceVar(&in.Outfit.See, "see", nil, "something else that its commands see, read-only")
	cmd.Flags().StringArrayVar(&in.Outfit.Env, "env", nil, "NAME=value for its commands; HOME may be a folder in it; no place for secrets")
	cmd.Flags().BoolVar(&take, "revoke", false, "take it back")
	return cmd
}

// printFolders says of each folder how it was granted, and what its commands have beside what was found on the machine.
func printFolders(w io.Writer, folders []session.Folder) {
	for _, f := range folders {
		how := "read and change"
		if f.ReadOnly {
			how = "read only"
		}
		fmt.Fprintf(w, "%s  (%s, by %s)\n", f.Path, how, told.By(f.GrantedBy))
		for _, p := range f.Outfit.Path {
			fmt.Fprintf(w, "  path %s\n", kit.VisibleLine(p))
		}
		for _, p := range f.Outfit.See {
			fmt.Fprintf(w, "  see %s\n", kit.VisibleLine(p))
		}
		for _, kv := range f.Outfit.Env {
			fmt.Fprintf(w, "  env %s\n", kit.VisibleLine(kv))
		}
	}
}
