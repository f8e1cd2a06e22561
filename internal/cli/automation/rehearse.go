package automation

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
)

func newRehearse(k *kit.Kit) *cobra.Command {
	var in wire.RehearseIn
	var file string
	cmd := &cobra.Command{
		Use: "rehearse RUN", Short: "Play a run again with today's definition, on recorded answers; nothing is done", Args: cobra.ExactArgs(1),
		Long: `Play a run again with the newest version of its automation, on the answers that were recorded: what each node
gave, and what people said at gates. It says what would differ: what a node is told and given, which branches
are taken, what would fail. A node that has no recorded answer is named, and what comes behind it stands still.
No model is asked, nothing is done outside, and the run stays as it is.`,
		Example: "  tandem automation rehearse run_01k…\n  tandem automation rehearse run_01k… --file nightly.toml\n" +
			"  tandem automation rehearse run_01k… --version 3f9a01",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			var err error
			if in.Definition, err = written(file); err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Rehearse, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showRehearsal(w, out) })
		},
	}
	cmd.Flags().StringVar(&in.Digest, "version", "", "with this version, by the beginning of its digest")
	cmd.Flags().StringVar(&file, "file", "", "with this definition, whether or not it is stored")
	cmd.MarkFlagsMutuallyExclusive("version", "file")
	return cmd
}

func showRehearsal(w io.Writer, out wire.Rehearsal) {
	fmt.Fprintf(w, "%s was %s by version %.12s, and would be %s by %.12s\n", out.Run, out.Was, out.Then, out.Status, out.Now)
	if out.Reason != "" {
		fmt.Fprintln(w, "reason:  "+kit.VisibleLine(out.Reason))
	}
	if out.Same {
		fmt.Fprintln(w, "nothing would differ")
		return
	}
	t := kit.Table(w)
	fmt.Fprintln(t, "NODE\tKIND\tTHEN\tNOW\tANSWER\tWHY")
	for _, s := range out.Steps {
		node := s.Node
		if s.Item > 0 {
			node = fmt.Sprintf("  %s %d", s.Node, s.Item)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", node, s.Kind, cmp.Or(s.Then, "-"), s.Now, cmp.Or(s.Answer, "-"), kit.VisibleLine(s.Reason))
	}
	t.Flush()
	for _, s := range out.Steps {
		block(w, s.Node+" is told and given otherwise, and its answer is one to another question:", s.Asked)
		block(w, s.Node+" gives otherwise:", s.Gives)
	}
	if len(out.Missing) > 0 {
		fmt.Fprintln(w, "no answer was recorded of: "+strings.Join(out.Missing, ", "))
	}
	if len(out.Gone) > 0 {
		fmt.Fprintln(w, "no part of it any more: "+strings.Join(out.Gone, ", "))
	}
}

// block is a difference under a line that says of what.
func block(w io.Writer, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintln(w, title)
	lines(w, "  ", text)
}
