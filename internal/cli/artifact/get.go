package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"tandem/internal/artifact/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func newGet(k *kit.Kit) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "get NAME[@VERSION]", Short: "Save an artifact as a file", Args: cobra.ExactArgs(1),
		Long: "Save an artifact as a file, in this folder unless --to says where. A file that is there already is not replaced.",
		Example: "  tandem artifact get weekly.draft.report\n  tandem artifact get weekly.draft.report@2 --to report.md\n" +
			"  tandem artifact get weekly.draft.report --to -",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := named(args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Get, in)
			if err != nil {
				return err
			}
			if to == "-" {
				if k.Terminal() { // which would obey some of it
					out.Data = []byte(kit.Visible(string(out.Data)))
				}
				_, err := cmd.OutOrStdout().Write(out.Data)
				return err
			}
			if to == "" {
				if to = out.File; !plainFile.MatchString(to) {
					return fault.New(fault.Invalid, string(wire.Get), "the server calls the file %.60q, which is no plain name", to).
						WithNext("name the file yourself: --to FILE")
				}
			}
			if err := save(to, out.Data); err != nil {
				return err
			}
			return k.Show(out.Artifact, func(w io.Writer) { fmt.Fprintf(w, "%s, version %d, is in %s\n", out.Name, out.Version, to) })
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the file; - prints it")
	return cmd
}

// plainFile is a name that a server may give to a file here: nothing in it leads to another folder, or hides the file.
var plainFile = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*\.(md|html|pptx|csv|json)$`)

// save writes a new file, and replaces none.
func save(to string, data []byte) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "artifact.get", "%s is there already", to).WithNext("name another file: --to FILE")
	}
	if err != nil {
		return fault.New(fault.Invalid, "artifact.get", "%s cannot be written: %w", to, err).WithNext("name another file: --to FILE")
	}
	if _, err = f.Write(data); err == nil {
		err = f.Close()
	} else {
		f.Close() //nolint:errcheck // the first error is told
	}
	return err
}

func newCompare(k *kit.Kit) *cobra.Command {
	var in wire.CompareIn
	cmd := &cobra.Command{
		Use: "compare NAME", Short: "See what changed between two versions", Args: cobra.ExactArgs(1),
		Example: "  tandem artifact compare weekly.draft.report\n  tandem artifact compare weekly.draft.report --from 1 --to 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Compare, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: version %d and version %d\n", out.To.Name, out.From.Version, out.To.Version)
				switch {
				case out.Same:
					fmt.Fprintln(w, "they are equal")
				case out.Diff == "":
					fmt.Fprintln(w, "they read the same; their bytes differ")
				default:
					fmt.Fprint(w, kit.Visible(out.Diff))
				}
			})
		},
	}
	cmd.Flags().IntVar(&in.From, "from", 0, "this version (the one before the other)")
	cmd.Flags().IntVar(&in.To, "to", 0, "this version (the newest)")
	return cmd
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME[@VERSION]", Short: "Remove an artifact with all versions, or one version", Args: cobra.ExactArgs(1),
		Example: "  tandem artifact remove weekly.draft.report@1\n  tandem artifact remove weekly.draft.report",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := named(args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.RemoveIn(in))
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d versions are gone; asks and sessions that showed one keep what they showed\n", in.Name, out.Removed)
			})
		},
	}
}
