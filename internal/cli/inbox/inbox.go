// Package inbox holds the command that lists everything that needs a person.
package inbox

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/id"
	"tandem/internal/inbox/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	var in wire.In
	cmd := &cobra.Command{
		Use: "inbox", Short: "Everything that needs you, with how to answer it", Args: cobra.NoArgs,
		Long: "Everything that needs a person: asks, questions, dialogs, programs that crashed or were refused by their provider, relays that wait, pushes that failed, " +
			"connectors in quarantine, unread mail of spaces. Each row says whose it is, what it is about, since when, and the command that answers it.",
		Example: "  tandem inbox\n  tandem inbox --kind ask\n  tandem inbox --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out wire.Out
			if err := k.Call(cmd.Context(), string(wire.List), in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { show(w, out) })
		},
	}
	cmd.Flags().StringVar((*string)(&in.Kind), "kind", "",
		"only one kind: ask, question, dialog, crashed, rate-limited, parked, push, connector, aside, recovery, schedule, mail or ended")
	return []*cobra.Command{cmd}
}

func show(w io.Writer, out wire.Out) {
	if len(out.Rows) == 0 && out.Looking == 0 {
		fmt.Fprintln(w, "nothing needs you")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range out.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Kind, kit.SeenLine(r.Name), kit.Age(r.Since), kit.SeenLine(r.What))
		if len(r.Options) > 0 {
			fmt.Fprintf(t, "\t\t\tchoose: %s\n", kit.SeenLine(strings.Join(r.Options, ", ")))
		}
		fmt.Fprintf(t, "\t\t\t→ %s\n", kit.VisibleLine(r.Next))
	}
	t.Flush()
	for _, several := range alike(out.Rows) {
		fmt.Fprintf(w, "%d alike, at once: tandem approvals approve %s\n", len(several), strings.Join(several, " "))
	}
	if out.Looking > 0 {
		fmt.Fprintf(w, "still looking after the start, sessions: %d; something may wait there; look again: tandem inbox\n", out.Looking)
	}
	for _, m := range out.Missing {
		fmt.Fprintf(w, "could not be looked at: %s\n", kit.SeenLine(m))
	}
}

// alike are the asks that can be answered at once, by their short ids.
func alike(rows []wire.Row) (several [][]string) {
	var order []string
	ids := map[string][]string{}
	for _, r := range rows {
		if r.Kind != wire.Ask {
			continue
		}
		if len(ids[r.Alike]) == 0 {
			order = append(order, r.Alike)
		}
		ids[r.Alike] = append(ids[r.Alike], id.Short(r.ID))
	}
	for _, a := range order {
		if len(ids[a]) > 1 {
			several = append(several, ids[a])
		}
	}
	return several
}
