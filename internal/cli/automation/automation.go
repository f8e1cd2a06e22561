// Package automation holds the commands for automations.
package automation

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "automation", Aliases: []string{"automations"}, Short: "Work that goes on by itself: definitions, and what became of their runs",
		Long: `An automation is a file in TOML: nodes that do one thing each, and what begins them. It is stored
switched off. You look at what it may do and switch it on with your PIN; from then on it acts as an
actor of its own, for you, and never does more than the nodes say.`,
	}
	cmd.AddCommand(newCheck(k), newDraft(k), newAdd(k), newList(k), newShow(k), newOn(k), newOff(k), newRemove(k), newRun(k), newRuns(k),
		newRepair(k), newRehearse(k), newTicks(k), newHand(k), newHandoffs(k), newHook(k), newHooks(k), newReplay(k))
	return []*cobra.Command{cmd}
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List automations", Args: cobra.NoArgs, Example: "  tandem automation list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, struct{}{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Automations) == 0 {
					fmt.Fprintln(w, "no automations; store one: tandem automation add FILE")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tSTATE\tOPEN RUNS\tBEGINS\tTITLE")
				for _, a := range out.Automations {
					fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", a.Name, state(a), a.Open, kit.VisibleLine(begins(a)), kit.VisibleLine(a.Title))
				}
				t.Flush()
			})
		},
	}
}

func begins(a *wire.Automation) string {
	if len(a.Triggers) == 0 {
		return "by hand"
	}
	return strings.Join(a.Triggers, "; ")
}

func state(a *wire.Automation) string {
	switch {
	case !a.On:
		return "off"
	case a.Live != a.Latest:
		return "on, a newer version waits"
	}
	return "on"
}

func newShow(k *kit.Kit) *cobra.Command {
	var in wire.ShowIn
	var text bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show an automation and what it may do", Args: cobra.ExactArgs(1),
		Example: "  tandem automation show nightly\n  tandem automation show nightly --text",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			v, err := op.Do(cmd.Context(), k, wire.Show, in)
			if err != nil {
				return err
			}
			return k.Show(v, func(w io.Writer) {
				if text {
					fmt.Fprint(w, kit.Visible(v.Text))
					return
				}
				describe(w, v)
			})
		},
	}
	cmd.Flags().StringVar(&in.Digest, "version", "", "this version, by the beginning of its digest")
	cmd.Flags().BoolVar(&text, "text", false, "print the definition")
	return cmd
}

// describe is a version as a person looks at it before switching it on.
func describe(w io.Writer, v *wire.Version) {
	fmt.Fprintf(w, "%s is %s\n", v.Name, state(&v.Automation))
	if v.Title != "" {
		fmt.Fprintln(w, "title:   "+kit.VisibleLine(v.Title))
	}
	fmt.Fprintln(w, "version: "+v.Digest)
	fmt.Fprintln(w, "by:      "+kit.VisibleLine(told.By(v.AddedBy))+", "+v.AddedAt.Local().Format(time.DateTime))
	fmt.Fprintln(w, "begins:  "+kit.VisibleLine(begins(&v.Automation)))
	if v.On {
		fmt.Fprintf(w, "acts as: %s, for %s\n", "automation."+v.Name, v.SwitchedBy)
	}
	picture(w, v.Shape)
	if len(v.May) > 0 {
		fmt.Fprintln(w, "it may:")
	}
	for _, m := range v.May {
		fmt.Fprintf(w, "  %s: %s\n", m.Node, kit.VisibleLine(m.What))
	}
	for _, s := range v.Unbuilt {
		fmt.Fprintln(w, "cannot be switched on: "+kit.VisibleLine(s))
	}
	for _, f := range v.Ungranted {
		f = kit.VisibleLine(f)
		fmt.Fprintf(w, "not granted, so nothing of it works there: %s; grant it: tandem grant folder %s\n", f, f)
	}
}

// whole prints all of a definition that a person is about to switch on: as it is written, or what it changes.
func whole(w io.Writer, v *wire.Version) {
	text := v.Changes
	if text != "" {
		fmt.Fprintln(w, "against the version that is switched on:")
	} else {
		fmt.Fprintln(w, "as it is written:")
		text = v.Text
	}
	lines(w, "  ", text)
}

// lines prints what others wrote, line by line.
func lines(w io.Writer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, indent+kit.VisibleLine(strings.TrimSuffix(line, "\n")))
	}
}
