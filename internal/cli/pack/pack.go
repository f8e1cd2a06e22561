// Package pack holds the commands for packs.
package pack

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/pack/folder"
	"tandem/internal/pack/parts"
	"tandem/internal/pack/wire"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "pack", Aliases: []string{"packs"}, Short: "Automations that are installed together, with their prompts, rights and knowledge",
		Long: `A pack is a folder with automations, prompts, policies and knowledge. It is shown with all that it
would be allowed, and installed with your PIN exactly as it was shown. Some come with tandem.`,
	}
	cmd.AddCommand(newList(k), newShow(k), newInstall(k), newRemove(k))
	return []*cobra.Command{cmd}
}

// Listed is what list prints with --json.
type Listed struct {
	Installed []wire.Installed `json:"installed"`
	Here      []wire.Pack      `json:"here"`
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the packs that are installed and those that come with tandem", Args: cobra.NoArgs,
		Example: "  tandem pack list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := op.Do(cmd.Context(), k, wire.List, struct{}{})
			if err != nil {
				return err
			}
			out := Listed{Installed: got.Packs, Here: []wire.Pack{}}
			for _, name := range parts.Names {
				about, err := folder.Describe(parts.Folder(name))
				if err != nil {
					return err
				}
				out.Here = append(out.Here, wire.Pack{Name: about.Name, Title: about.Title, Version: about.Version, About: about.About,
					Automations: []wire.Automation{}})
			}
			return k.Show(out, func(w io.Writer) { listed(w, out) })
		},
	}
}

func listed(w io.Writer, out Listed) {
	there := map[string]bool{}
	t := kit.Table(w)
	fmt.Fprintln(t, "NAME\tSTATE\tVERSION\tTITLE")
	for _, p := range out.Installed {
		there[p.Name] = true
		fmt.Fprintf(t, "%s\tinstalled by %s\t%s\t%s\n", p.Name, kit.VisibleLine(told.By(p.By)), kit.VisibleLine(p.Version),
			kit.VisibleLine(p.Title))
	}
	for _, p := range out.Here {
		if !there[p.Name] {
			fmt.Fprintf(t, "%s\tcomes with tandem\t%s\t%s\n", p.Name, p.Version, p.Title)
		}
	}
	t.Flush()
}

func newShow(k *kit.Kit) *cobra.Command {
	var set []string
	var whole bool
	cmd := &cobra.Command{
		Use: "show DIR", Short: "Show what a pack would be allowed, and what it changes", Args: cobra.ExactArgs(1),
		Long: `Show what a pack would be allowed: what begins its automations, what each of their nodes does, what is
granted, what it teaches, and what all of that changes against the version that is installed. DIR is a
folder, or the name of a pack that comes with tandem. It changes nothing.`,
		Example: "  tandem pack show vendor-risk\n  tandem pack show nightly-tests --set folder=/srv/app --text",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, out, err := read(cmd, k, args[0], set)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				describe(w, args[0], p, out)
				if whole {
					everything(w, p)
				}
			})
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "a setting of the pack, as NAME=VALUE")
	cmd.Flags().BoolVar(&whole, "text", false, "print its automations and documents, too")
	return cmd
}

func newInstall(k *kit.Kit) *cobra.Command {
	var set []string
	var digest string
	cmd := &cobra.Command{
		Use: "install DIR", Short: "Show a pack and install it; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Show a pack and install exactly what was shown: its automations are stored and switched on, and what it
says is granted and taught, all of it or nothing. Over another version it shows what changes. With
--digest it is refused unless it is that one.`,
		Example: "  tandem pack install vendor-risk\n  tandem pack install nightly-tests --set folder=/srv/app",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, out, err := read(cmd, k, args[0], set)
			if err != nil {
				return err
			}
			if digest != "" && digest != out.Digest {
				return fault.New(fault.Conflict, "pack", "this pack is %s, and not %s", out.Digest, digest).
					WithNext("look at what it is: tandem pack show %s", args[0])
			}
			if !k.JSON {
				w := k.Screen(k.Out)
				describe(w, args[0], p, out)
				if out.Installed == "" {
					everything(w, p)
				}
			}
			if len(out.Cannot) > 0 {
				return fault.New(fault.Invalid, "pack", "%s cannot be installed here:\n%s", p.Name, strings.Join(out.Cannot, "\n"))
			}
			got, err := op.Do(cmd.Context(), k, wire.Install, wire.InstallIn{Pack: p, Digest: out.Digest, Was: out.Installed})
			if err != nil {
				return err
			}
			return k.Show(got, func(w io.Writer) {
				fmt.Fprintf(w, "%s is installed, version %s; switched on: %s\n", got.Name, kit.VisibleLine(got.Version),
					strings.Join(got.Automations, ", "))
			})
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "a setting of the pack, as NAME=VALUE")
	cmd.Flags().StringVar(&digest, "digest", "", "install this one and no other")
	return cmd
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove PACK", Short: "Remove a pack with its automations and rights; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem pack remove vendor-risk",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is removed\n", kit.VisibleLine(args[0]))
				for _, s := range out.Stays {
					fmt.Fprintln(w, "stays: "+kit.VisibleLine(s))
				}
			})
		},
	}
}
