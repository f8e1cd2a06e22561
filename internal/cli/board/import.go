package board

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	rules "tandem/internal/board"
	"tandem/internal/board/lists"
	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

func newImport(k *kit.Kit) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{Use: "import FILE", Short: "Add tasks that stand elsewhere (- is standard input)",
		Long: "Add the open tasks of a file to the board: issues of GitHub as JSON (gh issue list --json number,title,body,labels,state), " +
			"an export of beads (one JSON object a line), or the boxes of a Markdown checklist that are not ticked. Priorities, labels and " +
			"dependencies come along; a box waits for those that are set in below it. What is imported twice is there twice.",
		Example: "  tandem board import TODO.md --dry-run\n  tandem board import issues.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := read(k, args[0])
			if err != nil {
				return err
			}
			listed, err := lists.Read(data)
			if err != nil {
				return err
			}
			var tasks []peer.PlanTask
			for _, t := range listed {
				tasks = append(tasks, peer.Planning(t))
			}
			if dry {
				return k.Show(peer.PlanIn{Tasks: tasks}, func(w io.Writer) {
					for _, t := range tasks {
						fmt.Fprintln(w, kit.VisibleLine(t.Title))
					}
				})
			}
			which, err := space.Chosen(k, cmd, peer.Which{})
			if err != nil {
				return err
			}
			return add(cmd, k, tasks, which)
		}}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be added, in order, and add nothing")
	return cmd
}

// add puts tasks on the board, a plan's worth at a time; one that depends on a task of an earlier plan names that by its id.
func add(cmd *cobra.Command, k *kit.Kit, tasks []peer.PlanTask, which peer.Which) error {
	ids := map[string]string{}
	var all peer.Planned
	for part := range slices.Chunk(tasks, rules.MaxPlan) {
		in := peer.PlanIn{Which: which}
		for _, t := range part {
			for i, d := range t.DependsOn {
				if ids[d] != "" {
					t.DependsOn[i] = ids[d]
				}
			}
			if whole := t.Parent; ids[whole] != "" {
				t.Parent = ids[whole]
			} else if !slices.ContainsFunc(part, func(o peer.PlanTask) bool { return o.Ref == whole }) {
				t.Parent = "" // of a later plan: it is told when that is there
			}
			in.Tasks = append(in.Tasks, t)
		}
		out, err := op.Do(cmd.Context(), k, peer.BoardPlan, in)
		if err != nil {
			if len(all.Tasks) > 0 {
				err = fmt.Errorf("%d tasks were added before this went wrong: %w", len(all.Tasks), err)
			}
			return err
		}
		for i, l := range out.Tasks {
			ids[part[i].Ref] = string(l.ID)
		}
		all.Tasks = append(all.Tasks, out.Tasks...)
	}
	for i, t := range tasks {
		if l := &all.Tasks[i]; t.Parent != "" && l.Parent == "" {
			out, err := op.Do(cmd.Context(), k, peer.BoardEdit, peer.EditIn{TaskID: string(l.ID), Parent: ids[t.Parent], Which: which})
			if err != nil {
				return fmt.Errorf("all tasks were added, and then %s could not be made a part of another: %w", l.ID, err)
			}
			*l = out.Task
		}
	}
	return k.Show(all, func(w io.Writer) {
		for _, l := range all.Tasks {
			fmt.Fprintln(w, kit.Visible(l.String()))
		}
	})
}
