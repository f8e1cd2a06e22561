package automation

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// maxFile is how much of a file is read; the language allows less.
const maxFile = 1 << 20

// Checked is what check prints with --json.
type Checked struct {
	Name     string         `json:"name,omitempty"`
	Digest   string         `json:"digest,omitempty"`
	Nodes    int            `json:"nodes,omitempty"`
	Problems []spec.Problem `json:"problems"`
}

func newCheck(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Say all that is wrong with a definition", Args: cobra.ExactArgs(1),
		Long:    "Read a definition and say all that is wrong with it, with its place. It needs no server and changes nothing.",
		Example: "  tandem automation check nightly.toml",
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := definition(args[0])
			if err != nil {
				return err
			}
			out := Checked{Problems: []spec.Problem{}}
			a, err := spec.Read(text)
			var all spec.Problems
			switch {
			case errors.As(err, &all):
				out.Problems = all
			case err != nil:
				return err
			default:
				out.Name, out.Digest, out.Nodes = a.Name, a.Digest(), len(a.Nodes)
			}
			err = k.Show(out, func(w io.Writer) {
				for _, p := range out.Problems {
					fmt.Fprintln(w, kit.VisibleLine(p.String()))
				}
				if len(out.Problems) == 0 {
					fmt.Fprintf(w, "%s is right: %d nodes, version %.12s\nstore it: tandem automation add %s\n", out.Name, out.Nodes, out.Digest,
						kit.VisibleLine(args[0]))
				}
			})
			if err == nil && len(out.Problems) > 0 {
				err = kit.Silent{Code: 1}
			}
			return err
		},
	}
}

// definition reads a file, and no more of it than a definition can have.
func definition(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.NotFound, "automation", "the definition cannot be read: %v", err).WithNext("name a file in TOML")
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// written is what a file says where one is named.
func written(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := definition(path)
	return string(text), err
}

func newAdd(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "add FILE", Short: "Store a definition, switched off", Args: cobra.ExactArgs(1),
		Long: `Store a definition, switched off. What it means is frozen by a digest; another text with the same
name becomes its newest version, and the one that is switched on goes on until you switch.`,
		Example: "  tandem automation add nightly.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := definition(args[0])
			if err != nil {
				return err
			}
			a, err := op.Do(cmd.Context(), k, wire.Add, wire.AddIn{Text: string(text)})
			if err != nil {
				return err
			}
			return k.Show(a, func(w io.Writer) {
				fmt.Fprintf(w, "%s is stored, version %.12s\n", a.Name, a.Latest)
				if a.Live != a.Latest {
					fmt.Fprintf(w, "look at what it may do and switch it on: tandem automation on %s\n", a.Name)
				}
			})
		},
	}
}

func newOn(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "on NAME", Short: "Show what an automation may do, and switch it on; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem automation on nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := op.Do(cmd.Context(), k, wire.Show, wire.ShowIn{Name: args[0]})
			if err != nil {
				return err
			}
			if !k.JSON {
				w := k.Screen(k.Out)
				describe(w, v)
				whole(w, v)
			}
			a, err := op.Do(cmd.Context(), k, wire.On, wire.OnIn{Name: v.Name, Digest: v.Digest})
			if err != nil {
				return err
			}
			return k.Show(a, func(w io.Writer) { fmt.Fprintf(w, "%s is switched on, version %.12s\n", a.Name, a.Live) })
		},
	}
}

func newOff(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "off NAME", Short: "Switch an automation off; its open runs are paused", Args: cobra.ExactArgs(1),
		Example: "  tandem automation off nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := op.Do(cmd.Context(), k, wire.Off, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(a, func(w io.Writer) { fmt.Fprintf(w, "%s is switched off\n", a.Name) })
		},
	}
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove an automation with its versions and runs", Args: cobra.ExactArgs(1),
		Example: "  tandem automation remove nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is removed; what it did stays in the journal\n", args[0]) })
		},
	}
}
