package board

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/op"
	"tandem/internal/plot"
	"tandem/internal/space/peer"
)

func newGraph(k *kit.Kit) *cobra.Command {
	var in peer.BoardIn
	cmd := &cobra.Command{Use: "graph", Short: "Show what waits for what",
		Long: "Show the tasks of the board as a tree: each below what it waits for, with what else it waits for behind it. " +
			"The panel's board has the same as a picture.",
		Example: "  tandem board graph\n  tandem board graph --under T-a1b2c3 --all", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			which, err := space.Chosen(k, cmd, in)
			if err != nil {
				return err
			}
			board, err := op.Do(cmd.Context(), k, peer.BoardShow, which)
			if err != nil {
				return space.Spoken(err)
			}
			return k.Show(board, func(w io.Writer) { drawn(w, board.Tasks) })
		}}
	f := cmd.Flags()
	f.StringVar(&in.Under, "under", "", "only parts of this task, and their parts")
	f.StringVar(&in.Label, "label", "", "only tasks with this label; with several, behind commas, those that have them all")
	f.BoolVar(&in.All, "all", false, "done and cancelled ones, too")
	return cmd
}

// drawn writes tasks as a tree.
func drawn(w io.Writer, tasks []peer.Line) {
	if len(tasks) == 0 {
		fmt.Fprintln(w, "No task is there to show.")
		return
	}
	for _, r := range plot.Rows(waits(tasks)) {
		l := tasks[slices.IndexFunc(tasks, func(l peer.Line) bool { return string(l.ID) == r.Name })]
		line := fmt.Sprintf("%s[%s] %s - %s", r.Stem, l.ID, strings.ToUpper(string(l.Status)),
			cmp.Or(l.Listed().Title, "(words not shared with you)"))
		if len(r.Also) > 0 {
			line += " (also after: " + strings.Join(r.Also, ", ") + ")"
		}
		fmt.Fprintln(w, kit.VisibleLine(line))
	}
}

// waits are tasks and what they wait for, as a picture takes them.
func waits(tasks []peer.Line) []plot.Node {
	var out []plot.Node
	for _, l := range tasks {
		n := plot.Node{Name: string(l.ID)}
		for _, need := range l.Needs {
			n.After = append(n.After, string(need))
		}
		out = append(out, n)
	}
	return out
}
