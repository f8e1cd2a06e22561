package board

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

func newArchive(k *kit.Kit) *cobra.Command {
	var back bool
	var older time.Duration
	cmd := &cobra.Command{Use: "archive [ID …]", Short: "Put tasks that are over out of the way",
		Long: "Put tasks that are done or cancelled into the archive: no board shows them, tandem board --archived does, and so does " +
			"tandem board show ID. Every member may, and may bring them back; a task that is reopened comes back by itself.",
		Example: "  tandem board archive T-a1b2c3\n  tandem board archive --older 720h\n  tandem board archive T-a1b2c3 --back",
		RunE: func(cmd *cobra.Command, ids []string) error {
			which, err := space.Chosen(k, cmd, peer.Which{})
			if err != nil {
				return err
			}
			switch named := cmd.Flags().Changed("older"); {
			case named && (back || len(ids) > 0):
				return kit.Usagef("--older puts all away that ended so long ago, and takes neither tasks nor --back")
			case !named && len(ids) == 0:
				return kit.Usagef("say which task, or --older 720h")
			case named:
				if ids, err = ended(cmd, k, which, older); err != nil {
					return err
				}
			}
			var all peer.Planned
			for _, id := range ids {
				out, err := op.Do(cmd.Context(), k, peer.BoardArchive, peer.ArchiveIn{TaskID: id, Back: back, Which: which})
				if err != nil {
					return space.Spoken(err)
				}
				all.Tasks, all.IDs = append(all.Tasks, out.Task), append(all.IDs, id)
			}
			return k.Show(all, func(w io.Writer) {
				verb := "Put away"
				if back {
					verb = "Brought back"
				}
				fmt.Fprintf(w, "%s: %d\n", verb, len(all.Tasks))
				for _, l := range all.Tasks {
					fmt.Fprintf(w, "[%s] %s\n", l.ID, kit.VisibleLine(l.Listed().Title))
				}
			})
		}}
	cmd.Flags().BoolVar(&back, "back", false, "bring them back")
	cmd.Flags().DurationVar(&older, "older", 0, "all that have not changed for so long and are done or cancelled")
	return cmd
}

// ended are the tasks that are over, and did not change for some time.
func ended(cmd *cobra.Command, k *kit.Kit, which peer.Which, older time.Duration) (ids []string, err error) {
	board, err := op.Do(cmd.Context(), k, peer.BoardShow, peer.BoardIn{Status: "done,cancelled", Which: which})
	for _, l := range board.Tasks {
		if time.Since(l.Changed) >= older {
			ids = append(ids, string(l.ID))
		}
	}
	return ids, err
}

func newHistory(k *kit.Kit) *cobra.Command {
	var in peer.ActivityIn
	cmd := &cobra.Command{Use: "history ID", Short: "Show what happened to a task, and what was said of it",
		Long: "Show what happened to a task, oldest first: who made, claimed, edited and finished it, in what words, and what opened it. " +
			"It is read from your own copy of the space's log; words of the time before you joined are closed to you.",
		Example: "  tandem board history T-a1b2c3", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Task = args[0]
			return space.Say(k, cmd, peer.SpaceActivity, in)
		}}
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many of the newest entries (30)")
	return cmd
}
