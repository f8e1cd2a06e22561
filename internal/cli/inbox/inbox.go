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
	login "tandem/internal/login/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	var in wire.In
	cmd := &cobra.Command{
		Use: "inbox", Short: "Everything that needs you, with how to answer it", Args: cobra.NoArgs,
		Long: "Everything that needs a person: asks, questions, dialogs, programs that crashed or were refused by their provider, " +
			"relays that wait, pushes that failed, " +
			"connectors in quarantine, unread mail of spaces. Each row says whose it is, what it is about, since when, " +
			"and the command that answers it.",
		Example: "  tandem inbox\n  tandem inbox --kind ask\n  tandem inbox --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out wire.Out
			if err := k.Call(cmd.Context(), string(wire.List), in, &out); err != nil {
				return err
			}
			l, err := k.Login(cmd.Context())
			if err != nil {
				return err
			}
			all := placed{Rows: rowsOf(out, ""), Out: out}
			if l != nil {
				all = placed{Rows: rowsOf(out, l.Name), Out: out}
				all.both(cmd.Context(), k, in)
			}
			return k.Show(all, func(w io.Writer) { show(w, all) })
		},
	}
	cmd.Flags().StringVar((*string)(&in.Kind), "kind", "",
		"only one kind: ask, question, dialog, crashed, rate-limited, parked, push, connector, aside, recovery, schedule, mail or ended")
	return []*cobra.Command{cmd}
}

func show(w io.Writer, out placed) {
	if len(out.Rows) == 0 && out.Looking == 0 {
		fmt.Fprintln(w, "nothing needs you")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range out.Rows {
		where := ""
		if r.Server != "" {
			where = r.Server + "\t"
		}
		fmt.Fprintf(t, "%s\t%s%s\t%s\t%s\n", r.Kind, where, kit.SeenLine(r.Name), kit.Age(r.Since), kit.SeenLine(r.What))
		if where != "" {
			where = "\t"
		}
		if len(r.Options) > 0 {
			fmt.Fprintf(t, "\t%s\t\tchoose: %s\n", where, kit.SeenLine(strings.Join(r.Options, ", ")))
		}
		fmt.Fprintf(t, "\t%s\t\t→ %s\n", where, kit.VisibleLine(r.Next))
	}
	t.Flush()
	for _, several := range alike(out.Rows) {
		server := ""
		if several[0].Server == login.Own {
			server = " --server own"
		}
		fmt.Fprintf(w, "%d alike, at once: tandem approvals approve %s%s\n", len(several), strings.Join(ids(several), " "), server)
	}
	if out.Looking > 0 {
		fmt.Fprintf(w, "still looking after the start, sessions: %d; something may wait there; look again: tandem inbox\n", out.Looking)
	}
	for _, m := range out.Missing {
		fmt.Fprintf(w, "could not be looked at: %s\n", kit.SeenLine(m))
	}
}

// alike are the asks of one server that can be answered at once.
func alike(rows []row) (several [][]row) {
	var order []string
	found := map[string][]row{}
	for _, r := range rows {
		if r.Kind != wire.Ask {
			continue
		}
		word := r.Server + " " + r.Alike
		if len(found[word]) == 0 {
			order = append(order, word)
		}
		found[word] = append(found[word], r)
	}
	for _, a := range order {
		if len(found[a]) > 1 {
			several = append(several, found[a])
		}
	}
	return several
}

// ids are the short ids of rows.
func ids(rows []row) (out []string) {
	for _, r := range rows {
		out = append(out, id.Short(r.ID))
	}
	return out
}
