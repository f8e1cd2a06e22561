package board

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/board/lists"
	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// Exported is a board as a list.
type Exported struct {
	Form  lists.Form `json:"form"`
	Tasks int        `json:"tasks"`
	File  string     `json:"file,omitempty"`
	Text  string     `json:"text,omitempty"` // where no file was named
}

func newExport(k *kit.Kit) *cobra.Command {
	var in peer.BoardIn
	var form string
	cmd := &cobra.Command{Use: "export [FILE]", Short: "Write the board as a list that other programs read",
		Long: "Write the tasks of the board as a Markdown checklist, as issues of GitHub in JSON, or as beads (one JSON object a line). " +
			"Titles, descriptions, priorities, labels and dependencies are in it, and tandem board import reads them again as they were. " +
			"Without FILE the list is printed. What it holds is not sealed any more.",
		Example: "  tandem board export\n  tandem board export tasks.jsonl\n  tandem board export --form github --label billing --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			out := Exported{Form: lists.Markdown}
			if len(args) == 1 {
				out.File, out.Form = args[0], lists.FormOf(args[0])
			}
			if form != "" {
				if out.Form, err = lists.ParseForm(form); err != nil {
					return err
				}
			}
			if out.Form == "" {
				return kit.Usagef("say what form %s is to have: --form markdown, github or beads", out.File)
			}
			which, err := space.Chosen(k, cmd, in)
			if err != nil {
				return err
			}
			return export(cmd, k, which, out)
		}}
	f := cmd.Flags()
	f.StringVar(&form, "form", "", "markdown (.md), github (.json) or beads (.jsonl); else the file's name says it, else markdown")
	f.StringVar(&in.Label, "label", "", "only tasks with this label; with several, behind commas, those that have them all")
	f.StringVar(&in.Text, "text", "", "only tasks with these words")
	f.BoolVar(&in.All, "all", false, "done and cancelled ones, too; they are ticked off, or closed")
	return cmd
}

func export(cmd *cobra.Command, k *kit.Kit, in peer.BoardIn, out Exported) error {
	board, err := op.Do(cmd.Context(), k, peer.BoardShow, in)
	if err != nil {
		return space.Spoken(err)
	}
	var tasks []lists.Task
	for _, l := range board.Tasks {
		tasks = append(tasks, l.Listed())
	}
	data, err := lists.Write(out.Form, tasks)
	if err != nil {
		return err
	}
	if out.Tasks = len(tasks); out.File == "" {
		out.Text = string(data)
		return k.Show(out, func(w io.Writer) { fmt.Fprint(w, out.Text) })
	}
	if err := fresh(out.File, data); err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s has %d tasks of the board\n", out.File, out.Tasks) })
}

// fresh writes a file that is not there yet.
func fresh(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return kit.Usagef("there is a file %s already: name another one", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
