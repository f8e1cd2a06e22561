// Package secret holds the commands for sealed values.
package secret

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret/wire"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Sealed values that tools and connectors are lent",
		Long: "Values are sealed at rest, lent to one call at a time and redacted in logs, errors and events. " +
			"They are shown to nobody but a person present.",
	}
	cmd.AddCommand(newSet(k), newList(k), newDelete(k), newUnmask(k), newRotate(k))
	return []*cobra.Command{cmd}
}

func newSet(k *kit.Kit) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Store a secret", Args: cobra.ExactArgs(1),
		Long: "Store a secret. The value is asked for on the terminal, or read from standard input; it is not an argument, " +
			"where other programs could read it.\n\nIt is kept out of your own record and of theirs whom it is lent to; " +
			"with --all, and your PIN, out of everybody's.",
		Example: "  tandem secret set provider/openai\n  pass show openai | tandem secret set provider/openai",
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := read(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Set, wire.SetIn{Name: args[0], Value: value, All: all})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { sealed(w, out, k.AtPlace(cmd.Context())) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "keep it out of everybody's record (needs your PIN)")
	return cmd
}

func sealed(w io.Writer, s wire.Info, at string) {
	fmt.Fprintf(w, "%s is sealed%s, version %d\n", s.Name, at, s.Version)
	if s.Struck == "none" {
		fmt.Fprintln(w, "its value stands in the journal already, and is not struck from it: change it at its source, and store the new one")
	}
}

// read takes the value from the terminal or from a pipe, without the newline
// that ends it.
func read(ctx context.Context, k *kit.Kit, name string) (string, error) {
	if f, ok := k.In.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		return k.SecretFor(ctx, "value of "+name)
	}
	data, err := io.ReadAll(io.LimitReader(k.In, 1<<20))
	if err != nil {
		return "", fault.New(fault.Invalid, "secret.set", "the value cannot be read: %w", err)
	}
	if n := len(data); n > 0 && data[n-1] == '\n' {
		data = data[:n-1]
	}
	return string(data), nil
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the names of secrets", Args: cobra.NoArgs, Example: "  tandem secret list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, struct{}{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tVERSION\tSET\tBY")
				for _, s := range out.Secrets {
					fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", s.Name, s.Version, s.Updated.Local().Format(time.DateTime), told.By(s.By))
				}
				t.Flush()
				fmt.Fprintf(w, "the master key is in %s\n", keeper(out.Keeper))
			})
		},
	}
}

func newDelete(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a secret", Args: cobra.ExactArgs(1),
		Example: "  tandem secret delete provider/openai",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Delete, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone\n", out.Name) })
		},
	}
}

func newUnmask(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "unmask NAME", Short: "Show a secret; needs your PIN", Args: cobra.ExactArgs(1), Example: "  tandem secret unmask provider/openai",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Unmask, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.Value) })
		},
	}
}

func newRotate(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Seal everything under a new master key; needs your PIN", Args: cobra.NoArgs, Example: "  tandem secret rotate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Rotate, struct{}{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%d secrets are sealed under a new key in %s\n", out.Sealed, keeper(out.Keeper))
			})
		},
	}
}

func keeper(name string) string {
	if name == "file" {
		return "a file in the data folder"
	}
	return "the " + name
}
