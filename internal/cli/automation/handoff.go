package automation

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
)

func newHand(k *kit.Kit) *cobra.Command {
	in := wire.HandIn{}
	var values, files, kept []string
	cmd := &cobra.Command{
		Use: "hand NAME HANDOFF", Short: "Hand over what a run waits for", Args: cobra.ExactArgs(2),
		Long: `Hand over what a run of the automation NAME waits for, or will wait for: the outputs of the node that
waits, by their names. It goes to the only open run to which nobody handed it yet, or to the one of --run.`,
		Example: "  tandem automation hand weekly brief --value pages=3 --file text=brief.md\n" +
			"  tandem automation hand weekly brief --run run_01k… --artifact text=research.write.text@2",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name, in.Handoff, in.Output = args[0], args[1], map[string]any{}
			for _, one := range values {
				name, value, ok := wire.ParseInput(one)
				if !ok {
					return kit.Usagef("--value is NAME=VALUE, not %q", one)
				}
				in.Output[name] = value
			}
			for _, one := range files {
				name, path, ok := strings.Cut(one, "=")
				if !ok {
					return kit.Usagef("--file is NAME=FILE, not %q", one)
				}
				text, err := definition(path)
				if err != nil {
					return err
				}
				in.Output[name] = string(text)
			}
			for _, one := range kept {
				name, which, _ := strings.Cut(one, "=")
				ref, ok := artifact.ParseName(which)
				if !ok {
					return kit.Usagef("--artifact is NAME=ARTIFACT or NAME=ARTIFACT@VERSION, not %q", one)
				}
				in.Output[name] = map[string]any{"artifact": ref.Name, "version": ref.Version}
			}
			out, err := op.Do(cmd.Context(), k, wire.Hand, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "handed to %s, where %s is %s\n", out.Run, out.Node, out.State)
			})
		},
	}
	cmd.Flags().StringVar(&in.Run, "run", "", "to this run")
	cmd.Flags().StringArrayVar(&values, "value", nil, "NAME=VALUE; a value that reads as JSON is that, everything else is text")
	cmd.Flags().StringArrayVar(&files, "file", nil, "NAME=FILE; the text of a file")
	cmd.Flags().StringArrayVar(&kept, "artifact", nil, "NAME=ARTIFACT[@VERSION]; what is kept here")
	return cmd
}

func newHandoffs(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "handoffs NAME", Short: "List what runs wait for until somebody hands it over, and what was handed over", Args: cobra.ExactArgs(1),
		Example: "  tandem automation handoffs weekly",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Handoffs, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Handoffs) == 0 {
					fmt.Fprintf(w, "no run of %s waits for a handoff; a node does, with [node.wait] and handoff = \"brief\"\n", args[0])
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "RUN\tHANDOFF\tSTATE\tUNTIL\tBY\tWANTS")
				for _, h := range out.Handoffs {
					until, wants := "", ""
					if !h.Until.IsZero() {
						until = h.Until.Local().Format("2006-01-02 15:04")
					}
					if text, err := json.Marshal(h.Wants); err == nil {
						wants = short(string(text))
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Run, h.Handoff, h.State, until, kit.VisibleLine(h.By), kit.VisibleLine(wants))
				}
				t.Flush()
			})
		},
	}
}
